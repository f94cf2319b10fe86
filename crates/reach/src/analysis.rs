//! The whole question: the initial box in parts, in parallel, refined where it is needed.

mod parts;
mod rounds;

use std::time::Duration;

use policert_control_loop::{
    AfterGoal, ClosedRange, Controller, DynamicsKind, ExactRange, ExpressionGraph, GoalRule,
    LoopRegion, ReachError, Task,
};
use policert_engine_api::{Budget, Observer, StopReason};
use policert_numeric::{Interval, Rational};

use crate::aggregate::Relations;
use crate::journal::ReachJournal;
use crate::outcome::ObstacleKind;
use crate::phase_times::PhaseTimes;
use crate::policy::{Controls, NetworkArithmetic};
use crate::post::Post;
use crate::reachable_sets::{ReachOptions, ReachableSets};
use crate::state_sets::StateSetKind;
use crate::trajectory::ViolationKind;

/// Says how to answer.
#[derive(Clone, Debug)]
pub struct ReachConfig {
    /// Threads that work on parts of the initial box. [default: 1]
    pub threads: usize,
    /// The greatest number of times that a part that is not verified is halved. [default: until the
    /// budget runs out, or it is clear that halving does not help]
    pub refinements: Option<u32>,
    /// The way in which networks are evaluated. [default: double precision, as computed]
    pub arithmetic: NetworkArithmetic,
    /// True if unsafe states between samples count. [default: no]
    pub between_samples: bool,
    /// True if the boxes of every step are returned. [default: no]
    pub record: bool,
    /// The number of random trajectories to return. [default: 0]
    pub samples: u32,
    /// The relations by which boxes are merged. [default: as meant]
    pub relations: Relations,
    /// What sets of states are made of where the network reads the state. [default: what suits the
    /// dynamics]
    pub sets: StateSetKind,
}

impl Default for ReachConfig {
    fn default() -> Self {
        Self {
            threads: 1,
            refinements: None,
            arithmetic: NetworkArithmetic::default(),
            between_samples: false,
            record: false,
            samples: 0,
            relations: Relations::default(),
            sets: StateSetKind::default(),
        }
    }
}

/// A range of a state variable in a result.
#[derive(Clone, PartialEq, Debug)]
pub struct StateRange {
    /// Bounds in double precision, outwards rounded.
    pub outer: Interval,
    /// The exact bounds, if the computation was exact.
    pub exact: Option<Box<(Rational, Rational)>>,
}

/// A box in a result.
pub type StateBox = Vec<StateRange>;

/// The answer.
#[derive(Clone, PartialEq, Debug)]
pub enum ReachVerdict {
    /// Every trajectory does as asked.
    Safe {
        /// The step at which the last boxes were in the goal; `None` without a goal.
        goal_step: Option<u32>,
    },
    /// Some trajectories do not.
    Unsafe(Counterexample),
    /// Not known.
    Unknown(UnknownCause),
}

/// Trajectories that break what is asked.
#[derive(Clone, PartialEq, Debug)]
pub struct Counterexample {
    /// The requirement that they violate.
    pub kind: ViolationKind,
    /// The trajectories.
    pub trajectories: Vec<ReportedTrajectory>,
}

/// A trajectory in a result.
#[derive(Clone, PartialEq, Debug)]
pub struct ReportedTrajectory {
    /// The exact initial state.
    pub start: Vec<Rational>,
    /// The states from step 0 on, as ranges.
    pub states: Vec<StateBox>,
    /// The actions, with the disturbances after them.
    pub actions: Vec<StateBox>,
    /// The exact disturbances of each step.
    pub disturbances: Vec<Vec<Rational>>,
}

impl ReportedTrajectory {
    /// The states up to the first one in the goal, where a run ends there; else all of them.
    #[must_use]
    pub fn until_goal(&self, task: &Task) -> &[StateBox] {
        let question = task.question;
        let ends = question.goal == GoalRule::Each && question.after_goal == AfterGoal::Stop;
        let goal = task.goal.as_ref().filter(|_| ends);
        let inside = |state: &StateBox, goal: &LoopRegion| {
            let ranges: Vec<_> = state.iter().map(|range| range.outer).collect();
            goal.contains(&ranges)
        };
        let first = goal.and_then(|goal| self.states.iter().position(|state| inside(state, goal)));
        first.map_or(self.states.as_slice(), |first| &self.states[..=first])
    }
}

