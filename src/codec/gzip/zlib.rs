//! `numcodecs.zlib`: DEFLATE with the header and checksum of zlib, as in HDF5 files. Specification:
//! [zarr-extensions, `numcodecs.zlib`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.zlib);
//! [RFC 1950](https://www.rfc-editor.org/rfc/rfc1950).
//!
//! numcodecs 0.17, `zlib.py`. One stream, and nothing after it.

use super::libdeflate::{Container, Decompressor, Fault};
use super::{NUMCODECS_LEVEL, count, encode, encoded_bound, level_json, level_of, too_small};
use crate::error::{Error, Result};
use crate::interface::{self, Binding, Call, Codec, Context, Kind, Transform};
use crate::json::Configuration;
use crate::representation::Representation;
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Debug, Clone, Copy)]
struct Zlib {
    /// 0 to 9; `None` if the configuration says -1, for zlib's own choice.
    level: Option<usize>,
}

/// `{"level": -1..9}`, default 1
pub(in crate::codec) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let level = level_of(&mut configuration, -1, NUMCODECS_LEVEL)?;
    configuration.finish()?;
    Ok(Arc::new(Zlib { level }))
}

impl Codec for Zlib {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(Map::from_iter([("level".to_owned(), level_json(self.level))]))
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        Ok(Binding::compressor(decoded, Arc::new(*self)))
    }
}

impl Transform for Zlib {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        encode(Container::Zlib, self.level, decoded, encoded, call)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        let capacity = decoded.len();
        decode_stream(encoded, decoded, call, || too_small(count::zlib_size(encoded), capacity))
    }

    fn decode_fitting(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        decode_stream(encoded, decoded, call, interface::too_small)
    }

    fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        encoded_bound(Container::Zlib, decoded_size)
    }
}

fn decode_stream(
    encoded: &[u8],
    decoded: &mut [u8],
    call: &mut Call<'_>,
    too_small: impl FnOnce() -> Error,
) -> Result<usize> {
    let result = call.contexts.get(Decompressor::new)?.decompress(Container::Zlib, encoded, decoded);
    let stream = result.map_err(|fault| match fault {
        Fault::TooSmall => too_small(),
        Fault::Corrupt => count::no_stream(),
    })?;
    if stream.encoded_size != encoded.len() {
        return Err(count::ends_early(stream.encoded_size, encoded.len()));
    }
    Ok(stream.decoded_size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{CallOptions, Contexts};

    #[test]
    fn a_small_buffer_is_told_the_size_and_nothing_may_follow_the_stream() {
        let (options, mut contexts) = (CallOptions::default(), Contexts::default());
        let call = &mut Call { options: &options, hooks: None, contexts: &mut contexts };
        let zlib = Zlib { level: None };
        let mut encoded = [0; 100];
        let size = zlib.encode(b"abc", &mut encoded, call).unwrap();
        assert_eq!(zlib.decode(&encoded[..size], &mut [0; 10], call), Ok(3));
        for capacity in 0..3 {
            let error = zlib.decode(&encoded[..size], &mut [0; 2][..capacity], call).unwrap_err();
            assert_eq!(error.needed_capacity(), Some(3), "{capacity}");
        }
        for capacity in [0, 2, 10] {
            let error = zlib.decode(&encoded[..size + 1], &mut [0; 10][..capacity], call).unwrap_err();
            assert_eq!(error, count::ends_early(size, size + 1), "{capacity}");
        }
    }
}
