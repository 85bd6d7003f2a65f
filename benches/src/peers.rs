//! Other libraries of the same codecs, as contestants.

use bytemuck::Pod;
use num_traits::NumCast;
use serde_json::Value;
use std::borrow::Cow;
use std::hint::black_box;
use std::num::NonZeroU64;
use zarr_cast_value::{
    CastError, CastFloat, CastInt, CastInto, FloatToFloatConfig, FloatToIntConfig, IntToFloatConfig, IntToIntConfig,
    MapEntry, OutOfRangeMode, RoundingMode, convert_slice_float_to_float, convert_slice_float_to_int,
    convert_slice_int_to_float, convert_slice_int_to_int, f16,
};
use zarrs::array::{ArrayBytes, ArrayToBytesCodecTraits, CodecChain, CodecOptions, DataType, FillValue, data_type};

/// A cast of `zarr-cast-value`, with its input and output.
pub trait Cast {
    /// Casts all elements.
    fn run(&mut self);
    /// The output of the last run.
    fn encoded(&self) -> &[u8];
}

struct Slices<S, T, F> {
    source: Vec<S>,
    target: Vec<T>,
    convert: F,
}

impl<S: Pod, T: Pod, F: Fn(&[S], &mut [T]) -> Result<(), CastError>> Cast for Slices<S, T, F> {
    fn run(&mut self) {
        (self.convert)(black_box(&self.source), black_box(&mut self.target)).expect("the elements have images");
    }

    fn encoded(&self) -> &[u8] {
        bytemuck::cast_slice(&self.target)
    }
}

fn slices<S: Pod, T: Pod>(
    decoded: &[u8],
    convert: impl Fn(&[S], &mut [T]) -> Result<(), CastError> + 'static,
) -> Option<Box<dyn Cast>> {
    let source = bytemuck::pod_collect_to_vec(decoded);
    let target = vec![T::zeroed(); source.len()];
    Some(Box::new(Slices { source, target, convert }))
}

/// The cast of `cast_value` with these members of its configuration; none for types that the crate has not.
pub fn cast(source: &str, target: &str, members: &str, decoded: &[u8]) -> Option<Box<dyn Cast>> {
    let members = serde_json::from_str(&format!("{{{members}}}")).expect("the members are JSON");
    match (source, target) {
        ("float64", "uint8") => float_to_int::<f64, u8>(&members, decoded),
        ("float32", "uint8") => float_to_int::<f32, u8>(&members, decoded),
        ("float32", "int16") => float_to_int::<f32, i16>(&members, decoded),
        ("float64", "float32") => float_to_float::<f64, f32>(&members, decoded),
        ("float32", "float64") => float_to_float::<f32, f64>(&members, decoded),
        ("float32", "float16") => float_to_float::<f32, f16>(&members, decoded),
        ("float16", "float32") => float_to_float::<f16, f32>(&members, decoded),
        ("uint16", "uint8") => int_to_int::<u16, u8>(&members, decoded),
        ("int64", "int32") => int_to_int::<i64, i32>(&members, decoded),
        ("int32", "int16") => int_to_int::<i32, i16>(&members, decoded),
        ("int16", "float32") => int_to_float::<i16, f32>(&members, decoded),
        ("uint16", "float64") => int_to_float::<u16, f64>(&members, decoded),
        ("uint8", "float32") => int_to_float::<u8, f32>(&members, decoded),
        _ => None,
    }
}

fn rounding(members: &Value) -> RoundingMode {
    members["rounding"].as_str().map_or(RoundingMode::NearestEven, |name| name.parse().expect("it is a mode"))
}

fn out_of_range(members: &Value) -> Option<OutOfRangeMode> {
    members["out_of_range"].as_str().map(|name| name.parse().expect("it is a mode"))
}

fn map_entries<S: NumCast, T: NumCast>(members: &Value) -> Vec<MapEntry<S, T>> {
    let number = |scalar: &Value| if scalar == "NaN" { f64::NAN } else { scalar.as_f64().expect("it is a number") };
    let entry =
        |pair: &Value| Some(MapEntry { src: NumCast::from(number(&pair[0]))?, tgt: NumCast::from(number(&pair[1]))? });
    let pairs = members["scalar_map"]["encode"].as_array().into_iter().flatten();
    pairs.map(|pair| entry(pair).expect("the types hold the numbers")).collect()
}

