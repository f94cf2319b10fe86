//! Abstract successor distributions μ_𝒫, and operators made ready for them: all outcomes of an
//! operator happen in the same concrete state, over the free choices of each.

use std::sync::Arc;

use policert_engine_api::EngineError;
use policert_model::{Condition, Destination, Expr, Probability, Truth, VarId};
use policert_numeric::{IntBox, IntInterval, Rational};
use rustc_hash::FxHashMap;

use crate::abstraction::Abstraction;
use crate::cegar::cell::Literals;
use crate::cegar::preconditions::Preconditions;
use crate::cegar::predicate_id::PredicateId;
use crate::cegar::state_tree::{StateTree, TreeNodeId};

/// Says where an outcome of an abstract transition leads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Target {
    /// Not told yet.
    Any,
    /// An abstract state: a leaf, or a node that was split since.
    Node(TreeNodeId),
    /// Nowhere: it leaves a domain, and its probability is lost.
    Lost,
}

/// A transition (s_𝒫, o, μ_𝒫) of the abstract MDP, without its source.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    /// Position of the operator.
    pub operator: u32,
    /// μ_𝒫: by outcome.
    pub targets: Box<[Target]>,
    /// A source state from which it exists, with free choices; `None` where it is only possible.
    pub witness: Option<Arc<[i64]>>,
}

/// An operator whose outcomes are looked at together. Its point is the state, then the free
/// choices of all outcomes.
#[derive(Debug)]
pub(crate) struct JointOperator {
    /// By outcome.
    pub outcomes: Vec<JointOutcome>,
}

/// An outcome of an operator.
#[derive(Debug)]
pub(crate) struct JointOutcome {
    pub probability: Rational,
    /// The dimensions that its free choices are shifted by.
    offset: usize,
    /// The conditions that must hold so that it exists and stays inside all domains.
    pub validity: Vec<Condition>,
    /// Holds where it does not; `None` where no condition says so.
    pub invalidity: Option<Condition>,
    preconditions: Preconditions,
}

/// The operators that were met.
#[derive(Debug, Default)]
pub(crate) struct JointOperators {
    all: FxHashMap<u32, JointOperator>,
}

impl JointOperators {
    /// The probabilities of the outcomes of an operator that was met.
    pub fn probabilities(&self, operator: u32) -> impl Iterator<Item = &Rational> {
        let outcomes = self.all.get(&operator).map(|joint| &joint.outcomes);
        outcomes.into_iter().flatten().map(|outcome| &outcome.probability)
    }

    /// An operator, made ready at first use.
    ///
    /// # Errors
    /// A probability that depends on the state: unsupported.
    pub fn get(
        &mut self,
        abstraction: &Abstraction<'_>,
        operator: u32,
    ) -> Result<&mut JointOperator, EngineError> {
        match self.all.entry(operator) {
            std::collections::hash_map::Entry::Occupied(known) => Ok(known.into_mut()),
            std::collections::hash_map::Entry::Vacant(free) => {
                Ok(free.insert(JointOperator::new(abstraction, operator)?))
            }
        }
    }
}

impl JointOperator {
    fn new(abstraction: &Abstraction<'_>, operator: u32) -> Result<Self, EngineError> {
        let composed = &abstraction.operators.all()[operator as usize];
        let (model, predicates) = (abstraction.question.model, &abstraction.predicates);
        let mut offset = 0;
        let mut outcomes = Vec::new();
        for (d, destination) in composed.destinations.iter().enumerate() {
            let Probability::Constant(probability) = &destination.probability else {
                return Err(EngineError::Unsupported(format!(
                    "{} has a probability that depends on the state; engine prob takes it",
                    model.display_operator(&composed.key)
                )));
            };
            let effect = abstraction.effect(operator as usize, d);
            let validity: Vec<Condition> =
                effect.validity.iter().map(|c| shifted(c, destination, offset, model)).collect();
            let is_total = validity.iter().all(|c| c.is_total(predicates.domains()));
            let invalidity = (destination.choices.is_empty() && is_total)
                .then(|| Condition::and(validity.iter().cloned()).negate());
            outcomes.push(JointOutcome {
                probability: probability.clone(),
                offset,
                validity,
                invalidity,
                preconditions: Preconditions::default(),
            });
            offset += destination.choices.len();
        }
        Ok(Self { outcomes })
    }

    /// The sides of the free choices of all outcomes over a box of states. Where an outcome has no
    /// choice there, it does not exist: any value will do for the others.
    pub fn choice_sides(
        &self,
        abstraction: &Abstraction<'_>,
        operator: u32,
        sides: &IntBox,
    ) -> Vec<IntInterval> {
        let destinations = &abstraction.operators.all()[operator as usize].destinations;
        destinations
            .iter()
            .flat_map(|destination| destination.choice_sides(sides))
            .map(|side| if side.lo > side.hi { IntInterval::point(0) } else { side })
            .collect()
    }
}

impl JointOutcome {
    /// Returns whether it exists everywhere in a box, as far as bounds tell.
    pub fn is_certain(&self, destination: &Destination, sides: &IntBox) -> bool {
        destination.choices.is_empty()
            && self.validity.iter().all(|c| c.truth(sides) == Truth::True)
    }

    /// The literals of a predicate before the outcome.
    pub fn precondition(
        &mut self,
        abstraction: &Abstraction<'_>,
        destination: &Destination,
        tree: &StateTree,
        predicate: PredicateId,
    ) -> Literals {
        let (offset, model) = (self.offset, abstraction.question.model);
        let placed = |before: Condition| shifted(&before, destination, offset, model);
        self.preconditions.of(tree, destination, predicate, placed)
    }
}

/// A condition on a state and the choices of an outcome, where these are shifted.
fn shifted(
    condition: &Condition,
    destination: &Destination,
    offset: usize,
    model: &policert_model::Model,
) -> Condition {
    if offset == 0 || destination.choices.is_empty() {
        return condition.clone();
    }
    let variables = model.variables.len();
    condition.substitute(&|v| {
        (v.index() >= variables).then(|| Expr::Var(VarId::new(v.index() + offset)))
    })
}
