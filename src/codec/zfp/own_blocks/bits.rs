//! Bits one after the other, the first one lowest, in words of 64 bits, little-endian.

/// The most bits that one call can put or take.
pub(super) const MAX_BITS: u32 = 56;

/// The lowest `count` bits, up to 63.
#[inline(always)]
pub(super) fn low_mask(count: u32) -> u64 {
    (1 << count) - 1
}

/// Appends bits. Each call writes 8 bytes, so that 8 bytes must follow the last bit: see
/// [`overflowed`](Self::overflowed).
#[derive(Debug)]
pub(super) struct BitWriter<'a> {
    bytes: &'a mut [u8],
    at: End,
}

/// Where a [`BitWriter`] is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct End {
    whole_bytes: usize,
    /// The bits after them; zeros above.
    pending: u64,
    pending_bits: u32,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, at: End::default() }
    }

    /// A copy, which can lie in registers. [`resume`](Self::resume) goes on where the copy [`end`](Self::end)s.
    #[inline(always)]
    pub(super) fn copied(&mut self) -> BitWriter<'_> {
        BitWriter { bytes: self.bytes, at: self.at }
    }

    #[inline(always)]
    pub(super) fn end(&self) -> End {
        self.at
    }

    #[inline(always)]
    pub(super) fn resume(&mut self, end: End) {
        self.at = end;
    }

    /// In bits.
    #[inline(always)]
    pub(super) fn position(&self) -> u64 {
        8 * self.at.whole_bytes as u64 + u64::from(self.at.pending_bits)
    }

    /// Up to [`MAX_BITS`] bits, above which there are zeros.
    #[inline(always)]
    pub(super) fn put(&mut self, bits: u64, count: u32) {
        self.at.pending |= bits << self.at.pending_bits;
        self.store();
        let filled = self.at.pending_bits + count;
        self.at.whole_bytes += filled as usize / 8;
        self.at.pending >>= filled & !7;
        self.at.pending_bits = filled % 8;
    }

    /// The room from the next byte on.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn room(&mut self) -> Room<'_> {
        let words = self.bytes.get_mut(self.at.whole_bytes..).unwrap_or_default().as_chunks_mut().0;
        Room { words, next: 0, pending: self.at.pending, filled: self.at.pending_bits }
    }

    /// Goes on after what was written to [`room`](Self::room): this many whole words, and `filled` bits.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn advance(&mut self, (words, pending, filled): (usize, u64, u32)) {
        self.at = End { whole_bytes: self.at.whole_bytes + 8 * words, ..End::default() };
        self.put_long(pending, filled);
    }

    /// Planes of whole words, the last one first.
    #[inline(always)]
    pub(super) fn put_planes<const WORDS: usize>(&mut self, planes: &[[u64; WORDS]]) {
        self.put_words(planes.iter().rev().flatten());
    }

    /// Whole words.
    #[inline(always)]
    pub(super) fn put_words<'w>(&mut self, words: impl Iterator<Item = &'w u64>) {
        for word in words {
            self.store_word(self.at.pending | word << self.at.pending_bits);
            self.at.pending = word >> 1 >> (63 - self.at.pending_bits);
            self.at.whole_bytes += 8;
        }
        // For `truncate`.
        self.store();
    }

    /// Up to 64 bits.
    #[inline(always)]
    pub(super) fn put_long(&mut self, bits: u64, count: u32) {
        if count <= MAX_BITS {
            self.put(bits, count);
        } else {
            self.put(bits & low_mask(32), 32);
            self.put(bits >> 32, count - 32);
        }
    }

    #[inline(always)]
    pub(super) fn put_zeros(&mut self, mut count: u64) {
        while count > u64::from(MAX_BITS) {
            self.put(0, MAX_BITS);
            count -= u64::from(MAX_BITS);
        }
        self.put(0, count as u32);
    }

    /// Drops the bits after this position.
    #[inline(always)]
    pub(super) fn truncate(&mut self, position: u64) {
        if position < self.position() {
            let (whole_bytes, pending_bits) = ((position / 8) as usize, (position % 8) as u32);
            let pending = self.bytes.get(whole_bytes).map_or(0, |byte| u64::from(*byte) & low_mask(pending_bits));
            self.at = End { whole_bytes, pending, pending_bits };
        }
    }

    /// Fills the rest of 8 bytes with zeros.
    pub(super) fn flush(&mut self) {
        self.store();
    }

    /// Whether something found no room, and was dropped.
    pub(super) fn overflowed(&self) -> bool {
        self.bytes.len() < self.at.whole_bytes + 8
    }

    #[inline(always)]
    fn store(&mut self) {
        self.store_word(self.at.pending);
    }

    #[inline(always)]
    fn store_word(&mut self, word: u64) {
        if let Some(room) = self.bytes.get_mut(self.at.whole_bytes..).and_then(<[u8]>::first_chunk_mut) {
            *room = word.to_le_bytes();
        }
    }
}

