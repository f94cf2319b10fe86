//! The published benchmarks: every instance with its expected verdict, in the slow tier; some small
//! ones always.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use policert_engine_api::{CancelFlag, Silent};
use policert_reach::{Analysis, Config, ReachVerdict, Task, analyse};

/// File, instance, whether the verdict is safe (else unsafe).
const TABLE: [(&str, &str, bool); 22] = [
    ("b1", "b1-tanh-2x20", true),
    ("b1", "b1-tanh-3x100", true),
    ("b1", "b1-relu-2x20", true),
    ("b1", "b1-relu-3x100", true),
    ("b2", "b2-tanh-2x20", true),
    ("b2", "b2-tanh-3x100", true),
    ("b2", "b2-relu-2x20", true),
    ("b2", "b2-relu-3x100", true),
    ("b3", "b3-tanh-2x20", true),
    ("b3", "b3-tanh-3x100", true),
    ("b3", "b3-relu-2x20", true),
    ("b3", "b3-relu-3x100", false),
    ("b4", "b4-tanh-2x20", true),
    ("b4", "b4-relu-2x20", true),
    ("b5", "b5-tanh-3x100", true),
    ("b5", "b5-relu-3x100", true),
    ("b5", "b5-relu-4x200", true),
    ("tora", "tora-tanh-3x20", true),
    ("tora", "tora-tanh-4x100", true),
    ("tora", "tora-relu-3x20", true),
    ("acc", "acc-tanh-3x20", true),
    ("acc", "acc-relu-3x20", true),
];

/// Those that take a moment even without optimisation.
const QUICK: [&str; 8] = [
    "b2-tanh-2x20",
    "b2-relu-2x20",
    "b3-tanh-2x20",
    "b3-relu-3x100",
    "b4-tanh-2x20",
    "b4-relu-2x20",
    "acc-tanh-3x20",
    "acc-relu-3x20",
];

fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("POLICERT_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let folder = shared.join("benchmarks/bbreach");
    if folder.is_dir() {
        return Some(folder);
    }
    writeln!(std::io::stderr(), "{} is not there", folder.display()).expect("standard error");
    None
}

fn slow() -> bool {
    std::env::var_os("SLOW_TESTS").is_some_and(|value| value == "1")
}

fn run(folder: &Path, file: &str, instance: &str, config: &Config) -> (Task, Analysis) {
    let path = folder.join("benchmarks").join(format!("{file}.toml"));
    let task = Task::read(&path, Some(instance)).expect("the task is well-formed");
    let analysis = analyse(&task, config, None, &CancelFlag::default(), &mut Silent)
        .expect("the network fits");
    (task, analysis)
}

#[test]
fn verdicts_of_the_table() {
    let Some(folder) = folder() else { return };
    let only = std::env::var("POLICERT_INSTANCE").ok();
    for (file, instance, safe) in TABLE {
        if !slow() && !QUICK.contains(&instance) || only.as_ref().is_some_and(|o| o != instance) {
            continue;
        }
        let begin = Instant::now();
        let (_, analysis) = run(&folder, file, instance, &Config::default());
        let statistics = &analysis.statistics;
        writeln!(
            std::io::stderr(),
            "{instance}: {:.4} s of {:.4} s, {} boxes, most {}, {} parts, {} cells",
            statistics.time.as_secs_f64(),
            begin.elapsed().as_secs_f64(),
            statistics.boxes_per_step.iter().sum::<u64>(),
            statistics.most_boxes,
            statistics.parts,
            statistics.cells,
        )
        .expect("standard error");
        match &analysis.verdict {
            ReachVerdict::Safe { goal_step } => assert!(safe && goal_step.is_some(), "{instance}"),
            ReachVerdict::Unsafe(_) => assert!(!safe, "{instance} is unsafe"),
            ReachVerdict::Unknown(cause) => panic!("{instance}: {cause:?}"),
        }
    }
}
