//! Codecs of the host: the traits of the library's own codecs, implemented by the host's functions.
//!
//! Three owners: a [`Host`] has the functions and `user_data`, which it frees once the registry and all chains that use
//! it are gone; a [`HostCodec`] is such a codec with a configuration; a [`State`] is the result of one `bind`.

use super::codec::{Bind, Code, Free, ZCODEC_CODEC_TOO_SMALL, zcodec_codec, zcodec_sink};
use super::kind::read_kind;
use crate::data_type::DataType;
use crate::error::{Error, Result, Status};
use crate::float_environment::with_host_environment;
use crate::interface::{ASKS_FOR_MORE, Binding, Call, Codec, Kind, Pass, Transform, too_small};
use crate::json::{self, Configuration, shown};
use crate::memory;
use crate::representation::{ArrayRepresentation, ByteSize, Representation};
use serde_json::{Map, Value};
use std::ffi::c_void;
use std::sync::Arc;

/// A codec that asks for a larger buffer without saying how large gets about this many times its input and
/// [`ASKING_SLACK`] bytes together: a codec that never stops asking must not take all memory.
const MAX_ASKING_RATIO: usize = 4096;
const ASKING_SLACK: usize = 64 << 10;

/// The functions of a codec and their data.
#[derive(Debug)]
pub(super) struct Host {
    kind: Kind,
    user_data: *mut c_void,
    free_user_data: Option<Free>,
    bind: Bind,
    free_state: Option<Free>,
    encoded_bound: Option<unsafe extern "C" fn(*mut c_void, u64) -> u64>,
    encode: Code,
    decode: Code,
}

// SAFETY: the header asks that the functions and `user_data` are fit for every thread that uses or frees a chain.
unsafe impl Send for Host {}
// SAFETY: as above.
unsafe impl Sync for Host {}

impl Host {
    /// # Errors
    /// A member has an invalid value; `free_user_data` is not called.
    pub(super) fn new(codec: &zcodec_codec) -> Result<Arc<Self>> {
        if codec.reserved != 0 {
            return Err(Error::argument(format!("reserved of the codec is {}, expected 0", codec.reserved)));
        }
        let missing = |name: &'static str| move || Error::argument(format!("{name} of the codec is NULL"));
        Ok(Arc::new(Self {
            kind: read_kind(codec.kind)?,
            bind: codec.bind.ok_or_else(missing("bind"))?,
            encode: codec.encode.ok_or_else(missing("encode"))?,
            decode: codec.decode.ok_or_else(missing("decode"))?,
            free_state: codec.free_state,
            encoded_bound: codec.encoded_bound,
            user_data: codec.user_data,
            free_user_data: codec.free_user_data,
        }))
    }

    /// The codec with this configuration.
    pub(super) fn codec(self: &Arc<Self>, configuration: Configuration) -> Arc<dyn Codec> {
        Arc::new(HostCodec { host: Arc::clone(self), configuration: configuration.into_members() })
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(free) = self.free_user_data {
            // SAFETY: the host gave this function for this pointer, and it is called once.
            with_host_environment(|| unsafe { free(self.user_data) });
        }
    }
}

/// A codec of the host with a configuration.
#[derive(Debug)]
struct HostCodec {
    host: Arc<Host>,
    configuration: Option<Map<String, Value>>,
}

impl Codec for HostCodec {
    fn kind(&self) -> Kind {
        self.host.kind
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        self.configuration.clone()
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let (mut state, output) = self.bind_state(decoded)?;
        let encoded = match self.host.kind {
            Kind::ArrayToArray => read_array(&output).map(Representation::Array),
            Kind::ArrayToBytes | Kind::BytesToBytes => read_size(&output).map(|size| decoded.to_bytes(size)),
        };
        let mut encoded = encoded.map_err(|error| in_output(error, &output))?;
        state.encoded_size = encoded.size();
        if let Representation::Bytes(bytes) = &mut encoded
            && bytes.size.size_when_written().is_none()
        {
            bytes.size = decoded.size().bound_by(|size| state.encoded_bound(size));
        }
        Ok(Binding::new(encoded, Pass::Transform(Arc::new(state))))
    }
}

