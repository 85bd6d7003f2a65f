//! `scale_offset`: `(element - offset) * scale`, and back by `element / scale + offset`.
//!
//! Specification: [zarr-extensions,
//! `scale_offset`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/scale_offset). The arithmetic is
//! that of the array's own data type, and each operation rounds to it. Leaving a member out leaves its operation out.

mod bound;
#[cfg(target_arch = "x86_64")]
mod float16;
mod formula;
mod integer;
mod loops;
mod reference;
mod scaled_float;

pub(super) use bound::BoundScaling;

use crate::data_type::{Component, DataType, Scalar};
use crate::error::{Error, Result, Status};
use crate::interface::{Binding, Codec, Context, Elementwise, Kind};
use crate::json::{Configuration, shown};
use crate::number::{FloatValue, Operation};
use crate::representation::Representation;
use bound::Operand;
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Debug)]
struct ScaleOffset {
    /// Read when the codec is bound: their type is that of the array.
    offset: Option<Value>,
    scale: Option<Value>,
}

/// `{"offset", "scale"}`, both optional, scalars of the array's data type
pub(super) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let (offset, scale) = (configuration.optional("offset"), configuration.optional("scale"));
    configuration.finish()?;
    Ok(Arc::new(ScaleOffset { offset, scale }))
}

impl Codec for ScaleOffset {
    fn kind(&self) -> Kind {
        Kind::ArrayToArray
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        let members: Map<String, Value> = [("offset", &self.offset), ("scale", &self.scale)]
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)))
            .collect();
        (!members.is_empty()).then_some(members)
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let decoded = decoded.array()?;
        let data_type = decoded.data_type();
        if !data_type.is_real_number() {
            return Err(Error::unsupported(format!(
                "{data_type} is neither an integer nor a real float type: scale_offset does not take it"
            )));
        }
        let bound = scaling(data_type, self.offset.as_ref(), self.scale.as_ref())?;
        let encode_fill_value = |fill_value: &Scalar| {
            let mut encoded = vec![0; data_type.size()];
            let result = bound.encode(&fill_value.0, &mut encoded);
            result.map_err(|error| error.with_context("fill_value ").with_status(Status::InvalidMetadata))?;
            Ok(Scalar(encoded.into()))
        };
        let fill_value = decoded.fill_value().map(encode_fill_value).transpose()?;
        Binding::elementwise(decoded, data_type, fill_value, Arc::new(bound))
    }
}

/// The operations of both directions for arrays of this type.
fn scaling(data_type: &DataType, offset: Option<&Value>, scale: Option<&Value>) -> Result<BoundScaling> {
    let read = |member: &str, json: Option<&Value>| -> Result<Option<u64>> {
        let Some(json) = json else { return Ok(None) };
        let bits = data_type.component().load(&data_type.scalar_from_json(member, json)?.0);
        if let Component::Float(format) = data_type.component()
            && !matches!(format.value(bits), FloatValue::Finite(_))
        {
            return Err(Error::metadata(format!("{member} is {}, expected a finite number", shown(json))));
        }
        Ok(Some(bits))
    };
    let (offset, scale) = (read("offset", offset)?, read("scale", scale)?);
    if let (Some(bits), Some(json)) = (scale, json_of(data_type, scale))
        && is_zero(data_type.component(), bits)
    {
        return Err(Error::metadata(format!("scale is {json} as {data_type}, so that nothing could be decoded")));
    }
    let operand = |operation, bits: Option<u64>| bits.map(|bits| Operand { operation, bits });
    let encode = [operand(Operation::Subtract, offset), operand(Operation::Multiply, scale)];
    let decode = [operand(Operation::Divide, scale), operand(Operation::Add, offset)];
    Ok(BoundScaling::new(data_type, encode.into_iter().flatten().collect(), decode.into_iter().flatten().collect()))
}

fn json_of(data_type: &DataType, bits: Option<u64>) -> Option<Value> {
    Some(data_type.scalar_to_json(&data_type.scalar(bits?)))
}

fn is_zero(component: Component, bits: u64) -> bool {
    match component {
        Component::Float(format) => {
            matches!(format.value(bits), FloatValue::Finite(number) if number.significand == 0)
        }
        _ => bits == 0,
    }
}
