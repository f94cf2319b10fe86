//! Expressions: text, values, derivatives and ranges.

use policert_numeric::{Interval, Rational};
use proptest::prelude::*;

use policert_testkit::some_expression;

use super::*;
use crate::range::{ClosedRange, ExactRange};

fn names(name: &str, graph: &mut ExpressionGraph) -> Option<ExpressionId> {
    let position = ["x", "y", "z"].iter().position(|known| *known == name)?;
    Some(graph.variable(position))
}

fn parse(text: &str) -> (ExpressionGraph, ExpressionId) {
    let mut graph = ExpressionGraph::new();
    let root = graph.parse(text, names).unwrap_or_else(|error| panic!("{text}: {error}"));
    (graph, root)
}

fn value(text: &str, x: i64, y: i64) -> Option<Rational> {
    let (graph, root) = parse(text);
    let tape: Tape<ExactRange> = Tape::new(&graph, &[root], 3);
    let point = |value: i64| ExactRange::enclosing(&Rational::from(value));
    let outputs = tape.evaluate(&[point(x), point(y), point(0)])?;
    assert!(outputs[0].is_point());
    outputs[0].lower()
}

#[test]
fn precedence_and_functions() {
    for (text, expected) in [
        ("1 + 2*x", "7"),
        ("-x^2", "-9"),
        ("(-x)^2", "9"),
        ("x**3 - y", "22"),
        ("x - y - 1", "-3"),
        ("x/y/2", "0.3"),
        ("x^-2", "1/9"),
        ("min(x, y, 4) + max(x, 7) - abs(x - y)", "8"),
        ("1 if x < y else 2", "1"),
        ("1 if x >= y or not y == 5 else 2", "2"),
        ("1 if x <= 3 and y > 4 else 2", "1"),
        ("1.5e1*x", "45"),
        ("0^0 + (x - 3)^0", "2"),
        // Brackets around conditions, and both spellings.
        ("1 if (x < y) else 2", "1"),
        ("1 if ((x < y) and not (x = 3)) else 2", "2"),
        ("1 if (x < 1 || x > 2) && y != 5 else 2", "2"),
        ("1 if x ≥ 3 ∧ ¬(y ≠ 5) else 2", "1"),
        ("1 if !(x > 3) and y == 5 | false else 2", "1"),
        ("1 if x > 3 => y > 9 else 2", "1"),
        ("1 if (x > 3) = (y > 9) else 2", "1"),
        ("1 if (x > 3) != (y > 4) else 2", "1"),
        ("ite(x < y and true, 1, 2) + pow(x, 2)", "10"),
        ("1 if x > 5 else 2 if y > 4 else 3", "2"),
        (".5 * x + 2.", "3.5"),
        ("2 − −x · 1", "5"),
    ] {
        assert_eq!(value(text, 3, 5), Some(expected.parse().expect("a number")), "{text}");
    }
}

#[test]
fn errors_have_places() {
    for (text, at) in [
        ("x +", 3),
        ("x + w", 4),
        ("sin(x, y)", 0),
        ("1/0", 1),
        ("x $ y", 2),
        ("(x", 2),
        ("foo(x)", 0),
        ("1 if x else 2", 2),
        ("1 if x < 2", 10),
        ("x y", 2),
        ("0^-1", 1),
        ("x % 2", 2),
        ("x < 1", 0),
        ("x and 1", 2),
        ("(x < 1) + 1", 8),
        ("1 if 0 < x < 2 else 3", 11),
        ("true", 0),
        ("x[1]", 1),
        ("1 if if else 2", 5),
    ] {
        let mut graph = ExpressionGraph::new();
        let error = graph.parse(text, names).expect_err(text);
        assert_eq!(error.at, at, "{text}: {error}");
    }
    let deep = "(".repeat(5000) + "x";
    assert!(ExpressionGraph::new().parse(&deep, names).is_err());
    let long = vec!["x > 1"; 20_000].join(" and ");
    assert!(ExpressionGraph::new().parse(&format!("1 if {long} else 2"), names).is_ok());
}

