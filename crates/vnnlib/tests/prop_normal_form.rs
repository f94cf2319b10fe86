//! Random conditions: the normal form holds at the same points as the condition itself.

use policert_numeric::Rational;
use policert_vnnlib::parse_property;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// Inputs and outputs, two of each.
const NAMES: [&str; 4] = ["X_0", "X_1", "Y_0", "Y_1"];

#[derive(Clone, Debug)]
enum Term {
    Number(i64, i64),
    Variable(usize),
    Sum(Vec<Term>),
    Difference(Vec<Term>),
    Multiple(i64, Box<Term>, bool),
    Quotient(Box<Term>, i64),
}

#[derive(Clone, Debug)]
enum Condition {
    Compared(&'static str, Vec<Term>),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
}

impl Term {
    fn text(&self) -> String {
        match self {
            Self::Number(n, 1) if *n < 0 => format!("(- {})", -n),
            Self::Number(n, 2) => format!("{}.{}", n.div_euclid(2), 5 * n.rem_euclid(2)),
            Self::Number(n, d) => format!("(/ {n} {d})"),
            Self::Variable(v) => NAMES[*v].to_owned(),
            Self::Sum(parts) => format!("(+ {})", joined(parts, Self::text)),
            Self::Difference(parts) => format!("(- {})", joined(parts, Self::text)),
            Self::Multiple(n, of, true) => format!("(* {n} {})", of.text()),
            Self::Multiple(n, of, false) => format!("(* {} {n})", of.text()),
            Self::Quotient(of, n) => format!("(/ {} {n})", of.text()),
        }
    }

    fn value(&self, point: &[Rational]) -> Rational {
        match self {
            // 2 is written as a decimal: the whole part is rounded down, the fraction is added.
            Self::Number(n, 2) if *n < 0 => {
                let half = ratio(n.rem_euclid(2), 2);
                &ratio(n.div_euclid(2), 1) - &half
            }
            Self::Number(n, d) => ratio(*n, *d),
            Self::Variable(v) => point[*v].clone(),
            Self::Sum(parts) => parts.iter().map(|part| part.value(point)).sum(),
            Self::Difference(parts) => {
                let first = parts[0].value(point);
                let rest: Rational = parts[1..].iter().map(|part| part.value(point)).sum();
                if parts.len() == 1 { -&first } else { &first - &rest }
            }
            Self::Multiple(n, of, _) => &ratio(*n, 1) * &of.value(point),
            Self::Quotient(of, n) => &of.value(point) * &ratio(1, *n),
        }
    }
}

impl Condition {
    fn text(&self) -> String {
        match self {
            Self::Compared(relation, terms) => {
                format!("({relation} {})", joined(terms, Term::text))
            }
            Self::Not(inner) => format!("(not {})", inner.text()),
            Self::And(parts) => format!("(and {})", joined(parts, Self::text)),
            Self::Or(parts) => format!("(or {})", joined(parts, Self::text)),
        }
    }

    fn holds(&self, point: &[Rational]) -> bool {
        match self {
            Self::Compared(relation, terms) => {
                let values: Vec<Rational> = terms.iter().map(|term| term.value(point)).collect();
                values.windows(2).all(|pair| {
                    let (left, right) = (&pair[0], &pair[1]);
                    match *relation {
                        "<=" => left <= right,
                        "<" => left < right,
                        ">=" => left >= right,
                        ">" => left > right,
                        _ => left == right,
                    }
                })
            }
            Self::Not(inner) => !inner.holds(point),
            Self::And(parts) => parts.iter().all(|part| part.holds(point)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(point)),
        }
    }
}

fn joined<T>(parts: &[T], text: impl Fn(&T) -> String) -> String {
    parts.iter().map(text).collect::<Vec<_>>().join(" ")
}

fn ratio(n: i64, d: i64) -> Rational {
    Rational::new(n, d).expect("a number")
}

fn terms() -> impl Strategy<Value = Term> {
    let leaf = prop_oneof![
        (-3i64..4, 1i64..4).prop_map(|(n, d)| Term::Number(n, d)),
        (0..NAMES.len()).prop_map(Term::Variable),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            several().prop_map(Term::Sum),
            several().prop_map(Term::Difference),
            (-2i64..3, inner.clone(), any::<bool>()).prop_map(|(n, of, before)| Term::Multiple(
                n,
                Box::new(of),
                before
            )),
            (inner.clone(), 1i64..4).prop_map(|(of, n)| Term::Quotient(Box::new(of), n)),
        ]
    })
}

fn conditions() -> impl Strategy<Value = Condition> {
    let relation = prop::sample::select(vec!["<=", "<", ">=", ">", "="]);
    let leaf = (relation, prop::collection::vec(terms(), 2..4))
        .prop_map(|(relation, terms)| Condition::Compared(relation, terms));
    leaf.prop_recursive(4, 12, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            inner.clone().prop_map(|inner| Condition::Not(Box::new(inner))),
            several().prop_map(Condition::And),
            several().prop_map(Condition::Or),
        ]
    })
}

/// Few values, so that terms are often equal.
fn points() -> impl Strategy<Value = Vec<Vec<Rational>>> {
    let value = (-4i64..5, 1i64..4).prop_map(|(n, d)| ratio(n, d));
    prop::collection::vec(prop::collection::vec(value, NAMES.len()), 12)
}

/// The number of points inside, and that of points outside.
fn compare(conditions: &[Condition], points: &[Vec<Rational>]) -> Result<[u32; 2], TestCaseError> {
    let declarations = NAMES.map(|name| format!("(declare-const {name} Real)"));
    let assertions = joined(conditions, |condition| format!("(assert {})", condition.text()));
    let text = declarations.concat() + &assertions;
    let property = parse_property("random", text.as_bytes())
        .map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
    let mut counts = [0, 0];
    for point in points {
        let expected = conditions.iter().all(|condition| condition.holds(point));
        prop_assert_eq!(property.holds(point), expected, "{} at {:?}", text, point);
        counts[usize::from(expected)] += 1;
    }
    Ok(counts)
}

#[test]
fn the_normal_form_means_the_same() {
    let config = Config { cases: 400, rng_seed: RngSeed::Fixed(1), ..Config::default() };
    let counts = std::cell::Cell::new([0, 0]);
    let strategy = (prop::collection::vec(conditions(), 1..3), points());
    let result =
        proptest::test_runner::TestRunner::new(config).run(&strategy, |(conditions, points)| {
            let [outside, inside] = compare(&conditions, &points)?;
            let [a, b] = counts.get();
            counts.set([a + outside, b + inside]);
            Ok(())
        });
    result.unwrap_or_else(|error| panic!("{error}"));
    let [outside, inside] = counts.get();
    assert!(outside > 500 && inside > 500, "{outside} points outside, {inside} inside");
}
