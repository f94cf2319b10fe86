//! Start states that have some literals, narrowed literal by literal, and one of them.

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::{Condition, Conjunction, State};
use policert_numeric::IntBox;

use crate::queries::Queries;

/// States of a region, on the way to smaller ones.
#[derive(Clone)]
pub(crate) struct Inhabited {
    /// Contains all of them.
    pub sides: IntBox,
    /// What the box does not say of them.
    pub condition: Conjunction,
    /// One of them, if one is known.
    pub witness: Option<State>,
}

impl Inhabited {
    /// Those that satisfy a literal, too, before its consequences are drawn.
    pub fn with(&self, literal: &Condition) -> Self {
        let mut condition = self.condition.clone();
        condition.add(literal);
        let inside = |state: &State| literal.holds(state) == Ok(true);
        let witness = self.witness.clone().filter(inside);
        Self { sides: self.sides.clone(), condition, witness }
    }

    /// Draws the consequences of what was added; false if no state is left.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that the solver cannot take.
    pub fn narrow(
        &mut self,
        queries: &mut Queries<'_>,
        budget: &mut Budget,
    ) -> Result<bool, EngineError> {
        if !self.condition.narrow(&mut self.sides) {
            return Ok(false);
        }
        if !self.condition.is_true() && self.witness.is_none() {
            match queries.narrowed_inhabitant(&self.condition, &self.sides, budget)? {
                Answer::Refuted => return Ok(false),
                Answer::Possible(witness) => self.witness = witness,
            }
        }
        Ok(true)
    }
}
