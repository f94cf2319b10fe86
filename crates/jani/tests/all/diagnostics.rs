//! What is said about models that cannot be used: all of it at once, with places.

use std::path::Path;

use policert_jani::{Diagnostic, LoadOptions, Loaded, PropertyKey, Selector, load_bytes};

fn load(name: &str, text: &str, constants: &[(&str, &str)]) -> Loaded {
    let constants = constants.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    load_bytes(
        Path::new(name),
        text.as_bytes().to_vec(),
        &LoadOptions { constants, ..LoadOptions::default() },
    )
}

fn rendered(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(Diagnostic::render).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn invalid_models() {
    let loaded = load("invalid.jani", include_str!("../models/invalid.jani"), &[("K", "1")]);
    assert!(loaded.model().is_none());
    insta::assert_snapshot!(rendered(loaded.diagnostics()));
}

#[test]
fn unsupported_models() {
    let loaded = load("unsupported.jani", include_str!("../models/unsupported.jani"), &[]);
    assert!(loaded.model().is_none());
    insta::assert_snapshot!(rendered(loaded.diagnostics()));
}

#[test]
fn unsupported_operators() {
    let loaded = load("operators.jani", include_str!("../models/operators.jani"), &[]);
    assert!(loaded.model().is_none());
    // Once for the automaton, though it stands twice in the system.
    assert_eq!(loaded.diagnostics().len(), 7);
    insta::assert_snapshot!(rendered(loaded.diagnostics()));
}

#[test]
fn one_line() {
    let loaded = load("invalid.jani", include_str!("../models/invalid.jani"), &[("N", "x")]);
    let lines: Vec<_> = loaded.diagnostics().iter().take(6).map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn no_json() {
    let texts = ["", "{\"jani-version\": 1,", "[1, 2", "{\"a\": tru}", "\u{feff}{'a': 1}", "3"];
    let all: Vec<_> =
        texts.iter().map(|text| rendered(load("m.jani", text, &[]).diagnostics())).collect();
    insta::assert_snapshot!(all.join("\n\n"));
    let loaded =
        load_bytes(Path::new("m.jani"), b"{\"name\": \"\xff\"}".to_vec(), &LoadOptions::default());
    insta::assert_snapshot!("no_utf8", rendered(loaded.diagnostics()));
}

#[test]
fn missing_files() {
    let loaded = policert_jani::load_model(Path::new("no/such.jani"), &LoadOptions::default());
    assert!(loaded.diagnostics()[0].to_string().starts_with("error[file]: cannot read `no/such"));
    assert!(loaded.summary().is_none());
}

#[test]
fn long_lines_are_cut() {
    let mut model: serde_json::Value =
        serde_json::from_str(include_str!("../models/everything.jani")).expect("JSON");
    model["automata"][0]["edges"][1]["action"] = "halt".into();
    let loaded = load("long.jani", &model.to_string(), &[("N", "2")]);
    insta::assert_snapshot!(rendered(loaded.diagnostics()));
}

#[test]
fn warnings_and_notes() {
    let mut model: serde_json::Value =
        serde_json::from_str(include_str!("../models/everything.jani")).expect("JSON");
    model["jani-version"] = 2.into();
    model["colour"] = "red".into();
    model["features"] = serde_json::json!(["arrays", "colours", "x-colours"]);
    model["x-colour"] = "red".into();
    for automaton in 0..2 {
        model["automata"][automaton]["colour"] = "red".into();
    }
    let edges = model["automata"][1]["edges"].as_array_mut().expect("edges");
    edges.push(serde_json::json!({"location": "watch", "destinations": []}));
    edges.push(serde_json::json!({"location": "watch", "action": "stop", "destinations": [
        {"location": "watch", "probability": {"exp": 0.33333333333}},
        {"location": "watch", "probability": {"exp": 0.66666666666}}]}));
    let text = serde_json::to_string_pretty(&model).expect("text");
    let text = text.replacen("\"name\"", "\"type\": \"lts\",\n  \"name\"", 1);
    let loaded = load("model.jani", &text, &[("N", "2")]);
    assert!(loaded.model().is_some());
    insta::assert_snapshot!(rendered(loaded.diagnostics()));
}

#[test]
fn properties() {
    let text = include_str!("../models/everything.jani");
    let changes = [
        ("\"reach\": {\"label\": \"bad\"}", "\"reach\": {\"label\": \"good\"}"),
        ("\"index\": 2, \"location\": \"done\"", "\"index\": 1, \"location\": \"done\""),
        ("\"index\": 2, \"location\": \"done\"", "\"location\": \"done\""),
        ("\"location\": \"watch\"}, {\"auto", "\"location\": \"sleep\"}, {\"auto"),
        (
            "{\"var\": \"x\", \"value\": 1}, {\"var\": \"free\", \"value\": 0}",
            "{\"var\": \"x\", \"value\": 9}",
        ),
        ("\"predicates\": [\"hand-empty\"", "\"predicates\": [\"x\", \"v\", \"q\""),
        ("\"start\": {\"op\": \"states-values\"", "\"start\": {\"op\": \"states-lists\""),
        ("\"start\": {", "\"start\": {\"file\": \"none.json\"}, \"begin\": {"),
    ];
    let mut all = Vec::new();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        let loaded = load("model.jani", &text.replacen(from, to, 1), &[("N", "2")]);
        let property = loaded.property(&Selector::Own(PropertyKey::Index(0)));
        assert!(property.property.is_none(), "{to}");
        all.push(rendered(&property.diagnostics));
    }
    let loaded = load("model.jani", text, &[("N", "2")]);
    for selector in ["2", "7", "unsafe"] {
        let property = loaded.property(&loaded.selector(selector));
        all.push(rendered(&property.diagnostics));
    }
    insta::assert_snapshot!(all.join("\n\n"));
}
