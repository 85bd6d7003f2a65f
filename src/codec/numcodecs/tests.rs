//! What the metadata of these codecs allow, and casts where no vector of numcodecs reaches. The vectors themselves are
//! `tests/conformance/cases/numcodecs_*.jsonl`.

use crate::Status;
use crate::chain::{CallOptions, Chain};
use serde_json::{Value, json};

fn chain(codecs: &Value, data_type: &str, count: usize, fill_value: &Value) -> crate::Result<Chain> {
    let input = json!({"data_type": data_type, "shape": [count], "fill_value": fill_value});
    Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes()))
}

fn codec(name: &str, members: &Value) -> Value {
    json!([{"name": format!("numcodecs.{name}"), "configuration": members}])
}

fn bytes<const SIZE: usize>(elements: impl IntoIterator<Item = [u8; SIZE]>) -> Vec<u8> {
    elements.into_iter().flatten().collect()
}

#[test]
fn metadata_keep_their_names_and_members() {
    for (name, members, data_type) in [
        ("fixedscaleoffset", json!({"offset": 10, "scale": 0.5, "dtype": "<f4", "astype": null}), "float32"),
        ("fixedscaleoffset", json!({"offset": 10.0, "scale": 1e1, "astype": "|u1"}), "float64"),
        ("astype", json!({"encode_dtype": "<f4", "decode_dtype": "<f8"}), "float64"),
        ("quantize", json!({"digits": 3, "dtype": "<f4"}), "float32"),
        ("delta", json!({"dtype": "<i4", "astype": null}), "int32"),
        ("bitround", json!({"keepbits": 0}), "float32"),
        ("delta", json!({"dtype": "int"}), "int64"),
        ("quantize", json!({"digits": 3, "dtype": "double"}), "float64"),
        // The byte order of what leaves means nothing, because the codec bytes writes its own.
        ("delta", json!({"dtype": "<i4", "astype": ">i2"}), "int32"),
        ("astype", json!({"encode_dtype": ">f8", "decode_dtype": "<f4"}), "float32"),
        ("fixedscaleoffset", json!({"offset": 0, "scale": 10, "dtype": "<f4", "astype": ">u2"}), "float32"),
        ("quantize", json!({"digits": 3, "dtype": "<f8", "astype": ">f4"}), "float64"),
    ] {
        let codecs = codec(name, &members);
        assert_eq!(chain(&codecs, data_type, 3, &json!(0)).unwrap().codecs_json(), codecs);
    }
    let packbits = codec("packbits", &json!({}));
    assert_eq!(chain(&packbits, "bool", 3, &json!(false)).unwrap().codecs_json(), packbits);
    for (name, members) in [
        ("crc32", json!({})),
        ("fletcher32", json!({})),
        ("crc32c", json!({"location": "start"})),
        ("adler32", json!({"location": null})),
        ("jenkins_lookup3", json!({"initval": 7, "prefix": null})),
        ("shuffle", json!({"elementsize": 8})),
        ("gzip", json!({"level": -1})),
        ("zstd", json!({"level": -131_073, "checksum": false})),
    ] {
        let codecs = codec(name, &members);
        assert_eq!(Chain::new(codecs.to_string().as_bytes(), None).unwrap().codecs_json(), codecs);
    }
}

/// numcodecs 0.14 and 0.15.0 wrote it.
#[test]
fn the_id_in_a_configuration_is_that_of_the_name_and_goes() {
    let registry = crate::codec::built_in();
    for id in registry.names().filter_map(|(name, _)| name.strip_prefix("numcodecs.")) {
        let (list, wrong) = (codec(id, &json!({"id": id})), codec(id, &json!({"id": "x"})));
        let message = |list: &Value| {
            let chain = Chain::new(list.to_string().as_bytes(), None);
            chain.map_or_else(|error| error.to_string(), |chain| chain.codecs_json().to_string())
        };
        // Codecs that need an array, or another member, say so.
        assert!(!message(&list).contains("\"id\""), "{}", message(&list));
        let expected = format!("codecs[0] \"numcodecs.{id}\": id is \"x\", expected {id:?}");
        assert_eq!(message(&wrong), expected);
    }
    let list = codec("zlib", &json!({"id": "zlib", "level": 3}));
    let chain = Chain::new(list.to_string().as_bytes(), None).unwrap();
    assert_eq!(chain.codecs_json(), codec("zlib", &json!({"level": 3})));
}

#[test]
fn a_fill_value_is_cast_but_not_encoded() {
    let codecs = codec("fixedscaleoffset", &json!({"offset": 0, "scale": 10, "dtype": "<f4", "astype": "|u1"}));
    for (fill_value, encoded) in [(json!("NaN"), json!(0)), (json!(1e30), json!(0)), (json!(1.26), json!(1))] {
        let chain = chain(&codecs, "float32", 3, &fill_value).unwrap();
        assert_eq!(chain.output().to_json()["fill_value"], encoded, "{fill_value}");
    }
}

