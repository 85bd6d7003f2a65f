//! `crc32c`: four bytes behind the chunk, little-endian. Zarr v3 core specification; RFC 3720, appendix B.4.

use super::{BoundBytesToBytes, BytesToBytesCodec, Codec, Configuration, Frame, FrameCall};
use crate::chain::ByteSize;
use crate::error::{Error, Result};
use crc_fast::{CrcAlgorithm, checksum};
use serde_json::{Map, Value};
use std::sync::Arc;

const CHECKSUM_SIZE: usize = 4;

#[derive(Debug, Clone, Copy)]
struct Crc32c;

/// No configuration.
pub(super) fn parse(configuration: Configuration) -> Result<Codec> {
    configuration.finish()?;
    Ok(Codec::BytesToBytes(Arc::new(Crc32c)))
}

impl BytesToBytesCodec for Crc32c {
    fn configuration(&self) -> Option<Map<String, Value>> {
        None
    }

    fn bind(&self, _decoded: ByteSize) -> Result<BoundBytesToBytes> {
        Ok(BoundBytesToBytes::Frame(Arc::new(*self)))
    }
}

fn crc32c(payload: &[u8]) -> u32 {
    checksum(CrcAlgorithm::Crc32Iscsi, payload) as u32
}

impl Frame for Crc32c {
    fn trailing_size(&self) -> usize {
        CHECKSUM_SIZE
    }

    fn write(&self, payload: &[u8], _leading: &mut [u8], trailing: &mut [u8], _call: FrameCall<'_>) -> Result<()> {
        trailing.copy_from_slice(&crc32c(payload).to_le_bytes());
        Ok(())
    }

    fn check(&self, payload: &[u8], _leading: &[u8], trailing: &[u8], _call: FrameCall<'_>) -> Result<()> {
        let expected = crc32c(payload).to_le_bytes();
        if trailing == expected {
            return Ok(());
        }
        let [stored, computed] = [trailing, &expected]
            .map(|bytes| bytes.iter().rev().fold(String::from("0x"), |text, byte| format!("{text}{byte:02x}")));
        Err(Error::corrupt(format!("the checksum stored is {stored}, that of the bytes is {computed}")))
    }
}

#[cfg(test)]
mod tests {
    /// RFC 3720, appendix B.4.
    #[test]
    fn the_examples_of_the_rfc_have_their_checksums() {
        assert_eq!(super::crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(super::crc32c(&[0xFF; 32]), 0x62A8_AB43);
        assert_eq!(super::crc32c(b"123456789"), 0xE306_9283);
    }
}
