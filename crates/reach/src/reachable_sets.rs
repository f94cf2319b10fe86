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

use std::time::Instant;

use policert_control_loop::{ClosedRange, ExactRange, GoalRule, ReachError, StateCondition, Task};
use policert_engine_api::{Budget, StopReason};
use policert_numeric::Rational;

use crate::aggregate::{Adjacency, Aggregation, Relations, aggregate};
use crate::boxes::{Boxes, Look, look_at, look_between};
use crate::outcome::{Obstacle, ObstacleKind, PartOutcome};
use crate::phase_times::{PhaseTimes, timed};
use crate::policy::{Controls, Taken};
use crate::post::Post;
use crate::state_sets::{StateSetKind, StateSets};

/// A part of the initial box, with exact bounds.
pub type Part = Vec<(Rational, Rational)>;

/// Where it is unclear which action is taken, a part of the initial box has at most so many sets at a step.
const MOST_BRANCHES: usize = 128;

/// Says what becomes of a set over which it is unclear which action is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choices {
    /// It goes on once for each of them.
    Apart,
    /// It goes on once, under an enclosure of all of them.
    Together,
}

/// Says what to keep and what to look at besides the question.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReachOptions {
    /// Keep the boxes of every step.
    pub record: bool,
    /// Look for unsafe states between samples as well.
    pub between_samples: bool,
    /// The relations by which boxes are merged.
    pub relations: Relations,
    /// What sets are made of where the network reads the state.
    pub sets: StateSetKind,
    /// Stop with memory as the reason beyond this many boxes of one part at one step.
    pub box_limit: Option<u64>,
}

/// Computes reachable sets; has its own work space, so each thread needs its own.
#[derive(Clone, Debug)]
pub struct ReachableSets<'a, R> {
    task: &'a Task,
    /// Chooses the actions.
    pub controls: Controls<'a, R>,
    /// The dynamics.
    pub post: Post<R>,
    /// Takes the place of all that where the network reads the state.
    state_sets: Option<StateSets>,
    /// There, the sets of the step at hand: one, and more where it is not clear which action is taken.
    branches: Vec<StateSets>,
    /// Whether that was so at a step of the last part.
    was_unclear: bool,
    options: ReachOptions,
    /// The time in each step of the algorithm so far.
    pub times: PhaseTimes,
}

/// The parts of the boxes of a step in their cells.
#[derive(Debug)]
struct Segments<R> {
    sides: Vec<R>,
    actions: Vec<u32>,
    /// For each box, how many segments there are after it.
    ends: Vec<usize>,
}

impl<R> Segments<R> {
    fn clear(&mut self) {
        self.sides.clear();
        self.actions.clear();
        self.ends.clear();
    }
}

/// Work space of a run.
#[derive(Debug)]
struct Work<R> {
    images: Boxes<R>,
    between: Vec<R>,
    segments: Segments<R>,
    scratch: Vec<R>,
    aggregation: Aggregation,
}

impl<R> Default for Work<R> {
    fn default() -> Self {
        Self {
            images: Boxes::default(),
            between: Vec::new(),
            segments: Segments { sides: Vec::new(), actions: Vec::new(), ends: Vec::new() },
            scratch: Vec::new(),
            aggregation: Aggregation::default(),
        }
    }
}

impl<'a, R: ClosedRange> ReachableSets<'a, R> {
    /// Prepares the computation for a task.
    ///
    /// # Errors
    /// If differential equations cannot be differentiated.
    pub fn new(
        task: &'a Task,
        controls: Controls<'a, R>,
        post: Post<R>,
        options: ReachOptions,
    ) -> Result<Self, ReachError> {
        let reads_state = controls.state_controller().is_some();
        let state_sets = reads_state
            .then(|| StateSets::new(options.sets, &task.dynamics, task.inputs.len()))
            .transpose()?;
        let (branches, times) = (Vec::new(), PhaseTimes::default());
        let was_unclear = false;
        Ok(Self { task, controls, post, state_sets, branches, was_unclear, options, times })
    }

    /// The verdict on one part of the initial box.
    ///
    /// # Errors
    /// If the budget runs out.
    pub fn run(&mut self, part: &Part, budget: &mut Budget) -> Result<PartOutcome<R>, StopReason> {
        let apart = self.follow(part, Choices::Apart, budget)?;
        let end = |outcome: &PartOutcome<R>| {
            let found = outcome.obstacle.as_ref().or(outcome.cut_off.as_ref());
            found.map(|found| found.step)
        };
        let Some(step) = end(&apart).filter(|_| self.was_unclear) else { return Ok(apart) };
        let together = self.follow(part, Choices::Together, budget)?;
        let is_further = end(&together).is_none_or(|later| later >= step);
        Ok(if is_further { together } else { apart })
    }

