//! The result of `policert reach` as versioned data: `docs/reach.md`.

use policert_evidence::LoopEvidence;
use policert_numeric::Rational;
use policert_outcome::{Certified, ExitStatus, FileRecord, Outcome, ReasonCode, VerdictWord};
use policert_reach::{
    Controller, Counterexample, Evaluation, LoopAnalysis, LoopQuestion, ObstacleKind, ReachConfig,
    ReachVerdict, ReportedTrajectory, Rounding, StateBox, StateRange, Task, UnknownCause,
    ViolationKind,
};
use serde::Serialize;

use super::Drawable;
use super::explanation::{after_stop, hint, reason};
use super::picture::LoopPicture;

/// The report that `policert reach --json` writes.
#[derive(Debug, Serialize)]
pub struct ReachReport {
    /// Name of the task or of its instance.
    pub task: Option<String>,
    /// The verdict in a word.
    pub verdict: VerdictWord,
    /// Advice on how to get an answer, where it is not known.
    pub hint: Option<String>,
    /// The part of the initial box that the verdict is about, a range of a variable each; none where it is about
    /// the whole box.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub initial: Vec<String>,
    /// The step at which the last boxes were in the goal; of safe tasks with a goal.
    pub goal_step: Option<u32>,
    /// Trajectories that break what is asked.
    pub counterexample: Option<CounterexampleRecord>,
    /// The box that stands against *safe*, where the answer is not known.
    pub obstacle: Option<ObstacleRecord>,
    /// The meaning of the verdict.
    pub semantics: Option<ReachSemantics>,
    /// The way in which boxes were merged: `task`, `as-written` or `none`.
    pub aggregation: Option<&'static str>,
    /// Width of the cells along each variable, exact; `null` if they are not of one width.
    pub granularity: Option<Vec<String>>,
    /// The counts of what was done.
    pub statistics: Option<ReachStatisticsRecord>,
    /// The boxes of every step, if they are wanted.
    pub boxes: Option<Vec<Vec<Vec<[BoundRecord; 2]>>>>,
    /// The cells met, if boxes are wanted: exact bounds of each variable.
    pub cells: Option<Vec<Vec<[String; 2]>>>,
    /// What a picture of the boxes shows besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<LoopPicture>,
    /// The check of the evidence, if it was asked for.
    pub certified: Option<Certified>,
    /// The evidence file, if one was asked for.
    pub evidence_file: Option<FileRecord>,
    /// The evidence of the verdict, where it was asked for and there is some.
    #[serde(skip)]
    pub evidence: Option<LoopEvidence>,
    /// The reason why there is no evidence, where there is none.
    #[serde(skip)]
    pub no_evidence: String,
    /// The boxes and trajectories that can be drawn, where there is an analysis.
    #[serde(skip)]
    pub drawable: Option<Drawable>,
}

/// A bound of a box: a number in double precision, or an exact one as text, `1/3` or `0.25`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum BoundRecord {
    /// Outwards rounded; `null` where there is no bound.
    Double(Option<f64>),
    /// Exact.
    Exact(String),
}

/// Trajectories that break what is asked.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CounterexampleRecord {
    /// `unsafe`: the first trajectory is in the unsafe set at `step`; `misses_goal`: a single one is
    /// never in the goal, or several such that at every step one is outside.
    pub kind: &'static str,
    /// The step at which the first one is unsafe.
    pub step: Option<u32>,
    /// Names of the state variables.
    pub variables: Vec<String>,
    /// Names of the actions.
    pub controls: Vec<String>,
    /// The trajectories, the decisive one first.
    pub trajectories: Vec<PathRecord>,
}

/// A trajectory.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PathRecord {
    /// The exact initial state.
    pub start: Vec<String>,
    /// The states from step 0 on: bounds of each variable between which its value lies for certain.
    pub states: Vec<Vec<[BoundRecord; 2]>>,
    /// The actions in all states but the last.
    pub actions: Vec<Vec<[BoundRecord; 2]>>,
}

