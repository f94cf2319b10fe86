//! The oracle agrees with the plain semantics of the model and with the policy's own decisions,
//! which were written apart from it.

use std::collections::BTreeSet;

use policert_engine_api::{Budget, Question};
use policert_model::{DomainRule, ModelSemantics, SafetyProperty, Start};
use policert_policy::{Filter, PolicySemantics, Ties};
use policert_testkit::oracle::Oracle;
use policert_testkit::oracle::policy::{best_labels, chosen_labels};
use policert_testkit::{Case, Profile, case_numbers, states};

const PROFILES: [Profile; 3] = [Profile::Unary, Profile::Linear, Profile::General];

fn case(number: u64) -> Case {
    Case::numbered(PROFILES[(number % 3) as usize], number)
}

fn all_semantics() -> Vec<PolicySemantics> {
    let mut all = Vec::new();
    for ties in [Ties::First, Ties::Any, Ties::Strict] {
        for filter in [Filter::None, Filter::Applicable] {
            all.push(PolicySemantics { ties, filter, ..PolicySemantics::default() });
        }
    }
    all
}

#[test]
fn choices_are_those_of_the_policy() {
    let (mut decided, mut several, mut nothing) = (0, 0, 0);
    for number in case_numbers(150) {
        let case = case(number);
        let model = &case.model;
        let operators = model.operators(10_000).unwrap();
        let plain = ModelSemantics { model, rule: DomainRule::Drop };
        for semantics in all_semantics() {
            let policy = case.policy.policy(model, semantics).unwrap();
            let mut chooser = policy.chooser();
            for state in states(model).iter().step_by(3) {
                let applicable = plain.applicable_labels(&operators, state).unwrap();
                let mask: Vec<bool> =
                    policy.outputs().iter().map(|l| applicable.contains(l)).collect();
                let mut inputs = Vec::new();
                policy.read_inputs(state, &mut inputs);
                let choice = chooser.choose(&inputs, &mask);
                let Ok(best) = best_labels(&case.policy, semantics.filter, state, &applicable)
                else {
                    continue;
                };
                let expected = chosen_labels(semantics.ties, &best);
                let chosen: Vec<_> =
                    choice.outputs().iter().map(|&i| policy.outputs()[i]).collect();
                assert_eq!(chosen, expected, "case {number}, {semantics} in {state:?}");
                decided += 1;
                several += usize::from(chosen.len() > 1);
                nothing += usize::from(chosen.is_empty());
            }
        }
    }
    assert!(decided > 20_000 && several > 500 && nothing > 500, "{decided} {several} {nothing}");
}

#[test]
fn transitions_without_a_policy_are_those_of_the_model() {
    for number in case_numbers(150) {
        let case = case(number);
        let model = &case.model;
        let operators = model.operators(10_000).unwrap();
        for rule in [DomainRule::Drop, DomainRule::Error] {
            let mut question = Question::new(model, &case.property);
            question.domain_rule = rule;
            let oracle = Oracle::new(question, None);
            let plain = ModelSemantics { model, rule };
            for state in states(model).iter().step_by(5) {
                let mut expected = Ok(Vec::new());
                for operator in &operators {
                    match plain.is_enabled(operator, state) {
                        Ok(false) => {}
                        Err(error) => expected = Err(error),
                        Ok(true) => match plain.successors(operator, state) {
                            Err(error) => expected = Err(error),
                            Ok(found) => {
                                if let Ok(all) = &mut expected {
                                    all.extend(
                                        found.list.into_iter().map(|s| (operator.label, s.state)),
                                    );
                                }
                            }
                        },
                    }
                }
                let found = oracle.expand(state).map(|expansion| {
                    let transitions = expansion.transitions.into_iter();
                    transitions.map(|t| (t.label, t.step.state)).collect::<Vec<_>>()
                });
                assert_eq!(found.ok(), expected.ok(), "case {number} in {state:?}");
            }
        }
    }
}

#[test]
fn start_states_are_those_of_the_question() {
    for number in case_numbers(300) {
        let case = case(number);
        for initial_states in [true, false] {
            let mut question = Question::new(&case.model, &case.property);
            question.initial_states = initial_states;
            let mut found = BTreeSet::new();
            question
                .for_each_start_state(&mut Budget::unlimited(), &mut |state| {
                    found.insert(state.to_vec());
                    Ok(())
                })
                .unwrap();
            assert_eq!(found, Oracle::new(question, None).start_states(), "case {number}");
        }
    }
}

#[test]
fn shrinking_the_start_or_the_unsafe_condition_keeps_a_case_safe() {
    let mut kept = 0;
    for number in case_numbers(150) {
        let case = case(number);
        let ask = |property: &SafetyProperty, initial_states| {
            let mut question = Question::new(&case.model, property);
            question.initial_states = initial_states;
            Oracle::new(question, Some((&case.policy, PolicySemantics::default()))).reachable()
        };
        let all = ask(&case.property, true);
        if !all.is_safe() {
            continue;
        }
        let start = all.start_states.iter().take(1).cloned().collect();
        let fewer = SafetyProperty { start: Some(Start::States(start)), ..case.property.clone() };
        assert!(ask(&fewer, false).is_safe(), "case {number}");
        let harmless = SafetyProperty {
            unsafe_condition: policert_model::Condition::False,
            ..case.property.clone()
        };
        assert!(ask(&harmless, true).is_safe(), "case {number}");
        kept += 1;
    }
    assert!(kept > 30, "{kept}");
}

#[test]
fn the_abstraction_contains_every_concrete_path() {
    for number in case_numbers(150) {
        let case = case(number);
        let question = Question::new(&case.model, &case.property);
        let oracle = Oracle::new(question, Some((&case.policy, PolicySemantics::default())));
        let truth = oracle.reachable();
        let graph = oracle.abstract_graph();
        let reachable = graph.reachable();
        for state in truth.distances.keys() {
            let unsafe_before = graph.abstract_states[&oracle.abstraction(state)].is_unsafe;
            let reached = reachable.distances.contains_key(&oracle.abstraction(state));
            assert!(reached || reachable.shortest.is_some() || unsafe_before, "case {number}");
        }
        // an abstract path is never longer than the concrete one it stands for
        if let Some(steps) = truth.shortest {
            assert!(reachable.shortest.is_some_and(|least| least <= steps), "case {number}");
        }
        let states: usize = graph.abstract_states.values().map(|p| p.concretizations).sum();
        assert_eq!(states, self::states(&case.model).len());
    }
}
