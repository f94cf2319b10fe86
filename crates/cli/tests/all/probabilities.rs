//! Questions about probabilities: published models with published results, what a limit leaves,
//! and what is refused by name.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::program::{code, policert, text};
use policert_numeric::Rational;
use policert_testkit::shared_folder;
use serde_json::Value;

/// File, property, constants, published result.
type Published = (&'static str, &'static str, &'static str, f64);

/// Results of the QComp collection; they are floating-point numbers of other programs. `qcomp.rs` has all
/// of them.
const PUBLISHED: [Published; 32] = [
    ("other/consensus/consensus.2.jani", "c2", "K=2", 0.382_812_5),
    ("other/consensus/consensus.2.jani", "disagree", "K=2", 0.108_333_333_333_333_33),
    ("other/consensus/consensus.2.jani", "c2", "K=4", 0.437_744_140_625),
    ("other/consensus/consensus.2.jani", "disagree", "K=4", 0.061_519_607_843_137_25),
    ("other/consensus/consensus.4.jani", "c2", "K=2", 0.317_382_812_5),
    ("other/csma/csma.2-2.jani", "all_before_max", "", 0.875),
    ("other/csma/csma.2-2.jani", "all_before_min", "", 0.875),
    ("other/csma/csma.2-2.jani", "some_before", "", 0.5),
    ("other/csma/csma.3-2.jani", "all_before_max", "", 0.859_615_036_475_695_7),
    ("other/csma/csma.3-2.jani", "all_before_min", "", 0.434_966_624_876_871_93),
    ("other/csma/csma.3-2.jani", "some_before", "", 0.585_937_5),
    ("other/echoring/echoring.jani", "MinFailed", "ITERATIONS=2", 2.952_825_973_554_6e-7),
    ("other/echoring/echoring.jani", "MaxOffline1", "ITERATIONS=2", 2.410_369_005_565_8e-7),
    ("other/echoring/echoring.jani", "MinOffline1", "ITERATIONS=2", 2.410_369_005_565_8e-7),
    ("other/echoring/echoring.jani", "MinOffline2", "ITERATIONS=2", 2.785_589_832_249e-8),
    ("other/ij/ij.3.jani", "stable", "", 1.0),
    ("other/ij/ij.10.jani", "stable", "", 1.0),
    ("other/philosophers-mdp/philosophers-mdp.3.jani", "eat", "", 1.0),
    ("other/pnueli-zuck/pnueli-zuck.3.jani", "live", "", 1.0),
    ("other/wlan/wlan.0.jani", "collisions", "COL=0", 1.0),
    ("other/wlan/wlan.1.jani", "collisions", "COL=0", 1.0),
    (
        "other/zeroconf/zeroconf.jani",
        "correct_max",
        "N=20,K=2,reset=true",
        2.010_328_177_695_692_8e-5,
    ),
    (
        "other/zeroconf/zeroconf.jani",
        "correct_min",
        "N=20,K=2,reset=true",
        2.110_327_218_406_747e-6,
    ),
    (
        "other/zeroconf/zeroconf.jani",
        "correct_max",
        "N=20,K=4,reset=true",
        7.257_425_352_628_078e-7,
    ),
    (
        "other/zeroconf/zeroconf.jani",
        "correct_min",
        "N=20,K=4,reset=true",
        7.618_296_755_164_084e-8,
    ),
    ("planning/blocksworld/blocksworld.5.jani", "goal", "", 1.0),
    ("planning/elevators/elevators.b-3-3.jani", "goal", "", 1.0),
    ("planning/elevators/elevators.a-11-9.jani", "goal", "", 1.0),
    ("planning/exploding-blocksworld/exploding-blocksworld.5.jani", "goal", "", 0.9),
    ("planning/rectangle-tireworld/rectangle-tireworld.5.jani", "goal", "", 1.0),
    ("planning/tireworld/tireworld.17.jani", "goal", "", 0.233_28),
    ("planning/triangle-tireworld/triangle-tireworld.9.jani", "goal", "", 1.0),
];

/// A file of the collection and its constants, and a truth that holds almost surely.
const ALMOST_SURE: [(&str, &str, &str); 5] = [
    ("other/consensus/consensus.2.jani", "c1", "K=2"),
    ("other/consensus/consensus.4.jani", "c1", "K=2"),
    ("other/firewire/firewire.false.jani", "elected", "delay=3,deadline=200"),
    ("other/firewire/firewire.true.jani", "elected", "delay=3,deadline=200"),
    ("other/firewire_abst/firewire_abst.jani", "elected", "delay=3"),
];

/// A run, its output and its result.
fn verify(folder: &Path, arguments: &str) -> (Output, Value) {
    let scratch = tempfile::tempdir().expect("a folder for results");
    let result = scratch.path().join("result.json");
    let mut command = policert(folder, &format!("verify {arguments}"));
    let output = command.arg("--json").arg(&result).output().expect("policert runs");
    let report = std::fs::read(&result).ok().and_then(|text| serde_json::from_slice(&text).ok());
    (output, report.unwrap_or(Value::Null))
}

fn interval(report: &Value) -> [Rational; 2] {
    [0, 1].map(|side| {
        let bound = report["probability"][side].as_str();
        bound.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no bounds: {report}"))
    })
}

fn with_constants(file: &str, property: &str, constants: &str) -> String {
    let constants = match constants {
        "" => String::new(),
        constants => format!(" --const {constants}"),
    };
    format!("{file} --property {property}{constants}")
}

fn benchmarks(name: &str) -> Option<PathBuf> {
    shared_folder("").map(|shared| shared.join("benchmarks").join(name))
}

#[test]
fn published_results_lie_in_the_interval() {
    let Some(folder) = benchmarks("qcomp_mdp") else { return };
    let narrow = Rational::from_f64(1e-6).expect("finite");
    for (file, property, constants, expected) in &PUBLISHED {
        let arguments = with_constants(file, property, constants);
        let (output, report) = verify(&folder, &arguments);
        assert_eq!(code(&output), 0, "{arguments}: {}", text(&output));
        assert_eq!(report["verdict"], "probability", "{arguments}");
        let [lo, hi] = interval(&report);
        assert!(&hi - &lo <= narrow, "{arguments}: [{lo}, {hi}]");
        // What others computed may be off by as much.
        let expected = Rational::from_f64(*expected).expect("finite");
        assert!(&lo - &narrow <= expected, "{arguments}: {lo}, {expected}");
        assert!(&hi + &narrow >= expected, "{arguments}: {hi}, {expected}");
    }
}

#[test]
fn what_holds_almost_surely() {
    let Some(folder) = benchmarks("qcomp_mdp") else { return };
    for (file, property, constants) in ALMOST_SURE {
        let arguments = with_constants(file, property, constants);
        let (output, report) = verify(&folder, &arguments);
        assert_eq!(code(&output), 0, "{arguments}: {}", text(&output));
        assert_eq!(report["verdict"], "safe", "{arguments}");
        assert_eq!(report["value"], "1", "{arguments}");
    }
}

#[test]
fn other_quantities_are_refused_by_name() {
    let Some(folder) = benchmarks("qcomp_mdp") else { return };
    let gathering = "B=200,GOLD_TO_COLLECT=15,GEM_TO_COLLECT=15";
    for (file, property, constants, reason) in [
        (
            "other/resource-gathering/resource-gathering.jani",
            "prgoldgem",
            gathering,
            "bounds on steps, time or rewards",
        ),
        (
            "other/resource-gathering/resource-gathering.jani",
            "expgold",
            gathering,
            "expected rewards",
        ),
        ("other/consensus/consensus.2.jani", "steps_max", "K=2", "expected rewards"),
    ] {
        let arguments = with_constants(file, property, constants);
        let (output, report) = verify(&folder, &arguments);
        assert_eq!(code(&output), 41, "{arguments}: {}", text(&output));
        assert!(text(&output).contains(reason), "{arguments}: {}", text(&output));
        assert_eq!(report["verdict"], "unsupported", "{arguments}");
    }
}

/// A chain in which x becomes 1 or 2 by two edges: `SECOND` is where the second one starts.
const CHAIN: &str = r#"{"jani-version": 1, "name": "chain", "type": "TYPE",
  "variables": [{"name": "x", "initial-value": 0,
    "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 2}}],
  "properties": [{"name": "p", "expression": {"op": "filter", "fun": "max",
    "values": {"op": "Pmax", "exp": {"op": "F", "exp": {"op": "=", "left": "x", "right": 2}}},
    "states": {"op": "initial"}}}],
  "automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": [
    {"location": "l", "guard": {"exp": {"op": "=", "left": "x", "right": 0}},
     "destinations": [{"location": "l", "assignments": [{"ref": "x", "value": 1}]}]},
    {"location": "l", "guard": {"exp": {"op": "=", "left": "x", "right": SECOND}},
     "destinations": [{"location": "l", "assignments": [{"ref": "x", "value": 2}]}]}]}],
  "system": {"elements": [{"automaton": "a"}]}}"#;

