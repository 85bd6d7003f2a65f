//! What a chain says about itself.

use super::Chain;
use super::plan::EncodedSize;
use crate::error::Result;
use crate::interface::{Kind, Warning};
use crate::representation::{ArrayRepresentation, Representation};
use serde_json::{Value, json};

impl Chain {
    /// The size of a decoded chunk in bytes; `None` for a chain of bytes->bytes codecs.
    pub fn decoded_size(&self) -> Option<u64> {
        self.array_sizes.map(|(size, _)| size)
    }

    /// A capacity that always suffices for encoding this many bytes; `None` if there is none, or if it exceeds what
    /// memory can have.
    pub fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        match self.encoded_size(decoded_size) {
            EncodedSize::AtMost(bound) => Some(bound),
            EncodedSize::Unknown | EncodedSize::TooLarge => None,
        }
    }

    /// Whether a bound on the encoded size of this many bytes is known in advance; a codec of the host may have none.
    pub fn has_encoded_bound(&self, decoded_size: u64) -> bool {
        !matches!(self.encoded_size(decoded_size), EncodedSize::Unknown)
    }

    /// The representation that enters on encode.
    pub fn input(&self) -> &Representation {
        self.codecs.representation(0)
    }

    /// The representation that leaves on encode.
    pub fn output(&self) -> &Representation {
        self.codecs.output()
    }

    /// The representations before, between and after the codecs: one more than there are codecs.
    pub fn representations(&self) -> Vec<&Representation> {
        (0..=self.codec_count()).map(|index| self.codecs.representation(index)).collect()
    }

    /// The number of codecs.
    pub fn codec_count(&self) -> usize {
        self.codecs.codecs().len()
    }

    /// The codecs in canonical form.
    pub fn codecs_json(&self) -> Value {
        self.codecs.list().to_json()
    }

    /// The kind of the chain.
    pub fn kind(&self) -> Kind {
        match (self.input(), self.output()) {
            (Representation::Array(_), Representation::Array(_)) => Kind::ArrayToArray,
            (Representation::Array(_), Representation::Bytes(_)) => Kind::ArrayToBytes,
            (Representation::Bytes(_), _) => Kind::BytesToBytes,
        }
    }

    /// Warnings about valid metadata, each with the index of its codec.
    pub fn warnings(&self) -> impl Iterator<Item = (usize, &Warning)> {
        self.codecs.warnings()
    }

    /// The same as a JSON list.
    pub fn warnings_json(&self) -> Value {
        self.warnings()
            .map(|(index, warning)| json!({"codec_index": index, "code": warning.code, "message": warning.message}))
            .collect()
    }

    /// The shape of a decoded chunk.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported) for a bytes->bytes chain.
    pub fn shape(&self) -> Result<&[u64]> {
        self.array("shape").map(ArrayRepresentation::shape)
    }

    /// The size of a decoded element in bytes.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported) for a bytes->bytes chain.
    pub fn element_size(&self) -> Result<usize> {
        Ok(self.array("elements")?.data_type().size())
    }

    /// The smallest box that is worth decoding alone: 1 along each dimension if each element decodes by itself; the
    /// block of zfp at a fixed rate; the chunk if the whole of it must be decoded.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported) for a bytes->bytes chain.
    pub fn granularity(&self) -> Result<Vec<u64>> {
        let shape = self.shape()?;
        if self.plan.steps.last().is_some_and(|step| self.checks_frames(step)) {
            return Ok(shape.to_vec());
        }
        Ok(self.plan.granularity().filter(|part| part.len() == shape.len()).unwrap_or_else(|| shape.to_vec()))
    }
}
