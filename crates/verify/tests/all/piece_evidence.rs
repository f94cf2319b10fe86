//! Evidence of probabilities by abstraction on random tiny models with random tiny policies: bounds by piece and
//! lower bounds of runs are confirmed, and whatever is confirmed after they were changed is still right.

use std::io::Write as _;

use policert_certify::{
    CertifiedProbability, ChoicesInBoxes, IntervalChoices, NothingRefuted, OverStarts,
    ProbabilityClaim, ProbabilityError, ValuedPieces, check_pieces,
};
use policert_engine_api::{Budget, ClaimedValues, Direction, EngineError, Question, Silent};
use policert_model::Condition;
use policert_numeric::Rational;
use policert_policy::Policy;
use policert_ppa::{ProbConfig, ProbReport, prob_cegar, prob_ppa};
use policert_testkit::{Profile, Random, case_numbers};

use crate::prob_ppa::{Configured, MOST_STATES};

#[derive(Debug, Default)]
struct Tally {
    confirmed: usize,
    /// As narrow as the answer of the engine.
    narrow: usize,
    /// Where the probability lies between 0 and 1.
    between: usize,
    with_conditions: usize,
    rejected: usize,
    still_right: usize,
    /// Too low a bound of the start states.
    too_low: usize,
}

#[test]
fn what_is_confirmed_of_pieces_is_right() {
    let mut tally = Tally::default();
    for profile in [Profile::Unary, Profile::Linear, Profile::General] {
        for number in case_numbers(120) {
            check(&Configured::new(profile, number), number, &mut tally);
        }
    }
    let _ = writeln!(std::io::stderr(), "{tally:?}");
    assert!(tally.confirmed > 200 && tally.narrow > 150 && tally.between > 20, "{tally:?}");
    assert!(tally.with_conditions > 20 && tally.too_low > 60, "{tally:?}");
    assert!(tally.rejected > 200 && tally.still_right > 60, "{tally:?}");
}

fn check(configured: &Configured, number: u64, tally: &mut Tally) {
    let Configured { setting, config, tests } = configured;
    let place = &setting.place;
    let question = Question { evidence: true, ..setting.question() };
    let policy = setting.policy();
    let Ok(Some(process)) = setting.oracle(&question).decision_process(MOST_STATES) else { return };
    let values = process.greatest();
    let exact = process.start.iter().map(|&state| values[state].clone());
    let exact = exact.fold(Rational::ZERO, Rational::max);
    let mut random = Random::new(number ^ 0x9ece);
    let precise = ProbConfig { precision: 1e-6, ..config.clone() };
    for (is_refined, config) in [(false, &precise), (true, config)] {
        let ask = if is_refined { prob_cegar } else { prob_ppa };
        let budget = &mut Budget::unlimited();
        let found = ask(&question, policy.as_ref(), tests, config, budget, &mut Silent);
        let found = match found {
            Err(EngineError::Unsupported(_)) => return,
            found => found.unwrap_or_else(|error| panic!("{place}: {error}")),
        };
        confirmed(&question, policy.as_ref(), &found, &exact, place, &mut random, tally);
    }
}

fn confirmed(
    question: &Question<'_>,
    policy: Option<&Policy>,
    found: &ProbReport,
    exact: &Rational,
    place: &str,
    random: &mut Random,
    tally: &mut Tally,
) {
    let shown = found.shown.as_ref().unwrap_or_else(|why| panic!("{place}: {why}"));
    let values = &shown.values;
    let certified = match certify(question, policy, values) {
        Ok(certified) => certified,
        Err(_) if shown.rounded => return,
        Err(error) => panic!("{place}: {error} {values:?}"),
    };
    let holds =
        |certified: &CertifiedProbability| certified.lower <= *exact && *exact <= certified.upper;
    assert!(holds(&certified), "{place}: {certified:?}, {exact}");
    tally.confirmed += 1;
    tally.between += usize::from(!exact.is_zero() && *exact != Rational::ONE);
    let slack = Rational::from_f64(1e-6).expect("finite");
    let is_narrow = certified.upper <= &found.bounds.hi + &slack
        && &certified.lower + &slack >= found.bounds.lo;
    tally.narrow += usize::from(is_narrow);
    let pieces = values.pieces.as_ref().expect("pieces");
    let has_conditions = pieces.pieces.iter().any(|(piece, _)| !piece.conditions.is_empty());
    tally.with_conditions += usize::from(has_conditions);
    if !exact.is_zero() {
        let half = &Rational::new(1, 2).expect("a half") * exact;
        let low = ValuedPieces { start: half, ..pieces.clone() };
        let low = ClaimedValues { pieces: Some(low), ..values.clone() };
        let checked = certify(question, policy, &low);
        assert!(matches!(checked, Err(ProbabilityError::Start(_))), "{place}: {checked:?}");
        tally.too_low += 1;
    }
    for _ in 0..6 {
        let Some(changed) = changed(values, random) else { return };
        match certify(question, policy, &changed) {
            Ok(certified) => {
                assert!(holds(&certified), "{place}: {changed:?} {certified:?}, {exact}");
                tally.still_right += 1;
            }
            Err(ProbabilityError::Engine(error)) => panic!("{place}: {error}"),
            Err(_) => tally.rejected += 1,
        }
    }
}

fn certify(
    question: &Question<'_>,
    policy: Option<&Policy>,
    values: &ClaimedValues,
) -> Result<CertifiedProbability, ProbabilityError> {
    let claim = ProbabilityClaim {
        question,
        stay: &Condition::True,
        policy,
        direction: Direction::Max,
        complement: false,
        over: OverStarts::Greatest,
    };
    let mut intervals;
    let choices: &mut dyn ChoicesInBoxes = match policy {
        Some(policy) => {
            intervals = IntervalChoices::new(policy);
            &mut intervals
        }
        None => &mut NothingRefuted,
    };
    let pieces = values.pieces.as_ref().expect("pieces");
    check_pieces(&claim, &values.states, pieces, 3, choices, &mut Budget::unlimited())
}

/// Other pieces, or other values of them or of states.
fn changed(values: &ClaimedValues, random: &mut Random) -> Option<ClaimedValues> {
    let mut changed = values.clone();
    let ValuedPieces { pieces, start } = changed.pieces.as_mut()?;
    if pieces.is_empty() {
        return None;
    }
    let at = random.below(pieces.len());
    let other = pieces[random.below(pieces.len())].1;
    let (piece, upper) = &mut pieces[at];
    let d = random.below(piece.sides.dimensions());
    match random.below(9) {
        0 => drop(pieces.remove(at)),
        1 => *upper = (*upper - 0.25).max(0.0),
        2 => *upper = other,
        3 => *upper /= 2.0,
        4 if !piece.sides[d].is_point() => piece.sides[d].hi -= 1,
        5 if !piece.conditions.is_empty() => {
            piece.conditions.pop();
        }
        6 => *start = &*start * &Rational::new(3, 4)?,
        7 if !changed.states.is_empty() => {
            let state = random.below(changed.states.len());
            let [lo, hi] = &mut changed.states[state].bounds;
            *lo = f64::min(*hi, *lo + 0.25);
        }
        8 if !changed.states.is_empty() => {
            let state = random.below(changed.states.len());
            let [lo, hi] = &mut changed.states[state].bounds;
            *hi = f64::max(*lo, *hi - 0.5);
        }
        _ => {
            let share = if random.percent(50) { 0.0 } else { 0.5 };
            for (_, upper) in pieces.iter_mut() {
                *upper *= share;
            }
            *start = &*start * &Rational::from_f64(share)?;
        }
    }
    Some(changed)
}