/// Room for words of 64 bits, and how far they are written.
#[cfg(target_arch = "x86_64")]
pub(super) struct Room<'a> {
    words: &'a mut [[u8; 8]],
    /// The index of the next word.
    pub(super) next: usize,
    /// The bits of it that are known already; zeros above.
    pub(super) pending: u64,
    /// How many bits of it are known.
    pub(super) filled: u32,
}

#[cfg(target_arch = "x86_64")]
impl Room<'_> {
    /// The place of the next word, if there is room for it.
    #[inline(always)]
    pub(super) fn one(&mut self) -> Option<&mut [u8; 8]> {
        self.words.get_mut(self.next)
    }

    /// The places of the next eight words, if there is room for them.
    #[inline(always)]
    pub(super) fn eight(&mut self) -> Option<&mut [[u8; 8]; 8]> {
        self.words.get_mut(self.next..)?.first_chunk_mut()
    }

    /// Writes as many of the next eight words as there is room for.
    #[cold]
    #[inline(never)]
    pub(super) fn put_some(&mut self, words: [[u8; 8]; 8]) {
        for (place, word) in self.words.iter_mut().skip(self.next).zip(words) {
            *place = word;
        }
    }

    /// For [`BitWriter::advance`].
    #[inline(always)]
    pub(super) fn end(&self) -> (usize, u64, u32) {
        (self.next, self.pending, self.filled)
    }

    /// Writes zeros after the known bits, up to the word of this index.
    #[inline(always)]
    pub(super) fn pad(&mut self, end: usize) {
        while self.next < end {
            let word = self.pending.to_le_bytes();
            if let Some(place) = self.one() {
                *place = word;
            }
            self.pending = 0;
            self.next += 1;
        }
    }
}

/// Takes bits. Past the end there are zeros.
#[derive(Debug, Clone, Copy)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// Offsets below this allow an 8-byte read.
    whole: usize,
    /// The byte after the valid bits.
    next: usize,
    /// The next bits, of which `valid` are valid. Above them are some of the bits that follow, or zeros.
    window: u64,
    valid: u32,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8], position: u64) -> Self {
        let mut source = Self { bytes, whole: bytes.len().saturating_sub(7), next: 0, window: 0, valid: 0 };
        source.seek(position);
        source
    }

    pub(super) fn seek(&mut self, position: u64) {
        *self = Self { next: (position / 8) as usize, window: 0, valid: 0, ..*self };
        self.refill();
        self.take((position % 8) as u32);
    }

    /// In bits, also past the end.
    #[inline(always)]
    pub(super) fn position(&self) -> u64 {
        8 * self.next as u64 - u64::from(self.valid)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The next bits, of which [`valid`](Self::valid) count.
    #[inline(always)]
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// After a [`refill`](Self::refill) at least [`MAX_BITS`].
    #[inline(always)]
    pub(super) fn valid(&self) -> u32 {
        self.valid
    }

    #[inline(always)]
    pub(super) fn refill(&mut self) {
        let bytes = if self.next < self.whole {
            // SAFETY: after the first of these bytes there are seven more.
            unsafe { self.bytes.as_ptr().add(self.next).cast::<[u8; 8]>().read() }
        } else {
            last_bytes(self.bytes, self.next)
        };
        self.window |= u64::from_le_bytes(bytes) << self.valid;
        self.next += (63 - self.valid) as usize / 8;
        self.valid |= MAX_BITS;
    }

    /// Up to as many bits as are valid.
    #[inline(always)]
    pub(super) fn consume(&mut self, count: u32) {
        self.window >>= count;
        self.valid -= count;
    }

    /// Up to [`MAX_BITS`] bits of a window that was refilled, as it is then again.
    #[inline(always)]
    pub(super) fn take(&mut self, count: u32) -> u64 {
        let bits = self.window & low_mask(count);
        self.consume(count);
        self.refill();
        bits
    }

    /// Planes of whole words, the last one first, as [`take`](Self::take).
    #[inline(always)]
    pub(super) fn take_planes<const WORDS: usize>(&mut self, planes: &mut [[u64; WORDS]]) {
        let size = 8 * WORDS * planes.len();
        let (first, shift) = ((self.position() / 8) as usize, self.position() % 8);
        let words = planes.iter_mut().rev().flatten();
        // A byte more than they have.
        if let Some(bytes) = self.bytes.get(first..).and_then(|bytes| bytes.get(..size + 1)) {
            for (word, next) in words.zip(bytes.windows(9).step_by(8)) {
                let low = next.first_chunk().map_or(0, |low| u64::from_le_bytes(*low));
                *word = low >> shift | u64::from(next[8]) << 1 << (63 - shift);
            }
            self.seek(self.position() + 8 * size as u64);
        } else {
            for word in words {
                *word = self.take_long(64);
            }
        }
    }

    /// The bytes from that of the next bit on, if there are `SIZE` of them, and the number of their bits that have been
    /// taken.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn next_bytes<const SIZE: usize>(&self) -> Option<(&'a [u8; SIZE], u32)> {
        let first = (self.position() / 8) as usize;
        Some((self.bytes.get(first..)?.first_chunk()?, (self.position() % 8) as u32))
    }

    /// Up to 64 bits, as [`take`](Self::take).
    #[inline(always)]
    pub(super) fn take_long(&mut self, count: u32) -> u64 {
        if count <= MAX_BITS {
            return self.take(count);
        }
        let low = self.take(32);
        low | self.take(count - 32) << 32
    }
}

