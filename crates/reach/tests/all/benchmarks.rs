//! The published benchmarks: every instance with its expected verdict, in the slow tier; some small
//! ones always.

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use policert_engine_api::{Budget, Silent};
use policert_numeric::Interval;
use policert_reach::{
    Evaluation, LoopAnalysis, ReachConfig, ReachVerdict, Rounding, Task, analyse,
};
use policert_testkit::{shared_folder, slow_tests};

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

fn run(folder: &Path, file: &str, instance: &str, config: &ReachConfig) -> (Task, LoopAnalysis) {
    let path = folder.join("benchmarks").join(format!("{file}.toml"));
    let task = Task::read(&path, Some(instance)).expect("the task is well-formed");
    let analysis =
        analyse(&task, config, None, Budget::unlimited(), &mut Silent).expect("the network fits");
    (task, analysis)
}

#[test]
fn verdicts_of_the_table() {
    let Some(folder) = shared_folder("benchmarks/bbreach") else { return };
    let only = std::env::var("POLICERT_INSTANCE").ok();
    for (file, instance, safe) in TABLE {
        if !slow_tests() && !QUICK.contains(&instance)
            || only.as_ref().is_some_and(|o| o != instance)
        {
            continue;
        }
        let begin = Instant::now();
        let (_, analysis) = run(&folder, file, instance, &ReachConfig::default());
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

/// The boxes of a step, with an index: a grid over the first two variables, in which each square
/// lists the boxes that it meets.
struct Step {
    boxes: Vec<Vec<Interval>>,
    hull: Vec<Interval>,
    squares: Vec<Vec<u32>>,
}

/// Squares along each of the two variables.
const SQUARES: usize = 64;

impl Step {
    fn new(boxes: Vec<Vec<Interval>>) -> Self {
        let hull = boxes
            .iter()
            .cloned()
            .reduce(|hull, one| hull.iter().zip(&one).map(|(a, b)| a.hull(*b)).collect());
        let mut step = Self {
            boxes,
            hull: hull.unwrap_or_default(),
            squares: vec![Vec::new(); SQUARES * SQUARES],
        };
        for at in 0..step.boxes.len() {
            let one = step.boxes[at].clone();
            for i in step.row(0, one[0].lo())..=step.row(0, one[0].hi()) {
                for k in step.row(1, one[1].lo())..=step.row(1, one[1].hi()) {
                    step.squares[i * SQUARES + k].push(u32::try_from(at).expect("not so many"));
                }
            }
        }
        step
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "from 0 to 63"
    )]
    fn row(&self, variable: usize, x: f64) -> usize {
        let side = self.hull[variable];
        let width = (side.hi() - side.lo()).max(f64::MIN_POSITIVE);
        ((x - side.lo()) / width * SQUARES as f64).clamp(0.0, SQUARES as f64 - 1.0) as usize
    }

    /// Returns whether a box contains a state, up to `slack`.
    fn contains(&self, state: &[f64], slack: f64) -> bool {
        let inside = |one: &[Interval]| {
            one.iter()
                .zip(state)
                .all(|(side, x)| side.lo() - slack <= *x && *x <= side.hi() + slack)
        };
        if self.boxes.is_empty() {
            return false;
        }
        // All squares that a box within the slack may be in.
        let rows = |variable: usize| {
            self.row(variable, state[variable] - slack)
                ..=self.row(variable, state[variable] + slack)
        };
        rows(0).any(|i| {
            rows(1).any(|k| {
                self.squares[i * SQUARES + k].iter().any(|&at| inside(&self.boxes[at as usize]))
            })
        })
    }
}

fn recorded(analysis: &LoopAnalysis) -> Vec<Step> {
    let boxes = analysis.recorded.iter();
    boxes
        .map(|step| step.iter().map(|b| b.iter().map(|s| s.outer).collect()).collect())
        .map(Step::new)
        .collect()
}

fn instances() -> impl Iterator<Item = (&'static str, &'static str)> {
    let chosen = |instance: &str| slow_tests() || QUICK.contains(&instance);
    TABLE.into_iter().filter(move |row| row.2 && chosen(row.1)).map(|row| (row.0, row.1))
}

/// Trajectories that were simulated elsewhere, with networks in double precision.
#[test]
fn foreign_trajectories_are_contained() {
    let Some(folder) = shared_folder("benchmarks/bbreach") else { return };
    for (file, instance) in instances() {
        let config = ReachConfig { record: true, ..ReachConfig::default() };
        let (task, analysis) = run(&folder, file, instance, &config);
        let boxes = recorded(&analysis);
        let path = folder.join("trajectories").join(format!("{instance}-samples.csv"));
        let text = std::fs::read_to_string(path).expect("trajectories");
        let mut compared = 0;
        for line in text.lines().skip(1) {
            let fields: Vec<f64> =
                line.split(',').map(|field| field.parse().expect("a number")).collect();
            if fields[2] < 0.5 {
                continue;
            }
            let state = &fields[3..3 + task.dimension()];
            let step = line.split(',').nth(1).and_then(|s| s.parse::<usize>().ok());
            let at = &boxes[step.expect("a step")];
            assert!(at.contains(state, 1e-12), "{instance}: {line}");
            compared += 1;
        }
        assert!(compared > 100, "{instance}");
        // The extremes of a thousand trajectories lie in the hull of the boxes.
        let path = folder.join("trajectories").join(format!("{instance}.csv"));
        let text = std::fs::read_to_string(path).expect("extremes");
        let mut lines = text.lines();
        let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
        for (line, at) in lines.zip(&boxes) {
            let fields: Vec<&str> = line.split(',').collect();
            for (variable, name) in task.state.iter().enumerate() {
                let hull = at.hull.get(variable).copied();
                for end in ["min", "max"] {
                    let column = names.iter().position(|n| *n == format!("alive_{end}_{name}"));
                    let field = fields[column.expect("a column")];
                    let Ok(value) = field.parse::<f64>() else { continue };
                    let hull = hull.expect("boxes while trajectories are alive");
                    assert!(
                        hull.lo() - 1e-12 <= value && value <= hull.hi() + 1e-12,
                        "{instance}: {name} = {value} in {line}"
                    );
                }
            }
        }
    }
}

/// Fresh random trajectories, followed rigorously: as long as they are outside the goal, their
/// states meet a box.
#[test]
fn random_trajectories_are_contained() {
    let Some(folder) = shared_folder("benchmarks/bbreach") else { return };
    let samples = if slow_tests() { 10_000 } else { 500 };
    for (file, instance) in instances() {
        let config = ReachConfig { record: true, samples, ..ReachConfig::default() };
        let (task, analysis) = run(&folder, file, instance, &config);
        let boxes = recorded(&analysis);
        let goal = task.goal.as_ref().expect("a goal");
        let mut compared = 0u64;
        assert_eq!(analysis.samples.len(), samples as usize);
        for path in &analysis.samples {
            for (step, state) in path.states.iter().enumerate() {
                let state: Vec<Interval> = state.iter().map(|range| range.outer).collect();
                if goal.meets(&state) {
                    break;
                }
                let middle: Vec<f64> = state.iter().map(|range| range.midpoint()).collect();
                let width = state.iter().map(|range| range.width()).fold(0.0, f64::max);
                assert!(boxes[step].contains(&middle, width), "{instance}: {:?}", path.start);
                compared += 1;
            }
        }
        writeln!(std::io::stderr(), "{instance}: {compared} states of {samples} trajectories")
            .expect("standard error");
        assert!(compared > u64::from(samples), "{instance}");
    }
}

/// Other evaluations of networks give the same verdicts here, and threads the same boxes.
#[test]
fn evaluations_and_threads() {
    let Some(folder) = shared_folder("benchmarks/bbreach") else { return };
    let (_, one) = run(&folder, "b2", "b2-relu-2x20", &ReachConfig::default());
    let config = ReachConfig { threads: 3, ..ReachConfig::default() };
    let (_, many) = run(&folder, "b2", "b2-relu-2x20", &config);
    assert_eq!(one.verdict, many.verdict);
    assert_eq!(one.statistics.boxes_per_step, many.statistics.boxes_per_step);
    for (evaluation, rounding) in [
        (Evaluation::F32, Rounding::AsComputed),
        (Evaluation::F32, Rounding::AnyOrder),
        (Evaluation::F64, Rounding::AnyOrder),
    ] {
        let mut config = ReachConfig::default();
        config.arithmetic.evaluation = evaluation;
        config.arithmetic.rounding = rounding;
        for (file, instance) in [("b2", "b2-tanh-2x20"), ("b4", "b4-relu-2x20")] {
            let (_, analysis) = run(&folder, file, instance, &config);
            let safe = matches!(analysis.verdict, ReachVerdict::Safe { .. });
            assert!(safe, "{instance} {evaluation:?} {rounding:?}: {:?}", analysis.verdict);
        }
    }
}
