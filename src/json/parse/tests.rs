//! The parser against serde_json, which reads the same documents with another structure.

use super::*;
use crate::error::Status;
use proptest::prelude::*;

fn message(text: &str) -> String {
    let error = parse("codecs_json", text.as_bytes()).unwrap_err();
    assert_eq!(error.status(), Status::InvalidMetadata);
    error.to_string()
}

#[test]
fn a_member_given_twice_is_named_with_its_place() {
    for (text, name, place) in [
        (r#"{"a":1,"a":1}"#, "a", "the outermost object, at line 1 column 8"),
        (r#"[1,{"b":{"c":[]}},{"x":{"y":[{"z":1},{"k":1,"l":2,"k":3}]}}]"#, "k", "/2/x/y/1, at line 1 column 51"),
        ("{\"a/b\":{\"~\":{\n \"n\":0,\n \"\\u006e\":0}}}", "n", "/a~1b/~0, at line 3 column 2"),
    ] {
        let expected = format!("codecs_json: the member {name:?} is given twice in {place}");
        assert_eq!(message(text), expected);
    }
    assert!(parse("x", br#"{"a":{"a":{"b":1}},"b":1}"#).is_ok());
}

#[test]
fn what_is_not_json_is_refused_with_its_place() {
    for (text, expected) in [
        ("", "it ends where a value is expected at line 1 column 1"),
        ("[1,\n 2", "it ends where `,` or `]` is expected at line 2 column 3"),
        ("[1 2]", "found '2', expected `,` or `]` at line 1 column 4"),
        ("[1,]", "found ']', expected a value at line 1 column 4"),
        ("{\"a\" 1}", "found '1', expected `:` at line 1 column 6"),
        ("{\"a\":1,}", "found '}', expected the name of a member at line 1 column 8"),
        ("{\"a\":1]", "found ']', expected `,` or `}` at line 1 column 7"),
        ("[] []", "found '[', expected nothing after the end at line 1 column 4"),
        ("\"abc", "this string does not end at line 1 column 1"),
        ("[01]", "invalid number in 01 at line 1 column 2"),
        ("\"\\q\"", "invalid escape in \"\\q\" at line 1 column 1"),
        ("\u{feff}[]", "found '\\u{feff}', expected a value at line 1 column 1"),
    ] {
        assert_eq!(message(text), format!("codecs_json is not valid JSON: {expected}"), "{text}");
    }
    let error = parse("codecs_json", b"[\"\xff\"]").unwrap_err();
    assert_eq!(error.to_string(), "codecs_json is not UTF-8, from byte 2 on");
}

#[test]
fn numbers_keep_their_digits() {
    for text in ["0", "-0", "0.1000000000000000055511151231257827", "123456789012345678901234567890", "1.50", "1e-7"] {
        let value = parse("x", text.as_bytes()).unwrap();
        assert_eq!(value.as_number().unwrap().as_str(), text);
    }
    // serde_json writes the sign of every exponent.
    assert_eq!(parse("x", b"1e400").unwrap().as_number().unwrap().as_str(), "1e+400");
}

#[test]
fn the_words_that_python_writes_for_numbers_are_texts_in_documents_only() {
    let text = r#"{"a":[NaN,-Infinity , 1,-1],"NaN":Infinity}"#;
    let expected = r#"{"a":["NaN","-Infinity",1,-1],"NaN":"Infinity"}"#;
    assert_eq!(parse_python("x", text.as_bytes()).unwrap().to_string(), expected);
    assert_eq!(parse_python("x", b"-Infinity").unwrap(), Value::from("-Infinity"));
    for text in ["NaN", "Infinity", "-Infinity", "[1,NaN]", r#"{"a":-Infinity}"#] {
        assert!(message(text).contains("is not valid JSON"), "{text}");
    }
    for text in ["nan", "-NaN", "+Infinity", "Inf", "-Inf", "NaNs", "-", "{NaN:1}", "NaN NaN", "Infinity1"] {
        assert!(parse_python("x", text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn a_name_that_serde_json_uses_itself_is_a_name() {
    let text = br#"{"$serde_json::private::Number":"1"}"#;
    assert!(parse("x", text).unwrap().is_object());
}

#[test]
fn the_depth_has_a_limit() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |depth: usize| format!("{}{}{}", open.repeat(depth), 0, close.repeat(depth));
        assert!(parse("x", nested(MAX_DEPTH).as_bytes()).is_ok());
        let error = message(&nested(MAX_DEPTH + 1));
        assert!(error.contains("nested more than 48 levels deep at line 1 column"), "{error}");
        assert!(parse("x", open.repeat(1_000_000).as_bytes()).is_err());
    }
    // Closed ones do not count.
    assert!(parse("x", format!("[{}[]]", "[[]],{\"a\":{}},".repeat(100)).as_bytes()).is_ok());
}

/// Pieces that make documents, right and wrong, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "\"a\"",
        "\"b\"",
        "\"\\n\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"",
        "\\",
        "1",
        "-1.5e-3",
        "1E+2",
        "01",
        "-",
        ".",
        "e",
        "true",
        "false",
        "null",
        "tru",
        " ",
        "\n",
        "\t",
        "ä",
        "\u{1}",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn the_same_texts_are_json_as_for_serde_json(text in pieces()) {
        match (parse("x", text.as_bytes()), serde_json::from_str::<Value>(&text)) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours, theirs),
            (Err(_), Err(_)) => {}
            (Err(error), Ok(_)) => prop_assert!(error.to_string().contains("given twice"), "{error}"),
            (Ok(ours), Err(_)) => prop_assert!(false, "{text} is {ours}"),
        }
    }

    #[test]
    fn what_is_json_means_the_same_in_documents(text in pieces()) {
        if let Ok(value) = parse("x", text.as_bytes()) {
            prop_assert_eq!(parse_python("x", text.as_bytes()), Ok(value));
        }
    }
}

proptest! {
    #[test]
    fn documents_come_back(document in documents()) {
        prop_assert_eq!(&parse("x", document.to_string().as_bytes()).unwrap(), &document);
        let pretty = serde_json::to_string_pretty(&document).unwrap();
        prop_assert_eq!(&parse("x", pretty.as_bytes()).unwrap(), &document);
    }
}