#[test]
fn python_reads_numbers_as_float64_before_they_become_float32() {
    // Just above the tie between 1 and the next float32, but nearest to the tie in float64.
    let json: Value = serde_json::from_str("1.000000059604644775390625000000000001").unwrap();
    let codecs =
        codec("fixedscaleoffset", &json!({"offset": json, "scale": 8_388_608, "dtype": "<f4", "astype": "<i4"}));
    let chain = chain(&codecs, "float32", 1, &json!(1)).unwrap();
    let encoded = chain.encode_to_vec(&2_f32.to_ne_bytes(), &CallOptions::default());
    assert_eq!(encoded, Ok(8_388_608_i32.to_ne_bytes().to_vec()));
}

#[test]
fn the_first_element_that_cannot_be_represented_is_named() {
    let codecs = codec("fixedscaleoffset", &json!({"offset": 0, "scale": 1, "dtype": "<f4", "astype": "|u1"}));
    let chain = chain(&codecs, "float32", 5000, &json!(0)).unwrap();
    for (wrong, value) in [(0, f32::NAN), (255, 1e10), (256, f32::INFINITY), (4999, -3e9)] {
        let mut decoded = vec![1_f32; 5000];
        decoded[wrong] = value;
        decoded[4999] = f32::NAN;
        let error = chain.encode_to_vec(&bytes(decoded.iter().map(|f| f.to_ne_bytes())), &CallOptions::default());
        let error = error.unwrap_err();
        assert_eq!((error.status(), error.element_index()), (Status::OutOfRange, Some(wrong as u64)), "{error}");
    }
}

#[test]
fn the_first_stored_element_that_cannot_be_represented_is_named() {
    let codecs = codec("fixedscaleoffset", &json!({"offset": 0, "scale": 1, "dtype": "|u1", "astype": "<f4"}));
    let chain = chain(&codecs, "uint8", 5000, &json!(0)).unwrap();
    for wrong in [0, 255, 256, 4999] {
        let mut encoded = vec![1_f32; 5000];
        encoded[wrong] = f32::INFINITY;
        encoded[4999] = f32::NAN;
        let encoded = bytes(encoded.iter().map(|f| f.to_ne_bytes()));
        let error = chain.decode_to_vec(&encoded, &CallOptions::default()).map(|_| "elements").unwrap_err();
        assert_eq!((error.status(), error.element_index()), (Status::OutOfRange, Some(wrong as u64)), "{error}");
    }
}

/// Rust's `as` is NumPy's cast wherever NumPy's is defined.
#[test]
fn astype_casts_as_numpy_does() {
    let integers: Vec<i32> = (-70_000..70_000).step_by(37).chain([i32::MIN, i32::MAX]).collect();
    let floats: Vec<f64> =
        vec![0.0, -0.0, 0.1, -0.9, 126.99, -127.99, 1e-300, 3.5e38, -1e300, f64::INFINITY, f64::MIN_POSITIVE];
    let decoded_integers = bytes(integers.iter().map(|i| i.to_ne_bytes()));
    let cases = [
        ("int32", "|u1", decoded_integers.clone(), bytes(integers.iter().map(|i| [*i as u8]))),
        ("int32", "int16", decoded_integers.clone(), bytes(integers.iter().map(|i| (*i as i16).to_ne_bytes()))),
        ("int32", "<f4", decoded_integers.clone(), bytes(integers.iter().map(|i| (*i as f32).to_ne_bytes()))),
        (
            "float64",
            "<u4",
            bytes([8_589_934_599_f64, -1.5].map(f64::to_ne_bytes)),
            bytes([7_u32, u32::MAX].map(u32::to_ne_bytes)),
        ),
        ("int32", "<f8", decoded_integers, bytes(integers.iter().map(|i| f64::from(*i).to_ne_bytes()))),
        (
            "float64",
            "=f4",
            bytes(floats.iter().map(|f| f.to_ne_bytes())),
            bytes(floats.iter().map(|f| (*f as f32).to_ne_bytes())),
        ),
        (
            "float64",
            "i1",
            bytes(floats[..7].iter().map(|f| f.to_ne_bytes())),
            bytes(floats[..7].iter().map(|f| [*f as i8 as u8])),
        ),
    ];
    for (decode_type, encode_type, decoded, encoded) in cases {
        let codecs = codec("astype", &json!({"encode_dtype": encode_type, "decode_dtype": decode_type}));
        let size = if decode_type == "float64" { 8 } else { 4 };
        let chain = chain(&codecs, decode_type, decoded.len() / size, &json!(0)).unwrap();
        let found = chain.encode_to_vec(&decoded, &CallOptions::default());
        assert_eq!(found, Ok(encoded), "{decode_type} to {encode_type}");
    }
}

