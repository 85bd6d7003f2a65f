//! A `codecs` list: read, and then bound to what enters it.
//!
//! Zarr v3 core specification, "Codecs" and "Extension points": array->array codecs, then one array->bytes codec, then
//! bytes->bytes codecs; a codec is an object with a `name`, or a name alone.

use super::{Binding, Codec, Context, Kind, Pass, Warning};
use crate::error::{CodecPlace, Error, Result};
use crate::json::{Configuration, configuration_of, name_of, shown};
use crate::representation::{ArrayRepresentation, Representation, index_of, position_of};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A `codecs` list that has been read.
#[derive(Debug, Clone)]
pub struct CodecList {
    codecs: Arc<[ListedCodec]>,
    /// The error of the first codec that could not be read. Binding reports it, unless an earlier codec is at fault.
    fault: Option<Error>,
}

/// One codec of a list, read and checked on its own.
#[derive(Debug)]
struct ListedCodec {
    name: Arc<str>,
    role: Role,
}

#[derive(Debug)]
enum Role {
    Known(Arc<dyn Codec>),
    /// An unknown codec that need not be understood: it is kept in the metadata, and does nothing.
    Ignored(Value),
}

impl CodecList {
    /// Reads the list that this member of the metadata holds.
    ///
    /// # Errors
    /// It is not a list, or is empty. [`bind`](Self::bind) reports the faults of codecs.
    pub fn from_json(member: &str, list: &Value, context: &Context) -> Result<Self> {
        let list =
            list.as_array().ok_or_else(|| Error::metadata(format!("{member} is {}, expected a list", shown(list))))?;
        if list.is_empty() {
            return Err(Error::metadata(format!("{member} is empty, expected at least one codec")));
        }
        let mut codecs = Vec::with_capacity(list.len());
        let mut fault = None;
        for (index, json) in list.iter().enumerate() {
            match ListedCodec::from_json(index, json, context) {
                Ok(codec) => codecs.push(codec),
                Err(error) => {
                    fault = Some(error);
                    break;
                }
            }
        }
        Ok(Self { codecs: codecs.into(), fault })
    }

    /// Binds the codecs one after the other.
    ///
    /// # Errors
    /// The first fault in encode order.
    pub fn bind(&self, input: Representation) -> Result<BoundCodecs> {
        self.bind_each(input, |codec, _, decoded| codec.bind(decoded))
    }

    fn bind_each(
        &self,
        input: Representation,
        bind: impl Fn(&dyn Codec, usize, &Representation) -> Result<Binding>,
    ) -> Result<BoundCodecs> {
        let mut bound: Vec<Binding> = Vec::with_capacity(self.codecs.len());
        for (index, codec) in self.codecs.iter().enumerate() {
            let decoded = bound.last().map_or(&input, |bound| &bound.encoded);
            let next = match &codec.role {
                Role::Ignored(_) => Ok(codec.ignored(decoded)),
                Role::Known(known) => check_kind(known.kind(), decoded).and_then(|()| bind(&**known, index, decoded)),
            };
            bound.push(next.map_err(|error| self.codec(index).blame(error))?);
        }
        match &self.fault {
            None => Ok(BoundCodecs { list: self.clone(), input, bound }),
            Some(fault) => Err(fault.clone()),
        }
    }

    /// The kind of the first codec, if it could be read.
    pub fn first_kind(&self) -> Option<Kind> {
        match &self.codecs.first()?.role {
            Role::Known(codec) => Some(codec.kind()),
            Role::Ignored(_) => None,
        }
    }

    /// Whether the first codec makes bytes from which every integer comes back.
    pub fn keeps_integers(&self) -> bool {
        matches!(&self.codecs[0].role, Role::Known(codec) if codec.keeps_integers())
    }

    /// The place of a codec.
    pub fn codec(&self, index: usize) -> CodecPlace {
        CodecPlace::new(index, &self.codecs[index].name)
    }

    /// The list in canonical form.
    pub fn to_json(&self) -> Value {
        self.codecs.iter().map(ListedCodec::to_json).collect()
    }
}

fn check_kind(kind: Kind, decoded: &Representation) -> Result<()> {
    match kind {
        Kind::ArrayToArray | Kind::ArrayToBytes => decoded.array().map(drop),
        Kind::BytesToBytes => decoded.bytes().map(drop),
    }
}

/// The name of a codec, and the object in which it stands.
fn name_and_members(json: &Value) -> Result<(&str, Option<&Map<String, Value>>)> {
    match json {
        Value::String(name) => Ok((name, None)),
        Value::Object(members) => Ok((name_of(members)?, Some(members))),
        other => Err(Error::metadata(format!("the codec is {}, expected an object or a name", shown(other)))),
    }
}

