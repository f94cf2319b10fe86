//! The refinement loop on a walk along a line: one claim each.

use policert_engine_api::{Budget, Question, Silent, Verdict};
use policert_model::{Predicate, Start};

use super::*;
use crate::hand_made::{PLACE, at_most, rests_at, unsafe_from, walk};

/// Asks whether the walk with this fence reaches an unsafe place; `rest` is where the policy rests.
fn ask(fence: i64, rest: Option<i64>, first_unsafe: i64, predicates: &[i64]) -> CegarReport {
    let model = walk(fence);
    let mut property = unsafe_from(first_unsafe);
    property.predicates = predicates
        .iter()
        .map(|&value| Predicate { text: String::new(), condition: at_most(value) })
        .collect();
    let policy = rest.map(|rest| rests_at(rest, &model));
    run(&Question::new(&model, &property), policy.as_ref())
}

fn run(question: &Question<'_>, policy: Option<&Policy>) -> CegarReport {
    let budget = &mut Budget::unlimited();
    let (tests, config) = (PpaConfig::default(), CegarConfig::default());
    cegar(question, policy, &tests, config, budget, &mut Silent, None).expect("it is supported")
}

#[test]
fn a_policy_that_rests_before_the_unsafe_places_is_safe() {
    let report = ask(9, Some(5), 8, &[]);
    assert_eq!(report.verdict, Verdict::Safe { vacuous: false });
    assert!(!report.refinements.is_empty());
}

#[test]
fn a_policy_that_goes_on_too_far_is_unsafe() {
    assert!(matches!(ask(9, Some(8), 8, &[]).verdict, Verdict::Unsafe(_)));
    assert!(matches!(ask(9, Some(7), 8, &[]).verdict, Verdict::Safe { .. }));
}

#[test]
fn a_run_goes_step_by_step_to_the_first_unsafe_place() {
    let Verdict::Unsafe(trace) = ask(9, None, 4, &[]).verdict else { panic!("it is unsafe") };
    let places: Vec<i64> = trace.steps.iter().map(|step| step.state[PLACE.index()]).collect();
    assert_eq!((trace.start[PLACE.index()], places), (0, vec![1, 2, 3, 4]));
}

#[test]
fn a_fence_before_the_unsafe_places_is_found_without_policy() {
    let report = ask(6, None, 8, &[]);
    assert_eq!(report.verdict, Verdict::Safe { vacuous: false });
    assert!(!report.refinements.is_empty());
    assert!(!report.refinements.contains_key(&Origin::Choice), "{:?}", report.refinements);
}

#[test]
fn an_unsafe_start_state_is_a_run_without_steps() {
    let Verdict::Unsafe(trace) = ask(9, Some(5), 0, &[]).verdict else { panic!("it is unsafe") };
    assert!(trace.steps.is_empty());
}

#[test]
fn without_start_states_the_verdict_is_vacuous() {
    let model = walk(9);
    let mut property = unsafe_from(8);
    property.start = Some(Start::States(Vec::new()));
    let mut question = Question::new(&model, &property);
    question.initial_states = false;
    assert_eq!(run(&question, None).verdict, Verdict::Safe { vacuous: true });
}

#[test]
fn listed_predicates_that_suffice_are_not_refined() {
    let report = ask(9, Some(5), 8, &[4, 5]);
    assert_eq!(report.verdict, Verdict::Safe { vacuous: false });
    assert_eq!((report.iterations, report.refinements.len()), (1, 0));
    assert_eq!(report.predicates, BTreeMap::from([(Origin::Property, 3)]));
}