impl HostCodec {
    /// Calls `bind`: the state, and what leaves on encode.
    fn bind_state(&self, decoded: &Representation) -> Result<(State, Value)> {
        let configuration = self
            .configuration
            .as_ref()
            .map_or_else(|| "{}".to_owned(), |members| Value::Object(members.clone()).to_string());
        let input = decoded.to_json().to_string();
        let (mut output, mut message) = (zcodec_sink::default(), zcodec_sink::default());
        let mut pointer = std::ptr::null_mut();
        // SAFETY: the texts are passed with their own lengths, the rest lives until the function returns.
        let code = with_host_environment(|| unsafe {
            (self.host.bind)(
                self.host.user_data,
                configuration.as_ptr().cast(),
                configuration.len(),
                input.as_ptr().cast(),
                input.len(),
                &raw mut output,
                &raw mut message,
                &raw mut pointer,
            )
        });
        if code != 0 {
            return Err(Error::metadata(said("bind", code, message)));
        }
        // A failure from here on frees the state.
        let state = State {
            host: Arc::clone(&self.host),
            pointer,
            decoded_size: decoded.size(),
            encoded_size: ByteSize::Unknown,
            narrow_type: decoded.array().ok().map(ArrayRepresentation::data_type).filter(|it| it.is_narrow()).cloned(),
        };
        let output = output.into_text()?;
        let output = json::parse("what bind wrote to output", &output).map_err(to_callback_failed)?;
        Ok((state, output))
    }
}

/// The host's message about its failure.
fn said(function: &str, code: i32, message: zcodec_sink) -> String {
    let message = message.into_message();
    if message.is_empty() {
        format!("{function} returned {code}")
    } else {
        format!("{message} ({function} returned {code})")
    }
}

fn failed(message: String) -> Error {
    Error::new(Status::CallbackFailed, message)
}

fn to_callback_failed(error: Error) -> Error {
    error.with_status(Status::CallbackFailed).with_code("")
}

fn in_output(error: Error, output: &Value) -> Error {
    to_callback_failed(error.with_context(&format!("bind wrote the output {}: ", shown(output))))
}

fn read_array(output: &Value) -> Result<ArrayRepresentation> {
    ArrayRepresentation::from_json(output).map_err(|error| error.with_context("expected an array: "))
}

/// `{"size": n}`, or `{"size": null}`, to which a bound may be added as zcodec_chain_output_json does.
fn read_size(output: &Value) -> Result<ByteSize> {
    let expected = || Error::metadata("expected {\"size\": n} or {\"size\": null}");
    let members = output.as_object().ok_or_else(expected)?;
    if members.keys().any(|member| !["size", "bound"].contains(&member.as_str())) {
        return Err(expected());
    }
    let number = |member: &str| match members.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(size) => json::integer(member, size, 0, i128::from(i64::MAX)).map(|size| Some(size as u64)),
    };
    match (members.contains_key("size"), number("size")?, number("bound")?) {
        (true, Some(size), _) => Ok(ByteSize::Exact(size)),
        (true, None, Some(bound)) => Ok(ByteSize::AtMost(bound)),
        (true, None, None) => Ok(ByteSize::Unknown),
        (false, ..) => Err(expected()),
    }
}

/// The result of a `bind`.
#[derive(Debug)]
struct State {
    host: Arc<Host>,
    pointer: *mut c_void,
    /// The size of what enters, if known.
    decoded_size: ByteSize,
    /// The size of what leaves, as `bind` gave it.
    encoded_size: ByteSize,
    /// The type of the elements that enter, if they may have bits in memory that it lacks.
    narrow_type: Option<DataType>,
}

// SAFETY: the header asks that a state is fit for every thread that uses or frees the chain, and for several at once.
unsafe impl Send for State {}
// SAFETY: as above.
unsafe impl Sync for State {}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(free) = self.host.free_state {
            // SAFETY: `bind` made this pointer for this function, and it is called once.
            with_host_environment(|| unsafe { free(self.pointer) });
        }
    }
}

/// Where the host says how many bytes it wrote, until it does. A function that ends early, as callbacks of some
/// languages do, returns 0 without having set the size.
const NOT_SET: usize = usize::MAX;

/// The result of `encode` or `decode`.
enum Answer {
    /// This many bytes were written.
    Written(usize),
    /// The buffer is too small; the size that the function asks for, or 0.
    TooSmall(usize),
    /// Another number; the message.
    Refused(String),
}

