//! One chunk in memory. The window of a decoder grows with what comes out, and never to what a header claims.

use super::filters::Coder;
use super::{Container, Lzma, claims};
use crate::error::{Error, Result, Status};
use crate::interface::too_small as does_not_fit;
use lzma_rust2::filter::bcj::BcjWriter;
use lzma_rust2::filter::delta::DeltaWriter;
use lzma_rust2::{
    Action, FilterConfig, FilterType, Lzma2Options, Lzma2Stream, Lzma2Writer, LzmaOptions, LzmaStream, LzmaWriter,
    Status as StreamStatus, StreamResult, XzOptions, XzStream, XzWriter,
};
use std::io::{self, ErrorKind, Write};

/// Bytes that do not fit are counted up to this size: the window grows with it.
const MAX_COUNTED: u64 = 64 << 20;

/// Bytes that do not fit are decoded into a buffer of this size, which is used again and again.
const OVERFLOW_SIZE: usize = 4096;

/// The crate takes the size of what it is given, and that of its window and a reserve of half as much, for 32-bit
/// numbers.
const MAX_INPUT_SIZE: usize = 1 << 30;
const MAX_WINDOW_SIZE: u32 = 1 << 30;

/// A chunk of LZMA2 that is stored has up to 64 KiB, which the crate takes from its window.
const STORED_SIZE: u32 = 64 << 10;

/// A chunk with a small window is encoded in pieces, for which the crate need not move its window: it has a reserve of
/// this size beside it.
const PIECE_SIZE: usize = 256 << 10;

/// A zero byte ends a stream of LZMA2.
const LZMA2_END_SIZE: usize = 1;

/// LZMA1 has no stored blocks: incompressible data grows by the flag of each literal.
pub(super) fn encoded_bound(decoded_size: u64) -> Option<u64> {
    decoded_size.checked_add(decoded_size / 4)?.checked_add(1024)
}

/// Encodes into the beginning of `encoded`; returns the size.
pub(super) fn encode(codec: &Lzma, decoded: &[u8], encoded: &mut [u8]) -> Result<usize> {
    let options = options_for(&codec.filters.options, decoded.len());
    let capacity = encoded.len();
    let left = match (codec.container, codec.filters.coder) {
        (Container::Xz, _) => encode_xz(codec, options, decoded, encoded)?,
        (Container::Alone, _) => encode_alone(options, decoded, encoded)?,
        (Container::Raw, coder) => {
            let filtered = filter(&codec.filters.before, decoded)?;
            let decoded = filtered.as_deref().unwrap_or(decoded);
            match coder {
                Coder::Lzma1 => encode_lzma1(&options, decoded, encoded)?,
                Coder::Lzma2 => encode_lzma2(options, decoded, encoded)?,
            }
        }
    };
    Ok(capacity - left)
}

// A writer is more than 10 KiB, and passes through the stack when it is made: each way to encode has a frame of its
// own, so that there is one of them there and not four. Each returns how much of `encoded` is left.

#[inline(never)]
fn encode_xz(codec: &Lzma, mut options: LzmaOptions, decoded: &[u8], encoded: &mut [u8]) -> Result<usize> {
    options.dict_size = options.dict_size.max(STORED_SIZE); // the stream says how large it is
    let filters = codec.filters.before.clone();
    let options = XzOptions { lzma_options: options, check_type: codec.check, block_size: None, filters };
    write(XzWriter::new(encoded, options), decoded, XzWriter::finish).map(|rest| rest.len())
}

#[inline(never)]
fn encode_alone(mut options: LzmaOptions, decoded: &[u8], encoded: &mut [u8]) -> Result<usize> {
    options.dict_size = window_of_alone(options.dict_size);
    let writer = LzmaWriter::new_use_header(encoded, &options, Some(decoded.len() as u64));
    write(writer, decoded, LzmaWriter::finish).map(|rest| rest.len())
}

#[inline(never)]
fn encode_lzma1(options: &LzmaOptions, decoded: &[u8], encoded: &mut [u8]) -> Result<usize> {
    let writer = LzmaWriter::new_no_header(encoded, options, true);
    write(writer, decoded, LzmaWriter::finish).map(|rest| rest.len())
}

#[inline(never)]
fn encode_lzma2(options: LzmaOptions, decoded: &[u8], encoded: &mut [u8]) -> Result<usize> {
    let fits = options.dict_size >= STORED_SIZE || decoded.len() <= PIECE_SIZE;
    let options = Lzma2Options { lzma_options: options, chunk_size: None };
    let encode = |decoded: &[u8], encoded: &mut [u8]| {
        let writer = Lzma2Writer::new(encoded, options.clone());
        write(Ok(writer), decoded, Lzma2Writer::finish).map(|rest| rest.len())
    };
    if fits {
        return encode(decoded, encoded);
    }
    let mut rest = encoded;
    for piece in decoded.chunks(PIECE_SIZE) {
        let size = rest.len() - encode(piece, rest)?;
        rest = &mut rest[size - LZMA2_END_SIZE..]; // the next piece begins in its place
    }
    Ok(rest.len() - LZMA2_END_SIZE)
}

