//! Elementwise stages in one pass over cache-sized tiles.

use crate::codec::{Joint, join};
use crate::error::{CodecPlace, Error, Result};
use crate::interface::{Call, Direction, Elementwise, ElementwiseStage, packed_size};
use crate::memory::{grow, size_before_line};
use std::sync::Arc;

/// The bytes of a tile at all its stages together, from its input to its output: they stay in a first-level cache.
const TILE_SIZE: usize = 24 << 10;

/// Below this size, aligning costs more than it saves.
const MIN_SIZE_TO_ALIGN: usize = 32 << 10;

/// Elementwise stages, one after the other on each tile. Without stages: a copy.
#[derive(Debug, Clone)]
pub(super) struct Fused {
    stages: Vec<FusedStage>,
    /// The same stages, with one loop for each two neighbours that have a joint one. These are tried first.
    joined: Vec<FusedStage>,
    element_count: u64,
    /// Bits per element before the first stage.
    decoded_bits: usize,
    /// Elements per tile.
    tile_element_count: usize,
    /// The same for the joined stages.
    joined_tile_element_count: usize,
}

#[derive(Debug, Clone)]
struct FusedStage {
    place: CodecPlace,
    kernel: Loop,
    /// Bits per element after this stage.
    encoded_bits: usize,
}

#[derive(Debug, Clone)]
enum Loop {
    One(Arc<dyn Elementwise>),
    Two(Arc<dyn Joint>),
}

/// The size of this many packed elements in bytes.
fn bytes_of(element_count: usize, bits: usize) -> usize {
    packed_size(element_count as u64, bits) as usize
}

impl Fused {
    /// A pass without stages over `element_count` elements of `decoded_bits` bits.
    pub(super) fn new(element_count: u64, decoded_bits: usize) -> Self {
        Self {
            stages: Vec::new(),
            joined: Vec::new(),
            element_count,
            decoded_bits,
            tile_element_count: tile_element_count(decoded_bits, &[]),
            joined_tile_element_count: tile_element_count(decoded_bits, &[]),
        }
    }

    pub(super) fn push(&mut self, place: CodecPlace, stage: &ElementwiseStage) {
        let ElementwiseStage { kernel, encoded_bits } = stage;
        if kernel.is_copy() {
            return;
        }
        let joint = self.joined.last().and_then(|last| match &last.kernel {
            Loop::One(last) => join(last.as_ref(), kernel.as_ref()),
            Loop::Two(_) => None,
        });
        if joint.is_some() {
            self.joined.pop();
        }
        let one = || Loop::One(Arc::clone(kernel));
        let joined = joint.map_or_else(one, Loop::Two);
        self.joined.push(FusedStage { place: place.clone(), kernel: joined, encoded_bits: *encoded_bits });
        self.stages.push(FusedStage { place, kernel: one(), encoded_bits: *encoded_bits });
        self.tile_element_count = tile_element_count(self.decoded_bits, &self.stages);
        // A single loop has no tiles between stages, and longer ones cost it less.
        let longer = if self.joined.len() == 1 { 4 } else { 1 };
        self.joined_tile_element_count = longer * tile_element_count(self.decoded_bits, &self.joined);
    }

    pub(super) fn is_copy(&self) -> bool {
        self.stages.is_empty()
    }

    /// Bytes per element before the first stage.
    pub(super) fn element_size(&self) -> usize {
        self.decoded_bits / 8
    }

    /// Bits per element after the last stage.
    pub(super) fn encoded_bits(&self) -> usize {
        self.stages.last().map_or(self.decoded_bits, |stage| stage.encoded_bits)
    }

    pub(super) fn encoded_size(&self) -> u64 {
        packed_size(self.element_count, self.encoded_bits())
    }

