//! `numcodecs.delta`: the first element, then the differences, in C order. The configuration is written back as it was
//! given.
//!
//! Specification: [zarr-extensions,
//! `numcodecs.delta`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.delta); numcodecs
//! 0.17, `delta.py`: `numpy.diff` in the type of the array, cast to `astype`; `numpy.cumsum` in the type that both have
//! in common, cast to that of the array. Integers wrap; floats round at each step, so a decoded float is the sum of
//! rounded differences.

#[cfg(target_arch = "x86_64")]
mod avx2;

use super::number_type::{self, BLOCK, Float, NumberType};
use super::{cast_fill_value, optional};
use crate::error::{Error, Result};
use crate::interface::{Binding, Call, Codec, Context, Kind, Pass, Transform, too_small};
use crate::json::Configuration;
use crate::representation::Representation;
use crate::simd::{Level, Loop, Tier, best, vectorized};
use half::f16;
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Debug)]
struct Delta {
    configuration: Map<String, Value>,
    dtype: NumberType,
    astype: NumberType,
}

/// `{"dtype", "astype"}`, the second optional, or null
pub(crate) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let dtype = configuration.required("dtype")?;
    members.insert("dtype".to_owned(), dtype.clone());
    let dtype = NumberType::from_json("dtype", &dtype)?;
    let astype = optional(&mut configuration, &mut members, "astype");
    let astype = astype.map_or(Ok(dtype), |value| NumberType::from_json_in_any_order("astype", &value))?;
    configuration.finish()?;
    if dtype == NumberType::Bool || astype == NumberType::Bool {
        return Err(Error::unsupported("dtype or astype is bool, but sums of bools do not restore them"));
    }
    if astype.is_float() && !dtype.is_float() {
        return Err(Error::unsupported(format!(
            "astype is {}, but numcodecs does not sum floats to {}",
            astype.name(),
            dtype.name()
        )));
    }
    Ok(Arc::new(Delta { configuration: members, dtype, astype }))
}

impl Codec for Delta {
    fn kind(&self) -> Kind {
        Kind::ArrayToArray
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let decoded = decoded.array()?;
        let array_type =
            if decoded.data_type().is_time() { NumberType::I64 } else { NumberType::of_array(decoded.data_type())? };
        // numcodecs interprets the bytes as elements of `dtype`; signed and unsigned integers have the same
        // differences.
        let is_same = array_type.is_integer() && self.dtype.is_integer() && array_type.size() == self.dtype.size();
        if !is_same {
            self.dtype.check("dtype", decoded.data_type())?;
        }
        let fill_value = cast_fill_value(decoded, self.dtype, self.astype);
        let encoded = decoded.with_elements(self.astype.data_type()?, fill_value)?;
        let differences = Differences { decoded: self.dtype, encoded: self.astype };
        Ok(Binding::new(Representation::Array(encoded), Pass::Transform(Arc::new(differences))))
    }
}

#[derive(Debug)]
struct Differences {
    decoded: NumberType,
    encoded: NumberType,
}

impl Transform for Differences {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        let encoded = first_elements(encoded, self.encoded, decoded.len() / self.decoded.size())?;
        encode((self.decoded, decoded), (self.encoded, encoded))?;
        Ok(encoded.len())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        let decoded = first_elements(decoded, self.decoded, encoded.len() / self.encoded.size())?;
        decode((self.encoded, encoded), (self.decoded, decoded))?;
        Ok(decoded.len())
    }

    fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        (decoded_size / self.decoded.size() as u64).checked_mul(self.encoded.size() as u64)
    }
}

/// The room for this many elements.
fn first_elements(bytes: &mut [u8], number: NumberType, count: usize) -> Result<&mut [u8]> {
    count.checked_mul(number.size()).and_then(|size| bytes.get_mut(..size)).ok_or_else(too_small)
}

/// The first element and the differences of all others, as elements of another type.
///
/// # Errors
/// The first difference that cannot be represented.
fn encode((from_type, decoded): (NumberType, &[u8]), (to_type, encoded): (NumberType, &mut [u8])) -> Result<()> {
    if from_type == to_type {
        differ(from_type, decoded, None, encoded);
        return Ok(());
    }
    let size = from_type.size();
    let mut before: Option<[u8; 8]> = None;
    let blocks = decoded.chunks(BLOCK * size).zip(encoded.chunks_mut(BLOCK * to_type.size()));
    for (index, (decoded, encoded)) in blocks.enumerate() {
        let mut block = [0; 8 * BLOCK];
        let differences = &mut block[..decoded.len()];
        differ(from_type, decoded, before.as_ref(), differences);
        number_type::cast((from_type, differences), (to_type, encoded))
            .map_err(|error| error.after_elements((index * BLOCK) as u64))?;
        before.get_or_insert_default()[..size].copy_from_slice(&decoded[decoded.len() - size..]);
    }
    Ok(())
}

