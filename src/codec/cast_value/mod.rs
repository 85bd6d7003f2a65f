//! `cast_value`: converts every element to another real data type, by value.
//!
//! Specification: [zarr-extensions, `cast_value`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/cast_value).
//! All integer and float types, in both directions. The order is: the scalar map, then rounding, then the range.
//!
//! [`reference`] is the definition; [`tiers`] lists the faster ways, each with a folder of its own. A block of elements
//! is cast by the first of these that does not refuse it: one loop for the whole cast, if the tier has one; the kernels
//! of the [`pipeline`], one after another; the reference, which also decides whether an element is at fault. A single
//! kernel may in turn be two: see [`kernel::optimistic`].

mod as_float32;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bound;
mod kernel;
mod map_index;
mod pipeline;
mod portable;
mod reference;
#[cfg(test)]
mod tests;
mod tiers;

pub(super) use as_float32::AsFloat32;
pub(super) use bound::BoundCast;

use crate::data_type::{Component, DataType, Scalar};
use crate::error::{Error, Result, Status};
use crate::interface::{Binding, Codec, Context, Kind, Warning};
use crate::json::{Configuration, shown};
use crate::number::Rounding;
use crate::representation::Representation;
use reference::{Cast, OutOfRange, is_same};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const ROUNDINGS: [(&str, Rounding); 5] = [
    ("nearest-even", Rounding::NearestEven),
    ("towards-zero", Rounding::TowardsZero),
    ("towards-positive", Rounding::TowardsPositive),
    ("towards-negative", Rounding::TowardsNegative),
    ("nearest-away", Rounding::NearestAway),
];

#[derive(Debug)]
pub(super) struct CastValue {
    data_type: DataType,
    rounding: Rounding,
    out_of_range: OutOfRange,
    /// Read when the codec is bound: their types are those of the array.
    encode_map: Vec<(Value, Value)>,
    decode_map: Vec<(Value, Value)>,
}

/// `{"data_type", "rounding", "out_of_range": "clamp" | "wrap", "scalar_map": {"encode", "decode"}}`
pub(super) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let data_type = DataType::from_json(&configuration.required("data_type")?)?;
    let rounding = configuration.one_of("rounding", &ROUNDINGS.map(|(name, _)| name))?.unwrap_or(0);
    let out_of_range = match configuration.one_of("out_of_range", &["clamp", "wrap"])? {
        None => OutOfRange::Error,
        Some(0) => OutOfRange::Clamp,
        Some(_) => OutOfRange::Wrap,
    };
    let (encode_map, decode_map) = match configuration.optional("scalar_map") {
        None => (Vec::new(), Vec::new()),
        Some(map) => scalar_map(map)?,
    };
    configuration.finish()?;
    if out_of_range == OutOfRange::Wrap && !matches!(data_type.component(), Component::Int { .. }) {
        return Err(Error::metadata(format!("out_of_range is \"wrap\", which is for integers, not for {data_type}")));
    }
    Ok(Arc::new(CastValue { data_type, rounding: ROUNDINGS[rounding].1, out_of_range, encode_map, decode_map }))
}

type Entries = Vec<(Value, Value)>;

fn scalar_map(map: Value) -> Result<(Entries, Entries)> {
    let Value::Object(members) = map else {
        return Err(Error::metadata(format!("scalar_map is {}, expected an object", shown(map))));
    };
    let mut members = Configuration::new(Some(members));
    let maps = (entries("encode", members.optional("encode"))?, entries("decode", members.optional("decode"))?);
    members.finish_as("scalar_map")?;
    Ok(maps)
}

fn entries(direction: &str, list: Option<Value>) -> Result<Entries> {
    let list = match list {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(other) => {
            let other = shown(other);
            return Err(Error::metadata(format!("scalar_map.{direction} is {other}, expected a list of pairs")));
        }
    };
    list.into_iter()
        .enumerate()
        .map(|(i, entry)| match entry.as_array().map(Vec::as_slice) {
            Some([key, mapped]) => Ok((key.clone(), mapped.clone())),
            _ => {
                let entry = shown(&entry);
                Err(Error::metadata(format!("scalar_map.{direction}[{i}] is {entry}, expected a pair of scalars")))
            }
        })
        .collect()
}

