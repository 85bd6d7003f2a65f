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
    Cast { data_type: u8, rounding: u8, out_of_range: u8, map: Option<(u8, i8)> },
    Scale { offset: i8, scale: u8 },
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Serializer {
    Bytes { is_big: bool },
    Packbits { padding_encoding: u8 },
    ZfpReversible,
    Zfp { mode: u8, parameter: u8 },
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum BytesStep {
    Gzip(u8),
    Zstd { level: i8, checksum: bool },
    Crc32c,
    Pad { is_end: bool, size: u8 },
    Offset(u8),
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
    fn to_json(self, rank: usize) -> Value {
        match self {
            Self::Transpose => {
                json!({"name": "transpose", "configuration": {"order": (0..rank).rev().collect::<Vec<_>>()}})
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
        }
    }
}

impl Serializer {
    fn to_json(self) -> Value {
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
        let codecs: Vec<Value> = (self.array_steps.iter().flatten().map(|step| step.to_json(shape.len())))
            .chain([self.serializer.to_json()])
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
            ArrayStep::Scale { .. } | ArrayStep::Cast { map: Some(_), .. } => true,
            ArrayStep::Cast { out_of_range, .. } => pick(&OUT_OF_RANGE, *out_of_range) == Some("wrap"),
            ArrayStep::Transpose => false,
        };
        let others = steps().filter(is_free).count();
        match (self.serializer, casts, others) {
            (Serializer::Zfp { .. }, ..) => Promise::Size,
            (_, 0, 0) => Promise::Lossless,
            (_, 1, 0) => Promise::Stable,
            _ => Promise::Size,
        }
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
