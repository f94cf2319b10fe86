//! Probabilities on random tiny models with random tiny policies: the exact values of a brute-force
//! oracle lie in every interval, and are the exact answers.

use std::io::Write as _;

use policert_engine_api::{Budget, EngineError, Question, Silent};
use policert_explore::{ExplicitConfig, Induced, ReachQuestion, induced_mdp};
use policert_mdp::{
    Direction, ExplicitMdp, Method, ProbabilityBounds, Reachability, SolveOptions, max_probability,
    solve,
};
use policert_model::Condition;
use policert_numeric::Rational;
use policert_policy::{ChoiceRule, Policy, PolicySemantics};
use policert_testkit::oracle::NoAnswer;
use policert_testkit::{Profile, Random, Setting, case_numbers, semantics};

/// States up to which the oracle is asked.
const MOST_STATES: usize = 40;
/// The same where its numbers have hundreds of digits.
const MOST_DRAWN: usize = 12;

/// The results of the cases.
#[derive(Debug, Default)]
struct Tally {
    compared: usize,
    between: usize,
    choices: usize,
    dropped: usize,
    traps: u64,
    least: usize,
}

/// The case of a number with the meaning that the number gives it.
fn setting(profile: Profile, number: u64) -> Setting {
    let mut random = Random::new(number ^ 0x7a11);
    let semantics = semantics(&mut random);
    Setting::new(profile, number, semantics, number % 5 == 3, 70, &mut random)
}

#[test]
fn brute_force_lies_in_every_interval() {
    let mut tally = Tally::default();
    for profile in [Profile::Unary, Profile::Linear, Profile::General] {
        for number in case_numbers(700) {
            check(&setting(profile, number), &mut tally);
        }
    }
    let _ = writeln!(std::io::stderr(), "{tally:?}");
    assert!(tally.compared > 1000 && tally.between > 100, "{tally:?}");
    assert!(tally.choices > 500 && tally.dropped > 50 && tally.least > 300, "{tally:?}");
    assert!(tally.traps > 0, "{tally:?}");
}

/// The probabilities of a softmax are no fractions: the value lies between those of two processes.
#[test]
fn brute_force_lies_in_every_interval_where_labels_are_drawn() {
    let (mut compared, mut between) = (0, 0);
    for profile in [Profile::Unary, Profile::Linear, Profile::General] {
        for number in case_numbers(120) {
            let mut random = Random::new(number ^ 0xd1ce);
            let semantics =
                PolicySemantics { choice: ChoiceRule::Sample, ..semantics(&mut random) };
            let setting =
                Setting::new(profile, number, semantics, number % 5 == 3, 100, &mut random);
            let Some(values) = check_drawn(&setting) else { continue };
            compared += 1;
            let is_between = |v: &Rational| !v.is_zero() && *v != Rational::ONE;
            between += usize::from(values.iter().any(is_between));
        }
    }
    let _ = writeln!(std::io::stderr(), "{compared} compared, {between} between 0 and 1");
    assert!(compared > 100 && between > 20, "{compared}, {between}");
}

/// The greatest probabilities from the start states, if the oracle tells them.
fn check_drawn(setting: &Setting) -> Option<Vec<Rational>> {
    let place = &setting.place;
    let question = setting.question();
    let policy = setting.policy();
    let process = setting.oracle(&question).decision_process(MOST_DRAWN).ok().flatten()?;
    let induced = induce(&question, policy.as_ref());
    let induced = induced.unwrap_or_else(|error| panic!("{place}: {error}"));
    let above = induced.above.as_ref().expect("a softmax");
    let options = SolveOptions { precision: 1e-9, ..SolveOptions::default() };
    let bounds = |problem: Reachability<'_>| {
        solve(&problem, &options, &mut Budget::unlimited()).expect("solvable").initial
    };
    // What the reference is wrong by.
    let slip = Rational::integer(2).pow(-100).expect("small");
    let below = induced.problem(Direction::Max);
    let (lower, upper) = (bounds(below), bounds(Reachability { mdp: above, ..below }));
    let greatest = process.greatest();
    let mut values = Vec::new();
    for ((&id, lower), upper) in induced.initial.iter().zip(lower).zip(upper) {
        let state = induced.state(id);
        let number = process.states.iter().position(|s| *s == state).expect("the same states");
        let value = &greatest[number];
        assert!(lower.lo <= value + &slip, "{place}: {lower:?} {value}");
        assert!(*value <= &upper.hi + &slip, "{place}: {upper:?} {value}");
        assert!((&upper.hi - &lower.lo).to_f64() < 1e-6, "{place}: {lower:?} {upper:?}");
        values.push(value.clone());
    }
    if !process.dropped {
        let least = process.least();
        let problem = Reachability { mdp: above, direction: Direction::Min, ..below };
        for (&id, bounds) in induced.initial.iter().zip(bounds(problem)) {
            let state = induced.state(id);
            let number = process.states.iter().position(|s| *s == state).expect("the same states");
            assert!(bounds.lo <= &least[number] + &slip, "{place}: {bounds:?} {}", least[number]);
        }
    }
    Some(values)
}

