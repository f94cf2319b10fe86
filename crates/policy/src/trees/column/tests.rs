//! Columns step by step, their pieces, and where they have no value.

use super::super::rule::{Missing, Precision, Rule, RuleComparison};
use super::*;

fn lookup(entries: &[(f32, f32)], otherwise: Option<f32>) -> Step {
    let number = Number::Single;
    let entries = entries.iter().map(|&(key, value)| (number(key), number(value))).collect();
    Step::Lookup(Arc::new(Lookup { entries, otherwise: otherwise.map(number) }))
}

/// Chains of steps of the kinds that pipelines have.
fn chains() -> Vec<(Kind, Vec<Step>)> {
    let single = |arithmetic, x| Step::Arithmetic(arithmetic, Number::Single(x));
    let scaled = vec![single(Arithmetic::Sub, 1.904_761_9), single(Arithmetic::Mul, 0.692_349_5)];
    let falling = vec![single(Arithmetic::Mul, -0.3), single(Arithmetic::Add, 0.1)];
    let double = |arithmetic, x| Step::Arithmetic(arithmetic, Number::Double(x));
    let known: Arc<[Number]> = (-40..=40).map(Number::Integer).collect();
    let mut imputed = vec![lookup(&[(3.0, -7.5), (5.0, 100.0)], None)];
    imputed.extend(scaled.clone());
    let mut hot = falling.clone();
    hot.extend([Step::Cast(Kind::Integer)]);
    let entries = vec![(Number::Integer(2), Number::Single(1.0))];
    let otherwise = Some(Number::Single(0.0));
    hot.push(Step::Lookup(Arc::new(Lookup { entries, otherwise })));
    vec![
        (Kind::Single, Vec::new()),
        (Kind::Single, scaled.clone()),
        (Kind::Single, falling),
        (Kind::Single, imputed),
        (Kind::Single, hot),
        (
            Kind::Single,
            vec![Step::AtLeast(Number::Single(-2.5)), Step::AtMost(Number::Single(4.0))],
        ),
        (Kind::Single, vec![Step::Above(Number::Single(2.5))]),
        (Kind::Single, vec![lookup(&[(0.0, 4.0), (1.0, -4.0), (2.0, 1.0)], Some(0.5))]),
        (Kind::Double, vec![double(Arithmetic::Sub, 0.1), double(Arithmetic::Div, -1.7)]),
        (Kind::Integer, vec![Step::Among(known), Step::Cast(Kind::Single)]),
    ]
}

#[test]
fn pieces_of_questions_are_the_answers_for_every_integer() {
    let domain = IntInterval::new(-40, 40);
    for (kind, steps) in chains() {
        let column = Column { source: Source::Input(0, kind), steps };
        let ends = column.pieces(domain).expect("values everywhere");
        for at in domain.lo..=domain.hi {
            let threshold = column.value_at(at).expect("a value");
            for comparison in
                [RuleComparison::Less, RuleComparison::LessEqual, RuleComparison::Equal]
            {
                let (precision, missing) = (Precision::Double, Missing::NotANumber(false));
                let rule = Rule { comparison, threshold, precision, missing };
                let value = |x| column.value_at(x).expect("a value");
                let pieces = rule.pieces_of(&ends, domain.lo, value);
                for x in domain.lo..=domain.hi {
                    let answer = pieces.iter().find(|piece| x <= piece.0).map(|piece| piece.1);
                    assert_eq!(answer, Some(rule.holds(value(x))), "{column:?}, {rule:?}, {x}");
                }
            }
        }
    }
}

#[test]
fn columns_without_a_value_are_found() {
    let known = |known: &[i64]| Step::Among(known.iter().map(|&n| Number::Integer(n)).collect());
    let large = Step::Arithmetic(Arithmetic::Mul, Number::Single(1e38));
    let nothing = Step::Arithmetic(Arithmetic::Div, Number::Single(0.0));
    for (kind, step, domain, expected) in [
        (Kind::Integer, known(&[0, 1, 2]), (0, 2), None),
        (Kind::Integer, known(&[0, 2]), (0, 2), Some((1, NoValue::Unknown))),
        (Kind::Integer, known(&[0, 1, 2]), (0, 3), Some((3, NoValue::Unknown))),
        (Kind::Single, large.clone(), (-3, 3), None),
        (Kind::Single, large, (-3, 4), Some((4, NoValue::TooLarge))),
        (Kind::Single, nothing, (1, 2), Some((1, NoValue::TooLarge))),
        (
            Kind::Single,
            Step::Cast(Kind::Integer),
            (0, i64::MAX),
            Some((i64::MAX, NoValue::TooLarge)),
        ),
    ] {
        let column = Column { source: Source::Input(0, kind), steps: vec![step] };
        let pieces = column.pieces(IntInterval::new(domain.0, domain.1));
        assert_eq!(pieces.err(), expected, "{column:?} in {domain:?}");
    }
    let column = Column { source: Source::Input(0, Kind::Integer), steps: Vec::new() };
    assert_eq!(column.value(&|_| Reading::Real(0.5)), Err(NoValue::NoInteger));
}

#[test]
fn single_precision_is_rounded_step_by_step() {
    let step = |arithmetic, x| Step::Arithmetic(arithmetic, Number::Single(x));
    let steps = vec![step(Arithmetic::Sub, 0.1), step(Arithmetic::Mul, 0.3)];
    // As ONNX Runtime computes (16777217 − 0.1) · 0.3 of an integer.
    let column = Column { source: Source::Input(0, Kind::Single), steps };
    assert_eq!(column.value_at(16_777_217), Ok(5_033_165.0));
}
