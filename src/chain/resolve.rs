//! From JSON to codecs that are bound to what enters them.
//!
//! Zarr v3 core specification, "Codecs" and "Extension points": array->array codecs, then one array->bytes codec, then
//! bytes->bytes codecs; a codec is an object with a `name`, or a name alone.

use super::representation::{ArrayRepresentation, ByteSize, Representation};
use crate::codec::{BoundArrayToArray, BoundArrayToBytes, BoundBytesToBytes, Codec, Configuration, registry};
use crate::error::{Error, Result};
use serde_json::{Map, Value};
use std::sync::Arc;

/// One codec of a list, read and checked by itself.
#[derive(Debug, Clone)]
pub(super) struct ListedCodec {
    pub(super) name: Arc<str>,
    pub(super) role: Role,
}

#[derive(Debug, Clone)]
pub(super) enum Role {
    Known(Codec),
    /// Unknown, and need not be understood: kept in the metadata, nothing at run time.
    Ignored(Value),
}

/// One codec bound to what enters it.
#[derive(Debug, Clone)]
pub(super) enum Bound {
    ArrayToArray(BoundArrayToArray),
    ArrayToBytes(BoundArrayToBytes),
    BytesToBytes(BoundBytesToBytes),
    Ignored,
}

/// The codecs of a list, bound; and what stands before, between and after them.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) codecs: Arc<[ListedCodec]>,
    pub(super) bound: Vec<Bound>,
    /// One more than there are codecs.
    pub(super) representations: Vec<Representation>,
}

impl Resolved {
    /// Reads and binds a `codecs` list. The first fault in encode order is the one reported.
    pub(super) fn from_json(list: &Value, input: Representation) -> Result<Self> {
        let list = list.as_array().ok_or_else(|| Error::metadata("codecs is not a list"))?;
        if list.is_empty() {
            return Err(Error::metadata("codecs is empty: a chain has at least one codec"));
        }
        let mut codecs = Vec::with_capacity(list.len());
        let mut bound = Vec::with_capacity(list.len());
        let mut representations = vec![input];
        for (index, json) in list.iter().enumerate() {
            let codec = ListedCodec::from_json(index, json)?;
            let (next, encoded) =
                codec.bind(&representations[index], None).map_err(|error| error.in_codec(index, &codec.name))?;
            codecs.push(codec);
            bound.push(next);
            representations.push(encoded);
        }
        Ok(Self { codecs: codecs.into(), bound, representations })
    }

    /// The same codecs for another input of the same data type and fill value.
    pub(super) fn with_input(&self, input: ArrayRepresentation) -> Result<Self> {
        let mut bound = Vec::with_capacity(self.bound.len());
        let mut representations = vec![Representation::Array(input)];
        for (index, (codec, previous)) in self.codecs.iter().zip(&self.bound).enumerate() {
            let (next, encoded) = codec
                .bind(&representations[index], Some(previous))
                .map_err(|error| error.in_codec(index, &codec.name))?;
            bound.push(next);
            representations.push(encoded);
        }
        Ok(Self { codecs: Arc::clone(&self.codecs), bound, representations })
    }

    /// What leaves on encode.
    pub(super) fn output(&self) -> &Representation {
        &self.representations[self.bound.len()]
    }
}

impl ListedCodec {
    fn from_json(index: usize, json: &Value) -> Result<Self> {
        let (name, members) = match json {
            Value::String(name) => (name.as_str(), None),
            Value::Object(members) => (codec_name(index, members)?, Some(members)),
            other => return Err(Error::metadata(format!("codecs[{index}] is {other}, not an object or a name"))),
        };
        Self::from_members(name, members).map_err(|error| error.in_codec(index, name))
    }

    fn from_members(name: &str, members: Option<&Map<String, Value>>) -> Result<Self> {
        let mut configuration = None;
        let mut must_understand = true;
        for (member, value) in members.into_iter().flatten() {
            match (member.as_str(), value) {
                ("name", _) => {}
                ("configuration", Value::Object(members)) => configuration = Some(members.clone()),
                ("configuration", other) => {
                    return Err(Error::metadata(format!("configuration is {other}, not an object")));
                }
                ("must_understand", Value::Bool(value)) => must_understand = *value,
                ("must_understand", other) => {
                    return Err(Error::metadata(format!("must_understand is {other}, expected true or false")));
                }
                (other, _) => return Err(Error::metadata(format!("a codec has no member {other:?}"))),
            }
        }
        match registry::find(name) {
            Some(entry) => {
                let codec = (entry.parse)(Configuration::new(configuration))?;
                Ok(Self { name: entry.canonical_name.into(), role: Role::Known(codec) })
            }
            None if !must_understand => {
                let json = members.cloned().map_or_else(|| Value::from(name), Value::Object);
                Ok(Self { name: name.into(), role: Role::Ignored(json) })
            }
            None => Err(Error::unsupported(format!("no codec of the name {name:?} is known"))),
        }
    }

