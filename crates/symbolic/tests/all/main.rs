//! The symbolic transition system of random tiny models, against the plain semantics of every state.

use std::collections::BTreeSet;

use policert_engine_api::{Budget, EngineError, Question};
use policert_model::{ModelSemantics, State, Successor};
use policert_numeric::IntBox;
use policert_policy::Policy;
use policert_symbolic::{
    ChosenBoxes, Image, Images, OperatorOutcome, Operators, PolicyRegion, SharedRegion, partition,
    shared,
};
use policert_testkit::{Case, Profile, Random, case_numbers, semantics, states, sub_box};

/// The most states of a model that is tried.
const MOST_STATES: u128 = 400;

/// A random model with a policy and all of its states.
struct Setting {
    case: Case,
    policy: Policy,
    operators: Operators,
    all: Vec<State>,
    random: Random,
    place: String,
}

/// Runs a check on random models that are small, and whose operators can be composed.
fn each_setting(seed: u64, check: &mut dyn FnMut(&mut Setting)) {
    for profile in [Profile::Unary, Profile::Linear, Profile::General] {
        for number in case_numbers(60) {
            let mut random = Random::new(number ^ seed);
            let semantics = semantics(&mut random);
            let case = Case::numbered(profile, number);
            if case.model.domains().count().is_none_or(|count| count > MOST_STATES) {
                continue;
            }
            let policy = case.policy.policy(&case.model, semantics).expect("it fits");
            let Ok(operators) = Operators::new(&case.model, policy.outputs()) else { continue };
            let all = states(&case.model);
            let place = format!("{profile:?} {number}");
            check(&mut Setting { case, policy, operators, all, random, place });
        }
    }
}

/// The successors of a state by an operator; `None` where the model is wrong there.
fn successors(setting: &Setting, operator: usize, state: &[i64]) -> Option<Vec<Successor>> {
    let question = Question::new(&setting.case.model, &setting.case.property);
    let semantics = ModelSemantics { model: question.model, rule: question.domain_rule };
    let operator = &setting.operators.all()[operator];
    if !semantics.is_enabled(operator, state).ok()? {
        return Some(Vec::new());
    }
    Some(semantics.successors(operator, state).ok()?.list)
}

#[test]
fn every_operator_is_in_the_group_of_its_label() {
    each_setting(0x6071, &mut |setting| {
        let Setting { operators, policy, all, place, .. } = setting;
        let mut seen = BTreeSet::new();
        for group in operators.environment_first() {
            assert_eq!(group.output, group.label.and_then(|l| policy.output_of(l)), "{place}");
            for &o in &group.operators {
                assert!(seen.insert(o), "{place}: operator {o} twice");
                assert_eq!(operators.all()[o].label, group.label, "{place}");
                assert_eq!(operators.output_of(o), group.output, "{place}");
            }
        }
        assert_eq!(seen.len(), operators.all().len(), "{place}");
        for (output, applicable) in operators.applicability().iter().enumerate() {
            let guards = operators.all().iter().enumerate();
            let guards = guards.filter(|(o, _)| operators.output_of(*o) == Some(output));
            let guards: Vec<_> = guards.map(|(_, operator)| &operator.guard).collect();
            for state in all.iter() {
                let any = guards.iter().any(|guard| guard.holds(state) == Ok(true));
                assert_eq!(applicable.holds(state) == Ok(true), any, "{place} {state:?}");
            }
        }
    });
}

#[test]
fn chosen_boxes_hold_the_states_in_which_the_policy_chooses_the_label() {
    let (mut inside, mut outside, mut single) = (0, 0, 0);
    each_setting(0xc805, &mut |setting| {
        let Setting { operators, policy, all, random, place, case } = setting;
        let mut exact = PolicyRegion::new(policy, operators);
        let mut boxes = ChosenBoxes::new(policy, operators);
        let part = sub_box(random, &case.model.domains());
        let output = random.below(policy.outputs().len());
        let applicable = &operators.applicability()[output];
        let budget = &mut Budget::unlimited();
        let Ok(parts) = partition(part.clone(), applicable, budget) else { return };
        boxes.enter(&part);
        let mut chosen = Vec::new();
        for enabled in parts.inside {
            boxes.add_chosen(enabled, output, &mut chosen, budget).expect("no limits");
        }
        if boxes.undecided().is_some() {
            return;
        }
        let mut any = false;
        for state in all.iter().filter(|state| part.contains(state)) {
            let expected = applicable.holds(state) == Ok(true)
                && exact.choice(state).contains(output) == Some(true);
            let count = chosen.iter().filter(|sides| sides.contains(state)).count();
            assert_eq!(count, usize::from(expected), "{place} {state:?}");
            any |= expected;
            *(if expected { &mut inside } else { &mut outside }) += 1;
        }
        // The question about the whole region.
        exact.enter(&part);
        let region = SharedRegion::new(part, shared(applicable));
        if !region.is_empty() {
            let refuted = exact.is_chosen(&region, output, budget).expect("no limits").refuted();
            assert_eq!(refuted, !any, "{place}");
            single += 1;
        }
    });
    assert!(inside > 200 && outside > 400 && single > 50, "{inside} {outside} {single}");
}

