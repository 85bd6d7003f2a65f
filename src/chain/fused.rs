//! Elementwise stages in one pass over cache-sized tiles.

use super::parallel;
use crate::codec::{Elementwise, PaddingCount, TransformCall, too_small};
use crate::error::{Error, Result};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Where a codec stands, for errors.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) index: usize,
    pub(super) name: Arc<str>,
}

impl Place {
    pub(super) fn blame(&self, error: Error) -> Error {
        error.in_codec(self.index, &self.name)
    }
}

/// The bytes of the widest intermediate tile: with its input and output it stays in a first-level cache.
const TILE_SIZE: usize = 8 << 10;

/// The bytes that a processor reads at a time.
const LINE_SIZE: usize = 64;

/// An array of fewer bytes is done before it has gained anything by its alignment.
const MIN_SIZE_TO_ALIGN: usize = 32 << 10;

/// A thread takes some 20 microseconds to start; a core copies this much meanwhile.
const MIN_SIZE_A_THREAD: usize = 256 << 10;

/// Elementwise stages, one after the other on each tile. No stages at all: a copy.
#[derive(Debug)]
pub(super) struct Fused {
    stages: Vec<Stage>,
    /// The same, but for stages that have one loop together; it is tried first.
    joined: Vec<Stage>,
    element_count: usize,
    /// Bits an element takes before the first stage.
    decoded_bits: usize,
    padding_count: PaddingCount,
    tile_element_count: usize,
}

#[derive(Debug)]
struct Stage {
    place: Place,
    kernel: Arc<dyn Elementwise>,
    /// Bits an element takes after this stage.
    encoded_bits: usize,
}

/// The bytes that so many elements of so many bits take, back to back.
pub(super) fn packed_size(element_count: usize, bits: usize) -> usize {
    element_count / 8 * bits + (element_count % 8 * bits).div_ceil(8)
}

impl PaddingCount {
    pub(super) fn size(self) -> usize {
        usize::from(self != Self::None)
    }
}

impl Fused {
    /// A pass over so many elements of so many bits, without a stage yet.
    pub(super) fn new(element_count: usize, decoded_bits: usize) -> Self {
        Self {
            stages: Vec::new(),
            joined: Vec::new(),
            element_count,
            decoded_bits,
            padding_count: PaddingCount::None,
            tile_element_count: tile_element_count(decoded_bits),
        }
    }

    pub(super) fn push(&mut self, place: Place, kernel: Arc<dyn Elementwise>, encoded_bits: usize) {
        if kernel.is_copy() {
            return;
        }
        self.tile_element_count = self.tile_element_count.min(tile_element_count(encoded_bits));
        let joint = self.joined.last().and_then(|last| kernel.behind(last.kernel.scaling()?));
        if joint.is_some() {
            self.joined.pop();
        }
        let joined = joint.unwrap_or_else(|| Arc::clone(&kernel));
        self.joined.push(Stage { place: place.clone(), kernel: joined, encoded_bits });
        self.stages.push(Stage { place, kernel, encoded_bits });
    }

    pub(super) fn set_padding_count(&mut self, padding_count: PaddingCount) {
        self.padding_count = padding_count;
    }

    pub(super) fn is_copy(&self) -> bool {
        self.stages.is_empty() && self.padding_count == PaddingCount::None
    }

    fn encoded_bits(&self) -> usize {
        self.stages.last().map_or(self.decoded_bits, |stage| stage.encoded_bits)
    }

    pub(super) fn encoded_size(&self) -> usize {
        packed_size(self.element_count, self.encoded_bits()) + self.padding_count.size()
    }

    /// The byte that counts the bits that fill the last byte up.
    fn padding_bits(&self) -> u8 {
        let used = (self.element_count % 8 * self.encoded_bits()) % 8;
        ((8 - used) % 8) as u8
    }

