//! What came out of one part of the initial box.

use policert_control_loop::{ClosedRange, Task};

use serde::{Deserialize, Serialize};

/// Says what stands against a verdict *safe*.
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
    /// The controller's formula or network has no value in a cell that a box meets.
    NoAction,
    /// Which action is taken was unclear so often that there are too many boxes.
    ManyChoices,
    /// An expression of the dynamics has no value, or no bounds, somewhere in a box.
    NoValue,
}

/// A box that stands against a verdict *safe*.
#[derive(Clone, PartialEq, Debug)]
pub struct Obstacle<R> {
    /// The reason for which it stands against the verdict.
    pub kind: ObstacleKind,
    /// At which step.
    pub step: u32,
    /// The box.
    pub state: Vec<R>,
}

impl<R: ClosedRange> Obstacle<R> {
    /// An obstacle at a step.
    #[must_use]
    pub fn new(kind: ObstacleKind, step: u32, state: &[R]) -> Self {
        Self { kind, step, state: state.to_vec() }
    }
}

/// The result for one part of the initial box.
#[derive(Clone, Debug)]
pub struct PartOutcome<R> {
    /// Number of boxes at each step, before boxes inside the goal are absorbed.
    pub boxes: Vec<u64>,
    /// For the question about all at once: whether all boxes are in the goal, step by step; as far
    /// as the steps count.
    pub goal_steps: Vec<bool>,
    /// For the question about each: the step at which the last box was in the goal.
    pub absorbed_at: Option<u32>,
    /// The box that ends the run of this part early without deciding it: all may be in the goal at
    /// once before.
    pub cut_off: Option<Obstacle<R>>,
    /// The box that stands against a verdict *safe*.
    pub obstacle: Option<Obstacle<R>>,
    /// The variable across which the part is halved best, if that is known.
    pub decisive: Option<usize>,
    /// The boxes of every step, if they are wanted: ranges one after the other.
    pub recorded: Vec<Vec<R>>,
}

impl<R: ClosedRange> PartOutcome<R> {
    pub(crate) fn new() -> Self {
        Self {
            boxes: Vec::new(),
            goal_steps: Vec::new(),
            absorbed_at: None,
            cut_off: None,
            obstacle: None,
            decisive: None,
            recorded: Vec::new(),
        }
    }

    /// Something stands against *safe* from a step on; the run of the part ends.
    pub(crate) fn end(&mut self, task: &Task, obstacle: Obstacle<R>) {
        let place = if task.may_end_before() { &mut self.cut_off } else { &mut self.obstacle };
        place.get_or_insert(obstacle);
    }

    /// Returns whether the run of the part has ended early.
    pub(crate) fn has_ended(&self) -> bool {
        self.obstacle.is_some() || self.cut_off.is_some()
    }

    /// Returns whether all boxes are in the goal at a step that counts.
    pub(crate) fn is_in_goal_at(&self, step: u32) -> bool {
        self.goal_steps.get(step as usize).copied().unwrap_or(false)
    }
}
