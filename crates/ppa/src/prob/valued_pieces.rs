//! What the bounds rest on, for evidence: abstract states with upper bounds of their values, and concrete
//! states of runs with lower ones.
//!
//! Abstract states that were not expanded count as unsafe. A search on the fly bounds some of them by what was
//! found out about larger ones before; those are expanded here, so that all bounds hold together.

use policert_engine_api::{Budget, ClaimedValues, EngineError, ValuedPieces, ValuedState};
use policert_mdp::{Choices, ImplicitMdp as _, SolveOptions, Standing, solve};
use policert_model::{Condition, Region};
use policert_numeric::Rational;

use super::abstract_mdp::Expanding;
use super::distribution::Target;
use super::max_prob::Known;

/// The most abstract states that are written.
const MOST_PIECES: usize = 100_000;

/// What bounds rest on.
#[derive(Clone, PartialEq, Debug)]
pub struct Shown {
    /// The values.
    pub values: ClaimedValues,
    /// True if some are exact values that were rounded one by one: a check may fail then.
    pub rounded: bool,
}

/// Values of concrete runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct RunValues {
    /// The states, with lower bounds.
    pub states: Vec<ValuedState>,
    pub rounded: bool,
}

/// The abstract states of this iteration with the upper bounds of their values, and lower bounds of runs; or why
/// there are none.
///
/// # Errors
/// A query that is not decided, or an MDP that is too large.
pub(crate) fn shown(
    expanding: &mut Expanding<'_, '_, '_>,
    runs: RunValues,
    solving: &SolveOptions,
    budget: &mut Budget,
) -> Result<Result<Shown, String>, EngineError> {
    let Some(start) = expanding.mdp.start().map(<[u32]>::to_vec) else {
        return Ok(Err("the abstract start states are not known".to_owned()));
    };
    complete(expanding, &start, budget)?;
    let known = Known::new(expanding.mdp, true)?;
    let options = SolveOptions { exact: false, ..*solving };
    let solution = solve(&known.problem(&start), &options, budget)?;
    if let Some(reason) = solution.stopped {
        return Err(reason.into());
    }
    let upper = |state: u32| solution.float_bounds(state)[1];
    let mdp = &*expanding.mdp;
    let mut pieces = Vec::new();
    for state in 0..u32::try_from(mdp.states()).unwrap_or(u32::MAX) {
        let bound = upper(state);
        if bound >= 1.0 || mdp.is_unsafe(state) || mdp.transitions(state).is_none() {
            continue;
        }
        if pieces.len() == MOST_PIECES {
            return Ok(Err(format!("there are more than {MOST_PIECES} abstract states")));
        }
        let cell = mdp.tree.cell(mdp.node(state));
        let Region { sides, conditions } = cell.region();
        let conditions: Vec<Condition> = conditions.into_iter().cloned().collect();
        pieces.push((Region { sides, conditions }, bound));
    }
    let greatest = start.iter().map(|&state| upper(state)).fold(0.0, f64::max);
    let start = Rational::from_f64(greatest).unwrap_or(Rational::ONE);
    let rounded = runs.rounded || solution.statistics.exact_components > 0;
    let values =
        ClaimedValues { states: runs.states, pieces: Some(ValuedPieces { pieces, start }) };
    Ok(Ok(Shown { values, rounded }))
}

/// Expands all abstract states that count as less than 1 and are reached through such.
fn complete(
    expanding: &mut Expanding<'_, '_, '_>,
    start: &[u32],
    budget: &mut Budget,
) -> Result<(), EngineError> {
    let mut waiting = start.to_vec();
    let mut seen = vec![false; expanding.mdp.states()];
    let mut choices = Choices::default();
    while let Some(state) = waiting.pop() {
        if seen.len() < expanding.mdp.states() {
            seen.resize(expanding.mdp.states(), false);
        }
        if std::mem::replace(&mut seen[state as usize], true) {
            continue;
        }
        budget.poll()?;
        if expanding.mdp.transitions(state).is_none() {
            let is_open = expanding.mdp.upper(state) < 1.0
                && expanding.standing(state, budget)? == Standing::Open;
            if !is_open {
                continue;
            }
            choices.clear();
            expanding.expand(state, &mut choices, budget)?;
        }
        let mdp = &*expanding.mdp;
        let all = mdp.transitions(state).unwrap_or_default();
        let targets = all.iter().flat_map(|transition| transition.targets.iter());
        waiting.extend(targets.filter_map(|target| match target {
            Target::Node(node) => mdp.state(*node),
            Target::Any | Target::Lost => None,
        }));
    }
    Ok(())
}
