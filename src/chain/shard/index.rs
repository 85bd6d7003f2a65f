//! The index of a shard: where its inner chunks lie.

use super::Shard;
use crate::chain::Chain;
use crate::chain::boxes::region::Region;
use crate::chain::object::stage::ByteRange;
use crate::chain::plan::{Operation, Step};
use crate::error::{CodecPlace, Error, Result};
use crate::interface::CallOptions;
use crate::representation::index_of;
use std::ops::Range;
use std::sync::Arc;

/// Offset and size of an inner chunk that is not stored.
const MISSING: u64 = u64::MAX;

/// The decoded index of a shard. It never changes, and any thread may use it.
#[derive(Debug)]
pub struct ShardIndex {
    /// For each inner chunk in C order of the grid, its offset and its size.
    pub(in crate::chain) entries: Vec<u64>,
    pub(in crate::chain) grid: Vec<u64>,
    /// The size of the shard, if it is known.
    pub(in crate::chain) shard_size: Option<u64>,
}

impl ShardIndex {
    /// The byte range of an inner chunk in its shard; `None` if it is missing.
    ///
    /// # Errors
    /// [`Status::CorruptData`](crate::Status::CorruptData): the range lies outside the shard.
    pub(in crate::chain) fn entry(&self, number: u64) -> Result<Option<Range<u64>>> {
        self.entry_within(number, self.shard_size)
    }

    /// Whether all inner chunks of a box of the grid are missing.
    pub(super) fn are_missing(&self, cells: &Region) -> bool {
        let (count, starts) = cells.runs(&self.grid);
        starts.map(|start| 2 * start as usize).all(|start| {
            let entries = self.entries.get(start..start + 2 * count);
            entries.is_some_and(|entries| entries.iter().all(|number| *number == MISSING))
        })
    }

    /// As [`entry`](Self::entry), in a shard that may be known to have this size, too.
    ///
    /// # Errors
    /// As [`entry`](Self::entry).
    pub(in crate::chain) fn entry_in(&self, number: u64, shard_size: Option<u64>) -> Result<Option<Range<u64>>> {
        let sizes = self.shard_size.into_iter().chain(shard_size);
        self.entry_within(number, sizes.min())
    }

    /// As [`entry`](Self::entry), in a shard of this size, if it is known.
    ///
    /// # Errors
    /// As [`entry`](Self::entry).
    pub(in crate::chain) fn entry_within(&self, number: u64, shard_size: Option<u64>) -> Result<Option<Range<u64>>> {
        let entry = usize::try_from(number).ok().and_then(|number| self.entries.get(2 * number..2 * number + 2));
        let Some([offset, size]) = entry else { return Err(Error::internal("an index has too few entries")) };
        if [*offset, *size] == [MISSING; 2] {
            return Ok(None);
        }
        let limit = shard_size.unwrap_or(MISSING - 1);
        let end = offset.checked_add(*size).filter(|end| *end <= limit && *size != MISSING);
        end.map(|end| Some(*offset..end)).ok_or_else(|| {
            let shard = shard_size.map_or(String::new(), |size| format!(", which has {size} bytes"));
            Error::corrupt(format!("lies at offset {offset} with size {size}, outside the shard{shard}"))
        })
    }

    /// Where the inner chunk at these coordinates of the grid lies in its shard; `None` if it is missing.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument): there is no such inner chunk.
    /// [`Status::CorruptData`](crate::Status::CorruptData): it lies outside the shard.
    pub fn entry_at(&self, cell: &[u64]) -> Result<Option<Range<u64>>> {
        if cell.len() != self.grid.len() || cell.iter().zip(&self.grid).any(|(cell, count)| cell >= count) {
            return Err(Error::argument(format!("there is no inner chunk {cell:?} in a grid of {:?}", self.grid)));
        }
        let name = |error: Error| error.with_context(&format!("inner chunk {cell:?} "));
        self.entry(index_of(cell, &self.grid)).map_err(name)
    }

    /// The size of the index in memory, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + size_of_val(&self.entries[..]) + size_of_val(&self.grid[..])
    }
}

impl Chain {
    /// The shard of this chain, if nothing follows it.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported): there is none, or a bytes->bytes codec follows it.
    pub(in crate::chain) fn shard_alone(&self) -> Result<(&Arc<Shard>, &CodecPlace)> {
        match self.plan.steps.last() {
            Some(Step { operation: Operation::Shard(codec, shard), frames, .. }) if frames.is_empty() => {
                Ok((shard, codec))
            }
            Some(step) if self.plan.steps.iter().any(|step| step.shard().is_some()) => {
                let codec = step.frames.first().map_or(&step.last_codec, |(codec, _)| codec);
                let why = "follows sharding_indexed: the encoded bytes are not a shard alone";
                Err(codec.blame(Error::unsupported(why)))
            }
            _ => Err(Error::unsupported("the last codec of the chain is not sharding_indexed")),
        }
    }

    /// The chain of the inner chunks of a shard.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported): the last codec is not `sharding_indexed`.
    pub fn inner(&self) -> Result<Arc<Self>> {
        self.shard_alone().map(|(shard, _)| Arc::clone(&shard.inner))
    }

    /// Where the index of a shard lies in its object.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported): the last codec is not `sharding_indexed`.
    pub fn index_range(&self) -> Result<ByteRange> {
        let (size, is_first) = self.shard_alone()?.0.index_size();
        Ok(if is_first { ByteRange::At { offset: 0, size } } else { ByteRange::Last(size) })
    }

    /// Decodes the index of a shard whose object has this size, if it is known.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported): the last codec is not `sharding_indexed`.
    /// [`Status::CorruptData`](crate::Status::CorruptData): the bytes are not an index of this chain.
    pub fn decode_index(&self, bytes: &[u8], object_size: Option<u64>) -> Result<ShardIndex> {
        let (shard, codec) = self.shard_alone()?;
        let size = shard.index_size().0;
        if bytes.len() as u64 != size {
            let error = Error::corrupt(format!("the index has {} bytes, expected {size}", bytes.len()));
            return Err(codec.blame(error));
        }
        let checked = object_size.map_or(Ok(()), |size| shard.check_size(size));
        let index = checked.and_then(|()| shard.decode_index(bytes, object_size, &CallOptions::default()));
        index.map_err(|error| codec.blame(error))
    }
}

/// Adds the entry of the next inner chunk to an index; `None` if it is missing.
pub(in crate::chain) fn push_entry(index: &mut Vec<u64>, range: Option<Range<u64>>) -> Result<()> {
    index.try_reserve(2).map_err(|_| Error::out_of_memory())?;
    index.extend(range.map_or([MISSING; 2], |range| [range.start, range.end - range.start]));
    Ok(())
}
