//! The states whose best probability is 0 or 1, from the graph alone: no arithmetic.
//!
//! The fixpoints are the usual ones (Forejt, Kwiatkowska, Norman, Parker: *Automated Verification
//! Techniques for Probabilistic Systems*, section 4.1).

use policert_engine_api::{Budget, StopReason};

use crate::predecessors::Predecessors;
use crate::{Direction, Mdp, Reachability, StateSet};

/// The states whose value is certain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Qualitative {
    /// States with value 0.
    pub zero: StateSet,
    /// States with value 1.
    pub one: StateSet,
}

/// Finds the states with value 0 and with value 1.
///
/// # Errors
/// A stop of the budget.
pub fn qualitative(
    problem: &Reachability<'_>,
    budget: &mut Budget,
) -> Result<Qualitative, StopReason> {
    let predecessors = Predecessors::new(problem.mdp);
    let search = GraphSearch { problem, predecessors };
    match problem.direction {
        Direction::Max => {
            let reaching = search.may_reach(problem.target, budget)?;
            let one = search.surely_for_some(&reaching, budget)?;
            Ok(Qualitative { zero: reaching.complement(), one })
        }
        Direction::Min => {
            let positive = search.positive_for_all(budget)?;
            let zero = positive.complement();
            let one = search.may_reach(&search.may_miss(&zero), budget)?.complement();
            Ok(Qualitative { zero, one })
        }
    }
}

/// Returns whether nothing of a distribution is lost.
fn loses_nothing(mdp: &Mdp, choice: u32) -> bool {
    mdp.distributions().is_complete(mdp.distribution(choice))
}

struct GraphSearch<'a> {
    problem: &'a Reachability<'a>,
    predecessors: Predecessors,
}

impl GraphSearch<'_> {
    /// States from which some run leads to `goal` through open states; `goal` included.
    fn may_reach(&self, goal: &StateSet, budget: &mut Budget) -> Result<StateSet, StopReason> {
        let mut reached = goal.clone();
        let mut stack: Vec<u32> = goal.iter().collect();
        if goal.states() < self.problem.mdp.states() {
            reached.grow(self.problem.mdp.states());
        }
        while let Some(state) = stack.pop() {
            budget.poll()?;
            for &choice in self.predecessors.choices(state) {
                let source = self.predecessors.state_of(choice);
                if self.problem.is_open(source) && reached.insert(source) {
                    stack.push(source);
                }
            }
        }
        Ok(reached)
    }

    /// These states, and the open ones with a choice that loses something.
    fn may_miss(&self, zero: &StateSet) -> StateSet {
        let mdp = self.problem.mdp;
        let mut found = zero.clone();
        for state in mdp.state_range().filter(|&state| self.problem.is_open(state)) {
            if !mdp.choices_of(state).all(|choice| loses_nothing(mdp, choice)) {
                found.insert(state);
            }
        }
        found
    }

    /// States with a scheduler that reaches the target with probability 1: the greatest set from
    /// which the target can be reached by choices that never leave it.
    ///
    /// States without such a choice are taken out one after the other, which spoils the choices
    /// that lead to them; then those that do not reach the target any more, until nothing changes.
    fn surely_for_some(
        &self,
        reaching: &StateSet,
        budget: &mut Budget,
    ) -> Result<StateSet, StopReason> {
        let mdp = self.problem.mdp;
        let mut inside = reaching.clone();
        let mut spoilt = StateSet::empty(mdp.choices());
        // By state: its choices that are not spoilt.
        let mut left = vec![0u32; mdp.states()];
        let mut gone: Vec<u32> = Vec::new();
        for state in reaching.iter().filter(|&state| self.problem.is_open(state)) {
            budget.poll()?;
            for choice in mdp.choices_of(state) {
                let stays = mdp.successors(choice).iter().all(|&s| reaching.contains(s));
                if stays && loses_nothing(mdp, choice) {
                    left[state as usize] += 1;
                } else {
                    spoilt.insert(choice);
                }
            }
            if left[state as usize] == 0 {
                gone.push(state);
            }
        }
        for &state in &gone {
            inside.remove(state);
        }
        loop {
            while let Some(state) = gone.pop() {
                budget.poll()?;
                for &choice in self.predecessors.choices(state) {
                    let source = self.predecessors.state_of(choice);
                    if inside.contains(source)
                        && self.problem.is_open(source)
                        && spoilt.insert(choice)
                    {
                        left[source as usize] -= 1;
                        if left[source as usize] == 0 {
                            inside.remove(source);
                            gone.push(source);
                        }
                    }
                }
            }
            let reached = self.reach_inside(&inside, &spoilt, budget)?;
            if reached == inside {
                return Ok(inside);
            }
            gone.extend(inside.iter().filter(|&state| !reached.contains(state)));
            inside = reached;
        }
    }

    /// States of a set that reach the target by choices that are not spoilt.
    fn reach_inside(
        &self,
        inside: &StateSet,
        spoilt: &StateSet,
        budget: &mut Budget,
    ) -> Result<StateSet, StopReason> {
        let mut reached = self.problem.target.clone();
        reached.grow(self.problem.mdp.states());
        let mut stack: Vec<u32> = reached.iter().collect();
        while let Some(state) = stack.pop() {
            budget.poll()?;
            for &choice in self.predecessors.choices(state) {
                let source = self.predecessors.state_of(choice);
                if inside.contains(source)
                    && self.problem.is_open(source)
                    && !spoilt.contains(choice)
                    && reached.insert(source)
                {
                    stack.push(source);
                }
            }
        }
        Ok(reached)
    }

    /// States from which every scheduler reaches the target with positive probability.
    fn positive_for_all(&self, budget: &mut Budget) -> Result<StateSet, StopReason> {
        let mdp = self.problem.mdp;
        let mut reached = self.problem.target.clone();
        reached.grow(mdp.states());
        // By state: its choices that were not seen to lead to the set yet.
        let mut left: Vec<u32> = mdp
            .state_range()
            .map(|state| {
                let choices = mdp.choices_of(state);
                choices.end - choices.start
            })
            .collect();
        let mut counted = StateSet::empty(mdp.choices());
        let mut stack: Vec<u32> = reached.iter().collect();
        while let Some(state) = stack.pop() {
            budget.poll()?;
            for &choice in self.predecessors.choices(state) {
                let source = self.predecessors.state_of(choice);
                if self.problem.is_open(source) && counted.insert(choice) {
                    left[source as usize] -= 1;
                    if left[source as usize] == 0 && reached.insert(source) {
                        stack.push(source);
                    }
                }
            }
        }
        Ok(reached)
    }
}
