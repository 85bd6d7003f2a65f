//! The embedded code of [`planes_of_words`](super::super::planes_of_words) for 4 coefficients: the codes of planes, and
//! how these are read.
//!
//! Planes are short: sixteen lie in a word, four bits each, in the order of the stream. Until all coefficients are
//! significant, tables have the planes that the next bits of a stream hold. After that the stream is the planes
//! themselves.

use super::super::bits::{BitReader, MAX_BITS, low_mask};
use super::super::block::width;
use super::super::groups::skip_empty;
use std::arch::x86_64::_pext_u64;

const SIZE: u32 = 4;

/// Planes in a word.
const IN_WORD: u32 = u64::BITS / SIZE;

/// The bits of the first coefficient in a word of planes.
const FIRST: u64 = 0x1111_1111_1111_1111;

/// The code of a plane.
#[derive(Clone, Copy)]
pub(in super::super) struct Code {
    pub(in super::super) bits: u8,
    pub(in super::super) length: u8,
}

/// The longest code.
const LONGEST: u32 = 7;

impl Code {
    /// That of a plane before which `n` coefficients are significant.
    const fn of(plane: u8, mut n: u32) -> Self {
        let (mut bits, mut length) = (plane & ((1 << n) - 1), n);
        while n < SIZE {
            let has_ones = plane >> n != 0;
            bits |= (has_ones as u8) << length;
            length += 1;
            if !has_ones {
                break;
            }
            // Up to a one; that in the last place is not written.
            while n < SIZE - 1 {
                let bit = plane >> n & 1;
                bits |= bit << length;
                length += 1;
                if bit == 1 {
                    break;
                }
                n += 1;
            }
            n += 1;
        }
        Self { bits, length: length as u8 }
    }
}

/// By the number of significant coefficients and the plane.
pub(in super::super) const CODES: [[Code; 16]; 5] = {
    let mut codes = [[Code { bits: 0, length: 0 }; 16]; 5];
    let mut i = 0;
    while i < 80 {
        codes[i / 16][i % 16] = Code::of(i as u8 % 16, i as u32 / 16);
        i += 1;
    }
    codes
};

/// The number of significant coefficients if these are the bits of all planes.
const fn bit_length(bits: u8) -> u32 {
    u8::BITS - bits.leading_zeros()
}

/// Planes that some bits of a stream hold, all with a coefficient that was not significant before.
#[derive(Clone, Copy)]
struct Decoded {
    planes: u16,
    length: u8,
    /// How many planes.
    count: u8,
    /// How many coefficients are significant after them.
    n: u8,
}

impl Decoded {
    /// Up to `most` planes that the first `length` bits have whole.
    const fn of(bits: usize, length: u8, n: u8, most: u8) -> Self {
        let mut all = Self { planes: 0, length: 0, count: 0, n };
        let mut plane = 0;
        while plane < 16 && all.count < most && (all.n as u32) < SIZE {
            let code = CODES[all.n as usize][plane];
            let is_next = (bits >> all.length) & ((1 << code.length) - 1) == code.bits as usize;
            if is_next && all.length + code.length <= length {
                all.planes |= (plane as u16) << (SIZE * all.count as u32);
                all.length += code.length;
                all.count += 1;
                let after = bit_length(plane as u8) as u8;
                all.n = if after > all.n { after } else { all.n };
                plane = 0;
            } else {
                plane += 1;
            }
        }
        all
    }

    /// By the number of significant coefficients and the bits.
    const fn table<const COUNT: usize>(most: u8) -> [[Self; COUNT]; 4] {
        let mut table = [[Self { planes: 0, length: 0, count: 0, n: 0 }; COUNT]; 4];
        let mut i = 0;
        while i < 4 * COUNT {
            table[i / COUNT][i % COUNT] = Self::of(i % COUNT, COUNT.ilog2() as u8, (i / COUNT) as u8, most);
            i += 1;
        }
        table
    }
}

/// One plane.
static ONE: [[Decoded; 1 << LONGEST]; 4] = Decoded::table(1);

/// The plane of which only these bits are left before the end.
const fn cut_plane(bits: usize, length: u32, mut n: u32) -> u8 {
    let raw = if length < n { length } else { n };
    let mut plane = (bits & ((1 << raw) - 1)) as u8;
    let mut taken = raw;
    while taken < length && n < SIZE && bits >> taken & 1 == 1 {
        taken += 1;
        while taken < length && n < SIZE - 1 && bits >> taken & 1 == 0 {
            taken += 1;
            n += 1;
        }
        // The one, unless it is not written or cut off.
        taken += 1;
        plane |= 1 << n;
        n += 1;
    }
    plane
}

/// By the number of significant coefficients, the number of bits, and these.
static CUT: [[[u8; 1 << (LONGEST - 1)]; LONGEST as usize]; SIZE as usize] = {
    let mut planes = [[[0; 1 << (LONGEST - 1)]; LONGEST as usize]; SIZE as usize];
    let mut n = 0;
    while n < planes.len() {
        let mut length = 0;
        while length < LONGEST as usize {
            let mut bits = 0;
            while bits < 1 << length {
                planes[n][length][bits] = cut_plane(bits, length as u32, n as u32);
                bits += 1;
            }
            length += 1;
        }
        n += 1;
    }
    planes
};

