//! The filters of Blosc, called alike.

use zcodec::codec::blosc_internals::Shuffle;

/// From the first bytes to the second, by way of a tile for bits.
pub type Filter = fn(&Shuffle, &[u8], &mut [u8], &mut [u8]);

/// Each filter and its inverse.
pub const FILTERS: [(&str, Filter); 4] = [
    ("shuffle", |shuffle, decoded, shuffled, _| shuffle.shuffle(decoded, shuffled)),
    ("unshuffle", |shuffle, shuffled, decoded, _| shuffle.unshuffle(shuffled, decoded)),
    ("bitshuffle", Shuffle::bitshuffle),
    ("bitunshuffle", Shuffle::bitunshuffle),
];
