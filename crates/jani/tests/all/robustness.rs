//! No input makes the reader panic, or leaves it without either a result or an error.

use std::path::Path;

use policert_jani::{DiagnosticKind, LoadOptions, Loaded, PropertyKey, Selector, load_bytes};
use proptest::prelude::*;

const EVERYTHING: &str = include_str!("../models/everything.jani");

fn load(bytes: &[u8]) -> Loaded {
    let options =
        LoadOptions { constants: vec![("N".to_owned(), "2".to_owned())], ..LoadOptions::default() };
    let loaded = load_bytes(Path::new("model.jani"), bytes.to_vec(), &options);
    let errors = loaded.diagnostics().iter().filter(|d| d.is_error()).count();
    assert_eq!(loaded.model().is_none(), errors > 0, "{:?}", loaded.diagnostics());
    for diagnostic in loaded.diagnostics() {
        assert!(!diagnostic.render().is_empty() && !diagnostic.to_string().is_empty());
    }
    if loaded.model().is_some() {
        for index in 0..loaded.own_properties().len() {
            let property = loaded.property(&Selector::Own(PropertyKey::Index(index)));
            let errors = property.diagnostics.iter().filter(|d| d.is_error()).count();
            assert_eq!(property.property.is_none(), errors > 0, "{property:?}");
        }
    }
    loaded
}

#[test]
fn the_whole_model_loads() {
    let loaded = load(EVERYTHING.as_bytes());
    let all: Vec<_> = loaded.diagnostics().iter().map(ToString::to_string).collect();
    assert!(loaded.model().is_some(), "{all:#?}");
}

#[test]
fn prefixes_are_invalid() {
    let text = EVERYTHING.trim_end().as_bytes();
    for length in 0..text.len() {
        let loaded = load(&text[..length]);
        assert!(loaded.model().is_none(), "the first {length} bytes");
        assert_eq!(loaded.diagnostics()[0].kind, DiagnosticKind::Invalid);
    }
}

/// A value of the model replaced by another: shapes and types that fit nowhere.
#[test]
fn replaced_values_are_survived() {
    let root: serde_json::Value = serde_json::from_str(EVERYTHING).expect("JSON");
    let mut pointers = Vec::new();
    collect(&root, String::new(), &mut pointers);
    let others = [
        serde_json::json!(null),
        serde_json::json!(true),
        serde_json::json!(-7),
        serde_json::json!(0.25),
        serde_json::json!("x"),
        serde_json::json!("A"),
        serde_json::json!([]),
        serde_json::json!([1, "x"]),
        serde_json::json!({}),
        serde_json::json!({"op": "aa", "exp": "A", "index": "x"}),
    ];
    assert!(pointers.len() > 300);
    for pointer in &pointers {
        for other in &others {
            let mut changed = root.clone();
            *changed.pointer_mut(pointer).expect("a value") = other.clone();
            load(changed.to_string().as_bytes());
        }
    }
}

/// A member or element left out.
#[test]
fn missing_values_are_survived() {
    let root: serde_json::Value = serde_json::from_str(EVERYTHING).expect("JSON");
    let mut pointers = Vec::new();
    collect(&root, String::new(), &mut pointers);
    for pointer in &pointers {
        let Some((parent, last)) = pointer.rsplit_once('/') else { continue };
        let mut changed = root.clone();
        match changed.pointer_mut(parent).expect("a value") {
            serde_json::Value::Object(members) => {
                members.remove(last);
            }
            serde_json::Value::Array(elements) => {
                elements.remove(last.parse().expect("a position"));
            }
            _ => continue,
        }
        load(changed.to_string().as_bytes());
    }
}

