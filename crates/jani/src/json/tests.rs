//! Tests of the JSON reader: against serde_json, on places, and on what must be refused.

use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::{
    source::{Source, SourceId},
    stop::Watch,
};

fn source(text: &str) -> Source {
    Source::from_text(SourceId(0), Path::new("test.json"), text.to_owned(), &mut Watch::default())
        .expect("JSON")
}

fn to_value(json: Json<'_>) -> Value {
    match json.kind() {
        JsonKind::Null => Value::Null,
        JsonKind::Bool(b) => Value::Bool(b),
        JsonKind::Number => serde_json::from_str(json.text()).expect("number"),
        JsonKind::String => Value::String(json.as_str().expect("string").into_owned()),
        JsonKind::Array => Value::Array(json.elements().map(to_value).collect()),
        JsonKind::Object => Value::Object(
            json.members()
                .map(|(k, v)| (k.as_str().expect("key").into_owned(), to_value(v)))
                .collect(),
        ),
    }
}

fn parse(text: &str) -> Result<Document, JsonError> {
    Document::parse(text, &mut Watch::default())
}

fn pointer(json: Json<'_>) -> String {
    pointers(json.source(), &[json.at().node]).remove(0)
}

/// All values and keys, in the order of the text.
fn each_node(json: Json<'_>, into: &mut Vec<JsonNodeId>) {
    into.push(json.at().node);
    json.elements().for_each(|element| each_node(element, into));
    for (key, value) in json.members() {
        into.push(key.at().node);
        each_node(value, into);
    }
}

fn check_pointers(root: &Value, json: Json<'_>) {
    let pointer = pointer(json);
    assert_eq!(root.pointer(&pointer), Some(&to_value(json)), "{pointer}");
    json.elements().for_each(|element| check_pointers(root, element));
    json.members().for_each(|(_, value)| check_pointers(root, value));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map("[a-c~/\u{e9}\"]{0,3}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn reads_what_serde_writes(value in any_json(), pretty: bool) {
        let text = if pretty {
            serde_json::to_string_pretty(&value)
        } else {
            serde_json::to_string(&value)
        }.expect("text");
        let source = source(&text);
        prop_assert_eq!(&to_value(source.root()), &value);
        check_pointers(&value, source.root());
        let mut places = Vec::new();
        each_node(source.root(), &mut places);
        prop_assert_eq!(source.document().values(), places.len() as u64);
        let alone = places.iter().map(|&place| pointer(Json::new(&source, place)));
        prop_assert_eq!(pointers(&source, &places), alone.collect::<Vec<_>>());
    }

    #[test]
    fn agrees_with_serde_on_what_is_json(text in "[\\[\\]{}:,\"a\\\\u0-9eE+.\\- tfn\u{e9}]{0,12}") {
        // serde refuses numbers beyond the range of f64, which are fine here.
        let ours = parse(&text);
        match serde_json::from_str::<Value>(&text) {
            Ok(_) => prop_assert!(ours.is_ok(), "{text}"),
            Err(error) => prop_assert!(ours.is_err(), "{text}: {error}"),
        }
    }
}

#[test]
fn escapes() {
    let source = source(r#"["\u2227", "\ud83d\ude00", "a\"\\\/\b\f\n\r\tz", "\u0041é"]"#);
    let strings: Vec<_> = source.root().elements().filter_map(Json::as_str).collect();
    assert_eq!(strings, ["∧", "😀", "a\"\\/\u{8}\u{c}\n\r\tz", "Aé"]);
}

#[test]
fn byte_order_mark_is_skipped() {
    let source = source("\u{feff}{\"a\": 1}");
    assert_eq!(source.root().get("a").map(Json::text), Some("1"));
}

#[test]
fn refused_with_place() {
    for (text, offset, message) in [
        ("", 0, "unexpected end of file, a value expected"),
        ("[1, 2", 5, "unexpected end of file, `,` or `]` expected"),
        ("{\"a\" 1}", 5, "`:` expected"),
        ("{\"a\": 1,}", 8, "a key in double quotes expected"),
        ("[1 2]", 3, "`,` or `]` expected"),
        ("[01]", 1, "number with a leading zero"),
        ("[1.]", 3, "a digit expected"),
        ("\"a", 2, "unexpected end of file inside a string"),
        ("\"\\x\"", 1, "unknown escape"),
        ("\"\\ud800\"", 1, "`\\u` without a character's code"),
        ("\"\n\"", 1, "control character in a string"),
        ("1 1", 2, "text after the end of the value"),
        ("nul", 0, "a value expected"),
    ] {
        let error = parse(text).expect_err(text);
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{text}");
    }
}

#[test]
fn duplicate_keys_are_found_and_the_last_counts() {
    let source = source(r#"{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}"#);
    let keys = source.document().duplicate_keys();
    let pointers: Vec<_> = keys.iter().map(|&k| pointer(Json::new(&source, k))).collect();
    assert_eq!(pointers, ["/b/c", "/a"]);
    assert_eq!(source.root().get("a").map(Json::text), Some("3"));
    let wide = format!(
        "{{{}, \"k7\": 0}}",
        (0..40).map(|i| format!("\"k{i}\": {i}")).collect::<Vec<_>>().join(", ")
    );
    assert_eq!(parse(&wide).expect("JSON").duplicate_keys().len(), 1);
}

#[test]
fn nesting_is_limited() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(parse(&deep(MAX_DEPTH)).is_ok());
    let error = parse(&deep(MAX_DEPTH + 1)).expect_err("too deep");
    assert!(error.too_deep && error.offset == MAX_DEPTH, "{error}");
    assert!(parse(&"[".repeat(1_000_000)).is_err());
}

#[test]
fn the_ends_of_long_and_short_values_are_found_in_long_texts() {
    let element = |i: usize| match i % 3 {
        0 => format!("{{\"short\": [{i}, \"]}}\\\"\"]}}"),
        1 => format!("[{{\"long\": \"{}\", \"inner\": [[{i}]]}}]", "x".repeat(i)),
        _ => format!("-{i}.5e1"),
    };
    let elements: Vec<String> = (0..2000).map(element).collect();
    let text = format!(" [{}] ", elements.join(" ,\n"));
    let source = source(&text);
    assert_eq!(source.root().text(), text.trim());
    assert!(source.root().elements().map(Json::text).eq(&elements));
    let last = source.root().elements().nth(1999).map(|json| json.at().node);
    assert_eq!(pointers(&source, &[last.expect("the last")]), ["/1999"]);
}
