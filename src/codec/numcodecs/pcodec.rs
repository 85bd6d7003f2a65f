//! `numcodecs.pcodec`: the standalone format of pco.
//!
//! Specification: [zarr-extensions,
//! `numcodecs.pcodec`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.pcodec); numcodecs
//! 0.17, `pcodec.py`; the crate `pco` codes. Integers of 8 to 64 bits and floats of 16 to 64; numcodecs reads those of
//! 8 bits, but does not write them. The encoder works page by page, the decoder a few thousand numbers at a time, so
//! chunks of any alignment need no copy. The claims of a stream are checked before `pco` allocates for them.

use super::optional;
use crate::error::{Error, Result};
use crate::interface::{Binding, Call, Codec, Context, Kind, Pass, Transform, too_small};
use crate::json::{Configuration, integer, one_of};
use crate::representation::{ArrayRepresentation, ByteSize, Representation};
use half::f16;
use pco::data_types::Number;
use pco::errors::{ErrorKind, PcoError};
use pco::standalone::{ChunkDecompressor, DecompressorItem, FileCompressor, FileDecompressor, guarantee};
use pco::{ChunkConfig, DEFAULT_COMPRESSION_LEVEL, DEFAULT_MAX_PAGE_N, DeltaSpec, FULL_BATCH_N, ModeSpec, PagingSpec};
use serde_json::{Map, Value};
use std::fmt::Debug;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

/// Numbers that are decoded at once.
const BUFFER_COUNT: usize = 8 * FULL_BATCH_N;

/// The most numbers that `pco` takes in a page.
const MAX_PAGE_COUNT: i128 = 1 << 24;

#[derive(Debug)]
struct Pcodec {
    configuration: Map<String, Value>,
    config: ChunkConfig,
    /// The most numbers of a page.
    max_page_count: u64,
}

/// `{"level", "mode_spec", "delta_spec", "paging_spec", "delta_encoding_order", "equal_pages_up_to"}`, all optional
pub(crate) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let mut member = |name: &str| optional(&mut configuration, &mut members, name);
    let level = member("level").map(|value| integer("level", &value, 0, 12)).transpose()?;
    let mode = member("mode_spec").map(|value| one_of("mode_spec", &value, &["auto", "classic"])).transpose()?;
    let delta = member("delta_spec");
    let order = member("delta_encoding_order");
    let order = order.map(|value| integer("delta_encoding_order", &value, 0, 7)).transpose()?;
    if let Some(value) = member("paging_spec") {
        one_of("paging_spec", &value, &["equal_pages_up_to"])?;
    }
    let page = member("equal_pages_up_to");
    let page = page.map(|value| integer("equal_pages_up_to", &value, 1, MAX_PAGE_COUNT)).transpose()?;
    configuration.finish()?;
    let config = ChunkConfig::default()
        .with_compression_level(level.map_or(DEFAULT_COMPRESSION_LEVEL, |level| level as usize))
        .with_mode_spec(if mode == Some(1) { ModeSpec::Classic } else { ModeSpec::Auto })
        .with_delta_spec(delta_spec(delta.as_ref(), order.map(|order| order as usize))?)
        .with_enable_8_bit(true);
    let max_page_count = page.map_or(DEFAULT_MAX_PAGE_N as u64, |count| count as u64);
    Ok(Arc::new(Pcodec { configuration: members, config, max_page_count }))
}

fn delta_spec(value: Option<&Value>, order: Option<usize>) -> Result<DeltaSpec> {
    const CHOICES: [&str; 5] = ["auto", "no_op", "none", "try_consecutive", "try_lookback"];
    let choice = value.map_or(Ok(0), |value| one_of("delta_spec", value, &CHOICES))?;
    match (CHOICES[choice], order) {
        ("auto" | "try_consecutive", Some(order)) => Ok(DeltaSpec::TryConsecutive(order)),
        ("auto", None) => Ok(DeltaSpec::Auto),
        // As zarrs, which writes null for it: pco has no order of its own.
        ("try_consecutive", None) => Ok(DeltaSpec::TryConsecutive(0)),
        (choice, Some(order)) => Err(Error::metadata(format!(
            "delta_encoding_order is {order}, which the delta_spec {choice:?} does not take"
        ))),
        ("try_lookback", None) => Ok(DeltaSpec::TryLookback),
        (_, None) => Ok(DeltaSpec::NoOp),
    }
}

