//! The metadata document of a Zarr v2 array, as a chain of Zarr v3 codecs. Zarr v2 specification, "Arrays".
//!
//! * Order F is a `transpose` that reverses the dimensions.
//! * Filters and the compressor are codecs of numcodecs, named without `numcodecs.`. Those that take arrays come before
//!   `bytes`; one that serializes takes its place.
//! * Memory is always in native byte order; `bytes` gets the byte order of the last array filter's output.
//! * Members that the specification does not name are ignored, as it demands.
//! * Errors count in the list of these codecs, which `zcodec_chain_codecs_json` shows. What goes wrong before there is
//!   a list names the member.

use super::{ArrayDocument, check_rank, required};
use crate::codec::{self, element_type};
use crate::data_type::{Endian, NumpyType};
use crate::error::{Error, Result};
use crate::interface::{CodecList, Context, Kind};
use crate::json::{exact_integer, one_of, shown};
use crate::representation::{ArrayRepresentation, shape_from_json};
use serde_json::{Map, Value, json};

/// The array->array codecs of numcodecs. Of other codecs the registry tells the kind.
const ARRAY_TO_ARRAY: [&str; 6] = ["astype", "bitround", "delta", "fixedscaleoffset", "packbits", "quantize"];
/// The array->bytes codecs of numcodecs.
const ARRAY_TO_BYTES: [&str; 2] = ["pcodec", "zfpy"];
/// The members of a configuration that name a data type.
const TYPE_MEMBERS: [&str; 4] = ["decode_dtype", "dtype", "astype", "encode_dtype"];

/// The codecs of an array, in encode order.
struct Codecs {
    list: Vec<Value>,
    /// The byte order of the output of the last of them.
    endian: Option<Endian>,
    /// The size of the elements of that output.
    element_size: usize,
    output: Output,
}

/// What the last codec makes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Array,
    /// Elements of an array, of which numcodecs still knows the size.
    Elements,
    Bytes,
}

pub(in crate::chain) fn document(members: &Map<String, Value>, context: &Context) -> Result<ArrayDocument> {
    let shape = shape_from_json("shape", required(members, "shape")?, 0)?;
    let chunk_shape = shape_from_json("chunks", required(members, "chunks")?, 1)?;
    check_rank("chunks", &chunk_shape, &shape)?;
    let numpy = NumpyType::from_json(required(members, "dtype")?)?;
    let fill_value = match members.get("fill_value") {
        // netCDF-C 4.8 left it out.
        None | Some(Value::Null) => None,
        Some(json) => Some(numpy.scalar_from_json("fill_value", json)?),
    };
    let mut codecs =
        Codecs { list: Vec::new(), endian: numpy.endian, element_size: numpy.data_type.size(), output: Output::Array };
    let is_reversed = one_of("order", required(members, "order")?, &["C", "F"])? == 1;
    if is_reversed && chunk_shape.len() > 1 {
        let order: Vec<usize> = (0..chunk_shape.len()).rev().collect();
        codecs.list.push(json!({"name": "transpose", "configuration": {"order": order}}));
    }
    match required(members, "filters")? {
        Value::Null => {}
        Value::Array(filters) => filters.iter().try_for_each(|filter| codecs.add("filters", filter, context))?,
        other => return Err(Error::metadata(format!("filters is {}, expected a list or null", shown(other)))),
    }
    match required(members, "compressor")? {
        Value::Null => {}
        compressor => codecs.add("compressor", compressor, context)?,
    }
    if codecs.output == Output::Array {
        codecs.serialize();
    }
    let chunk = ArrayRepresentation::new(numpy.data_type, chunk_shape, fill_value);
    let chunk = chunk.map_err(|error| error.with_context("chunks: "))?;
    Ok(ArrayDocument { chunk, codecs: Value::Array(codecs.list) })
}

impl Codecs {
    /// A codec of numcodecs, from an object with its `id` and its configuration.
    fn add(&mut self, member: &str, json: &Value, context: &Context) -> Result<()> {
        let wrong = || Error::metadata(format!("{member} has {}, expected an object with an id", shown(json)));
        let mut configuration = json.as_object().cloned().ok_or_else(wrong)?;
        let Some(Value::String(id)) = configuration.shift_remove("id") else { return Err(wrong()) };
        let is_own = codec::built_in().has(&name_of(&id));
        if is_own {
            self.spell_as_numcodecs(&id, &mut configuration);
        }
        let Some(kind) = kind(&id, &configuration, context) else {
            self.add_unreadable(member, is_own, codec(&id, configuration));
            return Ok(());
        };
        let (makes_bytes, makes_array) = (kind == Kind::ArrayToBytes, kind == Kind::ArrayToArray);
        if (makes_bytes || makes_array) && self.output != Output::Array {
            return Err(Error::unsupported(format!(
                "{member} has {id:?} after a codec that makes bytes: it can only get an array"
            )));
        }
        if makes_array {
            self.take_type(member, &id, &configuration)?;
            if is_own {
                leave_out_byte_order(&mut configuration);
            }
            if id == "packbits" {
                self.element_size = 1;
            }
        } else {
            if self.output == Output::Array && !makes_bytes {
                self.serialize();
            }
            if id == "blosc" && self.output == Output::Elements {
                self.name_type_size(&mut configuration);
            }
            self.output = Output::Bytes;
        }
        self.list.push(codec(&id, configuration));
        Ok(())
    }