#[test]
fn astype_decodes_floats_to_integers_towards_zero() {
    let chain = chain(&codec("astype", &json!({"encode_dtype": "float32"})), "int16", 4, &json!(0)).unwrap();
    let encoded = bytes([1.9_f32, -1.9, 0.5, -32768.9].map(f32::to_ne_bytes));
    let decoded = bytes([1_i16, -1, 0, -32768].map(i16::to_ne_bytes));
    assert_eq!(chain.decode_to_vec(&encoded, &CallOptions::default()), Ok(decoded));
}

#[test]
fn what_numcodecs_cannot_do_is_refused() {
    let scale = |members: Value| ("fixedscaleoffset", members);
    let metadata = Status::InvalidMetadata;
    let cases = [
        (scale(json!({"offset": 0, "scale": 1, "dtype": ">f8", "astype": "i2"})), "float64", Status::Unsupported),
        (scale(json!({"offset": 0, "scale": 1, "dtype": "f8", "astype": "c8"})), "float64", Status::Unsupported),
        (scale(json!({"offset": 0, "scale": 1, "dtype": "f8", "astype": "int4"})), "float64", Status::Unsupported),
        (scale(json!({"offset": 0, "scale": 1, "dtype": "f8", "astype": "b1"})), "float64", Status::Unsupported),
        (scale(json!({"offset": 0, "scale": 1})), "bool", Status::Unsupported),
        (scale(json!({"offset": 0, "scale": 1})), "complex64", Status::Unsupported),
        (scale(json!({"offset": 0, "scale": 1, "dtype": "f8", "astype": "i2"})), "float32", metadata),
        (scale(json!({"offset": "0", "scale": 1, "dtype": "f8", "astype": "i2"})), "float64", metadata),
        (scale(json!({"offset": 0, "scale": 0, "dtype": "f8", "astype": "i2"})), "float64", metadata),
        (scale(json!({"scale": 1, "dtype": "f4", "astype": "i2"})), "float32", metadata),
        (scale(json!({"offset": 0, "scale": 1, "dtype": "f4", "astype": "i2", "x": 1})), "float32", metadata),
        (("astype", json!({"encode_dtype": "f4", "decode_dtype": "f8"})), "float16", metadata),
        (("astype", json!({"encode_dtype": "f4"})), "complex64", Status::Unsupported),
        (("astype", json!({"decode_dtype": "f8"})), "float64", metadata),
        (("astype", json!({"encode_dtype": 4})), "float64", metadata),
        (("quantize", json!({"digits": 1, "dtype": "i4"})), "int32", metadata),
        (("quantize", json!({"digits": 1})), "int32", Status::Unsupported),
        (("quantize", json!({"digits": 308})), "float32", metadata),
        (("delta", json!({"astype": "i4"})), "int32", metadata),
        (("delta", json!({"dtype": "i4", "astype": "f4"})), "int32", Status::Unsupported),
        (("delta", json!({"dtype": "b1"})), "bool", Status::Unsupported),
        (("delta", json!({"dtype": "i4"})), "float32", metadata),
        (("packbits", json!({})), "uint8", Status::Unsupported),
        (("packbits", json!({"x": 1})), "bool", metadata),
    ];
    for ((name, members), data_type, status) in cases {
        let fill_value = match data_type {
            "bool" => json!(false),
            "complex64" => json!([0, 0]),
            _ => json!(0),
        };
        let codecs = codec(name, &members);
        let found = chain(&codecs, data_type, 1, &fill_value).map(|_| ()).map_err(|error| error.status());
        assert_eq!(found, Err(status), "{codecs} of {data_type}");
    }
    for (name, members) in [
        ("crc32", json!({"location": "middle"})),
        ("jenkins_lookup3", json!({"initval": -1})),
        ("jenkins_lookup3", json!({"prefix": "ab"})),
        ("shuffle", json!({"elementsize": -1})),
        ("fletcher32", json!({"x": 1})),
    ] {
        let found = Chain::new(codec(name, &members).to_string().as_bytes(), None).map(|_| ());
        assert_eq!(found.map_err(|error| error.status()), Err(metadata), "{name} {members}");
    }
}

/// Shapes are numbers: making a chain of many pages must not make a list of them.
#[cfg(feature = "pcodec")]
#[test]
fn pcodec_of_a_shape_that_no_memory_holds_takes_none() {
    for (count, page) in [(1_u64 << 60, 1), (1 << 60, 1 << 24), ((1 << 60) - 1, 3), (0, 1), (1, 1 << 24)] {
        let input = json!({"data_type": "uint8", "shape": [count], "fill_value": 0});
        let codecs = codec("pcodec", &json!({"equal_pages_up_to": page}));
        let chain = Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap();
        let bound = chain.output().size().upper_bound();
        assert!(bound.is_none_or(|bound| bound > count), "{count} by {page}: {bound:?}");
    }
}

