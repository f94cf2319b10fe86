//! Parts of a model that take part in no run, against brute force on random models.

use std::ops::ControlFlow;

use policert_model::{InstanceId, LabelId, Model, Operator, Satisfiable, Start};
use policert_testkit::{Case, Profile, case_numbers, states};

fn go_on() -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn operators(model: &Model) -> Vec<Operator> {
    model.operators(100_000).expect("a tiny model")
}

/// Returns whether an operator takes an edge of this action of this instance.
fn takes(model: &Model, operator: &Operator, instance: InstanceId, action: LabelId) -> bool {
    operator
        .key
        .edges
        .iter()
        .any(|&(i, e)| i == instance && model.instance(i).edges[e as usize].action == Some(action))
}

#[test]
fn actions_that_never_synchronise_are_those_that_no_operator_takes() {
    let (mut idle, mut all) = (0, 0);
    for number in case_numbers(150) {
        let mut model = Case::numbered(Profile::General, number).model;
        // More often than by chance, an action that one side does not have.
        if number % 2 == 0 {
            for instance in &mut model.instances {
                instance.edges.retain(|edge| edge.action != Some(LabelId(1)));
            }
        }
        let operators = operators(&model);
        let never = model.never_synchronised();
        for (i, instance) in model.instances.iter().enumerate() {
            let instance_id = InstanceId::new(i);
            for edge in &instance.edges {
                let Some(action) = edge.action else { continue };
                let taken = operators.iter().any(|o| takes(&model, o, instance_id, action));
                assert_eq!(never.contains(&(instance_id, action)), !taken, "case {number}");
                idle += usize::from(!taken);
                all += 1;
            }
        }
        let carried = |label: &LabelId| operators.iter().any(|o| o.label == Some(*label));
        for label in model.labels_without_operator() {
            assert!(!carried(&label), "case {number}");
        }
        for result in model.vectors.iter().filter_map(|v| v.result) {
            let without = model.labels_without_operator().contains(&result);
            assert_eq!(without, !carried(&result), "case {number}");
        }
    }
    assert!(idle > 10 && idle < all, "{idle} of {all}: the generator yields both");
}

#[test]
fn labels_that_are_never_applicable_have_no_state() {
    let (mut never, mut all) = (0, 0);
    for number in case_numbers(120) {
        let model = Case::numbered(Profile::General, number).model;
        let operators = operators(&model);
        let states = states(&model);
        let found = model.labels_never_applicable(&mut go_on);
        for label in model.operator_labels() {
            let applicable = operators
                .iter()
                .filter(|operator| operator.label == Some(label))
                .any(|operator| states.iter().any(|s| operator.guard.holds(s) == Ok(true)));
            assert_eq!(found.contains(&label), !applicable, "case {number}");
            never += usize::from(!applicable);
            all += 1;
        }
        assert!(model.labels_never_applicable(&mut || ControlFlow::Break(())).is_empty());
    }
    assert!(never > 2 && never < all, "{never} of {all}: the generator yields both");
}

#[test]
fn conditions_and_start_states_that_no_state_satisfies() {
    let mut found = [0; 2];
    for number in case_numbers(150) {
        let Case { model, property, .. } = Case::numbered(Profile::General, number);
        let states = states(&model);
        let is_unsafe = |s: &Vec<i64>| property.unsafe_condition.holds(s) == Ok(true);
        let expected =
            if states.iter().any(is_unsafe) { Satisfiable::Yes } else { Satisfiable::No };
        let answer = model.satisfiable(&property.unsafe_condition, &mut go_on);
        assert_eq!(answer, expected, "case {number}");
        found[usize::from(answer == Satisfiable::Yes)] += 1;

        let (condition, sides) = model.initial_states();
        let initial = |s: &Vec<i64>| sides.contains(s) && condition.holds(s) == Ok(true);
        let named = |s: &Vec<i64>| match &property.start {
            None => false,
            Some(Start::Condition(condition)) => condition.holds(s) == Ok(true),
            Some(Start::States(states)) => states.contains(s),
        };
        for with_initial in [false, true] {
            let counts = with_initial || property.start.is_none();
            let some = states.iter().any(|s| named(s) || counts && initial(s));
            let expected = if some { Satisfiable::Yes } else { Satisfiable::No };
            let answer = model.has_start_state(property.start.as_ref(), with_initial, &mut go_on);
            assert_eq!(answer, expected, "case {number}");
        }
    }
    assert!(found.iter().all(|&count| count > 5), "{found:?}");
}

#[test]
fn a_search_that_is_stopped_claims_nothing() {
    let Case { model, property, .. } = Case::numbered(Profile::Unary, 1);
    let mut stop = || ControlFlow::Break(());
    assert_eq!(model.satisfiable(&property.unsafe_condition, &mut stop), Satisfiable::Unknown);
}
