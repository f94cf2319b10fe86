//! Evidence about control loops: boxes of states by step show *safe*, start states *unsafe*; as data, and its check
//! from that data.

mod violation;

use std::path::{Path, PathBuf};

use policert_certify::{
    CellPrecision, LoopBox, LoopCheck, LoopChoices, LoopClaim, LoopError, LoopPart, LoopViolation,
};
use policert_control_loop::{AfterGoal, Controller, GoalRule, InitialRange, Task};
use policert_engine_api::Budget;
use policert_numeric::{Interval, Rational};
use policert_outcome::{DigestError, Failure, Input, InputRole, VERSION, digests, metered};
use policert_policy::{Network, read_network_within};
use policert_problem::control_loop::{failure, read};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::EVIDENCE_VERSION;
use crate::certify::File;

pub use violation::{RunRecord, ViolationRecord};

/// What the evidence means.
const SEMANTICS: &str = "each box contains all states that the loop may be in at its step, if it begins in its part; a network \
     in f64, as computed, and everything else over the reals";

/// The same of a network in single precision.
const SINGLE_SEMANTICS: &str = "each box contains all states that the loop may be in at its step, if it begins in its part; a network \
     in f32, as computed, and everything else over the reals";

/// The same where the network reads the state.
const STATE_SEMANTICS: &str = "from all parts of the initial box the loop meets the specification, as affine forms over stretches of time \
     show; network and dynamics over the reals";

/// The word that says that all that a box stands for was in the goal.
const REACHED: &str = "reached";

/// Says of a part that sets go on under all choices at once.
const TOGETHER: &str = "together";

/// The evidence that `policert reach --evidence` writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LoopEvidence {
    /// Version of the schema.
    pub schema_version: u32,
    /// Version of the program.
    pub version: &'static str,
    /// The verdict: `safe` or `unsafe`.
    pub verdict: &'static str,
    /// What found it.
    pub engine: &'static str,
    /// The question.
    pub task: LoopTask,
    /// What the boxes mean.
    pub semantics: &'static str,
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// What shows the verdict.
    #[serde(flatten)]
    pub shown: LoopProof,
}

/// What shows a verdict.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum LoopProof {
    /// *Safe*.
    Safe {
        /// Where all states are to be in the goal at once: the step at which they are.
        goal_step: Option<u32>,
        /// Parts of the initial box with their boxes.
        parts: Vec<PartRecord>,
    },
    /// *Unsafe*.
    Unsafe {
        /// Trajectories that do not meet the specification.
        violation: ViolationRecord,
    },
}

/// A question about a control loop: the task's file, and what was asked otherwise than it says.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LoopTask {
    /// The task's file.
    pub file: PathBuf,
    /// The instance, if it was named.
    pub instance: Option<String>,
    /// The part of the initial box in which trajectories begin, as ranges of variables.
    pub initial: Vec<String>,
    /// The meaning of reaching the goal.
    pub goal: Option<GoalRule>,
    /// The rule for unsafe sets after the goal.
    pub after_goal: Option<AfterGoal>,
    /// Widths of the cells.
    pub granularity: Option<Vec<String>>,
    /// True if unsafe sets are not to be met between steps either.
    pub between_samples: bool,
    /// In which precision a network that reads cells is computed.
    #[serde(default, skip_serializing_if = "LoopEvaluation::is_double")]
    pub evaluation: LoopEvaluation,
}

/// In which precision a network that reads cells is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopEvaluation {
    /// In doubles.
    #[default]
    F64,
    /// In single precision, sums from the first input to the last.
    F32,
}

impl LoopEvaluation {
    fn is_double(&self) -> bool {
        *self == Self::F64
    }
}

/// A part of the initial box with its boxes by step, from step 1 on.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PartRecord {
    /// Exact bounds, by variable.
    pub initial: Vec<[String; 2]>,
    /// By step its boxes as text: `; ` between boxes, spaces between lower and upper bounds of the variables in turn,
    /// and `reached` after them if all that the box stands for was in the goal.
    pub steps: Vec<String>,
    /// Where the network reads the state: into how many stretches of time a step is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stretches: Option<u32>,
    /// Where it chooses among actions: `together` if a set over which it is unclear which ones are taken goes on under an enclosure
    /// of all of them; else it goes on once for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choices: Option<&'static str>,
}

