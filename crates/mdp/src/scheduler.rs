//! The best adversary: a choice for each state that together reach the bounds.

use policert_engine_api::{Budget, StopReason};

use crate::predecessors::Predecessors;
use crate::quotient::GOAL;
use crate::solve::Solution;
use crate::{Direction, Reachability, StateSet};

/// A memoryless scheduler: one choice for each state where it matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scheduler {
    choices: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Scheduler {
    /// The choice in a state; `None` where there is none, or where it does not matter.
    #[must_use]
    pub fn choice(&self, state: u32) -> Option<u32> {
        self.choices.get(state as usize).copied().filter(|&choice| choice != NONE)
    }
}

impl Solution {
    /// A scheduler whose probability of reaching the target is at least the lower bound for
    /// [`Direction::Max`], and at most the upper bound for [`Direction::Min`]; `None` where the
    /// solution ended early, before there were bounds.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn scheduler(
        &self,
        problem: &Reachability<'_>,
        budget: &mut Budget,
    ) -> Result<Option<Scheduler>, StopReason> {
        let (Some(known), Some(quotient)) = (&self.known, &self.quotient) else { return Ok(None) };
        let mdp = problem.mdp;
        let mut draft = Draft {
            problem,
            predecessors: Predecessors::new(mdp),
            choices: vec![NONE; mdp.states()],
        };
        match problem.direction {
            Direction::Max => {
                // Towards the target where that is certain, without leaving these states.
                let inside = |_, to: u32| known.one.contains(to);
                draft.attract(problem.target, &inside, budget)?;
            }
            Direction::Min => draft.avoid(&known.zero, budget)?,
        }
        // The states of end components from which these are left.
        let mut exits = StateSet::empty(mdp.states());
        let last_collapsed = quotient.collapsed().last().map_or(GOAL, |(block, _)| *block);
        for &block in &quotient.order.nodes {
            budget.poll()?;
            let Some(best) = self.best_choice(block, problem.direction) else { continue };
            let choice = quotient.origin[best as usize];
            let source = draft.predecessors.state_of(choice);
            draft.choices[source as usize] = choice;
            if block <= last_collapsed {
                exits.insert(source);
            }
        }
        let inside = |from, to| quotient.block_of(from) == quotient.block_of(to);
        draft.attract(&exits, &inside, budget)?;
        Ok(Some(Scheduler { choices: draft.choices }))
    }

    /// The choice of a block that reaches its bound.
    fn best_choice(&self, block: u32, direction: Direction) -> Option<u32> {
        let quotient = self.quotient.as_ref()?;
        if let Some(choice) = self.taken.get(block as usize).copied().filter(|&c| c != NONE) {
            return Some(choice);
        }
        let side = usize::from(direction == Direction::Min);
        let mut best: Option<(f64, u32)> = None;
        for choice in quotient.mdp.choices_of(block) {
            let value = quotient.mdp.mean(choice, &self.floats)[side];
            if best.is_none_or(|(other, _)| direction.is_better(&value, &other)) {
                best = Some((value, choice));
            }
        }
        best.map(|(_, choice)| choice)
    }
}

struct Draft<'a> {
    problem: &'a Reachability<'a>,
    predecessors: Predecessors,
    choices: Vec<u32>,
}

impl Draft<'_> {
    /// Choices that come closer to `goal` with positive probability, where all transitions are
    /// `inside`: from a state to a state.
    fn attract(
        &mut self,
        goal: &StateSet,
        inside: &dyn Fn(u32, u32) -> bool,
        budget: &mut Budget,
    ) -> Result<(), StopReason> {
        let mdp = self.problem.mdp;
        let mut reached = goal.clone();
        let mut wave: Vec<u32> = goal.iter().collect();
        while !wave.is_empty() {
            let mut next = Vec::new();
            for state in wave {
                budget.poll()?;
                for &choice in self.predecessors.choices(state) {
                    let source = self.predecessors.state_of(choice);
                    if !reached.contains(source)
                        && self.problem.is_open(source)
                        && mdp.distributions().is_complete(mdp.distribution(choice))
                        && mdp.successors(choice).iter().all(|&to| inside(source, to))
                    {
                        reached.insert(source);
                        self.choices[source as usize] = choice;
                        next.push(source);
                    }
                }
            }
            wave = next;
        }
        Ok(())
    }

    /// Choices that never leave states with value 0.
    fn avoid(&mut self, zero: &StateSet, budget: &mut Budget) -> Result<(), StopReason> {
        let mdp = self.problem.mdp;
        for state in zero.iter().filter(|&state| self.problem.is_open(state)) {
            budget.poll()?;
            let stays = |&choice: &u32| mdp.successors(choice).iter().all(|&s| zero.contains(s));
            if let Some(choice) = mdp.choices_of(state).find(stays) {
                self.choices[state as usize] = choice;
            }
        }
        Ok(())
    }
}
