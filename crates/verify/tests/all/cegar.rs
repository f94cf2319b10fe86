//! Engine cegar on the published instances: verdicts, and how much refinement they take.

use std::time::{Duration, Instant};

use policert_engine_api::{CancelFlag, Limits, Silent};
use policert_outcome::{Outcome, VerdictWord};
use policert_problem::{Filter, PolicySource, Predicates, ProblemOptions, Splits, TerminalChoice};
use policert_testkit::shared_folder;
use policert_verify::{Report, Request, verify};

fn answer(problem: ProblemOptions, engine: &str, settings: &[&str]) -> Outcome<Report> {
    answer_within(problem, engine, settings, Limits::default())
}

fn answer_within(
    problem: ProblemOptions,
    engine: &str,
    settings: &[&str],
    limits: Limits,
) -> Outcome<Report> {
    let settings = settings.iter().map(|setting| setting.parse().expect("a setting")).collect();
    let engine = engine.to_owned();
    let request = Request { engine, settings, limits, ..Request::new(problem) };
    verify(&request, &CancelFlag::default(), &mut Silent)
}

/// Iterations and predicates.
fn effort(report: &Report) -> (u64, u64) {
    let statistics = report.statistics.as_ref().expect("statistics");
    let iterations = statistics.engine["cegar"]["iterations"].as_u64().expect("a number");
    (iterations, statistics.predicates.expect("an abstraction"))
}

/// A counter from 0 to 100000, which goes up or waits; unsafe is one value of it.
fn counter(unsafe_value: u32) -> String {
    let assign = |variable: &str| {
        format!(
            r#"[{{"location": "l", "assignments": [{{"ref": "{variable}",
      "value": {{"op": "+", "left": "{variable}", "right": 1}}}}]}}]"#
        )
    };
    let variable = |name: &str, upper: u32| {
        format!(
            r#"{{"name": "{name}", "initial-value": 0, "type": {{"kind": "bounded", "base": "int",
     "lower-bound": 0, "upper-bound": {upper}}}}}"#
        )
    };
    format!(
        r#"{{"jani-version": 1, "name": "counter", "type": "lts",
 "actions": [{{"name": "go"}}, {{"name": "wait"}}],
 "variables": [{x}, {y}],
 "properties": [{{"name": "there", "expression": {{"op": "PA", "reach": {{"op": "state-condition",
   "exp": {{"op": "=", "left": "x", "right": {unsafe_value}}}}}}}}}],
 "automata": [{{"name": "A", "locations": [{{"name": "l"}}], "initial-locations": ["l"],
   "edges": [
    {{"location": "l", "action": "go", "destinations": {go}}},
    {{"location": "l", "action": "wait", "destinations": {wait}}}
   ]}}],
 "system": {{"elements": [{{"automaton": "A"}}],
  "syncs": [{{"synchronise": ["go"], "result": "go"}},
            {{"synchronise": ["wait"], "result": "wait"}}]}}}}"#,
        x = variable("x", 100_000),
        y = variable("y", 10),
        go = assign("x"),
        wait = assign("y"),
    )
}

/// An iteration costs what the abstract states on the path cost, not their number squared.
#[test]
fn long_paths_take_no_time_quadratic_in_their_length_per_iteration() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("counter.jani");
    std::fs::write(&file, counter(600)).expect("a file");
    let problem = ProblemOptions { policy: PolicySource::None, ..ProblemOptions::new(&file) };
    let limits = Limits { time: Some(Duration::from_secs(30)), ..Limits::default() };
    let outcome = answer_within(problem, "cegar", &[], limits);
    assert_eq!(outcome.report.verdict, VerdictWord::Unsafe, "{:?}", outcome.reason);
    assert_eq!(outcome.report.statistics.expect("statistics").counterexample_steps, Some(600));
}

/// Half of the thresholds of the counter: they are looked at one by one, not pair by pair.
#[test]
fn tens_of_thousands_of_predicates_do_not_delay_the_limit_on_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("counter.jani");
    std::fs::write(&file, counter(600)).expect("a file");
    for engine in ["cegar", "prob-ppa", "prob-cegar"] {
        let problem = ProblemOptions {
            policy: PolicySource::None,
            predicates: Predicates::Splits(Splits { percent: 50, last: Vec::new() }),
            ..ProblemOptions::new(&file)
        };
        let limits = Limits { time: Some(Duration::from_millis(300)), ..Limits::default() };
        let begin = Instant::now();
        let outcome = answer_within(problem, engine, &[], limits);
        assert!(begin.elapsed() < Duration::from_secs(8), "{engine:?}: {:?}", begin.elapsed());
        let known = [VerdictWord::Unknown, VerdictWord::Unsafe, VerdictWord::Probability];
        assert!(
            known.contains(&outcome.report.verdict),
            "{engine:?}: {:?}",
            outcome.report.verdict
        );
    }
}

