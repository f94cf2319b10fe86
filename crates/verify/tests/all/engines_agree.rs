//! Engines agree on random tiny models with random tiny policies: explicit search with the
//! brute-force oracle, predicate abstraction with both, with each of its solvers, and transition
//! by transition with the projection of all concrete states.

mod fragments;
mod refinement;
mod rounded;
pub mod setting;
mod unrolling;

use std::collections::BTreeMap;
use std::io::Write as _;

use policert_bmc::BmcSolver;
use policert_certify::replay;
use policert_engine_api::{Budget, EngineError, Silent, UnknownReason, Verdict};
use policert_explore::{ExplicitConfig, explicit, guided};
use policert_ppa::{Origin, PpaConfig};
use policert_testkit::oracle::NoAnswer;
use policert_testkit::{Profile, Setting, case_numbers};

#[cfg(feature = "z3")]
use fragments::compare_with_z3;
use fragments::{
    build, compare_presets, compare_with_projection, fragment, fragment_and_refuted,
    with_relaxed_tests,
};
use refinement::refine;
use setting::{drawing, setting, setting_with_splits};
use unrolling::unroll;

/// The results of the cases.
#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    safe: usize,
    bad: usize,
    proved: usize,
    refuted: usize,
    open: usize,
    projected: usize,
    broken: usize,
    unsupported: usize,
    /// Iterations of cegar.
    iterations: u64,
    /// Its refinements.
    refinements: BTreeMap<Origin, u64>,
    /// Answers of bmc, by solver and verdict.
    unrolled: BTreeMap<(&'static str, &'static str), u64>,
    /// Labels that are refuted over the reals.
    refuted_over_reals: u64,
}

impl Tally {
    /// Refinements of this kind.
    fn refined(&self, origin: Origin) -> u64 {
        self.refinements.get(&origin).copied().unwrap_or(0)
    }
}

fn tally(profile: Profile) -> Tally {
    let mut tally = Tally::default();
    for number in case_numbers(700) {
        check(&setting(profile, number), &mut tally);
    }
    tell(&format!("{profile:?}: {tally:?}"));
    tally
}

/// Says what came of the cases: shown where a test fails, and by `--no-capture`.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[test]
fn engines_agree_on_unary_models() {
    let tally = tally(Profile::Unary);
    assert!(tally.safe > 150 && tally.bad > 150 && tally.proved > 80, "{tally:?}");
    assert!(tally.refuted > 100 && tally.projected > 1000, "{tally:?}");
    assert!(tally.unsupported * 70 < tally.cases, "{tally:?}");
    assert_unrolled(&tally, "native", 150);
    #[cfg(feature = "z3")]
    assert_unrolled(&tally, "z3", 10);
    assert!(tally.refined(Origin::Guard) > 100 && tally.refined(Origin::Choice) > 15, "{tally:?}");
    assert!(tally.refined(Origin::Target) > 300, "{tally:?}");
}

/// With tanh behind ReLU the search over the reals once cut sides for ever.
#[test]
fn refinement_ends_for_a_network_with_relu_and_tanh() {
    let mut tally = Tally::default();
    check(&setting(Profile::Unary, 2_465_130_697), &mut tally);
    assert!(tally.refinements.values().sum::<u64>() > 0, "{tally:?}");
}

#[test]
fn engines_agree_on_linear_models() {
    let tally = tally(Profile::Linear);
    assert!(tally.safe > 150 && tally.bad > 150 && tally.proved > 50, "{tally:?}");
    assert!(tally.refuted > 100 && tally.open > 5 && tally.projected > 1000, "{tally:?}");
    assert!(tally.refuted_over_reals > 500, "{tally:?}");
    assert_unrolled(&tally, "native", 150);
    #[cfg(feature = "z3")]
    assert_unrolled(&tally, "z3", 10);
    assert!(tally.refined(Origin::Guard) > 80 && tally.refined(Origin::Choice) > 10, "{tally:?}");
    assert!(tally.refined(Origin::Outcome) > 100, "{tally:?}");
}

