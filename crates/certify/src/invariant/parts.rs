//! Checking the states of a decision diagram from the whole space on: operators that are enabled nowhere in a part, and
//! unsafe states that it cannot have, are not asked about again in the boxes within.

use policert_engine_api::{Budget, EngineError};
use policert_model::{Operator, Region, Truth};
use policert_numeric::{IntBox, IntervalDiagram, PartEnd};

use super::{Check, ChoicesInBoxes, InvariantError};

/// What is open in a part.
struct OpenPart<'a> {
    /// True if it may have unsafe states.
    may_be_unsafe: bool,
    /// Those that may lead out.
    operators: Vec<&'a Operator>,
}

impl Check<'_> {
    /// No state of a diagram is unsafe, and no transition leaves the invariant from one.
    pub(super) fn parts(
        &self,
        diagram: &IntervalDiagram,
        choices: &mut dyn ChoicesInBoxes,
        budget: &mut Budget,
    ) -> Result<(), InvariantError> {
        let whole =
            OpenPart { may_be_unsafe: true, operators: self.steps.operators.iter().collect() };
        diagram.for_each_part(&whole, &mut |sides, before, end| match end {
            PartEnd::Open => self.open_part(sides, before, budget),
            PartEnd::Whole => {
                let piece = Region { sides: sides.clone(), conditions: Vec::new() };
                if before.may_be_unsafe {
                    self.no_unsafe_state(&piece, budget)?;
                }
                for operator in &before.operators {
                    self.operator(operator, &piece, choices, budget)?;
                }
                Ok(None)
            }
        })
    }

    /// What is still open in a part; `None` if nothing is.
    fn open_part<'a>(
        &self,
        sides: &IntBox,
        before: &OpenPart<'a>,
        budget: &mut Budget,
    ) -> Result<Option<OpenPart<'a>>, InvariantError> {
        budget.poll().map_err(EngineError::from)?;
        let steps = &self.steps;
        let unsafe_condition = &steps.question.property.unsafe_condition;
        let may_be_unsafe = before.may_be_unsafe && unsafe_condition.truth(sides) != Truth::False;
        let operators = match steps.terminal_truth(sides) {
            Truth::True => Vec::new(),
            _ => {
                let may_fire = |operator: &&Operator| operator.guard.truth(sides) != Truth::False;
                before.operators.iter().copied().filter(may_fire).collect()
            }
        };
        let is_open = may_be_unsafe || !operators.is_empty();
        Ok(is_open.then_some(OpenPart { may_be_unsafe, operators }))
    }
}
