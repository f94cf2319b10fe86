//! Checking that every run reaches a goal state, by pieces with ranks: boxes with conditions, each with a number.
//!
//! Every start state lies in a piece. From a state of a piece that is no goal state a run goes on, and every step
//! that the policy may choose leads to a goal state, or into a piece with a smaller rank. Ranks cannot fall for ever,
//! so that each run comes to a goal state. Every state is looked at by itself, by the definition.

use policert_engine_api::{Budget, EngineError, Invariant, Question};
use policert_model::{Condition, OPERATOR_LIMIT, Region};
use policert_policy::Policy;

use crate::box_steps::{BoxSteps, fits};
use crate::cover::Cover;
use crate::invariant::InvariantError;

/// Checks that every run reaches a goal state. `ranks` are those of the pieces, in their order; an undecided
/// choice counts as any of the policy's labels.
///
/// # Errors
/// The fault of the pieces or ranks, or a stop of the budget.
pub fn check_ranks(
    question: &Question<'_>,
    policy: Option<&Policy>,
    invariant: &Invariant,
    ranks: &[u64],
    budget: &mut Budget,
) -> Result<(), InvariantError> {
    let model = question.model;
    if ranks.len() != invariant.pieces().len() {
        return Err(InvariantError::Ranks);
    }
    if let Some(i) = invariant.pieces().iter().position(|piece| !fits(model, piece)) {
        return Err(InvariantError::NoStates(i));
    }
    // The least rank first: that of the first piece with a state is its rank.
    let mut ranked: Vec<(u64, &Region<Condition>)> =
        ranks.iter().copied().zip(invariant.pieces()).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let pieces: Vec<Region<Condition>> = ranked.iter().map(|(_, piece)| (*piece).clone()).collect();
    let operators = model.operators(OPERATOR_LIMIT).map_err(EngineError::from)?;
    let (steps, cover) = (BoxSteps::new(question, policy, &operators), Cover::new(&pieces));
    if let Some(state) = steps.start_outside(&cover, budget)? {
        return Err(InvariantError::Start(model.display_state(&state)));
    }
    for (rank, piece) in &ranked {
        steps.for_each_state(piece, budget, &mut |state| {
            if question.is_goal(state) {
                return Ok(());
            }
            if question.is_terminal(state) || !steps.goes_on(state) {
                return Err(InvariantError::Stuck(model.display_state(state)));
            }
            for operator in steps.operators {
                if !steps.may_fire(operator, state)? {
                    continue;
                }
                let successors = steps.semantics.successors(operator, state);
                for successor in successors.map_err(EngineError::from)?.list {
                    let first = cover.first_with(&successor.state);
                    let is_lower = first.is_some_and(|at| ranked[at].0 < *rank);
                    if !is_lower && !question.is_goal(&successor.state) {
                        return Err(InvariantError::NotLower {
                            operator: model.display_operator(&operator.key),
                            state: model.display_state(state),
                            target: model.display_state(&successor.state),
                        });
                    }
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}
