//! Reachable sets of one part where the network reads the state, in one of two kinds.

use policert_control_loop::{Disturbance, Dynamics, Observation, ReachError};
use policert_engine_api::{Budget, StopReason};
use policert_numeric::Interval;
use serde::Serialize;

use crate::linearised::Linearised;
use crate::policy::{AnyChoice, StateController, Taken, farthest};
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

    /// What encloses several choices, after [`StateSets::choices`]; `None` if there is nothing.
    ///
    /// # Errors
    /// If the budget runs out.
    pub(crate) fn any_of(
        &self,
        controller: &StateController,
        possible: &[usize],
        budget: &mut Budget,
    ) -> Result<Option<AnyChoice>, StopReason> {
        let table = controller.map().choices.as_deref().unwrap_or_default();
        let Some(pair) = farthest(table, possible) else { return Ok(None) };
        let Some(difference) = self.difference(controller, pair) else { return Ok(None) };
        // What the two do to it from the middle of the set, about.
        let mut after = [f64::NAN; 2];
        for (after, choice) in after.iter_mut().zip([pair.0, pair.1]) {
            let mut middle = self.clone();
            let sides = self.hull().iter();
            middle.begin(sides.map(|side| Interval::point(side.midpoint())).collect());
            let taken = Taken::One(choice);
            if middle.choices(controller).is_some()
                && middle.act(controller, &taken).is_some()
                && middle.advance((controller, &taken), None, budget)?
                && middle.choices(controller).is_some()
                && let Some(difference) = middle.difference(controller, pair)
            {
                *after = difference.midpoint();
            }
        }
        let response = after[1] - after[0];
        Ok(Some(AnyChoice::new(table, possible, pair, difference, response)))
    }

    /// One output of the network minus another, after [`StateSets::choices`].
    fn difference(&self, controller: &StateController, pair: (usize, usize)) -> Option<Interval> {
        match self {
            Self::Zonotopes(sets) => sets.difference(controller, pair),
            Self::TaylorModels(sets) => Some(sets.difference(pair)),
        }
    }

    /// Encloses the actions of what is taken, as far as [`StateSets::choices`] did not. `None` if they have no bounds.
    pub(crate) fn act(&mut self, controller: &StateController, taken: &Taken) -> Option<()> {
        match self {
            Self::Zonotopes(sets) => sets.take_actions(controller, taken),
            Self::TaylorModels(_) => Some(()),
        }
    }

    /// One step of the loop under what is taken, after [`StateSets::act`]; boxes met between samples are appended to `between`. `false` if the
    /// dynamics have no value, or no bounds, somewhere.
    ///
    /// # Errors
    /// If the budget runs out.
    pub(crate) fn advance(
        &mut self,
        (controller, taken): (&StateController, &Taken),
        between: Option<&mut Vec<Interval>>,
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        // A step takes long with many variables and substeps.
        budget.poll_clock()?;
        match self {
            Self::Zonotopes(sets) => Ok(sets.advance(between).is_some()),
            Self::TaylorModels(sets) => sets.advance((controller, taken), between, budget),
        }
    }
}