/// Says why the answer is not known.
#[derive(Clone, PartialEq, Debug)]
pub enum UnknownCause {
    /// A box stands against *safe*, and no trajectory shows *unsafe*.
    Obstacle {
        /// The reason for which it stands against the verdict.
        kind: ObstacleKind,
        /// At which step.
        step: u32,
        /// The box.
        state: StateBox,
        /// The part of the initial box that it comes from.
        part: Vec<(Rational, Rational)>,
        /// The reason why the part was not halved any more.
        end: RefinementEnd,
    },
    /// No step has all boxes in the goal, and halving ended.
    NoCommonStep(RefinementEnd),
    /// A limit was reached, or the user interrupted.
    Stopped(StopReason),
}

/// Says why a part of the initial box is not halved any more.
#[derive(Clone, PartialEq, Debug)]
pub enum RefinementEnd {
    /// It was halved as often as was asked for.
    Refinements(u32),
    /// A single start state in it is not decided either.
    SingleState(Vec<Rational>),
    /// It was halved so often that double precision hardly tells its bounds apart.
    Depth(u32),
}

/// Numbers of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReachStatistics {
    /// Boxes at each step, summed over the parts that count in the end.
    pub boxes_per_step: Vec<u64>,
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
    /// Cells that boxes and trajectories met, by all threads, each counted once.
    pub cells: u64,
    /// Time from the first part to the last.
    pub time: Duration,
    /// The time in each step of the algorithm.
    pub times: PhaseTimes,
}

/// The answer with all that belongs to it.
#[derive(Clone, Debug)]
pub struct LoopAnalysis {
    /// The answer.
    pub verdict: ReachVerdict,
    /// True if every operation was exact.
    pub exact: bool,
    /// Numbers.
    pub statistics: ReachStatistics,
    /// The boxes of every step, if they are wanted.
    pub recorded: Vec<Vec<StateBox>>,
    /// Edges of the cells met: lower and upper bound of each variable; if boxes are recorded.
    pub cells: Vec<Vec<(Rational, Rational)>>,
    /// The parts of the initial box that were not halved.
    pub parts: Vec<Vec<(Rational, Rational)>>,
    /// Random trajectories, if they are wanted.
    pub samples: Vec<ReportedTrajectory>,
}

/// Answers the question of a task. The states that the budget counts are the boxes of one part of
/// the initial box at one step.
///
/// # Errors
/// If the controller cannot be read or does not fit. A stop is no error here: it is the cause of
/// an unknown answer.
pub fn analyse(
    task: &Task,
    config: &ReachConfig,
    journal: Option<&mut ReachJournal>,
    budget: Budget,
    observer: &mut dyn Observer,
) -> Result<LoopAnalysis, ReachError> {
    if is_exact(task) {
        run::<ExactRange>(task, config, journal, budget, observer)
    } else {
        run::<Interval>(task, config, journal, budget, observer)
    }
}

/// Returns whether every operation of a task is one of exact rational arithmetic.
fn is_exact(task: &Task) -> bool {
    matches!(task.controller, Controller::CellFormula { .. }) && has_exact_points(task)
}

/// Returns whether the operations on single states are those of exact rational arithmetic, once an
/// action is chosen: a network that reads cells gives doubles.
fn has_exact_points(task: &Task) -> bool {
    let rational =
        |graph: &ExpressionGraph, roots: &[_]| roots.iter().all(|&r| graph.is_rational(r));
    let chooses = match &task.controller {
        Controller::CellFormula { graph, outputs } => rational(graph, outputs),
        Controller::CellNetwork(_) => true,
        Controller::StateNetwork(_) => false,
    };
    chooses
        && task.dynamics.kind == DynamicsKind::Difference
        && rational(&task.dynamics.graph, &task.dynamics.components)
}

fn run<R: ClosedRange>(
    task: &Task,
    config: &ReachConfig,
    journal: Option<&mut ReachJournal>,
    budget: Budget,
    observer: &mut dyn Observer,
) -> Result<LoopAnalysis, ReachError> {
    let controls = Controls::<R>::new(task, config.arithmetic, &budget)?;
    let post = Post::new(&task.dynamics, task.inputs.len())?;
    let options = ReachOptions {
        record: config.record,
        between_samples: config.between_samples,
        relations: config.relations,
        sets: config.sets,
        box_limit: budget.limits().states,
    };
    let sets = ReachableSets::new(task, controls, post, options)?;
    Ok(rounds::Rounds::new(task, config, sets, budget).answer(journal, observer))
}

/// A range as part of a result.
pub(crate) fn described<R: ClosedRange>(range: &R) -> StateRange {
    let exact = if R::EXACT { range.lower().zip(range.upper()).map(Box::new) } else { None };
    StateRange { outer: range.to_interval(), exact }
}
