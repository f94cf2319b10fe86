//! What came out of one part of the initial box.

use serde::{Deserialize, Serialize};

use crate::range::Range;
use crate::task::{AfterGoal, GoalRule, Task};

/// What stands against a verdict *safe*.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObstacleKind {
    /// A box meets the unsafe set.
    MeetsUnsafe,
    /// A box on the way to this step meets the unsafe set.
    MeetsUnsafeBetween,
    /// A box is not inside the goal at the horizon, nor were those that it comes from.
    MissesGoal,
    /// A box leaves the cells, where the controller is not defined.
    LeavesGrid,
    /// An expression of the dynamics has no value, or no bounds, somewhere in a box.
    NoValue,
}

/// A box that stands against a verdict *safe*.
#[derive(Clone, PartialEq, Debug)]
pub struct Obstacle<R> {
    /// What it does.
    pub kind: ObstacleKind,
    /// At which step.
    pub step: u32,
    /// The box.
    pub state: Vec<R>,
}

impl<R: Range> Obstacle<R> {
    /// An obstacle at a step.
    #[must_use]
    pub fn new(kind: ObstacleKind, step: u32, state: &[R]) -> Self {
        Self { kind, step, state: state.to_vec() }
    }
}

/// The result for one part of the initial box.
#[derive(Clone, Debug)]
pub struct Outcome<R> {
    /// Number of boxes at each step, before boxes inside the goal are absorbed.
    pub boxes: Vec<u64>,
    /// For the question about all at once: whether all boxes are in the goal, step by step.
    pub goal_steps: Vec<bool>,
    /// For the question about each: the step at which the last box was in the goal.
    pub absorbed_at: Option<u32>,
    /// The first step at which a box meets the unsafe set, if that does not decide yet.
    pub first_unsafe: Option<Obstacle<R>>,
    /// What stands against *safe*.
    pub obstacle: Option<Obstacle<R>>,
    /// The boxes of every step, if they are wanted: ranges one after the other.
    pub recorded: Vec<Vec<R>>,
}

impl<R: Range> Outcome<R> {
    pub(crate) fn new() -> Self {
        Self {
            boxes: Vec::new(),
            goal_steps: Vec::new(),
            absorbed_at: None,
            first_unsafe: None,
            obstacle: None,
            recorded: Vec::new(),
        }
    }

    /// A box meets the unsafe set: that decides, unless all may be in the goal at once before.
    pub(crate) fn meet_unsafe(&mut self, task: &Task, kind: ObstacleKind, step: u32, state: &[R]) {
        let obstacle = Obstacle::new(kind, step, state);
        let may_stop_before = task.goal.is_some()
            && task.question.goal == GoalRule::AllAtOnce
            && task.question.after_goal == AfterGoal::Stop;
        if may_stop_before {
            self.first_unsafe.get_or_insert(obstacle);
        } else {
            self.obstacle = Some(obstacle);
        }
    }
}
