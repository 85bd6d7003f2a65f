//! The one error type of the library.
//!
//! A [`Status`] is for programs, the message for people. The code that finds a fault says what is wrong with which
//! value; the chain adds the codec, and a tiled pass adds the element.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The kind of a failure. There is a status for each way in which a program would react.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// A pointer that must not be NULL was NULL.
    NullArgument,
    /// A size, index or option of the call is wrong.
    InvalidArgument,
    /// The JSON or a codec's configuration is malformed.
    InvalidMetadata,
    /// Valid, but this codec, data type or combination is not supported.
    Unsupported,
    /// The output buffer is too small.
    BufferTooSmall,
    /// The size is not known in advance.
    UnknownSize,
    /// The encoded bytes cannot be the output of this chain, or a padding check rejected them.
    CorruptData,
    /// An element cannot be represented in the target type.
    OutOfRange,
    /// A padding callback or the executor failed, or a codec of the host broke its rules.
    CallbackFailed,
    /// Memory could not be allocated.
    OutOfMemory,
    /// A bug in this library.
    Internal,
}

/// The place of a codec, for errors and hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodecPlace {
    /// The member of the enclosing codec's configuration that holds the list, such as `index_codecs`; `None` for the
    /// codecs of the chain itself.
    pub list: Option<&'static str>,
    /// The codec's index in its list, from 0.
    pub index: usize,
    /// The codec's name; empty if none can be read.
    pub name: Arc<str>,
}

impl CodecPlace {
    /// A codec of the chain itself.
    pub fn new(index: usize, name: &Arc<str>) -> Self {
        Self { list: None, index, name: Arc::clone(name) }
    }

    /// The same error with the place of this codec.
    pub fn blame(&self, error: Error) -> Error {
        error.in_codec(self.clone())
    }
}

/// The code of a failure of the executor. No codec is at fault.
pub(crate) const EXECUTOR: &str = "executor";

/// A failure: its kind, its place, and a message that shows the values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    status: Status,
    /// The reason for programs: a word that never changes; empty if there is none.
    code: &'static str,
    message: Cow<'static, str>,
    /// The places of the codecs at fault, outermost first: a codec may hold a chain of its own.
    path: Vec<CodecPlace>,
    element_index: Option<u64>,
    needed_capacity: Option<usize>,
}

/// The result of everything that can fail here.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of this kind with this message.
    pub fn new(status: Status, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code: "", message: message.into(), path: Vec::new(), element_index: None, needed_capacity: None }
    }

    /// [`Status::InvalidMetadata`]
    pub fn metadata(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Status::InvalidMetadata, message).with_code("configuration")
    }

    /// [`Status::InvalidArgument`]
    pub fn argument(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Status::InvalidArgument, message)
    }

    /// [`Status::Unsupported`]
    pub fn unsupported(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Status::Unsupported, message)
    }

    /// [`Status::CorruptData`]
    pub fn corrupt(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Status::CorruptData, message).with_code("corrupt_data")
    }

    /// [`Status::Internal`]
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Status::Internal, message)
    }

    /// [`Status::OutOfMemory`]. Making this error takes no memory.
    pub fn out_of_memory() -> Self {
        Self::new(Status::OutOfMemory, "the memory that this chunk needs could not be allocated")
    }

    /// [`Status::OutOfRange`] at an element; the message continues "element N ", as in "is 300, outside uint8".
    pub fn out_of_range(element_index: usize, message: impl Into<Cow<'static, str>>) -> Self {
        let mut error = Self::new(Status::OutOfRange, message).with_code("out_of_range");
        error.element_index = Some(element_index as u64);
        error
    }

    /// [`Status::BufferTooSmall`]; `needed` is the capacity that is needed. [`Status::OutOfMemory`] if no buffer can have
    /// it.
    pub fn buffer_too_small(what: &str, capacity: usize, needed: u64) -> Self {
        let Ok(needed) = usize::try_from(needed) else { return Self::out_of_memory() };
        let mut error =
            Self::new(Status::BufferTooSmall, format!("{what} is {capacity}, too small for this chunk; try {needed}"));
        error.needed_capacity = Some(needed);
        error
    }

    /// The kind of the failure.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The reason for programs: a word that never changes, or an empty string. `docs/errors.md` lists the words.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The same error with a [`code`](Self::code).
    #[must_use]
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.code = code;
        self
    }

    /// The index of the codec at fault in the chain that was called, if a codec is at fault; of nested ones, the
    /// outermost.
    pub fn codec_index(&self) -> Option<usize> {
        self.path.first().map(|place| place.index)
    }

    /// The place of the codec at fault: a JSON Pointer (RFC 6901) into the codecs of the chain; empty if no codec is at
    /// fault.
    pub fn pointer(&self) -> String {
        self.path.iter().fold(String::new(), |pointer, place| match place.list {
            Some(list) => format!("{pointer}/configuration/{list}/{}", place.index),
            None => format!("{pointer}/{}", place.index),
        })
    }

    /// The first element at fault, counted in C order in the whole array that enters the codec of
    /// [`codec_index`](Self::codec_index) on encode.
    pub fn element_index(&self) -> Option<u64> {
        self.element_index
    }

    /// Whether the bytes or elements are at fault, so that another part of the chunk may have no fault.
    pub fn is_of_data(&self) -> bool {
        matches!(self.status, Status::CorruptData | Status::OutOfRange | Status::Unsupported)
    }

    /// Whether no codec is at fault: memory is lacking, or the executor has failed.
    pub(crate) fn is_of_no_codec(&self) -> bool {
        self.status == Status::OutOfMemory || self.code == EXECUTOR
    }

    /// The capacity that is needed, for [`Status::BufferTooSmall`].
    pub fn needed_capacity(&self) -> Option<usize> {
        self.needed_capacity
    }

    /// The same error, found by this codec of a chain, unless no codec is at fault.
    #[must_use]
    pub fn in_codec(mut self, codec: CodecPlace) -> Self {
        if !self.is_of_no_codec() {
            self.path.insert(0, codec);
        }
        self
    }

    /// The same error, for a chain that a codec holds in this member of its configuration.
    #[must_use]
    pub fn in_list(mut self, list: &'static str) -> Self {
        if let Some(place) = self.path.first_mut() {
            place.list = Some(list);
        }
        self
    }

    /// The same error about another element, or about none.
    #[must_use]
    pub fn at_element(mut self, element_index: Option<u64>) -> Self {
        self.element_index = element_index;
        self
    }

    /// The same error, for a tile that begins at this element.
    #[must_use]
    pub fn after_elements(mut self, count: u64) -> Self {
        self.element_index = self.element_index.map(|index| index + count);
        self
    }

    /// The same error with another status: the fault of a fill value, for example, is one of the metadata.
    #[must_use]
    pub fn with_status(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    /// The same error without its element, and with words before its message.
    #[must_use]
    pub fn with_context(mut self, context: &str) -> Self {
        self.element_index = None;
        self.message = format!("{context}{}", self.message).into();
        self
    }
}

/// The characters of a codec's name that a message shows: names of the metadata may have any length.
const MAX_NAME: usize = 100;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for place in &self.path {
            write!(f, "{}[{}]", place.list.unwrap_or("codecs"), place.index)?;
            match place.name.char_indices().nth(MAX_NAME) {
                Some((end, _)) => write!(f, " {:?}...", &place.name[..end])?,
                None if place.name.is_empty() => {}
                None => write!(f, " {:?}", place.name)?,
            }
            f.write_str(": ")?;
        }
        if let Some(index) = self.element_index {
            write!(f, "element {index} ")?;
        }
        f.write_str(&self.message)
    }
}
