//! Evidence of probabilities on random tiny models with random tiny policies: bounds of the solver are
//! confirmed, and whatever is confirmed after the bounds were changed is still right.

use policert_certify::{
    CertifiedProbability, OverStarts, ProbabilityClaim, ProbabilityError, ValuedState,
    check_probability,
};
use policert_engine_api::{Budget, EngineError, Question, Silent};
use policert_explore::{ExplicitConfig, Induced, ReachQuestion, induced_mdp};
use policert_mdp::{Direction, Reachability, SolveOptions, solve};
use policert_model::Condition;
use policert_numeric::Rational;
use policert_policy::Policy;
use policert_testkit::{Case, Profile, Random, Setting, case_numbers, semantics};

use crate::engines_agree::setting::drawing;

/// States up to which the reference is asked: its numbers have hundreds of digits.
const MOST_DRAWN: usize = 12;

#[derive(Debug, Default)]
struct Tally {
    confirmed: usize,
    between: usize,
    rejected: usize,
    loosened: usize,
    paths: usize,
    /// Least probabilities above 0.
    least: usize,
}

#[test]
fn what_is_confirmed_is_right() {
    let mut tally = Tally::default();
    for profile in [Profile::Unary, Profile::Linear, Profile::General] {
        for number in case_numbers(60) {
            check(profile, number, &mut tally);
        }
    }
    assert!(tally.confirmed > 60 && tally.between > 6 && tally.least > 6, "{tally:?}");
    assert!(tally.rejected > 30 && tally.loosened > 8 && tally.paths > 30, "{tally:?}");
}

fn check(profile: Profile, number: u64, tally: &mut Tally) {
    let place = format!("{profile:?} {number}");
    let case = Case::numbered(profile, number);
    let mut random = Random::new(number ^ 0xe51d);
    let semantics = semantics(&mut random);
    let policy = case.policy.policy(&case.model, semantics).expect("it fits");
    let policy = random.percent(70).then_some(policy);
    let terminal = case.property.goal.clone().filter(|_| random.percent(30));
    let question = Question { terminal, ..Question::new(&case.model, &case.property) };
    let Some(induced) = induce(&question, policy.as_ref()) else { return };
    let direction = if random.percent(40) { Direction::Min } else { Direction::Max };
    let complement = random.percent(30);
    let problem = induced.problem(direction);
    let options = SolveOptions { exact: true, ..SolveOptions::default() };
    let solution = solve(&problem, &options, &mut Budget::unlimited()).expect("solvable");
    let asked = |value: &Rational| match complement {
        true => &Rational::ONE - value,
        false => value.clone(),
    };
    let exact: Vec<Rational> = solution.initial.iter().map(|bounds| asked(&bounds.lo)).collect();
    let greatest = exact.iter().cloned().fold(Rational::ZERO, Rational::max);
    let open = |&id: &u32| !induced.target.contains(id) && !induced.avoid.contains(id);
    let values: Vec<ValuedState> = problem
        .mdp
        .state_range()
        .filter(open)
        .map(|id| ValuedState { state: induced.state(id), bounds: solution.float_bounds(id) })
        .collect();
    let over = *random.pick(&[
        OverStarts::Greatest,
        OverStarts::Greatest,
        OverStarts::Least,
        OverStarts::Sum,
        OverStarts::Average,
    ]);
    let claim = ProbabilityClaim {
        question: &question,
        stay: &Condition::True,
        policy: policy.as_ref(),
        direction,
        complement,
        over,
    };
    let exact = match over {
        OverStarts::Greatest => greatest,
        OverStarts::Least => exact.iter().cloned().reduce(Rational::min).unwrap_or_default(),
        OverStarts::Sum => exact.iter().cloned().sum(),
        OverStarts::Average => {
            let count = i64::try_from(exact.len()).expect("few");
            let sum: Rational = exact.iter().cloned().sum();
            &sum * &Rational::new(1, count).unwrap_or_default()
        }
    };
    let check =
        |values: &[ValuedState]| check_probability(&claim, values, 3, &mut Budget::unlimited());
    let confirmed = check(&values).unwrap_or_else(|error| panic!("{place}: {error}"));
    assert!(confirmed.lower <= exact && exact <= confirmed.upper, "{place}: {confirmed:?}");
    let width = &confirmed.upper - &confirmed.lower;
    assert!(width <= Rational::from_f64(1e-5).expect("finite"), "{place}: {confirmed:?}");
    let mass = confirmed.paths.iter().map(|path| path.probability.clone()).sum::<Rational>();
    let is_plain = direction == Direction::Max && !complement;
    if is_plain && matches!(over, OverStarts::Greatest | OverStarts::Least) {
        assert!(mass <= exact, "{place}: {confirmed:?}");
    }
    for path in &confirmed.paths {
        let end = path.steps.last().map_or(&path.start, |step| &step.state);
        assert!(question.is_unsafe(end), "{place}: {path:?}");
        let product = path.steps.iter().fold(Rational::ONE, |p, s| &p * &s.probability);
        assert_eq!(product, path.probability, "{place}");
    }
    if is_plain {
        assert_eq!(confirmed.paths.is_empty(), exact.is_zero(), "{place}");
    }
    tally.least += usize::from(direction == Direction::Min && !exact.is_zero());
    tally.paths += confirmed.paths.len();
    tally.confirmed += 1;
    tally.between += usize::from(!exact.is_zero() && exact != Rational::ONE);
    for _ in 0..12 {
        if values.is_empty() {
            return;
        }
        let changed = with_changed_bounds(&values, &mut random);
        match check(&changed) {
            Ok(confirmed) => {
                let contained = confirmed.lower <= exact && exact <= confirmed.upper;
                assert!(contained, "{place}: {confirmed:?}");
                tally.loosened += 1;
            }
            Err(ProbabilityError::Upper { .. } | ProbabilityError::Lower(_)) => tally.rejected += 1,
            Err(error) => panic!("{place}: {error}"),
        }
    }
    let mut twice = values.clone();
    twice.push(values[0].clone());
    assert!(matches!(check(&twice), Err(ProbabilityError::NoState(_))), "{place}");
}

