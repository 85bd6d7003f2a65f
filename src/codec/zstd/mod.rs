//! `zstd`: Zstandard frames. Specification:
//! [zarr-extensions, `zstd`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zstd);
//! [RFC 8878](https://www.rfc-editor.org/rfc/rfc8878).
//!
//! libzstd does the work, with contexts that are kept from call to call where that takes less time than a new one. It
//! decodes several frames one after the other, skippable frames, and frames without a content size. The output buffer
//! has the size that the metadata gives, so a frame's claims allocate nothing.

mod contexts;
mod frames;

use crate::error::Result;
use crate::interface::{Binding, Call, Codec, Context, Kind, Transform};
use crate::json::{Configuration, boolean, integer};
use crate::representation::Representation;
#[cfg(feature = "blosc")]
pub(super) use contexts::KeptCompressor;
use contexts::{Contexts, encoded_bound};
use serde_json::{Map, Value, json};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Levels as libzstd 1.5 has them; they are part of no format, but of the codec's schema.
const LEVELS: RangeInclusive<i128> = -131_072..=22;

/// libzstd's own choice.
const DEFAULT_LEVEL: i32 = 3;

#[derive(Debug, Clone, Copy)]
struct Zstd {
    /// As the configuration has it.
    level: i32,
    checksum: bool,
}

/// The default level of numcodecs: 0, which stands for libzstd's default, 3.
const NUMCODECS_LEVEL: i32 = 0;

/// `{"level": n, "checksum": true | false}`
pub(super) fn parse(configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    parse_from(configuration, DEFAULT_LEVEL, LEVELS)
}

/// The same with another default level. numcodecs treats levels below the lowest and over the highest as these.
pub(super) fn parse_numcodecs(configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    parse_from(configuration, NUMCODECS_LEVEL, i32::MIN.into()..=i32::MAX.into())
}

fn parse_from(mut configuration: Configuration, default: i32, levels: RangeInclusive<i128>) -> Result<Arc<dyn Codec>> {
    let level = match configuration.optional("level") {
        None => default,
        Some(value) => integer("level", &value, *levels.start(), *levels.end())? as i32,
    };
    let checksum = match configuration.optional("checksum") {
        None => false,
        Some(value) => boolean("checksum", &value)?,
    };
    configuration.finish()?;
    Ok(Arc::new(Zstd { level, checksum }))
}

impl Zstd {
    /// The level that libzstd gets.
    fn real_level(self) -> i32 {
        self.level.clamp(*LEVELS.start() as i32, *LEVELS.end() as i32)
    }
}

impl Codec for Zstd {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(Map::from_iter([("level".to_owned(), json!(self.level)), ("checksum".to_owned(), json!(self.checksum))]))
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        Ok(Binding::compressor(decoded, Arc::new(*self)))
    }
}

impl Transform for Zstd {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        call.contexts.get(|| Ok(Contexts::default()))?.encode(*self, decoded, encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        call.contexts.get(|| Ok(Contexts::default()))?.decode(encoded, decoded)
    }

    fn decode_fitting(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        call.contexts.get(|| Ok(Contexts::default()))?.decode_fitting(encoded, decoded)
    }

    fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        encoded_bound(usize::try_from(decoded_size).ok()?).map(|bound| bound as u64)
    }
}