fn collect(value: &serde_json::Value, pointer: String, into: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(members) => {
            for (key, value) in members {
                collect(value, format!("{pointer}/{key}"), into);
            }
        }
        serde_json::Value::Array(elements) => {
            for (i, value) in elements.iter().enumerate() {
                collect(value, format!("{pointer}/{i}"), into);
            }
        }
        _ => {}
    }
    into.push(pointer);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn flipped_bytes_are_survived(
        flips in proptest::collection::vec((0..EVERYTHING.len(), any::<u8>()), 1..4),
    ) {
        let mut bytes = EVERYTHING.as_bytes().to_vec();
        for (at, value) in flips {
            bytes[at] = value;
        }
        load(&bytes);
    }

    #[test]
    fn moved_pieces_are_survived(
        from in 0..EVERYTHING.len(), length in 0..200usize, to in 0..EVERYTHING.len(),
    ) {
        let mut bytes = EVERYTHING.as_bytes().to_vec();
        let piece: Vec<u8> = bytes.iter().skip(from).take(length).copied().collect();
        bytes.splice(to..to, piece);
        load(&bytes);
    }
}

#[test]
fn deep_nesting_is_refused_or_read() {
    let model = |guard: &str| {
        format!(
            r#"{{"jani-version": 1, "name": "deep", "type": "lts",
              "constants": [{{"name": "N", "type": "int"}}],
              "variables": [{{"name": "x", "type": "bool", "initial-value": true}}],
              "automata": [{{"name": "a", "locations": [{{"name": "l"}}],
                "initial-locations": ["l"],
                "edges": [{{"location": "l", "guard": {{"exp": {guard}}},
                            "destinations": [{{"location": "l"}}]}}]}}],
              "system": {{"elements": [{{"automaton": "a"}}]}}}}"#
        )
    };
    let nested = |open: &str, close: &str, depth: usize| {
        format!("{}\"x\"{}", open.repeat(depth), close.repeat(depth))
    };
    let not = |depth| nested(r#"{"op": "¬", "exp": "#, "}", depth);
    let left = |depth| nested(r#"{"op": "∧", "left": "#, r#", "right": "x"}"#, depth);
    let right = |depth| nested(r#"{"op": "∨", "left": "x", "right": "#, "}", depth);
    let equal = |depth| nested(r#"{"op": "=", "left": "#, r#", "right": true}"#, depth);
    for guard in [not(1900), left(1900), right(1900), equal(1900)] {
        let loaded = load(model(&guard).as_bytes());
        assert!(loaded.model().is_some(), "{}", loaded.diagnostics()[0]);
    }
    for guard in [not(5000), left(100_000), right(5000), equal(5000)] {
        let loaded = load(model(&guard).as_bytes());
        assert_eq!(loaded.diagnostics()[0].kind, DiagnosticKind::Unsupported);
        assert!(loaded.diagnostics()[0].message.contains("levels deep"));
    }
}

/// Functions that double what they get, one after the other: the result has no size to speak of.
#[test]
fn exponential_inlining_is_refused() {
    let functions: Vec<String> = (0..60)
        .map(|i| {
            let inner = |_| match i {
                0 => r#""v""#.to_owned(),
                _ => format!(r#"{{"op": "call", "function": "f{}", "args": ["v"]}}"#, i - 1),
            };
            format!(
                r#"{{"name": "f{i}", "type": "int", "parameters": [{{"name": "v", "type": "int"}}],
                    "body": {{"op": "+", "left": {}, "right": {}}}}}"#,
                inner(0),
                inner(1)
            )
        })
        .collect();
    let model = format!(
        r#"{{"jani-version": 1, "name": "many", "type": "lts", "functions": [{}],
          "constants": [{{"name": "N", "type": "int"}}],
          "variables": [{{"name": "x", "type": "int", "initial-value": 0}}],
          "automata": [{{"name": "a", "locations": [{{"name": "l"}}], "initial-locations": ["l"],
            "edges": [{{"location": "l", "destinations": [{{"location": "l", "assignments": [
              {{"ref": "x", "value": {{"op": "call", "function": "f59", "args": ["x"]}}}}]}}]}}]}}],
          "system": {{"elements": [{{"automaton": "a"}}]}}}}"#,
        functions.join(", ")
    );
    let loaded = load(model.as_bytes());
    let first = &loaded.diagnostics()[0];
    assert_eq!(first.kind, DiagnosticKind::Unsupported, "{first}");
    assert!(first.message.contains("after inlining"), "{first}");
}