fn check(setting: &Setting, tally: &mut Tally) {
    let place = &setting.place;
    let question = setting.question();
    let policy = setting.policy();
    let oracle = setting.oracle(&question);
    let process = match oracle.decision_process(MOST_STATES) {
        Ok(Some(process)) => process,
        Ok(None) | Err(NoAnswer::Undecided) => return,
        Err(NoAnswer::Broken) => {
            let error = induce(&question, policy.as_ref()).err();
            assert!(matches!(error, Some(EngineError::Modelling(_))), "{place}: {error:?}");
            return;
        }
    };
    let induced = induce(&question, policy.as_ref());
    let induced = induced.unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(induced.counts.reachable_states, process.states.len() as u64, "{place}");
    assert_eq!(induced.initial.len(), process.start.len(), "{place}");
    let number = |id: u32| {
        let state = induced.state(id);
        process.states.iter().position(|s| *s == state).expect("the same states")
    };
    tally.compared += 1;
    tally.dropped += usize::from(process.dropped);
    tally.choices += usize::from(process.choices.iter().any(|choices| choices.len() > 1));
    for direction in [Direction::Max, Direction::Min] {
        let values = match direction {
            Direction::Max => process.greatest(),
            // There the oracle lacks what loses all.
            Direction::Min if process.dropped => continue,
            Direction::Min => process.least(),
        };
        tally.least += usize::from(direction == Direction::Min);
        let starts: Vec<Rational> =
            induced.initial.iter().map(|&id| values[number(id)].clone()).collect();
        let is_between = |v: &Rational| !v.is_zero() && *v != Rational::ONE;
        tally.between += usize::from(starts.iter().any(is_between));
        compare(&induced, direction, &starts, place);
        if direction == Direction::Max {
            tally.traps += on_the_fly(&induced, &starts, place);
        }
    }
}

fn induce(question: &Question<'_>, policy: Option<&Policy>) -> Result<Induced, EngineError> {
    let question = ReachQuestion { question: question.clone(), stay: Condition::True };
    let config = ExplicitConfig::default();
    induced_mdp(&question, policy, &config, &mut Budget::unlimited(), &mut Silent)
}

fn compare(induced: &Induced, direction: Direction, starts: &[Rational], place: &str) {
    let problem = induced.problem(direction);
    for (method, exact) in [
        (Method::IntervalIteration, false),
        (Method::Optimistic, false),
        (Method::IntervalIteration, true),
    ] {
        let options = SolveOptions { method, exact, ..SolveOptions::default() };
        let solution = solve(&problem, &options, &mut Budget::unlimited()).expect("solvable");
        for (bounds, value) in solution.initial.iter().zip(starts) {
            assert!(bounds.lo <= *value && *value <= bounds.hi, "{place}: {bounds:?}, {value}");
            assert!(is_narrow(bounds), "{place}: {bounds:?}");
            assert!(!exact || bounds.lo == bounds.hi, "{place}: {bounds:?}");
        }
    }
}

/// The search on the fly; how many traps it met.
fn on_the_fly(induced: &Induced, starts: &[Rational], place: &str) -> u64 {
    let mut implicit = ExplicitMdp::new(induced.problem(Direction::Max)).expect("a maximum");
    let found = max_probability(&mut implicit, 1e-6, &mut Budget::unlimited());
    let found = found.expect("solvable");
    let value = starts.iter().cloned().fold(Rational::ZERO, Rational::max);
    let bounds = &found.bounds;
    assert!(bounds.lo <= value && value <= bounds.hi, "{place}: {bounds:?}, {value}");
    assert!(is_narrow(bounds), "{place}: {bounds:?}");
    found.traps
}

fn is_narrow(bounds: &ProbabilityBounds) -> bool {
    bounds.width() <= Rational::from_f64(1e-6).expect("finite")
}