#[test]
fn images_are_the_states_after_an_operator() {
    let (mut images_seen, mut errors) = (0, 0);
    each_setting(0x1a6e, &mut |setting| {
        let part = sub_box(&mut setting.random, &setting.case.model.domains());
        let question = Question::new(&setting.case.model, &setting.case.property);
        let semantics = ModelSemantics { model: question.model, rule: question.domain_rule };
        let budget = &mut Budget::unlimited();
        for (o, operator) in setting.operators.all().iter().enumerate() {
            let images = Images::new(question.model, operator);
            let mut found: Vec<Image> = Vec::new();
            let enabled = partition(part.clone(), &operator.guard, budget).expect("bounded");
            let mut outcome = Ok(());
            for sides in &enabled.inside {
                outcome = outcome.and_then(|()| {
                    images.add_images(&semantics, operator, sides, &mut found, budget)
                });
            }
            let place = format!("{} operator {o}", setting.place);
            let mut expected: BTreeSet<(usize, State)> = BTreeSet::new();
            let mut is_wrong = false;
            for state in setting.all.iter().filter(|state| part.contains(state)) {
                // A guard without truth value is not that of an image.
                if operator.guard.holds(state) != Ok(true) {
                    continue;
                }
                match successors(setting, o, state) {
                    Some(next) => {
                        expected.extend(next.into_iter().map(|s| (s.destination, s.state)))
                    }
                    None => is_wrong = true,
                }
            }
            match outcome {
                Err(EngineError::Modelling(_)) => {
                    assert!(is_wrong, "{place}: an error in no state");
                    errors += 1;
                    continue;
                }
                outcome => outcome.unwrap_or_else(|error| panic!("{place}: {error}")),
            }
            assert!(!is_wrong, "{place}: an error that was passed over");
            let mut mapped: BTreeSet<(usize, State)> = BTreeSet::new();
            for Image { destination, image, .. } in &found {
                let points = policert_testkit::points(image);
                mapped.extend(points.into_iter().map(|state| (*destination, state)));
            }
            assert_eq!(mapped, expected, "{place}");
            images_seen += found.len();
        }
    });
    assert!(images_seen > 500 && errors > 0, "{images_seen} {errors}");
}

#[test]
fn what_is_cut_out_of_a_region_leads_out_of_a_box() {
    let (mut kept, mut dropped) = (0, 0);
    each_setting(0xc07, &mut |setting| {
        let domains = setting.case.model.domains();
        let question = Question::new(&setting.case.model, &setting.case.property);
        let reason: IntBox = sub_box(&mut setting.random, &domains);
        if reason.is_empty() {
            return;
        }
        for (o, operator) in setting.operators.all().iter().enumerate() {
            let applicable = SharedRegion::new(domains.clone(), shared(&operator.guard));
            for (d, destination) in operator.destinations.iter().enumerate() {
                if !destination.choices.is_empty() {
                    continue;
                }
                let outcome = OperatorOutcome::new(&question, destination);
                let region = outcome.region(&applicable);
                let hull = outcome.hull(&region.sides);
                let mut parts = Vec::new();
                if !region.is_empty() {
                    outcome.cut(region, &reason, &mut parts);
                }
                let place = format!("{} operator {o} outcome {d}", setting.place);
                for state in &setting.all {
                    let next = successors(setting, o, state);
                    let next = next.iter().flatten().find(|s| s.destination == d);
                    let Some(next) = next.map(|s| &s.state) else { continue };
                    assert!(hull.contains(next), "{place} {state:?}");
                    assert_eq!(outcome.target(state).as_ref(), Some(next), "{place} {state:?}");
                    let holds = |part: &&SharedRegion| {
                        part.sides.contains(state)
                            && part.conditions.iter().all(|c| c.holds(state) == Ok(true))
                    };
                    let count = parts.iter().filter(holds).count();
                    assert_eq!(count, usize::from(!reason.contains(next)), "{place} {state:?}");
                    *(if count > 0 { &mut kept } else { &mut dropped }) += 1;
                }
            }
        }
    });
    assert!(kept > 500 && dropped > 500, "{kept} {dropped}");
}
