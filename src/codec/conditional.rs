//! `conditional`: codecs that are applied to some chunks and not to others.
//!
//! Specification: [zarr-extensions,
//! `conditional`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/conditional). Each chunk begins
//! with a bit for each codec inside, the first codec's the lowest of the first byte; it is 1 if the codec was applied.
//! The writer decides which: here all of them if that makes the chunk smaller, otherwise none. A chunk then never grows
//! by more than the header. Every combination of bits is decoded.

use crate::error::{Error, Result, Status};
use crate::interface::{
    Binding, BoundCodecs, Call, Codec, CodecList, Context, Frame, Kind, Pass, Transform, decoded_guess,
    intermediate_limit, peel, too_small,
};
use crate::json::{Configuration, integer};
use crate::memory::{self, grow, grow_until};
use crate::representation::Representation;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The member of the configuration that holds the list of codecs.
const LIST: &str = "codecs";

#[derive(Debug)]
struct Conditional {
    inner: CodecList,
    header_size: usize,
}

/// `{"codecs", "header_bits"}`: the second is a multiple of 8, and the fewest that there can be if it is missing.
pub(super) fn parse(mut configuration: Configuration, context: &Context) -> Result<Arc<dyn Codec>> {
    let codecs = configuration.required(LIST)?;
    let header_bits = configuration.optional("header_bits");
    configuration.finish()?;
    let inner = CodecList::from_json(LIST, &codecs, &context.inside()?)?;
    let count = codecs.as_array().map_or(0, Vec::len);
    let header_size = match header_bits {
        None => count.div_ceil(8),
        Some(value) => {
            let bits = integer("header_bits", &value, count as i128, i128::from(u32::MAX))?;
            if bits % 8 != 0 {
                return Err(Error::metadata(format!("header_bits is {bits}, not a multiple of 8")));
            }
            (bits / 8) as usize
        }
    };
    Ok(Arc::new(Conditional { inner, header_size }))
}

impl Codec for Conditional {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        let header_bits = ("header_bits".to_owned(), json!(8 * self.header_size as u64));
        Some(Map::from_iter([(LIST.to_owned(), self.inner.to_json()), header_bits]))
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let inner = self.inner.bind(decoded.clone()).map_err(|error| error.in_list(LIST))?;
        let warnings = inner.warnings_within(LIST).collect();
        let bound = BoundConditional { inner, header_size: self.header_size };
        Ok(Binding { warnings, ..Binding::compressor(decoded, Arc::new(bound)) })
    }
}

#[derive(Debug)]
struct BoundConditional {
    inner: BoundCodecs,
    header_size: usize,
}

/// How a codec decodes: it counts what does not fit, or it does not.
type DecodeFn = fn(&dyn Transform, &[u8], &mut [u8], &mut Call<'_>) -> Result<usize>;

impl BoundConditional {
    /// The codecs inside; those that are unknown and need not be understood are never applied here.
    fn applied(&self) -> impl DoubleEndedIterator<Item = (usize, &Binding)> {
        self.inner.codecs().iter().enumerate().filter(|(_, bound)| !matches!(bound.pass, Pass::Reshape))
    }

    fn blame(&self, index: usize, error: Error) -> Error {
        self.inner.list().codec(index).blame(error).in_list(LIST).at_element(None)
    }

    /// The chunk, encoded by all codecs one after the other.
    fn encode_all(&self, decoded: &[u8], call: &mut Call<'_>) -> Result<Vec<u8>> {
        let mut current: Option<Vec<u8>> = None;
        for (index, bound) in self.applied() {
            let input = current.as_deref().unwrap_or(decoded);
            let encoded = encode_one(bound, input, &mut call.inside(index));
            current = Some(encoded.map_err(|error| self.blame(index, error))?);
        }
        current.map_or_else(|| memory::to_vec(decoded), Ok)
    }

    /// Undoes the codecs that were applied to a chunk. `last` is how the last of them decodes into memory of the caller.
    fn decode_all(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>, last: DecodeFn) -> Result<usize> {
        let (header, payload) = self.header(encoded)?;
        let mut applied = self.inner.codecs().iter().enumerate().filter(|(index, _)| is_set(header, *index));
        let Some((first, bound)) = applied.next() else { return copy(payload, decoded) };
        let mut current: Option<Vec<u8>> = None;
        for (index, bound) in applied.rev() {
            let input = current.as_deref().unwrap_or(payload);
            let limit = self.limit(index, decoded.len() as u64);
            let decoded = decode_one(bound, input, limit, &mut call.inside(index));
            current = Some(decoded.map_err(|error| match error.status() {
                // What the stream says of its size is not the size of the chunk.
                Status::BufferTooSmall => too_small(),
                _ => self.blame(index, error),
            })?);
        }
        let input = current.as_deref().unwrap_or(payload);
        let call = &mut call.inside(first);
        let size = match &bound.pass {
            Pass::Frame(frame) => peel(&**frame, input, call).and_then(|payload| copy(&input[payload], decoded)),
            Pass::Transform(transform) => last(&**transform, input, decoded, call),
            _ => Err(unknown_codec()),
        };
        size.map_err(|error| self.blame(first, error))
    }

    /// The bits of a chunk, and what follows them.
    fn header<'a>(&self, encoded: &'a [u8]) -> Result<(&'a [u8], &'a [u8])> {
        let (header, payload) = encoded.split_at_checked(self.header_size).ok_or_else(|| {
            Error::corrupt(format!("the chunk has {} bytes, its header takes {}", encoded.len(), self.header_size))
        })?;
        let count = self.inner.codecs().len();
        match (count..8 * header.len()).find(|bit| is_set(header, *bit)) {
            Some(bit) => Err(Error::corrupt(format!("bit {bit} of the header is set, but there are {count} codecs"))),
            None => Ok((header, payload)),
        }
    }

    /// The most bytes that may enter the codec of this index on encode, if this many enter the first.
    fn limit(&self, index: usize, decoded_size: u64) -> u64 {
        let mut most = decoded_size;
        for (_, bound) in self.applied().take_while(|(before, _)| *before < index) {
            most = most.max(encoded_bound(bound, most).unwrap_or(u64::MAX));
        }
        intermediate_limit(most)
    }
}