/// The bits that several planes are looked up by, and the most that are found.
const WINDOW: u32 = 10;
const MOST_PLANES: u32 = 4;

static SEVERAL: [[Decoded; 1 << WINDOW]; 4] = Decoded::table(MOST_PLANES as u8);

/// The planes of a word in the opposite order.
#[inline(always)]
fn reversed(word: u64) -> u64 {
    const LOW: u64 = 0x0F0F_0F0F_0F0F_0F0F;
    let word = word.swap_bytes();
    word >> 4 & LOW | (word & LOW) << 4
}

/// Reads the planes of coefficients from the most significant one down to `kmin`, at most `budget` bits; others are
/// zeros.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
pub(in super::super) fn decode<const WIDE: bool>(from: &mut BitReader<'_>, kmin: u32, budget: u32) -> [u64; 4] {
    // A copy that can lie in registers.
    let mut source = *from;
    let end = source.position() + u64::from(budget);
    let top = skip_empty(&mut source, width(WIDE), kmin, end);
    let (mut planes, mut n) = (Stream::default(), 0);
    let count = top - kmin;
    while planes.count < count && n < SIZE && source.position() < end {
        take_codes(&mut source, &mut planes, &mut n, count, end);
    }
    if n == SIZE {
        take_planes(&mut source, &mut planes, count, end);
    }
    *from = source;
    planes.coefficients::<WIDE>(top)
}

/// Planes in the order of the stream.
#[derive(Default)]
struct Stream {
    full_words: [u64; 4],
    count: u32,
    /// The planes after the full words; zeros above.
    rest: u64,
}

impl Stream {
    /// Up to 14 planes.
    #[inline(always)]
    fn push(&mut self, planes: u64, count: u32) {
        let filled = SIZE * (self.count % IN_WORD);
        self.rest |= planes << filled;
        if filled + SIZE * count >= u64::BITS {
            self.full_words[(self.count / IN_WORD) as usize % 4] = self.rest;
            self.rest = planes >> 1 >> (63 - filled);
        }
        self.count += count;
    }

    /// The coefficients whose planes below `top` these are.
    #[inline]
    #[target_feature(enable = "bmi2")]
    fn coefficients<const WIDE: bool>(mut self, top: u32) -> [u64; 4] {
        if self.count < width(WIDE) {
            self.full_words[(self.count / IN_WORD) as usize % 4] = self.rest;
        }
        let mut coefficients = [0; 4];
        for (index, word) in self.full_words[..(width(WIDE) / IN_WORD) as usize].iter().enumerate() {
            if WIDE && self.count <= IN_WORD * index as u32 {
                break;
            }
            let word = reversed(*word);
            for (place, coefficient) in coefficients.iter_mut().enumerate() {
                *coefficient |= _pext_u64(word, FIRST << place) << (64 - IN_WORD) >> (IN_WORD * index as u32);
            }
        }
        coefficients.map(|coefficient| coefficient.checked_shr(64 - top).unwrap_or(0))
    }
}

/// Reads planes of a window as long as a coefficient is not significant. The end may cut the last one.
#[inline(always)]
fn take_codes(source: &mut BitReader<'_>, planes: &mut Stream, n: &mut u32, count: u32, end: u64) {
    let (window, mut taken) = (source.window(), 0);
    let valid = (end - source.position()).min(source.valid().into()) as u32;
    while planes.count + MOST_PLANES <= count && *n < SIZE && taken + WINDOW <= valid {
        let several = SEVERAL[*n as usize][(window >> taken) as usize % (1 << WINDOW)];
        planes.push(several.planes.into(), several.count.into());
        taken += u32::from(several.length);
        *n = several.n.into();
    }
    if taken == 0 {
        let significant = *n as usize % 4;
        let one = ONE[significant][window as usize % (1 << LONGEST)];
        taken = one.length.into();
        *n = one.n.into();
        if taken <= valid {
            planes.push(one.planes.into(), 1);
        } else {
            taken = valid;
            let bits = (window & low_mask(valid)) as usize;
            planes.push(CUT[significant][valid as usize % LONGEST as usize][bits % (1 << (LONGEST - 1))].into(), 1);
        }
    }
    source.take(taken);
}

/// Reads planes as they are. The end may cut the last one.
#[inline(always)]
fn take_planes(source: &mut BitReader<'_>, planes: &mut Stream, count: u32, end: u64) {
    while planes.count < count && source.position() < end {
        // Twice, because a second time costs less than a wrong guess whether there is one.
        for _ in 0..2 {
            let next = (count - planes.count).min(MAX_BITS / SIZE);
            let length = (end - source.position()).min((SIZE * next).into());
            planes.push(source.take(length as u32), next);
        }
    }
}
