//! What this build supports.

use crate::codec;
use crate::data_type;
use serde_json::{Value, json};
use std::ffi::{CString, c_char};
use std::sync::LazyLock;

static SUPPORTED: LazyLock<CString> = LazyLock::new(|| CString::new(supported().to_string()).unwrap_or_default());

fn supported() -> Value {
    let registry = codec::built_in();
    let codecs: Vec<Value> =
        registry.names().map(|(name, aliases)| json!({"name": name, "aliases": aliases})).collect();
    let data_types: Vec<String> = data_type::names().chain(["r*".to_owned()]).collect();
    json!({"version": env!("CARGO_PKG_VERSION"), "codecs": codecs, "data_types": data_types})
}

/// The features of this build, as JSON: {"version", "codecs": [{"name", "aliases": [..]}, ..], "data_types": [..]}; the
/// data type "r*" stands for raw bits of a whole number of bytes, up to 2^29 - 1. UTF-8, NUL-terminated, static.
#[unsafe(no_mangle)]
pub extern "C" fn zcodec_supported_json() -> *const c_char {
    SUPPORTED.as_ptr()
}

/// The version of the library, such as "0.2.5". Static text.
#[unsafe(no_mangle)]
pub extern "C" fn zcodec_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