/// What a check of a control loop has confirmed.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckedLoop {
    /// What of it.
    pub finding: LoopFinding,
    /// The question, with the rules about the goal that were in force.
    pub task: LoopTask,
    /// The files that were read.
    pub inputs: Vec<Input>,
}

/// A verdict about a control loop that was confirmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopFinding {
    /// All trajectories meet the specification.
    Safe {
        /// Number of boxes.
        boxes: usize,
        /// Number of parts of the initial box.
        parts: usize,
    },
    /// Some do not.
    Unsafe {
        /// The step at which one is unsafe; `None` if the goal is missed.
        step: Option<u32>,
        /// Number of trajectories.
        trajectories: usize,
    },
}

impl LoopEvidence {
    /// The evidence of a claim that a task is safe.
    #[must_use]
    pub fn safe(task: LoopTask, inputs: Vec<Input>, claim: LoopClaim) -> Self {
        let bounds = |(lo, hi): &(Rational, Rational)| [lo.to_string(), hi.to_string()];
        let part = |part: LoopPart| PartRecord {
            initial: part.initial.iter().map(bounds).collect(),
            steps: part.steps.iter().map(|boxes| step_text(boxes)).collect(),
            stretches: part.stretches,
            choices: (part.choices == LoopChoices::Together).then_some(TOGETHER),
        };
        let by_stretches = claim.parts.iter().any(|part| part.stretches.is_some());
        let semantics = match task.evaluation {
            _ if by_stretches => STATE_SEMANTICS,
            LoopEvaluation::F64 => SEMANTICS,
            LoopEvaluation::F32 => SINGLE_SEMANTICS,
        };
        let parts = claim.parts.into_iter().map(part).collect();
        let shown = LoopProof::Safe { goal_step: claim.goal_step, parts };
        Self::new(task, inputs, ("safe", semantics, shown))
    }

    /// The evidence of a claim that a task is unsafe.
    #[must_use]
    pub fn violated(
        task: LoopTask,
        inputs: Vec<Input>,
        controller: &Controller,
        claim: &LoopViolation,
    ) -> Self {
        let shown = LoopProof::Unsafe { violation: ViolationRecord::new(claim) };
        Self::new(task, inputs, ("unsafe", violation::semantics(controller), shown))
    }

    fn new(
        task: LoopTask,
        inputs: Vec<Input>,
        (verdict, semantics, shown): (&'static str, &'static str, LoopProof),
    ) -> Self {
        let (schema_version, version) = (EVIDENCE_VERSION, VERSION);
        Self { schema_version, version, verdict, engine: "reach", task, semantics, inputs, shown }
    }
}

impl LoopTask {
    /// The task as it was asked.
    ///
    /// # Errors
    /// A file that is wrong, or a question that it does not allow.
    pub fn read(&self) -> Result<Task, Failure> {
        let mut task = read(&self.file, self.instance.as_deref())?;
        for range in &self.initial {
            let range: InitialRange = range.parse().map_err(Failure::invalid)?;
            task.restrict_initial(&range).map_err(failure)?;
        }
        task.question.goal = self.goal.unwrap_or(task.question.goal);
        task.question.after_goal = self.after_goal.unwrap_or(task.question.after_goal);
        if let Some(widths) = &self.granularity {
            let widths: Result<Vec<Rational>, _> = widths.iter().map(|text| text.parse()).collect();
            let resized = match (&task.grid, widths) {
                (Some(grid), Ok(widths)) => grid.resized(&widths),
                (_, _) => Err("cells of these widths are impossible".to_owned()),
            };
            task.grid = Some(resized.map_err(Failure::invalid)?);
        }
        Ok(task)
    }
}

/// Reads the network that a task names, if it names one.
///
/// # Errors
/// If it cannot be read.
pub fn loop_network(task: &Task, budget: &Budget) -> Result<Option<Network>, Failure> {
    match &task.controller {
        Controller::CellNetwork(path) | Controller::StateNetwork(path) => {
            Ok(Some(metered(budget, |meter| read_network_within(path, meter))?.network))
        }
        Controller::CellFormula { .. } => Ok(None),
    }
}

