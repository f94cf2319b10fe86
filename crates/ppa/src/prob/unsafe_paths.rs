//! The unsafe paths of an abstract adversary, by falling probability.
//!
//! Best-first search: a path begun is worth its probability times that of the most probable way on
//! to an unsafe state, so paths end in the right order and none is begun in vain.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use policert_engine_api::{Budget, EngineError};
use policert_numeric::Rational;

use super::abstract_mdp::AbstractMdp;
use super::concrete_runs::Weight;
use super::distribution::Target;
use super::max_prob::Adversary;

/// A path of the adversary from its start to an abstract unsafe state.
#[derive(Clone, Debug)]
pub(crate) struct UnsafePath {
    /// Its states; one more than there are steps.
    pub states: Vec<u32>,
    /// Operator and outcome of each step.
    pub steps: Vec<(u32, usize)>,
    pub probability: Rational,
}

/// A path begun that goes on: its position, operator and outcome.
type Extended = (u32, u32, usize);

/// The enumeration.
pub(crate) struct UnsafePaths<'m> {
    mdp: &'m AbstractMdp,
    adversary: &'m Adversary,
    /// By state: the probability of the most probable way to an unsafe state.
    nearest: Vec<f64>,
    /// Paths begun: the one before with the step after it, the state.
    begun: Vec<(Option<Extended>, u32)>,
    waiting: BinaryHeap<(Weight, Reverse<u32>, Weight)>,
}

impl<'m> UnsafePaths<'m> {
    /// # Errors
    /// A stop of the budget.
    pub fn new(
        mdp: &'m AbstractMdp,
        adversary: &'m Adversary,
        budget: &mut Budget,
    ) -> Result<Self, EngineError> {
        let nearest = nearest(mdp, adversary, budget)?;
        let mut waiting = BinaryHeap::new();
        let start = nearest[adversary.start as usize];
        if start > 0.0 {
            waiting.push((Weight(start), Reverse(0), Weight(1.0)));
        }
        let begun = vec![(None, adversary.start)];
        Ok(Self { mdp, adversary, nearest, begun, waiting })
    }

    /// The next path; `None` if there is none.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn next(&mut self, budget: &mut Budget) -> Result<Option<UnsafePath>, EngineError> {
        while let Some((_, Reverse(at), Weight(probability))) = self.waiting.pop() {
            budget.poll()?;
            let state = self.begun[at as usize].1;
            if self.mdp.is_unsafe(state) {
                return Ok(Some(self.path_to(at)));
            }
            for (operator, d, to, p) in outcomes(self.mdp, self.adversary, state) {
                let p = probability * p.to_f64_interval().0;
                let value = p * self.nearest[to as usize];
                if value > 0.0
                    && let Ok(id) = u32::try_from(self.begun.len())
                {
                    self.begun.push((Some((at, operator, d)), to));
                    self.waiting.push((Weight(value), Reverse(id), Weight(p)));
                }
            }
        }
        Ok(None)
    }

    fn path_to(&self, last: u32) -> UnsafePath {
        let (mut states, mut steps) = (Vec::new(), Vec::new());
        let mut probability = Rational::ONE;
        let mut at = last;
        loop {
            let (before, state) = self.begun[at as usize];
            states.push(state);
            let Some((before, operator, d)) = before else { break };
            let mut all = self.mdp.operators.probabilities(operator);
            if let Some(p) = all.nth(d) {
                probability = &probability * p;
            }
            steps.push((operator, d));
            at = before;
        }
        states.reverse();
        steps.reverse();
        UnsafePath { states, steps, probability }
    }
}

/// Returns where the adversary goes on from a state: operator, outcome, state, probability.
fn outcomes<'m>(
    mdp: &'m AbstractMdp,
    adversary: &Adversary,
    state: u32,
) -> impl Iterator<Item = (u32, usize, u32, &'m Rational)> {
    let transition = adversary.transition(mdp, state).filter(|_| !mdp.is_unsafe(state));
    transition.into_iter().flat_map(move |transition| {
        let probabilities = mdp.operators.probabilities(transition.operator);
        transition.targets.iter().zip(probabilities).enumerate().filter_map(
            move |(d, (target, p))| match target {
                Target::Node(node) => Some((transition.operator, d, mdp.state(*node)?, p)),
                _ => None,
            },
        )
    })
}

/// By state: the probability of the most probable way to an unsafe state.
fn nearest(
    mdp: &AbstractMdp,
    adversary: &Adversary,
    budget: &mut Budget,
) -> Result<Vec<f64>, EngineError> {
    let states = 0..u32::try_from(mdp.states()).unwrap_or(u32::MAX);
    let mut before: Vec<Vec<(u32, f64)>> = vec![Vec::new(); mdp.states()];
    let mut nearest = vec![0.0f64; mdp.states()];
    let mut waiting = BinaryHeap::new();
    for state in states {
        budget.poll()?;
        if mdp.is_unsafe(state) {
            nearest[state as usize] = 1.0;
            waiting.push((Weight(1.0), Reverse(state)));
        }
        for (_, _, to, p) in outcomes(mdp, adversary, state) {
            before[to as usize].push((state, p.to_f64_interval().0));
        }
    }
    while let Some((Weight(value), Reverse(state))) = waiting.pop() {
        budget.poll()?;
        if value < nearest[state as usize] {
            continue;
        }
        for &(from, p) in &before[state as usize] {
            if p * value > nearest[from as usize] {
                nearest[from as usize] = p * value;
                waiting.push((Weight(p * value), Reverse(from)));
            }
        }
    }
    Ok(nearest)
}
