//! Bytes in JSON strings: base64 of RFC 4648, section 4, with its padding.

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, Engine};

/// The text of these bytes.
pub(crate) fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes of a text.
///
/// # Errors
/// It is not base64.
pub(crate) fn from_base64(text: &str) -> Result<Vec<u8>, DecodeError> {
    STANDARD.decode(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648, section 10.
    #[test]
    fn the_vectors_of_the_rfc_go_both_ways() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(to_base64(bytes.as_bytes()), text);
            assert_eq!(from_base64(text).as_deref(), Ok(bytes.as_bytes()), "{text}");
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_base64(&to_base64(&all)), Ok(all));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["Z", "Zg", "Zg=", "Zg==Zg==", "Z===", "====", "Zh==", "Zm9=", "Zm9v\n", "Zm9-", "=Zm9"] {
            assert!(from_base64(text).is_err(), "{text:?}");
        }
    }
}
