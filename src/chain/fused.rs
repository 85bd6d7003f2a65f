//! Elementwise kernels in one pass over cache-sized tiles.

use crate::codec::{Joint, join};
use crate::error::{CodecPlace, Error, Result};
use crate::interface::{Call, Direction, Elementwise, SizedKernel, packed_size};
use crate::memory::{grow, size_before_line};
use std::sync::Arc;

/// The bytes of a tile at all its kernels together, from its input to its output: they stay in a first-level cache.
const TILE_SIZE: usize = 24 << 10;

/// Below this size, aligning costs more than it saves.
const MIN_SIZE_TO_ALIGN: usize = 32 << 10;

/// Elementwise kernels, one after the other on each tile. Without any: a copy.
#[derive(Debug, Clone)]
pub(super) struct Fused {
    kernels: Vec<PlacedKernel>,
    /// The same kernels, with one for each two neighbours that have a joint one. These are tried first.
    joined: Vec<PlacedKernel>,
    element_count: u64,
    /// Bits per element before the first kernel.
    decoded_bits: usize,
    /// Elements per tile.
    tile_element_count: usize,
    /// The same for the joined kernels.
    joined_tile_element_count: usize,
}

#[derive(Debug, Clone)]
struct PlacedKernel {
    codec: CodecPlace,
    kernel: Kernel,
    /// Bits per element after this kernel.
    encoded_bits: usize,
    /// The bits that an element takes before the first kernel and after each one up to this one, together.
    bits_in_tile: usize,
}

#[derive(Debug, Clone)]
enum Kernel {
    OfOne(Arc<dyn Elementwise>),
    OfTwo(Arc<dyn Joint>),
}

/// The size of this many packed elements in bytes.
fn bytes_of(element_count: usize, bits: usize) -> usize {
    packed_size(element_count as u64, bits) as usize
}

impl Fused {
    /// A pass without kernels over `element_count` elements of `decoded_bits` bits.
    pub(super) fn new(element_count: u64, decoded_bits: usize) -> Self {
        Self {
            kernels: Vec::new(),
            joined: Vec::new(),
            element_count,
            decoded_bits,
            tile_element_count: tile_element_count(decoded_bits),
            joined_tile_element_count: tile_element_count(decoded_bits),
        }
    }

    pub(super) fn push(&mut self, codec: CodecPlace, added: &SizedKernel) {
        let SizedKernel { kernel, encoded_bits } = added;
        if kernel.is_copy() {
            return;
        }
        let joint = self.joined.last().and_then(|last| match &last.kernel {
            Kernel::OfOne(last) => join(last.as_ref(), kernel.as_ref()),
            Kernel::OfTwo(_) => None,
        });
        if joint.is_some() {
            self.joined.pop();
        }
        let one = || Kernel::OfOne(Arc::clone(kernel));
        let joined = joint.map_or_else(one, Kernel::OfTwo);
        let encoded_bits = *encoded_bits;
        let [bits_in_tile, bits_in_joined_tile] =
            [&self.kernels, &self.joined].map(|before| bits_in_tile(self.decoded_bits, before, encoded_bits));
        self.joined.push(PlacedKernel {
            codec: codec.clone(),
            kernel: joined,
            encoded_bits,
            bits_in_tile: bits_in_joined_tile,
        });
        self.kernels.push(PlacedKernel { codec, kernel: one(), encoded_bits, bits_in_tile });
        self.tile_element_count = tile_element_count(bits_in_tile);
        // A single kernel has no tiles between kernels, and longer ones cost it less.
        let longer = if self.joined.len() == 1 { 4 } else { 1 };
        self.joined_tile_element_count = longer * tile_element_count(bits_in_joined_tile);
    }

    /// Adds the kernels of another pass, which gets what this one makes.
    pub(super) fn append(&mut self, next: &Self) {
        for PlacedKernel { codec, kernel, encoded_bits, .. } in &next.kernels {
            if let Kernel::OfOne(kernel) = kernel {
                self.push(codec.clone(), &SizedKernel { kernel: Arc::clone(kernel), encoded_bits: *encoded_bits });
            }
        }
    }

    pub(super) fn is_copy(&self) -> bool {
        self.kernels.is_empty()
    }

    /// Bytes per element before the first kernel.
    pub(super) fn element_size(&self) -> usize {
        self.decoded_bits / 8
    }

