//! `numcodecs.crc32`, `numcodecs.crc32c` and `numcodecs.adler32`: four bytes, little-endian, where `location` says.
//!
//! Specifications: [zarr-extensions,
//! `numcodecs.crc32`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.crc32),
//! [zarr-extensions,
//! `numcodecs.crc32c`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.crc32c),
//! [zarr-extensions,
//! `numcodecs.adler32`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.adler32);
//! numcodecs 0.17, `checksum32.py`. Without `location`, `crc32` and `adler32` are at the start, `crc32c` at the end.

use super::optional;
use crate::codec::checksum;
use crate::codec::crc32c::crc32c;
use crate::codec::location::Location;
use crate::error::Result;
use crate::interface::{Binding, Call, Codec, Context, Frame, Kind};
use crate::json::Configuration;
use crate::representation::Representation;
use crc_fast::CrcAlgorithm;
use serde_json::{Map, Value};
use std::sync::Arc;

const SIZE: u64 = 4;

#[derive(Debug, Clone)]
struct Checksum {
    configuration: Map<String, Value>,
    algorithm: Algorithm,
    location: Location,
}

#[derive(Debug, Clone, Copy)]
enum Algorithm {
    Crc32,
    Crc32c,
    Adler32,
}

/// `{"location": "start" | "end"}`, default "start"
pub(crate) fn parse_crc32(configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    parse(configuration, Algorithm::Crc32, Location::Start)
}

/// `{"location": "start" | "end"}`, default "end"
pub(crate) fn parse_crc32c(configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    parse(configuration, Algorithm::Crc32c, Location::End)
}

/// `{"location": "start" | "end"}`, default "start"
pub(crate) fn parse_adler32(configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    parse(configuration, Algorithm::Adler32, Location::Start)
}

fn parse(mut configuration: Configuration, algorithm: Algorithm, default: Location) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let location = match optional(&mut configuration, &mut members, "location") {
        None => default,
        Some(value) => Location::from_json(&value)?,
    };
    configuration.finish()?;
    Ok(Arc::new(Checksum { configuration: members, algorithm, location }))
}

impl Codec for Checksum {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        Ok(Binding::frame(decoded, Arc::new(self.clone())))
    }
}

impl Algorithm {
    fn of(self, payload: &[u8]) -> u32 {
        match self {
            Self::Crc32 => crc_fast::checksum(CrcAlgorithm::Crc32IsoHdlc, payload) as u32,
            Self::Crc32c => crc32c(payload),
            Self::Adler32 => simd_adler32::adler32(&payload),
        }
    }
}

impl Frame for Checksum {
    fn leading_size(&self) -> u64 {
        self.location.at(SIZE, 0)
    }

    fn trailing_size(&self) -> u64 {
        SIZE - self.leading_size()
    }

    fn write(&self, payload: &[u8], leading: &mut [u8], trailing: &mut [u8], _call: &Call<'_>) -> Result<()> {
        let bytes = self.algorithm.of(payload).to_le_bytes();
        self.location.at(leading, trailing).copy_from_slice(&bytes);
        Ok(())
    }

    fn check(&self, payload: &[u8], leading: &[u8], trailing: &[u8], _call: &Call<'_>) -> Result<()> {
        checksum::check(self.location.at(leading, trailing), self.algorithm.of(payload))
    }

    fn checks_payload(&self) -> bool {
        true
    }
}
