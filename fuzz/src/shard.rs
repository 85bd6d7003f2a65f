//! Shards: chains that make them, boxes of them, and reading by plans.

use crate::structured::pick;
use arbitrary::Arbitrary;
use serde_json::{Value, json};
use std::sync::Arc;
use zcodec::chain::{ByteRange, CallOptions, Chain, ReadPlan};
use zcodec::strided::Target;

/// A chain that makes small shards in two dimensions.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub struct ShardSpec {
    has_two_bytes: bool,
    inner: [u8; 2],
    grid: [u8; 2],
    codecs: u8,
    is_index_first: bool,
    has_checksum: bool,
    is_transposed: bool,
    is_nested: bool,
}

/// Where a box lies; any numbers will do.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub struct BoxSpec {
    corners: [[u8; 2]; 2],
}

impl ShardSpec {
    pub fn element_size(&self) -> usize {
        if self.has_two_bytes { 2 } else { 1 }
    }

    fn sharding(&self, chunk_shape: [u64; 2], codecs: Value) -> Value {
        let endian = json!({"name": "bytes", "configuration": {"endian": "little"}});
        let index_codecs = if self.has_checksum { json!([endian, "crc32c"]) } else { json!([endian]) };
        json!({"name": "sharding_indexed", "configuration": {
            "chunk_shape": chunk_shape,
            "codecs": codecs,
            "index_codecs": index_codecs,
            "index_location": if self.is_index_first { "start" } else { "end" },
        }})
    }

    pub fn build(&self) -> Arc<Chain> {
        let bytes = json!({"name": "bytes", "configuration": {"endian": "big"}});
        let zstd = json!({"name": "zstd", "configuration": {"level": 1, "checksum": false}});
        let pad = json!({"name": "pad", "configuration": {"location": "start", "nbytes": 2}});
        let lists =
            [json!([bytes]), json!([bytes, zstd]), json!([bytes, pad]), json!([bytes, "crc32c"]), json!(["packbits"])];
        let inner = self.inner.map(|size| 1 + u64::from(size) % 4);
        let mut codecs = pick(&lists, self.codecs);
        if self.is_nested {
            codecs = json!([self.sharding([1, inner[1]], codecs)]);
        }
        let mut codecs = vec![self.sharding(inner, codecs)];
        if self.is_transposed {
            codecs.insert(0, json!({"name": "transpose", "configuration": {"order": [1, 0]}}));
        }
        let mut shape = [0, 1].map(|i| inner[i] * (1 + u64::from(self.grid[i]) % 3));
        if self.is_transposed {
            shape.reverse();
        }
        let data_type = if self.has_two_bytes { "uint16" } else { "uint8" };
        let input = json!({"data_type": data_type, "shape": shape, "fill_value": 0});
        Arc::new(
            Chain::new(Value::from(codecs).to_string().as_bytes(), Some(input.to_string().as_bytes())).expect("valid"),
        )
    }
}

impl BoxSpec {
    /// The box within an array of this shape: where it begins, and its shape.
    pub fn within(&self, shape: &[u64]) -> ([u64; 2], [u64; 2]) {
        let [a, b] = self.corners.map(|corner| [0, 1].map(|i| u64::from(corner[i]) % (shape[i] + 1)));
        let start = [0, 1].map(|i| a[i].min(b[i]));
        (start, [0, 1].map(|i| a[i].max(b[i]) - start[i]))
    }
}

/// The bytes of a range in an object; `None` if it does not have them.
pub fn bytes_of(object: &[u8], range: ByteRange) -> Option<&[u8]> {
    match range {
        ByteRange::At { offset, size } => {
            let start = usize::try_from(offset).ok()?;
            object.get(start..start.checked_add(usize::try_from(size).ok()?)?)
        }
        ByteRange::From(offset) => object.get(usize::try_from(offset).ok()?..),
        ByteRange::Last(size) => object.get(object.len().checked_sub(usize::try_from(size).ok()?)?..),
    }
}

/// Decodes a box by a plan. `None` if the plan asks for what the object does not have.
pub fn decode_by_plan(
    chain: &Arc<Chain>,
    object: &[u8],
    is_size_known: bool,
    (start, shape): ([u64; 2], [u64; 2]),
    element_size: usize,
) -> Option<zcodec::Result<Vec<u8>>> {
    let mut decoded = vec![0xA5; (shape[0] * shape[1]) as usize * element_size];
    let layout = zcodec::strided::Layout::new(element_size, &shape, None, 0, decoded.len()).expect("it fits");
    // SAFETY: nobody uses the memory as long as the plan lives.
    let target = unsafe { Target::from_raw(decoded.as_mut_ptr(), decoded.len(), layout) }.expect("it fits");
    let size = is_size_known.then_some(object.len() as u64);
    let done = (|| {
        let boxes = vec![(start.to_vec(), target)];
        let mut plan = ReadPlan::new(chain, CallOptions::default(), boxes, size, None)?;
        loop {
            let ranges: Vec<ByteRange> = plan.next_stage()?.collect();
            if ranges.is_empty() {
                return Ok(true);
            }
            for (index, range) in ranges.into_iter().enumerate() {
                let Some(bytes) = bytes_of(object, range) else { return Ok(false) };
                assert!(!bytes.is_empty(), "a range is empty");
                plan.supply(index, bytes)?;
            }
        }
    })();
    match done {
        Ok(false) => None,
        Ok(true) => Some(Ok(decoded)),
        Err(error) => Some(Err(error)),
    }
}
