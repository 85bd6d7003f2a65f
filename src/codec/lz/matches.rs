//! Shared by compressors of the Lempel-Ziv family: finding bytes that occurred before, and copying them.

use crate::error::{Error, Result};
use crate::memory::copy;
use bytemuck::Pod;
use bytemuck::allocation::try_zeroed_box;

/// The bits of the largest hash.
const MAX_HASH_BITS: u32 = 14;
const ENTRY_COUNT: usize = 1 << MAX_HASH_BITS;

/// Memory for where bytes stood last.
#[derive(Debug)]
pub(in crate::codec) struct MatchTable(Box<[u32; ENTRY_COUNT]>);

/// A place in a stream. Those of a short one take half the memory, so that a first-level cache has the table.
pub(in crate::codec) trait Place: Pod {
    /// The size of the longest stream.
    const MAX_SIZE: usize;

    fn new(place: usize) -> Self;
    fn get(self) -> usize;
}

impl Place for u16 {
    const MAX_SIZE: usize = 1 << 16;

    fn new(place: usize) -> Self {
        place as Self
    }

    fn get(self) -> usize {
        usize::from(self)
    }
}

impl Place for u32 {
    const MAX_SIZE: usize = Self::MAX as usize;

    fn new(place: usize) -> Self {
        place as Self
    }

    fn get(self) -> usize {
        self as usize
    }
}

/// Where bytes of a stream stood last, by their hash: at the beginning, if they did not.
#[derive(Debug)]
pub(in crate::codec) struct Places<'t, P>(&'t mut [P; ENTRY_COUNT]);

impl MatchTable {
    pub(in crate::codec) fn new() -> Result<Self> {
        try_zeroed_box().map(Self).map_err(|()| Error::out_of_memory())
    }

    /// Begins a stream of this size, with hashes of this many bits. `None` if it is too long for such places.
    ///
    /// Clearing the table costs less than telling the places of this stream from those of the one before: a branch that
    /// is a guess where there are few matches.
    pub(in crate::codec) fn begin<P: Place>(&mut self, size: usize, bits: u32) -> Option<Places<'_, P>> {
        let places: &mut [P] = bytemuck::cast_slice_mut(&mut self.0[..]);
        let places = places.first_chunk_mut().filter(|_| size <= P::MAX_SIZE)?;
        places.get_mut(..1 << bits)?.fill(P::new(0));
        Some(Places(places))
    }
}

impl<P: Place> Places<'_, P> {
    /// The last place that had this hash; `place` takes its entry.
    #[inline(always)]
    pub(in crate::codec) fn exchange(&mut self, hash: usize, place: usize) -> usize {
        std::mem::replace(&mut self.0[hash % ENTRY_COUNT], P::new(place)).get()
    }
}

/// The upper bits of a hash of four bytes: Knuth's multiplicative one.
#[inline(always)]
pub(in crate::codec) fn hash(sequence: u32, bits: u32) -> usize {
    (sequence.wrapping_mul(2_654_435_761) >> (32 - bits)) as usize
}

/// The four bytes at a place; `None` if the end is nearer.
#[inline(always)]
pub(in crate::codec) fn four(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(place..place + 4)?.first_chunk()?))
}

/// How many bytes are the same from the beginning.
#[inline]
pub(in crate::codec) fn common_size(first: &[u8], second: &[u8]) -> usize {
    let mut size = 0;
    for (first, second) in first.as_chunks::<8>().0.iter().zip(second.as_chunks::<8>().0) {
        let different = u64::from_le_bytes(*first) ^ u64::from_le_bytes(*second);
        if different != 0 {
            return size + different.trailing_zeros() as usize / 8;
        }
        size += 8;
    }
    size + first[size..].iter().zip(&second[size..]).take_while(|(first, second)| first == second).count()
}

/// How far a sequence goes on both sides.
pub(in crate::codec) struct Short {
    pub(in crate::codec) read: usize,
    pub(in crate::codec) written: usize,
}

/// The bytes that are copied at once.
const STEP: usize = 16;
/// A match that is nearer repeats fewer bytes than a register has.
pub(in crate::codec) const NEAR: usize = 8;
/// From this length on, a function that copies or fills is worth its call.
const LONG: usize = 256;

/// Copies the first `count` bytes of a slice to the beginning of another, whose next bytes may change too; `None` if
/// one of them has fewer.
#[inline(always)]
pub(in crate::codec) fn copy_literals(from: &[u8], count: usize, to: &mut [u8]) -> Option<()> {
    if count <= 2 * STEP && copy_first::<{ 2 * STEP }>(from, to)
        || count <= 8 * STEP && copy_first::<{ 8 * STEP }>(from, to)
    {
        return Some(());
    }
    copy(from.get(..count)?, to.get_mut(..count)?);
    Some(())
}