/// A box that stands against *safe*.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ObstacleRecord {
    /// The reason for which it stands against the verdict.
    pub kind: ObstacleKind,
    /// At which step.
    pub step: u32,
    /// The box.
    pub state: Vec<[BoundRecord; 2]>,
    /// The part of the initial box that it comes from.
    pub part: Vec<[String; 2]>,
}

/// Says what a verdict means.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ReachSemantics {
    /// The two switches of the question.
    #[serde(flatten)]
    pub question: LoopQuestion,
    /// The first step at which an unsafe set counts.
    pub unsafe_from_step: u32,
    /// The last step.
    pub steps: u32,
    /// True if states between samples count.
    pub between_samples: bool,
    /// Arithmetic of networks: `f64`, `f32`, or `real` for those that read the state; `null` for
    /// formulas.
    pub evaluation: Option<&'static str>,
    /// The rounded outputs of networks that count; `null` where none is rounded.
    pub rounding: Option<Rounding>,
    /// `exact`, or `double`: outward-rounded double precision.
    pub bounds: &'static str,
}

/// Says what was done.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReachStatisticsRecord {
    /// Boxes at each step, summed over the parts of the initial box.
    pub boxes_per_step: Vec<u64>,
    /// Boxes of all steps.
    pub boxes: u64,
    /// Most boxes of one part at one step.
    pub most_boxes: u64,
    /// Parts of the initial box, after refinement.
    pub parts: u64,
    /// Parts that are verified.
    pub parts_verified: u64,
    /// Parts that were halved.
    pub parts_refined: u64,
    /// Parts whose results come from a journal.
    pub parts_resumed: u64,
    /// Cells whose action was computed.
    pub cells: u64,
    /// Wall-clock time of the analysis in seconds.
    pub analysis_s: f64,
    /// The time in each step of the algorithm.
    pub times_s: PhaseTimesRecord,
}

/// The time in each step of the algorithm in seconds, summed over the threads.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PhaseTimesRecord {
    /// Cutting boxes along the cells.
    pub segment: f64,
    /// Evaluating the network in cells, or enclosing its outputs.
    pub network: f64,
    /// Moving boxes or sets by the dynamics.
    pub flow: f64,
    /// Merging boxes.
    pub aggregate: f64,
}

impl ReachReport {
    /// A report that says nothing yet.
    pub(super) fn empty() -> Self {
        Self {
            task: None,
            verdict: VerdictWord::Error,
            hint: None,
            initial: Vec::new(),
            goal_step: None,
            counterexample: None,
            obstacle: None,
            semantics: None,
            aggregation: None,
            granularity: None,
            statistics: None,
            boxes: None,
            cells: None,
            picture: None,
            certified: None,
            evidence_file: None,
            evidence: None,
            no_evidence: "there is no verdict".to_owned(),
            drawable: None,
        }
    }
}

