//! `numcodecs.shuffle`: the first byte of every element, then the second, and so on; the filter of HDF5.
//!
//! Specification:
//! [zarr-extensions, `numcodecs.shuffle`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.shuffle);
//! numcodecs 0.17, `shuffle.py`. Bytes after the last whole element stay at the end, as HDF5 leaves them; numcodecs
//! refuses such chunks.

use super::optional;
use crate::codec::shuffle::Shuffle as Kernels;
use crate::error::{Error, Result};
use crate::interface::{Bound, Call, Codec, Context, Kind, Pass, Transform, too_small};
use crate::json::{Configuration, integer};
use crate::representation::Representation;
use serde_json::{Map, Value};
use std::sync::Arc;

const DEFAULT_ELEMENT_SIZE: usize = 4;

#[derive(Debug, Clone)]
struct Shuffle {
    configuration: Map<String, Value>,
    element_size: usize,
}

/// `{"elementsize": n}`; 0 and 1 shuffle nothing
pub(crate) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let element_size = match optional(&mut configuration, &mut members, "elementsize") {
        None => DEFAULT_ELEMENT_SIZE,
        Some(value) => integer("elementsize", &value, 0, u32::MAX.into())? as usize,
    };
    configuration.finish()?;
    members.entry("elementsize").or_insert_with(|| element_size.into());
    Ok(Arc::new(Shuffle { configuration: members, element_size }))
}

impl Codec for Shuffle {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Bound> {
        let kernels = match u8::try_from(self.element_size) {
            Ok(size) => Kernels::new(size),
            Err(_) => Kernels::portable(self.element_size),
        };
        Ok(Bound::new(decoded.to_bytes(decoded.size()), Pass::Transform(Arc::new(Shuffled(kernels)))))
    }
}

#[derive(Debug)]
struct Shuffled(Kernels);

impl Transform for Shuffled {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        self.0.shuffle(decoded, encoded.get_mut(..decoded.len()).ok_or_else(too_small)?);
        Ok(decoded.len())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        let capacity = decoded.len();
        let too_small = || Error::buffer_too_small("decoded_capacity", capacity, encoded.len() as u64);
        self.0.unshuffle(encoded, decoded.get_mut(..encoded.len()).ok_or_else(too_small)?);
        Ok(encoded.len())
    }

    fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        Some(decoded_size)
    }
}

#[cfg(test)]
mod tests {
    use crate::chain::{CallOptions, Chain};

    /// As the definition has it. numcodecs refuses bytes after the last whole element, HDF5 leaves them.
    #[test]
    fn bytes_of_elements_of_any_size_are_put_together_and_the_rest_stays() {
        let options = CallOptions::default();
        for element_size in [0_usize, 1, 2, 3, 4, 255, 256, 300] {
            let codecs =
                format!(r#"[{{"name":"numcodecs.shuffle","configuration":{{"elementsize":{element_size}}}}}]"#);
            let chain = Chain::new(codecs.as_bytes(), None).unwrap();
            for size in [0, 1, element_size, 3 * element_size + 1, 40 * element_size, 40 * element_size + 2] {
                let decoded: Vec<u8> = (0..size).map(|i| (i * i / 7 % 251) as u8).collect();
                let count = size / element_size.max(1);
                let mut expected: Vec<u8> = (0..element_size)
                    .flat_map(|place| (0..count).map(move |i| i * element_size + place))
                    .map(|i| decoded[i])
                    .collect();
                expected.extend_from_slice(&decoded[expected.len()..]);
                let encoded = chain.encode_to_vec(&decoded, &options).unwrap();
                assert!(encoded == expected, "{size} bytes by {element_size}");
                assert_eq!(chain.decode_to_vec(&encoded, &options), Ok(decoded));
                if let Some(capacity) = size.checked_sub(1) {
                    let error = chain.decode_into(&encoded, &mut vec![0; capacity], &options).unwrap_err();
                    assert_eq!(error.needed_capacity(), Some(size));
                }
            }
        }
    }
}
