//! Shared by the fuzz targets.

pub mod c;
pub mod host;
pub mod shard;
pub mod structured;

use std::num::NonZeroUsize;
use zcodec::Status;
use zcodec::chain::{CallOptions, Chain};
use zcodec::codec::Level;
use zcodec::strided::{Layout, Target};

/// Chunks that are larger cost time and find nothing more.
const MAX_SIZE: usize = 1 << 18;

/// The sets of instructions that kernels are written for; the first is all that the processor has.
pub const LEVELS: &[Option<Level>] = &[
    None,
    #[cfg(target_arch = "x86_64")]
    Some(Level::Avx2),
    Some(Level::Portable),
    Some(Level::Reference),
];

/// `codecs NUL input NUL rest`; without the second text the chain takes bytes.
pub struct Texts<'a> {
    pub codecs: &'a [u8],
    pub input: Option<&'a [u8]>,
    pub rest: &'a [u8],
}

impl<'a> Texts<'a> {
    pub fn split(data: &'a [u8]) -> Self {
        let mut parts = data.splitn(3, |byte| *byte == 0);
        let codecs = parts.next().unwrap_or_default();
        let input = parts.next().filter(|text| !text.is_empty());
        Self { codecs, input, rest: parts.next().unwrap_or_default() }
    }
}

pub fn with_threads(count: usize) -> CallOptions {
    CallOptions { max_threads: NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN), ..CallOptions::default() }
}

/// Whether all sizes in the metadata are small.
pub fn is_small(chain: &Chain) -> bool {
    let mut sizes = chain.representations().into_iter().map(|representation| representation.size());
    sizes.all(|size| size.upper_bound().is_none_or(|size| size <= MAX_SIZE as u64))
        && chain
            .decoded_size()
            .is_none_or(|size| chain.encoded_bound(size).is_some_and(|bound| bound <= 4 * MAX_SIZE as u64))
}

/// Decodes into memory of the library, of exactly the size, and with threads: all agree, and no status is one that
/// encoded bytes cannot cause.
pub fn decode_every_way(chain: &Chain, encoded: &[u8]) {
    if !is_small(chain) {
        return;
    }
    let options = CallOptions::default();
    let result = match chain.decoded_size() {
        Some(_) => chain.decode_to_vec(encoded, &options),
        // Bytes may grow without a limit, which would take too long here.
        None => into(chain, encoded, MAX_SIZE, &options),
    };
    let capacity = result.as_ref().map_or(chain.decoded_size().map_or(MAX_SIZE, |size| size as usize), Vec::len);
    assert_eq!(into(chain, encoded, capacity, &options), result, "the ways to decode differ");
    assert_eq!(into(chain, encoded, capacity, &with_threads(4)), result, "threads change the result");
    if let Ok(decoded) = &result {
        check_boxes(chain, encoded, decoded);
    }
    if let Err(error) = result {
        let can_be = [Status::CorruptData, Status::OutOfRange, Status::BufferTooSmall, Status::Unsupported];
        assert!(can_be.contains(&error.status()), "{error}");
    }
}

fn into(chain: &Chain, encoded: &[u8], capacity: usize, options: &CallOptions) -> zcodec::Result<Vec<u8>> {
    let mut decoded = vec![0xA5; capacity];
    let size = chain.decode_into(encoded, &mut decoded, options)?;
    decoded.truncate(size);
    Ok(decoded)
}

/// A box in the middle of a chunk has the elements that the chunk has there, with and without room between its rows.
fn check_boxes(chain: &Chain, encoded: &[u8], decoded: &[u8]) {
    let (Ok(shape), Ok(element_size)) = (chain.shape(), chain.element_size()) else { return };
    let start: Vec<u64> = shape.iter().map(|size| size / 3).collect();
    let part: Vec<u64> = shape.iter().zip(&start).map(|(size, start)| (size - start).div_ceil(2)).collect();
    let Some(row) = part.last() else { return };
    for gap in [0, 3] {
        let mut strides = vec![element_size as i64; part.len()];
        for dimension in (1..strides.len()).rev() {
            let size = if dimension + 1 == part.len() { row + gap } else { part[dimension] };
            strides[dimension - 1] = strides[dimension] * size as i64;
        }
        let count = part.iter().product::<u64>() / (*row).max(1) * (row + gap);
        let mut memory = vec![0xA5; count as usize * element_size];
        let layout = Layout::new(element_size, &part, Some(&strides), 0, memory.len()).expect("the box fits");
        let target = Target::new(&mut memory, layout).expect("the box fits");
        chain.decode_view(encoded, &start, target, &CallOptions::default()).expect("the whole chunk decodes");
        for (index, found) in memory.chunks_exact(element_size).enumerate() {
            let (outer, column) = (index as u64 / (row + gap), index as u64 % (row + gap));
            if column >= *row {
                assert!(found.iter().all(|byte| *byte == 0xA5), "between the rows");
                continue;
            }
            let mut rest = outer * row + column;
            let mut place = 0;
            let mut stride = 1;
            for dimension in (0..shape.len()).rev() {
                place += (rest % part[dimension] + start[dimension]) * stride;
                rest /= part[dimension];
                stride *= shape[dimension];
            }
            let expected = &decoded[place as usize * element_size..][..element_size];
            assert_eq!(found, expected, "element {index} of the box");
        }
    }
}
