//! Reachable sets of one part of the initial box (BBReach, Algorithm 1).
//!
//! Input: a control loop and horizon T; output: X₀, …, X_T, of which the verdict of the part is
//! kept, and the boxes themselves if they are wanted.
//!
//! | paper | here |
//! |---|---|
//! | I₀ | [`Part`], exact |
//! | X_t | [`Boxes`] |
//! | segment, post, aggregate | [`Controls::segment`], [`Post::post`], [`aggregate`] |
//!
//! Deviations:
//! - D1: boxes are merged once for each box that they come from and once for all, as the published
//!   code does.
//! - D2: the question is answered on the way: a box inside the goal is absorbed, or marked if the
//!   unsafe set still counts.
//! - D3: X₀ stays exact, so that a start on a cell's edge is in one cell only.

use policert_engine_api::{Budget, StopReason};
use policert_numeric::Rational;

use crate::aggregate::{Aggregation, Relations, aggregate};
use crate::linearised::Linearised;
use crate::outcome::{Obstacle, ObstacleKind, Outcome};
use crate::policy::Controls;
use crate::post::Post;
use crate::range::{ExactRange, Range};
use crate::task::{AfterGoal, DynamicsKind, GoalRule, Task};

/// A part of the initial box, with exact bounds.
pub type Part = Vec<(Rational, Rational)>;

/// A set of boxes.
#[derive(Clone, Debug)]
pub struct Boxes<R> {
    /// The ranges of the boxes, one box after the other.
    pub sides: Vec<R>,
    /// Whether all that a box stands for was in the goal already; empty if that makes no
    /// difference.
    pub reached: Vec<bool>,
}

impl<R> Default for Boxes<R> {
    fn default() -> Self {
        Self { sides: Vec::new(), reached: Vec::new() }
    }
}

/// What to keep and what to look at besides the question.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    /// Keep the boxes of every step.
    pub record: bool,
    /// Look for unsafe states between samples as well.
    pub between_samples: bool,
    /// Which relations merge boxes.
    pub relations: Relations,
    /// Stop with memory as the reason beyond so many boxes of one part at one step.
    pub box_limit: Option<u64>,
}

/// Computes reachable sets; has its own work space, so each thread needs its own.
#[derive(Clone, Debug)]
pub struct ReachableSets<'a, R> {
    task: &'a Task,
    /// What chooses the actions.
    pub controls: Controls<'a, R>,
    /// The dynamics.
    pub post: Post<R>,
    /// Takes the place of all that for difference equations whose network reads the state.
    linearised: Option<Linearised>,
    options: RunOptions,
}

/// The parts of the boxes of a step in their cells.
#[derive(Debug)]
struct Segments<R> {
    sides: Vec<R>,
    actions: Vec<u32>,
    /// For each box, how many segments there are after it.
    ends: Vec<usize>,
}

impl<'a, R: Range> ReachableSets<'a, R> {
    /// Prepares the computation for a task.
    pub fn new(
        task: &'a Task,
        controls: Controls<'a, R>,
        post: Post<R>,
        options: RunOptions,
    ) -> Self {
        let reads_state = controls.state_controller().is_some();
        let linearised = (reads_state && task.dynamics.kind == DynamicsKind::Difference)
            .then(|| Linearised::new(&task.dynamics, task.inputs.len()));
        Self { task, controls, post, linearised, options }
    }