#[test]
fn engines_agree_on_general_models() {
    let tally = tally(Profile::General);
    assert!(tally.safe > 100 && tally.bad > 100 && tally.proved > 20, "{tally:?}");
    assert!((tally.broken + tally.unsupported) * 7 < tally.cases * 4, "{tally:?}");
    assert_unrolled(&tally, "native", 100);
    #[cfg(feature = "z3")]
    assert_unrolled(&tally, "z3", 1);
    assert!(tally.refined(Origin::Separation) > 15 && tally.iterations > 2500, "{tally:?}");
}

#[test]
fn engines_agree_with_predicates_by_binary_search() {
    let mut all = Tally::default();
    for profile in [Profile::Unary, Profile::Linear] {
        for number in case_numbers(250) {
            let (setting, splits) = setting_with_splits(profile, number);
            let open = all.open;
            check(&setting, &mut all);
            // All states are told apart: no path is spurious.
            assert!(splits.percent < 100 || all.open == open, "{}", setting.place);
        }
    }
    assert!(all.proved > 80 && all.refuted > 80 && all.open > 5, "{all:?}");
    assert!(all.projected > 1000, "{all:?}");
}

#[test]
fn engines_agree_on_policies_that_draw() {
    let mut all = Tally::default();
    for profile in [Profile::Unary, Profile::Linear] {
        for number in case_numbers(120) {
            check(&drawing(profile, number, false), &mut all);
        }
    }
    tell(&format!("{all:?}"));
    assert!(all.safe > 20 && all.bad > 60 && all.proved > 10 && all.refuted > 40, "{all:?}");
}

#[test]
fn engines_agree_on_labels_of_a_least_probability() {
    let mut all = Tally::default();
    for profile in [Profile::Unary, Profile::Linear] {
        for number in case_numbers(250) {
            check_native(&drawing(profile, number, true), &mut all);
        }
    }
    tell(&format!("{all:?}"));
    assert!(all.safe > 60 && all.bad > 60 && all.proved > 30 && all.refuted > 40, "{all:?}");
}

/// As `check`, without what asks Z3 or compares transition by transition.
fn check_native(setting: &Setting, tally: &mut Tally) {
    tally.cases += 1;
    let place = &setting.place;
    let question = setting.question();
    let policy = setting.policy();
    let truth = setting.oracle(&question).reachable();
    if !truth.no_answer.is_empty() {
        return;
    }
    let budget = &mut Budget::unlimited();
    let config = ExplicitConfig::default();
    let found = explicit(&question, policy.as_ref(), &config, budget, &mut Silent);
    let found = found.unwrap_or_else(|error| panic!("{place}: {error}"));
    match &found.verdict {
        Verdict::Safe { .. } => assert!(truth.is_safe(), "{place}"),
        Verdict::Unsafe(trace) => {
            replay(&question, policy.as_ref(), trace)
                .unwrap_or_else(|error| panic!("{place}: {error}"));
            assert_eq!(Some(trace.steps.len()), truth.shortest, "{place}");
        }
        Verdict::Unknown(reason) => panic!("{place}: {reason}"),
    }
    *(if truth.is_safe() { &mut tally.safe } else { &mut tally.bad }) += 1;
    unroll(setting, &question, policy.as_ref(), &truth, BmcSolver::Native, tally);
    let config = PpaConfig::default();
    match policert_ppa::run(&question, policy.as_ref(), &config, budget, &mut Silent) {
        Ok(report) => match &report.verdict {
            Verdict::Safe { .. } => {
                tally.proved += 1;
                assert!(truth.is_safe(), "{place}: proved safe");
            }
            Verdict::Unsafe(trace) => {
                tally.refuted += 1;
                replay(&question, policy.as_ref(), trace)
                    .unwrap_or_else(|error| panic!("{place}: {error}"));
            }
            Verdict::Unknown(_) => tally.open += 1,
        },
        Err(EngineError::Unsupported(_)) => {
            tally.unsupported += 1;
            return;
        }
        Err(error) => panic!("{place}: {error}"),
    }
    refine(setting, &question, policy.as_ref(), &truth, tally);
}

