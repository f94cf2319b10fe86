//! Check of boxes that are to contain all states of a control loop.
//!
//! A claim lists parts that cover the initial box, and for each part a list of boxes at each step. It is right
//! if from each box every part in a cell is moved, by its cell's action, into a box of the next step; no box
//! meets an unsafe set; and what the task asks about the goal holds of the boxes. All of it is shown by plain
//! interval arithmetic (`control_loop/formulas.rs`, `control_loop/motion.rs`).

mod affine;
mod arithmetic;
mod cells;
mod choices;
mod cover;
mod flaw;
mod formulas;
mod motion;
mod series;
mod sets;
mod single_cells;
mod state_network;
mod state_sets;
mod trajectory;
mod violation;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use policert_control_loop::{Controller, DynamicsKind, ExpressionNode, GoalRule, Task};
use policert_engine_api::{Budget, StopReason};
use policert_numeric::{Interval, Rational};
use policert_policy::Network;

use affine::Affine;
use cells::Cells;
use cover::covers;
use formulas::Formula;
use motion::Motion;
use sets::{Set, Tighter};
use state_sets::StateLoop;

pub use cells::CellPrecision;
pub use choices::LoopChoices;
pub use flaw::{LoopError, LoopFlaw};
pub use sets::LoopSide;
pub use trajectory::Stretches;
pub use violation::{LoopRun, LoopViolation, ViolationError, check_violation};

/// States of a control loop at a step: between these bounds.
#[derive(Clone, PartialEq, Debug)]
pub struct LoopBox {
    /// By variable.
    pub sides: Vec<Interval>,
    /// True if all that it stands for was in the goal before, where states after the goal still count.
    pub reached: bool,
}

/// A part of the initial box with the boxes of the steps from 1 on.
#[derive(Clone, PartialEq, Debug)]
pub struct LoopPart {
    /// Its bounds, by variable.
    pub initial: Vec<(Rational, Rational)>,
    /// The boxes by step; none where the network reads the state.
    pub steps: Vec<Vec<LoopBox>>,
    /// Where the network reads the state: into how many stretches of time a step is cut.
    pub stretches: Option<u32>,
    /// Where it chooses among actions: how a set goes on over which it is unclear which ones are taken.
    pub choices: LoopChoices,
}

/// Of differential equations, so many parts of a step are followed by boxes where the task has one.
const FINER: u32 = 4;

/// A part of the initial box is followed as at most so many sets at once, where a network chooses among actions.
const MOST_SETS: usize = 128;

/// More stretches of a step than this are refused.
const MOST_STRETCHES: u32 = 1 << 12;

/// What is to be shown of a control loop, and by what.
#[derive(Clone, PartialEq, Debug)]
pub struct LoopClaim {
    /// Where all states are to be in the goal at once: the step at which they are.
    pub goal_step: Option<u32>,
    /// Parts that cover the initial box.
    pub parts: Vec<LoopPart>,
}

/// How a loop is followed.
#[derive(Debug)]
enum Kind<'t> {
    /// The controller reads cells: by boxes.
    Cells { cells: Cells<'t>, motion: Motion },
    /// It reads the state: by affine forms, with stretches of time of each of some lengths.
    State { network: Box<Network>, loops: BTreeMap<u32, StateLoop<'t>> },
}

/// What comes after a set of states.
enum Onward {
    Ends,
    GoesOn { reached: bool },
}

/// Boxes into which one is moved, and whether all that they stand for was in the goal.
pub type Successors = (Vec<Vec<Interval>>, bool);

/// A task made ready for the check.
#[derive(Debug)]
pub struct LoopCheck<'t> {
    task: &'t Task,
    between_samples: bool,
    kind: Kind<'t>,
    goal: Option<Set<'t>>,
    avoid: Vec<Set<'t>>,
}

