//! `crc32c`: four bytes after the chunk, little-endian. Specification:
//! [Zarr v3 core, `crc32c`](https://zarr-specs.readthedocs.io/en/latest/v3/codecs/crc32c/index.html);
//! [RFC 3720](https://www.rfc-editor.org/rfc/rfc3720), appendix B.4.

#[cfg(target_arch = "x86_64")]
mod lanes;
mod sum;
#[cfg(target_arch = "x86_64")]
mod vpclmul;

pub(super) use self::sum::crc32c;
use self::sum::running;
use crate::codec::checksum;
use crate::error::Result;
use crate::interface::{Binding, Call, Codec, Context, Frame, Kind, RunningChecksum};
use crate::json::Configuration;
use crate::representation::Representation;
use serde_json::{Map, Value};
use std::sync::Arc;

const CHECKSUM_SIZE: u64 = 4;

#[derive(Debug, Clone, Copy)]
struct Crc32c;

/// No configuration.
pub(super) fn parse(configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    configuration.finish()?;
    Ok(Arc::new(Crc32c))
}

impl Codec for Crc32c {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        None
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        Ok(Binding::frame(decoded, Arc::new(*self)))
    }
}

impl Frame for Crc32c {
    fn trailing_size(&self) -> u64 {
        CHECKSUM_SIZE
    }

    fn write(&self, payload: &[u8], _leading: &mut [u8], trailing: &mut [u8], _call: &Call<'_>) -> Result<()> {
        trailing.copy_from_slice(&crc32c(payload).to_le_bytes());
        Ok(())
    }

    fn check(&self, payload: &[u8], _leading: &[u8], trailing: &[u8], _call: &Call<'_>) -> Result<()> {
        checksum::check(trailing, crc32c(payload))
    }

    fn checks_payload(&self) -> bool {
        true
    }

    fn checksum(&self) -> Option<Box<dyn RunningChecksum>> {
        Some(running())
    }
}