#[test]
fn derivatives_by_hand() {
    for (text, slope) in [
        ("x*x*x", "3*x^2"),
        ("x*y + y", "y"),
        ("(x + y)^2", "2*(x + y)"),
        ("x/(y + 8)", "1/(y + 8)"),
        ("abs(x)", "1"),
        ("max(x, 2*x)", "2"),
        ("min(x, 2*x)", "1"),
    ] {
        let (mut graph, root) = parse(text);
        let derivative = graph.derivative(root, 0).expect("differentiable");
        let tape: Tape<ExactRange> = Tape::new(&graph, &[derivative], 3);
        let point = |value: i64| ExactRange::enclosing(&Rational::from(value));
        let found = tape.evaluate(&[point(3), point(5), point(0)]).expect("a value");
        assert_eq!(found[0].lower(), value(slope, 3, 5), "{text}");
    }
    let (mut graph, root) = parse("1 if x < 2 else x");
    assert!(graph.derivative(root, 0).is_none());
}

#[test]
fn like_terms_are_added_up() {
    for (text, reads) in [
        ("x + (2 - 2*x - y*y/8)*0.25", [1, 1]),
        ("x - x", [0, 0]),
        ("(x + y)*(x - y) + y^2", [1, 0]),
        // What it reads once, and what would be read more often, stays.
        ("x*(y + 1)", [1, 1]),
        ("1/x - 1/x", [2, 0]),
        ("sin(x) + sin(x) + y", [1, 1]),
    ] {
        let (mut graph, root) = parse(text);
        let expanded = graph.expanded(root, 2);
        let found = [0, 1].map(|variable| graph.occurrences(expanded, variable));
        assert_eq!(found, reads, "{text}");
    }
}

proptest! {
    #[test]
    fn text_never_panics(text in "[xyz0-9a-e+*/^(). ,<=-]{0,40}") {
        let _ = ExpressionGraph::new().parse(&text, names);
    }

    #[test]
    fn expanded_forms_have_the_same_values(
        text in some_expression(true),
        x in -64i64..64,
        y in -64i64..64,
    ) {
        let (mut graph, root) = parse(&text);
        let expanded = graph.expanded(root, 3);
        let point = |value| ExactRange::enclosing(&Rational::new(value, 8).expect("not 0"));
        let tape = Tape::<ExactRange>::new(&graph, &[root, expanded], 3);
        let values = tape.evaluate(&[point(x), point(y), point(0)]).expect("a value");
        prop_assert_eq!(&values[0], &values[1]);
    }

    #[test]
    fn doubles_contain_exact_values(
        text in some_expression(true),
        x in (-64i64..64, -64i64..64),
        y in (-64i64..64, -64i64..64),
    ) {
        let (graph, root) = parse(&text);
        let eighth = |value: i64| Rational::new(value, 8).expect("not 0");
        let exact = |pair: (i64, i64)| ExactRange::new(eighth(pair.0), eighth(pair.1));
        let exact = [exact(x), exact(y), exact((0, 0))];
        let double: Vec<Interval> = exact.iter().map(ClosedRange::to_interval).collect();
        let wide = Tape::<Interval>::new(&graph, &[root], 3).evaluate(&double);
        let narrow = Tape::<ExactRange>::new(&graph, &[root], 3).evaluate(&exact);
        let (Some(wide), Some(narrow)) = (wide, narrow) else {
            return Err(TestCaseError::fail("no value"));
        };
        let (lo, hi) = (narrow[0].lower(), narrow[0].upper());
        prop_assert!(lo.is_some_and(|lo| wide[0].contains_exact(&lo)));
        prop_assert!(hi.is_some_and(|hi| wide[0].contains_exact(&hi)));
    }
}