/// 7 numbers are pages of 3, 2 and 2: what pco makes of "equal pages up to 3".
#[cfg(feature = "pcodec")]
#[test]
fn pcodec_divides_numbers_into_pages_as_pco_does() {
    use pco::standalone::{guarantee, simple_compress, simple_decompress};
    let options = CallOptions::default();
    for (count, page) in (0..30_usize).flat_map(|count| (1..9_usize).map(move |page| (count, page))) {
        let numbers: Vec<u32> = (0..count as u32).map(|i| i * i * 2_654_435).collect();
        let spec = pco::PagingSpec::EqualPagesUpTo(page);
        let chain = chain(&codec("pcodec", &json!({"equal_pages_up_to": page})), "uint32", count, &json!(0)).unwrap();
        let bound = guarantee::file_size::<u32>(count, &spec).unwrap();
        assert_eq!(chain.output().size().upper_bound(), Some(bound as u64), "{count} by {page}");
        let encoded = chain.encode_to_vec(&bytes(numbers.iter().map(|n| n.to_ne_bytes())), &options).unwrap();
        let config = pco::ChunkConfig::default().with_paging_spec(spec).with_enable_8_bit(true);
        assert_eq!(encoded, simple_compress(&numbers, &config).unwrap(), "{count} by {page}");
        assert_eq!(simple_decompress::<u32>(&encoded).unwrap(), numbers);
    }
}

#[cfg(feature = "pcodec")]
#[test]
fn pcodec_writes_integers_of_8_bits_as_pco_reads_them() {
    use pco::standalone::simple_decompress;
    let options = CallOptions::default();
    let decoded: Vec<u8> = (0..10_000_usize).map(|i| (i * i / 1000 % 251) as u8).collect();
    for data_type in ["uint8", "int8"] {
        let chain = chain(&codec("pcodec", &json!({})), data_type, decoded.len(), &json!(0)).unwrap();
        let encoded = chain.encode_to_vec(&decoded, &options).unwrap();
        let found = match data_type {
            "uint8" => simple_decompress::<u8>(&encoded).unwrap(),
            _ => simple_decompress::<i8>(&encoded).unwrap().into_iter().map(|number| number as u8).collect(),
        };
        assert!(found == decoded, "{data_type}");
        assert!(chain.decode_to_vec(&encoded, &options).is_ok_and(|again| again == decoded), "{data_type}");
    }
}

#[cfg(feature = "lzma")]
#[test]
fn lzma_tells_a_small_buffer_what_would_do() {
    let options = CallOptions::default();
    let decoded: Vec<u8> = (0..20_000).map(|i: u32| (i * i / 1000 % 251) as u8).collect();
    for members in [json!({}), json!({"format": 2}), json!({"format": 3, "filters": [{"id": 33}]})] {
        let codecs = codec("lzma", &members);
        let chain = Chain::new(codecs.to_string().as_bytes(), None).unwrap();
        let encoded = chain.encode_to_vec(&decoded, &options).unwrap();
        for capacity in [0, 1, 10_000, 19_999] {
            let error = chain.decode_into(&encoded, &mut vec![0; capacity], &options).unwrap_err();
            assert_eq!(error.needed_capacity(), Some(20_000), "{members}, {capacity}: {error}");
            let cut = &encoded[..encoded.len() - 1];
            let error = chain.decode_into(cut, &mut vec![0; capacity], &options).unwrap_err();
            assert_eq!(error.status(), Status::CorruptData, "{members}, {capacity}");
        }
        assert!(chain.decode_to_vec(&encoded, &options).is_ok_and(|again| again == decoded));
    }
}

/// Otherwise xz and Python do not recognize the file: liblzma's `alone_decoder.c` takes only these sizes.
#[cfg(feature = "lzma")]
#[test]
fn a_lzma_file_names_a_window_that_liblzma_recognizes() {
    const LZMA1: u64 = 0x4000_0000_0000_0001;
    let options = CallOptions::default();
    let decoded = vec![7; 200_000];
    for (dict_size, expected) in
        [(4096, 4096_u32), (4097, 6144), (5000, 6144), (6144, 6144), (6145, 8192), (100_000, 131_072)]
    {
        let codecs = codec("lzma", &json!({"format": 2, "filters": [{"id": LZMA1, "dict_size": dict_size}]}));
        let chain = Chain::new(codecs.to_string().as_bytes(), None).unwrap();
        let encoded = chain.encode_to_vec(&decoded, &options).unwrap();
        assert_eq!(encoded[1..5], expected.to_le_bytes(), "{dict_size}");
        assert!(chain.decode_to_vec(&encoded, &options).is_ok_and(|again| again == decoded), "{dict_size}");
    }
}

