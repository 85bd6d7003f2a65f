//! A JSON document as a [`Value`]. RFC 8259; serde_json reads the strings and numbers, this file the structure.
//!
//! Deviations from `serde_json::from_slice`:
//! * A member that is given twice in one object is an error instead of replacing the first: two readers might use
//!   different ones.
//! * Open arrays and objects are kept in a `Vec`, not on the stack, so that parsing takes the same stack at every
//!   depth. Dropping, cloning and printing a `Value` do recurse: [`MAX_DEPTH`] is for them.
//! * [`parse_python`] reads three words that JSON does not have.

use super::shown;
use crate::error::{Error, Result};
use serde_json::{Map, Value};
use std::fmt::Display;

/// The number of arrays and objects that may be open at once. A shard in a shard adds three levels. Cloning takes the
/// most stack per level, printing and dropping come next: creating a chain from metadata of this depth takes 26 KiB of
/// stack in a release build, 119 KiB in a debug build (`tests/posix/small_stack.c`).
pub(crate) const MAX_DEPTH: usize = 48;

/// Reads one document. `what` is its name in messages.
///
/// # Errors
/// It is not JSON, it gives a member twice, or it is nested deeper than [`MAX_DEPTH`].
pub(crate) fn parse(what: &str, text: &[u8]) -> Result<Value> {
    parse_from(what, text, &WORDS)
}

/// The same for JSON as Python writes it, with `NaN`, `Infinity` and `-Infinity` as values: they become the
/// strings that Zarr uses for these numbers.
///
/// # Errors
/// As [`parse`].
pub(crate) fn parse_python(what: &str, text: &[u8]) -> Result<Value> {
    let numbers = ["NaN", "Infinity", "-Infinity"].map(|word| (word, Value::from(word)));
    parse_from(what, text, &[&WORDS[..], &numbers].concat())
}

/// The values that are words.
static WORDS: [(&str, Value); 3] = [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)];

fn parse_from(what: &str, text: &[u8], words: &[(&str, Value)]) -> Result<Value> {
    let text = str::from_utf8(text)
        .map_err(|error| Error::metadata(format!("{what} is not UTF-8, from byte {} on", error.valid_up_to())))
        .map_err(|error| error.with_code("json"))?;
    Parser { what, text, words, at: 0, open: Vec::new() }.document()
}

/// An array or object whose end has not been read.
enum Open {
    Array(Vec<Value>),
    /// The previous members, and the name of the one that is being read.
    Object(Map<String, Value>, String),
}

struct Parser<'a> {
    what: &'a str,
    text: &'a str,
    /// Each with the value that it means.
    words: &'a [(&'a str, Value)],
    at: usize,
    /// Outermost first.
    open: Vec<Open>,
}

impl<'a> Parser<'a> {
    fn document(mut self) -> Result<Value> {
        loop {
            if let Some(value) = self.value()?
                && let Some(document) = self.place(value)?
            {
                return match self.peek() {
                    None => Ok(document),
                    Some(_) => Err(self.expected("nothing after the end")),
                };
            }
        }
    }

    /// A complete value; or `None`, because an array or object was opened and its first value comes next.
    fn value(&mut self) -> Result<Option<Value>> {
        match self.peek() {
            Some(b'[') => {
                self.enter(Open::Array(Vec::new()))?;
                if !self.take(b']') {
                    return Ok(None);
                }
                self.open.pop();
                Ok(Some(Value::Array(Vec::new())))
            }
            Some(b'{') => {
                self.enter(Open::Object(Map::new(), String::new()))?;
                if !self.take(b'}') {
                    self.member_name()?;
                    return Ok(None);
                }
                self.open.pop();
                Ok(Some(Value::Object(Map::new())))
            }
            Some(b'"') => self.string().map(Value::String).map(Some),
            next => match (self.word(), next) {
                (Some(value), _) => Ok(Some(value)),
                (None, Some(b'-' | b'0'..=b'9')) => self.number().map(Some),
                (None, _) => Err(self.expected("a value")),
            },
        }
    }

