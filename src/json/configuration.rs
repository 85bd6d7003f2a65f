//! Reading the configuration of a codec, member by member, with errors that name the member.

use super::{or_close_names, shown};
use crate::error::{Error, Result};
use serde_json::{Map, Number, Value};

/// The members of a `configuration`. Each is taken out when it is read; [`finish`](Self::finish) refuses the rest.
#[derive(Debug, Default)]
pub struct Configuration {
    members: Map<String, Value>,
    is_missing: bool,
    /// The names of the members that were asked for, whether they exist or not.
    known: Vec<String>,
}

impl Configuration {
    /// The configuration of a codec object, or none.
    pub fn new(members: Option<Map<String, Value>>) -> Self {
        Self { is_missing: members.is_none(), members: members.unwrap_or_default(), known: Vec::new() }
    }

    /// A member of any kind.
    pub fn optional(&mut self, member: &str) -> Option<Value> {
        self.known.push(member.to_owned());
        self.members.shift_remove(member)
    }

    /// A member that must be there.
    ///
    /// # Errors
    /// It is missing.
    pub fn required(&mut self, member: &str) -> Result<Value> {
        self.optional(member).ok_or_else(|| {
            let where_ = if self.is_missing { ", and so is the configuration" } else { "" };
            Error::metadata(format!("{member} is missing{where_}"))
        })
    }

    /// A member that is one of these strings; its position.
    ///
    /// # Errors
    /// It is something else.
    pub fn one_of(&mut self, member: &str, choices: &[&str]) -> Result<Option<usize>> {
        self.optional(member).map(|value| one_of(member, &value, choices)).transpose()
    }

    /// All members as they were given, for a codec that reads them itself; `None` if there is no configuration.
    pub fn into_members(self) -> Option<Map<String, Value>> {
        (!self.is_missing).then_some(self.members)
    }

    /// Refuses the members that have not been read.
    ///
    /// # Errors
    /// There is an unknown member.
    pub fn finish(self) -> Result<()> {
        self.finish_as("configuration")
    }

    /// The same for an object of another name.
    ///
    /// # Errors
    /// There is an unknown member.
    pub fn finish_as(self, object: &str) -> Result<()> {
        match self.members.iter().next() {
            None => Ok(()),
            Some((member, value)) => {
                let close = or_close_names(member, self.known.iter().map(String::as_str));
                let member = shown(format_args!("{member:?}"));
                let value = shown(value);
                Err(Error::metadata(format!("{object} has an unknown member {member}: {value}{close}")))
            }
        }
    }
}

/// The position of a string among the choices.
///
/// # Errors
/// It is something else.
pub fn one_of(member: &str, value: &Value, choices: &[&str]) -> Result<usize> {
    value.as_str().and_then(|text| choices.iter().position(|choice| *choice == text)).ok_or_else(|| {
        let choices: Vec<String> = choices.iter().map(|choice| format!("{choice:?}")).collect();
        Error::metadata(format!("{member} is {}, expected {}", shown(value), choices.join(" or ")))
    })
}

/// An integer between two bounds, written without fraction and exponent.
///
/// # Errors
/// It is something else.
pub fn integer(member: &str, value: &Value, least: i128, most: i128) -> Result<i128> {
    exact_integer(value).filter(|integer| (least..=most).contains(integer)).ok_or_else(|| {
        let expected = match (least, most) {
            (0, most) if most >= i128::from(u64::MAX) => "a non-negative integer of 64 bits".to_owned(),
            _ => format!("an integer from {least} to {most}"),
        };
        Error::metadata(format!("{member} is {}, expected {expected}", shown(value)))
    })
}

/// A JSON number that is written as an integer; `None` for anything else, and for more than 128 bits.
pub fn exact_integer(value: &Value) -> Option<i128> {
    value.as_number().map(Number::as_str).and_then(|text| text.parse().ok())
}

/// True or false.
///
/// # Errors
/// It is something else.
pub fn boolean(member: &str, value: &Value) -> Result<bool> {
    value.as_bool().ok_or_else(|| Error::metadata(format!("{member} is {}, expected true or false", shown(value))))
}

/// The `name` of an object such as a codec.
///
/// # Errors
/// It is missing, or is no text.
pub fn name_of(members: &Map<String, Value>) -> Result<&str> {
    match members.get("name") {
        Some(Value::String(name)) => Ok(name),
        Some(other) => Err(Error::metadata(format!("name is {}, expected a string", shown(other)))),
        None => Err(Error::metadata("name is missing")),
    }
}

/// The `configuration` of an object with a name, if it has one, and whether it must be understood.
///
/// # Errors
/// They are something else, or there is another member.
pub fn configuration_of(members: &Map<String, Value>) -> Result<(Option<&Map<String, Value>>, bool)> {
    let (mut configuration, mut must_understand) = (None, true);
    for (member, value) in members {
        match (member.as_str(), value) {
            ("name", _) => {}
            ("configuration", Value::Object(members)) => configuration = Some(members),
            ("configuration", other) => {
                return Err(Error::metadata(format!("configuration is {}, expected an object", shown(other))));
            }
            ("must_understand", value) => must_understand = boolean("must_understand", value)?,
            (other, _) => {
                let other = shown(format_args!("{other:?}"));
                return Err(Error::metadata(format!("there is an unknown member {other}")));
            }
        }
    }
    Ok((configuration, must_understand))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn configuration(members: Value) -> Configuration {
        Configuration::new(members.as_object().cloned())
    }

    #[test]
    fn an_unknown_member_is_named_with_those_it_may_mean() {
        let mut level = configuration(json!({"levle": 3}));
        assert!(level.optional("level").is_none() && level.optional("checksum").is_none());
        let message = level.finish().unwrap_err().to_string();
        assert_eq!(message, "configuration has an unknown member \"levle\": 3; did you mean \"level\"?");
        let message = configuration(json!({"other": [1]})).finish().unwrap_err().to_string();
        assert_eq!(message, "configuration has an unknown member \"other\": [1]");
    }

    #[test]
    fn messages_are_short_whatever_the_values_are() {
        let long = Value::from("x".repeat(1_000_000));
        let mut members = Map::new();
        members.insert("y".repeat(1_000_000), long.clone());
        for error in [
            Configuration::new(Some(members)).finish().unwrap_err(),
            integer("level", &long, 0, 9).unwrap_err(),
            one_of("endian", &long, &["little", "big"]).unwrap_err(),
            boolean("checksum", &long).unwrap_err(),
            name_of(json!({"name": [long]}).as_object().unwrap()).unwrap_err(),
            configuration_of(json!({"configuration": long}).as_object().unwrap()).unwrap_err(),
            configuration_of(json!({"x".repeat(1_000_000): 1}).as_object().unwrap()).unwrap_err(),
        ] {
            assert!(error.to_string().len() < 300, "{}", error.to_string().len());
        }
    }
}
