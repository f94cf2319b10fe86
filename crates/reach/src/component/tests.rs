//! Images contain the images of points, and are as tight as they should be. `SLOW_TESTS=1` takes
//! many more points.

use policert_control_loop::ExactRange;
use policert_numeric::{Interval, Rational};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use policert_testkit::some_expression;

fn names(name: &str, graph: &mut ExpressionGraph) -> Option<ExpressionId> {
    let position = ["x", "y"].iter().position(|known| *known == name)?;
    Some(graph.variable(position))
}

fn component<R: ClosedRange>(text: &str) -> Component<R> {
    let mut graph = ExpressionGraph::new();
    let root = graph.parse(text, names).expect("an expression");
    Component::new(&mut graph, root, 2)
}

fn bounds(text: &str, x: (f64, f64), y: (f64, f64)) -> Interval {
    let range = |(lo, hi)| Interval::new(lo, hi).expect("ordered");
    component(text).range(&[range(x), range(y)]).expect("a value")
}

#[test]
fn monotone_expressions_are_tight() {
    // x + 0.1·(y − x) = 0.9·x + 0.1·y.
    let range = bounds("x + (y - x)*0.1", (0.0, 1.0), (0.0, 1.0));
    assert!(range.lo() >= -1e-15 && range.hi() <= 1.0 + 1e-15, "{range:?}");
    let range = bounds("x - x^3*0.05", (0.7, 0.9), (0.0, 0.0));
    assert!((range.lo() - (0.7 - 0.343 * 0.05)).abs() < 1e-14);
    assert!((range.hi() - (0.9 - 0.729 * 0.05)).abs() < 1e-14);
}

#[test]
fn turning_points_are_bisected() {
    // x·(1 − x) on [0, 1] is in [0, 1/4].
    let range = bounds("x*(1 - x)", (0.0, 1.0), (0.0, 0.0));
    assert!(range.lo() <= 0.0 && range.hi() >= 0.25);
    assert!(range.lo() > -0.05 && range.hi() < 0.27, "{range:?}");
}

fn points() -> u32 {
    if policert_testkit::slow_tests() { 120_000 } else { 2_000 }
}

fn runner() -> TestRunner {
    TestRunner::new(Config { cases: points(), failure_persistence: None, ..Config::default() })
}

#[test]
fn no_point_is_outside_its_exact_image() {
    let side = (-64i64..64, 0i64..24, 0i64..=8);
    let inputs = (some_expression(true), side.clone(), side);
    let outcome = runner().run(&inputs, |(text, x, y)| {
        let eighth = |value: i64| Rational::new(value, 8).expect("not 0");
        let range =
            |(lo, width, _): (i64, i64, i64)| ExactRange::new(eighth(lo), eighth(lo + width));
        let inner = |(lo, width, part): (i64, i64, i64)| {
            Rational::new(lo * 8 + width * part, 64).expect("not 0")
        };
        let point = [inner(x), inner(y)].map(|value| ExactRange::enclosing(&value));
        let boxes = [range(x), range(y)];
        let value = component::<ExactRange>(&text).natural(&point).and_then(|v| v.lower());
        let value = value.expect("a value");
        let exact = component::<ExactRange>(&text).range(&boxes).expect("a value");
        prop_assert!(exact.includes(&ExactRange::enclosing(&value)), "{text}: {exact:?} {value}");
        let double: Vec<Interval> = boxes.iter().map(ClosedRange::to_interval).collect();
        let double = component::<Interval>(&text).range(&double).expect("a value");
        prop_assert!(double.contains_exact(&value), "{text}: {double:?} {value}");
        Ok(())
    });
    outcome.expect("contained");
}

#[test]
fn no_point_is_outside_its_image() {
    let side = (-64i32..64, 0i32..24, 0i32..=8);
    let inputs = (some_expression(false), side.clone(), side);
    let outcome = runner().run(&inputs, |(text, x, y)| {
        let range = |(lo, width, _): (i32, i32, i32)| {
            let lo = f64::from(lo) / 8.0;
            Interval::new(lo, lo + f64::from(width) / 8.0).expect("ordered")
        };
        let inner = |(lo, width, part): (i32, i32, i32)| {
            Interval::point(f64::from(lo) / 8.0 + f64::from(width * part) / 64.0)
        };
        let mut component = component::<Interval>(&text);
        let value = component.natural(&[inner(x), inner(y)]).expect("a value");
        let image = component.range(&[range(x), range(y)]).expect("a value");
        // Both contain the exact value, so they meet; the point's range is very narrow.
        prop_assert!(value.intersection(image).is_some(), "{text}: {image:?} {value:?}");
        Ok(())
    });
    outcome.expect("contained");
}
