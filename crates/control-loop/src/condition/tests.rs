//! What is said of a box holds at its points.

use policert_testkit::{Random, case_numbers};

use super::*;

const NAMES: [&str; 2] = ["x", "y"];

fn number(random: &mut Random) -> String {
    format!("({}/8)", random.between(-16, 16))
}

fn expression(random: &mut Random, depth: u32) -> String {
    if depth == 0 || random.between(0, 3) == 0 {
        let leaf = random.between(0, 2);
        return if leaf == 0 { number(random) } else { NAMES[usize::from(leaf == 1)].to_owned() };
    }
    let (a, b) = (expression(random, depth - 1), expression(random, depth - 1));
    match random.between(0, 6) {
        0 | 1 => format!("({a} + {b})"),
        2 => format!("({a} - {b})"),
        3 => format!("({a} * {b})"),
        4 => format!("max({a}, {b})"),
        5 => format!("abs({a})"),
        _ => format!("({a} if {b} < 0.5 else {a}^2)"),
    }
}

fn condition(random: &mut Random, depth: u32) -> String {
    if depth == 0 {
        let (a, b) = (expression(random, 2), expression(random, 1));
        let sign = ["<", "<=", ">", ">=", "=", "!="]
            [usize::try_from(random.between(0, 5)).expect("small")];
        return format!("({a} {sign} {b})");
    }
    let (a, b) = (condition(random, depth - 1), condition(random, depth - 1));
    match random.between(0, 5) {
        0 => format!("not {a}"),
        1 | 2 => format!("({a} and {b})"),
        3 | 4 => format!("({a} or {b})"),
        _ => format!("({a} => {b})"),
    }
}

#[test]
fn what_holds_in_a_box_holds_at_its_points() {
    let names = NAMES.map(str::to_owned);
    let mut decided = [0; 2];
    for seed in case_numbers(2_000) {
        let mut random = Random::new(seed);
        let text = condition(&mut random, 2);
        let parsed = StateCondition::parse(&text, &names).unwrap_or_else(|e| panic!("{text}: {e}"));
        let eighth = |n: i64| Rational::new(n, 8).expect("not 0");
        let sides: Vec<(i64, i64)> = (0..2)
            .map(|_| {
                let lo = random.between(-16, 16);
                (lo, lo + random.between(0, 3))
            })
            .collect();
        let exact: Vec<ExactRange> =
            sides.iter().map(|&(lo, hi)| ExactRange::new(eighth(lo), eighth(hi))).collect();
        let rounded: Vec<Interval> = exact.iter().map(ClosedRange::to_interval).collect();
        let whole = [parsed.truth(&exact, &|_| None), parsed.truth(&rounded, &|_| None)];
        let mut seen = [false; 2];
        for _ in 0..8 {
            let point: Vec<ExactRange> = sides
                .iter()
                .map(|&(lo, hi)| {
                    let x = eighth(random.between(lo, hi));
                    ExactRange::new(x.clone(), x)
                })
                .collect();
            let truth = parsed.truth(&point, &|_| None).expect("single states are decided exactly");
            seen[usize::from(truth)] = true;
            for whole in whole.into_iter().flatten() {
                assert_eq!(whole, truth, "{text} in {sides:?}");
            }
        }
        for whole in whole.into_iter().flatten() {
            decided[usize::from(whole)] += 1;
        }
        assert!(seen[0] || seen[1]);
    }
    assert!(decided[0] > 300 && decided[1] > 300, "{decided:?}");
}

#[test]
fn borders_belong_to_a_condition_as_it_says() {
    let names = NAMES.map(str::to_owned);
    let point = |x: f64| vec![Interval::point(x), Interval::ZERO];
    for (text, at, truth) in [
        ("x < 1", 1.0, Some(false)),
        ("x <= 1", 1.0, Some(true)),
        ("not x < 1", 1.0, Some(true)),
        ("not (x <= 1 or y > 0)", 1.0, Some(false)),
        ("x != 1", 1.0, Some(false)),
        ("true", 1.0, Some(true)),
        // An expression without a value decides nothing; what does not need it is decided.
        ("1/y < 1", 1.0, None),
        ("1/y < 1 or x = 1", 1.0, Some(true)),
        ("1/y < 1 and x > 1", 1.0, Some(false)),
    ] {
        let condition = StateCondition::parse(text, &names).expect("a condition");
        assert_eq!(condition.truth(&point(at), &|_| None), truth, "{text}");
    }
    for wrong in ["x + 1", "x < ", "z < 1", "x < 1 < 2"] {
        assert!(StateCondition::parse(wrong, &names).is_err(), "{wrong}");
    }
}
