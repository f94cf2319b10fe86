//! What the reader decides where files are not exact, or leave room: rounded probabilities, keys that
//! look misspelt, actions that synchronise with nothing, transient variables of several automata,
//! lines of any length, and stops.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use policert_jani::diagnostic::DiagnosticCode;
use policert_jani::{LoadOptions, Loaded, Severity, StopCheck, load_bytes};
use policert_model::{ModelSemantics, Probability};
use policert_numeric::Rational;
use serde_json::{Value, json};

fn load_with(model: &Value, options: &LoadOptions) -> Loaded {
    load_bytes(Path::new("m.jani"), model.to_string().into_bytes(), options)
}

fn load(model: &Value) -> Loaded {
    load_with(model, &LoadOptions::default())
}

/// An automaton over `x` in 0..9 with one silent edge that leads to these destinations.
fn model(destinations: Value) -> Value {
    let bounded = json!({"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9});
    json!({
        "jani-version": 1, "name": "m", "type": "mdp",
        "variables": [{"name": "x", "type": bounded, "initial-value": 0}],
        "automata": [{
            "name": "A", "locations": [{"name": "l"}], "initial-locations": ["l"],
            "edges": [{"location": "l", "destinations": destinations}],
        }],
        "system": {"elements": [{"automaton": "A"}]},
    })
}

fn set_x(value: i64, probability: Value) -> Value {
    json!({"location": "l", "probability": {"exp": probability},
           "assignments": [{"ref": "x", "value": value}]})
}

fn has(loaded: &Loaded, code: DiagnosticCode, severity: Severity) -> bool {
    loaded.diagnostics().iter().any(|d| d.code == code && d.severity == severity)
}

/// The probabilities of the outcomes in a state.
fn probabilities(loaded: &Loaded, state: &[i64]) -> Vec<Rational> {
    let model = loaded.model().expect("a model");
    let operator = model.operators(1).expect("one operator").remove(0);
    let value = |p: &Probability| match p {
        Probability::Constant(p) => p.clone(),
        Probability::Expr(p) => p.eval(state).expect("a value"),
    };
    operator.destinations.iter().map(|d| value(&d.probability)).collect()
}

#[test]
fn probabilities_rounded_to_seven_places_are_scaled_exactly_and_a_note_says_so() {
    let third = |x| set_x(x, json!(0.3333333));
    let rounded = model(json!([third(0), third(1), third(2)]));
    let loaded = load(&rounded);
    let one_third = Rational::new(1, 3).expect("a fraction");
    assert_eq!(probabilities(&loaded, &[0, 0]), vec![one_third; 3]);
    assert!(has(&loaded, DiagnosticCode::Probability, Severity::Note));

    let above = load(&model(json!([set_x(0, json!(0.6666667)), set_x(1, json!(0.3333334))])));
    assert_eq!(probabilities(&above, &[0, 0]).iter().sum::<Rational>(), Rational::ONE);
    let single = load(&model(json!([set_x(0, json!(1.0000001))])));
    assert_eq!(probabilities(&single, &[0, 0]), [Rational::ONE]);

    let exact = LoadOptions { exact_probabilities: true, ..LoadOptions::default() };
    let refused = load_with(&rounded, &exact);
    assert!(
        refused.model().is_none() && has(&refused, DiagnosticCode::Probability, Severity::Error)
    );
    let halves = model(json!([set_x(0, json!(0.5)), set_x(1, json!(0.5))]));
    assert!(load_with(&halves, &exact).model().is_some());
    assert!(load_with(&halves, &exact).diagnostics().is_empty());
}

#[test]
fn a_sum_that_misses_one_by_more_than_rounding_is_invalid() {
    for second in [0.500_002, 0.499_998] {
        let loaded = load(&model(json!([set_x(0, json!(0.5)), set_x(1, json!(second))])));
        assert!(
            loaded.model().is_none() && has(&loaded, DiagnosticCode::Probability, Severity::Error)
        );
    }
}

#[test]
fn rounded_probabilities_that_depend_on_the_state_are_scaled_where_they_miss_one() {
    let by_x = |then: f64, otherwise: f64| {
        json!({"op": "ite", "if": {"op": "=", "left": "x", "right": 0},
               "then": then, "else": otherwise})
    };
    let destinations = json!([set_x(0, by_x(0.3333333, 0.5)), set_x(1, by_x(0.6666666, 0.500_01))]);
    let loaded = load(&model(destinations.clone()));
    assert!(has(&loaded, DiagnosticCode::Probability, Severity::Note));
    let third = |n| Rational::new(n, 3).expect("a fraction");
    let scaled = probabilities(&loaded, &[0, 0]);
    assert_eq!(scaled.iter().sum::<Rational>(), Rational::ONE);
    assert!((&scaled[0] - &third(1)).abs() < Rational::new(1, 1_000_000).expect("small"));
    // In other states the sum is wrong, and taking the edge is an error.
    let model_read = loaded.model().expect("a model");
    let operator = model_read.operators(1).expect("one operator").remove(0);
    let semantics = ModelSemantics { model: model_read, rule: policert_model::DomainRule::Drop };
    assert!(semantics.successors(&operator, &[0, 0]).is_ok());
    assert!(semantics.successors(&operator, &[0, 1]).is_err());

    let exact = LoadOptions { exact_probabilities: true, ..LoadOptions::default() };
    let loaded = load_with(&model(destinations), &exact);
    let model_read = loaded.model().expect("sums are looked at in each state");
    let operator = model_read.operators(1).expect("one operator").remove(0);
    let semantics = ModelSemantics { model: model_read, rule: policert_model::DomainRule::Drop };
    assert!(semantics.successors(&operator, &[0, 0]).is_err());
}

#[test]
fn a_misspelt_key_is_named_with_the_one_that_is_missing() {
    let mut misspelt = model(json!([{"location": "l", "asignments": []}]));
    misspelt["automata"][0]["edges"][0]["gaurd"] = json!({"exp": false});
    let loaded = load(&misspelt);
    let messages: Vec<&str> = loaded
        .diagnostics()
        .iter()
        .filter(|d| d.code == DiagnosticCode::MisspeltKey && d.severity == Severity::Warning)
        .map(|d| d.message.as_str())
        .collect();
    let expected = [
        "unknown key `asignments` is ignored: is `assignments` meant?",
        "unknown key `gaurd` is ignored: is `guard` meant?",
    ];
    assert!(expected.iter().all(|text| messages.contains(text)), "{messages:?}");
    // A key that is there is not meant by another one.
    let mut other = model(json!([{"location": "l", "assignments": [], "assignment": []}]));
    other["automata"][0]["edges"][0]["annotation"] = json!("nothing");
    assert!(!has(&load(&other), DiagnosticCode::MisspeltKey, Severity::Warning));
    assert!(has(&load(&other), DiagnosticCode::UnknownKey, Severity::Warning));
}

/// Two automata with an edge of the action `a` and one of `b`, joined by this vector.
fn pair(vector: Value) -> Value {
    let automaton = |name: &str, action: &str| {
        json!({"name": name, "locations": [{"name": "l"}], "initial-locations": ["l"],
               "edges": [{"location": "l", "action": action,
                          "destinations": [{"location": "l"}]}]})
    };
    json!({
        "jani-version": 1, "name": "m", "type": "lts",
        "actions": [{"name": "a"}, {"name": "b"}],
        "automata": [automaton("A", "a"), automaton("B", "b")],
        "system": {"elements": [{"automaton": "A"}, {"automaton": "B"}],
                   "syncs": [{"synchronise": vector, "result": "a"}]},
    })
}

#[test]
fn actions_that_are_joined_with_what_nobody_has_are_warned_about() {
    assert!(!has(&load(&pair(json!(["a", "b"]))), DiagnosticCode::NeverFires, Severity::Warning));
    let loaded = load(&pair(json!(["a", "a"])));
    let text: Vec<&str> = loaded.diagnostics().iter().map(|d| d.message.as_str()).collect();
    assert_eq!(text.len(), 2, "{text:?}");
    assert!(text[0].contains("`a` of instance 0") && text[0].contains("joins it"), "{text:?}");
    assert!(text[1].starts_with("no synchronisation vector has action `b`"), "{text:?}");
    assert_eq!(loaded.model().expect("a model").operator_count(), 0);
}

/// Two automata of which each sets the transient variable `t` in its only location.
fn lamps(first: Value, second: Value) -> Value {
    let automaton = |name: &str, value: Value| {
        json!({"name": name, "initial-locations": ["l"], "edges": [],
               "locations": [{"name": "l", "transient-values": [{"ref": "t", "value": value}]}]})
    };
    json!({
        "jani-version": 1, "name": "m", "type": "lts",
        "variables": [{"name": "t", "type": "bool", "transient": true, "initial-value": false}],
        "automata": [automaton("A", first), automaton("B", second)],
        "properties": [{"name": "p", "expression": {"op": "PA", "reach": "t"}}],
        "system": {"elements": [{"automaton": "A"}, {"automaton": "B"}]},
    })
}

#[test]
fn locations_of_several_automata_may_set_a_transient_variable_to_the_same_value() {
    let property = |model: &Value| load(model).property(&load(model).selector("#0"));
    let same = property(&lamps(json!(true), json!(true)));
    assert!(same.property.is_some(), "{:?}", same.diagnostics);
    let different = property(&lamps(json!(true), json!(false)));
    assert!(different.property.is_none());
    assert!(different.diagnostics[0].message.contains("different"), "{:?}", different.diagnostics);
}

/// A model with an error in each of many edges.
fn with_errors(edges: usize) -> Value {
    let edge = |i: usize| {
        json!({"location": "l", "guard": {"exp": format!("unknown{i}")},
               "destinations": [{"location": "l"}]})
    };
    let mut model = model(json!([]));
    model["automata"][0]["edges"] = (0..edges).map(edge).collect();
    model
}

#[test]
fn diagnostics_of_one_long_line_take_no_longer_than_those_of_many_lines() {
    let model = with_errors(20_000);
    let time = |text: String| {
        let begin = Instant::now();
        let loaded = load_bytes(Path::new("m.jani"), text.into_bytes(), &LoadOptions::default());
        assert!(loaded.model().is_none() && loaded.diagnostics().len() > 100);
        begin.elapsed()
    };
    let many = time(serde_json::to_string_pretty(&model).expect("text"));
    let one = time(model.to_string());
    // Quadratic, it took minutes.
    assert!(one < 5 * many + Duration::from_secs(2), "{one:?} against {many:?}");
}

#[test]
fn places_in_a_long_line_are_exact() {
    let text = with_errors(30_000).to_string();
    let bytes = text.clone().into_bytes();
    let loaded = load_bytes(Path::new("m.jani"), bytes, &LoadOptions::default());
    for (i, diagnostic) in loaded.diagnostics().iter().take(150).enumerate() {
        let place = diagnostic.place.as_ref().expect("a place");
        let pointer = format!("/automata/0/edges/{i}/guard/exp");
        assert_eq!(place.pointer.as_deref(), Some(pointer.as_str()));
        let at = text.find(&format!("\"unknown{i}\"")).expect("it stands there");
        assert_eq!((place.line, place.column), (1, text[..at].chars().count() + 1));
        assert!(diagnostic.render().contains(&format!("unknown{i}\"")));
    }
}

#[test]
fn loading_stops_when_it_is_asked_to_in_whatever_phase() {
    let model = with_errors(3_000);
    let mut stopped = 0;
    for last in [0, 1, 2, 5, 10, 20, 30, 40, 1_000_000] {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let stop = StopCheck::new(move || count.fetch_add(1, Ordering::Relaxed) >= last);
        let loaded = load_with(&model, &LoadOptions { stop, ..LoadOptions::default() });
        if loaded.was_stopped() {
            stopped += 1;
            assert!(loaded.model().is_none() && loaded.diagnostics().is_empty());
            // It ends soon after that.
            assert!(asked.load(Ordering::Relaxed) <= last + 200, "{asked:?} after {last}");
        } else {
            assert!(!loaded.diagnostics().is_empty());
        }
    }
    assert!((3..9).contains(&stopped), "{stopped}");
}
