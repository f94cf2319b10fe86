//! The run to a state in a box, backwards through the boxes that it came from.

use std::ops::ControlFlow;

use policert_engine_api::{Budget, EngineError, Trace, TraceStep};
use policert_model::{BinaryOp, Condition, Expr, State, VarId, find_point};
use policert_numeric::{IntBox, IntInterval};

use super::boxes::Found;
use super::image::Prepared;

/// The run to `state` in box number `at`.
///
/// # Errors
/// A stop of the budget.
pub(super) fn run_to(
    found: &[Found],
    operators: &[Prepared],
    mut at: usize,
    mut state: State,
    budget: &mut Budget,
) -> Result<Trace, EngineError> {
    let mut steps = Vec::new();
    while let Some(arrival) = &found[at].arrival {
        let operator = &operators[arrival.operator].operator;
        let destination = &operator.destinations[arrival.destination];
        let variables = state.len();
        let mut source = arrival.source.clone();
        let mut equations = Vec::new();
        for (d, &value) in state.iter().enumerate() {
            match destination.update(VarId::new(d)) {
                None => source[d] = IntInterval::point(value),
                Some(update) => equations.push(Condition::from_expr(&Expr::binary(
                    BinaryOp::Eq,
                    update.to_expr(),
                    Expr::int(value),
                ))),
            }
        }
        let before = point_of(&Condition::and(equations), &source, budget)?.ok_or_else(|| {
            EngineError::Internal("a state of an image has no state before it".to_owned())
        })?;
        let choices = before[variables..].to_vec();
        let label = operator.label;
        let (operator, destination) = (operator.key.clone(), arrival.destination);
        let after = std::mem::replace(&mut state, before[..variables].to_vec());
        steps.push(TraceStep { label, operator, destination, choices, state: after });
        at = arrival.from;
    }
    steps.reverse();
    Ok(Trace { start: state, steps })
}

/// A point of a box that satisfies a condition.
///
/// # Errors
/// A stop of the budget.
pub(super) fn point_of(
    condition: &Condition,
    sides: &IntBox,
    budget: &mut Budget,
) -> Result<Option<State>, EngineError> {
    let found = find_point(condition, sides, &mut || match budget.poll() {
        Ok(()) => ControlFlow::Continue(()),
        Err(stop) => ControlFlow::Break(stop),
    })?;
    match found {
        ControlFlow::Break(stop) => Err(stop.into()),
        ControlFlow::Continue(point) => Ok(point),
    }
}
