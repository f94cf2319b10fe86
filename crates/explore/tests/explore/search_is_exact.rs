//! The search finds exactly what there is by the definition, on random models.

use std::num::NonZeroUsize;

use policert_engine_api::{Budget, CancelFlag, EngineError, Limits, Question, Silent, Verdict};
use policert_explore::{ExplicitConfig, Explored, PolicySuccessors, explicit};
use policert_model::{DomainRule, Model, SafetyProperty, State};
use policert_policy::Policy;
use policert_testkit::{Random, case_numbers};

use crate::naive_search::{Definition, Naive};
use crate::random_model::{literal, random_case};
use crate::random_policy::random_policy;

struct Case {
    model: Model,
    property: SafetyProperty,
    policy: Option<Policy>,
    random: Random,
}

impl Case {
    fn new(number: u64) -> Self {
        let mut random = Random::new(number);
        let (model, property) = random_case(&mut random);
        let policy = random.percent(70).then(|| random_policy(&mut random, &model));
        Self { model, property, policy, random }
    }

    fn question(&mut self) -> Question<'_> {
        let random = &mut self.random;
        let terminal = random.percent(40).then(|| literal(random, &self.model));
        Question {
            domain_rule: if random.percent(75) { DomainRule::Drop } else { DomainRule::Error },
            terminal,
            initial_states: random.percent(50),
            keep_going: random.percent(40),
            stop_at_first_unsafe: false,
            build_all: random.percent(40),
            ..Question::new(&self.model, &self.property)
        }
    }
}

fn search(
    question: &Question<'_>,
    policy: Option<&Policy>,
    batch: usize,
) -> Result<Explored, EngineError> {
    let config = ExplicitConfig {
        batch: NonZeroUsize::new(batch).expect("positive"),
        ..ExplicitConfig::default()
    };
    let limits = Limits { states: Some(5000), ..Limits::default() };
    let mut budget = Budget::new(limits, CancelFlag::default());
    explicit(question, policy, &config, &mut budget, &mut Silent)
}

fn check(number: u64, found: &Explored, naive: &Naive, definition: &Definition<'_>) {
    let question = definition.question;
    let counts = found.counts;
    match &found.verdict {
        Verdict::Unsafe(trace) => {
            assert_eq!(Some(trace.steps.len()), naive.distance, "case {number}");
            assert!(naive.starts.contains(&trace.start), "case {number}");
            assert!(definition.accepts(trace), "case {number}: {trace:?}");
        }
        Verdict::Safe { vacuous } => {
            assert_eq!(naive.distance, None, "case {number}");
            assert_eq!(*vacuous, naive.starts.is_empty(), "case {number}");
        }
        other => panic!("case {number}: {other:?}"),
    }
    if naive.distance.is_none() || question.keep_going || question.build_all {
        assert_eq!(counts.start_states, naive.starts.len() as u64, "case {number}");
        assert_eq!(counts.reachable_states, naive.states.len() as u64, "case {number}");
        assert_eq!(counts.expanded_states, naive.expanded.len() as u64, "case {number}");
        assert_eq!(counts.transitions, naive.transitions.len() as u64, "case {number}");
        assert_eq!(counts.dropped_outcomes, naive.dropped, "case {number}");
        let bad = naive.states.iter().filter(|s| question.is_unsafe(s)).count();
        assert_eq!(counts.unsafe_states, bad as u64, "case {number}");
        assert_eq!(found.dropped.is_empty(), naive.dropped == 0, "case {number}");
    }
    for drop in &found.dropped {
        assert!(naive.expanded.contains(&drop.state), "case {number}");
    }
}

#[test]
fn verdicts_counts_and_traces_agree_with_the_definition() {
    let (mut safe, mut bad, mut errors, mut drops, mut large) = (0, 0, 0, 0, 0);
    for number in case_numbers(3000) {
        let mut case = Case::new(number);
        let policy = case.policy.clone();
        let question = case.question();
        let definition = Definition::new(&question, policy.as_ref());
        let Some(naive) = definition.search().transpose() else { continue };
        for batch in [1, 3, 512] {
            let found = search(&question, policy.as_ref(), batch);
            match (&naive, &found) {
                (Ok(naive), Ok(found)) => check(number, found, naive, &definition),
                (Err(_), Err(EngineError::Modelling(_))) => {}
                // An unsafe state may come before the error.
                (Err(_), Ok(found)) if !(question.keep_going || question.build_all) => match &found
                    .verdict
                {
                    Verdict::Unsafe(trace) => assert!(definition.accepts(trace), "case {number}"),
                    other => panic!("case {number}: {other:?}"),
                },
                other => panic!("case {number}: {other:?}"),
            }
        }
        match naive {
            Err(_) => errors += 1,
            Ok(naive) => {
                *(if naive.distance.is_some() { &mut bad } else { &mut safe }) += 1;
                drops += u64::from(naive.dropped > 0);
                large += u64::from(naive.states.len() > 100);
            }
        }
    }
    assert!(
        safe > 300 && bad > 300 && errors > 100 && drops > 300 && large > 100,
        "{safe} safe, {bad} unsafe, {errors} errors, {drops} with drops, {large} large"
    );
}

#[test]
fn the_batch_size_changes_nothing() {
    for number in case_numbers(500) {
        let mut case = Case::new(number);
        let policy = case.policy.clone();
        let question = case.question();
        let results: Vec<_> = [1, 2, 7, 512]
            .map(|batch| search(&question, policy.as_ref(), batch))
            .into_iter()
            .map(|result| match result {
                Ok(found) => format!("{:?} {:?} {:?}", found.verdict, found.counts, found.dropped),
                Err(error) => format!("{error:?}"),
            })
            .collect();
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "case {number}: {results:?}");
    }
}

#[test]
fn successors_of_single_states_agree_with_the_definition() {
    for number in case_numbers(500) {
        let mut case = Case::new(number);
        let policy = case.policy.clone();
        let question = case.question();
        let definition = Definition::new(&question, policy.as_ref());
        let Ok(Some(naive)) = definition.search() else { continue };
        let mut successors = PolicySuccessors::new(&question, policy.as_ref());
        let known = |state: &&State| naive.expanded.contains(*state) || question.is_terminal(state);
        for state in naive.states.iter().filter(known).take(50) {
            let found = successors.of(state).expect("no error was found before");
            if question.is_terminal(state) {
                assert!(found.list.is_empty(), "case {number}");
                continue;
            }
            let (mut expected, dropped) = definition.successors(state).expect("as before");
            let mut states: Vec<_> = found.list.iter().map(|s| s.state.clone()).collect();
            assert!(found.list.iter().all(|s| s.decided));
            assert!(found.list.iter().all(|s| successors.operator(s.operator).label == s.label));
            states.sort();
            expected.sort();
            assert_eq!((states, found.dropped), (expected, dropped), "case {number}");
        }
    }
}