#[cfg(feature = "lzma")]
#[test]
fn filters_in_an_xz_stream_that_the_crate_lacks_are_unsupported() {
    // Python's lzma.compress(b"hello" * 20, filters=[ARM, DELTA of 4, LZMA2]).
    const ENCODED: &[u8] = b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4F\x03\x02\x07\0\x03\x01\x03!\x01\x16\0\0\xcdv!D\xe0\0c\0\x0f]\
        \x004\x19I\xee\x1b\xe5h\x95\xd4\x83Y\xefd\0\0\0\0\xd89\xf7t\x15\x1bU\xfa\0\x01/d\x07(Ex\x1f\xb6\xf3}\x01\0\0\0\0\x04YZ";
    // lzma.compress(b"zcodec", check=CHECK_NONE, preset=0), with the filter 127 for LZMA2 and a checksum of that.
    const UNKNOWN: &[u8] =
        b"\xfd7zXZ\0\0\0\xff\x12\xd9A\x02\0\x7f\x01\x0c\0\0\0\x08\xf1\xc5\xaa\x01\0\x05zcodec\0\0\0\0\
        \x01\x16\x06\xc9\xa5}\xd5\x06r\x9ez\x01\0\0\0\0\0YZ";
    let chain = Chain::new(codec("lzma", &json!({"format": 1})).to_string().as_bytes(), None).unwrap();
    for encoded in [ENCODED, UNKNOWN] {
        let error = chain.decode_to_vec(encoded, &CallOptions::default()).unwrap_err();
        assert_eq!(error.status(), Status::Unsupported, "{error}");
    }
}

#[cfg(feature = "lzma")]
#[test]
fn lzma_tells_a_small_buffer_a_size_that_is_not_counted() {
    const SIZE: usize = 70 << 20;
    let options = CallOptions::default();
    for members in [json!({}), json!({"format": 2}), json!({"format": 3, "filters": [{"id": 33}]})] {
        let codecs = codec("lzma", &members);
        let chain = Chain::new(codecs.to_string().as_bytes(), None).unwrap();
        let mut encoded = chain.encode_to_vec(&vec![0; SIZE], &options).unwrap();
        let error = chain.decode_into(&encoded, &mut [0; 16], &options).unwrap_err();
        assert_eq!(error.needed_capacity(), Some(SIZE), "{members}: {error}");
        if members == json!({}) {
            // A size that is known not to be enough is not believed.
            const CAPACITY: usize = 2 << 20;
            state_xz_size(&mut encoded, CAPACITY as u32);
            let error = chain.decode_into(&encoded, &mut vec![0; CAPACITY], &options).unwrap_err();
            assert!(error.needed_capacity().is_some_and(|needed| (SIZE..1 << 30).contains(&needed)), "{error}");
            state_xz_size(&mut encoded, CAPACITY as u32 + 1);
            let error = chain.decode_into(&encoded, &mut vec![0; CAPACITY], &options).unwrap_err();
            assert_eq!(error.needed_capacity(), Some(CAPACITY + 1), "{error}");
        }
        if members["format"] == 2 {
            // As if the end were marked: an upper limit, as for any stream that does not say its size.
            encoded[5..13].fill(0xFF);
            let error = chain.decode_into(&encoded, &mut [0; 16], &options).unwrap_err();
            assert!(error.needed_capacity().is_some_and(|needed| needed >= SIZE), "{error}");
            // More than such a stream can hold is not believed.
            encoded[5..13].copy_from_slice(&(1_u64 << 60).to_le_bytes());
            let error = chain.decode_into(&encoded, &mut [0; 16], &options).unwrap_err();
            assert!(error.needed_capacity().is_some_and(|needed| (SIZE..1 << 30).contains(&needed)), "{error}");
        }
    }
}

/// Writes another size of four times seven bits into the index of a .xz stream of one block: format 1.2, section 4.
#[cfg(feature = "lzma")]
fn state_xz_size(stream: &mut [u8], size: u32) {
    let footer = stream.len() - 12;
    let index_size = 4 * (u32::from_le_bytes(*stream[footer + 4..].first_chunk().unwrap()) as usize + 1);
    let index = &mut stream[footer - index_size..footer];
    assert_eq!(index[..2], [0, 1], "an index of one record");
    let place = 3 + index[2..].iter().position(|byte| byte & 0x80 == 0).unwrap();
    for (at, byte) in index[place..place + 4].iter_mut().enumerate() {
        *byte = (size >> (7 * at) & 0x7F) as u8 | if at < 3 { 0x80 } else { 0 };
    }
    let (content, checksum) = index.split_at_mut(index_size - 4);
    let crc = crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32IsoHdlc, content) as u32;
    checksum.copy_from_slice(&crc.to_le_bytes());
}

#[test]
fn a_float_offset_makes_room_for_any_scale() {
    let codecs = codec("fixedscaleoffset", &json!({"offset": 0.5, "scale": 1000, "dtype": "|u1", "astype": "<i4"}));
    let chain = chain(&codecs, "uint8", 3, &json!(0)).unwrap();
    let encoded = chain.encode_to_vec(&[1, 2, 3], &CallOptions::default()).unwrap();
    assert_eq!(encoded, bytes([500_i32, 1500, 2500].map(i32::to_ne_bytes)));
    assert_eq!(chain.decode_to_vec(&encoded, &CallOptions::default()), Ok(vec![1, 2, 3]));
}