    /// Follows a part of the initial box in one of the ways.
    fn follow(
        &mut self,
        part: &Part,
        choices: Choices,
        budget: &mut Budget,
    ) -> Result<PartOutcome<R>, StopReason> {
        let n = self.task.dimension();
        let initial: Vec<ExactRange> =
            part.iter().map(|(lo, hi)| ExactRange::new(lo.clone(), hi.clone())).collect();
        let mut outcome = PartOutcome::new();
        let mut current = Boxes::default();
        let mut work = Work::default();
        self.branches.clear();
        self.was_unclear = false;
        current.sides = initial.iter().map(ExactRange::converted).collect();
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
            let look = if step == 0 {
                self.look_at_exact(&initial, &mut current, &mut outcome)
            } else {
                let branches = &self.branches;
                let tighter = |i: usize, condition: &StateCondition| {
                    branches.get(i)?.values(condition.asked())
                };
                look_at(self.task, &mut current, (step, &tighter), &mut outcome)
            };
            self.leave_out(&look.absorbed);
            if !look.goes_on || outcome.has_ended() || self.is_done(part, step, &outcome) {
                return Ok(outcome);
            }
            if step == self.task.steps {
                break;
            }
            let exact = (step == 0).then_some(initial.as_slice());
            let obstacle = if self.state_sets.is_some() {
                self.advance(&mut current, (step, choices), &mut work, budget)?
            } else {
                self.move_all(&mut current, (step, exact), &mut work, budget)?
            };
            outcome.decisive = self.branches.first().and_then(StateSets::widest_influence);
            if let Some(obstacle) = obstacle {
                outcome.end(self.task, obstacle);
                return Ok(outcome);
            }
        }
        self.finish(&current, &mut outcome);
        Ok(outcome)
    }

    /// Returns whether the answer is there: all of the initial box is in the goal at once, and that
    /// ends all runs. With several parts, others may need more steps.
    fn is_done(&self, part: &Part, step: u32, outcome: &PartOutcome<R>) -> bool {
        let whole = *part == self.task.initial;
        whole && self.task.may_end_before() && outcome.is_in_goal_at(step)
    }

    /// Replaces the boxes of a step by those of the next one (l.5 to l.9), unless something stands
    /// against that. `initial` is the part itself at step 0.
    fn move_all(
        &mut self,
        current: &mut Boxes<R>,
        (step, initial): (u32, Option<&[ExactRange]>),
        work: &mut Work<R>,
        budget: &mut Budget,
    ) -> Result<Option<Obstacle<R>>, StopReason> {
        let n = self.task.dimension();
        let Work { images, between, segments, scratch, aggregation } = work;
        // l.5, l.6
        segments.clear();
        self.controls.begin();
        let begin = Instant::now();
        let outside = match initial {
            Some(initial) => {
                let visit = |action, part: &[ExactRange]| {
                    segments.sides.extend(part.iter().map(ExactRange::converted::<R>));
                    segments.actions.push(action);
                    budget.poll()
                };
                let inside = self.controls.segment(initial, &mut Vec::new(), visit)?;
                segments.ends.push(segments.actions.len());
                (!inside).then_some(0)
            }
            None => self.segment_all(current, scratch, segments, budget)?,
        };
        self.times.segment += begin.elapsed();
        if let Some(at) = outside {
            let state = &current.sides[at * n..(at + 1) * n];
            return Ok(Some(Obstacle::new(ObstacleKind::LeavesGrid, step, state)));
        }
        timed(&mut self.times.network, || self.controls.complete(budget))?;
        // l.7, l.8
        images.sides.clear();
        images.reached.clear();
        let mut from = 0;
        for (parent, &end) in segments.ends.iter().enumerate() {
            let reached = current.reached.get(parent).copied();
            let start = images.sides.len();
            let begin = Instant::now();
            for i in from..end {
                budget.poll()?;
                let state = &segments.sides[i * n..(i + 1) * n];
                let Some(action) = self.controls.action(segments.actions[i]) else {
                    return Ok(Some(Obstacle::new(ObstacleKind::NoAction, step, state)));
                };
                let wanted = self.options.between_samples.then_some(&mut *between);
                if self.post.post(state, action, &mut images.sides, wanted).is_none() {
                    return Ok(Some(Obstacle::new(ObstacleKind::NoValue, step, state)));
                }
            }
            self.times.flow += begin.elapsed();
            let met = look_between(self.task, between, reached == Some(true), step);
            if met.is_some() {
                return Ok(met);
            }
            if let Some(adjacency) = self.adjacency().filter(|_| end - from > 1) {
                let sides = &mut images.sides;
                timed(&mut self.times.aggregate, || {
                    aggregate(sides, start, &mut Vec::new(), adjacency, aggregation, budget)
                })?;
            }
            if let Some(reached) = reached {
                images.reached.resize(images.sides.len() / n, reached);
            }
            from = end;
        }
        // l.9
        if let Some(adjacency) = self.adjacency().filter(|_| segments.ends.len() > 1) {
            let Boxes { sides, reached } = images;
            timed(&mut self.times.aggregate, || {
                aggregate(sides, 0, reached, adjacency, aggregation, budget)
            })?;
        }
        std::mem::swap(current, images);
        Ok(None)
    }

    /// Returns which boxes are merged, if some are.
    fn adjacency(&self) -> Option<Adjacency<'a>> {
        let relations = self.options.relations;
        let distances = self.task.aggregation.as_ref()?;
        Some(Adjacency { distances, relations })
    }

    /// Segments all boxes; the position of one that leaves the grid, if one does.
    fn segment_all(
        &mut self,
        current: &Boxes<R>,
        scratch: &mut Vec<R>,
        segments: &mut Segments<R>,
        budget: &mut Budget,
    ) -> Result<Option<usize>, StopReason> {
        for (at, state) in current.sides.chunks_exact(self.task.dimension()).enumerate() {
            let visit = |action: u32, part: &[R]| {
                segments.sides.extend_from_slice(part);
                segments.actions.push(action);
                budget.poll()
            };
            if !self.controls.segment(state, scratch, visit)? {
                return Ok(Some(at));
            }
            segments.ends.push(segments.actions.len());
        }
        Ok(None)
    }

    /// Looks at the initial box.
    fn look_at_exact(
        &self,
        initial: &[ExactRange],
        current: &mut Boxes<R>,
        outcome: &mut PartOutcome<R>,
    ) -> Look {
        let mut exact = Boxes { sides: initial.to_vec(), reached: Vec::new() };
        let mut exact_outcome = PartOutcome::new();
        let look = look_at(self.task, &mut exact, (0, &|_, _| None), &mut exact_outcome);
        outcome.goal_steps = exact_outcome.goal_steps;
        outcome.absorbed_at = exact_outcome.absorbed_at;
        let found = |found: Option<Obstacle<ExactRange>>| {
            found.map(|found| Obstacle::new(found.kind, 0, &current.sides))
        };
        outcome.cut_off = found(exact_outcome.cut_off);
        outcome.obstacle = found(exact_outcome.obstacle);
        current.reached = exact.reached;
        if exact.sides.is_empty() {
            current.sides.clear();
        }
        look
    }

    /// Replaces the boxes of a step by those of the next one, where the network reads the state, unless
    /// something stands against that.
    fn advance(
        &mut self,
        current: &mut Boxes<R>,
        (step, together): (u32, Choices),
        work: &mut Work<R>,
        budget: &mut Budget,
    ) -> Result<Option<Obstacle<R>>, StopReason> {
        let n = self.task.dimension();
        let obstacle =
            |kind, i: usize| Some(Obstacle::new(kind, step, &current.sides[i * n..(i + 1) * n]));
        let Some((first, controller)) =
            self.state_sets.as_ref().zip(self.controls.state_controller())
        else {
            return Ok(obstacle(ObstacleKind::NoValue, 0));
        };
        if step == 0 {
            let mut first = first.clone();
            first.begin(current.sides.iter().map(ClosedRange::to_interval).collect());
            self.branches = vec![first];
        }
        let (mut next, mut next_reached) = (Vec::new(), Vec::new());
        for (i, branch) in self.branches.iter_mut().enumerate() {
            let choices = timed(&mut self.times.network, || branch.choices(controller));
            let Some(choices) = choices else {
                return Ok(obstacle(ObstacleKind::NoValue, i));
            };
            self.was_unclear |= choices.len() > 1;
            let taken: Vec<Taken> = match together {
                Choices::Together if choices.len() > 1 => {
                    match branch.any_of(controller, &choices, budget)? {
                        Some(any) => vec![Taken::Any(any)],
                        None => return Ok(obstacle(ObstacleKind::NoValue, i)),
                    }
                }
                Choices::Together | Choices::Apart => choices.into_iter().map(Taken::One).collect(),
            };
            if next.len() + taken.len() > MOST_BRANCHES {
                return Ok(obstacle(ObstacleKind::ManyChoices, i));
            }
            let reached = current.reached.get(i).copied();
            for taken in taken {
                let mut sets = branch.clone();
                let mut boxes = Vec::new();
                let wanted = self.options.between_samples.then_some(&mut boxes);
                let acts = timed(&mut self.times.network, || sets.act(controller, &taken));
                let moved = acts.is_some()
                    && timed(&mut self.times.flow, || {
                        sets.advance((controller, &taken), wanted, budget)
                    })?;
                if !moved {
                    return Ok(obstacle(ObstacleKind::NoValue, i));
                }
                work.between.extend(boxes.into_iter().map(R::from_interval));
                let met = look_between(self.task, &mut work.between, reached == Some(true), step);
                if met.is_some() {
                    return Ok(met);
                }
                next.push(sets);
                next_reached.extend(reached);
            }
        }
        let hulls = next.iter().flat_map(StateSets::hull);
        current.sides = hulls.map(|&side| R::from_interval(side)).collect();
        current.reached = next_reached;
        self.branches = next;
        Ok(None)
    }

    /// Leaves out the sets whose boxes were absorbed.
    fn leave_out(&mut self, absorbed: &[usize]) {
        let mut position = 0..;
        self.branches.retain(|_| position.next().is_none_or(|at| !absorbed.contains(&at)));
    }

    /// Notes what the boxes of the last step say about the goal.
    fn finish(&self, current: &Boxes<R>, outcome: &mut PartOutcome<R>) {
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
