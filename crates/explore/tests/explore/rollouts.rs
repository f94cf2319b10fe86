//! Random runs take steps that there are by the definition, and all of them, on random models.

use std::collections::BTreeSet;

use policert_engine_api::{Budget, EngineError, Question};
use policert_explore::{
    Begun, Episode, EpisodeEnd, PolicySuccessors, Random as Numbers, Rollout, RunStep,
    StartSampler, Tally,
};
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

/// Counts the steps of an episode, and cuts it off after some.
struct Steps(u32);

impl Tally for Steps {
    fn begin(&mut self, _: &[i64]) {
        self.0 = 0;
    }

    fn step(&mut self, _: Option<&[i64]>) -> bool {
        self.0 += 1;
        self.0 < 50
    }
}

/// Acts in an episode with labels drawn at random, among those that are applicable: where it was, how it ended.
fn walk(
    episode: &mut Episode<'_>,
    starts: &StartSampler,
    numbers: &mut Numbers,
    steps: &mut Steps,
    mut turn: impl FnMut(&mut Episode<'_>),
) -> Result<(Vec<State>, Option<EpisodeEnd>), EngineError> {
    let mut way = Vec::new();
    let mut last = None;
    let mut ended = |end| {
        last = Some(end);
        true
    };
    if episode.begin(starts, numbers, steps, &mut ended)? != Begun::AtChoice {
        return Ok((way, last));
    }
    for _ in 0..12 {
        way.push(episode.state().to_vec());
        turn(episode);
        let choices: Vec<usize> =
            (0..episode.applicable().len()).filter(|&k| episode.applicable()[k]).collect();
        assert!(!choices.is_empty(), "an episode goes on where there is a choice");
        let end = episode.act(choices[numbers.below(choices.len())], numbers, steps)?;
        if end.is_some() {
            return Ok((way, end));
        }
    }
    Ok((way, None))
}

#[test]
fn episodes_that_take_turns_are_those_that_go_alone() {
    let (mut compared, mut ended) = (0u32, 0u32);
    for number in case_numbers(150) {
        let mut random = Random::new(number);
        let (model, property) = random_case(&mut random);
        let question = Question::new(&model, &property);
        let labels = (0..model.labels.len()).map(LabelId::new);
        let outputs: Vec<LabelId> = labels.filter(|_| random.percent(70)).collect();
        let Ok(starts) = StartSampler::new(&question, 1000, &mut Budget::unlimited()) else {
            continue;
        };
        let mut alone = Episode::new(&question, &outputs);
        let walked = walk(&mut alone, &starts, &mut Numbers::new(number), &mut Steps(0), |_| {});
        let mut shared = Episode::new(&question, &outputs);
        let mut other = shared.nowhere();
        let mut others = Numbers::new(number ^ 1);
        // Whenever it stands, another one begins.
        let turned =
            walk(&mut shared, &starts, &mut Numbers::new(number), &mut Steps(0), |episode| {
                episode.exchange(&mut other);
                let _ = episode.begin(&starts, &mut others, &mut Steps(0), &mut |_| true);
                episode.exchange(&mut other);
            });
        match (walked, turned) {
            (Ok(walked), Ok(turned)) => {
                assert_eq!(walked, turned, "case {number}");
                compared += u32::from(walked.0.len() > 1);
                ended += u32::from(walked.1.is_some());
            }
            (walked, turned) => assert_eq!(walked.is_err(), turned.is_err(), "case {number}"),
        }
    }
    assert!(compared > 10 && ended > 30, "{compared} {ended}");
}
