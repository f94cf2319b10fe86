//! Exact distances to the goal, by search in the whole space of states.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use policert_engine_api::{Budget, StopReason};
use policert_pddl::Task;

use super::lengths::Lengths;
use super::packed::{packed, unpacked};

/// No distance: the goal is out of reach.
const NEVER: u32 = u32::MAX;

/// The distances of all states that are reachable in a problem.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    states: Vec<Vec<u64>>,
    positions: BTreeMap<Vec<u64>, u32>,
    /// By state the actions, each with a state that it may lead to and the length of that.
    steps: Vec<Vec<Step>>,
    /// Lengths of shortest ways to the goal, where chance does what is wanted.
    distances: Vec<u32>,
    propositions: usize,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    action: u32,
    next: u32,
    length: u32,
}

impl Space {
    /// Searches the space of states; `None` where it has more than `most`.
    pub fn of(
        task: &Task,
        lengths: &Lengths,
        most: usize,
        budget: &mut Budget,
    ) -> Result<Option<Self>, StopReason> {
        let mut space = Self {
            states: Vec::new(),
            positions: BTreeMap::new(),
            steps: Vec::new(),
            distances: Vec::new(),
            propositions: task.propositions.len(),
        };
        space.position(&task.initial);
        while space.steps.len() < space.states.len() {
            budget.poll()?;
            if space.states.len() > most {
                return Ok(None);
            }
            let state = unpacked(&space.states[space.steps.len()], space.propositions);
            let mut steps = Vec::new();
            for ((action, ground), lengths) in (0..).zip(&task.actions).zip(lengths.iter()) {
                if ground.is_applicable(&state) {
                    for (outcome, &length) in ground.outcomes.iter().zip(lengths) {
                        let next = space.position(&outcome.after(&state));
                        steps.push(Step { action, next, length });
                    }
                }
            }
            space.steps.push(steps);
        }
        space.measure(task, budget)?;
        Ok(Some(space))
    }

    /// The distances, by search backwards from the goal.
    fn measure(&mut self, task: &Task, budget: &mut Budget) -> Result<(), StopReason> {
        let mut before: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.states.len()];
        for (state, steps) in (0..).zip(&self.steps) {
            budget.poll()?;
            steps.iter().for_each(|step| before[step.next as usize].push((state, step.length)));
        }
        let mut queue = BinaryHeap::new();
        for (position, words) in self.states.iter().enumerate() {
            budget.poll()?;
            let is_goal = task.is_goal(&unpacked(words, self.propositions));
            self.distances.push(if is_goal { 0 } else { NEVER });
            if is_goal {
                queue.push(Reverse((0, position)));
            }
        }
        while let Some(Reverse((distance, state))) = queue.pop() {
            budget.poll()?;
            if distance > self.distances[state] {
                continue;
            }
            for &(earlier, length) in &before[state] {
                let (earlier, distance) = (earlier as usize, distance.saturating_add(length));
                if distance < self.distances[earlier] {
                    self.distances[earlier] = distance;
                    queue.push(Reverse((distance, earlier)));
                }
            }
        }
        Ok(())
    }

    fn position(&mut self, state: &[bool]) -> u32 {
        let packed = packed(state);
        let new = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
        let position = *self.positions.entry(packed.clone()).or_insert(new);
        if position == new {
            self.states.push(packed);
        }
        position
    }

    fn known(&self, state: &[bool]) -> Option<usize> {
        self.positions.get(&packed(state)).map(|&position| position as usize)
    }

    /// Returns whether a state is one of the space.
    pub fn knows(&self, state: &[bool]) -> bool {
        self.known(state).is_some()
    }

    /// One of its states.
    pub fn state(&self, position: usize) -> Vec<bool> {
        unpacked(&self.states[position], self.propositions)
    }

    /// Number of states.
    pub fn count(&self) -> usize {
        self.states.len()
    }

    /// The distance of a state; `None` if it is not of the space, or the goal is not reached from there.
    pub fn distance(&self, state: &[bool]) -> Option<u32> {
        Some(self.distances[self.known(state)?]).filter(|&distance| distance != NEVER)
    }

    /// The actions that begin a shortest way; `None` in goal states, and where there is no way.
    pub fn best(&self, state: &[bool]) -> Option<Vec<usize>> {
        let position = self.known(state)?;
        let distance = Some(self.distances[position]).filter(|d| (1..NEVER).contains(d))?;
        let steps = self.steps[position].iter();
        let leads_on = |step: &&Step| {
            self.distances[step.next as usize].checked_add(step.length) == Some(distance)
        };
        let mut best: Vec<usize> =
            steps.filter(leads_on).map(|step| step.action as usize).collect();
        best.dedup();
        Some(best)
    }
}
