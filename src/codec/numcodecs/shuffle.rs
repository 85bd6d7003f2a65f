//! `numcodecs.shuffle`: the first byte of every element, then the second, and so on; the filter of HDF5.
//!
//! Specification:
//! [zarr-extensions, `numcodecs.shuffle`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.shuffle);
//! numcodecs 0.17, `shuffle.py`. Bytes after the last whole element stay at the end, as HDF5 leaves them; numcodecs
//! refuses such chunks.

use super::optional;
use crate::codec::shuffle::Shuffle as Kernels;
use crate::error::{Error, Result};
use crate::interface::{Binding, Call, Codec, Context, Kind, Pass, Transform, too_small};
use crate::json::{Configuration, integer};
use crate::representation::Representation;
use serde_json::{Map, Value};
use std::sync::Arc;

/// numcodecs' own.
const DEFAULT_ELEMENT_SIZE: usize = 4;

#[derive(Debug, Clone)]
struct Shuffle {
    configuration: Map<String, Value>,
    /// `None`: that of the array.
    element_size: Option<usize>,
}

/// `{"elementsize": n}`; 0 and 1 shuffle nothing. Where it is missing or null, zarr-python takes the size of an element
/// of the array.
pub(crate) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let element_size = optional(&mut configuration, &mut members, "elementsize");
    let element_size = element_size.map(|value| integer("elementsize", &value, 0, u32::MAX.into())).transpose()?;
    configuration.finish()?;
    Ok(Arc::new(Shuffle { configuration: members, element_size: element_size.map(|size| size as usize) }))
}

impl Codec for Shuffle {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let element_size = self.element_size.or(decoded.bytes()?.element_size).unwrap_or(DEFAULT_ELEMENT_SIZE);
        let kernels = u8::try_from(element_size).map_or_else(|_| Kernels::portable(element_size), Kernels::new);
        Ok(Binding::new(decoded.to_bytes(decoded.size()), Pass::Transform(Arc::new(Shuffled(kernels)))))
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

    #[test]
    fn without_a_size_elements_of_the_array_are_shuffled() {
        for (configuration, expected) in [
            (r#"{"name":"numcodecs.shuffle"}"#, [1, 3, 5, 7, 2, 4, 6, 8]),
            (r#"{"name":"numcodecs.shuffle","configuration":{"elementsize":null}}"#, [1, 3, 5, 7, 2, 4, 6, 8]),
            (r#"{"name":"numcodecs.shuffle","configuration":{"elementsize":4}}"#, [1, 5, 2, 6, 3, 7, 4, 8]),
        ] {
            let codecs = format!(r#"[{{"name":"bytes","configuration":{{"endian":"little"}}}},{configuration}]"#);
            let input = br#"{"data_type":"uint16","shape":[4],"fill_value":0}"#;
            let chain = Chain::new(codecs.as_bytes(), Some(input)).unwrap();
            let decoded: Vec<u8> = [0x0201_u16, 0x0403, 0x0605, 0x0807].iter().flat_map(|x| x.to_ne_bytes()).collect();
            assert_eq!(chain.encode_to_vec(&decoded, &CallOptions::default()).unwrap(), expected, "{configuration}");
        }
    }

    #[test]
    fn chunks_of_less_than_an_element_stay_as_they_are() {
        let (decoded, options) = ([7, 8, 9].repeat(700), CallOptions::default());
        for element_size in [4096, 1 << 23, u32::MAX] {
            let codecs =
                format!(r#"[{{"name":"numcodecs.shuffle","configuration":{{"elementsize":{element_size}}}}}]"#);
            let chain = Chain::new(codecs.as_bytes(), None).unwrap();
            assert_eq!(chain.encode_to_vec(&decoded, &options), Ok(decoded.clone()), "{element_size}");
            assert_eq!(chain.decode_to_vec(&decoded, &options), Ok(decoded.clone()), "{element_size}");
        }
    }

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