/// The authors' small files: as many iterations as their tool takes.
#[test]
fn toy_models() {
    let Some(folder) = shared_folder("benchmarks/unit/plaja") else { return };
    for (file, property, verdict, iterations, predicates) in [
        ("for_pa_cegar", 0, VerdictWord::Unsafe, 1, 4),
        ("for_pa_cegar", 1, VerdictWord::Unsafe, 1, 3),
        ("for_pa_cegar", 2, VerdictWord::Safe, 1, 2),
        ("for_pa_cegar2", 0, VerdictWord::Safe, 2, 4),
        ("for_pa_cegar2", 1, VerdictWord::Safe, 2, 4),
        ("for_pa_cegar3", 0, VerdictWord::Unsafe, 2, 4),
    ] {
        let problem = ProblemOptions {
            property: Some(property.to_string()),
            policy: PolicySource::None,
            ..ProblemOptions::new(&folder.join(file).with_extension("jani"))
        };
        let outcome = answer(problem, "cegar", &["search-order=breadth-first"]);
        assert_eq!(outcome.report.verdict, verdict, "{file} {property}");
        assert_eq!(effort(&outcome.report), (iterations, predicates), "{file} {property}");
    }
}

#[test]
fn blocksworld() {
    let Some(folder) = shared_folder("benchmarks/blocksworld") else { return };
    let networks = "icaps24/rddps22/blocksworld/networks/learned_cost05_non_terminal";
    let interface = folder.join(networks).join("blocksworld_4_3_16_16.jani2nnet");
    let model = "icaps24/blocksworld/cost_terminal/models/legacy_enc/blocksworld_4_3.jani";
    let constant = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let four = ProblemOptions {
        property: Some("1".to_owned()),
        constants: vec![constant("failing_probability", "0.5"), constant("item_cost_bound", "50")],
        policy: PolicySource::Given { interface: Some(interface), network: None },
        ..ProblemOptions::new(&folder.join(model))
    };
    let filtered = ProblemOptions {
        filter: Some(Filter::Applicable),
        terminal: TerminalChoice::Goal,
        ..four.clone()
    };
    for problem in [four, filtered] {
        let outcome = answer(problem, "cegar", &[]);
        assert_eq!(outcome.report.verdict, VerdictWord::Safe, "{:?}", outcome.reason);
        let (iterations, predicates) = effort(&outcome.report);
        assert!(iterations <= 30 && predicates <= 40, "{iterations} {predicates}");
    }

    let folder = folder.join("icaps22");
    let properties = "additional_properties/safety_verification/cost05/blocksworld_6_5/\
                      compact_starts_cost_predicates_afterwards/learned_cost05_non_terminal/\
                      pa_compact_starts_cost_predicates_afterwards_blocksworld_6_5_32_32.jani";
    let six = ProblemOptions {
        property: Some(format!("{}:0", folder.join(properties).display())),
        ..ProblemOptions::new(&folder.join("models/cost05/blocksworld_6_5.jani"))
    };
    // With exact tests it is the abstraction of engine ppa.
    let with_predicates = answer(six.clone(), "cegar", &["box-limit=0"]);
    assert_eq!(with_predicates.report.verdict, VerdictWord::Safe);
    assert_eq!(effort(&with_predicates.report), (1, 43));
    let statistics = with_predicates.report.statistics.expect("statistics");
    assert_eq!((statistics.start_states, statistics.reachable_states), (Some(171), Some(433)));
    if policert_testkit::slow_tests() {
        let without = ProblemOptions { predicates: Predicates::None, ..six };
        let outcome = answer(without, "cegar", &[]);
        assert_eq!(outcome.report.verdict, VerdictWord::Safe);
    }
}

/// Safe on the dry road, unsafe on the icy one. Only if the environment variable `SLOW_TESTS` is 1.
#[test]
fn transport() {
    if !policert_testkit::slow_tests() {
        return;
    }
    let Some(folder) = shared_folder("benchmarks/transport/one_way_line_15_10") else { return };
    let starts = folder.join("det/pa_one_way_line_15_10_random_starts_1000.jani");
    for (kind, verdict) in [("det", VerdictWord::Safe), ("icy", VerdictWord::Unsafe)] {
        let interface =
            format!("derived/{kind}/one_way_line_15_10_{kind}_64_64_relu_reading.jani2nnet");
        let problem = ProblemOptions {
            property: Some(format!("{}:0", starts.display())),
            policy: PolicySource::Given { interface: Some(folder.join(interface)), network: None },
            terminal: TerminalChoice::Goal,
            ..ProblemOptions::new(&folder.join(kind).join("one_way_line_15_10.jani"))
        };
        let outcome = answer(problem, "cegar", &[]);
        assert_eq!(outcome.report.verdict, verdict, "{kind}");
    }
}

/// The verdict of enumeration, without a policy.
#[test]
fn npuzzle_without_policy() {
    let Some(folder) = shared_folder("benchmarks/npuzzle") else { return };
    let constant = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let model = "compact_starts_non_terminal/models/offset_enc/npuzzle_3_3.jani";
    let problem = ProblemOptions {
        constants: vec![
            constant("failing_probability", "0.5"),
            constant("item_cost_bound", "1"),
            constant("cost_terminal", "false"),
        ],
        policy: PolicySource::None,
        ..ProblemOptions::new(&folder.join(model))
    };
    for engine in ["explicit", "cegar"] {
        let outcome = answer(problem.clone(), engine, &[]);
        assert_eq!(outcome.report.verdict, VerdictWord::Unsafe, "{engine:?}");
        let statistics = outcome.report.statistics.expect("statistics");
        assert_eq!(statistics.counterexample_steps, Some(1), "{engine:?}");
    }
}
