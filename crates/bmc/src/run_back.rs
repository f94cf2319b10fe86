//! The run to a state in a box, backwards through the boxes that it came from.

use policert_engine_api::{Budget, EngineError, Trace, TraceStep, point_of};
use policert_model::{BinaryOp, Condition, Expr, State, VarId};
use policert_numeric::IntInterval;
use policert_symbolic::Operators;

use crate::found::Found;

/// The run to `state` in box number `at`.
///
/// # Errors
/// A stop of the budget.
pub(crate) fn run_to(
    found: &[Found],
    operators: &Operators,
    mut at: usize,
    mut state: State,
    budget: &mut Budget,
) -> Result<Trace, EngineError> {
    let mut steps = Vec::new();
    while let Some(arrival) = &found[at].arrival {
        let operator = &operators.all()[arrival.operator];
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