/// The differences of elements, the first of them to `before`, whose first bytes are an element; without one, the first
/// element is kept as it is, as numcodecs copies it.
fn differ(number: NumberType, elements: &[u8], before: Option<&[u8; 8]>, differences: &mut [u8]) {
    vectorized(Differ { number, elements, before, differences });
}

struct Differ<'a> {
    number: NumberType,
    elements: &'a [u8],
    before: Option<&'a [u8; 8]>,
    differences: &'a mut [u8],
}

impl Loop for Differ<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { number, elements, before, differences } = self;
        differ_with(number, elements, before, differences);
    }
}

#[inline(always)] // so that it is compiled for each instruction set
fn differ_with(number: NumberType, elements: &[u8], before: Option<&[u8; 8]>, differences: &mut [u8]) {
    /// The first difference alone; then whole vectors at once.
    #[inline(always)] // so that the compiler sees the function inside the loop
    fn each<const SIZE: usize>(
        elements: &[u8],
        before: Option<&[u8; 8]>,
        differences: &mut [u8],
        difference: impl Fn([u8; SIZE], [u8; SIZE]) -> [u8; SIZE],
    ) {
        let elements = elements.as_chunks::<SIZE>().0;
        let differences = differences.as_chunks_mut::<SIZE>().0;
        let (Some(first), Some((first_difference, rest))) = (elements.first(), differences.split_first_mut()) else {
            return;
        };
        let before = before.and_then(|before| before.first_chunk());
        *first_difference = before.map_or(*first, |before| difference(*first, *before));
        for ((element, before), found) in elements[1..].iter().zip(elements).zip(rest) {
            *found = difference(*element, *before);
        }
    }
    macro_rules! each {
        ($type:ty, $difference:expr) => {
            each(elements, before, differences, |element, before| {
                let difference: fn($type, $type) -> $type = $difference;
                difference(<$type>::from_ne_bytes(element), <$type>::from_ne_bytes(before)).to_ne_bytes()
            })
        };
    }
    match number {
        NumberType::Bool | NumberType::I8 | NumberType::U8 => each!(u8, u8::wrapping_sub),
        NumberType::I16 | NumberType::U16 => each!(u16, u16::wrapping_sub),
        NumberType::I32 | NumberType::U32 => each!(u32, u32::wrapping_sub),
        NumberType::I64 | NumberType::U64 => each!(u64, u64::wrapping_sub),
        NumberType::F16 => each!(f16, |a, b| f16::from_f32(a.to_f32().minus(b.to_f32()))),
        NumberType::F32 => each!(f32, f32::minus),
        NumberType::F64 => each!(f64, f64::minus),
    }
}

/// The type in which numpy sums elements of one type to another. Sums of integers wrap, whatever their type is.
fn sum_type(from_type: NumberType, to_type: NumberType) -> NumberType {
    let size = match from_type {
        _ if !to_type.is_float() => return to_type,
        float if float.is_float() => float.size(),
        // The smallest float that has all digits of the integers; no float has those of 64 bits.
        integer => (2 * integer.size()).min(8),
    };
    match size.max(to_type.size()) {
        2 => NumberType::F16,
        4 => NumberType::F32,
        _ => NumberType::F64,
    }
}

/// Writes the sum of all elements up to each one, as elements of another type.
///
/// # Errors
/// The first element that cannot be represented.
fn decode((from_type, encoded): (NumberType, &[u8]), (to_type, decoded): (NumberType, &mut [u8])) -> Result<()> {
    let sum_type = sum_type(from_type, to_type);
    let size = sum_type.size();
    let mut before: Option<[u8; 8]> = None;
    if from_type == to_type {
        sum(to_type, encoded, None, decoded);
        return Ok(());
    }
    let blocks = encoded.chunks(BLOCK * from_type.size()).zip(decoded.chunks_mut(BLOCK * to_type.size()));
    for (index, (encoded, decoded)) in blocks.enumerate() {
        let (mut block, mut sums) = ([0; 8 * BLOCK], [0; 8 * BLOCK]);
        let used = decoded.len() / to_type.size() * size;
        let (differences, sums) = (&mut block[..used], &mut sums[..used]);
        let located = |error: Error| error.after_elements((index * BLOCK) as u64);
        number_type::cast((from_type, encoded), (sum_type, differences)).map_err(located)?;
        sum(sum_type, differences, before.as_ref(), sums);
        before.get_or_insert_default()[..size].copy_from_slice(&sums[used - size..]);
        number_type::cast((sum_type, sums), (to_type, decoded)).map_err(located)?;
    }
    Ok(())
}