impl State {
    fn run(&self, name: &str, function: Code, input: &[u8], output: &mut [u8], call: &Call<'_>) -> Answer {
        let (mut size, mut message) = (NOT_SET, zcodec_sink::default());
        // SAFETY: the slices are passed with their own lengths, the rest lives until the function returns.
        let code = with_host_environment(|| unsafe {
            function(
                self.pointer,
                call.options.call_data.0,
                input.as_ptr().cast(),
                input.len(),
                output.as_mut_ptr().cast(),
                output.len(),
                &raw mut size,
                &raw mut message,
            )
        });
        match code {
            0 => Answer::Written(size),
            ZCODEC_CODEC_TOO_SMALL => Answer::TooSmall(if size == NOT_SET { 0 } else { size }),
            code => Answer::Refused(said(name, code, message)),
        }
    }

    /// The most bytes that `decoded_size` bytes may encode to, according to `bind`, or else to `encoded_bound`.
    fn bound(&self, decoded_size: u64) -> Option<u64> {
        if let Some(size) = self.encoded_size.size_when_written() {
            return Some(size);
        }
        let bound = self.host.encoded_bound.map(|bound| {
            // SAFETY: `bind` made this pointer for this function.
            with_host_environment(|| unsafe { bound(self.pointer, decoded_size) })
        });
        bound.filter(|bound| *bound != u64::MAX).or(self.encoded_size.upper_bound())
    }
}

impl Transform for State {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        let capacity = encoded.len();
        let mut normalized;
        let decoded = match &self.narrow_type {
            Some(data_type) => {
                normalized = memory::to_vec(decoded)?;
                data_type.normalize(&mut normalized);
                &normalized
            }
            None => decoded,
        };
        match self.run("encode", self.host.encode, decoded, encoded, call) {
            Answer::Written(size) if size > capacity => Err(over_capacity("encode", size, capacity)),
            Answer::Written(size) => match self.encoded_size.size_when_written() {
                Some(expected) if expected != size as u64 => {
                    Err(failed(format!("encode wrote {size} bytes, but bind promised {expected}")))
                }
                _ => Ok(size),
            },
            Answer::TooSmall(size) => match self.bound(decoded.len() as u64) {
                Some(bound) if bound <= capacity as u64 => Err(failed(format!(
                    "encode asks for more than {capacity} bytes, but at most {bound} were promised"
                ))),
                _ => Err(match needs_more("encode", size, decoded.len(), capacity) {
                    // What the codec does not say is guessed, so that the chain can add the sizes of its frames.
                    error if error.status() == Status::BufferTooSmall && error.needed_capacity().is_none() => {
                        Error::buffer_too_small("the capacity", capacity, (capacity as u64).saturating_mul(2).max(64))
                    }
                    error => error,
                }),
            },
            Answer::Refused(message) => Err(Error::new(Status::OutOfRange, message).with_code("out_of_range")),
        }
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        let capacity = decoded.len();
        match self.run("decode", self.host.decode, encoded, decoded, call) {
            Answer::Written(size) if size > capacity => Err(over_capacity("decode", size, capacity)),
            Answer::Written(size) => {
                if let Some(data_type) = &self.narrow_type {
                    data_type.normalize(&mut decoded[..size]);
                }
                Ok(size)
            }
            Answer::TooSmall(_) if self.decoded_size == ByteSize::Exact(capacity as u64) => Err(too_small()),
            Answer::TooSmall(size) => Err(needs_more("decode", size, encoded.len(), capacity)),
            Answer::Refused(message) => Err(Error::corrupt(message)),
        }
    }

    fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        self.bound(decoded_size)
    }

    fn has_encoded_bound(&self, decoded_size: u64) -> bool {
        self.bound(decoded_size).is_some()
    }
}

fn over_capacity(function: &str, size: usize, capacity: usize) -> Error {
    failed(match size {
        NOT_SET => format!("{function} returned 0 without saying how many bytes it wrote"),
        _ => format!("{function} says that it wrote {size} bytes into {capacity}"),
    })
}

/// The error of a function that needs more than `capacity` bytes, and may say how many.
fn needs_more(function: &str, needed: usize, input_size: usize, capacity: usize) -> Error {
    // Callers at least double what was too small, so that asking for a little more each time ends here, too.
    if needed / 2 < capacity && capacity / MAX_ASKING_RATIO > input_size.saturating_add(ASKING_SLACK) {
        let message = format!("{function} still asks for more than {capacity} bytes for an input of {input_size}");
        return failed(message).with_code(ASKS_FOR_MORE);
    }
    if isize::try_from(needed).is_err() {
        return failed(format!(
            "{function} asks for {needed} bytes, which no memory has, for an input of {input_size}"
        ));
    }
    if needed > capacity { Error::buffer_too_small("the capacity", capacity, needed as u64) } else { too_small() }
}
