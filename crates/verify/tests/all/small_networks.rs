//! Questions about small networks are decided, with little work, and as an SMT solver decides them
//! (with the feature `z3`). With `SLOW_TESTS=1` there are ten thousand of them.

mod questions;

use std::io::Write as _;
use std::time::{Duration, Instant};

use policert_bounds::{RealAnswer, RealOracle};
use policert_engine_api::Budget;
use policert_numeric::Rational;
use policert_testkit::{Random, case_numbers};
use questions::Question;

/// Parts of the region that a question may need: each takes well below a tenth of a millisecond.
const MOST_PARTS: u64 = 10_000;

/// Asks Z3 whether there is a point; `None` if it does not know.
#[cfg(feature = "z3")]
fn by_solver(question: &Question) -> Option<bool> {
    use policert_numeric::Interval;
    use policert_smt::encode::scores_within;
    use policert_smt::{CheckResult, Solver as _, SolverLimits, Sort, Term, Z3Solver};

    let mut solver = Z3Solver::new();
    let inputs: Vec<Term> = (0..question.network.input_width())
        .map(|_| Term::from(solver.declare(Sort::Real)))
        .collect();
    let everything = vec![Interval::EVERYTHING; inputs.len()];
    let scores =
        scores_within(&mut solver, &question.network, &inputs, &everything).expect("supported");
    solver.assert(scores.constraint);
    let values: Vec<Term> = inputs.into_iter().chain(scores.outputs).collect();
    for inequality in &question.inequalities {
        let scaled =
            inequality.terms.iter().map(|(variable, by)| values[*variable].clone().scaled(by));
        let (sum, upper) = (Term::sum(scaled), Term::Constant(inequality.upper.clone()));
        solver.assert(if inequality.strict { sum.lt(upper) } else { sum.le(upper) });
    }
    let limits = SolverLimits { time: Some(Duration::from_secs(20)), stop: None };
    match solver.check(&limits) {
        Ok(CheckResult::Sat(_)) => Some(true),
        Ok(CheckResult::Unsat) => Some(false),
        Err(_) => None,
    }
}

/// Without a solver: nothing.
#[cfg(not(feature = "z3"))]
fn by_solver(_: &Question) -> Option<bool> {
    None
}

#[test]
fn questions_are_decided_where_cutting_boxes_decides_nothing() {
    let numbers = case_numbers(500);
    let count = numbers.end;
    let (mut sat, mut unsat, mut compared) = (0, 0, 0);
    let (mut most, mut slowest) = ((0, 0), (Duration::ZERO, 0));
    for number in numbers {
        let question = Question::random(number);
        let inputs = question.network.input_width();
        let mut budget = Budget::unlimited();
        let mut oracle =
            RealOracle::new(&question.network, (0..inputs).collect(), inputs, &mut budget)
                .expect("a network");
        let begin = Instant::now();
        let answer =
            oracle.decide(&question.inequalities, &mut budget).expect("a budget without limits");
        slowest = slowest.max((begin.elapsed(), number));
        most = most.max((oracle.statistics().parts, number));
        let has_point = match &answer {
            RealAnswer::Sat(point) => {
                assert!(question.holds_at(point), "question {number}: {point:?}");
                sat += 1;
                true
            }
            RealAnswer::Unsat => {
                let mut random = Random::new(number);
                for _ in 0..20 {
                    let share = |random: &mut Random| {
                        Rational::new(random.between(-12, 24), 6).expect("a number")
                    };
                    let point: Vec<Rational> = (0..inputs).map(|_| share(&mut random)).collect();
                    assert!(!question.holds_at(&point), "question {number}: {point:?}");
                }
                unsat += 1;
                false
            }
            RealAnswer::Undecided(reason) => panic!("question {number}: {reason}"),
        };
        if let Some(expected) = by_solver(&question) {
            assert_eq!(has_point, expected, "question {number}");
            compared += 1;
        }
    }
    let summary = format!(
        "{sat} sat, {unsat} unsat, {compared} compared; most parts {most:?}, slowest {slowest:?}"
    );
    writeln!(std::io::stderr(), "{summary}").expect("standard error");
    assert!(most.0 <= MOST_PARTS, "{summary}");
    assert!(sat * 4 > count && unsat * 4 > count, "{summary}");
    if cfg!(feature = "z3") {
        assert!(compared * 50 > count * 49, "{summary}");
    }
}
