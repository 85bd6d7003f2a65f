//! The conformance cases, through the Rust interface: for machines without the Python of `tests/conformance/run.py`, as
//! under emulators. That runner checks far more; it alone makes large sides, hashes them, and has callbacks.

mod case;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use zcodec::chain::{CallOptions, Chain, Representation};
use zcodec::data_type::{Component, DataType};
use zcodec::number::FloatValue;
use zcodec::{Error, Status};

/// Cases with sides that only `run.py` makes, or with callbacks.
const LEFT_TO_RUN_PY: usize = 143;

/// The result of a case, if it ran.
type Outcome = Result<(), String>;

#[test]
#[expect(clippy::print_stdout, reason = "how many cases ran is worth reading")]
fn every_case_that_needs_no_runner_of_its_own_holds() {
    let (mut passed, mut refused, mut left, mut failed) = (0, 0, 0, 0);
    for file in case::names() {
        for case in case::cases(&file) {
            assert_words_are_known(&case);
            assert!(case["encoded"].is_null() || case["by"].is_string(), "{}: who made it?", case["name"]);
            if !is_within_reach(&case) {
                left += 1;
                continue;
            }
            let chain = case::new_chain(&case);
            if case["optional"] == true && matches!(&chain, Err(error) if error.status() == Status::Unsupported) {
                refused += 1;
                continue;
            }
            match run(&case, chain) {
                Ok(()) => passed += 1,
                Err(message) => {
                    failed += 1;
                    println!("{file}: {}: {message}", case["name"]);
                }
            }
        }
    }
    println!("{passed} passed, {failed} failed, {refused} optional ones refused, {left} left to run.py");
    assert_eq!((failed, refused, left), (0, 0, LEFT_TO_RUN_PY));
}

/// What a case may say; a misspelt check would pass.
const CHECKS: &[&str] = &["encode", "decode", "round_trip", "output_json"];
const STAGES: &[&str] = &["new", "encode", "decode"];
const ERROR_MEMBERS: &[&str] = &["stage", "status", "codec_index", "element_index", "message_has", "may_succeed"];
const STATUSES: &[&str] = &[
    "NULL_ARGUMENT",
    "INVALID_ARGUMENT",
    "INVALID_METADATA",
    "UNSUPPORTED",
    "BUFFER_TOO_SMALL",
    "UNKNOWN_SIZE",
    "CORRUPT_DATA",
    "OUT_OF_RANGE",
    "CALLBACK_FAILED",
    "OUT_OF_MEMORY",
    "INTERNAL",
];

fn assert_words_are_known(case: &Value) {
    let is_known = |word: &Value, known: &[&str]| word.as_str().is_some_and(|word| known.contains(&word));
    let are_known = |words: &Value, known: &[&str]| {
        words.as_array().is_some_and(|words| !words.is_empty() && words.iter().all(|word| is_known(word, known)))
    };
    let kinds = ["api", "checks", "error"].iter().filter(|kind| case.get(**kind).is_some()).count();
    assert_eq!(kinds, 1, "{}: api, checks or error", case["name"]);
    if let Some(checks) = case.get("checks") {
        assert!(are_known(checks, CHECKS), "{}: checks {checks}", case["name"]);
    }
    if let Some(error) = case.get("error") {
        let has_members = error.as_object().unwrap().keys().all(|member| ERROR_MEMBERS.contains(&member.as_str()));
        let has_stage = is_known(&error["stage"], STAGES) || are_known(&error["stage"], STAGES);
        let has_words = has_members && has_stage && are_known(&error["status"], STATUSES);
        assert!(has_words, "{}: error {error}", case["name"]);
    }
}

fn is_within_reach(case: &Value) -> bool {
    let sides = ["decoded", "encoded", "redecoded"];
    let has_only_bytes = sides.iter().all(|side| case[*side].is_null() || case[*side].is_string());
    let others = ["api", "padding", "probe_capacity", "encoded_sha256", "redecoded_sha256"];
    has_only_bytes && others.iter().all(|member| case.get(*member).is_none())
}

fn run(case: &Value, chain: Result<Chain, Error>) -> Outcome {
    let chain = match chain {
        Ok(chain) => chain,
        Err(error) => return expect_error(case, "new", &error),
    };
    match case.get("error") {
        Some(error) => run_to_an_error(case, error, &chain),
        None => run_to_success(case, &chain),
    }
}