    /// A codec that is unknown or has a wrong configuration: reading the list of codecs reports it. Until then, a filter
    /// of an array makes an array, so that the error counts as if it did.
    fn add_unreadable(&mut self, member: &str, is_own: bool, codec: Value) {
        if self.output == Output::Array && (is_own || member != "filters") {
            self.serialize();
        }
        self.list.push(codec);
    }

    /// Members of other writers, as numcodecs has them.
    fn spell_as_numcodecs(&self, id: &str, configuration: &mut Map<String, Value>) {
        for (member, value) in configuration.iter_mut() {
            if let Some(meant) = value.as_str().and_then(|text| meant_by(id, member, text)) {
                *value = meant;
            }
        }
        match id {
            // netCDF-C writes 0 for the size of an element of the variable, and shuffles by that. numcodecs shuffles
            // nothing if it is 0, but nobody stores such a filter.
            "shuffle" if configuration.get("elementsize").and_then(exact_integer) == Some(0) => {
                configuration.insert("elementsize".to_owned(), json!(self.element_size));
            }
            // In Zarr v3 it is the size of an element of the array, in numcodecs it is 4.
            "shuffle" => drop(configuration.entry("elementsize").or_insert_with(|| json!(4))),
            // GDAL writes the distance of a delta filter. The .xz stream also states it, and decodes by that.
            "lzma" if !configuration.contains_key("format") => drop(configuration.shift_remove("delta")),
            _ => {}
        }
    }

    /// numcodecs shuffles elements of the size that its input has, and single bytes if that is more than Blosc allows. A
    /// `shuffle` of -1 chooses the filter by the size of the input's elements all the same.
    fn name_type_size(&self, configuration: &mut Map<String, Value>) {
        if configuration.get("typesize").is_some_and(|size| !size.is_null()) {
            return;
        }
        let type_size = u8::try_from(self.element_size);
        if type_size.is_err() && configuration.get("shuffle").and_then(exact_integer) == Some(-1) {
            configuration.insert("shuffle".to_owned(), json!(1));
        }
        configuration.insert("typesize".to_owned(), json!(type_size.unwrap_or(1).max(1)));
    }

    /// Takes the byte order and size from the types in a configuration: elements in memory are in native byte order, and
    /// `bytes` gets that of the stored ones. numcodecs interprets the bytes of what enters as elements of another type,
    /// so that type must have their byte order.
    fn take_type(&mut self, member: &str, id: &str, configuration: &Map<String, Value>) -> Result<()> {
        let named = |member: &str| configuration.get(member).and_then(Value::as_str);
        let (input, output) = if id == "astype" { ("decode_dtype", "encode_dtype") } else { ("dtype", "astype") };
        let (input, output) = (named(input), named(output).or(named(input)));
        if let Some((text, NumpyType { endian: Some(endian), .. })) = input.zip(input.and_then(element_type))
            && self.endian.is_some_and(|own| own != endian)
        {
            return Err(Error::unsupported(format!(
                "{member}: {id:?} interprets its input as {text:?}, but that has the other byte order"
            )));
        }
        if let Some(NumpyType { endian, data_type }) = output.and_then(element_type) {
            (self.endian, self.element_size) = (endian, data_type.size());
        }
        Ok(())
    }

    fn serialize(&mut self) {
        self.output = Output::Elements;
        self.list.push(match self.endian {
            None => json!({"name": "bytes"}),
            Some(Endian::Little) => json!({"name": "bytes", "configuration": {"endian": "little"}}),
            Some(Endian::Big) => json!({"name": "bytes", "configuration": {"endian": "big"}}),
        });
    }
}

/// Elements in memory are in native byte order, whatever the types in a configuration say.
fn leave_out_byte_order(configuration: &mut Map<String, Value>) {
    for member in TYPE_MEMBERS {
        let Some(Value::String(dtype)) = configuration.get_mut(member) else { continue };
        if let Some(code) = dtype.strip_prefix('>') {
            *dtype = format!("<{code}");
        }
    }
}

