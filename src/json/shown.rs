//! Values in messages, cut to a readable length.

use std::fmt::{self, Display, Write};

/// Messages are for people, who do not read more of one value.
const MAX_SHOWN: usize = 100;

/// A value as it is written, or its first characters and "..." if it is long.
pub(crate) fn shown(value: impl Display) -> String {
    let mut shown = Shown { text: String::new(), room: MAX_SHOWN };
    if write!(shown, "{value}").is_err() {
        shown.text.push_str("...");
    }
    shown.text
}

/// The same for a list of numbers, such as a shape.
pub(crate) fn shown_list(list: &[impl fmt::Debug]) -> String {
    shown(format_args!("{list:?}"))
}

/// Takes this many characters and no more, so that a long value is not printed in full only to be cut.
struct Shown {
    text: String,
    room: usize,
}

impl Write for Shown {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = text.char_indices().nth(self.room).map_or(text.len(), |(end, _)| end);
        let taken = &text[..end];
        self.text.push_str(taken);
        self.room -= taken.chars().count();
        if end == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// The known names that the author of `name` may have meant, closest first, three at most.
fn close_names<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let name: Vec<char> = name.chars().take(MAX_SHOWN).collect();
    // Of "numcodecs.zlib", "zlib" tells names apart.
    let part = name.rsplit(|character| *character == '.').next().map_or(0, <[char]>::len);
    let allowed = (part / 3).max(1);
    let mut close: Vec<(usize, &str)> = known
        .filter_map(|known| {
            // "zlib" is meant to find "numcodecs.zlib", too, after the names that differ less.
            let last_part = known.rsplit('.').next().filter(|part| *part != known);
            let by_part = last_part.map(|part| distance(&name, part) + 1);
            let nearest = by_part.into_iter().chain([distance(&name, known)]).min()?;
            (nearest <= allowed).then_some((nearest, known))
        })
        .collect();
    close.sort_by_key(|(distance, _)| *distance);
    close.into_iter().map(|(_, name)| name).take(3).collect()
}

/// The end of a message about an unknown name: `; did you mean "zstd"?`, or nothing.
pub(crate) fn or_close_names<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let close: Vec<String> = close_names(name, known).iter().map(|name| format!("{name:?}")).collect();
    if close.is_empty() { String::new() } else { format!("; did you mean {}?", close.join(" or ")) }
}

/// How many characters must be inserted, left out, replaced or swapped with the next one; case does not count.
/// (The restricted Damerau-Levenshtein distance, three rows of its table at a time.)
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(!a[i - 1].eq_ignore_ascii_case(&b[j - 1]));
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1].eq_ignore_ascii_case(&b[j - 2]) && a[i - 2].eq_ignore_ascii_case(&b[j - 1]) {
                least = least.min(before_last[j - 2] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_long_value_is_cut_after_100_characters() {
        assert_eq!(shown(json!([1, "a"])), "[1,\"a\"]");
        assert_eq!(shown("ä".repeat(100)), "ä".repeat(100));
        assert_eq!(shown("ä".repeat(101)), "ä".repeat(100) + "...");
        let long = shown(json!(vec![1; 1_000_000]));
        assert_eq!(long.len(), 103);
        assert!(long.starts_with("[1,1,") && long.ends_with("..."), "{long}");
    }

    #[test]
    fn the_names_close_to_a_typo_are_found() {
        let known = || ["bytes", "gzip", "zstd", "zfp", "numcodecs.zlib", "numcodecs.zstd", "cast_value"].into_iter();
        assert_eq!(close_names("zsdt", known()), ["zstd"]);
        assert_eq!(close_names("ZSTD", known()), ["zstd", "numcodecs.zstd"]);
        assert_eq!(close_names("zlib", known()), ["numcodecs.zlib"]);
        assert_eq!(close_names("castvalue", known()), ["cast_value"]);
        assert_eq!(close_names("byte", known()), ["bytes"]);
        assert_eq!(close_names("numcodecs.zilb", known()), ["numcodecs.zlib"]);
        assert!(close_names("numcodecs.nope", known()).is_empty());
        assert!(close_names("blosc", known()).is_empty());
        assert!(close_names("", known()).is_empty());
        assert!(close_names(&"z".repeat(1_000_000), known()).is_empty());
        assert_eq!(or_close_names("zsdt", known()), "; did you mean \"zstd\"?");
        assert_eq!(or_close_names("blosc", known()), "");
    }
}