impl<'t> LoopCheck<'t> {
    /// Prepares a task; `network` is the one that it names, if it names one; `precision` is that of a network that reads cells.
    ///
    /// # Errors
    /// [`LoopError::Unsupported`].
    pub fn new(
        task: &'t Task,
        network: Option<Network>,
        between_samples: bool,
        precision: CellPrecision,
    ) -> Result<Self, LoopError> {
        if let Some(what) = unknown(task) {
            return Err(LoopError::Unsupported(what.to_owned()));
        }
        let n = task.dimension();
        let kind = match (&task.controller, network) {
            (Controller::StateNetwork(_), Some(network)) => {
                Kind::State { network: Box::new(network), loops: BTreeMap::new() }
            }
            (_, network) => {
                let parts = match task.dynamics.kind {
                    DynamicsKind::Difference => Some(task.dynamics.substeps),
                    DynamicsKind::Ode => task.dynamics.substeps.max(1).checked_mul(FINER),
                };
                let motion = parts
                    .and_then(|parts| Motion::new(&task.dynamics, task.inputs.len(), parts))
                    .ok_or_else(|| LoopError::Unsupported("steps without length".to_owned()))?;
                let cells = Cells::new(task, network, precision);
                let cells = cells.map_err(LoopError::Unsupported)?;
                Kind::Cells { cells, motion }
            }
        };
        Ok(Self {
            task,
            between_samples,
            kind,
            goal: task.goal.as_ref().map(|goal| Set::new(goal, n)),
            avoid: task.avoid.iter().map(|set| Set::avoided(set, n)).collect(),
        })
    }

    /// Checks a claim; the number of its boxes.
    ///
    /// # Errors
    /// Why it is not confirmed.
    pub fn check(&mut self, claim: &LoopClaim, budget: &mut Budget) -> Result<usize, LoopError> {
        let initial: Vec<&[(Rational, Rational)]> =
            claim.parts.iter().map(|part| part.initial.as_slice()).collect();
        if !covers(&initial, &self.task.initial, budget)? {
            return Err(LoopError::NotCovered);
        }
        let all_at_once = self.goal.is_some() && self.task.question.goal == GoalRule::AllAtOnce;
        if claim.goal_step.is_some_and(|step| !all_at_once || step > self.task.steps) {
            return Err(LoopError::GoalStep);
        }
        let mut boxes = 0;
        for (at, part) in claim.parts.iter().enumerate() {
            boxes += 1 + part.steps.iter().map(Vec::len).sum::<usize>();
            self.check_part((at, part), claim.goal_step, budget)?;
        }
        Ok(boxes)
    }

    fn check_part(
        &mut self,
        (at, part): (usize, &LoopPart),
        goal_step: Option<u32>,
        budget: &mut Budget,
    ) -> Result<(), LoopError> {
        let flawed = |step| move |flaw| LoopError::Flawed { part: at, step, flaw };
        match (&self.kind, part.stretches) {
            (Kind::Cells { .. }, None) if part.choices == LoopChoices::Apart => {}
            (Kind::State { .. }, Some(stretches)) => {
                if part.steps.iter().any(|boxes| !boxes.is_empty()) {
                    return Err(flawed(0)(LoopFlaw::Unused));
                }
                let followed =
                    self.follow(&part.initial, (stretches, part.choices), goal_step, budget)?;
                return followed.map_err(|(step, flaw)| flawed(step)(flaw)).map(drop);
            }
            (_, _) => return Err(flawed(0)(LoopFlaw::Stretches)),
        }
        // Where the boxes of the step before lead, and whether what they stand for was in the goal.
        let mut images: Vec<(Vec<Interval>, bool)> = Vec::new();
        for step in 0..=self.task.steps {
            let mut next = Vec::new();
            let mut add = |(moved, reached): (Vec<Vec<Interval>>, bool)| {
                next.extend(moved.into_iter().map(|image| (image, reached)));
            };
            if step == 0 {
                let part = (part.initial.as_slice(), false);
                add(self.successors(part, (step, goal_step), budget)?.map_err(flawed(step))?);
            } else {
                let boxes = part.steps.get(step as usize - 1).map_or(&[][..], Vec::as_slice);
                for one in boxes {
                    budget.poll()?;
                    let sides = (one.sides.as_slice(), one.reached);
                    add(self
                        .successors(sides, (step, goal_step), budget)?
                        .map_err(flawed(step))?);
                }
                if !are_inside(&images, boxes, budget)? {
                    return Err(flawed(step - 1)(LoopFlaw::Outside));
                }
            }
            if next.is_empty() {
                let after = part.steps.iter().skip(step as usize);
                if after.into_iter().any(|boxes| !boxes.is_empty()) {
                    return Err(flawed(step)(LoopFlaw::Unused));
                }
                break;
            }
            images = next;
        }
        Ok(())
    }