/// NumPy 1 took a larger type for such arrays: `encoded` is what numcodecs 0.13.1 and NumPy 1.26.4 wrote.
#[test]
fn an_integer_that_the_array_cannot_hold_is_only_decoded_with() {
    let scale = |offset: i32, scale: u32, dtype: &str, astype: &str| {
        codec("fixedscaleoffset", &json!({"offset": offset, "scale": scale, "dtype": dtype, "astype": astype}))
    };
    let int32 = |values: [i32; 4]| bytes(values.map(i32::to_ne_bytes));
    let uint16 = |values: [u16; 4]| bytes(values.map(u16::to_ne_bytes));
    for (codecs, data_type, encoded, expected) in [
        (scale(-1000, 1, "<u2", "<i4"), "uint16", int32([1001, 1002, 31_000, 66_535]), uint16([1, 2, 30_000, 65_535])),
        (scale(0, 1000, "|u1", "<u2"), "uint8", uint16([2000, 3000, 40, 0]), vec![2, 3, 0, 0]),
        (scale(1000, 1, "|i1", "<i4"), "int8", int32([-1005, -1000, -873, -1128]), vec![251, 0, 127, 128]),
    ] {
        let chain = chain(&codecs, data_type, 4, &json!(0)).unwrap();
        let decoded = chain.decode_to_vec(&encoded, &CallOptions::default());
        assert_eq!(decoded.as_ref(), Ok(&expected), "{codecs}");
        let refused = chain.encode_to_vec(&expected, &CallOptions::default());
        assert_eq!(refused.unwrap_err().status(), Status::Unsupported, "{codecs}");
    }
}

#[test]
fn delta_of_times_is_that_of_their_numbers() {
    let codecs = codec("delta", &json!({"dtype": "<i8"}));
    let data_type = json!({"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 1}});
    let input = json!({"data_type": data_type, "shape": [3], "fill_value": "NaT"}).to_string();
    let chain = Chain::new(codecs.to_string().as_bytes(), Some(input.as_bytes())).unwrap();
    let decoded = bytes([5_i64, i64::MIN, 7].map(i64::to_ne_bytes));
    let encoded = chain.encode_to_vec(&decoded, &CallOptions::default()).unwrap();
    let differences = [5, i64::MIN.wrapping_sub(5), 7_i64.wrapping_sub(i64::MIN)];
    assert_eq!(encoded, bytes(differences.map(i64::to_ne_bytes)));
    assert_eq!(chain.decode_to_vec(&encoded, &CallOptions::default()), Ok(decoded));
}

#[test]
fn bytes_after_the_end_of_a_stream_are_refused() {
    let raw = json!({"format": 3, "filters": [{"id": 33, "preset": 6}]});
    for (name, members) in [("zlib", json!({})), ("gzip", json!({})), ("bz2", json!({})), ("lzma", raw)] {
        let Ok(chain) = Chain::new(codec(name, &members).to_string().as_bytes(), None) else { continue };
        let mut encoded = chain.encode_to_vec(b"hello", &CallOptions::default()).unwrap();
        encoded.push(0);
        let error = chain.decode_to_vec(&encoded, &CallOptions::default()).unwrap_err();
        assert_eq!(error.status(), Status::CorruptData, "{name}: {error}");
    }
    let input = br#"{"data_type": "int32", "shape": [3], "fill_value": 0}"#;
    let Ok(chain) = Chain::new(codec("pcodec", &json!({})).to_string().as_bytes(), Some(input)) else { return };
    let mut encoded = chain.encode_to_vec(&[1; 12], &CallOptions::default()).unwrap();
    encoded.push(0);
    let error = chain.decode_to_vec(&encoded, &CallOptions::default()).unwrap_err();
    assert_eq!(error.status(), Status::CorruptData, "{error}");
}

/// Damage after the first 16 bytes is not found by decoding to an array of 16 bytes, but by counting all of them.
#[test]
fn a_stream_is_not_decoded_beyond_its_array() {
    const SIZE: usize = 16 << 20;
    let options = CallOptions::default();
    let input = json!({"data_type": "uint8", "shape": [16], "fill_value": 0}).to_string();
    for (name, members) in [("zlib", json!({})), ("gzip", json!({})), ("bz2", json!({})), ("lzma", json!({}))] {
        let Ok(chain) = Chain::new(codec(name, &members).to_string().as_bytes(), None) else { continue };
        let codecs = json!(["bytes", codec(name, &members)[0]]).to_string();
        let array = Chain::new(codecs.as_bytes(), Some(input.as_bytes())).unwrap();
        let encoded = chain.encode_to_vec(&vec![0; SIZE], &options).unwrap();
        let mut damaged = encoded.clone();
        damaged[encoded.len() * 3 / 4..].fill(0x55);
        let errors =
            [&encoded, &damaged].map(|encoded| array.decode_into(encoded, &mut [0; 16], &options).unwrap_err());
        assert_eq!(errors[0].status(), Status::CorruptData, "{name}: {}", errors[0]);
        assert_eq!(errors[0].to_string(), errors[1].to_string(), "{name}");
        let needed =
            [&encoded, &damaged].map(|encoded| chain.decode_into(encoded, &mut [0; 16], &options).unwrap_err());
        assert_eq!(needed[0].needed_capacity(), Some(SIZE), "{name}: {}", needed[0]);
        assert_ne!(needed[1].needed_capacity(), Some(SIZE), "{name}: {}", needed[1]);
    }
}

/// A compressor never needs more than its bound, whatever it gets. LZMA2 stores what is incompressible, of which its
/// window may hold only a part.
#[test]
fn incompressible_bytes_fit_into_the_bound() {
    let options = CallOptions::default();
    let mut state = 1_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    })
    .take(300_000)
    .collect();
    let formats = (1..=3).map(|format| match format {
        3 => ("lzma", json!({"format": 3, "filters": [{"id": 33, "preset": 6}]})),
        _ => ("lzma", json!({"format": format})),
    });
    let windows = [4096, 5000, 65_535, 65_536].into_iter().flat_map(|window| {
        let filters = json!([{"id": 33, "preset": 0, "dict_size": window}]);
        [1, 3].map(|format| ("lzma", json!({"format": format, "filters": filters})))
    });
    let others = ["blosc", "bz2", "gzip", "lz4", "zlib", "zstd"].map(|name| (name, json!({})));
    for (name, members) in formats.chain(windows).chain(others) {
        let Ok(chain) = Chain::new(codec(name, &members).to_string().as_bytes(), None) else { continue };
        for size in [0, 1, 5, 999, 65_535, 65_536, 300_000] {
            let bound = chain.encoded_bound(size as u64).expect("compressors have a bound");
            let mut encoded = vec![0; bound as usize];
            let written = chain.encode_into(&noise[..size], &mut encoded, &options);
            let written = written.unwrap_or_else(|error| panic!("{name}, {members}, {size} bytes: {error}"));
            assert_eq!(chain.decode_to_vec(&encoded[..written], &options).as_deref(), Ok(&noise[..size]), "{name}");
        }
    }
}