/// A number in memory.
trait Element: Number + Default {
    fn from_bytes(bytes: &[u8]) -> Self;
    fn store(self, bytes: &mut [u8]);
}

macro_rules! element {
    ($($number:ty),+) => {
        $(impl Element for $number {
            fn from_bytes(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(Self::default(), |bytes| Self::from_ne_bytes(*bytes))
            }
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
        })+
    };
}
element!(u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64);

impl Codec for Pcodec {
    fn kind(&self) -> Kind {
        Kind::ArrayToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let decoded = decoded.array()?;
        match decoded.data_type().name() {
            "uint8" => self.bind_element::<u8>(decoded),
            "uint16" => self.bind_element::<u16>(decoded),
            "uint32" => self.bind_element::<u32>(decoded),
            "uint64" => self.bind_element::<u64>(decoded),
            "int8" => self.bind_element::<i8>(decoded),
            "int16" => self.bind_element::<i16>(decoded),
            "int32" => self.bind_element::<i32>(decoded),
            "int64" | "numpy.datetime64" | "numpy.timedelta64" => self.bind_element::<i64>(decoded),
            "float16" => self.bind_element::<f16>(decoded),
            "float32" => self.bind_element::<f32>(decoded),
            "float64" => self.bind_element::<f64>(decoded),
            other => Err(Error::unsupported(format!("the data type of the array is {other}, which pco does not have"))),
        }
    }
}

impl Pcodec {
    fn bind_element<E: Element>(&self, decoded: &ArrayRepresentation) -> Result<Binding> {
        let pages = Pages::new(decoded.element_count(), self.max_page_count);
        let chunk = Chunk::<E> { config: self.config.clone(), pages, element: PhantomData };
        let bound = pages.bound::<E>().map_or(ByteSize::Unknown, ByteSize::AtMost);
        let decoded = Representation::Array(decoded.clone());
        Ok(Binding::serializer(&decoded, bound, Pass::Transform(Arc::new(chunk))))
    }
}

#[derive(Debug)]
struct Chunk<E> {
    config: ChunkConfig,
    pages: Pages,
    element: PhantomData<E>,
}

/// As few pages as hold the numbers, the first ones with one number more than the others.
#[derive(Debug, Clone, Copy)]
struct Pages {
    count: u64,
    /// How many have one number more.
    large_count: u64,
    /// Numbers of the others.
    size: u64,
}

impl Pages {
    fn new(number_count: u64, max_page_count: u64) -> Self {
        let count = number_count.div_ceil(max_page_count);
        let size = number_count.checked_div(count).unwrap_or(0);
        Self { count, large_count: number_count - size * count, size }
    }

    fn number_count(self) -> u64 {
        self.size * self.count + self.large_count
    }

    /// The numbers of each.
    fn sizes(self) -> impl Iterator<Item = usize> {
        (0..self.count).map(move |index| (self.size + u64::from(index < self.large_count)) as usize)
    }

    /// The most that a stream of these pages takes: what `pco` guarantees for each.
    fn bound<E: Element>(self) -> Option<u64> {
        let page = |size: u64| guarantee::chunk_size::<E::L>(size as usize) as u64;
        let large = page(self.size + 1).checked_mul(self.large_count)?;
        let small = page(self.size).checked_mul(self.count - self.large_count)?;
        large.checked_add(small)?.checked_add(guarantee::header_size() as u64 + 1)
    }
}