    /// The verdict on one part of the initial box.
    ///
    /// # Errors
    /// If the budget runs out.
    pub fn run(&mut self, part: &Part, budget: &mut Budget) -> Result<Outcome<R>, StopReason> {
        let n = self.task.dimension();
        let initial: Vec<ExactRange> =
            part.iter().map(|(lo, hi)| ExactRange::new(lo.clone(), hi.clone())).collect();
        let mut outcome = Outcome::new();
        let mut current = Boxes::default();
        let mut images = Boxes::default();
        let mut between = Vec::new();
        let mut segments = Segments { sides: Vec::new(), actions: Vec::new(), ends: Vec::new() };
        let mut scratch = Vec::new();
        let mut work = Aggregation::default();
        let rounded: Vec<R> = initial.iter().map(|r| enclose(r)).collect();
        current.sides = rounded;
        // l.3; step 0 is looked at with exact bounds.
        for step in 0..=self.task.steps {
            budget.poll()?;
            let count = (current.sides.len() / n) as u64;
            outcome.boxes.push(count);
            if self.options.box_limit.is_some_and(|limit| count > limit) {
                return Err(StopReason::Memory);
            }
            if self.options.record {
                outcome.recorded.push(current.sides.clone());
            }
            let open = if step == 0 {
                self.look_at_exact(&initial, &mut current, &mut outcome)
            } else {
                self.look_at(&mut current, step, &mut outcome)
            };
            if !open || outcome.obstacle.is_some() {
                return Ok(outcome);
            }
            if step == self.task.steps {
                break;
            }
            if self.linearised.is_some() {
                // A step takes long with many variables and substeps.
                budget.poll_clock()?;
                let Some(advanced) = self.advance(&current, step == 0, &mut between) else {
                    let kind = ObstacleKind::NoValue;
                    outcome.obstacle = Some(Obstacle::new(kind, step, &current.sides));
                    return Ok(outcome);
                };
                let reached = current.reached.first() == Some(&true);
                self.look_between(&mut between, reached, step, &mut outcome);
                if outcome.obstacle.is_some() {
                    return Ok(outcome);
                }
                current.sides = advanced;
                continue;
            }
            // l.5, l.6
            segments.sides.clear();
            segments.actions.clear();
            segments.ends.clear();
            self.controls.begin();
            let segmented = if step == 0 {
                let mut part = Vec::new();
                self.controls
                    .segment(&initial, &mut part, |action, part| {
                        segments.sides.extend(part.iter().map(|r| enclose::<R>(r)));
                        segments.actions.push(action);
                    })
                    .map(|()| segments.ends.push(segments.actions.len()))
                    .ok_or(0)
            } else {
                self.segment_all(&current, n, &mut scratch, &mut segments)
            };
            if let Err(at) = segmented {
                let state = &current.sides[at * n..(at + 1) * n];
                outcome.obstacle = Some(Obstacle::new(ObstacleKind::LeavesGrid, step, state));
                return Ok(outcome);
            }
            self.controls.complete();
            // l.7, l.8
            images.sides.clear();
            images.reached.clear();
            let mut from = 0;
            for (parent, &end) in segments.ends.iter().enumerate() {
                let reached = current.reached.get(parent).copied();
                let start = images.sides.len();
                for i in from..end {
                    let state = &segments.sides[i * n..(i + 1) * n];
                    let action = self.controls.action(segments.actions[i]);
                    let wanted = self.options.between_samples.then_some(&mut between);
                    if self.post.post(state, action, &mut images.sides, wanted).is_none() {
                        outcome.obstacle = Some(Obstacle::new(ObstacleKind::NoValue, step, state));
                        return Ok(outcome);
                    }
                }
                self.look_between(&mut between, reached == Some(true), step, &mut outcome);
                if outcome.obstacle.is_some() {
                    return Ok(outcome);
                }
                if let Some(distances) = &self.task.aggregation
                    && end - from > 1
                {
                    let relations = self.options.relations;
                    let sides = &mut images.sides;
                    aggregate(sides, start, &mut Vec::new(), n, distances, relations, &mut work);
                }
                if let Some(reached) = reached {
                    images.reached.resize(images.sides.len() / n, reached);
                }
                from = end;
                budget.poll()?;
            }
            // l.9
            if let Some(distances) = &self.task.aggregation
                && segments.ends.len() > 1
            {
                let Boxes { sides, reached } = &mut images;
                aggregate(sides, 0, reached, n, distances, self.options.relations, &mut work);
            }
            std::mem::swap(&mut current, &mut images);
        }
        if outcome.first_unsafe.is_none() {
            self.finish(&current, &mut outcome);
        }
        Ok(outcome)
    }

    /// Segments all boxes; the position of one that leaves the grid otherwise.
    fn segment_all(
        &mut self,
        current: &Boxes<R>,
        n: usize,
        scratch: &mut Vec<R>,
        segments: &mut Segments<R>,
    ) -> Result<(), usize> {
        for (at, state) in current.sides.chunks_exact(n).enumerate() {
            let visit = |action: u32, part: &[R]| {
                segments.sides.extend_from_slice(part);
                segments.actions.push(action);
            };
            self.controls.segment(state, scratch, visit).ok_or(at)?;
            segments.ends.push(segments.actions.len());
        }
        Ok(())
    }

    /// Looks at the initial box; whether there is something to go on with.
    fn look_at_exact(
        &self,
        initial: &[ExactRange],
        current: &mut Boxes<R>,
        outcome: &mut Outcome<R>,
    ) -> bool {
        let mut exact = Boxes { sides: initial.to_vec(), reached: Vec::new() };
        let mut exact_outcome = Outcome::new();
        let open = look_at(self.task, &mut exact, 0, &mut exact_outcome);
        outcome.goal_steps = exact_outcome.goal_steps;
        outcome.absorbed_at = exact_outcome.absorbed_at;
        let found = |found: Option<Obstacle<ExactRange>>| {
            found.map(|found| Obstacle::new(found.kind, 0, &current.sides))
        };
        outcome.first_unsafe = found(exact_outcome.first_unsafe);
        outcome.obstacle = found(exact_outcome.obstacle);
        current.reached = exact.reached;
        if exact.sides.is_empty() {
            current.sides.clear();
        }
        open
    }