    /// Puts a value where it belongs, and closes what ends after it. Returns the document once it is complete.
    fn place(&mut self, mut value: Value) -> Result<Option<Value>> {
        loop {
            let next = self.peek();
            value = match (self.open.pop(), next) {
                (None, _) => return Ok(Some(value)),
                (Some(Open::Array(mut values)), Some(b',' | b']')) => {
                    self.at += 1;
                    values.push(value);
                    if next == Some(b',') {
                        self.open.push(Open::Array(values));
                        return Ok(None);
                    }
                    Value::Array(values)
                }
                (Some(Open::Object(mut members, name)), Some(b',' | b'}')) => {
                    self.at += 1;
                    members.insert(name, value);
                    if next == Some(b',') {
                        self.open.push(Open::Object(members, String::new()));
                        self.member_name()?;
                        return Ok(None);
                    }
                    Value::Object(members)
                }
                (Some(Open::Array(_)), _) => return Err(self.expected("`,` or `]`")),
                (Some(Open::Object(..)), _) => return Err(self.expected("`,` or `}`")),
            }
        }
    }

    fn enter(&mut self, open: Open) -> Result<()> {
        if self.open.len() == MAX_DEPTH {
            return Err(self.invalid(format_args!("it is nested more than {MAX_DEPTH} levels deep")));
        }
        self.at += 1;
        self.open.push(open);
        Ok(())
    }

    /// The name of the next member of the innermost object, and the colon.
    fn member_name(&mut self) -> Result<()> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("the name of a member"));
        }
        let start = self.at;
        let new_name = self.string()?;
        if let Some(Open::Object(members, name)) = self.open.last_mut() {
            let is_second = members.contains_key(&new_name);
            *name = new_name;
            if is_second {
                self.at = start;
                return Err(self.given_twice());
            }
        }
        if self.take(b':') { Ok(()) } else { Err(self.expected("`:`")) }
    }

    fn string(&mut self) -> Result<String> {
        let rest = &self.text.as_bytes()[self.at..];
        let mut size = 1;
        while let Some(byte) = rest.get(size) {
            size += if *byte == b'\\' { 2 } else { 1 };
            if *byte == b'"' {
                return Ok(self.token(size)?.as_str().unwrap_or_default().to_owned());
            }
        }
        Err(self.invalid("this string does not end"))
    }

    fn number(&mut self) -> Result<Value> {
        let rest = &self.text.as_bytes()[self.at..];
        let size = rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        self.token(size.unwrap_or(rest.len()))
    }

    fn word(&mut self) -> Option<Value> {
        let rest = &self.text[self.at..];
        let (word, value) = self.words.iter().find(|(word, _)| rest.starts_with(word))?;
        self.at += word.len();
        Some(value.clone())
    }

    /// Reads the next bytes, a whole string or number, with serde_json.
    fn token(&mut self, size: usize) -> Result<Value> {
        let token = self.text.get(self.at..self.at + size).unwrap_or_default();
        let value = serde_json::from_str(token).map_err(|error| {
            let reason = error.to_string(); // "invalid escape at line 1 column 3": its position is one in the token
            let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason).to_owned();
            self.invalid(format_args!("{reason} in {}", shown(token)))
        })?;
        self.at += size;
        Ok(value)
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let space = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.at += space;
        rest.get(space).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expected(&self, expected: &str) -> Error {
        match self.text[self.at..].chars().next() {
            None => self.invalid(format_args!("it ends where {expected} is expected")),
            Some(found) => self.invalid(format_args!("found {found:?}, expected {expected}")),
        }
    }

    fn given_twice(&self) -> Error {
        let name = match self.open.last() {
            Some(Open::Object(_, name)) => shown(format_args!("{name:?}")),
            _ => String::new(),
        };
        let (line, column) = self.position();
        let place = self.place_of_innermost();
        Error::metadata(format!(
            "{}: the member {name} is given twice in {place}, at line {line} column {column}",
            self.what
        ))
        .with_code("duplicate_member")
    }

    /// The place of the innermost array or object, as a JSON Pointer.
    fn place_of_innermost(&self) -> String {
        let mut pointer = String::new();
        for open in self.open.iter().take(self.open.len().saturating_sub(1)) {
            pointer.push('/');
            match open {
                Open::Array(values) => pointer.push_str(&values.len().to_string()),
                Open::Object(_, name) => pointer.push_str(&name.replace('~', "~0").replace('/', "~1")),
            }
        }
        if pointer.is_empty() { "the outermost object".to_owned() } else { shown(pointer) }
    }

    fn invalid(&self, why: impl Display) -> Error {
        let (line, column) = self.position();
        Error::metadata(format!("{} is not valid JSON: {why} at line {line} column {column}", self.what))
            .with_code("json")
    }

    /// Line and column of the next byte, both from 1.
    fn position(&self) -> (usize, usize) {
        let before = &self.text.as_bytes()[..self.at];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        (before.iter().filter(|byte| **byte == b'\n').count() + 1, self.at - line_start + 1)
    }
}

#[cfg(test)]
mod tests;
