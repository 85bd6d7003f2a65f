//! Shared by compressors of the Lempel-Ziv family: finding bytes that occurred before, and copying them.

/// The bits of the largest hash.
const MAX_HASH_BITS: u32 = 14;
const ENTRY_COUNT: usize = 1 << MAX_HASH_BITS;

/// Where bytes stood last, by their hash: at the beginning, if they did not.
#[derive(Debug)]
pub(super) struct MatchTable(Box<[u32; ENTRY_COUNT]>);

impl Default for MatchTable {
    fn default() -> Self {
        Self(Box::new([0; ENTRY_COUNT]))
    }
}

impl MatchTable {
    /// Begins a stream of this size, with hashes of this many bits. `None` if it is longer than any stream of Blosc.
    ///
    /// Clearing the table costs less than telling the places of this stream from those of the one before: a branch that
    /// is a guess where there are few matches.
    pub(super) fn begin(&mut self, size: usize, bits: u32) -> Option<()> {
        u32::try_from(size).ok()?;
        self.0.get_mut(..1 << bits)?.fill(0);
        Some(())
    }

    /// The last place that had this hash; `place` takes its entry.
    #[inline(always)]
    pub(super) fn exchange(&mut self, hash: usize, place: usize) -> usize {
        std::mem::replace(&mut self.0[hash % ENTRY_COUNT], place as u32) as usize
    }

    /// The first place from `start`, which is not 0, to before `limit` that has the same four bytes as one before it,
    /// and that place.
    #[inline]
    pub(super) fn find(&mut self, decoded: &[u8], start: usize, limit: usize, bits: u32) -> Option<(usize, usize)> {
        for (place, window) in (start..limit).zip(decoded.get(start..)?.windows(4)) {
            let sequence = u32::from_le_bytes(*window.first_chunk()?);
            let candidate = self.exchange(hash(sequence, bits), place);
            if four(decoded, candidate) == sequence {
                return Some((place, candidate));
            }
        }
        None
    }
}

/// The upper bits of a hash of four bytes: Knuth's multiplicative one.
#[inline(always)]
pub(super) fn hash(sequence: u32, bits: u32) -> usize {
    (sequence.wrapping_mul(2_654_435_761) >> (32 - bits)) as usize
}

/// The four bytes at a place; zeros after the end.
#[inline(always)]
pub(super) fn four(bytes: &[u8], place: usize) -> u32 {
    bytes.get(place..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// How many bytes are the same from the beginning.
#[inline]
pub(super) fn common_size(first: &[u8], second: &[u8]) -> usize {
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

/// The bytes that are copied at once.
const STEP: usize = 16;

/// Copies the first `count` bytes of a slice to the beginning of another, whose next bytes may change too; `None` if
/// one of them has fewer.
#[inline(always)]
pub(super) fn copy_literals(from: &[u8], count: usize, to: &mut [u8]) -> Option<()> {
    if count <= 2 * STEP
        && let (Some(from), Some(to)) = (from.first_chunk::<{ 2 * STEP }>(), to.first_chunk_mut::<{ 2 * STEP }>())
    {
        *to = *from;
        return Some(());
    }
    to.get_mut(..count)?.copy_from_slice(from.get(..count)?);
    Some(())
}

/// Copies bytes from `distance` before `written`, byte by byte, so that bytes just written are copied, too. Bytes after
/// them may change as well. `None` if `decoded` does not have them.
#[inline(always)]
pub(super) fn copy_match(decoded: &mut [u8], written: usize, distance: usize, length: usize) -> Option<()> {
    let start = written.checked_sub(distance)?;
    let end = written.checked_add(length)?;
    let (before, after) = decoded.split_at_mut_checked(written)?;
    if distance >= STEP && length <= STEP {
        let from = before.get(start..)?.first_chunk::<STEP>()?;
        if let Some(to) = after.first_chunk_mut::<STEP>() {
            *to = *from;
            return Some(());
        }
    }
    if distance >= length {
        after.get_mut(..length)?.copy_from_slice(before.get(start..start + length)?);
        return Some(());
    }
    repeat(decoded.get_mut(..end)?, start, written);
    Some(())
}

/// Repeats the bytes from `start` to `written` up to the end.
fn repeat(decoded: &mut [u8], start: usize, mut written: usize) {
    if start + 1 == written {
        let byte = decoded[start];
        return decoded[written..].fill(byte);
    }
    while written > start && written < decoded.len() {
        let size = (written - start).min(decoded.len() - written);
        decoded.copy_within(start..start + size, written);
        written += size;
    }
}
