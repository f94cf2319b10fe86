//! The heuristic LM-cut (Helmert and Domshlak 2009): a bound from below on the length of ways to the
//! goal.
//!
//! The task is relaxed: what holds once holds for ever, each outcome of an action is an action of its own,
//! and effects come without their conditions. Facts are literals.
//!
//! | paper | name |
//! |---|---|
//! | h^max | [`LandmarkCut::greatest`] |
//! | precondition choice function | `supporters` |
//! | goal zone N*, N⁰, cut | [`LandmarkCut::cut`] |

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use policert_pddl::{GroundLiteral, Task};

use super::lengths::Lengths;

/// Out of reach.
const NEVER: u32 = u32::MAX;

/// A relaxed action.
#[derive(Clone, Debug)]
struct Relaxed {
    precondition: Vec<usize>,
    effects: Vec<usize>,
}

/// The relaxed task.
#[derive(Clone, Debug)]
pub(super) struct LandmarkCut {
    actions: Vec<Relaxed>,
    /// By fact the actions that need it.
    needed_by: Vec<Vec<usize>>,
    /// By fact the actions that bring it about.
    brought_by: Vec<Vec<usize>>,
    facts: usize,
    /// By action its length.
    lengths: Vec<u32>,
}

/// Literals, then what always holds, then the goal.
fn fact(&(proposition, truth): &GroundLiteral) -> usize {
    2 * proposition + usize::from(truth)
}

impl LandmarkCut {
    /// The relaxation of a task, which has a goal.
    pub fn of(task: &Task, lengths: &Lengths) -> Self {
        let always = 2 * task.propositions.len();
        let (goal, facts) = (always + 1, always + 2);
        let or_always = |literals: &[GroundLiteral]| match literals {
            [] => vec![always],
            literals => literals.iter().map(fact).collect(),
        };
        let mut actions: Vec<Relaxed> = task
            .actions
            .iter()
            .flat_map(|action| {
                action.outcomes.iter().map(move |outcome| Relaxed {
                    precondition: or_always(&action.precondition),
                    effects: outcome.effects.iter().map(|effect| fact(&effect.change)).collect(),
                })
            })
            .collect();
        // The last one: its length is 0.
        let wanted = task.goal.as_deref().unwrap_or_default();
        actions.push(Relaxed { precondition: or_always(wanted), effects: vec![goal] });
        let mut needed_by = vec![Vec::new(); facts];
        let mut brought_by = vec![Vec::new(); facts];
        for (position, action) in actions.iter().enumerate() {
            action.precondition.iter().for_each(|&fact| needed_by[fact].push(position));
            action.effects.iter().for_each(|&fact| brought_by[fact].push(position));
        }
        let mut lengths: Vec<u32> = lengths.iter().flatten().copied().collect();
        lengths.push(0);
        Self { actions, needed_by, brought_by, facts, lengths }
    }

    /// A bound from below on the length of ways from a state; `None` if the goal is out of reach.
    pub fn bound(&self, state: &[bool]) -> Option<u32> {
        let goal = self.facts - 1;
        let mut start: Vec<usize> =
            state.iter().enumerate().map(|(p, &truth)| fact(&(p, truth))).collect();
        start.push(self.facts - 2);
        let mut costs = self.lengths.clone();
        let mut bound: u32 = 0;
        loop {
            let (values, supporters) = self.greatest(&start, &costs);
            match values[goal] {
                NEVER => return None,
                0 => return Some(bound),
                _ => {}
            }
            let cut = self.cut(&start, &costs, &supporters);
            let Some(least) = cut.iter().map(|&action| costs[action]).min() else {
                return Some(bound);
            };
            bound = bound.saturating_add(least);
            cut.iter().for_each(|&action| costs[action] -= least);
        }
    }

    /// By fact the cost of its costliest requirement, and by action its precondition that costs most.
    fn greatest(&self, start: &[usize], costs: &[u32]) -> (Vec<u32>, Vec<Option<usize>>) {
        let mut values = vec![NEVER; self.facts];
        let mut supporters = vec![None; self.actions.len()];
        let mut open: Vec<usize> = self.actions.iter().map(|a| a.precondition.len()).collect();
        let mut queue = BinaryHeap::new();
        for &fact in start {
            values[fact] = 0;
            queue.push(Reverse((0, fact)));
        }
        while let Some(Reverse((value, fact))) = queue.pop() {
            if value > values[fact] {
                continue;
            }
            for &action in &self.needed_by[fact] {
                open[action] -= 1;
                if open[action] > 0 {
                    continue;
                }
                // The last precondition that becomes true is the costliest.
                supporters[action] = Some(fact);
                let cost = value.saturating_add(costs[action]);
                for &effect in &self.actions[action].effects {
                    if cost < values[effect] {
                        values[effect] = cost;
                        queue.push(Reverse((cost, effect)));
                    }
                }
            }
        }
        (values, supporters)
    }

    /// The actions that lead from what is reached before the goal's zone into it.
    fn cut(&self, start: &[usize], costs: &[u32], supporters: &[Option<usize>]) -> Vec<usize> {
        let mut is_in_zone = vec![false; self.facts];
        let mut open = vec![self.facts - 1];
        is_in_zone[self.facts - 1] = true;
        while let Some(fact) = open.pop() {
            for &action in &self.brought_by[fact] {
                if costs[action] == 0
                    && let Some(supporter) = supporters[action]
                    && !std::mem::replace(&mut is_in_zone[supporter], true)
                {
                    open.push(supporter);
                }
            }
        }
        let mut supported = vec![Vec::new(); self.facts];
        for (action, supporter) in supporters.iter().enumerate() {
            if let Some(supporter) = *supporter {
                supported[supporter].push(action);
            }
        }
        let mut cut = Vec::new();
        let mut is_reached = vec![false; self.facts];
        let mut open = start.to_vec();
        start.iter().for_each(|&fact| is_reached[fact] = true);
        while let Some(fact) = open.pop() {
            for &action in &supported[fact] {
                let effects = &self.actions[action].effects;
                if effects.iter().any(|&effect| is_in_zone[effect]) {
                    cut.push(action);
                    continue;
                }
                for &effect in effects {
                    if !std::mem::replace(&mut is_reached[effect], true) {
                        open.push(effect);
                    }
                }
            }
        }
        cut
    }
}
