//! Abstraction refinement against the brute-force oracle.

use policert_certify::replay;
use policert_engine_api::Configuration as _;
use policert_engine_api::{Budget, EngineError, Question, Silent, Verdict};
use policert_policy::Policy;
use policert_ppa::{
    BrokenRequirements, CegarConfig, PpaConfig, Scope, SearchOrder, SplitConfig, SplitPoint,
    SplitUntil, SplitVariable, cegar,
};
use policert_testkit::Random;
use policert_testkit::Setting;
use policert_testkit::oracle::Reachable;

use super::Tally;
use super::fragments::EXACT;

/// Refinement ends with the right verdict, by each way of splitting on the policy's choice.
pub fn refine(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    truth: &Reachable,
    tally: &mut Tally,
) {
    let mut random = Random::new(setting.case.number ^ 0xcea6);
    let split = SplitConfig {
        variable: *random.pick(&[
            SplitVariable::Influence,
            SplitVariable::Distance,
            SplitVariable::First,
        ]),
        point: *random.pick(&[
            SplitPoint::Choice,
            SplitPoint::Middle,
            SplitPoint::Concretisation,
            SplitPoint::Witness,
        ]),
        until: *random.pick(&[SplitUntil::Refuted, SplitUntil::Witness]),
    };
    let other = CegarConfig {
        broken: *random.pick(&[BrokenRequirements::First, BrokenRequirements::All]),
        split,
        scope: *random.pick(&[Scope::Local, Scope::Global]),
        order: *random.pick(&[SearchOrder::Guided, SearchOrder::BreadthFirst]),
        box_limit: *random.pick(&[None, Some(1), Some(4)]),
    };
    let mut property = question.property.clone();
    property.predicates.clear();
    let without_predicates = Question { property: &property, ..question.clone() };
    let preset = exact_preset(&mut random, policy, setting.case.number.is_multiple_of(8));
    for (question, options, config) in [
        (question, CegarConfig::default(), PpaConfig::default()),
        (&without_predicates, CegarConfig::default(), PpaConfig::default()),
        (&without_predicates, other, preset),
    ] {
        let place = &format!("{}, preset {}", setting.place, config.name);
        let budget = &mut Budget::unlimited();
        let found = cegar(question, policy, &config, options, budget, &mut Silent, None);
        let report = match found {
            Ok(report) => report,
            Err(EngineError::Unsupported(_)) => {
                tally.unsupported += 1;
                return;
            }
            Err(error) => panic!("{place}: {error} ({options:?})"),
        };
        match &report.verdict {
            Verdict::Safe { vacuous } => {
                assert!(truth.is_safe() || !truth.no_answer.is_empty(), "{place}: proved safe");
                assert_eq!(*vacuous, truth.start_states.is_empty(), "{place}");
            }
            Verdict::Unsafe(trace) => {
                assert!(!truth.is_safe() || !truth.no_answer.is_empty(), "{place}");
                replay(question, policy, trace).unwrap_or_else(|error| panic!("{place}: {error}"));
                let shortest = truth.shortest.filter(|_| truth.no_answer.is_empty());
                assert!(shortest.is_none_or(|n| n <= trace.steps.len()), "{place}: too short");
            }
            Verdict::Unknown(reason) => {
                assert!(!truth.no_answer.is_empty(), "{place}: {reason} ({options:?})");
            }
        }
        tally.iterations += report.iterations;
        for (origin, count) in report.refinements {
            *tally.refinements.entry(origin).or_default() += count;
        }
    }
}

/// A preset whose last transition test is exact; with Z3 now and then, where it takes the policy.
fn exact_preset(random: &mut Random, policy: Option<&Policy>, with_z3: bool) -> PpaConfig {
    let is_encoded = policy
        .is_none_or(|policy| policy.ranking().is_none_or(|network| network.is_piecewise_linear()));
    let names: &[&str] = if cfg!(feature = "z3") && with_z3 && is_encoded {
        &["base", "mar-z3", "mar-z3-mar"]
    } else {
        &EXACT
    };
    PpaConfig::preset(random.pick::<&str>(names)).expect("it is built in")
}
