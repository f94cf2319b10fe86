//! Control loops of the ARCH competition (category of neural controllers), with the published networks.

use std::io::Write as _;

use policert_engine_api::{Budget, Silent};
use policert_reach::{ReachConfig, ReachVerdict, Task, analyse};
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