/// Values of which one or two have other bounds.
fn with_changed_bounds(values: &[ValuedState], random: &mut Random) -> Vec<ValuedState> {
    let mut changed = values.to_vec();
    for _ in 0..1 + random.below(2) {
        let at = random.below(changed.len());
        let [lo, hi] = &mut changed[at].bounds;
        match random.below(4) {
            0 => *lo = f64::min(*hi, *lo + 0.25),
            1 => *hi = f64::max(*lo, *hi - 0.25),
            2 => (*lo, *hi) = (1.0, 1.0),
            _ => (*lo, *hi) = (0.0, *hi),
        }
    }
    changed
}

/// Bounds by state from below and from above are confirmed where the policy draws its labels, and hold of the
/// probabilities of the reference.
#[test]
fn what_is_confirmed_is_right_where_labels_are_drawn() {
    let mut tally = Tally::default();
    for profile in [Profile::Unary, Profile::Linear, Profile::General] {
        for number in case_numbers(40) {
            check_drawn(&drawing(profile, number, false), number, &mut tally);
        }
    }
    assert!(tally.confirmed > 30 && tally.between > 5, "{tally:?}");
    assert!(tally.rejected > 50 && tally.loosened > 10, "{tally:?}");
}

fn check_drawn(setting: &Setting, number: u64, tally: &mut Tally) {
    let place = &setting.place;
    let mut random = Random::new(number ^ 0xd2a7);
    let (question, policy) = (setting.question(), setting.policy());
    let process = setting.oracle(&question).decision_process(MOST_DRAWN);
    let Some(process) = process.ok().flatten() else { return };
    let Some(induced) = induce(&question, policy.as_ref()) else { return };
    let options = SolveOptions { precision: 1e-9, ..SolveOptions::default() };
    let below = induced.problem(Direction::Max);
    let above = Reachability { mdp: induced.above.as_ref().unwrap_or(&induced.mdp), ..below };
    let [lower, upper] = [below, above]
        .map(|problem| solve(&problem, &options, &mut Budget::unlimited()).expect("solvable"));
    let open = |&id: &u32| !induced.target.contains(id) && !induced.avoid.contains(id);
    let values: Vec<ValuedState> = below
        .mdp
        .state_range()
        .filter(open)
        .map(|id| {
            let bounds = [lower.float_bounds(id)[0], upper.float_bounds(id)[1]];
            ValuedState { state: induced.state(id), bounds }
        })
        .collect();
    let claim = ProbabilityClaim {
        question: &question,
        stay: &Condition::True,
        policy: policy.as_ref(),
        direction: Direction::Max,
        complement: false,
        over: OverStarts::Greatest,
    };
    let check = |values: &[ValuedState], most_paths: usize| {
        check_probability(&claim, values, most_paths, &mut Budget::unlimited())
    };
    let values_of_states = process.greatest();
    let exact = process.start.iter().map(|&state| values_of_states[state].clone());
    let exact = exact.reduce(Rational::max).unwrap_or_default();
    // What the reference is wrong by.
    let slip = Rational::integer(2).pow(-100).expect("small");
    let holds = |confirmed: &CertifiedProbability| {
        confirmed.lower <= &exact + &slip && exact <= &confirmed.upper + &slip
    };
    let confirmed = check(&values, 3).unwrap_or_else(|error| panic!("{place}: {error}"));
    assert!(holds(&confirmed), "{place}: {exact} {confirmed:?}");
    let width = (&confirmed.upper - &confirmed.lower).to_f64();
    assert!(width < 1e-6, "{place}: {confirmed:?}");
    for path in &confirmed.paths {
        let end = path.steps.last().map_or(&path.start, |step| &step.state);
        assert!(question.is_unsafe(end), "{place}: {path:?}");
        assert!(path.probability <= &exact + &slip, "{place}: {path:?}");
    }
    tally.confirmed += 1;
    tally.between += usize::from(!exact.is_zero() && exact != Rational::ONE);
    for _ in 0..6 {
        if values.is_empty() {
            return;
        }
        match check(&with_changed_bounds(&values, &mut random), 0) {
            Ok(confirmed) => {
                assert!(holds(&confirmed), "{place}: {exact} {confirmed:?}");
                tally.loosened += 1;
            }
            Err(ProbabilityError::Upper { .. } | ProbabilityError::Lower(_)) => tally.rejected += 1,
            Err(error) => panic!("{place}: {error}"),
        }
    }
}