fn run_to_an_error(case: &Value, error: &Value, chain: &Chain) -> Outcome {
    let options = CallOptions::default();
    let result = if is_stage(error, "encode") {
        chain.encode_to_vec(&side(case, "decoded", chain.input()).unwrap(), &options).map_err(|error| ("encode", error))
    } else if is_stage(error, "decode") {
        chain
            .decode_to_vec(&side(case, "encoded", chain.output()).unwrap(), &options)
            .map_err(|error| ("decode", error))
    } else if error["may_succeed"] == true {
        return Ok(());
    } else {
        return Err(format!("the chain was made, expected {}", error["status"]));
    };
    match result {
        Err((stage, error)) => expect_error(case, stage, &error),
        Ok(_) if error["may_succeed"] != true => Err(format!("success, expected {}", error["status"])),
        Ok(found) => side(case, "redecoded", chain.input()).map_or(Ok(()), |wanted| same("redecoded", &wanted, &found)),
    }
}

fn is_stage(error: &Value, stage: &str) -> bool {
    error["stage"] == stage || error["stage"].as_array().is_some_and(|stages| stages.iter().any(|one| one == stage))
}

fn expect_error(case: &Value, stage: &str, found: &Error) -> Outcome {
    let wanted = &case["error"];
    let status = screaming(&format!("{:?}", found.status()));
    let codec_index = found.codec_index().map_or(-1, |index| index as i64);
    let element_index = found.element_index().map_or(-1, |index| index as i64);
    let is_allowed = |member: &str, found: Value| match &wanted[member] {
        Value::Array(all) => all.contains(&found),
        Value::Null => true,
        one => *one == found,
    };
    let holds = is_stage(wanted, stage)
        && is_allowed("status", status.clone().into())
        && is_allowed("codec_index", codec_index.into())
        && is_allowed("element_index", element_index.into())
        && wanted["message_has"].as_str().is_none_or(|text| found.to_string().contains(text));
    if holds { Ok(()) } else { Err(format!("{stage}: {status}: {found}; expected {wanted}")) }
}

/// `CorruptData` as `CORRUPT_DATA`.
fn screaming(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_uppercase());
    }
    text
}

fn run_to_success(case: &Value, chain: &Chain) -> Outcome {
    let options = CallOptions::default();
    let has_check = |name: &str| case["checks"].as_array().unwrap().iter().any(|check| check == name);
    let decoded = side(case, "decoded", chain.input()).unwrap();
    let redecoded = side(case, "redecoded", chain.input()).unwrap_or_else(|| decoded.clone());
    let encoded = side(case, "encoded", chain.output());
    let decode = |encoded: &[u8]| {
        let found = chain.decode_to_vec(encoded, &options).map_err(|error| format!("decode: {error}"))?;
        same_but_for_nan("decoded", &redecoded, &found, &case["any_nan"]["decoded"], chain.input())
    };
    if has_check("encode") || has_check("round_trip") {
        let made = chain.encode_to_vec(&decoded, &options).map_err(|error| format!("encode: {error}"))?;
        if has_check("encode") {
            let wanted = encoded.as_deref().ok_or("there is nothing to compare with")?;
            same_but_for_nan("encoded", wanted, &made, &case["any_nan"]["encoded"], chain.output())?;
        }
        if has_check("round_trip") {
            decode(&made)?;
        }
    }
    if has_check("decode") { decode(encoded.as_deref().ok_or("there is nothing to decode")?) } else { Ok(()) }
}

/// One side of a case in the machine's byte order.
fn side(case: &Value, member: &str, representation: &Representation) -> Option<Vec<u8>> {
    let mut bytes = STANDARD.decode(case[member].as_str()?).unwrap();
    if let Representation::Array(array) = representation
        && array.data_type().component().has_byte_order()
        && cfg!(target_endian = "big")
    {
        bytes.chunks_exact_mut(array.data_type().component().size()).for_each(<[u8]>::reverse);
    }
    Some(bytes)
}

fn same(what: &str, wanted: &[u8], found: &[u8]) -> Outcome {
    if wanted == found { Ok(()) } else { Err(format!("{what} is {found:02x?}, expected {wanted:02x?}")) }
}

/// As [`same`], but where `any_nan` names a float type, one NaN is as good as another.
fn same_but_for_nan(what: &str, wanted: &[u8], found: &[u8], any_nan: &Value, side: &Representation) -> Outcome {
    let Some(name) = any_nan["data_type"].as_str().filter(|_| wanted.len() == found.len()) else {
        return same(what, wanted, found);
    };
    let component = DataType::from_name(name).unwrap().component();
    let Component::Float(format) = component else { panic!("{name} has no NaN") };
    let is_little = match side {
        Representation::Array(_) => cfg!(target_endian = "little"),
        Representation::Bytes(_) => any_nan["endian"] == "little",
    };
    let is_nan = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        if !is_little {
            wide[..bytes.len()].reverse();
        }
        matches!(format.value(u64::from_le_bytes(wide)), FloatValue::Nan)
    };
    let mut pairs = wanted.chunks(component.size()).zip(found.chunks(component.size()));
    if pairs.all(|(wanted, found)| wanted == found || (is_nan(wanted) && is_nan(found))) {
        return Ok(());
    }
    same(what, wanted, found)
}