impl<E: Element + Debug> Transform for Chunk<E> {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        let capacity = encoded.len();
        let rest = encode::<E>(&self.config, self.pages, decoded, encoded)?;
        Ok(capacity - rest)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        let size = usize::try_from(self.pages.number_count()).ok().and_then(|count| count.checked_mul(size_of::<E>()));
        let decoded = size.and_then(|size| decoded.get_mut(..size)).ok_or_else(too_small)?;
        decode::<E>(encoded, decoded)?;
        Ok(decoded.len())
    }

    fn encoded_bound(&self, _decoded_size: u64) -> Option<u64> {
        self.pages.bound::<E>()
    }
}

/// Encodes elements of any alignment; returns how much of `encoded` is left.
fn encode<E: Element>(config: &ChunkConfig, pages: Pages, decoded: &[u8], encoded: &mut [u8]) -> Result<usize> {
    let compressor = FileCompressor::default().with_n_hint(decoded.len() / size_of::<E>());
    let mut output = compressor.write_header(encoded).map_err(encode_error)?;
    let mut elements = decoded.chunks_exact(size_of::<E>());
    let mut page: Vec<E> = Vec::new();
    page.try_reserve_exact(pages.sizes().next().unwrap_or(0)).map_err(|_| Error::out_of_memory())?;
    for page_count in pages.sizes() {
        page.clear();
        page.extend(elements.by_ref().take(page_count).map(E::from_bytes));
        let config = config.clone().with_paging_spec(PagingSpec::Exact(vec![page_count]));
        let mut chunk = compressor.chunk_compressor(&page, &config).map_err(encode_error)?;
        output = chunk.write(output).map_err(encode_error)?;
    }
    compressor.write_footer(output).map(|rest| rest.len()).map_err(encode_error)
}

fn encode_error(error: PcoError) -> Error {
    match error.kind {
        ErrorKind::Io(io::ErrorKind::WriteZero) => too_small(),
        _ => Error::internal(format!("pco: {error}")),
    }
}

/// Decodes exactly as many elements as there is room for, of any alignment.
fn decode<E: Element>(encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
    let (file, mut source) = FileDecompressor::new(encoded).map_err(damaged)?;
    let has_variants = file.format_version().major >= 3;
    let (mut rest, mut buffer) = (decoded, Vec::new());
    buffer.try_reserve_exact(BUFFER_COUNT).map_err(|_| Error::out_of_memory())?;
    buffer.resize(BUFFER_COUNT, E::default());
    loop {
        check_claims(source, 8 * size_of::<E>(), rest.len() / size_of::<E>(), has_variants)?;
        match file.chunk_decompressor::<E, _>(source).map_err(damaged)? {
            DecompressorItem::EndOfData(after) if !after.is_empty() => {
                return Err(Error::corrupt(format!("{} bytes follow the end of the pco stream", after.len())));
            }
            DecompressorItem::EndOfData(_) if !rest.is_empty() => {
                let count = rest.len() / size_of::<E>();
                return Err(Error::corrupt(format!("the pco stream has {count} numbers fewer than the chunk")));
            }
            DecompressorItem::EndOfData(_) => return Ok(()),
            DecompressorItem::Chunk(mut chunk) => {
                let size = chunk.n().checked_mul(size_of::<E>()).filter(|size| *size <= rest.len());
                let size = size.ok_or_else(too_many)?;
                let (elements, after) = rest.split_at_mut(size);
                decode_chunk(&mut chunk, &mut buffer, elements)?;
                (source, rest) = (chunk.into_src(), after);
            }
        }
    }
}

/// Decodes a chunk of a stream through a buffer of [`BUFFER_COUNT`] numbers.
fn decode_chunk<E: Element>(
    chunk: &mut ChunkDecompressor<E, &[u8]>,
    buffer: &mut [E],
    decoded: &mut [u8],
) -> Result<()> {
    for elements in decoded.chunks_mut(BUFFER_COUNT * size_of::<E>()) {
        let count = elements.len() / size_of::<E>();
        let progress = chunk.read(buffer).map_err(damaged)?;
        if progress.n_processed != count {
            return Err(Error::corrupt("the pco stream is truncated"));
        }
        for (number, element) in buffer.iter().zip(elements.chunks_exact_mut(size_of::<E>())) {
            number.store(element);
        }
    }
    Ok(())
}