/// As on x86-64, also where the processor makes another NaN. A NaN that was there keeps its bits.
#[test]
fn numbers_that_give_a_nan_give_the_same_one_everywhere() {
    let infinity = f32::INFINITY;
    let nan = f32::from_bits(0x7FC0_0123);
    let decoded = bytes([infinity, infinity, -infinity, 1.0, nan].map(f32::to_ne_bytes));
    let delta = chain(&codec("delta", &json!({"dtype": "<f4"})), "float32", 5, &json!(0)).unwrap();
    let encoded = delta.encode_to_vec(&decoded, &CallOptions::default()).unwrap();
    let bits = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|bytes| u32::from_ne_bytes(*bytes)).collect::<Vec<_>>();
    let [plus, minus] = [infinity.to_bits(), (-infinity).to_bits()];
    assert_eq!(bits(&encoded), [plus, 0xFFC0_0000, minus, plus, nan.to_bits()]);
    let again = delta.decode_to_vec(&encoded, &CallOptions::default()).unwrap();
    assert_eq!(bits(&again), [plus, 0xFFC0_0000, 0xFFC0_0000, 0xFFC0_0000, 0xFFC0_0000]);
}

/// numcodecs reads a stream of mode 5, but cannot write one: zarrs does. It is that of mode 4 without a tolerance.
#[test]
fn mode_5_of_zfpy_is_the_reversible_one() {
    let input = br#"{"data_type": "float32", "shape": [5, 6], "fill_value": 0}"#;
    let decoded = bytes((0..30_u16).map(|number| (f32::from(number) * 0.1).to_ne_bytes()));
    let [reversible, default] = [json!({"mode": 5, "rate": 8, "precision": 4}), json!({"mode": 4})].map(|members| {
        let chain = Chain::new(codec("zfpy", &members).to_string().as_bytes(), Some(input)).unwrap();
        let encoded = chain.encode_to_vec(&decoded, &CallOptions::default()).unwrap();
        assert_eq!(chain.decode_to_vec(&encoded, &CallOptions::default()).as_ref(), Ok(&decoded));
        encoded
    });
    assert_eq!(reversible, default);
    for mode in [1, 6] {
        assert_eq!(
            chain(&codec("zfpy", &json!({"mode": mode})), "float32", 4, &json!(0)).unwrap_err().status(),
            Status::InvalidMetadata
        );
    }
}

