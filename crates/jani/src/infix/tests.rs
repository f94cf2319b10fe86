//! Tests of infix expressions: readings, names, and what is wrong with a text.

use std::path::Path;

use policert_model::State;

use crate::{Diagnostic, LoadOptions, Loaded, load_bytes};

fn loaded() -> Loaded {
    let text = include_str!("../../tests/models/everything.jani");
    let constants = vec![("N".to_owned(), "2".to_owned())];
    load_bytes(
        Path::new("model.jani"),
        text.into(),
        &LoadOptions { constants, ..LoadOptions::default() },
    )
}

/// The condition as the model displays it.
fn read(loaded: &Loaded, text: &str) -> String {
    match loaded.condition(text) {
        Ok(condition) => loaded.model().expect("model").display_condition(&condition),
        Err(diagnostics) => panic!("{text}: {}", diagnostics[0].render()),
    }
}

#[test]
fn different_texts_of_one_condition() {
    let loaded = loaded();
    let states = states(&loaded);
    for texts in [
        &["x >= 2 && free = 1", "x ≥ 2 ∧ free == 1", "2 <= x and 1 = free", "(x > 1) & free = 1"][..],
        &[
            "x = 1 || hand-empty",
            "hand-empty | x = 1",
            "x = 1 or hand-empty",
            "'x' = 1 ∨ \"hand-empty\"",
        ],
        &[
            "!hand-empty",
            "¬hand-empty",
            "not hand-empty",
            "hand-empty = false",
            "hand-empty ≠ true",
        ],
        &["x + 1 <= 3", "x - -1 <= N + 1", "2 * x + 2 <= 6", "x/2 <= 1", "-x >= -2"],
        &["A[1] = 4", "A[N - 1] = 2 * 2", "\"A[1]\" = 4"],
        &["x = 1 => free = 0 => hand-empty", "x != 1 || free != 0 || hand-empty"],
        &["x < 2 || x = 2 && free = 0 || false", "(x < 2) || ((x = 2) && (free = 0))"],
        &["min(x, 1, 2) < 1", "min(x, min(1, 2)) < 1"],
        &["next(x) > 2", "clip(x + 1) > 2", "max(0, min(x + 1, M)) > 2"],
        &["ite(hand-empty, x, free) = 1", "hand-empty && x = 1 || !hand-empty && free = 1"],
        &["Car#0 = done", "Car#0 = 1", "'Car#0' = 'done'", "done = Car#0"],
        &["Car#2.v < 1", "1 > Car#2.v"],
        &["x > 1.5", "x > 15e-1", "x >= 2"],
        &["{\"op\": \">\", \"left\": \"x\", \"right\": 1}", "x > 1"],
        &["x % 2 = 1", "x%2=1"],
        &["true", "x >= 0 || true", "fast"],
    ] {
        let conditions: Vec<_> =
            texts.iter().map(|text| loaded.condition(text).expect(text)).collect();
        for state in &states {
            let values: Vec<_> = conditions.iter().map(|c| c.holds(state)).collect();
            assert!(values.iter().all(|v| *v == values[0]), "{texts:?}: {values:?} in {state:?}");
        }
    }
}

/// States in which the variables of the tests have various values.
fn states(loaded: &Loaded) -> Vec<State> {
    let model = loaded.model().expect("model");
    let mut states = vec![vec![0; model.variables.len()]];
    for (name, values) in [
        ("x", 0..4),
        ("hand-empty", 0..2),
        ("free", 0..4),
        ("A[1]", 1..5),
        ("Car#0", 0..2),
        ("Car#2.v", -1..2),
    ] {
        let variable = model.variable_by_name(name).expect(name);
        states = states
            .into_iter()
            .flat_map(|state: State| {
                values.clone().map(move |value| {
                    let mut state = state.clone();
                    state[variable.index()] = value;
                    state
                })
            })
            .collect();
    }
    states
}