/// Fills the report of an analysis; `record` says whether its boxes are wanted.
pub(super) fn fill(
    outcome: &mut Outcome<ReachReport>,
    task: &Task,
    config: &ReachConfig,
    analysis: &LoopAnalysis,
    record: bool,
) -> ExitStatus {
    let report = &mut outcome.report;
    let arithmetic = config.arithmetic;
    let (evaluation, rounding) = match (&task.controller, arithmetic.evaluation) {
        (Controller::CellFormula { .. }, _) => (None, None),
        (Controller::StateNetwork(_), _) => (Some("real"), None),
        (Controller::CellNetwork(_), Evaluation::F64) => (Some("f64"), Some(arithmetic.rounding)),
        (Controller::CellNetwork(_), Evaluation::F32) => (Some("f32"), Some(arithmetic.rounding)),
    };
    report.semantics = Some(ReachSemantics {
        question: task.question,
        unsafe_from_step: task.first_unsafe_step().unwrap_or(0),
        steps: task.steps,
        between_samples: config.between_samples,
        evaluation,
        rounding,
        bounds: if analysis.exact { "exact" } else { "double" },
    });
    let reads_cells = !matches!(task.controller, Controller::StateNetwork(_));
    report.granularity = task.grid.as_ref().filter(|_| reads_cells).and_then(|grid| {
        grid.axes().iter().map(|axis| axis.width().map(|width| width.to_string())).collect()
    });
    let counted = &analysis.statistics;
    report.statistics = Some(ReachStatisticsRecord {
        boxes_per_step: counted.boxes_per_step.clone(),
        boxes: counted.boxes_per_step.iter().sum(),
        most_boxes: counted.most_boxes,
        parts: counted.parts,
        parts_verified: counted.parts_verified,
        parts_refined: counted.parts_refined,
        parts_resumed: counted.parts_resumed,
        cells: counted.cells,
        analysis_s: counted.time.as_secs_f64(),
        times_s: PhaseTimesRecord {
            segment: counted.times.segment.as_secs_f64(),
            network: counted.times.network.as_secs_f64(),
            flow: counted.times.flow.as_secs_f64(),
            aggregate: counted.times.aggregate.as_secs_f64(),
        },
    });
    if let Some(first) = task.first_unsafe_step().filter(|_| task.never_avoids()) {
        outcome.remarks.warnings.push(format!(
            "the unsafe set counts from step {first} on, and the last step is {}: no state is unsafe",
            task.steps
        ));
    }
    report.picture = Some(LoopPicture::new(task, analysis, record));
    if record {
        let step = |boxes: &Vec<StateBox>| boxes.iter().map(bounds).collect();
        report.boxes = Some(analysis.recorded.iter().map(step).collect());
        report.cells = Some(analysis.cells.iter().map(|cell| exact_pairs(cell)).collect());
    }
    match &analysis.verdict {
        ReachVerdict::Safe { goal_step } => {
            report.goal_step = *goal_step;
            report.verdict = VerdictWord::Safe;
            ExitStatus::Safe
        }
        ReachVerdict::Unsafe(counterexample) => {
            report.counterexample = Some(CounterexampleRecord::new(task, counterexample));
            report.verdict = VerdictWord::Unsafe;
            ExitStatus::Unsafe
        }
        ReachVerdict::Unknown(UnknownCause::Stopped(stop)) => {
            report.hint = Some(after_stop(*stop, counted));
            report.verdict = VerdictWord::Unknown;
            outcome.stop(*stop)
        }
        ReachVerdict::Unknown(cause) => {
            report.obstacle = ObstacleRecord::new(cause);
            report.hint = Some(hint(task, config, cause));
            report.verdict = VerdictWord::Unknown;
            outcome.explain(ReasonCode::Other, reason(task, cause));
            ExitStatus::Unknown
        }
    }
}

fn bound(range: &StateRange) -> [BoundRecord; 2] {
    let double = |value: f64| BoundRecord::Double(value.is_finite().then_some(value));
    match &range.exact {
        Some(exact) => {
            let (lo, hi) = &**exact;
            [BoundRecord::Exact(lo.to_string()), BoundRecord::Exact(hi.to_string())]
        }
        None => [double(range.outer.lo()), double(range.outer.hi())],
    }
}

fn bounds(state: &StateBox) -> Vec<[BoundRecord; 2]> {
    state.iter().map(bound).collect()
}

fn exact_pairs(pairs: &[(Rational, Rational)]) -> Vec<[String; 2]> {
    pairs.iter().map(|(lo, hi)| [lo.to_string(), hi.to_string()]).collect()
}

impl CounterexampleRecord {
    fn new(task: &Task, counterexample: &Counterexample) -> Self {
        let (kind, step) = match counterexample.kind {
            ViolationKind::Unsafe { step } => ("unsafe", Some(step)),
            ViolationKind::MissesGoal => ("misses_goal", None),
        };
        let path = |path: &ReportedTrajectory| PathRecord {
            start: path.start.iter().map(Rational::to_string).collect(),
            states: path.states.iter().map(bounds).collect(),
            actions: path.actions.iter().map(bounds).collect(),
        };
        Self {
            kind,
            step,
            variables: task.state.clone(),
            controls: task.inputs.clone(),
            trajectories: counterexample.trajectories.iter().map(path).collect(),
        }
    }
}

impl ObstacleRecord {
    fn new(cause: &UnknownCause) -> Option<Self> {
        let UnknownCause::Obstacle { kind, step, state, part, .. } = cause else { return None };
        Some(Self { kind: *kind, step: *step, state: bounds(state), part: exact_pairs(part) })
    }
}