#[test]
fn a_markov_chain_has_no_choices() {
    let folder = tempfile::tempdir().expect("a folder");
    for (kind, second, expected) in
        [("mdp", "0", 0), ("mdp", "1", 0), ("dtmc", "1", 0), ("dtmc", "0", 41)]
    {
        let model = CHAIN.replace("TYPE", kind).replace("SECOND", second);
        std::fs::write(folder.path().join("chain.jani"), model).expect("a file");
        let (output, report) = verify(folder.path(), "chain.jani --property p");
        assert_eq!(code(&output), expected, "{kind} {second}: {}", text(&output));
        if expected == 0 {
            assert_eq!(report["value"], "1", "{kind} {second}");
        } else {
            assert!(text(&output).contains("dtmc") && text(&output).contains("x=0"));
        }
        let drn = policert(folder.path(), "convert chain.jani --property p --to drn --out c.drn");
        let output = { drn }.output().expect("policert runs");
        assert_eq!(code(&output), expected, "{kind} {second}: {}", text(&output));
    }
}

/// From a single start state, bounds show that a probability is, or is not, a number.
#[test]
fn comparisons_by_equality_have_evidence() {
    let folder = tempfile::tempdir().expect("a folder");
    let values = r#""values": {"op": "Pmax", "exp": {"op": "F", "exp": {"op": "=", "left": "x", "right": 2}}}"#;
    for (relation, bound, expected) in [("=", "1", 0), ("=", "0.5", 10), ("≠", "0.5", 0)] {
        let compared =
            values.replace(r#""values": {"#, r#""values": {"op": "RELATION", "left": {"#);
        let compared = compared.replace("RELATION", relation) + &format!(", \"right\": {bound}}}");
        let model = CHAIN.replace("TYPE", "mdp").replace("SECOND", "1");
        let model = model.replace("\"fun\": \"max\"", "\"fun\": \"∀\"").replace(values, &compared);
        std::fs::write(folder.path().join("chain.jani"), model).expect("a file");
        let (output, report) =
            verify(folder.path(), "chain.jani --property p --certify --evidence e.json");
        assert_eq!(code(&output), expected, "{}", text(&output));
        assert_eq!(report["certified"]["confirmed"], true, "{relation} {bound}: {report:#}");
        let checked = policert(folder.path(), "certify e.json").output().expect("policert runs");
        assert_eq!(code(&checked), 0, "{}", text(&checked));
    }
}

#[test]
fn networks_on_cdrive() {
    let Some(folder) = benchmarks("mogym/derived") else { return };
    for (network, expected) in [("ep999", "222264/275225"), ("epbest", "27560736/31878125")] {
        let arguments = format!(
            "cdrive.2_labelled.jani --property goal --interface cdrive.2_64_64_{network}.jani2nnet \
             --filter applicable"
        );
        let (output, report) = verify(&folder, &arguments);
        assert_eq!(code(&output), 0, "{}", text(&output));
        let [lo, hi] = interval(&report);
        let value: Rational = expected.parse().expect("a fraction");
        assert!(lo <= value && value <= hi, "{network}: [{lo}, {hi}]");
        assert_eq!(report["statistics"]["reachable_states"], 21, "{network}");
        let (output, report) = verify(&folder, &format!("{arguments} --exact"));
        assert_eq!(code(&output), 0, "{}", text(&output));
        assert_eq!(report["value"], expected, "{network}");
    }
}

#[test]
fn states_are_counted_where_everything_is_built() {
    let Some(folder) = benchmarks("qcomp_mdp") else { return };
    for (file, property, constants, states) in [
        ("other/zeroconf/zeroconf.jani", "correct_max", "N=20,K=2,reset=true", 670),
        ("other/wlan/wlan.0.jani", "collisions", "COL=0", 2954),
        ("other/csma/csma.2-2.jani", "all_before_min", "", 1038),
        ("planning/tireworld/tireworld.17.jani", "goal", "", 8670),
    ] {
        let arguments = with_constants(file, property, constants);
        let (_, part) = verify(&folder, &arguments);
        let (output, report) = verify(&folder, &format!("{arguments} --build-all"));
        assert_eq!(code(&output), 0, "{arguments}: {}", text(&output));
        assert_eq!(report["statistics"]["reachable_states"], states, "{arguments}");
        let ([lo, hi], [low, high]) = (interval(&report), interval(&part));
        assert!(lo <= high && low <= hi, "{arguments}");
    }
}

#[test]
fn a_limit_leaves_an_interval() {
    let Some(folder) = benchmarks("qcomp_mdp") else { return };
    let arguments = with_constants("other/consensus/consensus.2.jani", "disagree", "K=2");
    let value: Rational = "13/120".parse().expect("a fraction");
    let (output, exact) = verify(&folder, &format!("{arguments} --exact"));
    assert_eq!((code(&output), exact["value"].as_str()), (0, Some("13/120")));
    let mut widths = Vec::new();
    for states in [1, 50, 200, 260] {
        let (output, report) = verify(&folder, &format!("{arguments} --state-limit {states}"));
        assert_eq!(code(&output), 32, "{}", text(&output));
        assert_eq!(report["verdict"], "unknown");
        let [lo, hi] = interval(&report);
        assert!(lo <= value && value <= hi, "{states}: [{lo}, {hi}]");
        widths.push(hi - lo);
    }
    assert!(widths[0] == Rational::ONE, "{widths:?}");
    assert!(widths.iter().is_sorted_by(|a, b| a >= b), "{widths:?}");
}