#[test]
fn precedence() {
    let loaded = loaded();
    let model = loaded.model().expect("model");
    let (x, free) =
        (model.variable_by_name("x").expect("x"), model.variable_by_name("free").expect("free"));
    for (text, expected) in [
        ("1 + x * 2 - free = 3", |x: i64, f: i64| 1 + x * 2 - f == 3),
        ("x - free - 1 = 0", |x, f| x - f - 1 == 0),
        ("x < 1 || x > 1 && free = 0", |x, f| x < 1 || x > 1 && f == 0),
        ("!x < 1 && free = 1", |x, f| x >= 1 && f == 1),
        ("x = 0 => free = 0 => x = free", |x, f| x != 0 || f != 0 || x == f),
        ("(x = 0 => free = 0) => x = free", |x, f| x == 0 && f != 0 || x == f),
        ("-x + 2 = free % 2", |x, f| 2 - x == f % 2),
    ] as [(&str, fn(i64, i64) -> bool); 7]
    {
        let condition = loaded.condition(text).expect(text);
        for value in 0..4 {
            for other in 0..4 {
                let mut state = vec![0; model.variables.len()];
                state[x.index()] = value;
                state[free.index()] = other;
                assert_eq!(
                    condition.holds(&state),
                    Ok(expected(value, other)),
                    "{text}: {value}, {other}"
                );
            }
        }
    }
}

#[test]
fn what_is_wrong_and_where() {
    let loaded = loaded();
    for (text, column, message) in [
        ("", 1, "an operand expected"),
        ("x >=", 5, "an operand expected"),
        ("x 3", 3, "an operator or the end expected"),
        ("(x > 1", 7, "`)` expected"),
        ("0 < x < 2", 7, "comparisons in a row: join two of them by `&&`"),
        ("x = y", 5, "unknown name `y`"),
        ("x + 1", 3, "a truth value expected, not an integer"),
        ("hand-empty && x", 15, "an operand of `∧` is a truth value, not an integer"),
        ("f(x) = 1", 1, "unknown function `f`"),
        ("abs(x, 1) = 1", 1, "`abs` has 1 arguments, not 2"),
        ("ite(x > 1, 2) = 1", 1, "`ite` has 3 arguments, not 2"),
        ("x = 'a", 5, "an operand expected"),
        ("x = 1 §", 7, "an operator or the end expected"),
        ("v = 1", 1, "unknown name `v`"),
        ("Car#0 = parked", 9, "unknown name `parked`"),
        ("{\"op\": \">\", \"left\": \"x\"}", 1, "key `right` is missing"),
        ("{\"op\": ", 8, "unexpected end of file, a value expected"),
    ] {
        let diagnostics = loaded.condition(text).expect_err(text);
        let first = &diagnostics[0];
        assert_eq!(first.message, message, "{text}");
        assert_eq!(first.place.as_ref().map(|p| p.column), Some(column), "{text}: {message}");
        assert!(first.render().contains("<expression>:1:"), "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_survived(
        any in ".{0,20}",
        likely in "(x|free|hand-empty|A|\\[|\\]|[0-9.e]|min|\\(|\\)|,|[ '\"&|!=<>+*/%-]|é|ite|Car#0|done){0,14}",
    ) {
        let loaded = loaded();
        for text in [any, likely] {
            if let Err(diagnostics) = loaded.condition(&text) {
                assert!(diagnostics.iter().any(Diagnostic::is_error), "{text}");
            }
        }
    }
}

#[test]
fn no_text_is_too_deep() {
    let loaded = loaded();
    for text in [
        format!("{}x > 1{}", "(".repeat(20_000), ")".repeat(20_000)),
        format!("{}hand-empty", "!".repeat(20_000)),
        format!("{}x > 1", "-".repeat(20_000)),
    ] {
        let diagnostics = loaded.condition(&text).expect_err("too deep");
        assert!(diagnostics[0].message.contains("levels deep"), "{}", diagnostics[0]);
    }
    let long = vec!["x > 1"; 1000].join(" && ");
    assert!(read(&loaded, &long).starts_with("x ≥ 2"));
    let sum = vec!["x"; 1000].join(" + ");
    assert_eq!(read(&loaded, &format!("{sum} > 1000")), "x ≥ 2");
}
