//! Evidence of probabilities on random tiny models with random tiny policies: bounds of the solver are
//! confirmed, and whatever is confirmed after the bounds were changed is still right.

use policert_certify::{
    OverStarts, ProbabilityClaim, ProbabilityError, ValuedState, check_probability,
};
use policert_engine_api::{Budget, EngineError, Question, Silent};
use policert_explore::{ExplicitConfig, Induced, ReachQuestion, induced_mdp};
use policert_mdp::{Direction, SolveOptions, solve};
use policert_model::Condition;
use policert_numeric::Rational;
use policert_policy::Policy;
use policert_testkit::{Case, Profile, Random, case_numbers, semantics};

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
        let mut changed = values.clone();
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