/// Makes the check of a task ready, with the network that it names.
///
/// # Errors
/// [`Failure`] if the network cannot be read; in it, what the check does not know.
pub fn loop_check<'t>(
    task: &'t Task,
    (between_samples, evaluation): (bool, LoopEvaluation),
    budget: &Budget,
) -> Result<Result<LoopCheck<'t>, LoopError>, Failure> {
    let precision = match evaluation {
        LoopEvaluation::F64 => CellPrecision::Double,
        LoopEvaluation::F32 => CellPrecision::Single,
    };
    Ok(LoopCheck::new(task, loop_network(task, budget)?, between_samples, precision))
}

/// Checks evidence about a control loop, with the files that it names.
///
/// # Errors
/// The reason why it is not confirmed.
pub(crate) fn check(file: &File<'_>, budget: &mut Budget) -> Result<CheckedLoop, Failure> {
    let asked: LoopTask = file.part("task")?;
    let in_evidence = |failure| match failure {
        // Nobody used the command line wrongly.
        Failure::Usage(message) => {
            Failure::invalid(format!("{}: {message}", file.path().display()))
        }
        other => other,
    };
    let task = asked.read().map_err(in_evidence)?;
    let inputs = read_inputs(file, &asked, &task, budget)?;
    let finding = match file.value().get("violation") {
        Some(_) if asked.evaluation == LoopEvaluation::F32 => {
            return Err(file.rejected("there is no evidence of trajectories in single precision"));
        }
        Some(_) => violation::check(file, &task, budget)?,
        None => check_safe(file, &task, &asked, budget)?,
    };
    let confirmed = LoopTask {
        goal: task.goal.is_some().then_some(task.question.goal),
        after_goal: task.goal.is_some().then_some(task.question.after_goal),
        ..asked
    };
    Ok(CheckedLoop { finding, task: confirmed, inputs })
}

/// Compares what the evidence means.
fn compare_semantics(file: &File<'_>, semantics: &str) -> Result<(), Failure> {
    if file.part::<String>("semantics")? == semantics {
        Ok(())
    } else {
        Err(file.rejected(&format!("`semantics` is not: {semantics}")))
    }
}

fn check_safe(
    file: &File<'_>,
    task: &Task,
    asked: &LoopTask,
    budget: &mut Budget,
) -> Result<LoopFinding, Failure> {
    let semantics = match (&task.controller, asked.evaluation) {
        (Controller::CellNetwork(_), LoopEvaluation::F32) => SINGLE_SEMANTICS,
        (_, LoopEvaluation::F32) => {
            return Err(file.rejected("`evaluation` is that of networks that read cells"));
        }
        (Controller::StateNetwork(_), LoopEvaluation::F64) => STATE_SEMANTICS,
        (Controller::CellNetwork(_) | Controller::CellFormula { .. }, LoopEvaluation::F64) => {
            SEMANTICS
        }
    };
    compare_semantics(file, semantics)?;
    let goal_step = match file.value().get("goal_step") {
        None | Some(Value::Null) => None,
        Some(_) => Some(file.part("goal_step")?),
    };
    let claim = LoopClaim { goal_step, parts: parts(file, task.dimension())? };
    let refused = |error| match error {
        LoopError::Stopped(reason) => Failure::Stopped(reason),
        error @ LoopError::Unsupported(_) => {
            Failure::unsupported(format!("unsupported: {}: {error}", file.path().display()))
        }
        error => file.rejected(&error.to_string()),
    };
    let checker = loop_check(task, (asked.between_samples, asked.evaluation), budget)?;
    let mut checker = checker.map_err(refused)?;
    let boxes = checker.check(&claim, budget).map_err(refused)?;
    Ok(LoopFinding::Safe { boxes, parts: claim.parts.len() })
}