fn too_many() -> Error {
    Error::corrupt("the pco stream has more numbers than the chunk")
}

fn damaged(error: PcoError) -> Error {
    Error::corrupt(format!("not a valid pco stream: {error}"))
}

/// Refuses a chunk of a stream whose metadata make `pco` allocate more than the numbers that are left justify: their
/// count, the entries of a dictionary, the window of a lookback.
fn check_claims(chunk: &[u8], number_bits: usize, left: usize, has_variants: bool) -> Result<()> {
    const CLASSIC: usize = 0;
    const FLOAT_QUANT: usize = 3;
    const DICTIONARY: usize = 4;
    const LOOKBACK: usize = 2;
    let bits = Bits(chunk);
    if chunk.len() < 5 || chunk[0] == 0 {
        return Ok(()); // the end, or cut short
    }
    let count = bits.at(8, 24) + 1;
    if count > left {
        return Err(too_many());
    }
    let delta = match bits.at(32, 4) {
        CLASSIC => 36,
        FLOAT_QUANT => 36 + 8,
        DICTIONARY => {
            let entries = bits.at(36, 25) * number_bits;
            if entries.div_ceil(8) > chunk.len() {
                return Err(Error::corrupt("the dictionary of the pco stream is longer than the stream"));
            }
            64 + entries
        }
        _ => 36 + number_bits,
    };
    let window_count = 1_usize << (1 + bits.at(delta + 4, 5)).min(31);
    let most = count.next_power_of_two().max(FULL_BATCH_N);
    if has_variants && bits.at(delta, 4) == LOOKBACK && window_count > most {
        return Err(Error::corrupt(format!("the pco stream looks back {window_count} numbers, but has {count}")));
    }
    Ok(())
}

/// Bits from the lowest of the first byte on; those after the end are 0.
struct Bits<'a>(&'a [u8]);

impl Bits<'_> {
    fn at(&self, start: usize, count: usize) -> usize {
        let bit = |index: usize| self.0.get(index / 8).map_or(0, |byte| usize::from(byte >> (index % 8) & 1));
        (0..count).map(|index| bit(start + index) << index).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginning of a chunk of pco: fields of bits, from the lowest of the first byte on.
    fn chunk(fields: &[(usize, u64)]) -> Vec<u8> {
        let bits = fields.iter().flat_map(|&(count, value)| (0..count).map(move |bit| value >> bit & 1));
        let mut bytes = bits
            .collect::<Vec<_>>()
            .chunks(8)
            .map(|bits| bits.iter().rev().fold(0, |byte, bit| 2 * byte + *bit as u8))
            .collect::<Vec<u8>>();
        bytes.resize(bytes.len() + 16, 0);
        bytes
    }

    /// Wherever the mode puts it: a window of 2^(1 + log) numbers for a chunk of 1000.
    #[test]
    fn a_window_that_the_count_does_not_justify_is_refused_in_every_mode() {
        const NUMBER_BITS: usize = 64;
        let modes: [(&str, &[(usize, u64)]); 4] = [
            ("classic", &[(4, 0)]),
            ("multiples", &[(4, 1), (NUMBER_BITS, 10)]),
            ("quantised floats", &[(4, 3), (8, 5)]),
            ("dictionary", &[(4, 4), (25, 1), (3, 0), (NUMBER_BITS, 10)]),
        ];
        for (name, mode) in modes {
            for (delta, log, is_refused) in [(2, 30, true), (2, 10, true), (2, 9, false), (1, 30, false)] {
                let fields = [&[(8, 1), (24, 999)], mode, &[(4, delta), (5, log)]].concat();
                let found = check_claims(&chunk(&fields), NUMBER_BITS, 1000, true);
                assert_eq!(found.is_err(), is_refused, "{name}, delta {delta}, window log {log}: {found:?}");
                assert!(check_claims(&chunk(&fields), NUMBER_BITS, 1000, false).is_ok(), "{name} before format 3");
                assert!(check_claims(&chunk(&fields), NUMBER_BITS, 999, false).is_err(), "{name}: too many numbers");
            }
        }
    }
}