    /// Binds the codec. What does not depend on the shape is taken over from an earlier binding.
    fn bind(&self, decoded: &Representation, previous: Option<&Bound>) -> Result<(Bound, Representation)> {
        match (&self.role, decoded) {
            (Role::Ignored(_), decoded) => Ok((Bound::Ignored, decoded.clone())),
            (Role::Known(Codec::ArrayToArray(codec)), Representation::Array(array)) => {
                let bound = match previous {
                    Some(Bound::ArrayToArray(bound @ BoundArrayToArray::Elementwise { .. })) => bound.clone(),
                    _ => codec.bind(array)?,
                };
                let encoded = encoded_array(&bound, array)?;
                Ok((Bound::ArrayToArray(bound), Representation::Array(encoded)))
            }
            (Role::Known(Codec::ArrayToBytes(codec)), Representation::Array(array)) => {
                let bound = match previous {
                    Some(Bound::ArrayToBytes(bound @ BoundArrayToBytes::Elementwise { .. })) => bound.clone(),
                    _ => codec.bind(array)?,
                };
                let encoded = match &bound {
                    BoundArrayToBytes::Elementwise { encoded_bits, padding_count, .. } => ByteSize::Exact(
                        super::fused::packed_size(array.element_count(), *encoded_bits) + padding_count.size(),
                    ),
                    BoundArrayToBytes::Transform { encoded, .. } => *encoded,
                };
                Ok((Bound::ArrayToBytes(bound), Representation::Bytes(encoded)))
            }
            (Role::Known(Codec::BytesToBytes(codec)), Representation::Bytes(size)) => {
                let bound = codec.bind(*size)?;
                let encoded = match &bound {
                    BoundBytesToBytes::Frame(frame) => size.plus(frame.leading_size()).plus(frame.trailing_size()),
                    BoundBytesToBytes::Transform { encoded, .. } => *encoded,
                };
                Ok((Bound::BytesToBytes(bound), Representation::Bytes(encoded)))
            }
            (Role::Known(Codec::BytesToBytes(_)), Representation::Array(_)) => Err(Error::metadata(
                "a bytes->bytes codec cannot take an array: an array->bytes codec must stand before it",
            )),
            (Role::Known(_), Representation::Bytes(_)) => Err(Error::metadata(
                "an array codec cannot take bytes: it must stand before the one array->bytes codec, in a chain with an input",
            )),
        }
    }

    /// The codec in canonical form.
    pub(super) fn to_json(&self) -> Value {
        let configuration = match &self.role {
            Role::Ignored(json) => return json.clone(),
            Role::Known(Codec::ArrayToArray(codec)) => codec.configuration(),
            Role::Known(Codec::ArrayToBytes(codec)) => codec.configuration(),
            Role::Known(Codec::BytesToBytes(codec)) => codec.configuration(),
        };
        let mut members = Map::from_iter([("name".to_owned(), Value::from(&*self.name))]);
        if let Some(configuration) = configuration {
            members.insert("configuration".to_owned(), Value::Object(configuration));
        }
        Value::Object(members)
    }
}

fn codec_name(index: usize, members: &Map<String, Value>) -> Result<&str> {
    match members.get("name") {
        Some(Value::String(name)) => Ok(name),
        Some(other) => Err(Error::metadata(format!("codecs[{index}] has the name {other}, not a string"))),
        None => Err(Error::metadata(format!("codecs[{index}] has no name"))),
    }
}

fn encoded_array(bound: &BoundArrayToArray, decoded: &ArrayRepresentation) -> Result<ArrayRepresentation> {
    match bound {
        BoundArrayToArray::View { shape } => decoded.with_shape(shape.clone()),
        BoundArrayToArray::Elementwise { stages, fill_value, .. } => {
            let data_type = stages.last().map_or(decoded.data_type(), |(_, data_type)| data_type);
            decoded.with_elements(data_type.clone(), fill_value.clone())
        }
        BoundArrayToArray::Transform { encoded, .. } => Ok(encoded.clone()),
    }
}
