//! Concrete trajectories, followed with rigorous arithmetic so that what they show is certain.

mod descent;

use policert_control_loop::{
    ClosedRange, GoalRule, Gusts, LoopRegion, Task, UnsafeSet, exact_point, middle, next_bits,
};
use policert_engine_api::{Budget, StopReason};
use policert_numeric::Rational;

use crate::approximate::ApproximateLoop;
use crate::policy::Controls;
use crate::post::Post;
use crate::reachable_sets::Part;

/// A trajectory from one exact state; later states are ranges as narrow as rounding allows.
#[derive(Clone, Debug)]
pub struct Trajectory<R> {
    /// The initial state.
    pub start: Vec<Rational>,
    /// The states from step 0 on; it ends early where the action in a state is not certain.
    pub states: Vec<Vec<R>>,
    /// The action taken in each state but the last.
    pub actions: Vec<Vec<R>>,
    /// The disturbances after it.
    pub disturbances: Vec<Vec<Rational>>,
}

impl<R: ClosedRange> Trajectory<R> {
    /// Returns whether the state of a step certainly is one to be avoided. The start is compared
    /// exactly.
    fn is_in(&self, set: &UnsafeSet, step: usize) -> bool {
        match self.states.get(step) {
            Some(_) if step == 0 => set.contains(&exact_point(&self.start)),
            Some(state) => set.contains(state),
            None => false,
        }
    }

    /// Returns whether the state of a step certainly lies outside of a region.
    fn is_outside(&self, region: &LoopRegion, step: usize) -> bool {
        match self.states.get(step) {
            Some(_) if step == 0 => !region.meets(&exact_point(&self.start)),
            Some(state) => !region.meets(state),
            None => false,
        }
    }
}

/// Follows trajectories; borrows the work space of a computation of reachable sets.
#[derive(Debug)]
pub struct Simulator<'a, 'b, R> {
    /// The task.
    pub task: &'a Task,
    /// Chooses the actions.
    pub controls: &'a mut Controls<'b, R>,
    /// The dynamics.
    pub post: &'a mut Post<R>,
    /// The same, all errors left out.
    pub approximate: &'a mut ApproximateLoop,
    /// The limits of what may be used.
    pub budget: &'a mut Budget,
}

impl<R: ClosedRange> Simulator<'_, '_, R> {
    /// Follows the trajectory from a state up to the horizon, or as far as its actions are certain.
    ///
    /// # Errors
    /// If the budget runs out.
    pub fn follow(
        &mut self,
        start: &[Rational],
        mut gusts: Gusts,
    ) -> Result<Trajectory<R>, StopReason> {
        let mut states: Vec<Vec<R>> = vec![start.iter().map(R::enclosing).collect()];
        let (mut actions, mut disturbances) = (Vec::new(), Vec::new());
        let mut number = self.certain_cell(&exact_point(start))?;
        for step in 1..=self.task.steps {
            self.budget.poll_clock()?;
            let Some(at) = number else { break };
            self.controls.complete(self.budget)?;
            let Some(mut row) = self.controls.action(at).map(<[R]>::to_vec) else { break };
            let values = gusts.next_exactly(&self.task.dynamics.disturbances);
            // Instead of their ranges.
            row.truncate(self.task.actions().len());
            row.extend(values.iter().map(R::enclosing));
            let mut image = Vec::with_capacity(start.len());
            let last = states.last().map(Vec::as_slice).unwrap_or_default();
            if self.post.post(last, &row, &mut image, None).is_none() {
                break;
            }
            number = if step < self.task.steps { self.certain_cell(&image)? } else { None };
            actions.push(row);
            disturbances.push(values);
            states.push(image);
        }
        Ok(Trajectory { start: start.to_vec(), states, actions, disturbances })
    }

    /// The number of the action in a state, if its cell is certain.
    fn certain_cell<S: ClosedRange>(&mut self, state: &[S]) -> Result<Option<u32>, StopReason> {
        let mut found: Option<Option<u32>> = None;
        self.controls.begin();
        let budget = &mut *self.budget;
        let inside = self.controls.segment(state, &mut Vec::new(), |number, _| {
            found = match found {
                None => Some(Some(number)),
                Some(_) => Some(None),
            };
            budget.poll()
        })?;
        Ok(found.flatten().filter(|_| inside))
    }

