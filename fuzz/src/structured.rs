//! Chains whose metadata is always valid, or nearly so, which mutations of text seldom are.

use crate::is_small;
use arbitrary::Arbitrary;
use serde_json::{Value, json};
use zcodec::chain::{Chain, Representation};
use zcodec::data_type::Component;

/// Some blocks of 4 values or 16 bytes, and a rest, in each direction.
const MAX_SIDE: u8 = 24;

/// The promise of a chain about decode(encode(x)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// It is x.
    Lossless,
    /// It is a value that a second round trip does not change, if that succeeds.
    Stable,
    /// It has the size of x.
    Size,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum ArrayStep {
    Transpose,
    Reshape { rows: u8 },
    Cast { data_type: u8, rounding: u8, out_of_range: u8, map: Option<(u8, i8)> },
    Scale { offset: i8, scale: u8 },
    Delta,
    Numeric { codec: u8, digits: u8 },
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Serializer {
    Bytes { is_big: bool },
    Packbits { padding_encoding: u8 },
    ZfpReversible,
    Zfp { mode: u8, parameter: u8 },
    Pcodec { level: u8, mode: u8 },
    Zfpy,
    N5 { compressor: Option<BytesStep> },
    Shard { is_index_first: bool, is_whole: [bool; 3], compressor: Option<BytesStep> },
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum BytesStep {
    Gzip(u8),
    Zstd { level: i8, checksum: bool },
    Crc32c,
    Pad { is_end: bool, size: u8 },
    Offset(u8),
    Blosc { compressor: u8, level: u8, filter: u8, element_size: u8, block_size: u16, is_numcodecs: bool },
    Numcodecs { codec: u8, parameter: u8 },
}

/// A chain and what enters it.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub struct ChainSpec {
    data_type: u8,
    shape: [u8; 3],
    rank: u8,
    array_steps: [Option<ArrayStep>; 3],
    serializer: Serializer,
    bytes_steps: [Option<BytesStep>; 3],
}

pub const DATA_TYPES: [&str; 33] = [
    "bool",
    "int2",
    "int4",
    "uint2",
    "uint4",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "bfloat16",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "complex_float16",
    "r8",
    "r16",
    "r24",
];

const OUT_OF_RANGE: [Option<&str>; 3] = [None, Some("clamp"), Some("wrap")];

pub fn pick<T: Clone>(list: &[T], choice: u8) -> T {
    list[usize::from(choice) % list.len()].clone()
}

fn fill_value(data_type: &str) -> Value {
    match data_type {
        "bool" => json!(false),
        "float8_e8m0fnu" => json!(1.0),
        name if name.starts_with("complex") => json!([0.0, 0.0]),
        name if name.starts_with('r') => json!(vec![0; name[1..].parse::<usize>().unwrap_or(8) / 8]),
        _ => json!(0),
    }
}

impl ArrayStep {
    /// `rank` is that of the array that enters, which has as many elements as `shape`.
    fn to_json(self, rank: usize, shape: &[u8], data_type: &str) -> Value {
        match self {
            Self::Transpose => {
                json!({"name": "transpose", "configuration": {"order": (0..rank).rev().collect::<Vec<_>>()}})
            }
            Self::Reshape { rows } => {
                let count: u64 = shape.iter().map(|size| u64::from(*size)).product();
                let divisors: Vec<u64> = (1..=count.max(1)).filter(|rows| count.is_multiple_of(*rows)).collect();
                let rows = pick(&divisors, rows);
                json!({"name": "reshape", "configuration": {"shape": [rows, count / rows]}})
            }
            Self::Cast { data_type, rounding, out_of_range, map } => {
                let names = ["nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"];
                let mut configuration =
                    json!({"data_type": pick(&DATA_TYPES, data_type), "rounding": pick(&names, rounding)});
                if let Some(rule) = pick(&OUT_OF_RANGE, out_of_range) {
                    configuration["out_of_range"] = json!(rule);
                }
                if let Some((special, number)) = map {
                    let special = pick(&[json!("NaN"), json!("Infinity"), json!(0), json!(100)], special);
                    configuration["scalar_map"] = json!({"encode": [[special, number]], "decode": [[number, special]]});
                }
                json!({"name": "cast_value", "configuration": configuration})
            }
            Self::Scale { offset, scale } => {
                json!({"name": "scale_offset", "configuration": {"offset": offset, "scale": scale}})
            }
            Self::Delta => json!({"name": "numcodecs.delta", "configuration": {"dtype": numpy_name(data_type)}}),
            Self::Numeric { codec, digits } => {
                let dtype = numpy_name(data_type);
                match codec % 4 {
                    0 => json!({"name": "bitround", "configuration": {"keepbits": digits % 54}}),
                    1 => {
                        json!({"name": "numcodecs.quantize", "configuration": {"digits": digits % 20, "dtype": dtype}})
                    }
                    2 => {
                        let configuration = json!({"offset": digits, "scale": 3, "dtype": dtype, "astype": "|u1"});
                        json!({"name": "numcodecs.fixedscaleoffset", "configuration": configuration})
                    }
                    _ => {
                        json!({"name": "numcodecs.astype", "configuration": {"encode_dtype": "<i2", "decode_dtype": dtype}})
                    }
                }
            }
        }
    }
}

/// As numpy writes a type of this name; what it does not have makes no chain.
fn numpy_name(data_type: &str) -> String {
    let kind = &data_type[..data_type.find(|letter: char| letter.is_ascii_digit()).unwrap_or(data_type.len())];
    let bits: usize = data_type[kind.len()..].parse().unwrap_or(8);
    let letter = match kind {
        "int" => "i",
        "uint" => "u",
        "float" => "f",
        _ => kind,
    };
    format!("<{letter}{}", bits / 8)
}

impl Serializer {
    fn to_json(self, shape: &[u8]) -> Value {
        let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
        match self {
            Self::Bytes { is_big } => {
                json!({"name": "bytes", "configuration": {"endian": if is_big { "big" } else { "little" }}})
            }
            Self::Packbits { padding_encoding } => {
                let name = pick(&["none", "first_byte", "last_byte"], padding_encoding);
                json!({"name": "packbits", "configuration": {"padding_encoding": name}})
            }
            Self::ZfpReversible => json!({"name": "zfp", "configuration": {"mode": "reversible"}}),
            Self::Zfp { mode, parameter } => {
                let configuration = match mode % 4 {
                    0 => json!({"mode": "fixed_rate", "rate": 1.0 + f64::from(parameter) / 8.0}),
                    1 => json!({"mode": "fixed_precision", "precision": parameter % 65}),
                    2 => json!({"mode": "fixed_accuracy", "tolerance": f64::from(parameter) / 16.0}),
                    _ => {
                        let (minbits, maxbits) = (parameter, 20 + 5 * u32::from(parameter));
                        let (maxprec, minexp) = (1 + parameter % 64, -1074 - i32::from(parameter % 2));
                        json!({"mode": "expert", "minbits": minbits, "maxbits": maxbits, "maxprec": maxprec, "minexp": minexp})
                    }
                };
                json!({"name": "zfp", "configuration": configuration})
            }
            Self::Pcodec { level, mode } => {
                let mode = pick(&["auto", "classic"], mode);
                json!({"name": "numcodecs.pcodec", "configuration": {"level": level % 13, "mode_spec": mode}})
            }
            Self::Zfpy => json!({"name": "numcodecs.zfpy", "configuration": {"mode": 1}}),
            Self::N5 { compressor } => {
                let order: Vec<usize> = (0..shape.len()).rev().collect();
                let transpose = json!({"name": "transpose", "configuration": {"order": order}});
                let big = json!({"name": "bytes", "configuration": {"endian": "big"}});
                let codecs = [transpose, big].into_iter().chain(compressor.map(BytesStep::to_json));
                json!({"name": "n5_default", "configuration": {"codecs": codecs.collect::<Vec<_>>()}})
            }
            Self::Shard { is_index_first, is_whole, compressor } => {
                let halved = shape.iter().zip(is_whole).map(|(size, is_whole)| match size {
                    size if is_whole || size % 2 == 1 => *size,
                    size => size / 2,
                });
                let codecs: Vec<Value> =
                    [little.clone()].into_iter().chain(compressor.map(BytesStep::to_json)).collect();
                let configuration = json!({
                    "chunk_shape": halved.collect::<Vec<_>>(),
                    "codecs": codecs,
                    "index_codecs": [little, "crc32c"],
                    "index_location": if is_index_first { "start" } else { "end" },
                });
                json!({"name": "sharding_indexed", "configuration": configuration})
            }
        }
    }
}

impl BytesStep {
    fn to_json(self) -> Value {
        match self {
            Self::Gzip(level) => json!({"name": "gzip", "configuration": {"level": level % 10}}),
            Self::Zstd { level, checksum } => {
                let level = level.clamp(-9, 9);
                json!({"name": "zstd", "configuration": {"level": level, "checksum": checksum}})
            }
            Self::Crc32c => json!("crc32c"),
            Self::Pad { is_end, size } => {
                let location = if is_end { "end" } else { "start" };
                json!({"name": "pad", "configuration": {"location": location, "nbytes": size}})
            }
            Self::Offset(size) => json!({"name": "offset", "configuration": {"offset": size}}),
            Self::Blosc { compressor, level, filter, element_size, block_size, is_numcodecs } => {
                let names = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];
                let mut configuration =
                    json!({"cname": pick(&names, compressor), "clevel": level % 10, "blocksize": block_size});
                if is_numcodecs {
                    configuration["shuffle"] = json!(i32::from(filter % 4) - 1);
                    return json!({"name": "numcodecs.blosc", "configuration": configuration});
                }
                configuration["shuffle"] = json!(pick(&["noshuffle", "shuffle", "bitshuffle"], filter));
                configuration["typesize"] = json!(element_size.max(1));
                json!({"name": "blosc", "configuration": configuration})
            }
            Self::Numcodecs { codec, parameter } => {
                let location = pick(&["start", "end"], parameter);
                let with = |name: &str, configuration: Value| json!({"name": name, "configuration": configuration});
                match codec % 12 {
                    0 => with("numcodecs.lz4", json!({"acceleration": 1})),
                    1 => with("numcodecs.zlib", json!({"level": parameter % 10})),
                    2 => with("numcodecs.bz2", json!({"level": 1})),
                    3 => with("numcodecs.lzma", json!({"format": 1 + parameter % 2, "preset": 0})),
                    4 => with("numcodecs.shuffle", json!({"elementsize": parameter})),
                    5 => with("numcodecs.fletcher32", json!({})),
                    6 => with("numcodecs.crc32", json!({"location": location})),
                    7 => with("numcodecs.crc32c", json!({"location": location})),
                    8 => with("numcodecs.adler32", json!({"location": location})),
                    9 => with("numcodecs.jenkins_lookup3", json!({"initval": parameter})),
                    10 => with("numcodecs.zstd", json!({"level": parameter % 10})),
                    _ => with("numcodecs.gzip", json!({"level": parameter % 10})),
                }
            }
        }
    }
}

