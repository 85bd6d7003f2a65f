//! The conformance cases, and the chains that they describe.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::path::PathBuf;
use zcodec::Error;
use zcodec::chain::Chain;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/cases")
}

/// How many cases each file has, so that none is missing or cut.
fn counts() -> Value {
    let text = std::fs::read(folder().with_file_name("counts.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// The names of the files of cases, sorted.
pub fn names() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    let mut counted: Vec<String> = counts().as_object().unwrap().keys().cloned().collect();
    counted.sort();
    assert_eq!(names, counted, "counts.json has another list of files");
    names
}

/// The cases of a file.
pub fn cases(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join(format!("{name}.jsonl"))).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(counts()[name], cases.len(), "{name}: counts.json has another number of cases");
    cases
}

/// The chain of a case.
pub fn new_chain(case: &Value) -> Result<Chain, Error> {
    if let Some(text) = text_of(case, "zarr_json") {
        return Chain::from_zarr_json(&text);
    }
    let codecs = match (&case["codecs_b64"], &case["codecs_repeat"]) {
        (Value::String(text), _) => STANDARD.decode(text).unwrap(),
        (_, Value::Array(repeat)) => repeat[0].as_str().unwrap().repeat(repeat[1].as_u64().unwrap() as usize).into(),
        _ => text_of(case, "codecs").unwrap(),
    };
    Chain::new(&codecs, text_of(case, "input").as_deref())
}

/// The member as JSON text, or `<member>_text` as it is.
fn text_of(case: &Value, member: &str) -> Option<Vec<u8>> {
    match (&case[format!("{member}_text")], &case[member]) {
        (Value::String(text), _) => Some(text.clone().into()),
        (_, Value::Null) => None,
        (_, json) => Some(json.to_string().into()),
    }
}