/// The window of an encoder is as large as the options say: more than the chunk is waste.
fn options_for(options: &LzmaOptions, size: usize) -> LzmaOptions {
    const LEAST: usize = 4096;
    let enough = size.max(LEAST).checked_next_power_of_two().and_then(|size| u32::try_from(size).ok());
    let most = enough.unwrap_or(u32::MAX).min(MAX_WINDOW_SIZE);
    LzmaOptions { dict_size: options.dict_size.min(most), ..options.clone() }
}

/// The next size that liblzma recognizes in a .lzma file: 2^n, or 2^n and half of that.
fn window_of_alone(size: u32) -> u32 {
    let power = size.next_power_of_two();
    let between = power / 4 * 3;
    if size <= between { between } else { power }
}

fn write<W: Write, T>(writer: io::Result<W>, decoded: &[u8], finish: impl Fn(W) -> io::Result<T>) -> Result<T> {
    let work = || {
        let mut writer = writer?;
        decoded.chunks(MAX_INPUT_SIZE).try_for_each(|input| writer.write_all(input))?;
        finish(writer)
    };
    work().map_err(|error| match error.kind() {
        ErrorKind::WriteZero => does_not_fit(),
        ErrorKind::OutOfMemory => Error::out_of_memory(),
        _ => Error::internal(format!("LZMA: {error}")),
    })
}

/// A chunk after the filters before the coder; `None` if there are none.
fn filter(filters: &[FilterConfig], decoded: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut filtered: Option<Vec<u8>> = None;
    for filter in filters {
        let input = filtered.as_deref().unwrap_or(decoded);
        let mut output = Vec::new();
        output.try_reserve_exact(input.len()).map_err(|_| Error::out_of_memory())?;
        let start = filter.property as usize;
        let branches = match filter.filter_type {
            FilterType::Delta => {
                write(Ok(DeltaWriter::new(&mut output, start)), input, |mut writer| writer.flush())?;
                filtered = Some(output);
                continue;
            }
            FilterType::BcjX86 => BcjWriter::new_x86(output, start),
            FilterType::BcjPpc => BcjWriter::new_ppc(output, start),
            FilterType::BcjIa64 => BcjWriter::new_ia64(output, start),
            FilterType::BcjArm => BcjWriter::new_arm(output, start),
            FilterType::BcjArmThumb => BcjWriter::new_arm_thumb(output, start),
            FilterType::BcjSparc => BcjWriter::new_sparc(output, start),
            FilterType::BcjArm64 | FilterType::BcjRiscv | FilterType::Lzma2 => {
                return Err(Error::internal("a filter that no configuration names"));
            }
        };
        filtered = Some(write(Ok(branches), input, BcjWriter::finish)?);
    }
    Ok(filtered)
}

enum Stream {
    Xz(Box<XzStream>),
    Lzma(Box<LzmaStream>),
    Lzma2(Box<Lzma2Stream>),
}

impl Stream {
    fn new(codec: &Lzma) -> io::Result<Self> {
        match (codec.container, codec.filters.coder) {
            (Container::Xz, _) => Ok(Self::Xz(xz())),
            (Container::Alone, _) => Ok(Self::Lzma(alone())),
            (Container::Raw, Coder::Lzma1) => lzma1(codec).map(Self::Lzma),
            (Container::Raw, Coder::Lzma2) => lzma2(codec).map(Self::Lzma2),
        }
    }

    fn process(&mut self, encoded: &[u8], decoded: &mut [u8]) -> io::Result<StreamResult> {
        match self {
            Self::Xz(stream) => stream.process(encoded, decoded, Action::Finish),
            Self::Lzma(stream) => stream.process(encoded, decoded, Action::Finish),
            Self::Lzma2(stream) => stream.process(encoded, decoded, Action::Finish),
        }
    }

    /// Bytes taken that belong to no stream.
    fn unused_count(&self) -> usize {
        match self {
            Self::Lzma(stream) => stream.unused_input().len(),
            Self::Xz(_) | Self::Lzma2(_) => 0,
        }
    }
}

// As with writers: one of them on the stack, and not four.

#[inline(never)]
fn xz() -> Box<XzStream> {
    Box::new(XzStream::new(true))
}

#[inline(never)]
fn alone() -> Box<LzmaStream> {
    Box::new(LzmaStream::new_mem_limit(u32::MAX, None))
}

