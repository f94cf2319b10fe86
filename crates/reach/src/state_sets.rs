//! Reachable sets of one part where the network reads the state, in one of two kinds.

use policert_control_loop::{Disturbance, Dynamics, Observation, ReachError};
use policert_engine_api::{Budget, StopReason};
use policert_numeric::Interval;
use serde::Serialize;

use crate::linearised::Linearised;
use crate::policy::StateController;
use crate::taylor::TaylorSets;

/// Says what sets of states are made of where the network reads the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum StateSetKind {
    /// Taylor models, but zonotopes where there are too many variables for those.
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

impl StateSetKind {
    /// The kind of sets that a task gets, whatever its controller reads.
    #[must_use]
    pub fn chosen(self, dynamics: &Dynamics, inputs: usize) -> Self {
        match self {
            Self::Auto if !TaylorSets::fits(dynamics.components.len(), inputs) => Self::Zonotopes,
            Self::Auto | Self::TaylorModels => Self::TaylorModels,
            Self::Zonotopes => Self::Zonotopes,
        }
    }
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
        let taylor_models = kind.chosen(dynamics, inputs) == StateSetKind::TaylorModels;
        if !taylor_models && dynamics.disturbances.iter().any(Disturbance::changes_within_steps) {
            return Err(ReachError::Unsupported(
                "zonotopes where disturbances change at any time; Taylor models (--sets) follow them, \
                 or `changes = \"each-step\"`"
                    .to_owned(),
            ));
        }
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

    /// Bounds of some expressions over the set.
    pub(crate) fn values(&self, asked: &Observation) -> Option<Vec<Interval>> {
        match self {
            Self::Zonotopes(sets) => sets.values(asked),
            Self::TaylorModels(sets) => sets.values(asked),
        }
    }

    /// The variable whose width in the initial box matters most, if that is known.
    pub(crate) fn widest_influence(&self) -> Option<usize> {
        match self {
            Self::Zonotopes(_) => None,
            Self::TaylorModels(sets) => sets.widest_influence(),
        }
    }

    /// Prepares the next step: the choices of actions that the controller may take somewhere in the set, a
    /// single one where it does not choose. `None` if it has no value somewhere.
    pub(crate) fn choices(&mut self, controller: &StateController) -> Option<Vec<usize>> {
        match self {
            Self::Zonotopes(sets) => sets.choices(controller),
            Self::TaylorModels(sets) => sets.choices(controller),
        }
    }

    /// Encloses the actions of one of the choices, as far as [`StateSets::choices`] did not. `None` if they have no bounds.
    pub(crate) fn act(&mut self, controller: &StateController, choice: usize) -> Option<()> {
        match self {
            Self::Zonotopes(sets) => sets.take_actions(controller, choice),
            Self::TaylorModels(_) => Some(()),
        }
    }

    /// One step of the loop under one of the choices, after [`StateSets::act`]; boxes met between samples are appended to `between`. `false` if the
    /// dynamics have no value, or no bounds, somewhere.
    ///
    /// # Errors
    /// If the budget runs out.
    pub(crate) fn advance(
        &mut self,
        (controller, choice): (&StateController, usize),
        between: Option<&mut Vec<Interval>>,
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        // A step takes long with many variables and substeps.
        budget.poll_clock()?;
        match self {
            Self::Zonotopes(sets) => Ok(sets.advance(between).is_some()),
            Self::TaylorModels(sets) => sets.advance((controller, choice), between, budget),
        }
    }
}