impl ChainSpec {
    /// The chain, if the combination is supported and small.
    pub fn build(&self) -> Option<Chain> {
        let data_type = pick(&DATA_TYPES, self.data_type);
        let shape = self.shape.map(|size| size % MAX_SIDE);
        let shape = &shape[..usize::from(self.rank % 4)];
        let input = json!({"data_type": data_type, "shape": shape, "fill_value": fill_value(data_type)});
        let mut rank = shape.len();
        let array_steps = self.array_steps.iter().flatten().map(|step| {
            let codec = step.to_json(rank, shape, data_type);
            if matches!(step, ArrayStep::Reshape { .. }) {
                rank = 2;
            }
            codec
        });
        let codecs: Vec<Value> = array_steps
            .chain([self.serializer.to_json(shape)])
            .chain(self.bytes_steps.iter().flatten().map(|step| step.to_json()))
            .collect();
        let chain = Chain::new(json!(codecs).to_string().as_bytes(), Some(input.to_string().as_bytes())).ok()?;
        is_small(&chain).then_some(chain)
    }

    /// The same without compressors and frames.
    #[must_use]
    pub fn without_bytes_steps(&self) -> Self {
        Self { bytes_steps: [None; 3], ..*self }
    }

    /// The promise about the decoded elements.
    pub fn promise(&self) -> Promise {
        let steps = || self.array_steps.iter().flatten();
        let casts = steps().filter(|step| matches!(step, ArrayStep::Cast { .. })).count();
        // A map may undo another one, and a value that wraps around may be rounded to one that wraps again.
        let is_free = |step: &&ArrayStep| match step {
            ArrayStep::Scale { .. } | ArrayStep::Numeric { .. } | ArrayStep::Cast { map: Some(_), .. } => true,
            // Sums of floats are rounded.
            ArrayStep::Delta => pick(&DATA_TYPES, self.data_type).contains("float") || casts > 0,
            ArrayStep::Cast { out_of_range, .. } => pick(&OUT_OF_RANGE, *out_of_range) == Some("wrap"),
            ArrayStep::Transpose | ArrayStep::Reshape { .. } => false,
        };
        let others = steps().filter(is_free).count();
        match (self.serializer, casts, others) {
            (Serializer::Zfp { .. }, ..) => Promise::Size,
            (_, 0, 0) => Promise::Lossless,
            (_, 1, 0) => Promise::Stable,
            _ => Promise::Size,
        }
    }