impl Transform for BoundConditional {
    fn inner_codecs(&self) -> Option<(&'static str, &BoundCodecs)> {
        Some((LIST, &self.inner))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        let all = self.encode_all(decoded, call)?;
        let is_smaller = all.len() < decoded.len();
        let payload = if is_smaller { &all } else { decoded };
        let size = self.header_size + payload.len();
        let (header, rest) = encoded.get_mut(..size).ok_or_else(too_small)?.split_at_mut(self.header_size);
        header.fill(0);
        for (index, _) in self.applied().filter(|_| is_smaller) {
            header[index / 8] |= 1 << (index % 8);
        }
        rest.copy_from_slice(payload);
        Ok(size)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        self.decode_all(encoded, decoded, call, |codec, input, decoded, call| codec.decode(input, decoded, call))
    }

    fn decode_fitting(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        self.decode_all(encoded, decoded, call, |codec, input, decoded, call| {
            codec.decode_fitting(input, decoded, call)
        })
    }

    fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        decoded_size.checked_add(self.header_size as u64)
    }
}

fn is_set(header: &[u8], bit: usize) -> bool {
    header[bit / 8] >> (bit % 8) & 1 == 1
}

fn frame_sizes(frame: &dyn Frame) -> Option<(usize, usize)> {
    usize::try_from(frame.leading_size()).ok().zip(usize::try_from(frame.trailing_size()).ok())
}

fn encoded_bound(bound: &Binding, decoded_size: u64) -> Option<u64> {
    match &bound.pass {
        Pass::Frame(frame) => decoded_size.checked_add(frame.leading_size())?.checked_add(frame.trailing_size()),
        Pass::Transform(transform) => transform.encoded_bound(decoded_size),
        _ => Some(decoded_size),
    }
}

fn encode_one(bound: &Binding, decoded: &[u8], call: &mut Call<'_>) -> Result<Vec<u8>> {
    match &bound.pass {
        Pass::Frame(frame) => {
            let (leading, trailing) = frame_sizes(&**frame).ok_or_else(Error::out_of_memory)?;
            let size = leading.checked_add(decoded.len()).and_then(|size| size.checked_add(trailing));
            let mut encoded = Vec::new();
            grow(&mut encoded, size.ok_or_else(Error::out_of_memory)?)?;
            let (before, rest) = encoded.split_at_mut(leading);
            let (chunk, after) = rest.split_at_mut(decoded.len());
            chunk.copy_from_slice(decoded);
            frame.write(chunk, before, after, call)?;
            Ok(encoded)
        }
        Pass::Transform(transform) => {
            let size = decoded.len() as u64;
            let bound = if transform.has_encoded_bound(size) {
                transform.encoded_bound(size)
            } else {
                Some(intermediate_limit(size))
            };
            let bound = bound.ok_or_else(Error::out_of_memory)?;
            growing(bound, u64::MAX, |encoded| transform.encode(decoded, encoded, call))
        }
        _ => Err(Error::internal("a codec among bytes is neither a frame nor a transform")),
    }
}

