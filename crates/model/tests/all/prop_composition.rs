//! Composed operators do what the automata do, edge by edge, in every state of small models.

use policert_model::{Composer, Condition, DomainRule, ModelSemantics, Operator, VarId};
use policert_testkit::oracle::steps::{Steps, is_enabled, joint_edges, steps};
use policert_testkit::{Case, Expressions, Forms, Profile, Random, case_numbers, states};

const PROFILES: [Profile; 3] = [Profile::Unary, Profile::Linear, Profile::General];
const RULES: [DomainRule; 2] = [DomainRule::Drop, DomainRule::Error];

/// The number of times that something was met.
#[derive(Default, Debug)]
struct Met {
    steps: usize,
    dropped: usize,
    broken: usize,
    undefined_guards: usize,
    choices: usize,
    joint: usize,
    state_dependent: usize,
}

#[test]
fn operators_do_what_the_automata_do() {
    let mut met = Met::default();
    for number in case_numbers(300) {
        for profile in PROFILES {
            let case = Case::numbered(profile, number);
            let model = &case.model;
            let operators = model.operators(10_000).unwrap();
            let joint = joint_edges(model);
            assert_eq!(operators.len(), joint.len());
            assert_eq!(model.operator_count(), joint.len() as u128);
            for (operator, joint) in operators.iter().zip(&joint) {
                assert_eq!((&operator.key, operator.label), (&joint.key, joint.label));
            }
            for state in states(model) {
                for rule in RULES {
                    let semantics = ModelSemantics { model, rule };
                    let mut labels = Vec::new();
                    for (operator, joint) in operators.iter().zip(&joint) {
                        let at = || format!("{profile:?} {number}: {:?} in {state:?}", joint.key);
                        let enabled = semantics.is_enabled(operator, &state);
                        let expected = is_enabled(model, rule, joint, &state);
                        assert_eq!(enabled.as_ref().ok(), expected.as_ref().ok(), "{}", at());
                        met.undefined_guards += usize::from(enabled.is_err());
                        if enabled != Ok(true) {
                            continue;
                        }
                        labels.extend(operator.label);
                        let expected = steps(model, rule, joint, &state);
                        let found = semantics.successors(operator, &state);
                        match (&found, &expected) {
                            (Ok(found), Ok(expected)) => {
                                let pair = (found.list.len(), found.dropped > 0);
                                assert_eq!(
                                    pair,
                                    (expected.list.len(), expected.dropped),
                                    "{}",
                                    at()
                                );
                                for (a, b) in found.list.iter().zip(&expected.list) {
                                    assert_eq!(a.state, b.state, "{}", at());
                                    assert_eq!(a.choices, b.choices, "{}", at());
                                    assert_eq!(a.destination, b.destination, "{}", at());
                                }
                                check_probabilities(operator, &state, expected);
                                met.count(operator, expected);
                            }
                            (Err(_), Err(_)) => met.broken += 1,
                            _ => panic!("{}: {found:?}, {expected:?}", at()),
                        }
                    }
                    labels.sort_unstable();
                    labels.dedup();
                    let applicable = semantics.applicable_labels(&operators, &state);
                    assert!(applicable.is_err() || applicable == Ok(labels));
                }
            }
        }
    }
    let Met { steps, dropped, broken, undefined_guards, choices, joint, state_dependent } = met;
    let counts = [steps, dropped, broken, undefined_guards, choices, joint, state_dependent];
    assert!(counts.iter().all(|&n| n > 200), "{met:?}");
}

impl Met {
    fn count(&mut self, operator: &Operator, expected: &Steps) {
        self.steps += expected.list.len();
        self.dropped += usize::from(expected.dropped);
        self.choices += expected.list.iter().filter(|step| !step.choices.is_empty()).count();
        self.joint += usize::from(operator.key.edges.len() > 1);
        let dependent =
            |p: &policert_model::Probability| matches!(p, policert_model::Probability::Expr(_));
        self.state_dependent +=
            usize::from(operator.destinations.iter().any(|d| dependent(&d.probability)));
    }
}

fn check_probabilities(operator: &Operator, state: &[i64], expected: &Steps) {
    for step in &expected.list {
        let probability = match &operator.destinations[step.destination].probability {
            policert_model::Probability::Constant(p) => p.clone(),
            policert_model::Probability::Expr(p) => p.eval(state).expect("a probability"),
        };
        assert_eq!(probability, step.probability);
    }
}

#[test]
fn composing_one_by_one_is_composing_all() {
    for number in case_numbers(100) {
        let model = Case::numbered(PROFILES[(number % 3) as usize], number).model;
        let operators = model.operators(10_000).unwrap();
        let mut composer = Composer::new(&model);
        let mut ids = Vec::new();
        for key in model.operator_keys().chain(model.operator_keys()) {
            ids.push(composer.compose(&key).unwrap());
        }
        assert_eq!(composer.operators(), operators);
        assert_eq!(ids[..operators.len()], ids[operators.len()..]);
        assert!(
            model.operators(operators.len().saturating_sub(1)).is_err() || operators.is_empty()
        );
    }
}

#[test]
fn outcomes_exist_where_they_lead_to_a_state_and_preconditions_are_exact() {
    let (mut existing, mut missing) = (0, 0);
    for number in case_numbers(300) {
        for profile in PROFILES {
            let case = Case::numbered(profile, number);
            let model = &case.model;
            let mut random = Random::new(number);
            let after = Condition::from_expr(
                &Expressions::new(&model.variables, Forms::Total).boolean(&mut random, 2),
            );
            let semantics = ModelSemantics { model, rule: DomainRule::Drop };
            for operator in &model.operators(10_000).unwrap() {
                let exists: Vec<Condition> =
                    operator.destinations.iter().map(|d| d.exists(&model.variables)).collect();
                let before: Vec<Condition> =
                    operator.destinations.iter().map(|d| d.weakest_precondition(&after)).collect();
                for state in states(model) {
                    let Ok(found) = semantics.successors(operator, &state) else { continue };
                    for (d, destination) in operator.destinations.iter().enumerate() {
                        for choices in choices_in_domains(model, destination) {
                            let point = [state.as_slice(), &choices].concat();
                            let next = found
                                .list
                                .iter()
                                .find(|s| s.destination == d && s.choices == choices);
                            let holds = exists[d].holds(&point) == Ok(true);
                            let at = || format!("{profile:?} {number}: {operator:?} at {point:?}");
                            assert_eq!(holds, next.is_some(), "{}", at());
                            if let Some(next) = next {
                                let expected = after.holds(&next.state);
                                assert_eq!(before[d].holds(&point), expected, "{}", at());
                                existing += 1;
                            } else {
                                missing += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(existing > 10_000 && missing > 1000, "{existing}, {missing}");
}

/// All values of the choices of a destination within the domains of their variables.
fn choices_in_domains(
    model: &policert_model::Model,
    destination: &policert_model::Destination,
) -> Vec<Vec<i64>> {
    let domain = |v: VarId| model.variables[v.index()].domain;
    let sides = destination.choices.iter().map(|choice| domain(choice.target)).collect();
    policert_testkit::points(&policert_numeric::IntBox::new(sides))
}
