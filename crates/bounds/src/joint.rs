//! Stage *bound*, continued: the planes of all rivals' leads and the linear conditions of a query
//! together.

use policert_engine_api::StopReason;
use policert_model::{Condition, Truth};
use policert_numeric::IntBox;
use policert_numeric::round::sub_up;

use crate::asked::Asked;
use crate::decision_map::MapNode;
use crate::frame::RegionFrame;
use crate::inputs::{float_above, float_below};
use crate::planes::{Joint, PlaneRow, joint};
use crate::prepared::ScoreBounds;
use crate::symbolic::{Form, FormTerm};
use crate::tighten::Restriction;

/// Returns whether no point of a leaf, just bounded, satisfies the open linear conditions and the
/// planes of all rivals' leads at once.
pub(crate) fn is_contradictory(
    asked: &mut Asked<'_, '_>,
    leaf: &MapNode,
    frame: &RegionFrame,
    restriction: &Restriction<'_>,
) -> Result<bool, StopReason> {
    let sides: &IntBox = &restriction.sides;
    if !sides.is_bounded() {
        return Ok(false);
    }
    let mut rows: Vec<PlaneRow> = Vec::new();
    for condition in restriction.open.iter().flat_map(|open| open.conjuncts()) {
        let Condition::Linear(constraint) = condition else { continue };
        let mut slopes = vec![0.0; sides.dimensions()];
        for &(variable, coefficient) in &constraint.terms {
            let (below, above) = (float_below(coefficient), float_above(coefficient));
            if below < above {
                return Ok(false);
            }
            slopes[variable.index()] = below;
        }
        rows.push(PlaneRow { slopes, upper: float_above(constraint.upper) });
    }
    if rows.is_empty() {
        return Ok(false);
    }
    let Asked { prepared, budget, output: own, .. } = asked;
    let (prepared, own) = (&mut **prepared, *own);
    let competes = |rival: usize| {
        leaf.truths.get(rival).is_none_or(|truth| *truth == Truth::True)
            || prepared.applicable[rival].truth(sides) == Truth::True
    };
    // Where the output is chosen, the lead of a rival is at most this.
    let greatest_lead = |rival: usize| {
        let lead = prepared.policy.requires(own, rival).greatest_lead();
        lead.map(|lead| (rival, lead.to_f64()))
    };
    let rivals = (0..prepared.applicable.len()).filter(|&rival| rival != own && competes(rival));
    let rivals: Vec<(usize, f64)> = rivals.filter_map(greatest_lead).collect();
    let form = |&(rival, _): &(usize, f64)| {
        let term = |element, factor| FormTerm { element, factor };
        [term(rival, 1.0), term(own, -1.0)].into_iter().collect()
    };
    let forms: Vec<Form> = rivals.iter().map(form).collect();
    let ScoreBounds::Network(network) = &mut prepared.function else { return Ok(false) };
    let (axes, output) = (&prepared.axes, network.bounder.program().output);
    network.bounder.planes(frame, output, &forms, budget, &mut |rival, _, plane| {
        let mut slopes = vec![0.0; sides.dimensions()];
        for (input, &axis) in axes.reads.iter().enumerate() {
            slopes[axes.variables[axis]] += plane.slope(input);
        }
        rows.push(PlaneRow { slopes, upper: sub_up(rivals[rival].1, plane.constant()) });
    })?;
    let lo: Vec<f64> = sides.sides().iter().map(|side| float_below(side.lo)).collect();
    let hi: Vec<f64> = sides.sides().iter().map(|side| float_above(side.hi)).collect();
    Ok(matches!(joint(&lo, &hi, &rows, budget)?, Joint::Contradictory))
}