fn induce(question: &Question<'_>, policy: Option<&Policy>) -> Option<Induced> {
    let question = ReachQuestion { question: question.clone(), stay: Condition::True };
    let config = ExplicitConfig::default();
    match induced_mdp(&question, policy, &config, &mut Budget::unlimited(), &mut Silent) {
        Ok(induced) if induced.undecided.is_some() || induced.mdp.states() > 400 => None,
        Ok(induced) => Some(induced),
        Err(EngineError::Modelling(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

/// A loop that never ends promises nothing, whatever values say.
#[test]
fn a_loop_is_no_lower_bound() {
    for number in 0..60 {
        let case = Case::numbered(Profile::Unary, number);
        let question = Question::new(&case.model, &case.property);
        let Some(induced) = induce(&question, None) else { continue };
        let problem = induced.problem(Direction::Max);
        let solution = solve(&problem, &SolveOptions::default(), &mut Budget::unlimited());
        let solution = solution.expect("solvable");
        if solution.initial.iter().any(|bounds| !bounds.hi.is_zero()) || induced.initial.is_empty()
        {
            continue;
        }
        // Nothing is reached, and yet 1 is no less than the mean of ones.
        let values: Vec<ValuedState> = problem
            .mdp
            .state_range()
            .map(|id| ValuedState { state: induced.state(id), bounds: [1.0, 1.0] })
            .collect();
        let claim = ProbabilityClaim {
            question: &question,
            stay: &Condition::True,
            policy: None,
            direction: Direction::Max,
            complement: false,
            over: OverStarts::Greatest,
        };
        let checked = check_probability(&claim, &values, 0, &mut Budget::unlimited());
        assert!(matches!(checked, Err(ProbabilityError::Lower(_))), "{number}: {checked:?}");
    }
}
