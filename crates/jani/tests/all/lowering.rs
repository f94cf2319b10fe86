//! What models mean after lowering: arrays, functions, transient variables, free choices.

use std::path::Path;

use policert_jani::{LoadOptions, Loaded, load_bytes};
use policert_model::{DomainRule, Model, ModelSemantics, State};

/// A model with one automaton: declarations, locations, and silent edges.
fn load(declarations: &str, locations: &str, edges: &str) -> Loaded {
    let text = format!(
        r#"{{"jani-version": 1, "name": "m", "type": "mdp", {declarations},
          "automata": [{{"name": "a", "locations": [{locations}], "initial-locations": ["l"],
                         "edges": [{edges}]}}],
          "system": {{"elements": [{{"automaton": "a"}}]}}}}"#
    );
    let loaded = load_bytes(Path::new("m.jani"), text.into_bytes(), &LoadOptions::default());
    let errors: Vec<_> = loaded.diagnostics().iter().map(|d| d.render()).collect();
    assert!(loaded.model().is_some(), "{}", errors.join("\n"));
    loaded
}

/// An edge from `l` to `l` with a guard and assignments.
fn edge(guard: &str, assignments: &str) -> String {
    format!(
        r#"{{"location": "l", "guard": {{"exp": {guard}}},
            "destinations": [{{"location": "l", "assignments": [{assignments}]}}]}}"#
    )
}

/// The state with some variables set, the others 0.
fn state(model: &Model, values: &[(&str, i64)]) -> State {
    let mut state = vec![0; model.variables.len()];
    for (name, value) in values {
        state[model.variable_by_name(name).expect(name).index()] = *value;
    }
    state
}

/// The successors of a state by all operators; `None` for an operator that is not enabled.
fn successors(model: &Model, state: &State) -> Vec<Option<Vec<State>>> {
    let semantics = ModelSemantics { model, rule: DomainRule::Drop };
    let operators = model.operators(100).expect("few");
    let one = |operator| {
        let enabled = semantics.is_enabled(operator, state).expect("guard");
        enabled.then(|| {
            let successors = semantics.successors(operator, state).expect("successors");
            successors.list.into_iter().map(|s| s.state).collect()
        })
    };
    operators.iter().map(one).collect()
}

const GRID: &str = r#""variables": [
  {"name": "i", "type": "int", "initial-value": 0},
  {"name": "j", "type": "int", "initial-value": 0},
  {"name": "g", "type": {"kind": "array", "base": {"kind": "array", "base": "int"}},
   "initial-value": {"op": "av", "elements": [
     {"op": "av", "elements": [0, 0, 0]}, {"op": "av", "elements": [0, 0, 0]}]}}]"#;

const CELL: &str = r#"{"op": "aa", "exp": {"op": "aa", "exp": "g", "index": "i"}, "index": "j"}"#;