    /// Looks at a box of a step, which may stand for states that all were in the goal: the boxes into which it is
    /// moved, and whether what they stand for was in the goal; or what stands against it. There are none where
    /// nothing after it counts. A part of the initial box is one at step 0, with exact bounds.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn successors<S: LoopSide>(
        &mut self,
        (sides, reached): (&[S], bool),
        (step, goal_step): (u32, Option<u32>),
        budget: &mut Budget,
    ) -> Result<Result<Successors, LoopFlaw>, StopReason> {
        match self.look((sides, &|_| None), reached, (step, goal_step)) {
            Err(flaw) => Ok(Err(flaw)),
            Ok(Onward::Ends) => Ok(Ok((Vec::new(), true))),
            Ok(Onward::GoesOn { reached }) => {
                Ok(self.images(sides, step, budget)?.map(|images| (images, reached)))
            }
        }
    }

    /// Looks at states at a step, which lie in a box; the closure has bounds of formulas over them, if it knows
    /// better ones than the box.
    fn look<S: LoopSide>(
        &self,
        (sides, tighter): (&[S], Tighter<'_>),
        reached: bool,
        (step, goal_step): (u32, Option<u32>),
    ) -> Result<Onward, LoopFlaw> {
        if sides.len() != self.task.dimension() {
            return Err(LoopFlaw::Sides);
        }
        if may_be_unsafe(&self.avoid, sides, tighter, step) {
            return Err(LoopFlaw::Unsafe);
        }
        let is_last = step == self.task.steps;
        let mut reached = reached;
        if let Some(goal) = &self.goal {
            match self.task.question.goal {
                GoalRule::AllAtOnce => {
                    reached = goal_step == Some(step);
                    let is_missed = is_last && goal_step.is_none_or(|at| at > step);
                    if is_missed || reached && goal.truth(sides, tighter) != Some(true) {
                        return Err(LoopFlaw::Goal);
                    }
                }
                GoalRule::Each => {
                    reached |= goal.truth(sides, tighter) == Some(true);
                    if is_last && !reached {
                        return Err(LoopFlaw::Goal);
                    }
                }
            }
            if reached && self.task.ends_in_goal() {
                return Ok(Onward::Ends);
            }
        }
        Ok(if is_last { Onward::Ends } else { Onward::GoesOn { reached } })
    }

    /// Follows a part of the initial box where the network reads the state, with a step in so many stretches, and under choices
    /// in one of the ways.
    /// The number of sets of states, or a step and what stands against *safe* there.
    ///
    /// # Errors
    /// A stop of the budget, or something that this check does not know.
    pub fn follow(
        &mut self,
        part: &[(Rational, Rational)],
        (stretches, choices): (u32, LoopChoices),
        goal_step: Option<u32>,
        budget: &mut Budget,
    ) -> Result<Result<u32, (u32, LoopFlaw)>, LoopError> {
        let Kind::State { network, loops } = &mut self.kind else {
            return Ok(Err((0, LoopFlaw::Stretches)));
        };
        if stretches == 0 || stretches > MOST_STRETCHES {
            return Ok(Err((0, LoopFlaw::Stretches)));
        }
        if let Entry::Vacant(slot) = loops.entry(stretches) {
            let made = StateLoop::new(self.task, (**network).clone(), stretches);
            slot.insert(made.map_err(LoopError::Unsupported)?);
        }
        let Kind::State { loops, .. } = &self.kind else {
            return Ok(Err((0, LoopFlaw::Stretches)));
        };
        let Some(followed) = loops.get(&stretches) else {
            return Ok(Err((0, LoopFlaw::Stretches)));
        };
        let mut sets = vec![(StateLoop::initial(part), false)];
        let (mut between, mut count) = (Vec::new(), 0);
        for step in 0..=self.task.steps {
            let mut next: Vec<(Vec<Affine>, bool)> = Vec::new();
            for (states, reached) in &sets {
                budget.poll_clock()?;
                count += 1;
                let tighter =
                    |formula: &Formula| Some(Affine::of_formula(formula, states)?.range());
                let onward = if step == 0 {
                    self.look((part, &tighter), *reached, (step, goal_step))
                } else {
                    let sides: Vec<Interval> = states.iter().map(Affine::range).collect();
                    self.look((sides.as_slice(), &tighter), *reached, (step, goal_step))
                };
                let reached = match onward {
                    Err(flaw) => return Ok(Err((step, flaw))),
                    Ok(Onward::Ends) => continue,
                    Ok(Onward::GoesOn { reached }) => reached,
                };
                between.clear();
                let Some(after) = followed.step(states, choices, &mut between) else {
                    return Ok(Err((step, LoopFlaw::NoValue)));
                };
                let is_unsafe =
                    |sides: &Vec<Interval>| may_be_unsafe(&self.avoid, sides, &|_| None, step + 1);
                if self.between_samples && between.iter().any(is_unsafe) {
                    return Ok(Err((step, LoopFlaw::UnsafeBetween)));
                }
                next.extend(after.into_iter().map(|states| (states, reached)));
                if next.len() > MOST_SETS {
                    return Ok(Err((step, LoopFlaw::ManyChoices)));
                }
            }
            if next.is_empty() {
                return Ok(Ok(count));
            }
            sets = next;
        }
        Ok(Err((self.task.steps, LoopFlaw::NoValue)))
    }

    /// The boxes into which a box at a step is moved, or what stands against it.
    fn images<S: LoopSide>(
        &mut self,
        sides: &[S],
        step: u32,
        budget: &mut Budget,
    ) -> Result<Result<Vec<Vec<Interval>>, LoopFlaw>, StopReason> {
        let Kind::Cells { cells, motion } = &mut self.kind else {
            return Ok(Err(LoopFlaw::Cells));
        };
        let parts = match cells.parts(sides) {
            Ok(parts) => parts,
            Err(flaw) => return Ok(Err(flaw)),
        };
        let (mut images, mut between) = (Vec::with_capacity(parts.len()), Vec::new());
        for (cell, part) in parts {
            budget.poll()?;
            let Some(inputs) = cells.inputs(&cell) else { return Ok(Err(LoopFlaw::NoValue)) };
            between.clear();
            let Some(image) = motion.step(&part, inputs, &mut between) else {
                return Ok(Err(LoopFlaw::NoValue));
            };
            images.push(image);
            let is_unsafe =
                |sides: &Vec<Interval>| may_be_unsafe(&self.avoid, sides, &|_| None, step + 1);
            if self.between_samples && between.iter().any(is_unsafe) {
                return Ok(Err(LoopFlaw::UnsafeBetween));
            }
        }
        Ok(Ok(images))
    }
}