fn name_of(id: &str) -> String {
    format!("numcodecs.{id}")
}

/// A codec of numcodecs as Zarr v3 has it.
fn codec(id: &str, configuration: Map<String, Value>) -> Value {
    let mut codec = Map::from_iter([("name".to_owned(), json!(name_of(id)))]);
    if !configuration.is_empty() {
        codec.insert("configuration".to_owned(), Value::Object(configuration));
    }
    Value::Object(codec)
}

/// The kind of a codec; `None` if it is unknown, or has a wrong configuration.
fn kind(id: &str, configuration: &Map<String, Value>, context: &Context) -> Option<Kind> {
    if ARRAY_TO_ARRAY.contains(&id) {
        return Some(Kind::ArrayToArray);
    }
    if ARRAY_TO_BYTES.contains(&id) {
        return Some(Kind::ArrayToBytes);
    }
    let list = CodecList::from_json("codecs", &json!([codec(id, configuration.clone())]), context);
    list.ok().and_then(|list| list.first_kind())
}

/// The value of numcodecs that another writer spells as a text. GDAL writes its options as the user gave them, and
/// netCDF-C 4.9.0 to 4.9.3 integers as texts.
fn meant_by(id: &str, member: &str, text: &str) -> Option<Value> {
    match (id, member, text.to_ascii_uppercase().as_str()) {
        ("blosc", "shuffle", "NONE") => Some(json!(0)),
        ("blosc", "shuffle", "BYTE") => Some(json!(1)),
        ("blosc", "shuffle", "BIT") => Some(json!(2)),
        ("zstd", "checksum", "NO" | "FALSE" | "OFF") => Some(json!(false)),
        ("zstd", "checksum", "YES" | "TRUE" | "ON") => Some(json!(true)),
        _ => text.parse().ok().map(Value::Number).filter(|number| exact_integer(number).is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;

    fn codecs(change: Value) -> Result<Value> {
        let mut members = json!({
            "zarr_format": 2, "shape": [9, 9], "chunks": [3, 4], "dtype": ">i4", "compressor": null, "fill_value": null,
            "order": "C", "filters": null, "dimension_separator": "/",
        });
        for (member, value) in change.as_object().into_iter().flatten() {
            members[member] = value.clone();
        }
        ArrayDocument::from_json(&members, &Context::new(crate::codec::built_in())).map(|document| document.codecs)
    }

    fn names(codecs: &Value) -> Vec<&str> {
        codecs.as_array().unwrap().iter().map(|codec| codec["name"].as_str().unwrap()).collect()
    }

    /// Filters, and the byte order that `bytes` then gets.
    #[test]
    fn the_byte_order_of_filters_is_that_of_what_enters() {
        for (dtype, filters, endian) in [
            (">i4", json!([{"id": "delta", "dtype": ">i4", "astype": "i2"}]), Some("little")),
            (">i4", json!([{"id": "delta", "dtype": ">i4", "astype": "int16"}]), Some("little")),
            (">i4", json!([{"id": "delta", "dtype": ">i4", "astype": null}]), Some("big")),
            ("<i4", json!([{"id": "delta", "dtype": "i4"}]), Some("little")),
            ("<i4", json!([{"id": "delta", "dtype": "=i4", "astype": ">i4"}]), Some("big")),
            ("|u1", json!([{"id": "astype", "decode_dtype": "|u1", "encode_dtype": "i2"}]), Some("little")),
            ("<f4", json!([{"id": "fixedscaleoffset", "dtype": "<f4", "astype": "u1"}]), None),
            (">f4", json!([{"id": "quantize", "digits": 1, "dtype": ">f4", "astype": "f"}]), Some("little")),
            (">f4", json!([{"id": "astype", "decode_dtype": ">f4", "encode_dtype": "h"}]), Some("little")),
            ("<f4", json!([{"id": "astype", "decode_dtype": "single", "encode_dtype": ">f"}]), Some("big")),
            ("|u1", json!([{"id": "astype", "decode_dtype": "B", "encode_dtype": "float"}]), Some("little")),
        ] {
            let codecs = codecs(json!({"dtype": dtype, "filters": filters})).unwrap();
            let configuration = endian.map(|endian| json!({"endian": endian}));
            assert_eq!(codecs[1].get("configuration"), configuration.as_ref(), "{dtype}, {filters}");
        }
        for filters in [
            json!([{"id": "delta", "dtype": "<i4"}]),
            json!([{"id": "delta", "dtype": "i4"}]),
            json!([{"id": "delta", "dtype": "int32"}]),
            json!([{"id": "delta", "dtype": "i"}]),
            json!([{"id": "delta", "dtype": "intc"}]),
            json!([{"id": "delta", "dtype": ">i4"}, {"id": "delta", "dtype": "<i4"}]),
            json!([{"id": "astype", "decode_dtype": "=i4", "encode_dtype": "i2"}]),
        ] {
            let error = codecs(json!({"filters": filters})).unwrap_err();
            assert_eq!(error.status(), Status::Unsupported, "{filters}: {error}");
            assert!(error.to_string().contains("filters: "), "{error}");
        }
    }

    #[test]
    fn blosc_chooses_the_filter_by_the_size_before_it_is_cut() {
        for (dtype, shuffle, expected, type_size) in
            [("|S400", -1, 1, 1), ("|S255", -1, -1, 255), ("|S1", -1, -1, 1), ("|S400", 2, 2, 1)]
        {
            let compressor = json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": shuffle, "blocksize": 0});
            let codecs = codecs(json!({"dtype": dtype, "compressor": compressor, "fill_value": null})).unwrap();
            let configuration = &codecs.as_array().unwrap().last().unwrap()["configuration"];
            assert_eq!(configuration["shuffle"], expected, "{dtype}");
            assert_eq!(configuration["typesize"], type_size, "{dtype}");
        }
    }

    #[test]
    fn order_filters_and_compressor_become_codecs() {
        let codecs = codecs(json!({
            "order": "F",
            "filters": [{"id": "delta", "dtype": ">i4", "astype": "<i2"}, {"id": "shuffle", "elementsize": 2}],
            "compressor": {"id": "bz2", "level": 1},
        }));
        let expected = json!([
            {"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i2"}},
            {"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "numcodecs.shuffle", "configuration": {"elementsize": 2}},
            {"name": "numcodecs.bz2", "configuration": {"level": 1}},
        ]);
        assert_eq!(codecs, Ok(expected));
    }

    #[test]
    fn configurations_of_other_codecs_are_kept() {
        let codecs = codecs(json!({"compressor": {"id": "mine", "key": "12345", "dtype": ">i4"}})).unwrap();
        assert_eq!(codecs[1], json!({"name": "numcodecs.mine", "configuration": {"key": "12345", "dtype": ">i4"}}));
    }

    #[test]
    fn an_error_about_an_unknown_codec_counts_as_if_it_were_known() {
        let (unknown, delta) = (json!({"id": "mine"}), json!({"id": "delta", "dtype": ">i4"}));
        for (change, expected) in [
            (json!({"filters": [unknown, delta]}), json!(["numcodecs.mine", "numcodecs.delta", "bytes"])),
            (json!({"filters": [{"id": "gzip"}, unknown]}), json!(["bytes", "numcodecs.gzip", "numcodecs.mine"])),
            (json!({"filters": [{"id": "gzip", "level": "x"}]}), json!(["bytes", "numcodecs.gzip"])),
            (json!({"filters": [delta], "compressor": unknown}), json!(["numcodecs.delta", "bytes", "numcodecs.mine"])),
        ] {
            assert_eq!(json!(names(&codecs(change.clone()).unwrap())), expected, "{change}");
        }
    }

    #[test]
    fn array_codecs_stand_before_bytes_or_in_its_place() {
        let packed = codecs(json!({"dtype": "|b1", "filters": [{"id": "packbits"}], "compressor": {"id": "zlib"}}));
        assert_eq!(names(&packed.unwrap()), ["numcodecs.packbits", "bytes", "numcodecs.zlib"]);
        let zfpy = codecs(json!({"filters": [{"id": "bitround", "keepbits": 3}], "compressor": {"id": "zfpy"}}));
        assert_eq!(names(&zfpy.unwrap()), ["numcodecs.bitround", "numcodecs.zfpy"]);
        assert_eq!(names(&codecs(json!({"filters": []})).unwrap()), ["bytes"]);
    }

    #[test]
    fn blosc_gets_the_size_of_the_elements_that_enter_it() {
        let type_size = |change: Value| {
            let mut members = json!({"compressor": {"id": "blosc", "shuffle": 1}});
            for (member, value) in change.as_object().into_iter().flatten() {
                members[member] = value.clone();
            }
            codecs(members).unwrap().as_array().unwrap().last().unwrap()["configuration"]["typesize"].clone()
        };
        let delta = json!({"id": "delta", "dtype": ">i4", "astype": "<i2"});
        for (change, expected) in [
            (json!({}), json!(4)),
            (json!({"dtype": "<f8", "order": "F"}), json!(8)),
            (json!({"dtype": "|b1", "filters": [{"id": "packbits"}]}), json!(1)),
            (json!({"filters": [delta]}), json!(2)),
            (json!({"filters": [{"id": "shuffle", "elementsize": 4}]}), Value::Null),
            (json!({"dtype": "|V300"}), json!(1)),
            (json!({"compressor": {"id": "blosc", "typesize": null}}), json!(4)),
            (json!({"compressor": {"id": "blosc", "typesize": 2}}), json!(2)),
        ] {
            assert_eq!(type_size(change.clone()), expected, "{change}");
        }
    }

    #[test]
    fn members_of_other_writers_are_spelled_as_numcodecs_spells_them() {
        let gzip = json!({"id": "gzip"});
        for (change, index, expected) in [
            (json!({"filters": [{"id": "shuffle", "elementsize": 0}]}), 1, json!({"elementsize": 4})),
            (json!({"filters": [{"id": "shuffle", "elementsize": "0"}]}), 1, json!({"elementsize": 4})),
            (json!({"filters": [{"id": "shuffle", "elementsize": "2"}]}), 1, json!({"elementsize": 2})),
            (json!({"filters": [{"id": "shuffle"}]}), 1, json!({"elementsize": 4})),
            (json!({"dtype": ">f8", "compressor": {"id": "shuffle", "elementsize": 0}}), 1, json!({"elementsize": 8})),
            (json!({"filters": [gzip, {"id": "shuffle", "elementsize": 0}]}), 2, json!({"elementsize": 4})),
            (json!({"compressor": {"id": "zlib", "level": "4"}}), 1, json!({"level": 4})),
            (json!({"compressor": {"id": "zlib", "level": "-1"}}), 1, json!({"level": -1})),
            (json!({"compressor": {"id": "zlib", "level": "4.0"}}), 1, json!({"level": "4.0"})),
            (json!({"compressor": {"id": "zlib", "level": " 4"}}), 1, json!({"level": " 4"})),
            (json!({"compressor": {"id": "zstd", "checksum": "NO"}}), 1, json!({"checksum": false})),
            (json!({"compressor": {"id": "zstd", "checksum": "yes"}}), 1, json!({"checksum": true})),
            (json!({"compressor": {"id": "zstd", "checksum": "OFF"}}), 1, json!({"checksum": false})),
            (json!({"compressor": {"id": "zstd", "checksum": "true"}}), 1, json!({"checksum": true})),
            (json!({"compressor": {"id": "zstd", "checksum": "BIT"}}), 1, json!({"checksum": "BIT"})),
            (
                json!({"compressor": {"id": "blosc", "shuffle": "BIT", "typesize": 1}}),
                1,
                json!({"shuffle": 2, "typesize": 1}),
            ),
            (json!({"compressor": {"id": "lzma", "preset": 6, "delta": 1}}), 1, json!({"preset": 6})),
            (json!({"compressor": {"id": "lzma", "format": 3, "delta": 1}}), 1, json!({"format": 3, "delta": 1})),
        ] {
            assert_eq!(codecs(change.clone()).unwrap()[index]["configuration"], expected, "{change}");
        }
    }

    #[test]
    fn a_fill_value_may_be_missing() {
        let document = json!({
            "zarr_format": 2, "shape": [3], "chunks": [3], "dtype": ">i4", "compressor": null, "order": "C", "filters": null,
        });
        let document = ArrayDocument::from_json(&document, &Context::new(crate::codec::built_in())).unwrap();
        assert!(document.chunk.fill_value().is_none());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (change, status, message) in [
            (json!({"chunks": [3]}), Status::InvalidMetadata, "chunks has 1 dimensions"),
            (json!({"order": "A"}), Status::InvalidMetadata, "order is \"A\""),
            (json!({"filters": {}}), Status::InvalidMetadata, "filters is {}"),
            (json!({"filters": ["delta"]}), Status::InvalidMetadata, "filters has \"delta\""),
            (json!({"compressor": {"level": 1}}), Status::InvalidMetadata, "expected an object with an id"),
            (json!({"dtype": "|O"}), Status::Unsupported, "objects have a variable size"),
            (json!({"fill_value": "x"}), Status::InvalidMetadata, "fill_value is \"x\""),
            (
                json!({"filters": [{"id": "shuffle"}, {"id": "delta", "dtype": "<i4"}]}),
                Status::Unsupported,
                "filters has \"delta\" after a codec that makes bytes",
            ),
        ] {
            let error = codecs(change).unwrap_err();
            assert_eq!(error.status(), status, "{error}");
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
