//! `numcodecs.zfpy`: a zfp stream after its header, as LLNL's Python package writes it.
//!
//! Specification:
//! [zarr-extensions, `numcodecs.zfpy`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.zfpy);
//! numcodecs 0.17, `zfpy.py`; zfp 1.0.1, `zfp_write_header`: the magic, 52 bits for type and shape, and 12 or 64 bits
//! for the parameters. Blocks follow at the next bit, and the whole is a multiple of 8 bytes. A mode whose own
//! parameter is negative, as it is by default, is the reversible one. A header of another type, shape or mode than the
//! chain's is `CORRUPT_DATA`.

use super::mode::{Mode, Parameters};
use super::{Backend, Zfp};
use crate::error::{Error, Result};
use crate::interface::{Binding, Call, Codec, Context, Direction, GetSlab, Kind, Pass, PutSlab, Slabs, Transform};
use crate::json::{Configuration, integer};
use crate::representation::Representation;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use zfp_rs::{ZFP_MAX_BITS, ZFP_MAX_PREC, ZFP_MIN_BITS, ZFP_MIN_EXP, ZfpScalarType};

/// `zfp` and the version of the format.
const MAGIC: u128 = u32::from_le_bytes([b'z', b'f', b'p', 5]) as u128;
const MAGIC_BITS: u32 = 32;
const FIELD_BITS: u32 = 52;
const SHORT_MODE_BITS: u32 = 12;
const LONG_MODE_BITS: u32 = 64;

/// The largest header, in whole words.
const MAX_HEADER_SIZE: usize = 24;

#[derive(Debug)]
struct Zfpy {
    configuration: Map<String, Value>,
    zfp: Zfp,
}

/// `{"mode": 2 to 5, "rate", "precision", "tolerance", "compression_kwargs"}`, all optional
pub(in crate::codec) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let mut member = |name: &str| {
        let value = configuration.optional(name);
        value.inspect(|value| drop(members.insert(name.to_owned(), value.clone())))
    };
    // zfpy's numbers of the modes, of which 5 is the reversible one, which has no parameter.
    let mode = member("mode").map_or(Ok(4), |value| integer("mode", &value, 2, 5))?;
    let parameters = [("rate", "fixed_rate"), ("precision", "fixed_precision"), ("tolerance", "fixed_accuracy")]
        .map(|(name, mode)| (name, mode, member(name)));
    // numcodecs derives it from the others.
    member("compression_kwargs");
    configuration.finish()?;
    let is_negative = |value: &Value| value.as_f64().is_some_and(|number| number < 0.0);
    let mode = match parameters.get(mode as usize - 2) {
        Some((name, mode, Some(value))) if !is_negative(value) => {
            Map::from_iter([("mode".to_owned(), json!(mode)), ((*name).to_owned(), value.clone())])
        }
        _ => Map::from_iter([("mode".to_owned(), json!("reversible"))]),
    };
    let mode = Mode::parse(Configuration::new(Some(mode)))?;
    Ok(Arc::new(Zfpy { configuration: members, zfp: Zfp { mode, backend: Backend::chosen(), header: None } }))
}

impl Codec for Zfpy {
    fn kind(&self) -> Kind {
        Kind::ArrayToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let array = decoded.array()?;
        let shape = array.shape();
        let scalar = match array.data_type().name() {
            "int32" => ZfpScalarType::I32,
            "int64" => ZfpScalarType::I64,
            "float32" => ZfpScalarType::F32,
            "float64" => ZfpScalarType::F64,
            _ if array.data_type().is_time() => ZfpScalarType::I64,
            other => {
                return Err(Error::unsupported(format!(
                    "the data type of the array is {other}, which zfpy does not have"
                )));
            }
        };
        if shape.is_empty() || shape.contains(&0) {
            return Err(Error::unsupported(format!("the shape is {shape:?}, which a zfp header cannot express")));
        }
        let grid = super::Grid::new(shape)?;
        let parameters = self.zfp.mode.parameters(scalar, grid.dimensionality())?;
        let header = Header::new(&parameters, scalar, shape)?;
        let blocks_bound = parameters.encoded_bound(grid.block_count())?;
        let bound = Zfp { header: Some(header), ..self.zfp.clone() }.bind(decoded)?;
        let Pass::Transform(blocks) = bound.pass else { return Err(Error::internal("zfp is no transform")) };
        let pass = Pass::Transform(Arc::new(WithHeader { blocks, blocks_bound, header }));
        Ok(Binding { pass, ..bound })
    }
}

