//! A reachability task: a control loop and what is asked about it.

mod boxes;
mod fields;
mod formulas;
mod hidden;
mod read;
mod reader;
mod regions;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use policert_numeric::Rational;
use serde::{Deserialize, Serialize};

use crate::disturbance::Disturbance;
use crate::edge::BoxEdge;
use crate::error::ReachError;
use crate::expression::{ExpressionGraph, ExpressionId};
use crate::grid::Grid;
use crate::observation::Observation;
use crate::region::{LoopRegion, UnsafeSet};

/// Says how the state changes while one action is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DynamicsKind {
    /// Expressions give the next state.
    Difference,
    /// Expressions give the derivative by time.
    Ode,
}

/// The dynamics: one expression for each state variable, over the state and then the inputs.
#[derive(Clone, Debug)]
pub struct Dynamics {
    /// The meaning of the expressions' values.
    pub kind: DynamicsKind,
    /// The graph of all expressions.
    pub graph: ExpressionGraph,
    /// The expressions, one for each state variable.
    pub components: Vec<ExpressionId>,
    /// The number of times that the update is applied in one step; for differential equations, the
    /// number of parts of equal length into which a step is divided.
    pub substeps: u32,
    /// Length of a step in time; only differential equations need it.
    pub period: Rational,
    /// Bounds that the first variables are moved into after a step.
    pub clamp: Option<Vec<(BoxEdge, BoxEdge)>>,
    /// The inputs after the actions.
    pub disturbances: Vec<Disturbance>,
    /// Variables that take over an action after each step, and the action.
    pub remembered: Vec<(usize, usize)>,
}

/// Says what the controller is.
#[derive(Clone, Debug)]
pub enum Controller {
    /// A network file that reads the bounds of the state's cell: all lower ones, then all upper
    /// ones.
    CellNetwork(PathBuf),
    /// A network file that reads the state itself.
    StateNetwork(PathBuf),
    /// Formulas over the bounds of the state's cell: with n variables of the plant, variables 0 to n − 1 are the lower ones, n to
    /// 2n − 1 the upper ones.
    CellFormula {
        /// The graph of the formulas.
        graph: ExpressionGraph,
        /// One formula for each input.
        outputs: Vec<ExpressionId>,
    },
}

/// From outputs of the controller to inputs of the dynamics: `scale · (output − offset)`, then
/// clamped.
#[derive(Clone, Debug)]
pub struct ActionMap {
    /// Factor.
    pub scale: Rational,
    /// Subtracted before.
    pub offset: Rational,
    /// Bounds of the result.
    pub clamp: Option<(BoxEdge, BoxEdge)>,
    /// Instead of all that: for each output the actions that are taken where it is the greatest, and the
    /// first one among equals.
    pub choices: Option<Vec<Vec<Rational>>>,
}

impl Default for ActionMap {
    fn default() -> Self {
        Self { scale: Rational::ONE, offset: Rational::ZERO, clamp: None, choices: None }
    }
}

/// Says what it means to reach the goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum GoalRule {
    /// Every trajectory is in the goal at some step, each at its own.
    #[default]
    Each,
    /// At one step all trajectories are in the goal.
    AllAtOnce,
}

/// Says whether the unsafe set counts after the goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum AfterGoal {
    /// It must not be met up to the step at which the goal is reached.
    #[default]
    Stop,
    /// It must not be met at any step up to the horizon.
    Continue,
}

/// The two switches of the question.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LoopQuestion {
    /// The meaning of reaching the goal.
    pub goal: GoalRule,
    /// The rule for the unsafe set after the goal.
    pub after_goal: AfterGoal,
}

/// The values of a variable in a part of the initial box.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InitialRange {
    /// Its name.
    pub variable: String,
    /// The least one.
    pub lower: Rational,
    /// The greatest one.
    pub upper: Rational,
}

impl std::fmt::Display for InitialRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} from {} to {}", self.variable, self.lower, self.upper)
    }
}

impl FromStr for InitialRange {
    type Err = String;

    /// Reads `VARIABLE=LOWER..UPPER`.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').and_then(|(variable, range)| {
            let (lower, upper) = range.split_once("..")?;
            let number = |text: &str| text.trim().parse().ok();
            let variable = variable.trim().to_owned();
            Some(Self { variable, lower: number(lower)?, upper: number(upper)? })
        });
        parts.ok_or_else(|| {
            format!("`{text}` is no range of a variable such as x=0.25..1 or x=1/3..1/2")
        })
    }
}

