//! The search agrees with a brute-force oracle that interprets automata and networks on its own.

use policert_engine_api::{Budget, EngineError, Question, Silent, Verdict};
use policert_explore::{ExplicitConfig, explicit};
use policert_model::DomainRule;
use policert_testkit::oracle::{NoAnswer, Oracle};
use policert_testkit::{Case, Profile, Random, case_numbers, semantics};

#[test]
fn verdicts_and_counts_agree() {
    let (mut safe, mut bad, mut broken, mut undecided) = (0, 0, 0, 0);
    for profile in [Profile::Unary, Profile::Linear, Profile::General] {
        for number in case_numbers(400) {
            let case = Case::numbered(profile, number);
            let mut random = Random::new(number ^ 0xace);
            let semantics = semantics(&mut random);
            let rule = if random.percent(75) { DomainRule::Drop } else { DomainRule::Error };
            let question = Question {
                domain_rule: rule,
                keep_going: random.percent(40),
                build_all: random.percent(40),
                ..Question::new(&case.model, &case.property)
            };
            let whole = question.keep_going || question.build_all;
            let policy = case.policy.policy(&case.model, semantics).expect("it fits");
            let with_policy = random.percent(80);
            let acting = with_policy.then_some((&case.policy, semantics));
            let truth = Oracle::new(question.clone(), acting).reachable();
            let config = ExplicitConfig::default();
            let policy = with_policy.then_some(&policy);
            let found = explicit(&question, policy, &config, &mut Budget::unlimited(), &mut Silent);
            let place = format!("{profile:?} {number}");
            if truth.no_answer.values().any(|&why| why == NoAnswer::Broken) {
                broken += 1;
                match found {
                    Err(EngineError::Modelling(_)) => {}
                    Ok(found) if !whole => {
                        assert!(matches!(found.verdict, Verdict::Unsafe(_)), "{place}");
                    }
                    other => panic!("{place}: {other:?}"),
                }
                continue;
            }
            // What the oracle cannot tell the policy's choice in may be where the model is wrong.
            if matches!(found, Err(EngineError::Modelling(_))) && !truth.no_answer.is_empty() {
                undecided += 1;
                continue;
            }
            let found = found.unwrap_or_else(|error| panic!("{place}: {error}"));
            let length = match &found.verdict {
                Verdict::Unsafe(trace) => Some(trace.steps.len()),
                _ => None,
            };
            assert_eq!(length, truth.shortest, "{place}");
            if !truth.no_answer.is_empty() {
                undecided += 1;
                continue;
            }
            *(if truth.is_safe() { &mut safe } else { &mut bad }) += 1;
            if length.is_none() {
                let vacuous = truth.start_states.is_empty();
                assert_eq!(found.verdict, Verdict::Safe { vacuous }, "{place}");
            }
            if truth.is_safe() || whole {
                let counts = found.counts;
                assert_eq!(counts.start_states, truth.start_states.len() as u64, "{place}");
                assert_eq!(counts.reachable_states, truth.distances.len() as u64, "{place}");
                assert_eq!(counts.transitions, truth.transitions.len() as u64, "{place}");
                assert_eq!(counts.unsafe_states, truth.unsafe_states.len() as u64, "{place}");
                assert_eq!(counts.dropped_outcomes > 0, truth.dropped, "{place}");
            }
        }
    }
    assert!(
        safe > 200 && bad > 200 && broken > 20,
        "{safe} safe, {bad} unsafe, {broken} broken, {undecided} undecided"
    );
}
