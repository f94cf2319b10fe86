//! Control loops of the ARCH competition (category of neural controllers), with the published networks.

use std::io::Write as _;
use std::path::Path;

use policert_engine_api::{Budget, Silent};
use policert_reach::{Controller, ReachConfig, ReachVerdict, Task, analyse};
use policert_testkit::{shared_folder, slow_tests};

/// Tasks, and whether they take a moment even without optimisation. All of them are safe.
const TABLE: [(&str, bool); 12] = [
    ("zero-width-1", true),
    ("zero-width-2", true),
    ("zero-width-3", true),
    ("single-pendulum-hi", true),
    ("single-pendulum-lo", true),
    ("acc", true),
    ("tora-relu-1hi", true),
    ("tora-relu-1lo", true),
    ("tora-sigmoid", true),
    ("unicycle", true),
    ("nav-set", true),
    ("nav-point", false),
];

#[test]
fn loops_are_decided() {
    let Some(folder) = shared_folder("benchmarks/arch") else { return };
    let only = std::env::var("POLICERT_INSTANCE").ok();
    for (name, quick) in TABLE {
        if !slow_tests() && !quick || only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let task = Task::read(&folder.join(format!("{name}.toml")), None).expect("well-formed");
        let analysis =
            analyse(&task, &ReachConfig::default(), None, Budget::unlimited(), &mut Silent)
                .expect("the network fits");
        let statistics = &analysis.statistics;
        writeln!(
            std::io::stderr(),
            "{name}: {:.3} s, {} parts",
            statistics.time.as_secs_f64(),
            statistics.parts
        )
        .expect("standard error");
        let is_safe = matches!(analysis.verdict, ReachVerdict::Safe { .. });
        assert!(is_safe, "{name}: {:?}", analysis.verdict);
    }
}

/// Tasks of `suites/arch`, the whole questions, and whether they take a moment even without optimisation.
const SUITE: [(&str, &str, bool); 15] = [
    ("attitude", "trained", false),
    ("docking", "trained", false),
    ("airplane", "trained", true),
    ("single-pendulum", "trained", true),
    ("acc", "trained", false),
    ("tora-reach", "trained", true),
    ("nav", "trained", false),
    ("single-pendulum", "published", true),
    ("acc", "published", true),
    ("tora-reach", "published", true),
    ("nav", "published", false),
    ("nav", "published-point", false),
    ("tora", "published", false),
    ("unicycle", "published", false),
    ("double-pendulum", "published", false),
];

#[test]
fn whole_questions_are_decided() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/arch");
    for (name, instance, quick) in SUITE {
        let path = suite.join(format!("{name}.toml"));
        let task = Task::read(&path, Some(instance)).expect("well-formed");
        let Controller::StateNetwork(network) = &task.controller else {
            panic!("{name} reads no state");
        };
        if !network.is_file() || !slow_tests() && !quick {
            continue;
        }
        let analysis =
            analyse(&task, &ReachConfig::default(), None, Budget::unlimited(), &mut Silent)
                .expect("the network fits");
        let as_published = match analysis.verdict {
            ReachVerdict::Safe { .. } => name != "airplane",
            ReachVerdict::Unsafe(_) => name == "airplane",
            ReachVerdict::Unknown(_) => false,
        };
        assert!(as_published, "{name}: {:?}", analysis.verdict);
    }
}
