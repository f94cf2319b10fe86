//! The states that evidence of a probability lists, and questions that have no evidence.

use policert_engine_api::{ProbabilityAim, ValuedState};
use policert_explore::Induced;
use policert_mdp::Solution;

/// The most states that are written.
const MOST_STATES: usize = 2_000_000;

/// The states of which something is known: lower bounds of one solution, upper ones of another.
pub(super) fn values(induced: &Induced, lower: &Solution, upper: &Solution) -> Vec<ValuedState> {
    let open = |&id: &u32| !induced.target.contains(id) && !induced.avoid.contains(id);
    let states = induced.mdp.state_range().filter(open);
    let valued = states.map(|id| (id, [lower.float_bounds(id)[0], upper.float_bounds(id)[1]]));
    let known = valued.filter(|(_, [lo, hi])| *lo > 0.0 || *hi < 1.0);
    known.map(|(id, bounds)| ValuedState { state: induced.state(id), bounds }).collect()
}

/// Returns why there is no evidence for a question, if there is none.
pub(super) fn refusal(aim: &ProbabilityAim, induced: &Induced) -> Option<&'static str> {
    if aim.compares_equal() && induced.initial.len() > 1 {
        Some("there is none for a comparison by = or ≠ from several start states")
    } else if !induced.starts_complete {
        Some("not all start states were found")
    } else if induced.undecided.is_some() {
        Some("the policy's choice is not decided in some state")
    } else if induced.mdp.states() > MOST_STATES {
        Some("there are more than two million states")
    } else {
        None
    }
}