fn decode_one(bound: &Binding, encoded: &[u8], limit: u64, call: &mut Call<'_>) -> Result<Vec<u8>> {
    match &bound.pass {
        Pass::Frame(frame) => memory::to_vec(&encoded[peel(&**frame, encoded, call)?]),
        Pass::Transform(transform) => {
            let guess = decoded_guess(encoded.len(), limit);
            growing(guess, limit, |decoded| transform.decode_fitting(encoded, decoded, call))
        }
        _ => Err(unknown_codec()),
    }
}

fn unknown_codec() -> Error {
    Error::unsupported("a codec that is unknown was applied to this chunk")
}

/// Copies all bytes to the beginning of `decoded`; returns their number.
fn copy(bytes: &[u8], decoded: &mut [u8]) -> Result<usize> {
    let capacity = decoded.len();
    let too_small = || Error::buffer_too_small("decoded_capacity", capacity, bytes.len() as u64);
    decoded.get_mut(..bytes.len()).ok_or_else(too_small)?.copy_from_slice(bytes);
    Ok(bytes.len())
}

/// The output of `work`, whose size it returns, in as much memory as it needs up to a limit.
fn growing(capacity: u64, limit: u64, work: impl FnMut(&mut [u8]) -> Result<usize>) -> Result<Vec<u8>> {
    let mut output = Vec::new();
    let size = grow_until(&mut output, capacity, limit, work)?;
    output.truncate(size);
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{CallOptions, Contexts};
    use crate::representation::ByteSize;

    fn bind(configuration: &Value, size: ByteSize) -> Result<Binding> {
        let members = configuration.as_object().cloned();
        let context = Context::new(crate::codec::built_in());
        let bytes = Representation::Bytes(crate::representation::BytesRepresentation { size, element_size: Some(2) });
        parse(Configuration::new(members), &context)?.bind(&bytes)
    }

    fn call<T>(work: impl FnOnce(&mut Call<'_>) -> T) -> T {
        let (options, mut contexts) = (CallOptions::default(), Contexts::default());
        work(&mut Call { options: &options, hooks: None, contexts: &mut contexts })
    }

    fn transform(configuration: &Value, size: usize) -> Arc<dyn Transform> {
        match bind(configuration, ByteSize::Exact(size as u64)).unwrap().pass {
            Pass::Transform(transform) => transform,
            other => panic!("{other:?}"),
        }
    }

    fn decode(transform: &dyn Transform, encoded: &[u8], size: usize) -> Result<Vec<u8>> {
        let mut decoded = vec![0xA5; size];
        let found = call(|call| transform.decode(encoded, &mut decoded, call))?;
        decoded.truncate(found);
        Ok(decoded)
    }

    fn codecs() -> Value {
        json!([
            {"name": "numcodecs.shuffle", "configuration": {"elementsize": 2}},
            {"name": "zstd", "configuration": {"level": 3, "checksum": false}},
            "crc32c",
        ])
    }

    #[test]
    fn all_codecs_or_none_are_applied_and_a_chunk_never_grows_by_more_than_the_header() {
        let (even, noise): (Vec<u8>, Vec<u8>) =
            ((0..1000_u32).map(|index| (index / 100) as u8).collect(), (0..1000_u32).map(hash).collect());
        let configuration = json!({"codecs": codecs(), "header_bits": 16});
        for (decoded, bits) in [(&even, 0b111), (&noise, 0), (&Vec::new(), 0)] {
            let transform = transform(&configuration, decoded.len());
            assert_eq!(transform.encoded_bound(decoded.len() as u64), Some(decoded.len() as u64 + 2));
            let mut encoded = vec![0xA5; decoded.len() + 2];
            let size = call(|call| transform.encode(decoded, &mut encoded, call)).unwrap();
            assert_eq!(encoded[..2], [bits, 0]);
            assert_eq!(decode(&*transform, &encoded[..size], decoded.len()).as_ref(), Ok(decoded));
        }
    }

    fn hash(index: u32) -> u8 {
        (index.wrapping_mul(0x9E37_79B1) ^ index.wrapping_mul(0x85EB_CA77) >> 13)
            .wrapping_mul(0xC2B2_AE3D)
            .to_be_bytes()[0]
    }

    /// The bits of the specification, put together by hand from the codecs that they name.
    #[test]
    fn every_choice_of_codecs_decodes() {
        let decoded: Vec<u8> = (0..600_u32).map(|index| (index / 7) as u8).collect();
        let list = codecs();
        let whole = transform(&json!({"codecs": list}), decoded.len());
        for bits in 0..8_u8 {
            let mut payload = decoded.clone();
            for index in (0..3).filter(|index| bits >> index & 1 == 1) {
                let context = Context::new(crate::codec::built_in());
                let single = CodecList::from_json(LIST, &json!([list[index]]), &context).unwrap();
                let bytes =
                    crate::representation::BytesRepresentation { size: ByteSize::Unknown, element_size: Some(2) };
                let bound = single.bind(Representation::Bytes(bytes)).unwrap();
                payload = call(|call| encode_one(&bound.codecs()[0], &payload, call)).unwrap();
            }
            let encoded = [&[bits][..], &payload].concat();
            assert_eq!(decode(&*whole, &encoded, 600).as_ref(), Ok(&decoded), "{bits:03b}");
            for size in 0..encoded.len() {
                // The chain refuses what has another size than the chunk.
                if let Ok(found) = decode(&*whole, &encoded[..size], 600) {
                    assert!(bits & 0b010 == 0 && found.len() < 600, "{bits:03b}, {size} bytes");
                }
            }
        }
        let error = decode(&*whole, &[0b1000, 1, 2], 600).unwrap_err();
        assert_eq!((error.status(), error.to_string().contains("bit 3")), (Status::CorruptData, true), "{error}");
    }

    #[test]
    fn a_codec_inside_gets_more_room_than_was_guessed() {
        let decoded = vec![7_u8; 1 << 20];
        for (name, configuration) in [("gzip", json!({"level": 1})), ("zstd", json!({"level": 1, "checksum": false}))] {
            let list = json!([{"name": name, "configuration": configuration}]);
            let transform = transform(&json!({"codecs": list}), decoded.len());
            let mut encoded = vec![0; decoded.len() + 1];
            let size = call(|call| transform.encode(&decoded, &mut encoded, call)).unwrap();
            assert!(decoded_guess(size, u64::MAX) < decoded.len() as u64, "{name}: {size} bytes");
            assert_eq!(decode(&*transform, &encoded[..size], decoded.len()).as_ref(), Ok(&decoded), "{name}");
        }
    }

    /// Decoding stops where the chunk is full: the rest of the stream, here garbage, is not read.
    #[test]
    fn the_rest_of_a_stream_that_is_too_long_is_not_decoded() {
        let zeros = vec![0; 1 << 20];
        for name in ["gzip", "numcodecs.zlib", "numcodecs.bz2"] {
            let list = json!([{"name": name, "configuration": {"level": 9}}]);
            let single = CodecList::from_json(LIST, &list, &Context::new(crate::codec::built_in())).unwrap();
            let bytes = crate::representation::BytesRepresentation { size: ByteSize::Unknown, element_size: Some(1) };
            let bound = single.bind(Representation::Bytes(bytes)).unwrap();
            let stream = call(|call| encode_one(&bound.codecs()[0], &zeros, call)).unwrap();
            let cut = &stream[..stream.len() - 1];
            let (mut decoded, encoded) = ([0; 16], [&[1], cut].concat());
            let transform = transform(&json!({"codecs": list}), 16);
            let error = call(|call| transform.decode_fitting(&encoded, &mut decoded, call)).unwrap_err();
            assert_eq!(error.status(), Status::BufferTooSmall, "{name}: {error}");
        }
    }

    /// Without holding what does not fit: the codec inside counts it.
    #[test]
    fn the_size_of_a_chunk_that_does_not_fit_is_counted() {
        let zeros = vec![0; 1 << 20];
        for list in [json!(["crc32c"]), json!([{"name": "gzip", "configuration": {"level": 9}}])] {
            let transform = transform(&json!({"codecs": list, "header_bits": 8}), zeros.len());
            let mut encoded = vec![0; zeros.len() + 5];
            let size = call(|call| transform.encode(&zeros, &mut encoded, call)).unwrap();
            let error = decode(&*transform, &encoded[..size], 16).unwrap_err();
            assert_eq!((error.status(), error.needed_capacity()), (Status::BufferTooSmall, Some(zeros.len())));
        }
    }

    #[test]
    fn what_a_header_cannot_have_is_refused() {
        for (bits, text) in [(json!(12), "multiple of 8"), (json!(0), "header_bits is 0"), (json!("8"), "header_bits")]
        {
            let configuration = json!({"codecs": codecs(), "header_bits": bits});
            let error = bind(&configuration, ByteSize::Unknown).unwrap_err();
            assert_eq!(error.status(), Status::InvalidMetadata);
            assert!(error.to_string().contains(text), "{error}");
        }
        assert!(bind(&json!({"codecs": ["bytes"]}), ByteSize::Unknown).is_err(), "it takes no array->bytes codec");
        let nine: Vec<Value> = (0..9).map(|_| json!("crc32c")).collect();
        let context = Context::new(crate::codec::built_in());
        let members = json!({"codecs": nine}).as_object().cloned();
        let codec = parse(Configuration::new(members), &context).unwrap();
        assert_eq!(codec.configuration().unwrap()["header_bits"], 16);
    }
}
