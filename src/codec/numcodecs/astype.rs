//! `numcodecs.astype`: NumPy's cast to another type, and back. The configuration is written back as it was given.
//!
//! Specification:
//! [zarr-extensions, `numcodecs.astype`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.astype);
//! numcodecs 0.17, `astype.py`. `decode_dtype` may be left out: zarr-python then takes the type of the array.

use super::number_type::{self, NumberType};
use super::{elementwise, optional};
use crate::error::Result;
use crate::interface::{Binding, Codec, Context, Elementwise, Kind};
use crate::json::Configuration;
use crate::representation::Representation;
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Debug)]
struct AsType {
    configuration: Map<String, Value>,
    encode_type: NumberType,
    /// None: that of the array.
    decode_type: Option<NumberType>,
}

/// `{"encode_dtype", "decode_dtype"}`, the second optional
pub(crate) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let encode = configuration.required("encode_dtype")?;
    let encode_type = NumberType::from_json_in_any_order("encode_dtype", &encode)?;
    members.insert("encode_dtype".to_owned(), encode);
    let decode = optional(&mut configuration, &mut members, "decode_dtype");
    configuration.finish()?;
    let decode_type = decode.map(|value| NumberType::from_json("decode_dtype", &value)).transpose()?;
    Ok(Arc::new(AsType { configuration: members, encode_type, decode_type }))
}

impl Codec for AsType {
    fn kind(&self) -> Kind {
        Kind::ArrayToArray
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let decoded = decoded.array()?;
        let array_type = NumberType::of_array(decoded.data_type())?;
        if let Some(decode_type) = self.decode_type {
            decode_type.check("decode_dtype", decoded.data_type())?;
        }
        let kernel = Cast { decoded: array_type, encoded: self.encode_type };
        elementwise(kernel, (array_type, self.encode_type), decoded)
    }
}

#[derive(Debug)]
struct Cast {
    decoded: NumberType,
    encoded: NumberType,
}

impl Elementwise for Cast {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        number_type::cast((self.decoded, decoded), (self.encoded, encoded))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        number_type::cast((self.encoded, encoded), (self.decoded, decoded))
    }

    fn is_copy(&self) -> bool {
        self.decoded == self.encoded && self.decoded != NumberType::Bool
    }
}
