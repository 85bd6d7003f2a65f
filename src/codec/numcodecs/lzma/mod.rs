//! `numcodecs.lzma`: LZMA by the configuration of Python's module `lzma`.
//!
//! Specification: [zarr-extensions,
//! `numcodecs.lzma`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.lzma); numcodecs
//! 0.17, `lzma.py`; the Python documentation of `lzma.compress`; the formats .xz 1.2 and .lzma. `lzma-rust2`, in safe
//! Rust, does the work. Containers are 1 (.xz), 2 (.lzma) and 3 (raw streams, whose filters the configuration names).
//! Containers that state their filters are decoded whatever the configuration says.
//!
//! * [`filters`]: chains of filters; [`stream`]: one chunk in memory; [`claims`]: what streams say of their size.

mod claims;
mod filters;
mod stream;

use super::optional;
use crate::error::{Error, Result};
use crate::interface::{Binding, Call, Codec, Context, Kind, Transform};
use crate::json::{Configuration, integer};
use crate::representation::Representation;
use filters::{Coder, Filters};
use lzma_rust2::CheckType;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The format around the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    Xz,
    Alone,
    Raw,
}

#[derive(Debug, Clone)]
struct Lzma {
    configuration: Map<String, Value>,
    container: Container,
    check: CheckType,
    filters: Filters,
}

/// `{"format": 1..3, "check", "preset", "filters"}`, all optional, and all may be null but the first two
pub(crate) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let mut member = |name: &str| optional(&mut configuration, &mut members, name);
    let container = match member("format").map(|value| integer("format", &value, 1, 3)).transpose()? {
        None | Some(1) => Container::Xz,
        Some(2) => Container::Alone,
        Some(_) => Container::Raw,
    };
    let check = member("check").map_or(Ok(CheckType::Crc64), |value| check_type(&value, container))?;
    let preset = member("preset").map(|value| filters::preset_from_json("preset", &value)).transpose()?;
    let list = member("filters");
    configuration.finish()?;
    let filters = match (list, preset) {
        (Some(_), Some(_)) => {
            return Err(Error::metadata("both preset and filters are given, expected only one of them"));
        }
        (Some(list), None) => Filters::from_json(&list)?,
        (None, _) if container == Container::Raw => {
            return Err(Error::metadata("filters is missing, but a raw stream does not store them"));
        }
        (None, preset) => Filters::of_preset(preset.unwrap_or(filters::DEFAULT_PRESET), container == Container::Alone),
    };
    match (container, filters.coder) {
        (Container::Xz, Coder::Lzma1) => {
            Err(Error::metadata("filters ends with LZMA1, which a .xz stream cannot hold"))
        }
        (Container::Alone, Coder::Lzma2) => {
            Err(Error::metadata("filters ends with LZMA2, which a .lzma stream cannot hold"))
        }
        (Container::Alone, _) if !filters.before.is_empty() => {
            Err(Error::metadata("filters has more than LZMA1, but a .lzma stream holds only that"))
        }
        _ => Ok(Arc::new(Lzma { configuration: members, container, check, filters })),
    }
}

/// -1 is the choice of the library: CRC-64.
fn check_type(value: &Value, container: Container) -> Result<CheckType> {
    let check = match integer("check", value, -1, 10)? {
        -1 | 4 => CheckType::Crc64,
        0 => CheckType::None,
        1 => CheckType::Crc32,
        10 => CheckType::Sha256,
        other => return Err(Error::metadata(format!("check is {other}, expected -1, 0, 1, 4 or 10"))),
    };
    let is_fit = container == Container::Xz || matches!(value.as_i64(), Some(-1 | 0));
    is_fit
        .then_some(check)
        .ok_or_else(|| Error::metadata(format!("check is {value}, but only .xz streams have a check")))
}

impl Codec for Lzma {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        Ok(Binding::compressor(decoded, Arc::new(self.clone())))
    }
}

impl Transform for Lzma {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        stream::encode(self, decoded, encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        stream::decode(self, encoded, decoded)
    }

    fn decode_fitting(&self, encoded: &[u8], decoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        stream::decode_fitting(self, encoded, decoded)
    }

    fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        stream::encoded_bound(decoded_size)
    }
}