    /// Encodes all elements of `decoded`, from the beginning of a byte on.
    pub(super) fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut Call<'_>) -> Result<()> {
        self.run(Direction::Encode, decoded, encoded, call)
    }

    /// Decodes as many elements as `decoded` has room for, from the beginning of a byte on.
    pub(super) fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<()> {
        self.run(Direction::Decode, encoded, decoded, call)
    }

    /// Decodes as many elements as `decoded` has room for, from element `start` of `packed` on.
    pub(super) fn decode_from(&self, packed: &[u8], start: u64, decoded: &mut [u8], call: &mut Call<'_>) -> Result<()> {
        let (bits, count) = (self.encoded_bits(), decoded.len() / self.element_size());
        // Only every eighth element is sure to begin with a byte: those before it are moved down to one. The eighths are
        // counted, because memory of 32-bit addresses holds more than 2^32 bits.
        let (eighth, within) = ((start / 8) as usize, (start % 8) as usize);
        let packed = &packed[eighth * bits..];
        let position = within * bits;
        if position.is_multiple_of(8) {
            return self.decode(&packed[position / 8..][..bytes_of(count, bits)], decoded, call);
        }
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
        let (input_bits, output_bits) = ends(direction, self.decoded_bits, self.encoded_bits());
        let threads = call.options.workers().count_for(input.len().max(output.len()));
        if threads.get() == 1 {
            let tiles = call.contexts.get(|| Ok(TileBuffers::default()))?;
            return self.run_part(direction, input, output, tiles);
        }
        let element_count = ends(direction, input.len(), output.len()).0 / self.element_size();
        let part_count = element_count.div_ceil(threads.get()).next_multiple_of(64);
        let parts =
            input.chunks(bytes_of(part_count, input_bits)).zip(output.chunks_mut(bytes_of(part_count, output_bits)));
        call.options.workers().for_each(threads, parts.enumerate(), |(part, (input, output))| {
            let result = self.run_part(direction, input, output, &mut TileBuffers::default());
            result.map_err(|error| error.after_elements((part * part_count) as u64))
        })
    }

    fn run_part(&self, direction: Direction, input: &[u8], output: &mut [u8], tiles: &mut TileBuffers) -> Result<()> {
        let (input_bits, output_bits) = ends(direction, self.decoded_bits, self.encoded_bits());
        let head_count = if input_bits > output_bits {
            elements_before_line(input, input_bits, output_bits)
        } else {
            elements_before_line(output, output_bits, input_bits)
        };
        let (head_input, input) = input.split_at(bytes_of(head_count, input_bits));
        let (head_output, output) = output.split_at_mut(bytes_of(head_count, output_bits));
        if head_count > 0 {
            self.run_stages(direction, head_input, head_output, tiles)?;
        }
        self.run_stages(direction, input, output, tiles).map_err(|error| error.after_elements(head_count as u64))
    }

    fn run_stages(&self, direction: Direction, input: &[u8], output: &mut [u8], tiles: &mut TileBuffers) -> Result<()> {
        match self.stages.as_slice() {
            [] => {
                crate::memory::copy(input, output);
                Ok(())
            }
            [stage] => stage.run(direction, input, output),
            stages if self.joined.len() == stages.len() => self.run_tiles(direction, input, output, tiles),
            _ => {
                let count = self.joined_tile_element_count;
                // A single loop has no tiles between stages.
                if self.joined.len() > 1 {
                    tiles.reserve(count, self.joined.iter().map(|stage| stage.encoded_bits))?;
                }
                self.for_each_tile(direction, count, input, output, |input, output| {
                    self.run_tile(&self.joined, direction, input, output, tiles)
                        .or_else(|_| self.run_tiles(direction, input, output, tiles))
                })
            }
        }
    }

    /// Runs all stages, without joining any.
    fn run_tiles(&self, direction: Direction, input: &[u8], output: &mut [u8], tiles: &mut TileBuffers) -> Result<()> {
        tiles.reserve(self.tile_element_count, self.stages.iter().map(|stage| stage.encoded_bits))?;
        self.for_each_tile(direction, self.tile_element_count, input, output, |input, output| {
            self.run_tile(&self.stages, direction, input, output, tiles)
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
        let (input_bits, output_bits) = ends(direction, self.decoded_bits, self.encoded_bits());
        let tiles = input.chunks(bytes_of(count, input_bits)).zip(output.chunks_mut(bytes_of(count, output_bits)));
        for (index, (input, output)) in tiles.enumerate() {
            work(input, output).map_err(|error| error.after_elements((index * count) as u64))?;
        }
        Ok(())
    }

    /// Runs all stages on one tile. The first element in C order is the one reported, whichever stage refuses it: after
    /// a fault, later stages run only on the elements before it.
    fn run_tile(
        &self,
        stages: &[FusedStage],
        direction: Direction,
        input: &[u8],
        output: &mut [u8],
        tiles: &mut TileBuffers,
    ) -> Result<()> {
        if let [stage] = stages {
            return stage.run(direction, input, output);
        }
        let mut count = ends(direction, input.len(), output.len()).0 / self.element_size();
        let last = stages.len() - 1;
        let mut fault = None;
        for position in 0..=last {
            let index = ends(direction, position, last - position).0;
            let stage = &stages[index];
            let before = if index == 0 { self.decoded_bits } else { stages[index - 1].encoded_bits };
            let (input_bits, output_bits) = ends(direction, before, stage.encoded_bits);
            let stage_input = if position == 0 { input } else { &tiles.full };
            let stage_output = if position == last { &mut *output } else { &mut tiles.empty };
            let result = stage.run(
                direction,
                &stage_input[..bytes_of(count, input_bits)],
                &mut stage_output[..bytes_of(count, output_bits)],
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

/// Elements before the first cache-line boundary of the wider buffer, where the vector loop starts.
fn elements_before_line(wider: &[u8], bits: usize, narrower_bits: usize) -> usize {
    let head_bits = 8 * size_before_line(wider);
    let count = head_bits / bits.max(1);
    let is_whole = count * bits == head_bits && (count * narrower_bits).is_multiple_of(8);
    if is_whole && wider.len() >= MIN_SIZE_TO_ALIGN { count } else { 0 }
}

/// The elements of a tile of these stages: a multiple of 64, so that a tile ends with a byte.
fn tile_element_count(decoded_bits: usize, stages: &[FusedStage]) -> usize {
    let bits = stages.iter().fold(decoded_bits, |bits, stage| bits.saturating_add(stage.encoded_bits));
    (8 * TILE_SIZE / bits.max(1)).max(1).next_multiple_of(64)
}

/// The first and the second of the two in this direction.
fn ends<T>(direction: Direction, decoded: T, encoded: T) -> (T, T) {
    match direction {
        Direction::Encode => (decoded, encoded),
        Direction::Decode => (encoded, decoded),
    }
}

impl FusedStage {
    fn run(&self, direction: Direction, input: &[u8], output: &mut [u8]) -> Result<()> {
        let result = match (direction, &self.kernel) {
            (Direction::Encode, Loop::One(kernel)) => kernel.encode(input, output),
            (Direction::Decode, Loop::One(kernel)) => kernel.decode(input, output),
            (Direction::Encode, Loop::Two(joint)) => joint.encode(input, output).then_some(()).ok_or_else(singly),
            (Direction::Decode, Loop::Two(joint)) => joint.decode(input, output).then_some(()).ok_or_else(singly),
        };
        result.map_err(|error| self.place.blame(error))
    }
}

/// Never seen by a caller: the two codecs then run one after the other.
#[cold]
fn singly() -> Error {
    Error::internal("a joint loop gave up")
}

/// The tiles between two stages.
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
            assert_eq!(tile_element_count(bits, &[]), count, "{bits}");
        }
    }
}