fn check(setting: &Setting, tally: &mut Tally) {
    tally.cases += 1;
    let place = &setting.place;
    let question = setting.question();
    let policy = setting.policy();
    let truth = setting.oracle(&question).reachable();
    if truth.no_answer.values().any(|&why| why == NoAnswer::Broken) {
        tally.broken += 1;
        return;
    }
    let decided = truth.no_answer.is_empty();
    let budget = &mut Budget::unlimited();

    let config = ExplicitConfig::default();
    let found = explicit(&question, policy.as_ref(), &config, budget, &mut Silent);
    // The model may be wrong where the oracle cannot tell the policy's choice.
    if matches!(found, Err(EngineError::Modelling(_))) && !decided {
        tally.broken += 1;
        return;
    }
    let found = found.unwrap_or_else(|error| panic!("{place}: {error}"));
    match &found.verdict {
        Verdict::Safe { .. } => assert!(truth.is_safe(), "{place}"),
        Verdict::Unsafe(trace) => {
            replay(&question, policy.as_ref(), trace)
                .unwrap_or_else(|error| panic!("{place}: {error}"));
            assert!(
                Some(trace.steps.len()) == truth.shortest || !decided,
                "{place}: {trace:?}, expected {:?}",
                truth.shortest
            );
        }
        Verdict::Unknown(reason) => assert!(!decided, "{place}: {reason}"),
    }
    *(if truth.is_safe() { &mut tally.safe } else { &mut tally.bad }) += 1;
    if let Ok(found) = guided(&question, policy.as_ref(), u32::MAX, budget, &mut Silent) {
        assert!(found.trace.is_some() != truth.is_safe() || !decided, "{place}: guided search");
        if let Some(trace) = &found.trace {
            replay(&question, policy.as_ref(), trace)
                .unwrap_or_else(|error| panic!("{place}: {error}"));
        }
    }

    unroll(setting, &question, policy.as_ref(), &truth, BmcSolver::Native, tally);
    // Z3 may need minutes to exclude long runs without loops.
    #[cfg(feature = "z3")]
    if setting.case.number.is_multiple_of(8) && truth.distances.len() < 16 {
        unroll(setting, &question, policy.as_ref(), &truth, BmcSolver::Z3, tally);
    }

    let config = PpaConfig::default();
    let report = match policert_ppa::run(&question, policy.as_ref(), &config, budget, &mut Silent) {
        Ok(report) => report,
        Err(EngineError::Unsupported(_)) => {
            tally.unsupported += 1;
            return;
        }
        Err(error) => panic!("{place}: {error}"),
    };
    match &report.verdict {
        Verdict::Safe { vacuous } => {
            tally.proved += 1;
            assert!(truth.is_safe() || !decided, "{place}: proved safe");
            assert_eq!(*vacuous, truth.start_states.is_empty(), "{place}");
        }
        Verdict::Unsafe(trace) => {
            tally.refuted += 1;
            assert!(!truth.is_safe() || !decided, "{place}: a run to an unsafe state");
            replay(&question, policy.as_ref(), trace)
                .unwrap_or_else(|error| panic!("{place}: {error}"));
        }
        Verdict::Unknown(UnknownReason::AbstractPath { .. }) => tally.open += 1,
        Verdict::Unknown(reason) => panic!("{place}: {reason}"),
    }
    refine(setting, &question, policy.as_ref(), &truth, tally);
    // Without the atoms of the unsafe condition the abstraction may be too coarse to rule out that
    // an outcome assigns two values at once.
    if let Err(EngineError::Unsupported(_)) = build(&question, policy.as_ref(), &config) {
        tally.unsupported += 1;
        return;
    }
    let graph = fragment(setting, &question, policy.as_ref(), &config);
    compare_with_projection(setting, &question, &graph, tally);
    let relaxed = with_relaxed_tests(&config);
    let (by_relaxed, refuted) = fragment_and_refuted(setting, &question, policy.as_ref(), &relaxed);
    assert_eq!(by_relaxed, graph, "{place}: with relaxed tests");
    tally.refuted_over_reals += refuted;
    if setting.case.number.is_multiple_of(4) {
        compare_presets(setting, &question, policy.as_ref(), &graph);
    }
    #[cfg(feature = "z3")]
    compare_with_z3(setting, &question, policy.as_ref(), &graph, refuted);
}

/// Unrolling gave each verdict this often at least.
fn assert_unrolled(tally: &Tally, solver: &'static str, least: u64) {
    for verdict in ["safe", "unsafe"] {
        assert!(tally.unrolled.get(&(solver, verdict)) >= Some(&least), "{tally:?}");
    }
}