    /// Whether the same elements always encode to the same bytes. pco orders values of its dictionary that are equally
    /// frequent by a random hash.
    pub fn is_deterministic(&self) -> bool {
        !matches!(self.serializer, Serializer::Pcodec { .. })
    }

    /// Whether some cast clamps, which may make an infinity that the other type does not have.
    pub fn clamps(&self) -> bool {
        self.array_steps.iter().flatten().any(|step| match step {
            ArrayStep::Cast { out_of_range, .. } => pick(&OUT_OF_RANGE, *out_of_range) == Some("clamp"),
            _ => false,
        })
    }

    /// A decoded side of these bytes, repeated, each element as memory of the library holds it.
    pub fn elements(&self, chain: &Chain, bytes: &[u8]) -> Vec<u8> {
        let size = chain.decoded_size().map_or(bytes.len(), |size| size as usize);
        let mut elements: Vec<u8> = bytes.iter().copied().chain([7]).cycle().take(size).collect();
        if let Representation::Array(array) = chain.input() {
            let component = array.data_type().component();
            let spare = 8_u32.saturating_sub(component.bits());
            match component {
                Component::Bool => elements.iter_mut().for_each(|byte| *byte &= 1),
                Component::Int { signed: true, .. } => {
                    elements
                        .iter_mut()
                        .for_each(|byte| *byte = ((*byte << spare).cast_signed() >> spare).cast_unsigned());
                }
                _ => elements.iter_mut().for_each(|byte| *byte = (*byte << spare) >> spare),
            }
        }
        elements
    }
}