/// A control loop and what is asked about it.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its name; with the instance's, if there is one.
    pub name: String,
    /// Names of the state variables: those of the plant, remembered actions, uncertain parameters.
    pub state: Vec<String>,
    /// Names of the inputs: actions, then disturbances.
    pub inputs: Vec<String>,
    /// The dynamics of the state.
    pub dynamics: Dynamics,
    /// The controller, which chooses the actions.
    pub controller: Controller,
    /// What a network that reads the state is shown, if that is not the state itself.
    pub observation: Option<Observation>,
    /// From the controller's outputs to the inputs.
    pub action: ActionMap,
    /// The cells of the plant's variables; a controller that reads the state needs none.
    pub grid: Option<Grid>,
    /// The initial box: lower and upper bound of each variable.
    pub initial: Vec<(Rational, Rational)>,
    /// The cuts of the initial box: for each variable increasing numbers, both bounds included.
    pub partition: Vec<Vec<Rational>>,
    /// The goal.
    pub goal: Option<LoopRegion>,
    /// The sets to be avoided.
    pub avoid: Vec<UnsafeSet>,
    /// The last step.
    pub steps: u32,
    /// The question about the loop.
    pub question: LoopQuestion,
    /// Boxes closer than this along each variable are merged; `None` merges nothing.
    pub aggregation: Option<Vec<f64>>,
}

impl Task {
    /// Reads a task file; `instance` names one of its instances, which may be left out if there is
    /// only one. Paths in the file are relative to it.
    ///
    /// # Errors
    /// If the file cannot be read or breaks the rules of its format (`docs/formats/reach-task.md`).
    pub fn read(path: &Path, instance: Option<&str>) -> Result<Self, ReachError> {
        let file = path.display().to_string();
        let text = policert_files::read_text(path)
            .map_err(|source| ReachError::Io { file: file.clone(), source })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&file, &text, folder, instance)
    }

    /// Reads a task from text; `file` is its name in messages.
    ///
    /// # Errors
    /// If it breaks the rules of its format.
    pub fn parse(
        file: &str,
        text: &str,
        folder: &Path,
        instance: Option<&str>,
    ) -> Result<Self, ReachError> {
        read::read_task(file, text, folder, instance)
    }

    /// Number of state variables.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.state.len()
    }

    /// Names of the actions.
    #[must_use]
    pub fn actions(&self) -> &[String] {
        &self.inputs[..self.inputs.len() - self.dynamics.disturbances.len()]
    }

    /// Returns whether a run is over once the goal is reached: either that is what is asked, or
    /// nothing is to be avoided afterwards.
    #[must_use]
    pub fn ends_in_goal(&self) -> bool {
        let stops = self.question.after_goal == AfterGoal::Stop || self.never_avoids();
        self.goal.is_some() && stops
    }

    /// Returns how many parts the task cuts its initial box into.
    #[must_use]
    pub fn parts(&self) -> usize {
        let sides = self.partition.iter().map(|cuts| cuts.len().saturating_sub(1));
        sides.fold(1, usize::saturating_mul)
    }

    /// Restricts the initial box along a variable.
    ///
    /// # Errors
    /// [`ReachError::Usage`] if the task has no such variable, or its initial box lies elsewhere.
    pub fn restrict_initial(&mut self, range: &InitialRange) -> Result<(), ReachError> {
        let InitialRange { variable, lower, upper } = range;
        let position = self.state.iter().position(|name| name == variable).ok_or_else(|| {
            let names = self.state.join(", ");
            ReachError::Usage(format!("initial: `{variable}` is no variable; there are {names}"))
        })?;
        let (least, greatest) = &self.initial[position];
        if lower > upper || lower < least || upper > greatest {
            return Err(ReachError::Usage(format!(
                "initial: {variable} from {lower} to {upper} is no part of the task's initial box, \
                 where it is from {least} to {greatest}"
            )));
        }
        let cuts = &mut self.partition[position];
        cuts.retain(|cut| lower < cut && cut < upper);
        cuts.insert(0, lower.clone());
        cuts.push(upper.clone());
        self.initial[position] = (lower.clone(), upper.clone());
        Ok(())
    }

    /// Returns whether no step up to the horizon has anything to be avoided.
    #[must_use]
    pub fn never_avoids(&self) -> bool {
        self.first_unsafe_step().is_none_or(|step| step > self.steps)
    }

    /// The first step at which a set to be avoided counts, if there is one.
    #[must_use]
    pub fn first_unsafe_step(&self) -> Option<u32> {
        self.avoid.iter().map(|set| set.from_step).min()
    }

    /// The sets to be avoided that count at a step.
    pub fn avoided_at(&self, step: u32) -> impl Iterator<Item = &UnsafeSet> {
        self.avoid.iter().filter(move |set| step >= set.from_step)
    }

    /// Returns whether a single trajectory can show *unsafe*, whatever others do.
    pub fn counts_each(&self) -> bool {
        self.question.goal == GoalRule::Each || self.goal.is_none()
    }

    /// Returns whether a single trajectory shows *unsafe* that is unsafe at this step, or misses the goal if
    /// there is none.
    pub fn is_shown_by_one(&self, step: Option<u32>) -> bool {
        self.counts_each() || step.is_some() && !self.ends_in_goal()
    }

    /// Returns whether a state that breaks the rules decides nothing by itself, because all may be
    /// in the goal at once before.
    pub fn may_end_before(&self) -> bool {
        self.question.goal == GoalRule::AllAtOnce && self.ends_in_goal()
    }
}
