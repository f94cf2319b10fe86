//! What an answer of the oracle promises, checked in debug builds: a witness by the definition, a
//! refutation at the corners and in the middle of the region.

use policert_engine_api::Answer;
use policert_model::State;

use crate::prepared::PreparedPolicy;
use crate::query::{SelectionQuery, representative};

/// Checks an answer. A witness lies in the region, satisfies all conditions, and the policy chooses
/// the output there; after a refutation no point does.
pub(crate) fn check(
    prepared: &mut PreparedPolicy<'_>,
    query: &SelectionQuery<'_>,
    answer: &Answer<State>,
) {
    if !cfg!(debug_assertions) {
        return;
    }
    let sides = query.sides(prepared.axes.least_dimensions);
    let mut is_chosen = |state: &State| {
        let holds = query.conditions.iter().all(|condition| condition.holds(state) == Ok(true));
        (sides.contains(state) && holds).then(|| prepared.chooses(state, query.output))?
    };
    match answer {
        Answer::Possible(Some(witness)) => {
            debug_assert_eq!(is_chosen(witness), Some(true), "no witness: {witness:?}");
        }
        Answer::Possible(None) => {}
        Answer::Refuted => {
            let least = sides.sides().iter().map(|&side| representative(side));
            let greatest = sides
                .sides()
                .iter()
                .map(|side| if side.is_bounded() { side.hi } else { representative(*side) });
            let middle = sides.sides().iter().map(|side| {
                if side.is_bounded() { side.midpoint() } else { representative(*side) }
            });
            for state in [least.collect(), greatest.collect(), middle.collect()] {
                debug_assert_ne!(is_chosen(&state), Some(true), "refuted, and chosen: {state:?}");
            }
        }
    }
}
