//! Checking the states of a decision diagram from the whole space on: what is decided of a part is not asked again
//! of the boxes within.

use policert_engine_api::{Budget, EngineError};
use policert_model::{Operator, Region, Truth};
use policert_numeric::{IntBox, IntervalDiagram, PartEnd};

use super::{Check, ChoicesInBoxes, InvariantError};

/// So often it is tried at a level of the diagram whether the policy's choice is decided in its parts, before it counts
/// how often that was so.
const LEAST_TRIES: u32 = 256;
/// The least share of tries that pay, one in so many.
const PAYS: u32 = 8;

/// What is open in a part.
struct OpenPart<'a> {
    /// True if it may have unsafe states.
    may_be_unsafe: bool,
    /// Those that may lead out.
    operators: Vec<&'a Operator>,
}

/// How often the policy's choice was decided in parts that end at a level.
#[derive(Clone, Copy, Default)]
struct Tries {
    all: u32,
    decided: u32,
}

impl Tries {
    fn pay(self) -> bool {
        self.all < LEAST_TRIES || self.decided >= self.all / PAYS
    }
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
        let mut tries = vec![Tries::default(); diagram.order().len()];
        diagram.for_each_part(&whole, &mut |sides, before, end| match end {
            PartEnd::Level(level) => {
                self.open_part(sides, before, &mut tries[level], choices, budget)
            }
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
        tries: &mut Tries,
        choices: &mut dyn ChoicesInBoxes,
        budget: &mut Budget,
    ) -> Result<Option<OpenPart<'a>>, InvariantError> {
        budget.poll().map_err(EngineError::from)?;
        let steps = &self.steps;
        let unsafe_condition = &steps.question.property.unsafe_condition;
        let may_be_unsafe = before.may_be_unsafe && unsafe_condition.truth(sides) != Truth::False;
        let mut operators = Vec::with_capacity(before.operators.len());
        if steps.terminal_truth(sides) != Truth::True {
            for &operator in &before.operators {
                let mut part = sides.clone();
                if operator.guard.truth(sides) == Truth::False {
                    continue;
                }
                operator.guard.tighten(&mut part);
                if part.is_empty() {
                    continue;
                }
                if let Some(output) = steps.output_of(operator)
                    && tries.pay()
                {
                    let competing = |j: usize| steps.competes(j, &part);
                    tries.all += 1;
                    if choices.is_refuted(output, &part, &competing, budget)? {
                        tries.decided += 1;
                        continue;
                    }
                }
                operators.push(operator);
            }
        }
        let is_open = may_be_unsafe || !operators.is_empty();
        Ok(is_open.then_some(OpenPart { may_be_unsafe, operators }))
    }
}
