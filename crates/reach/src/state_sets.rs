//! Reachable sets of one part where the network reads the state, in one of two kinds.

use policert_engine_api::{Budget, StopReason};
use policert_numeric::Interval;
use serde::Serialize;

use crate::condition::StateCondition;
use crate::error::ReachError;
use crate::linearised::Linearised;
use crate::policy::StateController;
use crate::task::{Dynamics, DynamicsKind};
use crate::taylor::TaylorSets;

/// Says what sets of states are made of where the network reads the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum StateSetKind {
    /// Taylor models for differential equations, else zonotopes.
    #[default]
    Auto,
    /// Zonotopes: affine images of cubes.
    Zonotopes,
    /// Taylor models: polynomials with an interval for the rest.
    TaylorModels,
}

/// The reachable set of one part, step by step.
#[derive(Clone, Debug)]
pub(crate) enum StateSets {
    Zonotopes(Box<Linearised>),
    TaylorModels(Box<TaylorSets>),
}

impl StateSets {
    /// Compiles the dynamics of a loop with `inputs` actions.
    ///
    /// # Errors
    /// If differential equations cannot be differentiated, or there are too many variables for the kind.
    pub(crate) fn new(
        kind: StateSetKind,
        dynamics: &Dynamics,
        inputs: usize,
    ) -> Result<Self, ReachError> {
        let taylor_models = match kind {
            StateSetKind::Auto => {
                dynamics.kind == DynamicsKind::Ode
                    && TaylorSets::fits(dynamics.components.len(), inputs)
            }
            StateSetKind::Zonotopes => false,
            StateSetKind::TaylorModels => true,
        };
        Ok(if taylor_models {
            Self::TaylorModels(Box::new(TaylorSets::new(dynamics, inputs)?))
        } else {
            Self::Zonotopes(Box::new(Linearised::new(dynamics, inputs)?))
        })
    }

    /// Begins with a box.
    pub(crate) fn begin(&mut self, sides: Vec<Interval>) {
        match self {
            Self::Zonotopes(sets) => sets.begin(sides),
            Self::TaylorModels(sets) => sets.begin(sides),
        }
    }

    /// The box around the set.
    pub(crate) fn hull(&self) -> &[Interval] {
        match self {
            Self::Zonotopes(sets) => sets.hull(),
            Self::TaylorModels(sets) => sets.hull(),
        }
    }

    /// Bounds of the expressions of a condition over the set.
    pub(crate) fn values(&self, condition: &StateCondition) -> Option<Vec<Interval>> {
        match self {
            Self::Zonotopes(sets) => sets.values(condition),
            Self::TaylorModels(sets) => sets.values(condition),
        }
    }

    /// The variable whose width in the initial box matters most, if that is known.
    pub(crate) fn widest_influence(&self) -> Option<usize> {
        match self {
            Self::Zonotopes(_) => None,
            Self::TaylorModels(sets) => sets.widest_influence(),
        }
    }

    /// One step of the loop; boxes met between samples are appended to `between`. `false` if the
    /// dynamics have no value, or no bounds, somewhere.
    ///
    /// # Errors
    /// If the budget runs out.
    pub(crate) fn advance(
        &mut self,
        controller: &StateController,
        between: Option<&mut Vec<Interval>>,
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        // A step takes long with many variables and substeps.
        budget.poll_clock()?;
        match self {
            Self::Zonotopes(sets) => Ok(sets.advance(controller, between).is_some()),
            Self::TaylorModels(sets) => sets.advance(controller, between, budget),
        }
    }
}