#[cold]
#[inline(never)]
fn last_bytes(bytes: &[u8], next: usize) -> [u8; 8] {
    let rest = bytes.get(next..).unwrap_or_default();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    const BITS: u64 = 0xF123_4567_89AB_CDE5;

    #[test]
    fn what_was_put_is_taken_at_every_position() {
        for before in 0..=64 {
            for count in 0..=64 {
                let bits = if count == 64 { BITS } else { BITS & low_mask(count) };
                let mut bytes = [0xA5; 32];
                let mut sink = BitWriter::new(&mut bytes);
                sink.put_zeros(before);
                sink.put_long(bits, count);
                assert_eq!(sink.position(), before + u64::from(count));
                sink.put(0b101, 3);
                sink.truncate(before + u64::from(count) + 1);
                sink.flush();
                assert!(!sink.overflowed());

                let mut source = BitReader::new(&bytes, before);
                assert_eq!((source.take_long(count), source.take(3)), (bits, 0b001), "{before} {count}");
                assert_eq!(source.position(), before + u64::from(count) + 3);
            }
        }
    }

    #[test]
    fn planes_are_their_words_from_the_last_one_on() {
        let planes = [[BITS, 0], [u64::MAX, BITS.reverse_bits()]];
        for before in 0..=64 {
            let (mut one_by_one, mut together) = ([0xA5; 56], [0xA5; 56]);
            let (mut sink, mut planes_sink) = (BitWriter::new(&mut one_by_one), BitWriter::new(&mut together));
            sink.put_zeros(before);
            planes.iter().rev().flatten().for_each(|word| sink.put_long(*word, 64));
            planes_sink.put_zeros(before);
            planes_sink.put_planes(&planes);
            for sink in [&mut sink, &mut planes_sink] {
                sink.truncate(before + 255);
                sink.put(planes[0][1] >> 63, 1);
                sink.put(0b101, 3);
                sink.flush();
                assert_eq!(sink.position(), before + 256 + 3);
            }
            assert_eq!(one_by_one[..42], together[..42], "{before}");
            for size in [34, 41, 42, 56] {
                let mut source = BitReader::new(&together[..size], before);
                let (mut expected, mut taken) = (source, [[1; 2]; 2]);
                source.take_planes(&mut taken);
                let [c, d, a, b] = [64; 4].map(|count| expected.take_long(count));
                assert_eq!(taken, [[a, b], [c, d]], "{before} {size}");
                assert_eq!((source.position(), source.take(3)), (expected.position(), expected.take(3)));
            }
        }
    }

    #[test]
    fn past_the_end_of_a_source_there_are_zeros() {
        for size in 0..17 {
            let bytes = vec![0xFF; size];
            let mut source = BitReader::new(&bytes, 3);
            let ones: u32 = (0..6).map(|_| source.take_long(64).count_ones()).sum();
            assert_eq!(ones as usize, (8 * size).saturating_sub(3));
            assert_eq!(source.position(), 3 + 6 * 64);
        }
    }

    #[test]
    fn what_has_no_room_is_dropped_and_told() {
        for size in 0..24 {
            let mut bytes = vec![0xA5; size];
            let mut sink = BitWriter::new(&mut bytes);
            sink.put_long(BITS, 64);
            sink.put(1, 1);
            sink.truncate(64);
            sink.flush();
            assert_eq!(sink.overflowed(), size < 16, "{size}");
        }
    }
}
