//! Bytes in JSON strings: base64 of RFC 4648, section 4, with its padding.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of these bytes.
pub(crate) fn to_base64(bytes: &[u8]) -> String {
    let digit = |number: u32, place: u32| char::from(DIGITS[(number >> (6 * place) & 63) as usize]);
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let number = (0..3).fold(0, |number, i| number << 8 | u32::from(group.get(i).copied().unwrap_or(0)));
        text.extend((0..4).map(|i| if i <= group.len() as u32 { digit(number, 3 - i) } else { '=' }));
    }
    text
}

/// The bytes of a text; `None` if it is not base64.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let (groups, []) = text.as_bytes().as_chunks::<4>() else { return None };
    let mut bytes = Vec::with_capacity(groups.len() * 3);
    for (index, group) in groups.iter().enumerate() {
        let padding = group.iter().rev().take_while(|digit| **digit == b'=').count();
        if padding > 2 || (padding > 0 && index + 1 != groups.len()) {
            return None;
        }
        let number = group[..4 - padding].iter().try_fold(0, |number, digit| Some(number << 6 | value(*digit)?))?;
        let number = number << (6 * padding);
        if number.trailing_zeros() < 8 * padding as u32 {
            return None;
        }
        bytes.extend_from_slice(&number.to_be_bytes()[1..4 - padding]);
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u32> {
    DIGITS.iter().position(|candidate| *candidate == digit).map(|value| value as u32)
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
            assert_eq!(from_base64(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_base64(&to_base64(&all)), Some(all));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["Z", "Zg", "Zg=", "Zg==Zg==", "Z===", "====", "Zh==", "Zm9=", "Zm9v\n", "Zm9-", "=Zm9"] {
            assert_eq!(from_base64(text), None, "{text:?}");
        }
    }
}