/// Writes the sums, of which the first adds to `before`, whose first bytes are an element; without one, it is the first
/// difference as it is.
fn sum(number: NumberType, differences: &[u8], before: Option<&[u8; 8]>, sums: &mut [u8]) {
    macro_rules! integers {
        ($type:ty) => {
            integers(
                differences,
                before.unwrap_or(&[0; 8]),
                sums,
                <$type>::from_ne_bytes,
                <$type>::to_ne_bytes,
                <$type>::wrapping_add,
            )
        };
    }
    macro_rules! floats {
        ($type:ty, $add:expr) => {
            floats(differences, before, sums, <$type>::from_ne_bytes, <$type>::to_ne_bytes, $add)
        };
    }
    match number {
        NumberType::Bool | NumberType::I8 | NumberType::U8 => integers!(u8),
        NumberType::I16 | NumberType::U16 => integers!(u16),
        NumberType::I32 | NumberType::U32 => integers!(u32),
        NumberType::I64 | NumberType::U64 => integers!(u64),
        NumberType::F16 => floats!(f16, |a: f16, b: f16| f16::from_f32(a.to_f32().plus(b.to_f32()))),
        NumberType::F32 => floats!(f32, f32::plus),
        NumberType::F64 => floats!(f64, f64::plus),
    }
}

/// Each sum waits for the one before it: the order of roundings is part of the result.
#[inline(always)] // so that the compiler sees the functions inside the loop
fn floats<const SIZE: usize, S: Copy>(
    differences: &[u8],
    before: Option<&[u8; 8]>,
    sums: &mut [u8],
    from: impl Fn([u8; SIZE]) -> S,
    bytes: impl Fn(S) -> [u8; SIZE],
    add: impl Fn(S, S) -> S,
) {
    let Some((first, rest)) = differences.as_chunks().0.split_first() else { return };
    let Some((first_sum, sums)) = sums.as_chunks_mut().0.split_first_mut() else { return };
    let before = before.and_then(|before| before.first_chunk());
    let mut total = before.map_or(from(*first), |before| add(from(*before), from(*first)));
    *first_sum = bytes(total);
    for (difference, sum) in rest.iter().zip(sums) {
        total = add(total, from(*difference));
        *sum = bytes(total);
    }
}

/// Writes the sums of the first integers, and returns how many bytes they take, a multiple of 8. Calling it is safe
/// once its tier is available.
type Sums = unsafe fn(element_size: usize, differences: &[u8], before: &[u8; 8], sums: &mut [u8]) -> usize;

static TIERS: &[Tier<Sums>] = &[
    #[cfg(target_arch = "x86_64")]
    Tier { level: Level::Avx2, kernel: avx2::sums },
    Tier { level: Level::Portable, kernel: |_, _, _, _| 0 },
];

/// A vector kernel does the first, the portable loop the rest.
#[inline(always)] // so that the compiler sees the functions inside the loop
fn integers<const SIZE: usize, S: Copy>(
    differences: &[u8],
    before: &[u8; 8],
    sums: &mut [u8],
    from: impl Fn([u8; SIZE]) -> S,
    bytes: impl Fn(S) -> [u8; SIZE],
    add: impl Fn(S, S) -> S,
) {
    let done = best(TIERS).map_or(0, |tier| {
        // SAFETY: the tier is available.
        #[expect(unsafe_code, reason = "calls code for instructions that the processor was found to have")]
        unsafe {
            (tier.kernel)(SIZE, differences, before, sums)
        }
    });
    let mut total = *before;
    if let Some(last) = sums[..done].last_chunk::<SIZE>() {
        total[..SIZE].copy_from_slice(last);
    }
    portable_integers(&differences[done..], &total, &mut sums[done..], from, bytes, add);
}