impl Codec for CastValue {
    fn kind(&self) -> Kind {
        Kind::ArrayToArray
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        let mut members = Map::from_iter([("data_type".to_owned(), self.data_type.to_json())]);
        if let Some((name, _)) = ROUNDINGS[1..].iter().find(|(_, rounding)| *rounding == self.rounding) {
            members.insert("rounding".to_owned(), json!(name));
        }
        match self.out_of_range {
            OutOfRange::Error => {}
            OutOfRange::Clamp => drop(members.insert("out_of_range".to_owned(), json!("clamp"))),
            OutOfRange::Wrap => drop(members.insert("out_of_range".to_owned(), json!("wrap"))),
        }
        let mut map = Map::new();
        for (direction, entries) in [("encode", &self.encode_map), ("decode", &self.decode_map)] {
            if !entries.is_empty() {
                let entries = entries.iter().map(|(key, mapped)| json!([key, mapped])).collect();
                map.insert(direction.to_owned(), Value::Array(entries));
            }
        }
        if !map.is_empty() {
            members.insert("scalar_map".to_owned(), Value::Object(map));
        }
        Some(members)
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let decoded = decoded.array()?;
        let source = decoded.data_type();
        for data_type in [source, &self.data_type] {
            if !data_type.is_real_number() {
                return Err(Error::unsupported(format!(
                    "{data_type} is neither an integer nor a real float type: cast_value does not take it"
                )));
            }
        }
        let encode = self.direction("encode", &self.encode_map, source, &self.data_type)?;
        let decode = self.direction("decode", &self.decode_map, &self.data_type, source)?;
        let cast_fill_value = |value| cast_fill_value(&encode, &decode, source, value, &self.data_type);
        let fill_value = decoded.fill_value().map(cast_fill_value).transpose()?;
        let warnings = lossy(source, &self.data_type).into_iter().chain(lossy(&self.data_type, source)).collect();
        let kernel = Arc::new(BoundCast::new(encode, decode, source, &self.data_type));
        Ok(Binding { warnings, ..Binding::elementwise(decoded, &self.data_type, fill_value, kernel)? })
    }
}

impl CastValue {
    fn direction(&self, name: &str, entries: &Entries, source: &DataType, target: &DataType) -> Result<Cast> {
        let scalar = |data_type: &DataType, i: usize, part: usize, json: &Value| {
            let scalar = data_type.scalar_from_json(&format!("scalar_map.{name}[{i}][{part}]"), json)?;
            Ok(data_type.component().load(&scalar.0))
        };
        let scalar_map = entries
            .iter()
            .enumerate()
            .map(|(i, (key, mapped))| Ok((scalar(source, i, 0, key)?, scalar(target, i, 1, mapped)?)))
            .collect::<Result<_>>()?;
        Ok(Cast {
            source: source.component(),
            target: target.component(),
            rounding: self.rounding,
            out_of_range: self.out_of_range,
            scalar_map,
        })
    }
}

/// "A fill value that cannot survive a round-trip cast" is an error of the metadata.
fn cast_fill_value(
    encode: &Cast,
    decode: &Cast,
    source: &DataType,
    fill_value: &Scalar,
    target: &DataType,
) -> Result<Scalar> {
    let bits = source.component().load(&fill_value.0);
    let wrong = |what: &str| {
        let value = source.scalar_to_json(fill_value);
        Error::new(Status::InvalidMetadata, format!("fill_value is {value}, which {what}")).with_code("out_of_range")
    };
    let encoded = encode.cast(bits).ok_or_else(|| wrong(&format!("cannot be represented as {target}")))?;
    match decode.cast(encoded) {
        Some(again) if is_same(source.component(), bits, again) => {}
        _ => return Err(wrong(&format!("does not come back from {target}"))),
    }
    Ok(target.scalar(encoded))
}

/// A float type whose significand does not hold every integer of the other type.
fn lossy(source: &DataType, target: &DataType) -> Option<Warning> {
    let (Component::Int { bits, signed }, Component::Float(format)) = (source.component(), target.component()) else {
        return None;
    };
    let digits = format.mantissa_bits + 1;
    let message = || format!("the {digits} significant bits of {target} do not hold every {source}");
    (bits - u32::from(signed) > digits).then(|| Warning::new("lossy_int_to_float", message()))
}