    /// Bits per element after the last kernel.
    pub(super) fn encoded_bits(&self) -> usize {
        self.kernels.last().map_or(self.decoded_bits, |kernel| kernel.encoded_bits)
    }

    pub(super) fn encoded_size(&self) -> u64 {
        packed_size(self.element_count, self.encoded_bits())
    }

    /// Encodes all elements of `decoded`, from the beginning of a byte on.
    pub(super) fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut Call<'_>) -> Result<()> {
        self.run(Direction::Encode, decoded, encoded, call)
    }

    /// Encodes elements to their places in `packed`, from element `start` on. Unless elements have whole bytes, their
    /// bits there must be 0.
    pub(super) fn encode_to(&self, decoded: &[u8], packed: &mut [u8], start: u64, call: &mut Call<'_>) -> Result<()> {
        let (bits, element_size) = (self.encoded_bits(), self.element_size());
        let count = decoded.len() / element_size;
        let (eights, within) = eights_before(start);
        let packed = &mut packed[eights * bits..];
        let position = within * bits;
        if bits.is_multiple_of(8) {
            return self.encode(decoded, &mut packed[position / 8..][..bytes_of(count, bits)], call);
        }
        // The first and the last ones share bytes with other elements.
        let head_count = (within.next_multiple_of(8) - within).min(count);
        let (head, rest) = decoded.split_at(head_count * element_size);
        let (whole, tail) = rest.split_at(rest.len() / element_size / 8 * 8 * element_size);
        self.add_bits(head, packed, position, call)?;
        if rest.is_empty() {
            return Ok(());
        }
        let packed = &mut packed[if within > 0 { bits } else { 0 }..];
        let whole_size = whole.len() / element_size / 8 * bits;
        self.encode(whole, &mut packed[..whole_size], call)?;
        self.add_bits(tail, packed, 8 * whole_size, call)
    }

    /// Encodes fewer than eight elements to bits that are 0, from bit `position` of `packed` on.
    fn add_bits(&self, decoded: &[u8], packed: &mut [u8], position: usize, call: &mut Call<'_>) -> Result<()> {
        let mut encoded = vec![0; bytes_of(decoded.len() / self.element_size(), self.encoded_bits())];
        self.encode(decoded, &mut encoded, call)?;
        for (index, byte) in (position / 8..).zip(encoded) {
            let [low, high] = (u16::from(byte) << (position % 8)).to_le_bytes();
            packed[index] |= low;
            if high > 0 {
                packed[index + 1] |= high;
            }
        }
        Ok(())
    }

    /// Decodes as many elements as `decoded` has room for, from the beginning of a byte on.
    pub(super) fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<()> {
        self.run(Direction::Decode, encoded, decoded, call)
    }

    /// Decodes as many elements as `decoded` has room for, from element `start` of `packed` on.
    pub(super) fn decode_from(&self, packed: &[u8], start: u64, decoded: &mut [u8], call: &mut Call<'_>) -> Result<()> {
        let (bits, count) = (self.encoded_bits(), decoded.len() / self.element_size());
        let (eights, within) = eights_before(start);
        let packed = &packed[eights * bits..];
        let position = within * bits;
        if position.is_multiple_of(8) {
            return self.decode(&packed[position / 8..][..bytes_of(count, bits)], decoded, call);
        }
        // The elements before the next eighth one are moved down to the beginning of a byte.
        let head_count = (8 - within).min(count);
        let (head, rest) = decoded.split_at_mut(head_count * self.element_size());
        let head_packed = &packed[position / 8..];
        let moved = |index: usize| {
            let next = head_packed.get(index + 1).copied().unwrap_or(0);
            (u16::from_le_bytes([head_packed[index], next]) >> (position % 8)) as u8
        };
        let moved: Vec<u8> = (0..bytes_of(head_count, bits)).map(moved).collect();
        self.decode(&moved, head, call)?;
        if rest.is_empty() {
            return Ok(());
        }
        self.decode(&packed[bits..][..bytes_of(count - head_count, bits)], rest, call)
            .map_err(|error| error.after_elements(head_count as u64))
    }

    fn run(&self, direction: Direction, input: &[u8], output: &mut [u8], call: &mut Call<'_>) -> Result<()> {
        let (input_bits, output_bits) = input_and_output(direction, self.decoded_bits, self.encoded_bits());
        let threads = call.options.workers().count_for(input.len().max(output.len()));
        if threads.get() == 1 {
            let tiles = call.contexts.get(|| Ok(TileBuffers::default()))?;
            return self.run_part(direction, input, output, tiles);
        }
        let element_count = input_and_output(direction, input.len(), output.len()).0 / self.element_size();
        let part_count = element_count.div_ceil(threads.get()).next_multiple_of(64);
        let parts =
            input.chunks(bytes_of(part_count, input_bits)).zip(output.chunks_mut(bytes_of(part_count, output_bits)));
        call.options.workers().for_each(threads, parts.enumerate(), |(part, (input, output))| {
            let result = self.run_part(direction, input, output, &mut TileBuffers::default());
            result.map_err(|error| error.after_elements((part * part_count) as u64))
        })
    }

    fn run_part(&self, direction: Direction, input: &[u8], output: &mut [u8], tiles: &mut TileBuffers) -> Result<()> {
        let (input_bits, output_bits) = input_and_output(direction, self.decoded_bits, self.encoded_bits());
        let head_count = if input_bits > output_bits {
            elements_before_line(input, input_bits, output_bits)
        } else {
            elements_before_line(output, output_bits, input_bits)
        };
        let (head_input, input) = input.split_at(bytes_of(head_count, input_bits));
        let (head_output, output) = output.split_at_mut(bytes_of(head_count, output_bits));
        if head_count > 0 {
            self.run_kernels(direction, head_input, head_output, tiles)?;
        }
        self.run_kernels(direction, input, output, tiles).map_err(|error| error.after_elements(head_count as u64))
    }

    fn run_kernels(
        &self,
        direction: Direction,
        input: &[u8],
        output: &mut [u8],
        tiles: &mut TileBuffers,
    ) -> Result<()> {
        match self.kernels.as_slice() {
            [] => {
                crate::memory::copy(input, output);
                Ok(())
            }
            [kernel] => kernel.run(direction, input, output),
            kernels if self.joined.len() == kernels.len() => self.run_tiles(direction, input, output, tiles),
            _ => {
                let count = self.joined_tile_element_count;
                // A single kernel has no tiles between kernels.
                if self.joined.len() > 1 {
                    tiles.reserve(count, self.joined.iter().map(|kernel| kernel.encoded_bits))?;
                }
                self.for_each_tile(direction, count, input, output, |input, output| {
                    self.run_tile(&self.joined, direction, input, output, tiles)
                        .or_else(|_| self.run_tiles(direction, input, output, tiles))
                })
            }
        }
    }

    /// Runs all kernels, without joining any.
    fn run_tiles(&self, direction: Direction, input: &[u8], output: &mut [u8], tiles: &mut TileBuffers) -> Result<()> {
        tiles.reserve(self.tile_element_count, self.kernels.iter().map(|kernel| kernel.encoded_bits))?;
        self.for_each_tile(direction, self.tile_element_count, input, output, |input, output| {
            self.run_tile(&self.kernels, direction, input, output, tiles)
        })
    }

    /// Calls `work` with the input and the output of each tile of `count` elements.
    fn for_each_tile(
        &self,
        direction: Direction,
        count: usize,
        input: &[u8],
        output: &mut [u8],
        mut work: impl FnMut(&[u8], &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let (input_bits, output_bits) = input_and_output(direction, self.decoded_bits, self.encoded_bits());
        let tiles = input.chunks(bytes_of(count, input_bits)).zip(output.chunks_mut(bytes_of(count, output_bits)));
        for (index, (input, output)) in tiles.enumerate() {
            work(input, output).map_err(|error| error.after_elements((index * count) as u64))?;
        }
        Ok(())
    }

    /// Runs all kernels on one tile. The first element in C order is the one reported, whichever kernel refuses it: after
    /// a fault, later kernels run only on the elements before it.
    fn run_tile(
        &self,
        kernels: &[PlacedKernel],
        direction: Direction,
        input: &[u8],
        output: &mut [u8],
        tiles: &mut TileBuffers,
    ) -> Result<()> {
        if let [kernel] = kernels {
            return kernel.run(direction, input, output);
        }
        let mut count = input_and_output(direction, input.len(), output.len()).0 / self.element_size();
        let last = kernels.len() - 1;
        let mut fault = None;
        for position in 0..=last {
            let index = input_and_output(direction, position, last - position).0;
            let kernel = &kernels[index];
            let before = if index == 0 { self.decoded_bits } else { kernels[index - 1].encoded_bits };
            let (input_bits, output_bits) = input_and_output(direction, before, kernel.encoded_bits);
            let kernel_input = if position == 0 { input } else { &tiles.full };
            let kernel_output = if position == last { &mut *output } else { &mut tiles.empty };
            let result = kernel.run(
                direction,
                &kernel_input[..bytes_of(count, input_bits)],
                &mut kernel_output[..bytes_of(count, output_bits)],
            );
            if let Err(error) = result {
                count = error.element_index().map_or(0, |index| index as usize);
                fault = Some(error);
                if count == 0 {
                    break;
                }
            }
            std::mem::swap(&mut tiles.full, &mut tiles.empty);
        }
        fault.map_or(Ok(()), Err)
    }
}

