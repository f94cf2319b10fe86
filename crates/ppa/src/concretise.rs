//! Concretisation of abstract unsafe paths: is there a concrete run under the policy that follows
//! the path from a start state to an unsafe state?
//!
//! Breadth-first along the path: the concrete states of each abstract state on it that runs from
//! start states reach. Complete as long as no layer outgrows its limit.

use std::collections::{BTreeMap, BTreeSet};

use policert_engine_api::{Budget, EngineError, Trace, TraceStep};
use policert_model::State;

use crate::abstraction::Abstraction;
use crate::cegar::policy_choice::PolicyChoice;
use crate::search::AbstractFragment;
use crate::{AbstractState, AbstractStateId};

/// The most concrete states that one layer of a path may hold.
const LAYER_LIMIT: usize = 4096;

/// The most start states that are looked at.
const START_LIMIT: usize = 1 << 20;

/// Says what became of an abstract unsafe path.
#[derive(Clone, PartialEq, Debug)]
pub enum Concretised {
    /// A run that follows it.
    Run(Trace),
    /// No run follows it.
    Spurious,
    /// Not decided within the limits.
    Undecided,
}

/// Holds what concretisation works with.
#[derive(Debug)]
pub struct Concretisation<'a> {
    abstraction: &'a Abstraction<'a>,
    /// The policy; `None` allows everything.
    policy: Option<PolicyChoice<'a>>,
}

/// Says how a concrete state was reached.
type Arrival = (usize, TraceStep);

/// The concrete states of a layer in the order of finding, each with its arrival from the layer
/// before; start states have none.
type Layer = Vec<(State, Option<Arrival>)>;

/// The start states in the abstract states that paths begin with, ordered.
#[derive(Debug)]
pub struct StartLayers {
    layers: BTreeMap<AbstractState, BTreeSet<State>>,
    /// True if all start states were looked at.
    complete: bool,
}

impl<'a> Concretisation<'a> {
    /// For runs under the policy of an abstraction.
    #[must_use]
    pub fn new(abstraction: &'a Abstraction<'a>) -> Self {
        Self { abstraction, policy: abstraction.policy.map(PolicyChoice::new) }
    }

    /// The start states in the abstract states that the paths to `last` begin with.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn start_layers(
        &self,
        fragment: &AbstractFragment,
        last: &[AbstractStateId],
        budget: &mut Budget,
    ) -> Result<StartLayers, EngineError> {
        let first = |&id: &AbstractStateId| {
            let path = fragment.path_to(id);
            path.first().map(|(id, _)| (fragment.states.state(*id), BTreeSet::new()))
        };
        let mut layers: BTreeMap<AbstractState, BTreeSet<State>> =
            last.iter().filter_map(first).collect();
        let mut seen = 0usize;
        let full = "full";
        let result = self.abstraction.question.for_each_start_state(budget, &mut |state| {
            seen += 1;
            if seen > START_LIMIT {
                return Err(EngineError::Internal(full.to_owned()));
            }
            if self.abstraction.predicates.domains().contains(state)
                && let Some(layer) = layers.get_mut(&self.abstraction.predicates.project(state))
                && layer.len() <= LAYER_LIMIT
            {
                layer.insert(state.to_vec());
            }
            Ok(())
        });
        let complete = match result {
            Ok(()) => true,
            Err(EngineError::Internal(text)) if text == full => false,
            Err(error) => return Err(error),
        };
        Ok(StartLayers { layers, complete })
    }

    /// Looks for a run along the path by which `last` was first reached.
    ///
    /// # Errors
    /// A stop of the budget, or a modelling error on the way.
    pub fn follow(
        &mut self,
        fragment: &AbstractFragment,
        last: AbstractStateId,
        start: &StartLayers,
        budget: &mut Budget,
    ) -> Result<Concretised, EngineError> {
        let path = fragment.path_to(last);
        let states: Vec<AbstractState> =
            path.iter().map(|(id, _)| fragment.states.state(*id)).collect();
        let Some(first) = states.first() else { return Ok(Concretised::Spurious) };
        let start_states = start.layers.get(first);
        let count = start_states.map_or(0, BTreeSet::len);
        let mut complete = start.complete && count <= LAYER_LIMIT;
        let start_states = start_states.into_iter().flatten().take(LAYER_LIMIT);
        let mut layers: Vec<Layer> = vec![start_states.map(|s| (s.clone(), None)).collect()];
        for depth in 0..states.len() {
            let layer = &layers[depth];
            if let Some(k) = layer.iter().position(|(s, _)| self.abstraction.question.is_unsafe(s))
            {
                return Ok(Concretised::Run(trace(&layers, depth, k)));
            }
            let Some(target) = states.get(depth + 1) else { break };
            let (next, all) = self.next_layer(layer, target, budget)?;
            complete &= all;
            layers.push(next);
        }
        Ok(if complete { Concretised::Spurious } else { Concretised::Undecided })
    }

    /// The states of `target` that the policy reaches from a layer, and whether these are all.
    fn next_layer(
        &mut self,
        layer: &Layer,
        target: &AbstractState,
        budget: &mut Budget,
    ) -> Result<(Layer, bool), EngineError> {
        let mut next: Layer = Vec::new();
        let mut known: BTreeMap<State, ()> = BTreeMap::new();
        let mut complete = true;
        for (k, (state, _)) in layer.iter().enumerate() {
            budget.poll()?;
            for step in self.steps(state)? {
                if self.abstraction.predicates.project(&step.state) != *target
                    || known.insert(step.state.clone(), ()).is_some()
                {
                    continue;
                }
                if next.len() >= LAYER_LIMIT {
                    return Ok((next, false));
                }
                next.push((step.state.clone(), Some((k, step))));
            }
        }
        complete &= next.len() < LAYER_LIMIT;
        Ok((next, complete))
    }

    /// The transitions of a concrete state under the policy. A choice of the policy that cannot be
    /// decided gives none: then nothing is claimed of it.
    fn steps(&mut self, state: &[i64]) -> Result<Vec<TraceStep>, EngineError> {
        let Abstraction { question, operators, .. } = self.abstraction;
        let choice = match &mut self.policy {
            None => None,
            Some(policy) => Some(policy.choice(self.abstraction, state)?),
        };
        let steps = operators.steps(operators.groups(), question, state, choice.as_ref())?;
        Ok(steps.into_iter().filter(|found| found.is_certain).map(|found| found.step).collect())
    }
}

/// The run that ends in state `k` of layer `depth`.
fn trace(layers: &[Layer], depth: usize, k: usize) -> Trace {
    let mut steps = Vec::with_capacity(depth);
    let mut k = k;
    for layer in layers[1..=depth].iter().rev() {
        if let Some((before, step)) = &layer[k].1 {
            steps.push(step.clone());
            k = *before;
        }
    }
    steps.reverse();
    Trace { start: layers[0][k].0.clone(), steps }
}