/// The files of the question, if they are those that the evidence is about.
fn read_inputs(
    file: &File<'_>,
    asked: &LoopTask,
    task: &Task,
    budget: &Budget,
) -> Result<Vec<Input>, Failure> {
    let recorded: Vec<Input> = file.part("inputs")?;
    let mut named = vec![(InputRole::Model, asked.file.clone())];
    match &task.controller {
        Controller::CellNetwork(path) | Controller::StateNetwork(path) => {
            named.push((InputRole::Network, path.clone()));
        }
        Controller::CellFormula { .. } => {}
    }
    let read = digests(named, budget).map_err(|(path, error)| match error {
        DigestError::Stop(reason) => Failure::Stopped(reason),
        DigestError::Io(error) => Failure::invalid(format!("{}: {error}", path.display())),
    })?;
    if let Some(changed) = crate::certify::changed(&recorded, &read) {
        return Err(Failure::invalid(format!(
            "{}: {} is not the file that the evidence is about",
            file.path().display(),
            changed.display()
        )));
    }
    if let Some(unnamed) = crate::certify::unrecorded(&recorded, &read) {
        return Err(file.rejected(&format!(
            "`inputs` does not name {} as what it is for the question",
            unnamed.display()
        )));
    }
    Ok(read)
}

fn parts(file: &File<'_>, variables: usize) -> Result<Vec<LoopPart>, Failure> {
    let list = file.value()["parts"].as_array().ok_or_else(|| file.wrong("parts"))?;
    let part = |(at, value): (usize, &Value)| {
        let place = |what: &str| file.wrong(&format!("parts[{at}].{what}"));
        let initial = value["initial"].as_array().and_then(|sides| {
            let side = |side: &Value| {
                let [lo, hi] = side.as_array()?.as_slice() else { return None };
                Some((lo.as_str()?.parse().ok()?, hi.as_str()?.parse().ok()?))
            };
            sides.iter().map(side).collect()
        });
        let steps = value["steps"].as_array().and_then(|steps| {
            steps.iter().map(|boxes| read_step(boxes.as_str()?, variables)).collect()
        });
        let stretches = match value.get("stretches") {
            None | Some(Value::Null) => None,
            Some(count) => {
                let count = count.as_u64().and_then(|count| u32::try_from(count).ok());
                Some(count.ok_or_else(|| place("stretches"))?)
            }
        };
        let choices = match value.get("choices") {
            None => LoopChoices::Apart,
            Some(word) if word == TOGETHER => LoopChoices::Together,
            Some(_) => return Err(place("choices")),
        };
        Ok(LoopPart {
            stretches,
            choices,
            initial: initial.ok_or_else(|| place("initial"))?,
            steps: steps.ok_or_else(|| place("steps"))?,
        })
    };
    list.iter().enumerate().map(part).collect()
}

/// The boxes of a step as text.
fn step_text(boxes: &[LoopBox]) -> String {
    let one = |LoopBox { sides, reached }: &LoopBox| {
        let sides = sides.iter().map(|side| format!("{} {}", side.lo(), side.hi()));
        sides.chain(reached.then(|| REACHED.to_owned())).collect::<Vec<_>>().join(" ")
    };
    boxes.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The boxes of a step from their text; `None` if it is none.
fn read_step(text: &str, variables: usize) -> Option<Vec<LoopBox>> {
    let one = |text: &str| {
        let mut words = text.split_whitespace();
        let mut number = || words.next()?.parse::<f64>().ok();
        let mut side = |_| Interval::new(number()?, number()?);
        let sides = (0..variables).map(&mut side).collect::<Option<_>>()?;
        let reached = match (words.next(), words.next()) {
            (None, _) => false,
            (Some(REACHED), None) => true,
            (Some(_), _) => return None,
        };
        Some(LoopBox { sides, reached })
    };
    if text.trim().is_empty() { Some(Vec::new()) } else { text.split(';').map(one).collect() }
}

/// Checks evidence that is about to be written, from its text and the files that it names. Its size in bytes.
///
/// # Errors
/// The reason why it is not confirmed.
pub fn certify_loop(evidence: &LoopEvidence, budget: &mut Budget) -> Result<u64, Failure> {
    let text = serde_json::to_vec(evidence)
        .map_err(|error| Failure::Internal(format!("evidence as JSON: {error}")))?;
    let file = File::parse(Path::new("evidence"), &text)?;
    let size = text.len() as u64;
    drop(text);
    check(&file, budget).map(|_| size)
}