fn float_to_int<S, T>(members: &Value, decoded: &[u8]) -> Option<Box<dyn Cast>>
where
    S: CastFloat + CastInto<T> + Pod,
    T: CastInt + NumCast + Pod,
{
    let (map_entries, rounding, out_of_range) = (map_entries(members), rounding(members), out_of_range(members));
    let config = FloatToIntConfig { map_entries, rounding, out_of_range };
    slices::<S, T>(decoded, move |source, target| convert_slice_float_to_int(source, target, &config))
}

fn float_to_float<S, T>(members: &Value, decoded: &[u8]) -> Option<Box<dyn Cast>>
where
    S: CastFloat + CastInto<T> + Pod,
    T: CastFloat + Pod,
{
    let (map_entries, rounding, out_of_range) = (map_entries(members), rounding(members), out_of_range(members));
    let config = FloatToFloatConfig { map_entries, rounding, out_of_range };
    slices::<S, T>(decoded, move |source, target| convert_slice_float_to_float(source, target, &config))
}

fn int_to_int<S, T>(members: &Value, decoded: &[u8]) -> Option<Box<dyn Cast>>
where
    S: CastInt + CastInto<T> + NumCast + Pod,
    T: CastInt + NumCast + Pod,
{
    let config = IntToIntConfig { map_entries: map_entries(members), out_of_range: out_of_range(members) };
    slices::<S, T>(decoded, move |source, target| convert_slice_int_to_int(source, target, &config))
}

fn int_to_float<S, T>(members: &Value, decoded: &[u8]) -> Option<Box<dyn Cast>>
where
    S: CastInt + CastInto<T> + NumCast + Pod,
    T: CastFloat + Pod,
{
    let (map_entries, rounding, out_of_range) = (map_entries(members), rounding(members), out_of_range(members));
    let config = IntToFloatConfig { map_entries, rounding, out_of_range };
    slices::<S, T>(decoded, move |source, target| convert_slice_int_to_float(source, target, &config))
}

/// A chain of `zarrs` for one chunk. It allocates its results.
#[expect(missing_debug_implementations, reason = "its parts have none")]
pub struct Zarrs {
    chain: CodecChain,
    shape: Vec<NonZeroU64>,
    data_type: DataType,
    fill_value: FillValue,
    options: CodecOptions,
}

impl Zarrs {
    /// On one thread. `None` if it does not know the data type or the codecs.
    pub fn new(codecs: &str, name: &str, element_size: usize, shape: &[usize]) -> Option<Self> {
        let data_type = match name {
            "bool" => data_type::bool(),
            "uint4" => data_type::uint4(),
            "int4" => data_type::int4(),
            "uint8" => data_type::uint8(),
            "uint16" => data_type::uint16(),
            "float32" => data_type::float32(),
            "int32" => data_type::int32(),
            "uint64" => data_type::uint64(),
            "float64" => data_type::float64(),
            _ => return None,
        };
        Some(Self {
            chain: CodecChain::from_metadata(&serde_json::from_str::<Vec<_>>(codecs).ok()?).ok()?,
            shape: shape.iter().map(|size| NonZeroU64::new(*size as u64)).collect::<Option<_>>()?,
            data_type,
            fill_value: FillValue::new(vec![0; element_size]),
            options: CodecOptions::default().with_concurrent_target(1),
        })
    }

    /// The same with this many threads.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.options = self.options.with_concurrent_target(threads);
        self
    }

    /// The encoded chunk.
    pub fn encode<'a>(&self, decoded: &'a [u8]) -> Cow<'a, [u8]> {
        let bytes = ArrayBytes::new_flen(decoded);
        self.chain
            .encode(bytes, &self.shape, &self.data_type, &self.fill_value, &self.options)
            .expect("the chunk encodes")
    }

    /// The decoded chunk.
    pub fn decode<'a>(&self, encoded: &'a [u8]) -> Cow<'a, [u8]> {
        let bytes = Cow::Borrowed(encoded);
        let decoded = self.chain.decode(bytes, &self.shape, &self.data_type, &self.fill_value, &self.options);
        decoded.expect("the chunk decodes").into_fixed().expect("elements have one size")
    }
}