/// Copies the first `SIZE` bytes if both sides have them.
#[inline(always)]
fn copy_first<const SIZE: usize>(from: &[u8], to: &mut [u8]) -> bool {
    let (Some(from), Some(to)) = (from.first_chunk::<SIZE>(), to.first_chunk_mut::<SIZE>()) else { return false };
    *to = *from;
    true
}

/// Copies bytes from `distance` before `written`, byte by byte, so that bytes just written are copied, too. Bytes after
/// them may change as well. `None` if `decoded` does not have them.
#[inline(always)]
pub(in crate::codec) fn copy_match(decoded: &mut [u8], written: usize, distance: usize, length: usize) -> Option<()> {
    let start = written.checked_sub(distance)?;
    let end = written.checked_add(length)?;
    if distance >= STEP && length <= STEP {
        let (before, after) = decoded.split_at_mut_checked(written)?;
        if copy_first::<STEP>(before.get(start..)?, after) {
            return Some(());
        }
    }
    let decoded = decoded.get_mut(start..)?;
    // A step may write this much after the end.
    let has_room = decoded.len() >= (distance + length).saturating_add(STEP);
    if has_room && distance > 0 && length < LONG {
        copy_steps(decoded, distance, distance + length)
    } else {
        let decoded = decoded.get_mut(..end - start)?;
        if distance >= length {
            let (before, after) = decoded.split_at_mut(distance);
            copy(&before[..length], after);
        } else {
            repeat(decoded, distance);
        }
        Some(())
    }
}

/// Repeats the first `distance` bytes, which is not 0, up to `end`, and some more; `None` if there is no room for these.
#[inline(always)]
pub(in crate::codec) fn copy_steps(decoded: &mut [u8], distance: usize, end: usize) -> Option<()> {
    if distance >= STEP {
        return copy_by::<STEP>(decoded, distance, end);
    }
    if distance >= NEAR {
        return copy_by::<NEAR>(decoded, distance, end);
    }
    let (pattern, period) = repeated(decoded.first_chunk()?, distance);
    let mut written = distance;
    while written < end {
        *decoded.get_mut(written..)?.first_chunk_mut()? = pattern;
        written += period;
    }
    Some(())
}

/// The same in steps that are no longer than `distance`.
#[inline(always)]
fn copy_by<const SIZE: usize>(decoded: &mut [u8], distance: usize, end: usize) -> Option<()> {
    let mut written = distance;
    while written < end {
        let step = *decoded.get(written - distance..)?.first_chunk::<SIZE>()?;
        *decoded.get_mut(written..)?.first_chunk_mut()? = step;
        written += SIZE;
    }
    Some(())
}

/// Bytes that repeat the first of these, which are fewer, and after how many they begin again.
#[inline(always)]
pub(in crate::codec) fn repeated(bytes: &[u8; NEAR], distance: usize) -> ([u8; NEAR], usize) {
    /// By the number of bytes: what they are multiplied by.
    const FACTORS: [u64; NEAR] = {
        let mut factors = [1; NEAR];
        let mut distance = 1;
        while distance < NEAR {
            let mut place = distance;
            while place < NEAR {
                factors[distance] |= 1 << (8 * place);
                place += distance;
            }
            distance += 1;
        }
        factors
    };
    let distance = distance % NEAR;
    let first = u64::from_le_bytes(*bytes) & ((1 << (8 * distance)) - 1);
    (first.wrapping_mul(FACTORS[distance]).to_le_bytes(), NEAR - NEAR % distance.max(1))
}

/// Repeats the first `written` bytes up to the end.
fn repeat(decoded: &mut [u8], mut written: usize) {
    if written == 1 {
        let byte = decoded[0];
        return decoded[1..].fill(byte);
    }
    while written > 0 && written < decoded.len() {
        let size = written.min(decoded.len() - written);
        decoded.copy_within(..size, written);
        written += size;
    }
}

/// Bytes by their index, for tests: from one value to noise.
#[cfg(test)]
pub(in crate::codec) const PATTERNS: [fn(usize) -> u8; 5] = [
    |_| 7,
    |i| (i % 3) as u8,
    |i| (i / 100) as u8,
    |i| (i as u32).wrapping_mul(2_654_435_761).to_le_bytes()[3] & 1,
    |i| ((i % 10_000) as u32).wrapping_mul(2_654_435_761).to_le_bytes()[3],
];
