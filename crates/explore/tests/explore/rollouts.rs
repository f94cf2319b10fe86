//! Random runs take steps that there are by the definition, and all of them, on random models.

use std::collections::BTreeSet;

use policert_engine_api::{Budget, Question};
use policert_explore::{PolicySuccessors, Random as Numbers, Rollout, RunStep, StartSampler};
use policert_model::{DomainRule, LabelId, Start, State};
use policert_testkit::{Random, case_numbers};

use crate::random_model::random_case;

/// Steps drawn from one state and choice: enough to see every successor of small models.
const DRAWS: usize = 400;

#[test]
fn steps_are_the_successors() {
    let (mut moved, mut stuck, mut complete) = (0u32, 0u32, 0u32);
    for number in case_numbers(150) {
        let mut random = Random::new(number);
        let (model, property) = random_case(&mut random);
        let rule = if random.percent(75) { DomainRule::Drop } else { DomainRule::Error };
        let question = Question { domain_rule: rule, ..Question::new(&model, &property) };
        let labels = (0..model.labels.len()).map(LabelId::new);
        let outputs: Vec<LabelId> = labels.filter(|_| random.percent(70)).collect();
        let Ok(starts) = StartSampler::new(&question, 1000, &mut Budget::unlimited()) else {
            continue;
        };
        let mut successors = PolicySuccessors::new(&question, None);
        let mut rollout = Rollout::new(&question, &outputs);
        let mut numbers = Numbers::new(number);
        let mut state = State::new();
        starts.draw(&mut state, &mut numbers).expect("a start");
        for _ in 0..6 {
            // Errors of the model are errors of both, see below.
            let Ok(all) = successors.of(&state) else { break };
            if rollout.enter(&state).is_err() {
                break;
            }
            let wanted = |label: Option<LabelId>, output: Option<usize>| match label {
                Some(label) => {
                    outputs.iter().position(|&o| o == label).is_none_or(|k| output == Some(k))
                }
                None => true,
            };
            let output = random.percent(80).then(|| random.below(outputs.len().max(1)));
            let output = output.filter(|&k| k < outputs.len());
            let expected: BTreeSet<(Option<LabelId>, usize, State)> = all
                .list
                .iter()
                .filter(|s| wanted(s.label, output))
                .map(|s| (s.label, s.destination, s.state.clone()))
                .collect();
            for (k, &label) in outputs.iter().enumerate() {
                // What drops all its outcomes is applicable without a successor.
                let has_successor = all.list.iter().any(|s| s.label == Some(label));
                assert!(rollout.applicable()[k] || !has_successor, "case {number}");
            }
            let mut found = BTreeSet::new();
            for _ in 0..DRAWS {
                rollout.enter(&state).expect("entered before");
                match rollout.step(output, &mut numbers) {
                    Ok(RunStep::Moved { operator, destination }) => {
                        let label = rollout.operator(operator).label;
                        found.insert((label, destination, rollout.state().to_vec()));
                        moved += 1;
                    }
                    Ok(RunStep::Dropped { .. }) => assert!(all.dropped > 0, "case {number}"),
                    Ok(RunStep::Stuck) => {
                        assert!(expected.is_empty(), "case {number}");
                        stuck += 1;
                    }
                    // An error of the state after it.
                    Err(_) => assert_eq!(rule, DomainRule::Error, "case {number}"),
                }
            }
            assert!(found.is_subset(&expected), "case {number}: {found:?} of {expected:?}");
            complete += u32::from(found == expected);
            match found.into_iter().next() {
                Some((_, _, next)) => state = next,
                None => break,
            }
        }
    }
    assert!(moved > 1000 && stuck > 10 && complete > 50, "{moved} {stuck} {complete}");
}

#[test]
fn start_states_are_drawn_whether_listed_or_not() {
    for number in case_numbers(100) {
        let mut random = Random::new(number);
        let (model, property) = random_case(&mut random);
        let question = Question::new(&model, &property);
        let mut budget = Budget::unlimited();
        let Ok(listed) = StartSampler::new(&question, 10_000, &mut budget) else { continue };
        let all: BTreeSet<State> = listed.listed().expect("few").iter().cloned().collect();
        let too_many = StartSampler::new(&question, 1, &mut budget).expect("starts");
        let mut numbers = Numbers::new(number);
        let mut state = State::new();
        for sampler in [&listed, &too_many] {
            for _ in 0..100 {
                sampler.draw(&mut state, &mut numbers).expect("a start");
                assert!(all.contains(&state), "case {number}: {state:?}");
            }
        }
        if let Some(Start::States(states)) = &property.start {
            assert!(states.iter().all(|state| all.contains(state)), "case {number}");
        }
    }
}
