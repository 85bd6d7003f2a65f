//! The new object of a shard: which bytes go where.

use crate::chain::shard::Shard;
use crate::chain::shard::index::{ShardIndex, push_entry};
use crate::error::{Error, Result};
use crate::interface::CallOptions;
use crate::memory::push;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The layout of the pieces of a shard's object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardLayout {
    /// A new object, with the inner chunks in C order.
    Packed,
    /// Bytes appended to the old object, which does not change until the index is written, last.
    Append,
}

/// A piece of the new object.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The offset in the new object.
    pub offset: u64,
    /// The bytes.
    pub bytes: PieceBytes,
}

/// The bytes of a piece.
#[derive(Debug, Clone)]
pub enum PieceBytes {
    /// Bytes of the old object.
    Old(Range<u64>),
    /// New bytes.
    New(Arc<Vec<u8>>),
}

/// An inner chunk after encoding; `None`: it need not be stored.
pub(in crate::chain) type Encoded = Option<Arc<Vec<u8>>>;

/// The old object of a shard.
#[derive(Debug, Clone)]
pub(in crate::chain) struct OldShard {
    pub(in crate::chain) index: Arc<ShardIndex>,
    pub(in crate::chain) size: u64,
}

impl OldShard {
    /// Where an inner chunk lies.
    ///
    /// # Errors
    /// [`Status::CorruptData`](crate::Status::CorruptData): outside the object.
    pub(in crate::chain) fn entry(&self, shard: &Shard, number: u64) -> Result<Option<Range<u64>>> {
        let entry = self.index.entry_within(number, Some(self.size));
        entry.map_err(|error| shard.at_cell(error, &shard.cell(number)))
    }
}

impl PieceBytes {
    /// The number of bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Old(range) => range.end - range.start,
            Self::New(bytes) => bytes.len() as u64,
        }
    }
}

/// The new object of a shard.
#[derive(Debug, Default)]
pub(in crate::chain) struct NewShard {
    /// The pieces, in the order in which to write them.
    pub(in crate::chain) pieces: Vec<Piece>,
    pub(in crate::chain) size: u64,
}

/// The whole new object: its pieces are in order of their offsets. `unput` is an inner chunk that is neither changed
/// nor old; `first` makes the first one for a shard that would have none, if it must have one.
pub(in crate::chain) fn packed(
    shard: &Shard,
    old: Option<&OldShard>,
    changes: &BTreeMap<u64, Encoded>,
    unput: &Encoded,
    first: impl FnOnce() -> Result<Encoded>,
    options: &CallOptions,
) -> Result<NewShard> {
    let (index_size, is_first) = shard.index_size();
    let mut object = NewShard { pieces: Vec::new(), size: if is_first { index_size } else { 0 } };
    let mut entries = entries_of(shard)?;
    for number in 0..shard.chunk_count() {
        let chunk = match (changes.get(&number), old) {
            (Some(encoded), _) => encoded.clone().map(PieceBytes::New),
            (None, Some(old)) => old.entry(shard, number)?.map(PieceBytes::Old),
            (None, None) => unput.clone().map(PieceBytes::New),
        };
        push_entry(&mut entries, chunk.map(|bytes| object.put(bytes)).transpose()?)?;
    }
    if object.pieces.is_empty()
        && let Some(bytes) = first()?
    {
        let range = object.put(PieceBytes::New(bytes))?;
        entries.splice(..2, [range.start, range.end - range.start]);
    }
    let index = PieceBytes::New(Arc::new(shard.encode_index_to_vec(&entries, options)?));
    if is_first {
        object.put_first(index)?;
        object.pieces.rotate_right(usize::from(index_size > 0));
    } else {
        object.put(index)?;
    }
    Ok(object)
}

/// Room for the entries of an index: what has no room for them fails before anything is done.
fn entries_of(shard: &Shard) -> Result<Vec<u64>> {
    let count = shard.chunk_count().checked_mul(2).and_then(|count| usize::try_from(count).ok());
    let mut entries = Vec::new();
    let reserved = count.and_then(|count| entries.try_reserve_exact(count).ok());
    reserved.map(|()| entries).ok_or_else(Error::out_of_memory)
}

/// The bytes to write to the old object: new inner chunks after its end, and then the index.
pub(super) fn appended(
    shard: &Shard,
    old: &OldShard,
    changes: &BTreeMap<u64, Encoded>,
    options: &CallOptions,
) -> Result<NewShard> {
    let mut object = NewShard { pieces: Vec::new(), size: old.size };
    let is_changed = |(number, new): (&u64, &Encoded)| new.is_some() || !matches!(old.entry(shard, *number), Ok(None));
    if !changes.iter().any(is_changed) {
        return Ok(object);
    }
    let (index_size, is_first) = shard.index_size();
    let mut entries = entries_of(shard)?;
    for number in 0..shard.chunk_count() {
        let range = match changes.get(&number) {
            Some(encoded) => encoded.clone().map(|bytes| object.put(PieceBytes::New(bytes))).transpose()?,
            None => match old.entry(shard, number)? {
                // The new index would overwrite these bytes.
                Some(range) if is_first && range.start < index_size => Some(object.put(PieceBytes::Old(range))?),
                range => range,
            },
        };
        push_entry(&mut entries, range)?;
    }
    let index = PieceBytes::New(Arc::new(shard.encode_index_to_vec(&entries, options)?));
    if is_first {
        object.put_first(index)?;
    } else {
        object.put(index)?;
    }
    Ok(object)
}

impl NewShard {
    /// Puts an index at the beginning, where there is room for it.
    fn put_first(&mut self, index: PieceBytes) -> Result<()> {
        if index.size() == 0 {
            return Ok(());
        }
        push(&mut self.pieces, Piece { offset: 0, bytes: index })
    }

    /// Puts bytes at the end; returns where.
    fn put(&mut self, bytes: PieceBytes) -> Result<Range<u64>> {
        let (offset, size) = (self.size, bytes.size());
        self.size = offset.checked_add(size).ok_or_else(|| Error::corrupt("the shard would pass 2^64 bytes"))?;
        match (self.pieces.last_mut(), &bytes) {
            // Bytes that are neighbours in the old object are neighbours in the new one, too.
            (Some(Piece { bytes: PieceBytes::Old(last), .. }), PieceBytes::Old(next)) if last.end == next.start => {
                last.end = next.end;
            }
            _ if size > 0 => push(&mut self.pieces, Piece { offset, bytes })?,
            _ => {}
        }
        Ok(offset..self.size)
    }
}