/// Four are summed by themselves, so that only every fourth sum waits for the one before it.
#[inline(always)] // so that the compiler sees the functions inside the loop
fn portable_integers<const SIZE: usize, S: Copy>(
    differences: &[u8],
    before: &[u8; 8],
    sums: &mut [u8],
    from: impl Fn([u8; SIZE]) -> S,
    bytes: impl Fn(S) -> [u8; SIZE],
    add: impl Fn(S, S) -> S,
) {
    let Some(before) = before.first_chunk() else { return };
    let mut total = from(*before);
    let (fours, rest) = differences.as_chunks::<SIZE>().0.as_chunks::<4>();
    let (four_sums, last_sums) = sums.as_chunks_mut::<SIZE>().0.as_chunks_mut::<4>();
    for (four, sums) in fours.iter().zip(four_sums) {
        let [a, b, c, d] = four.map(&from);
        let (ab, cd) = (add(a, b), add(c, d));
        let all = add(ab, cd);
        *sums = [a, ab, add(ab, c), all].map(|sum| bytes(add(total, sum)));
        total = add(total, all);
    }
    for (difference, sum) in rest.iter().zip(last_sums) {
        total = add(total, from(*difference));
        *sum = bytes(total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::with_limit;

    const INTEGERS: [NumberType; 4] = [NumberType::U8, NumberType::I16, NumberType::U32, NumberType::I64];

    /// One element after the other.
    fn reference(size: usize, differences: &[u8], before: &[u8; 8]) -> Vec<u8> {
        // Where a number of this size begins in a native u64.
        let start = if cfg!(target_endian = "big") { 8 - size } else { 0 };
        let number = |bytes: &[u8]| {
            let mut number = [0; 8];
            number[start..start + size].copy_from_slice(bytes);
            u64::from_ne_bytes(number)
        };
        let mut total = number(&before[..size]);
        let sums = differences.chunks_exact(size).flat_map(|difference| {
            total = total.wrapping_add(number(difference));
            total.to_ne_bytes()[start..start + size].to_vec()
        });
        sums.collect()
    }

    #[test]
    fn every_tier_sums_like_the_reference_at_every_length() {
        for level in [Some(Level::Portable), None] {
            with_limit(level, || {
                for number in INTEGERS {
                    let size = number.size();
                    for count in (0..=150).chain([1000]) {
                        let differences: Vec<u8> =
                            (0..count * size).map(|index| (index * index * 7 / 3) as u8).collect();
                        for before in [[0; 8], [0xF9, 0xFF, 0x12, 0xFF, 3, 4, 5, 0x90]] {
                            let mut sums = vec![0xA5; differences.len()];
                            sum(number, &differences, Some(&before), &mut sums);
                            let expected = reference(size, &differences, &before);
                            assert!(sums == expected, "{level:?}, {count} elements of {size} bytes");
                            let mut again = vec![0x5A; sums.len()];
                            differ(number, &sums, Some(&before), &mut again);
                            assert!(again == differences, "differences, {level:?}, {count} elements of {size} bytes");
                        }
                    }
                }
            });
        }
    }

    #[test]
    fn sums_are_made_in_the_type_that_numpy_makes_them_in() {
        use NumberType::{F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        for (from, sums) in [
            (&[I8, U8, F16][..], [F16, F32, F64]),
            (&[I16, U16, F32][..], [F32, F32, F64]),
            (&[I32, U32, I64, U64, F64][..], [F64, F64, F64]),
        ] {
            for from in from {
                assert_eq!([F16, F32, F64].map(|to| sum_type(*from, to)), sums, "{from:?}");
                assert_eq!(sum_type(*from, I32), I32);
            }
        }
        let encoded: Vec<u8> = [16_777_216_i32, 1, 1, 1].iter().flat_map(|value| value.to_ne_bytes()).collect();
        let mut decoded = [0; 16];
        decode((I32, &encoded), (F32, &mut decoded)).unwrap();
        let decoded: Vec<f32> = decoded.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect();
        assert_eq!(decoded, [16_777_216.0, 16_777_216.0, 16_777_218.0, 16_777_220.0]);
    }

    #[test]
    fn the_first_element_keeps_all_its_bits() {
        let firsts = [
            (NumberType::F16, f16::NEG_ZERO.to_ne_bytes().to_vec()),
            (NumberType::F16, 0x7C01_u16.to_ne_bytes().to_vec()),
            (NumberType::F32, (-0.0_f32).to_ne_bytes().to_vec()),
            (NumberType::F32, 0x7F80_0001_u32.to_ne_bytes().to_vec()),
            (NumberType::F64, (-0.0_f64).to_ne_bytes().to_vec()),
            (NumberType::F64, 0xFFF0_0000_0000_0001_u64.to_ne_bytes().to_vec()),
        ];
        for (number, first) in firsts {
            let mut encoded = vec![0x5A; first.len()];
            encode((number, &first), (number, &mut encoded)).unwrap();
            assert_eq!(encoded, first, "{number:?}");
            let mut decoded = vec![0xA5; first.len()];
            decode((number, &encoded), (number, &mut decoded)).unwrap();
            assert_eq!(decoded, first, "{number:?}");
        }
    }
}
