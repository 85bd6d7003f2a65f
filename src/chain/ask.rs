//! What a chain says about itself.

use super::Chain;
use super::plan::{EncodedSize, Operation};
use crate::error::Result;
use crate::interface::{Direction, Kind, Warning};
use crate::parallel::worth_using;
use crate::representation::{ArrayRepresentation, Representation};
use serde_json::{Value, json};

impl Chain {
    /// The size of a decoded chunk in bytes; `None` for a chain of bytes->bytes codecs.
    pub fn decoded_size(&self) -> Option<u64> {
        self.array_sizes.map(|(size, _)| size)
    }

    /// A capacity that always suffices for encoding this many bytes; `None` if there is none, if it exceeds what memory
    /// can have, or if the format of a codec cannot hold as many.
    pub fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        match self.encoded_size(decoded_size) {
            EncodedSize::AtMost(bound) if self.plan.check_decoded_size(decoded_size).is_ok() => Some(bound),
            _ => None,
        }
    }

    /// Whether a bound on the encoded size of this many bytes is known in advance; a codec of the host may have none.
    pub fn has_encoded_bound(&self, decoded_size: u64) -> bool {
        !matches!(self.encoded_size(decoded_size), EncodedSize::Unknown)
    }

    /// Into how many parts the work on a chunk is divided at most, if there are as many workers. It is 1 if one step is
    /// the work of one worker, or if the chunk is too small to be worth a second one.
    pub(crate) fn part_count(&self, direction: Direction) -> u64 {
        let counts = self.plan.steps.iter().map(|step| match &step.operation {
            Operation::Copy | Operation::Elements(_) => u64::MAX,
            Operation::Transform(_, transform) => transform.part_count(direction),
            Operation::Shard(_, shard) => shard.chunk_count().max(shard.inner.part_count(direction)),
            Operation::N5Block(_, block) => block.inner.part_count(direction),
        });
        let size = self.decoded_size().and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX);
        counts.min().unwrap_or(1).min(worth_using(size).get() as u64)
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

    /// [`warnings`](Self::warnings) as a JSON list.
    pub fn warnings_json(&self) -> Value {
        self.warnings()
            .map(|(index, Warning { code, message, path })| {
                let mut found = json!({"codec_index": index, "code": code, "message": message});
                if !path.is_empty() {
                    found["path"] = json!(format!("/{index}{path}"));
                }
                found
            })
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
    /// block of zfp at a fixed rate; the chunk if the whole of it must be decoded. No size is 0.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported) for a bytes->bytes chain.
    pub fn granularity(&self) -> Result<Vec<u64>> {
        let shape = self.shape()?;
        let is_whole = self.plan.steps.last().is_some_and(|step| self.checks_frames(step));
        let part = if is_whole { None } else { self.plan.granularity().filter(|part| part.len() == shape.len()) };
        Ok(part.as_deref().unwrap_or(shape).iter().map(|size| (*size).max(1)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_divided_as_far_as_each_of_its_steps_and_its_size_allow() {
        let shard = |inner: &str| {
            format!(
                r#"[{{"name":"sharding_indexed","configuration":{{"chunk_shape":[2048,2048],"codecs":[{inner}],
                "index_codecs":[{{"name":"bytes","configuration":{{"endian":"little"}}}}]}}}}]"#
            )
        };
        let zfp = |mode: &str| format!(r#"[{{"name":"zfp","configuration":{{"mode":{mode}}}}}]"#);
        let gzip = r#""bytes",{"name":"gzip","configuration":{"level":1}}"#;
        // 24 MiB of uint8 are worth 96 workers, an inner chunk of 4 MiB 16.
        for (codecs, data_type, encode, decode) in [
            (r#"["bytes","crc32c"]"#.to_owned(), "uint8", 96, 96),
            (format!("[{gzip}]"), "uint8", 1, 1),
            (r#"["bytes","numcodecs.blosc"]"#.to_owned(), "uint8", 96, 96),
            (r#"["bytes",{"name":"numcodecs.blosc","configuration":{"clevel":0}}]"#.to_owned(), "uint8", 1, 96),
            (zfp(r#""reversible""#), "float32", 384, 1),
            (zfp(r#""fixed_rate","rate":8"#), "float32", 384, 384),
            (shard(gzip), "uint8", 6, 6),
            (shard(r#""bytes""#), "uint8", 16, 16),
        ] {
            let chain = |shape: &str| {
                let input = format!(r#"{{"data_type":"{data_type}","shape":{shape},"fill_value":0}}"#);
                Chain::new(codecs.as_bytes(), Some(input.as_bytes())).unwrap()
            };
            let found =
                [Direction::Encode, Direction::Decode].map(|direction| chain("[4096,6144]").part_count(direction));
            assert_eq!(found, [encode, decode], "{codecs}");
        }
        let small = br#"{"data_type":"uint8","shape":[511,1024],"fill_value":0}"#;
        let small = Chain::new(br#"["bytes","numcodecs.blosc"]"#, Some(small)).unwrap();
        assert_eq!(small.part_count(Direction::Decode), 1);
    }

    #[test]
    fn what_others_called_a_codec_is_read_and_gets_its_name() {
        for (list, name) in [
            (r#"{"name":"endian","configuration":{"endian":"little"}}"#, "bytes"),
            (r#""squeeze","bytes""#, "zarrs.squeeze"),
        ] {
            let input = r#"{"data_type":"uint8","shape":[1,3],"fill_value":0}"#;
            let chain = Chain::new(format!("[{list}]").as_bytes(), Some(input.as_bytes())).unwrap();
            assert_eq!(chain.codecs_json()[0]["name"], name, "{list}");
        }
    }

    #[test]
    fn a_chunk_of_one_element_keeps_a_dimension() {
        for shape in ["[]", "[1]", "[1,1,1]"] {
            let input = format!(r#"{{"data_type":"uint8","shape":{shape},"fill_value":0}}"#);
            let codecs = br#"["zarrs.squeeze",{"name":"transpose","configuration":{"order":[0]}},"bytes"]"#;
            assert!(Chain::new(codecs, Some(input.as_bytes())).is_ok(), "{shape}");
        }
    }
}