/// What zarr-python 3.4.2 wrote, with numcodecs 0.17.1: 2001-01-01, "NaT" and 1960-05-05, in seconds.
#[cfg(feature = "pcodec")]
#[test]
fn times_are_integers_for_pcodec() {
    const ENCODED: &[u8] = b"pco!\x03\0\xc1\x04\x01\x04\x02\0\0\0\"\0\0\0\0\0\0\0\
        \0\0\0\x20\x005u\xfb\xff\xff\xff\xdf\x07\"\0\xd2\xeb1\x01\0\0\0\0";
    let decoded = bytes([978_307_200, i64::MIN, -304_819_200].map(i64::to_ne_bytes));
    for name in ["numpy.datetime64", "numpy.timedelta64"] {
        let data_type = json!({"name": name, "configuration": {"unit": "s", "scale_factor": 1}});
        let input = json!({"data_type": data_type, "shape": [3], "fill_value": "NaT"}).to_string();
        let chain = Chain::new(codec("pcodec", &json!({})).to_string().as_bytes(), Some(input.as_bytes())).unwrap();
        assert_eq!(chain.decode_to_vec(ENCODED, &CallOptions::default()).as_ref(), Ok(&decoded));
        let encoded = chain.encode_to_vec(&decoded, &CallOptions::default()).unwrap();
        assert_eq!(chain.decode_to_vec(&encoded, &CallOptions::default()).as_ref(), Ok(&decoded));
    }
}

/// zarr-python hands them to numcodecs as integers.
#[test]
fn times_are_integers_for_zfpy() {
    let decoded = bytes([978_307_200, i64::MIN, -304_819_200].map(i64::to_ne_bytes));
    let encoded = ["int64", "numpy.datetime64", "numpy.timedelta64"].map(|name| {
        let (data_type, fill_value) = match name {
            "int64" => (json!(name), json!(0)),
            _ => (json!({"name": name, "configuration": {"unit": "s", "scale_factor": 1}}), json!("NaT")),
        };
        let input = json!({"data_type": data_type, "shape": [3], "fill_value": fill_value}).to_string();
        let zfpy = codec("zfpy", &json!({"mode": 4})).to_string();
        let chain = Chain::new(zfpy.as_bytes(), Some(input.as_bytes())).unwrap();
        let encoded = chain.encode_to_vec(&decoded, &CallOptions::default()).unwrap();
        assert_eq!(chain.decode_to_vec(&encoded, &CallOptions::default()).as_ref(), Ok(&decoded));
        encoded
    });
    assert!(encoded.iter().all(|stream| *stream == encoded[0]));
}

/// Also at the size of blocks whose rate was computed for three dimensions, which `zfp` without a header accepts.
#[test]
fn a_stream_of_zfpy_that_is_cut_short_is_corrupt_at_every_size() {
    let input = br#"{"data_type": "float32", "shape": [8, 8, 8, 8], "fill_value": 0}"#;
    let codecs = codec("zfpy", &json!({"mode": 2, "rate": 8})).to_string();
    let chain = Chain::new(codecs.as_bytes(), Some(input)).unwrap();
    let decoded = bytes((0..4096_u16).map(|number| f32::from(number % 97).to_ne_bytes()));
    let encoded = chain.encode_to_vec(&decoded, &CallOptions::default()).unwrap();
    let blocks = 16 * 256 * 8 / 8;
    for size in (0..=blocks).step_by(8).chain([encoded.len() - blocks + blocks / 4]) {
        let error = chain.decode_to_vec(&encoded[..size], &CallOptions::default()).unwrap_err();
        assert_eq!(error.status(), Status::CorruptData, "{size} of {} bytes: {error}", encoded.len());
    }
}

/// `ZFP_MODE_SHORT_MAX` of zfp.h: a block of up to 2,048 bits has a short code, which is its size less one. It stands
/// after the 32 bits of the magic number and the 52 of the field.
#[test]
fn blocks_of_zfpy_with_more_than_2048_bits_have_a_long_mode() {
    let input = br#"{"data_type": "float64", "shape": [4, 4, 4, 4], "fill_value": 0}"#;
    for (block_bits, mode) in [(2047, 2046), (2048, 2047), (2049, 0xFFF)] {
        let codecs = codec("zfpy", &json!({"mode": 2, "rate": f64::from(block_bits) / 256.0})).to_string();
        let chain = Chain::new(codecs.as_bytes(), Some(input)).unwrap();
        let decoded = bytes((0..256_u32).map(|number| f64::from(number * number).to_ne_bytes()));
        let encoded = chain.encode_to_vec(&decoded, &CallOptions::default()).unwrap();
        let header = u128::from_le_bytes(*encoded.first_chunk().unwrap());
        assert_eq!(header >> (32 + 52) & 0xFFF, mode, "{block_bits} bits");
        let again = chain.decode_to_vec(&encoded, &CallOptions::default()).unwrap();
        let last = f64::from_ne_bytes(*again.last_chunk().unwrap());
        assert!((last - 65_025.0).abs() < 1.0, "{last}");
    }
}