/// The bits before the blocks, the first ones lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Magic and field.
    field: u128,
    mode: u64,
    mode_bits: u32,
}

impl Header {
    fn new(parameters: &Parameters, scalar: ZfpScalarType, shape: &[u64]) -> Result<Self> {
        let (mode, mode_bits) = mode_of(parameters);
        let field = MAGIC | u128::from(field_of(scalar, shape)?) << MAGIC_BITS;
        Ok(Self { field, mode, mode_bits })
    }

    pub(super) fn bit_count(self) -> u64 {
        u64::from(MAGIC_BITS + FIELD_BITS + self.mode_bits)
    }

    /// The words, with zeros after the last bit.
    pub(super) fn words(self) -> [u64; MAX_HEADER_SIZE / 8] {
        let field_bits = MAGIC_BITS + FIELD_BITS;
        let low = self.field | u128::from(self.mode) << field_bits;
        [low as u64, (low >> 64) as u64, self.mode >> (128 - field_bits)]
    }

    /// The bytes, with zeros after the last bit.
    fn bytes(self) -> [u8; MAX_HEADER_SIZE] {
        let mut bytes = [0; MAX_HEADER_SIZE];
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(self.words()) {
            *bytes = word.to_le_bytes();
        }
        bytes
    }
}

/// `zfp_field_metadata`: sizes less one, the fastest dimension lowest, then the number of dimensions and the type.
fn field_of(scalar: ZfpScalarType, shape: &[u64]) -> Result<u64> {
    let bits = 48 / shape.len() as u32;
    let sizes = shape.iter().try_fold(0_u64, |sizes, size| {
        let less = size.checked_sub(1).filter(|less| less >> bits == 0)?;
        Some(sizes << bits | less)
    });
    let sizes = sizes.ok_or_else(|| {
        Error::unsupported(format!("the shape is {shape:?}, but a zfp header has {bits} bits for each size"))
    })?;
    let scalar = match scalar {
        ZfpScalarType::I32 => 0,
        ZfpScalarType::I64 => 1,
        ZfpScalarType::F32 => 2,
        ZfpScalarType::F64 => 3,
    };
    Ok((sizes << 2 | (shape.len() as u64 - 1)) << 2 | scalar)
}

/// `zfp_stream_mode`: a short code for the usual modes, otherwise the four parameters.
fn mode_of(parameters: &Parameters) -> (u64, u32) {
    let config = &parameters.config;
    let (minbits, maxbits, maxprec, minexp) =
        (config.min_bits(), config.max_bits(), config.max_prec(), config.min_exp());
    let has_any_size = minbits <= ZFP_MIN_BITS && maxbits >= ZFP_MAX_BITS;
    let has_all_planes = maxprec >= ZFP_MAX_PREC;
    let is_default = has_any_size && has_all_planes && minexp == ZFP_MIN_EXP;
    let short = if is_default {
        None
    } else if minbits == maxbits && has_all_planes && minexp == ZFP_MIN_EXP {
        Some(maxbits - 1).filter(|code| *code < 2048)
    } else if has_any_size && minexp == ZFP_MIN_EXP {
        Some(2048 + maxprec - 1)
    } else if has_any_size && has_all_planes && minexp >= ZFP_MIN_EXP {
        Some(minexp.abs_diff(ZFP_MIN_EXP)).filter(|_| minexp <= 843).map(|code| 2177 + code)
    } else if has_any_size && has_all_planes {
        Some(2176)
    } else {
        None
    };
    if let Some(code) = short {
        return (code.into(), SHORT_MODE_BITS);
    }
    let field = |value: u32, most: u32| u64::from(value.clamp(1, most) - 1);
    let minexp = minexp.saturating_add(16495).clamp(0, 0x7FFF) as u64;
    let code = minexp << 7 | field(maxprec, 0x80);
    let code = (code << 15 | field(maxbits, 0x8000)) << 15 | field(minbits, 0x8000);
    (code << 12 | 0xFFF, LONG_MODE_BITS)
}

