//! What the parts of a random case are generated from.

use policert_model::{Model, VarId, Variable, VariableKind};
use policert_numeric::IntInterval;

use crate::{Expressions, Forms};

/// Says how rich the conditions and updates of a case are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// Predicates and guards bound single variables; updates are `v := c` and `v := w + c`.
    Unary,
    /// Conditions are Boolean combinations of linear comparisons, updates are linear; here and
    /// there a free choice.
    Linear,
    /// Everything that a model may have: also products, case distinctions, arrays with computed
    /// indices, several assignment indices, transient variables, probabilities that depend on the
    /// state, and expressions without value in some states.
    General,
}

/// Holds what the parts of a model are generated from.
pub(crate) struct Sketch {
    pub(crate) profile: Profile,
    pub(crate) size: usize,
    pub(crate) variables: Vec<Variable>,
    /// The cells of the array, if there is one.
    pub(crate) array: Vec<VarId>,
    pub(crate) transients: usize,
}

impl Sketch {
    /// A sketch of a finished model.
    pub(crate) fn of_model(model: &Model, profile: Profile) -> Self {
        let variables = model.variables.clone();
        Self { profile, size: 1, variables, array: Vec::new(), transients: 0 }
    }

    /// Variables of this kind.
    pub(crate) fn of_kind(&self, kind: &VariableKind) -> Vec<VarId> {
        let ids = self.variables.iter().enumerate().filter(|(_, v)| v.kind == *kind);
        ids.map(|(i, _)| VarId::new(i)).collect()
    }

    pub(crate) fn expressions(&self, forms: Forms) -> Expressions {
        Expressions::new(&self.variables, forms)
    }

    pub(crate) fn domain(&self, v: VarId) -> IntInterval {
        self.variables[v.index()].domain
    }
}
