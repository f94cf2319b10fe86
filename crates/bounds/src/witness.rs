//! Witnesses: whether a point at which the output is chosen satisfies the conditions.

use policert_engine_api::StopReason;
use policert_model::{State, Truth};
use policert_numeric::IntInterval;
use policert_policy::Choice;

use crate::asked::Asked;
use crate::decision_map::MapNode;
use crate::tighten::{Restriction, Satisfied, satisfy};

/// A witness among the points of a leaf at which the choice is known.
pub(crate) fn known_witness(
    asked: &mut Asked<'_, '_>,
    leaf: &MapNode,
    restriction: &Restriction<'_>,
) -> Result<Option<State>, StopReason> {
    for index in 0..leaf.known() {
        if leaf.choices[index].contains(asked.output) == Some(true) {
            let (point, choice) = (leaf.point(index), &leaf.choices[index]);
            if let Some(witness) = witness_at(asked, &point, choice, restriction)? {
                return Ok(Some(witness));
            }
        }
    }
    Ok(None)
}

/// The witness at a point with this choice, if there is one.
pub(crate) fn witness_at(
    asked: &mut Asked<'_, '_>,
    point: &[i64],
    choice: &Choice,
    restriction: &Restriction<'_>,
) -> Result<Option<State>, StopReason> {
    if choice.contains(asked.output) != Some(true) || !reaches(asked, point, restriction) {
        return Ok(None);
    }
    let witness = completed(asked, point, restriction)?;
    if witness.is_some() {
        asked.prepared.memory.keep(asked.output, Box::from(point));
    }
    Ok(witness)
}

/// A witness among those of earlier queries.
pub(crate) fn remembered_witness(
    asked: &mut Asked<'_, '_>,
    restriction: &Restriction<'_>,
) -> Result<Option<State>, StopReason> {
    let inside: Vec<Box<[i64]>> = asked
        .prepared
        .memory
        .of(asked.output)
        .filter(|point| reaches(asked, point, restriction))
        .map(Box::from)
        .collect();
    for point in inside {
        if let Some(witness) = completed(asked, &point, restriction)? {
            return Ok(Some(witness));
        }
    }
    Ok(None)
}

/// The witness at a point, if the output is chosen there.
pub(crate) fn witness_if_chosen(
    asked: &mut Asked<'_, '_>,
    point: &[i64],
    whole: &Restriction<'_>,
) -> Result<Option<State>, StopReason> {
    let filtered = asked.prepared.is_filtered();
    let truths = vec![Truth::Maybe; if filtered { asked.prepared.applicable.len() } else { 0 }];
    let mut choices = Vec::new();
    asked.prepared.judge(point, &truths, &mut choices);
    match choices.first() {
        Some(choice) => witness_at(asked, point, choice, whole),
        None => Ok(None),
    }
}

/// Returns whether a point, given by its coordinates along the axes, lies in the box of a query.
pub(crate) fn reaches(asked: &Asked<'_, '_>, point: &[i64], restriction: &Restriction<'_>) -> bool {
    let axes = &asked.prepared.axes.variables;
    axes.iter().zip(point).all(|(&v, &x)| restriction.sides[v].contains(x))
}

/// A point along the axes with values for all other dimensions such that the conditions hold.
pub(crate) fn completed(
    asked: &mut Asked<'_, '_>,
    point: &[i64],
    restriction: &Restriction<'_>,
) -> Result<Option<State>, StopReason> {
    let axes = &asked.prepared.axes.variables;
    if asked.closed {
        let mut state = restriction.representative();
        for (&variable, &value) in axes.iter().zip(point) {
            state[variable] = value;
        }
        return Ok(restriction.holds(&state).then_some(state));
    }
    let mut part = restriction.clone();
    for (&variable, &value) in axes.iter().zip(point) {
        part.sides[variable] = IntInterval::point(value);
    }
    let Some(part) = part.tightened() else { return Ok(None) };
    Ok(match satisfy(&part, usize::MAX, asked.budget)? {
        Satisfied::By(state) => Some(state),
        Satisfied::No | Satisfied::Unknown => None,
    })
}
