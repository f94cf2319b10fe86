//! Bounded unrolling against the brute-force oracle.

use policert_bmc::{BmcConfig, BmcSolver, bmc};
use policert_certify::replay;
use policert_engine_api::{Budget, EngineError, Question, Silent, UnknownReason, Verdict};
use policert_policy::Policy;
use policert_testkit::Setting;
use policert_testkit::oracle::Reachable;

use super::Tally;

/// Unrolling finds a shortest path, and ends where there is none; with a limit on the length of
/// paths it says what it knows.
pub fn unroll(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    truth: &Reachable,
    solver: BmcSolver,
    tally: &mut Tally,
) {
    let place = format!("{}, {solver:?}", setting.place);
    let decided = truth.no_answer.is_empty();
    let name = if solver == BmcSolver::Z3 { "z3" } else { "native" };
    let budget = &mut Budget::unlimited();
    let config = BmcConfig { solver, ..BmcConfig::default() };
    let report = match bmc(question, policy, &config, budget, &mut Silent) {
        Ok(report) => report,
        Err(EngineError::Unsupported(text)) => {
            assert!(solver == BmcSolver::Z3, "{place}: {text}");
            *tally.unrolled.entry((name, "unsupported")).or_default() += 1;
            return;
        }
        Err(error) => panic!("{place}: {error}"),
    };
    let verdict = match &report.verdict {
        Verdict::Safe { vacuous } => {
            assert!(truth.is_safe(), "{place}: proved safe");
            assert_eq!(*vacuous, truth.start_states.is_empty(), "{place}");
            "safe"
        }
        Verdict::Unsafe(trace) => {
            replay(question, policy, trace).unwrap_or_else(|error| panic!("{place}: {error}"));
            let steps = Some(trace.steps.len());
            assert!(steps == truth.shortest || !decided, "{place}: {steps:?}");
            assert_eq!(steps, report.stats.checked.map(|n| n as usize), "{place}");
            "unsafe"
        }
        Verdict::Unknown(reason) => {
            assert!(!decided, "{place}: {reason}");
            "unknown"
        }
    };
    *tally.unrolled.entry((name, verdict)).or_default() += 1;
    if !decided {
        return;
    }
    if solver == BmcSolver::Native && verdict == "safe" {
        assert_eq!(report.counts.reachable_states, truth.distances.len() as u64, "{place}");
    }
    if verdict == "unsafe" {
        unroll_beyond_unsafe(question, policy, truth, &config, &place);
    }
    // One step less is not enough.
    let Some(steps) = report.stats.checked.and_then(|n| n.checked_sub(1)) else { return };
    let config = BmcConfig { steps: Some(steps), loop_free: steps % 2 == 0, ..config };
    let report = bmc(question, policy, &config, budget, &mut Silent);
    let report = report.unwrap_or_else(|error| panic!("{place}: {error}"));
    let expected = Verdict::Unknown(UnknownReason::StepLimit { steps: steps.into() });
    assert_eq!(report.verdict, expected, "{place}");
    assert_eq!(report.stats.checked, Some(steps), "{place}");
}

/// With `keep_going` the first unsafe path is the same, and the search comes to its end.
fn unroll_beyond_unsafe(
    question: &Question<'_>,
    policy: Option<&Policy>,
    truth: &Reachable,
    config: &BmcConfig,
    place: &str,
) {
    let question = Question { keep_going: true, ..question.clone() };
    let report = bmc(&question, policy, config, &mut Budget::unlimited(), &mut Silent);
    // The first unsafe states need no network, those after them do.
    if config.solver != BmcSolver::Native && matches!(report, Err(EngineError::Unsupported(_))) {
        return;
    }
    let report = report.unwrap_or_else(|error| panic!("{place}: {error}"));
    let Verdict::Unsafe(trace) = &report.verdict else { panic!("{place}: {:?}", report.verdict) };
    assert_eq!(Some(trace.steps.len()), truth.shortest, "{place}");
    assert_eq!(report.stopped, None, "{place}");
    if config.solver == BmcSolver::Native {
        let counts = &report.counts;
        assert_eq!(counts.reachable_states, truth.distances.len() as u64, "{place}");
        assert_eq!(counts.unsafe_states, truth.unsafe_states.len() as u64, "{place}");
    }
}
