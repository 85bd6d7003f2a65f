//! Elements to try: those near everything that rounding and ranges turn on, and random ones.

use crate::number::{Place, Type, scaled};
use num_bigint::BigInt;
use num_rational::BigRational;

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }

    pub fn choice<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// Patterns of a source whose results in a target are worth a look, and this many random ones.
pub fn patterns(source: &Type, target: &Type, count: usize, random: &mut Random) -> Vec<u64> {
    if source.bits <= 4 {
        return (0..=source.mask()).collect();
    }
    let mut patterns = specials(source);
    for magnitude in magnitudes(target, count / 4, random) {
        patterns.extend(around(source, &magnitude));
    }
    patterns.extend((0..count).map(|_| random.word() & source.mask()));
    patterns.sort_unstable();
    patterns.dedup();
    // The first element at fault should not always be the same one.
    for index in (1..patterns.len()).rev() {
        patterns.swap(index, random.below(index as u64 + 1) as usize);
    }
    patterns
}

/// Zeros, the first and last numbers, infinities, NaNs of several payloads.
fn specials(data_type: &Type) -> Vec<u64> {
    let infinity = data_type.infinity().unwrap_or(data_type.last());
    let mut patterns =
        vec![0, 1, 2, data_type.last(), infinity, infinity.wrapping_add(1), infinity.wrapping_add(2), data_type.mask()];
    patterns.extend(data_type.nan());
    patterns.extend(data_type.nan().map(|nan| nan + 1));
    let negative: Vec<u64> = patterns.iter().map(|pattern| pattern | data_type.sign_bit()).collect();
    patterns.extend(negative);
    patterns.iter().map(|pattern| pattern & data_type.mask()).collect()
}

/// Numbers of a type, the first, the last, one past the last, and this many random ones; and the middle to each one's
/// next.
fn magnitudes(data_type: &Type, count: usize, random: &mut Random) -> Vec<BigRational> {
    let last = data_type.last();
    let mut indices: Vec<BigInt> = [0, 1, 2, last - 1, last].map(BigInt::from).into();
    indices.push(BigInt::from(last) + 1);
    if !data_type.has_zero() {
        indices.push((-1).into());
    }
    if data_type.is_integer() {
        indices.push((last >> 1).into());
        indices.push((BigInt::from(last) << 1) + random.below(5));
    }
    indices.extend((0..2 + count).map(|_| BigInt::from(random.below(last))));
    let mut magnitudes = vec![scaled(random.word(), random.below(200) as i64 - 160)];
    for index in indices {
        let (number, next) = (data_type.magnitude(&index), data_type.magnitude(&(index + 1)));
        magnitudes.push((&number + next) / BigInt::from(2));
        magnitudes.push(number);
    }
    magnitudes
}

/// The patterns of a magnitude's neighbours, with both signs.
fn around(data_type: &Type, magnitude: &BigRational) -> Vec<u64> {
    let below = match data_type.place(magnitude) {
        Place::Between { below, .. } => i128::try_from(below).unwrap_or(i128::MAX),
        Place::Under | Place::Over => return Vec::new(),
    };
    let indices = (-1..=2).map(|step| below.saturating_add(step));
    let magnitudes = indices.filter(|index| (0..=i128::from(data_type.last())).contains(index));
    magnitudes
        .flat_map(|index| {
            let index = index as u64;
            if data_type.is_integer() {
                [index, index.wrapping_neg() & data_type.mask()]
            } else {
                [index, index | data_type.sign_bit()]
            }
        })
        .collect()
}