#[inline(never)]
fn lzma1(codec: &Lzma) -> io::Result<Box<LzmaStream>> {
    let LzmaOptions { lc, lp, pb, dict_size, .. } = codec.filters.options;
    let mut stream = Box::new(LzmaStream::new(u64::MAX, lc, lp, pb, dict_size, None)?);
    stream.set_filters(&codec.filters.before)?;
    Ok(stream)
}

#[inline(never)]
fn lzma2(codec: &Lzma) -> io::Result<Box<Lzma2Stream>> {
    let mut stream = Box::new(Lzma2Stream::new(codec.filters.options.dict_size));
    stream.set_filters(&codec.filters.before)?;
    Ok(stream)
}

/// Decodes into the beginning of `decoded`; returns the size. BUFFER_TOO_SMALL names a capacity that is enough: what
/// was counted without holding it. Where that would take a large window, it is what the stream says of itself, or the
/// most that it can hold.
pub(super) fn decode(codec: &Lzma, encoded: &[u8], decoded: &mut [u8]) -> Result<usize> {
    let capacity = decoded.len() as u64;
    match decode_to(codec, encoded, decoded, MAX_COUNTED.max(capacity)) {
        Err(error) if error.status() == Status::BufferTooSmall && error.needed_capacity().is_none() => {
            let most = claims::most_decoded(encoded);
            let claimed = claims::decoded_size(codec, encoded).filter(|size| (capacity + 1..=most).contains(size));
            Err(Error::buffer_too_small("decoded_capacity", decoded.len(), claimed.unwrap_or(most)))
        }
        result => result,
    }
}

/// The same; BUFFER_TOO_SMALL names no capacity, and takes no time for what does not fit.
pub(super) fn decode_fitting(codec: &Lzma, encoded: &[u8], decoded: &mut [u8]) -> Result<usize> {
    let most = decoded.len() as u64;
    decode_to(codec, encoded, decoded, most)
}

/// Decodes no more than `most` bytes, of which those that do not fit are counted.
fn decode_to(codec: &Lzma, encoded: &[u8], decoded: &mut [u8], most: u64) -> Result<usize> {
    if codec.container == Container::Alone {
        check_alone(encoded)?;
    }
    let mut stream = Stream::new(codec).map_err(|error| Error::internal(format!("LZMA: {error}")))?;
    let (mut read, mut size, mut overflow) = (0, 0_u64, [0; OVERFLOW_SIZE]);
    loop {
        let rest = usize::try_from(size).ok().and_then(|size| decoded.get_mut(size..)).unwrap_or_default();
        // Whether a full output is the end shows only when there is room for more.
        let room = if rest.is_empty() { &mut overflow[..] } else { rest };
        let result = stream.process(encoded.get(read..).unwrap_or_default(), room).map_err(damaged)?;
        read += result.bytes_consumed;
        size = size.saturating_add(result.bytes_produced as u64);
        if size > most {
            return Err(does_not_fit());
        }
        let end = read - stream.unused_count().min(read);
        match result.status {
            StreamStatus::StreamEnd if end == encoded.len() => return written(size, decoded.len()),
            StreamStatus::StreamEnd => {
                return Err(Error::corrupt(format!("the LZMA stream ends at byte {end} of {}", encoded.len())));
            }
            StreamStatus::Ok if result.bytes_consumed == 0 && result.bytes_produced == 0 => {
                return Err(Error::corrupt("the LZMA stream is cut short"));
            }
            StreamStatus::Ok => {}
        }
    }
}

/// The size, if it has fitted.
fn written(size: u64, capacity: usize) -> Result<usize> {
    match usize::try_from(size) {
        Ok(written) if written <= capacity => Ok(written),
        _ => Err(Error::buffer_too_small("decoded_capacity", capacity, size)),
    }
}

/// Refuses what liblzma does: the tables of a decoder grow with 2 to the power of lc and lp.
fn check_alone(encoded: &[u8]) -> Result<()> {
    let Some(properties) = encoded.first() else { return Ok(()) };
    let (lc, lp) = (properties % 9, properties / 9 % 5);
    if lc + lp <= 4 {
        return Ok(());
    }
    Err(Error::corrupt(format!("the .lzma header has lc {lc} and lp {lp}, expected a sum of at most 4")))
}

/// What the crate says of an .xz stream with several filters before LZMA2, or with one that it does not know.
const UNSUPPORTED_FILTERS: [&str; 2] = ["multiple non-LZMA2 filters", "Unsupported filter type"];

fn damaged(error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::OutOfMemory => Error::out_of_memory(),
        ErrorKind::Unsupported => Error::unsupported(format!("LZMA: {error}")),
        // The crate has no kind of its own for these.
        ErrorKind::InvalidData if UNSUPPORTED_FILTERS.iter().any(|text| error.to_string().contains(text)) => {
            Error::unsupported(format!("LZMA: {error}"))
        }
        _ => Error::corrupt(format!("not a valid LZMA stream: {error}")),
    }
}