/// The number of whole groups of eight packed elements before this one, and of elements between them and it. Only every
/// eighth element is sure to begin a byte. Its place is not counted in bits, of which memory may have more than 2^32.
fn eights_before(element: u64) -> (usize, usize) {
    ((element / 8) as usize, (element % 8) as usize)
}

/// Elements before the first cache-line boundary of the wider buffer, where the vector loop starts.
fn elements_before_line(wider: &[u8], bits: usize, narrower_bits: usize) -> usize {
    let head_bits = 8 * size_before_line(wider);
    let count = head_bits / bits.max(1);
    let is_whole = count * bits == head_bits && (count * narrower_bits).is_multiple_of(8);
    if is_whole && wider.len() >= MIN_SIZE_TO_ALIGN { count } else { 0 }
}

/// The bits of an element in a tile of these kernels and one more. They are added up kernel by kernel: a list of
/// thousands of codecs would take seconds to add up anew for each.
fn bits_in_tile(decoded_bits: usize, before: &[PlacedKernel], encoded_bits: usize) -> usize {
    before.last().map_or(decoded_bits, |last| last.bits_in_tile).saturating_add(encoded_bits)
}

/// The elements of a tile in which each takes this many bits: a multiple of 64, so that a tile ends with a byte.
fn tile_element_count(bits: usize) -> usize {
    (8 * TILE_SIZE / bits.max(1)).max(1).next_multiple_of(64)
}