#[derive(Debug)]
struct WithHeader {
    /// Encodes the header and the blocks, and decodes the blocks.
    blocks: Arc<dyn Transform>,
    /// The largest size of the blocks alone.
    blocks_bound: usize,
    header: Header,
}

impl Transform for WithHeader {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        self.blocks.encode(decoded, encoded, call)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        self.blocks.decode(&self.blocks_of(encoded)?, decoded, call)
    }

    fn slab_thickness(&self, shape: &[u64]) -> Option<usize> {
        self.blocks.slab_thickness(shape)
    }

    fn decode_slabs(
        &self,
        encoded: &[u8],
        slabs: &Slabs,
        put: &PutSlab<'_>,
        call: &mut Call<'_>,
    ) -> Result<Option<()>> {
        self.blocks.decode_slabs(&self.blocks_of(encoded)?, slabs, put, call)
    }

    fn encode_slabs(
        &self,
        slabs: &Slabs,
        get: &GetSlab<'_>,
        encoded: &mut [u8],
        call: &mut Call<'_>,
    ) -> Result<Option<usize>> {
        self.blocks.encode_slabs(slabs, get, encoded, call)
    }

    fn part_count(&self, direction: Direction) -> u64 {
        self.blocks.part_count(direction)
    }

    fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        self.blocks.encoded_bound(decoded_size)
    }
}

impl WithHeader {
    /// The blocks of a stream, beginning at a byte.
    fn blocks_of<'a>(&self, encoded: &'a [u8]) -> Result<Cow<'a, [u8]>> {
        self.check(encoded)?;
        let bit_count = self.header.bit_count() as usize;
        let blocks = encoded.get(bit_count / 8..).unwrap_or_default();
        if blocks.len() > self.blocks_bound + MAX_HEADER_SIZE {
            return Err(Error::corrupt(format!(
                "the stream has {} bytes after its header, expected at most {}",
                blocks.len(),
                self.blocks_bound
            )));
        }
        let (blocks_size, shift) = (blocks.len().min(self.blocks_bound), bit_count % 8);
        if shift == 0 {
            return Ok(Cow::Borrowed(&blocks[..blocks_size]));
        }
        let mut shifted = Vec::new();
        shifted.try_reserve_exact(blocks_size).map_err(|_| Error::out_of_memory())?;
        let next = blocks.iter().skip(1).chain(&[0]);
        let pairs = blocks.iter().zip(next).take(blocks_size);
        shifted.extend(pairs.map(|(byte, next)| byte >> shift | next << (8 - shift)));
        Ok(Cow::Owned(shifted))
    }

    fn check(&self, encoded: &[u8]) -> Result<()> {
        let (expected, bit_count) = (self.header.bytes(), self.header.bit_count() as usize);
        let mut found = [0; MAX_HEADER_SIZE];
        let size = encoded.len().min(bit_count.div_ceil(8));
        found[..size].copy_from_slice(&encoded[..size]);
        if !bit_count.is_multiple_of(8) {
            found[bit_count / 8] &= (1 << (bit_count % 8)) - 1;
        }
        let bits = |bytes: &[u8; MAX_HEADER_SIZE], start: u32, count: u32| {
            let low = bytes.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes));
            low >> start & ((1 << count) - 1)
        };
        if encoded.len() < bit_count.div_ceil(8) || bits(&found, 0, MAGIC_BITS) != MAGIC {
            return Err(Error::corrupt("the stream does not begin with a header of zfp, version 5 of its format"));
        }
        if bits(&found, MAGIC_BITS, FIELD_BITS) != bits(&expected, MAGIC_BITS, FIELD_BITS) {
            return Err(Error::corrupt("the stream's header has another data type or shape than the chunk"));
        }
        if found != expected {
            return Err(Error::corrupt("the stream's header has another mode or parameter than the configuration"));
        }
        Ok(())
    }
}
