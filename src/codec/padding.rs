//! `pad` and `offset`: bytes before or after the chunk.
//!
//! Specifications: [zarr-extensions, `pad`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/pad)
//! and [zarr-extensions, `offset`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/offset), both
//! proposals of version 0.1.0. `offset` is `pad` at the start with other member names. Decoding does not compare the
//! bytes that it removes with the configured ones, because the codecs are meant for skipping foreign headers. A hook
//! can check them, and can compute the bytes of each chunk on encode.

use super::location::Location;
use crate::error::{Error, Result, Status};
use crate::interface::{Binding, Call, Codec, Context, Frame, Kind};
use crate::json::{Configuration, from_base64, integer, shown, to_base64};
use crate::representation::Representation;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Which of the two names the metadata has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Pad,
    Offset,
}

#[derive(Debug, Clone)]
struct Padding {
    name: Name,
    location: Location,
    size: u64,
    /// None: zeros. Shared between all bindings.
    bytes: Option<Arc<[u8]>>,
}

/// `{"location": "start" | "end", "nbytes": n, "padding": base64}`
pub(super) fn parse_pad(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let location = Location::from_json(&configuration.required("location")?)?;
    parse(configuration, Name::Pad, location, "nbytes", "padding")
}

/// `{"offset": n, "prefix": base64}`
pub(super) fn parse_offset(configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    parse(configuration, Name::Offset, Location::Start, "offset", "prefix")
}

fn parse(
    mut configuration: Configuration,
    name: Name,
    location: Location,
    size_member: &str,
    bytes_member: &str,
) -> Result<Arc<dyn Codec>> {
    let size = integer(size_member, &configuration.required(size_member)?, 0, i128::from(u64::MAX))? as u64;
    let bytes = match configuration.optional(bytes_member) {
        None => None,
        Some(value) => Some(decode_base64(bytes_member, &value)?),
    };
    configuration.finish()?;
    if let Some(bytes) = bytes.as_ref().filter(|bytes| bytes.len() as u64 != size) {
        return Err(Error::metadata(format!("{bytes_member} has {} bytes, but {size_member} is {size}", bytes.len())));
    }
    Ok(Arc::new(Padding { name, location, size, bytes }))
}

/// RFC 4648, section 4: the standard alphabet, padded, and nothing else.
fn decode_base64(member: &str, value: &Value) -> Result<Arc<[u8]>> {
    let text = value
        .as_str()
        .ok_or_else(|| Error::metadata(format!("{member} is {}, expected a base64 string", shown(value))))?;
    let bytes = from_base64(text)
        .map_err(|error| Error::metadata(format!("{member} is not base64 (RFC 4648, section 4): {error}")))?;
    Ok(bytes.into())
}

impl Codec for Padding {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        let mut members = Map::new();
        let bytes_member = match self.name {
            Name::Pad => {
                members.insert("location".to_owned(), json!(self.location.name()));
                members.insert("nbytes".to_owned(), json!(self.size));
                "padding"
            }
            Name::Offset => {
                members.insert("offset".to_owned(), json!(self.size));
                "prefix"
            }
        };
        if let Some(bytes) = &self.bytes {
            members.insert(bytes_member.to_owned(), json!(to_base64(bytes)));
        }
        Some(members)
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        Ok(Binding::frame(decoded, Arc::new(self.clone())))
    }
}

impl Frame for Padding {
    fn leading_size(&self) -> u64 {
        self.location.at(self.size, 0)
    }

    fn trailing_size(&self) -> u64 {
        self.location.at(0, self.size)
    }

    fn write(&self, payload: &[u8], leading: &mut [u8], trailing: &mut [u8], call: &Call<'_>) -> Result<()> {
        let padding = self.location.at(leading, trailing);
        match (call.hook().filter(|hook| hook.generates()), &self.bytes) {
            (Some(hook), _) => {
                padding.fill(0);
                hook.generate(call.options.call_data, payload, padding).map_err(|code| {
                    Error::new(
                        Status::CallbackFailed,
                        format!("the callback that generates the padding returned {code}"),
                    )
                })
            }
            (None, Some(bytes)) => {
                padding.copy_from_slice(bytes);
                Ok(())
            }
            (None, None) => {
                padding.fill(0);
                Ok(())
            }
        }
    }

    fn check(&self, payload: &[u8], leading: &[u8], trailing: &[u8], call: &Call<'_>) -> Result<()> {
        let padding = self.location.at(leading, trailing);
        call.hook().map_or(Ok(()), |hook| {
            hook.check(call.options.call_data, payload, padding).map_err(|code| {
                Error::corrupt(format!("the callback that checks the padding rejected it: it returned {code}"))
            })
        })
    }

    /// Only a hook looks at it.
    fn checks_payload(&self) -> bool {
        false
    }

    fn takes_hook(&self) -> bool {
        true
    }
}