    /// Trajectories from the start states given that show that the answer is *unsafe*; none if
    /// they do not.
    ///
    /// # Errors
    /// If the budget runs out.
    pub fn violation(
        &mut self,
        starts: &[Vec<Rational>],
    ) -> Result<Option<Violation<R>>, StopReason> {
        let horizon = self.task.steps as usize;
        // For the question about all at once: the steps at which a trajectory is known to be
        // outside the goal.
        let mut outside = vec![false; horizon + 1];
        let mut used: Vec<Trajectory<R>> = Vec::new();
        let gusts = Gusts::tried(&self.task.dynamics);
        for (start, &gusts) in starts.iter().flat_map(|start| gusts.iter().map(move |g| (start, g)))
        {
            if self.task.counts_each() {
                let near: Vec<f64> = start.iter().map(Rational::to_f64).collect();
                let margins = self.margins(&near, gusts)?;
                if margins.is_some_and(|margins| !margins.promise()) {
                    continue;
                }
            }
            let trajectory = self.follow(start, gusts)?;
            match self.task.question.goal {
                GoalRule::Each => {
                    if let Some(kind) = self.violates_each(&trajectory) {
                        return Ok(Some(Violation { kind, trajectories: vec![trajectory] }));
                    }
                }
                GoalRule::AllAtOnce => {
                    let unsafe_at = self.first_unsafe(&trajectory);
                    let decided = unsafe_at.filter(|&at| {
                        !self.task.ends_in_goal() || self.outside_before(&outside, &trajectory, at)
                    });
                    if let Some(step) = decided {
                        let kind = ViolationKind::Unsafe { step };
                        used.insert(0, trajectory);
                        return Ok(Some(Violation { kind, trajectories: used }));
                    }
                    if self.mark_outside(&mut outside, &trajectory) {
                        used.push(trajectory);
                    }
                    if self.task.goal.is_some() && outside.iter().all(|&outside| outside) {
                        let kind = ViolationKind::MissesGoal;
                        return Ok(Some(Violation { kind, trajectories: used }));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns whether a trajectory certainly breaks the question about each.
    fn violates_each(&self, trajectory: &Trajectory<R>) -> Option<ViolationKind> {
        let mut certain_outside = true;
        for step in 0..trajectory.states.len() {
            if self.is_unsafe(trajectory, step) {
                let step = u32::try_from(step).ok()?;
                return Some(ViolationKind::Unsafe { step });
            }
            if let Some(goal) = &self.task.goal
                && !trajectory.is_outside(goal, step)
            {
                certain_outside = false;
                if self.task.ends_in_goal() {
                    return None;
                }
            }
        }
        let whole = trajectory.states.len() == self.task.steps as usize + 1;
        (self.task.goal.is_some() && certain_outside && whole).then_some(ViolationKind::MissesGoal)
    }

    fn is_unsafe(&self, trajectory: &Trajectory<R>, step: usize) -> bool {
        let mut sets = self.task.avoided_at(u32::try_from(step).unwrap_or(u32::MAX));
        sets.any(|set| trajectory.is_in(set, step))
    }

    fn first_unsafe(&self, trajectory: &Trajectory<R>) -> Option<u32> {
        let at = (0..trajectory.states.len()).find(|&step| self.is_unsafe(trajectory, step))?;
        u32::try_from(at).ok()
    }

    fn is_outside(&self, trajectory: &Trajectory<R>, step: usize) -> bool {
        self.task.goal.as_ref().is_some_and(|goal| trajectory.is_outside(goal, step))
    }

    /// Returns whether at each step before `at` some trajectory is outside the goal.
    fn outside_before(&self, outside: &[bool], trajectory: &Trajectory<R>, at: u32) -> bool {
        (0..at as usize).all(|step| outside[step] || self.is_outside(trajectory, step))
    }

    /// Marks the steps at which a trajectory is outside; whether that is news for some.
    fn mark_outside(&self, outside: &mut [bool], trajectory: &Trajectory<R>) -> bool {
        let mut news = false;
        for (step, known) in outside.iter_mut().enumerate() {
            if !*known && self.is_outside(trajectory, step) {
                *known = true;
                news = true;
            }
        }
        news
    }
}

/// Says what trajectories show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ViolationKind {
    /// The first one is in the unsafe set at a step that counts.
    Unsafe {
        /// The step.
        step: u32,
    },
    /// The goal is not reached: a single one is never in it, or at every step one is outside.
    MissesGoal,
}

/// Trajectories that show that the answer is *unsafe*.
#[derive(Clone, Debug)]
pub struct Violation<R> {
    /// The requirement that they violate.
    pub kind: ViolationKind,
    /// The trajectories, the decisive one first.
    pub trajectories: Vec<Trajectory<R>>,
}

/// At most this many corners of a box are tried.
const MAX_CORNERS: usize = 64;

/// Start states in a part of the initial box that are tried first: one that is unsafe itself, if
/// there is one, its middle and corners, then `more` others.
#[must_use]
pub fn start_states(task: &Task, part: &Part, more: usize) -> Vec<Vec<Rational>> {
    let mut starts: Vec<Vec<Rational>> =
        task.avoided_at(0).find_map(|set| set.state_in(part)).into_iter().collect();
    starts.push(middle(part));
    let varying: Vec<usize> = (0..part.len()).filter(|&i| part[i].0 != part[i].1).collect();
    let corners = 1usize
        .checked_shl(u32::try_from(varying.len()).unwrap_or(u32::MAX))
        .unwrap_or(usize::MAX)
        .min(MAX_CORNERS);
    for corner in 0..corners {
        let mut start: Vec<Rational> = part.iter().map(|(lo, _)| lo.clone()).collect();
        for (bit, &i) in varying.iter().enumerate() {
            if bit < usize::BITS as usize && corner >> bit & 1 == 1 {
                start[i] = part[i].1.clone();
            }
        }
        starts.push(start);
    }
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..more {
        starts.push(random_state(part, &mut random));
    }
    starts
}

/// A state of a box, from a generator of random bits (xorshift).
pub fn random_state(part: &Part, random: &mut u64) -> Vec<Rational> {
    part.iter()
        .map(|(lo, hi)| {
            let steps = i64::try_from(next_bits(random) >> 44).unwrap_or(0);
            let position = Rational::new(steps, (1 << 20) - 1).unwrap_or_default();
            lo + (hi - lo) * position
        })
        .collect()
}
