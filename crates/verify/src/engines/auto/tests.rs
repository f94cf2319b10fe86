//! Members in turns against an enumeration.

use policert_certify::replay;
use policert_engine_api::{CancelFlag, Limits, Silent};
use policert_testkit::{Profile, Random, Setting, case_numbers, semantics};

use super::*;

/// Members in turns, by threads; what they came to.
fn in_turns(question: &Question<'_>, threads: u16, memory: Option<u64>) -> Conclusion {
    let auto = Auto::new("native", &[]).expect("the preset");
    let budget = Budget::new(Limits { memory, ..Limits::default() }, CancelFlag::default());
    let mut silent = Silent;
    let mut context = Context { threads, ..Context::new(budget, &mut silent) };
    let members = [Member::Ppa, Member::Cegar, Member::Explicit(100_000), Member::Ic3];
    let mut portfolio = Portfolio::default();
    side_by_side::run(&mut portfolio, &auto, question, &mut context, &members).expect("an answer");
    portfolio.finish(&context.budget).expect("an answer")
}

#[test]
fn members_in_turns_agree_with_an_enumeration() {
    let (mut safe, mut bad) = (0, 0);
    for number in case_numbers(80) {
        let mut random = Random::new(number ^ 0x7412);
        let semantics = semantics(&mut random);
        let setting =
            Setting::new(Profile::Unary, number, semantics, number % 5 == 4, 90, &mut random);
        let (question, policy) = (setting.question(), setting.policy());
        let question = Question { policy: policy.as_ref(), ..question };
        let truth = setting.oracle(&question).reachable();
        if !truth.no_answer.is_empty() || question.domain_rule == DomainRule::Error {
            continue;
        }
        let found = in_turns(&question, 1 + u16::from(number % 2 == 0), None);
        let place = format!("{} {:?}", setting.place, found.attempts);
        assert!(found.attempts.iter().all(|attempt| attempt.time_s.is_some()), "{place}");
        match &found.answer {
            EngineAnswer::Safe { .. } => {
                safe += 1;
                assert!(truth.is_safe(), "{place}");
            }
            EngineAnswer::Unsafe(trace) => {
                bad += 1;
                replay(&question, policy.as_ref(), trace)
                    .unwrap_or_else(|e| panic!("{place}: {e}"));
            }
            other => panic!("{place}: {other:?}"),
        }
    }
    assert!(safe > 8 && bad > 8, "{safe} {bad}");
}

/// All members are told to end, one after the other, and each says why.
#[test]
fn without_memory_all_members_end() {
    let mut random = Random::new(1);
    let semantics = semantics(&mut random);
    let setting = Setting::new(Profile::Unary, 1, semantics, false, 90, &mut random);
    let found = in_turns(&setting.question(), 1, Some(1));
    assert_eq!(found.attempts.len(), 4, "{:?}", found.attempts);
}