#[test]
fn cells_of_nested_arrays_by_computed_indices() {
    let write = edge("true", &format!(r#"{{"ref": {CELL}, "value": 7}}"#));
    let read = edge(&format!(r#"{{"op": "=", "left": {CELL}, "right": 5}}"#), "");
    let loaded = load(GRID, r#"{"name": "l"}"#, &format!("{write}, {read}"));
    let model = loaded.model().expect("model");
    for i in -1..4 {
        for j in -1..5 {
            let inside = (0..2).contains(&i) && (0..3).contains(&j);
            let mut before = state(model, &[("i", i), ("j", j)]);
            let cell = format!("g[{i}][{j}]");
            if inside {
                before = state(model, &[("i", i), ("j", j), (&cell, 5)]);
            }
            let after = inside.then(|| state(model, &[("i", i), ("j", j), (&cell, 7)]));
            let written: Vec<State> = after.into_iter().collect();
            let read = inside.then(|| vec![before.clone()]);
            assert_eq!(successors(model, &before), [Some(written), read], "{i}, {j}");
        }
    }
}

#[test]
fn rows_and_whole_arrays() {
    let row = |index: &str| format!(r#"{{"op": "aa", "exp": "g", "index": {index}}}"#);
    let edges = [
        // A row by a constant and by a computed index, the whole, and comparisons.
        edge(
            "true",
            &format!(r#"{{"ref": {}, "value": {{"op": "av", "elements": [1, 2, 3]}}}}"#, row("1")),
        ),
        edge("true", &format!(r#"{{"ref": {}, "value": {}}}"#, row("\"i\""), row("1"))),
        edge(
            "true",
            r#"{"ref": "g", "value": {"op": "ac", "var": "r", "length": 2, "exp":
             {"op": "ac", "var": "c", "length": 3, "exp": {"op": "+", "left": {"op": "*", "left": "r", "right": 10}, "right": "c"}}}}"#,
        ),
        edge(&format!(r#"{{"op": "=", "left": {}, "right": {}}}"#, row("0"), row("1")), ""),
        edge(
            &format!(
                r#"{{"op": "≠", "left": {{"op": "ite", "if": {{"op": "=", "left": "j", "right": 1}}, "then": {}, "else": {}}}, "right": {{"op": "av", "elements": [0, 0, 4]}}}}"#,
                row("0"),
                row("1")
            ),
            "",
        ),
    ];
    let loaded = load(GRID, r#"{"name": "l"}"#, &edges.join(", "));
    let model = loaded.model().expect("model");
    let before = state(model, &[("g[1][2]", 4)]);
    let after = successors(model, &before);
    assert_eq!(
        after[0],
        Some(vec![state(model, &[("g[1][0]", 1), ("g[1][1]", 2), ("g[1][2]", 3)])])
    );
    assert_eq!(after[1], Some(vec![state(model, &[("g[0][2]", 4), ("g[1][2]", 4)])]));
    let counted =
        [("g[0][1]", 1), ("g[0][2]", 2), ("g[1][0]", 10), ("g[1][1]", 11), ("g[1][2]", 12)];
    assert_eq!(after[2], Some(vec![state(model, &counted)]));
    assert_eq!(after[3], None);
    assert_eq!(after[4], None);
    let other = state(model, &[("g[1][2]", 4), ("j", 1)]);
    assert_eq!(successors(model, &other)[4], Some(vec![other]));
    let outside = state(model, &[("i", 2)]);
    assert_eq!(successors(model, &outside)[1], Some(vec![]));
}

#[test]
fn functions_with_arrays_and_shadowed_names() {
    let declarations = r#""constants": [{"name": "two", "type": "int", "value": {"op": "call", "function": "double", "args": [1]}}],
      "functions": [
        {"name": "double", "type": "int", "parameters": [{"name": "x", "type": "int"}],
         "body": {"op": "*", "left": 2, "right": "x"}},
        {"name": "pick", "type": "int",
         "parameters": [{"name": "from", "type": {"kind": "array", "base": "int"}}, {"name": "y", "type": "int"}],
         "body": {"op": "+", "left": {"op": "aa", "exp": "from", "index": "y"}, "right": {"op": "call", "function": "double", "args": ["x"]}}}],
      "variables": [
        {"name": "x", "type": "int", "initial-value": 0}, {"name": "y", "type": "int", "initial-value": "two"},
        {"name": "A", "type": {"kind": "array", "base": "int"}, "initial-value": {"op": "av", "elements": [5, 6]}}]"#;
    // pick(A, 1) reads the variable x, and double's parameter x hides it.
    let call = r#"{"op": "call", "function": "pick", "args": ["A", 1]}"#;
    let loaded = load(
        declarations,
        r#"{"name": "l"}"#,
        &edge("true", &format!(r#"{{"ref": "y", "value": {call}}}"#)),
    );
    let model = loaded.model().expect("model");
    let before = state(model, &[("x", 10), ("A[1]", 6)]);
    let after = state(model, &[("x", 10), ("A[1]", 6), ("y", 26)]);
    assert_eq!(successors(model, &before), [Some(vec![after])]);
    let y = model.variable_by_name("y").expect("y");
    assert_eq!(model.initial_states().1[y.index()].lo, 2);
}

#[test]
fn transient_arrays_and_indices_of_assignments() {
    let declarations = r#""variables": [
      {"name": "x", "type": "int", "initial-value": 0}, {"name": "y", "type": "int", "initial-value": 0},
      {"name": "t", "type": {"kind": "array", "base": "int"}, "transient": true, "initial-value": {"op": "av", "elements": [3, 4]}},
      {"name": "cost", "type": "real", "transient": true, "initial-value": 0}]"#;
    let locations = r#"{"name": "l"}, {"name": "k", "transient-values": [
        {"ref": {"op": "aa", "exp": "t", "index": 1}, "value": {"op": "+", "left": "x", "right": 100}}, {"ref": "cost", "value": {"op": "sin", "exp": "x"}}]}"#;
    let cell = |i: &str| format!(r#"{{"op": "aa", "exp": "t", "index": {i}}}"#);
    let edges = [
        // t[x] := 9, then y := t[0] + t[1]; the reward is of no interest, whatever it is.
        edge(
            "true",
            &format!(
                r#"{{"ref": {}, "value": 9}}, {{"ref": "cost", "value": {{"op": "sin", "exp": "x"}}}},
               {{"ref": "y", "index": 1, "value": {{"op": "+", "left": {}, "right": {}}}}}"#,
                cell("\"x\""),
                cell("0"),
                cell("1")
            ),
        ),
        r#"{"location": "l", "destinations": [{"location": "k"}]}"#.to_owned(),
        format!(
            r#"{{"location": "k", "guard": {{"exp": {{"op": "=", "left": {}, "right": 101}}}},
                 "destinations": [{{"location": "l", "assignments": [{{"ref": "y", "value": {}}}]}}]}}"#,
            cell("\"x\""),
            cell("1")
        ),
    ];
    let loaded = load(declarations, locations, &edges.join(", "));
    let model = loaded.model().expect("model");
    for (x, y) in [(0, 13), (1, 12)] {
        let before = state(model, &[("x", x), ("y", -1)]);
        let after = state(model, &[("x", x), ("y", y)]);
        assert_eq!(successors(model, &before)[0], Some(vec![after]));
    }
    assert_eq!(successors(model, &state(model, &[("x", 2)]))[0], Some(vec![]));
    // In k, t[1] shows x + 100; an assignment on leaving it finds the initial value.
    let before = state(model, &[("x", 1), ("a#0", 1)]);
    assert_eq!(successors(model, &before)[2], Some(vec![state(model, &[("x", 1), ("y", 4)])]));
    assert_eq!(successors(model, &state(model, &[("x", 0), ("a#0", 1)]))[2], None);
}

/// Nobody reads the array, but a cell that does not exist is written.
#[test]
fn computed_cells_of_transient_arrays_exist_or_not() {
    let declarations = r#""variables": [{"name": "x", "type": "int", "initial-value": 0},
      {"name": "t", "type": {"kind": "array", "base": "int"}, "transient": true, "initial-value": {"op": "av", "elements": [3, 4]}}]"#;
    let write = edge("true", r#"{"ref": {"op": "aa", "exp": "t", "index": "x"}, "value": 1}"#);
    let loaded = load(declarations, r#"{"name": "l"}"#, &write);
    let model = loaded.model().expect("model");
    for x in -1..3 {
        let before = state(model, &[("x", x)]);
        let after = if (0..2).contains(&x) { vec![before.clone()] } else { vec![] };
        assert_eq!(successors(model, &before), [Some(after)], "{x}");
    }
}

#[test]
fn free_choices_and_edge_assignments() {
    let declarations = r#""variables": [
      {"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9}, "initial-value": 0},
      {"name": "y", "type": "int", "initial-value": 0}]"#;
    let edges = r#"{"location": "l", "assignments": [{"ref": "y", "value": 8}], "destinations": [
        {"location": "l", "probability": {"exp": 0.25}, "assignments": [{"ref": "x", "lower-bound": {"op": "-", "left": "x", "right": 1}, "upper-bound": {"op": "+", "left": "x", "right": 1}}]},
        {"location": "l", "probability": {"exp": 0.75}}, {"location": "l", "probability": {"exp": 0.0}}]}"#;
    let loaded = load(declarations, r#"{"name": "l"}"#, edges);
    let model = loaded.model().expect("model");
    let with = |x| state(model, &[("x", x), ("y", 8)]);
    assert_eq!(
        successors(model, &state(model, &[("x", 5)])),
        [Some(vec![with(4), with(5), with(6), with(5)])]
    );
    assert_eq!(successors(model, &state(model, &[])), [Some(vec![with(0), with(1), with(0)])]);
}

#[test]
fn long_chains_become_shallow() {
    let declarations = r#""variables": [{"name": "x", "type": "int", "initial-value": 0}]"#;
    let mut sum = "\"x\"".to_owned();
    for _ in 0..1500 {
        sum = format!(r#"{{"op": "+", "left": {sum}, "right": 1}}"#);
    }
    let loaded = load(
        declarations,
        r#"{"name": "l"}"#,
        &edge("true", &format!(r#"{{"ref": "x", "value": {sum}}}"#)),
    );
    let model = loaded.model().expect("model");
    assert_eq!(successors(model, &state(model, &[])), [Some(vec![state(model, &[("x", 1500)])])]);
}

#[test]
fn constants_given_by_the_caller() {
    let text = include_str!("../models/everything.jani");
    let load = |constants: &[(&str, &str)]| {
        let constants = constants.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        load_bytes(
            Path::new("m.jani"),
            text.into(),
            &LoadOptions { constants, ..LoadOptions::default() },
        )
    };
    let domain = |loaded: &Loaded| {
        let model = loaded.model().expect("model");
        model.variables[model.variable_by_name("x").expect("x").index()].domain.hi
    };
    assert_eq!(domain(&load(&[("N", "2")])), 3);
    // M stands in the file as N + 1; the last value given counts.
    assert_eq!(domain(&load(&[("N", "2"), ("M", "7")])), 7);
    assert_eq!(domain(&load(&[("N", "2"), ("N", "6/2")])), 4);
    for (name, value) in [("N", "1.5"), ("N", "true"), ("fast", "1"), ("M", "0"), ("third", "x")] {
        let loaded = load(&[("N", "2"), (name, value)]);
        assert!(loaded.model().is_none(), "{name}={value}");
        assert!(loaded.diagnostics()[0].message.contains(name), "{}", loaded.diagnostics()[0]);
    }
}