/// The input and the output in this direction.
fn input_and_output<T>(direction: Direction, decoded: T, encoded: T) -> (T, T) {
    match direction {
        Direction::Encode => (decoded, encoded),
        Direction::Decode => (encoded, decoded),
    }
}

impl PlacedKernel {
    fn run(&self, direction: Direction, input: &[u8], output: &mut [u8]) -> Result<()> {
        let result = match (direction, &self.kernel) {
            (Direction::Encode, Kernel::OfOne(kernel)) => kernel.encode(input, output),
            (Direction::Decode, Kernel::OfOne(kernel)) => kernel.decode(input, output),
            (Direction::Encode, Kernel::OfTwo(joint)) => joint.encode(input, output).then_some(()).ok_or_else(singly),
            (Direction::Decode, Kernel::OfTwo(joint)) => joint.decode(input, output).then_some(()).ok_or_else(singly),
        };
        result.map_err(|error| self.codec.blame(error))
    }
}

/// Never seen by a caller: the two codecs then run one after the other.
#[cold]
fn singly() -> Error {
    Error::internal("a joint kernel gave up")
}

/// The tiles between two kernels.
#[derive(Debug, Default)]
struct TileBuffers {
    full: Vec<u8>,
    empty: Vec<u8>,
}

impl TileBuffers {
    fn reserve(&mut self, element_count: usize, bits: impl Iterator<Item = usize>) -> Result<()> {
        let size = bytes_of(element_count, bits.max().unwrap_or(0));
        grow(&mut self.full, size)?;
        grow(&mut self.empty, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_has_elements_of_any_size() {
        for (bits, count) in [(0, 196_608), (1, 196_608), (8, 24_576), (128, 1536), (1 << 17, 64), (1 << 23, 64)] {
            assert_eq!(tile_element_count(bits), count, "{bits}");
        }
    }
}