    fn look_at(&self, current: &mut Boxes<R>, step: u32, outcome: &mut Outcome<R>) -> bool {
        look_at(self.task, current, step, outcome)
    }

    /// The box one step after the only one there is, by the linearised loop.
    fn advance(
        &mut self,
        current: &Boxes<R>,
        is_first: bool,
        between: &mut Vec<R>,
    ) -> Option<Vec<R>> {
        let (linearised, controller) =
            self.linearised.as_mut().zip(self.controls.state_controller())?;
        if is_first {
            linearised.begin(current.sides.iter().map(Range::to_interval).collect());
        }
        let mut boxes = Vec::new();
        let wanted = self.options.between_samples.then_some(&mut boxes);
        linearised.advance(controller, wanted)?;
        between.extend(boxes.into_iter().map(R::from_interval));
        Some(linearised.hull().iter().map(|&side| R::from_interval(side)).collect())
    }

    /// Looks at the boxes between samples, unless all that they stand for `reached` the goal and
    /// that is the end; empties the list.
    fn look_between(
        &self,
        between: &mut Vec<R>,
        reached: bool,
        step: u32,
        outcome: &mut Outcome<R>,
    ) {
        let over = reached && self.task.question.after_goal == AfterGoal::Stop;
        if let Some(avoid) = self.task.avoid.as_ref().filter(|_| !over)
            && step + 1 >= self.task.avoid_from_step
            && let Some(state) =
                between.chunks_exact(self.task.dimension()).find(|state| avoid.meets(state))
        {
            outcome.meet_unsafe(self.task, ObstacleKind::MeetsUnsafeBetween, step + 1, state);
        }
        between.clear();
    }

    /// What the boxes of the last step say about the goal.
    fn finish(&self, current: &Boxes<R>, outcome: &mut Outcome<R>) {
        if self.task.goal.is_none() || self.task.question.goal == GoalRule::AllAtOnce {
            return;
        }
        let n = self.task.dimension();
        let open = current
            .sides
            .chunks_exact(n)
            .enumerate()
            .find(|(i, _)| !current.reached.get(*i).copied().unwrap_or(false));
        if let Some((_, state)) = open {
            let kind = ObstacleKind::MissesGoal;
            outcome.obstacle = Some(Obstacle::new(kind, self.task.steps, state));
        }
    }
}

/// Looks at the boxes of a step: do they meet the unsafe set, are they in the goal? Absorbs or
/// marks those in the goal; whether there is something to go on with.
fn look_at<R: Range>(
    task: &Task,
    current: &mut Boxes<R>,
    step: u32,
    outcome: &mut Outcome<R>,
) -> bool {
    let n = task.dimension();
    if let Some(avoid) = &task.avoid
        && step >= task.avoid_from_step
        && let Some(state) = current.sides.chunks_exact(n).find(|state| avoid.meets(state))
    {
        outcome.meet_unsafe(task, ObstacleKind::MeetsUnsafe, step, state);
        if outcome.obstacle.is_some() || task.question.after_goal == AfterGoal::Stop {
            return false;
        }
    }
    let Some(goal) = &task.goal else { return true };
    match (task.question.goal, task.question.after_goal) {
        (GoalRule::AllAtOnce, _) => {
            let all = current.sides.chunks_exact(n).all(|state| goal.contains(state));
            outcome.goal_steps.push(all);
        }
        (GoalRule::Each, AfterGoal::Stop) => {
            let mut kept = 0;
            for i in 0..current.sides.len() / n {
                if goal.contains(&current.sides[i * n..(i + 1) * n]) {
                    continue;
                }
                for k in 0..n {
                    current.sides.swap(kept * n + k, i * n + k);
                }
                kept += 1;
            }
            current.sides.truncate(kept * n);
            if kept == 0 {
                outcome.absorbed_at = Some(step);
                return false;
            }
        }
        (GoalRule::Each, AfterGoal::Continue) => {
            current.reached.resize(current.sides.len() / n, false);
            for (state, reached) in current.sides.chunks_exact(n).zip(&mut current.reached) {
                *reached |= goal.contains(state);
            }
            if outcome.absorbed_at.is_none() && current.reached.iter().all(|&reached| reached) {
                outcome.absorbed_at = Some(step);
            }
        }
    }
    true
}

/// An exact range as one of another kind.
fn enclose<R: Range>(range: &ExactRange) -> R {
    match (range.lower(), range.upper()) {
        (Some(lo), Some(hi)) => R::between(&lo, &hi),
        _ => R::from_interval(range.to_interval()),
    }
}