    pub(super) fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut TransformCall<'_>) -> Result<usize> {
        let size = self.encoded_size();
        let encoded = encoded.get_mut(..size).ok_or_else(too_small)?;
        let packed = match self.padding_count {
            PaddingCount::None => encoded,
            PaddingCount::FirstByte => {
                encoded[0] = self.padding_bits();
                &mut encoded[1..]
            }
            PaddingCount::LastByte => {
                encoded[size - 1] = self.padding_bits();
                &mut encoded[..size - 1]
            }
        };
        self.run(Direction::Encode, decoded, packed, call)?;
        Ok(size)
    }

    /// `encoded` has the size of [`encoded_size`](Self::encoded_size): the chain has checked it.
    pub(super) fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut TransformCall<'_>) -> Result<usize> {
        let size = packed_size(self.element_count, self.decoded_bits);
        let decoded = decoded.get_mut(..size).ok_or_else(too_small)?;
        self.run(Direction::Decode, self.packed(encoded)?, decoded, call)?;
        Ok(size)
    }

    /// The elements from `start` on that `decoded` has room for, whole ones; the rest is not looked at.
    pub(super) fn decode_elements(
        &self,
        encoded: &[u8],
        start: usize,
        decoded: &mut [u8],
        call: &mut TransformCall<'_>,
    ) -> Result<()> {
        let element_size = self.decoded_bits / 8;
        let count = decoded.len() / element_size;
        if start.checked_add(count).is_none_or(|end| end > self.element_count)
            || !decoded.len().is_multiple_of(element_size)
        {
            return Err(Error::argument(format!(
                "{} bytes from element {start} on are not within the {} elements of the chunk",
                decoded.len(),
                self.element_count
            )));
        }
        let (packed, bits) = (self.packed(encoded)?, self.encoded_bits());
        let tiles = call.state(|| Ok(Tiles::default()))?;
        let mut run = |first: usize, packed: &[u8], decoded: &mut [u8]| {
            let packed = &packed[..packed_size(decoded.len() / element_size, bits)];
            self.run_part(Direction::Decode, packed, decoded, tiles).map_err(|error| error.after_elements(first))
        };
        // Only every eighth element is sure to begin with a byte: those before it are moved down to one.
        let head_count = (start.next_multiple_of(8) - start).min(count);
        let (head, rest) = decoded.split_at_mut(head_count * element_size);
        if !head.is_empty() {
            let position = start % 8 * bits;
            let head_packed = &packed[start / 8 * bits + position / 8..];
            let moved = |index: usize| {
                let next = head_packed.get(index + 1).copied().unwrap_or(0);
                (u16::from_le_bytes([head_packed[index], next]) >> (position % 8)) as u8
            };
            let moved: Vec<u8> = (0..packed_size(head_count, bits)).map(moved).collect();
            run(start, &moved, head)?;
        }
        let next = start + head_count;
        if rest.is_empty() { Ok(()) } else { run(next, &packed[next / 8 * bits..], rest) }
    }

    /// The packed elements without the byte that counts padding bits, which is checked.
    fn packed<'a>(&self, encoded: &'a [u8]) -> Result<&'a [u8]> {
        let (count, packed) = match (self.padding_count, encoded) {
            (PaddingCount::FirstByte, [count, packed @ ..]) | (PaddingCount::LastByte, [packed @ .., count]) => {
                (Some(*count), packed)
            }
            (_, packed) => (None, packed),
        };
        if let (Some(count), Some(last)) = (count.filter(|count| *count != self.padding_bits()), self.stages.last()) {
            let message = format!("the padding byte is {count}, but there are {} padding bits", self.padding_bits());
            return Err(last.place.blame(Error::corrupt(message)));
        }
        Ok(packed)
    }

    fn run(&self, direction: Direction, input: &[u8], output: &mut [u8], call: &mut TransformCall<'_>) -> Result<()> {
        let threads = useful_threads(call.max_threads, input.len().max(output.len()));
        if threads.get() == 1 {
            let tiles = call.state(|| Ok(Tiles::default()))?;
            return self.run_part(direction, input, output, tiles);
        }
        let part_count = self.element_count.div_ceil(threads.get()).next_multiple_of(64);
        let (input_bits, output_bits) = direction.ends(self.decoded_bits, self.encoded_bits());
        let parts = input
            .chunks(packed_size(part_count, input_bits))
            .zip(output.chunks_mut(packed_size(part_count, output_bits)));
        let results = parallel::map(threads, parts, |(input, output)| {
            self.run_part(direction, input, output, &mut Tiles::default())
        })?;
        for (part, result) in results {
            result.map_err(|error| error.after_elements(part * part_count))?;
        }
        Ok(())
    }

    fn run_part(&self, direction: Direction, input: &[u8], output: &mut [u8], tiles: &mut Tiles) -> Result<()> {
        let (input_bits, output_bits) = direction.ends(self.decoded_bits, self.encoded_bits());
        let head_count = if input_bits > output_bits {
            elements_before_line(input, input_bits, output_bits)
        } else {
            elements_before_line(output, output_bits, input_bits)
        };
        let (head_input, input) = input.split_at(packed_size(head_count, input_bits));
        let (head_output, output) = output.split_at_mut(packed_size(head_count, output_bits));
        if head_count > 0 {
            self.run_stages(direction, head_input, head_output, tiles)?;
        }
        self.run_stages(direction, input, output, tiles).map_err(|error| error.after_elements(head_count))
    }

    fn run_stages(&self, direction: Direction, input: &[u8], output: &mut [u8], tiles: &mut Tiles) -> Result<()> {
        let (input_bits, output_bits) = direction.ends(self.decoded_bits, self.encoded_bits());
        match self.stages.as_slice() {
            [] => {
                super::copy::copy(input, output);
                Ok(())
            }
            [stage] => direction.run(stage, input, output),
            stages => {
                let joined = (self.joined.len() < stages.len()).then_some(self.joined.as_slice());
                // A loop alone needs no tiles between stages; longer ones cost it less.
                let tile_count = self.tile_element_count * if self.joined.len() == 1 { 4 } else { 1 };
                let input_tiles = input.chunks(packed_size(tile_count, input_bits));
                let output_tiles = output.chunks_mut(packed_size(tile_count, output_bits));
                for (index, (input, output)) in input_tiles.zip(output_tiles).enumerate() {
                    if joined.is_some_and(|joined| self.run_tiles(joined, direction, input, output, tiles).is_ok()) {
                        continue;
                    }
                    self.run_tiles(stages, direction, input, output, tiles)
                        .map_err(|error| error.after_elements(index * tile_count))?;
                }
                Ok(())
            }
        }
    }

    fn run_tiles(
        &self,
        stages: &[Stage],
        direction: Direction,
        input: &[u8],
        output: &mut [u8],
        tiles: &mut Tiles,
    ) -> Result<()> {
        if let [stage] = stages {
            return direction.run(stage, input, output);
        }
        let (input_bits, output_bits) = direction.ends(self.decoded_bits, self.encoded_bits());
        tiles.reserve(self.tile_element_count, stages.iter().map(|stage| stage.encoded_bits))?;
        let input_tiles = input.chunks(packed_size(self.tile_element_count, input_bits));
        let output_tiles = output.chunks_mut(packed_size(self.tile_element_count, output_bits));
        let decoded_size = self.decoded_bits / 8;
        for (index, (input, output)) in input_tiles.zip(output_tiles).enumerate() {
            let count = direction.ends(input.len(), output.len()).0 / decoded_size;
            self.run_tile(stages, direction, count, input, output, tiles)
                .map_err(|error| error.after_elements(index * self.tile_element_count))?;
        }
        Ok(())
    }

    /// Runs all stages on one tile. The first element in C order is the one reported, whichever stage refuses it: a
    /// fault ends the tile for the stages that follow, but not the stages.
    fn run_tile(
        &self,
        stages: &[Stage],
        direction: Direction,
        mut count: usize,
        input: &[u8],
        output: &mut [u8],
        tiles: &mut Tiles,
    ) -> Result<()> {
        let last = stages.len() - 1;
        let mut fault = None;
        for position in 0..=last {
            let index = direction.ends(position, last - position).0;
            let stage = &stages[index];
            let before = if index == 0 { self.decoded_bits } else { stages[index - 1].encoded_bits };
            let (input_bits, output_bits) = direction.ends(before, stage.encoded_bits);
            let stage_input = if position == 0 { input } else { &tiles.full };
            let stage_output = if position == last { &mut *output } else { &mut tiles.empty };
            let result = direction.run(
                stage,
                &stage_input[..packed_size(count, input_bits)],
                &mut stage_output[..packed_size(count, output_bits)],
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

/// The elements in front of the first line of the wider side. Behind them no register of it lies across two lines, as
/// every second one does in a large array: allocators place it 16 bytes behind the beginning of a page.
fn elements_before_line(wider: &[u8], bits: usize, narrower_bits: usize) -> usize {
    let head_bits = 8 * (wider.as_ptr().addr().wrapping_neg() % LINE_SIZE);
    let count = head_bits / bits.max(1);
    let is_whole = count * bits == head_bits && (count * narrower_bits).is_multiple_of(8);
    if is_whole && wider.len() >= MIN_SIZE_TO_ALIGN { count } else { 0 }
}

fn tile_element_count(bits: usize) -> usize {
    (8 * TILE_SIZE / bits.max(1)).next_multiple_of(64)
}

#[derive(Debug, Clone, Copy)]
enum Direction {
    Encode,
    Decode,
}

impl Direction {
    /// What comes first and what comes last in this direction.
    fn ends<T>(self, decoded: T, encoded: T) -> (T, T) {
        match self {
            Self::Encode => (decoded, encoded),
            Self::Decode => (encoded, decoded),
        }
    }

    fn run(self, stage: &Stage, input: &[u8], output: &mut [u8]) -> Result<()> {
        match self {
            Self::Encode => stage.kernel.encode(input, output),
            Self::Decode => stage.kernel.decode(input, output),
        }
        .map_err(|error| stage.place.blame(error))
    }
}

/// The tiles between two stages.
#[derive(Debug, Default)]
struct Tiles {
    full: Vec<u8>,
    empty: Vec<u8>,
}

impl Tiles {
    fn reserve(&mut self, element_count: usize, bits: impl Iterator<Item = usize>) -> Result<()> {
        let size = packed_size(element_count, bits.max().unwrap_or(0));
        super::workspace::grow(&mut self.full, size)?;
        super::workspace::grow(&mut self.empty, size)
    }
}

/// How many threads are worth starting for so many bytes.
pub(super) fn useful_threads(max_threads: NonZeroUsize, size: usize) -> NonZeroUsize {
    NonZeroUsize::new(size / MIN_SIZE_A_THREAD).map_or(NonZeroUsize::MIN, |threads| threads.min(max_threads))
}