/// Returns whether something of a set of states may be unsafe at a step.
fn may_be_unsafe<S: LoopSide>(
    avoid: &[Set<'_>],
    sides: &[S],
    tighter: Tighter<'_>,
    step: u32,
) -> bool {
    avoid.iter().any(|set| step >= set.from_step && set.may_be_met(sides, tighter))
}

/// Returns whether each image lies in a box; if it was not in the goal, in one that does not say so.
fn are_inside(
    images: &[(Vec<Interval>, bool)],
    boxes: &[LoopBox],
    budget: &mut Budget,
) -> Result<bool, StopReason> {
    // Images that come one after the other often lie in the same box.
    let mut last = 0;
    for (image, reached) in images {
        budget.poll()?;
        let includes = |one: &LoopBox| {
            (*reached || !one.reached)
                && one.sides.iter().zip(image).all(|(side, image)| side.includes(*image))
        };
        if boxes.get(last).is_some_and(includes) {
            continue;
        }
        match boxes.iter().position(includes) {
            Some(at) => last = at,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// What of a task this check does not know.
fn unknown(task: &Task) -> Option<&'static str> {
    let (graph, _) = task.dynamics.graph.needed_part(&task.dynamics.components);
    let chooses = graph.nodes().iter().any(|node| matches!(node, ExpressionNode::Choose { .. }));
    if task.dynamics.kind == DynamicsKind::Ode && chooses {
        Some("differential equations with a conditional")
    } else {
        None
    }
}
