//! Reading JSON: a document, the configuration of a codec, and values shown in messages.
//!
//! Everything that reads metadata builds on this; nothing here knows about codecs.

mod base64;
mod configuration;
mod parse;
mod shown;

pub(crate) use base64::{from_base64, to_base64};
pub use configuration::{Configuration, boolean, configuration_of, exact_integer, integer, name_of, one_of};
pub(crate) use parse::{parse, parse_python};
pub(crate) use shown::{or_close_names, shown, shown_list};