impl ListedCodec {
    fn from_json(index: usize, json: &Value, context: &Context) -> Result<Self> {
        let blame = |name: &str, error| CodecPlace::new(index, &name.into()).blame(error);
        let (name, members) = name_and_members(json).map_err(|error| blame("", error))?;
        Self::from_members(name, members, context).map_err(|error| blame(name, error))
    }

    fn from_members(name: &str, members: Option<&Map<String, Value>>, context: &Context) -> Result<Self> {
        let (configuration, must_understand) = members.map_or(Ok((None, true)), configuration_of)?;
        match context.registry().find(name) {
            Ok(entry) => {
                let codec = (entry.parse)(Configuration::new(configuration.cloned()), context)?;
                Ok(Self { name: Arc::clone(&entry.canonical_name), role: Role::Known(codec) })
            }
            Err(_) if !must_understand => {
                let json = members.cloned().map_or_else(|| Value::from(name), Value::Object);
                Ok(Self { name: name.into(), role: Role::Ignored(json) })
            }
            Err(error) => Err(error),
        }
    }

    fn ignored(&self, decoded: &Representation) -> Binding {
        let message = format!("{:?} is unknown, but need not be understood: it is left out", self.name);
        let warnings = vec![Warning::new("ignored_codec", message)];
        Binding { encoded: decoded.clone(), pass: Pass::Reshape, warnings }
    }

    fn to_json(&self) -> Value {
        let configuration = match &self.role {
            Role::Ignored(json) => return json.clone(),
            Role::Known(codec) => codec.configuration(),
        };
        let mut members = Map::from_iter([("name".to_owned(), Value::from(&*self.name))]);
        if let Some(configuration) = configuration {
            members.insert("configuration".to_owned(), Value::Object(configuration));
        }
        Value::Object(members)
    }
}

/// The bound codecs of a list, and the representations before, between and after them.
#[derive(Debug, Clone)]
pub struct BoundCodecs {
    list: CodecList,
    input: Representation,
    bound: Vec<Binding>,
}

impl BoundCodecs {
    /// The same codecs for another shape of their input.
    ///
    /// # Errors
    /// A codec does not fit this shape.
    pub fn with_input(&self, input: ArrayRepresentation) -> Result<Self> {
        self.list
            .bind_each(Representation::Array(input), |codec, index, decoded| codec.rebind(&self.bound[index], decoded))
    }

    /// The list that was bound.
    pub fn list(&self) -> &CodecList {
        &self.list
    }

    /// The binding of each codec.
    pub fn codecs(&self) -> &[Binding] {
        &self.bound
    }

    /// The representation that enters the codec with this index on encode; for an index equal to the number of codecs,
    /// the one that leaves the last.
    pub fn representation(&self, index: usize) -> &Representation {
        index.checked_sub(1).map_or(&self.input, |before| &self.bound[before].encoded)
    }

    /// The representation that leaves on encode.
    pub fn output(&self) -> &Representation {
        self.representation(self.bound.len())
    }

    /// The index, in the array that enters the list, of an element of the array that enters one of its codecs. Both
    /// count in C order. Array->array codecs are assumed to keep the order, except transpositions.
    pub fn element_of_input(&self, codec_index: usize, element_index: u64) -> u64 {
        self.element_between(0, codec_index, element_index)
    }

    /// The same in the array that enters the codec `first`.
    pub fn element_between(&self, first: usize, codec_index: usize, element_index: u64) -> u64 {
        let mut element = element_index;
        for index in (first..codec_index.min(self.bound.len())).rev() {
            let (Pass::Transpose(order), Representation::Array(encoded), Representation::Array(decoded)) =
                (&self.bound[index].pass, self.representation(index + 1), self.representation(index))
            else {
                continue;
            };
            let mut position = vec![0; order.len()];
            for (dimension, index) in order.iter().zip(position_of(element, encoded.shape())) {
                position[*dimension] = index;
            }
            element = index_of(&position, decoded.shape());
        }
        element
    }

    /// Warnings about valid metadata, each with the index of its codec.
    pub fn warnings(&self) -> impl Iterator<Item = (usize, &Warning)> {
        self.bound
            .iter()
            .enumerate()
            .flat_map(|(index, bound)| bound.warnings.iter().map(move |warning| (index, warning)))
    }

    /// The same as warnings of the codec that has this list as a member of its configuration.
    pub fn warnings_within(&self, member: &str) -> impl Iterator<Item = Warning> {
        self.warnings().map(move |(index, warning)| {
            let path = format!("/configuration/{member}/{index}{}", warning.path);
            Warning { path, ..warning.clone() }
        })
    }
}
