//! Stage *bound*, continued: the planes of all rivals' leads and the linear conditions of a query
//! together.

use std::time::Instant;

use policert_engine_api::{Answer, StopReason};
use policert_model::{Condition, State, Truth};
use policert_numeric::round::sub_up;
use policert_numeric::{IntBox, Rational};

use crate::frame::Frame;
use crate::oracle::Function;
use crate::planes::{Joint, PlaneRow, joint};
use crate::query::SelectionQuery;
use crate::refute::{float_above, float_below};
use crate::search::Search;
use crate::statistics::Stage;
use crate::symbolic::{Form, Term};
use crate::tighten::Restriction;

/// After how many boxes that bounds leave open the question is asked over the reals, where
/// functions are split at their bends: better with many free inputs.
const RELAXED: [u64; 5] = [256, 1024, 4096, 16_384, 65_536];

impl<'q> Search<'_, '_, 'q> {
    /// Whether no point of a leaf, just bounded, satisfies the open linear conditions and the
    /// planes of all rivals' leads at once.
    pub(crate) fn is_contradictory(
        &mut self,
        node: usize,
        own: Option<&Frame>,
        restriction: &Restriction<'q>,
    ) -> Result<bool, StopReason> {
        let Some(frame) = own.or(self.map.frame.as_ref()) else { return Ok(false) };
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
        let oracle = &mut *self.oracle;
        let leaf = &self.map.nodes[node];
        let competes = |rival: usize| {
            leaf.truths.get(rival).is_none_or(|truth| *truth == Truth::True)
                || oracle.applicable[rival].truth(sides) == Truth::True
        };
        let forms: Vec<Form> = (0..oracle.applicable.len())
            .filter(|&rival| rival != self.output && competes(rival))
            .map(|rival| {
                let term = |element, factor| Term { element, factor };
                [term(rival, 1.0), term(self.output, -1.0)].into_iter().collect()
            })
            .collect();
        let Function::Network(network) = &mut oracle.function else { return Ok(false) };
        let (axes, output) = (&oracle.axes, network.bounder.program().output);
        let budget = &mut *self.budget;
        network.bounder.planes(frame, output, &forms, budget, &mut |_, _, plane| {
            let mut slopes = vec![0.0; sides.dimensions()];
            for (input, &axis) in axes.reads.iter().enumerate() {
                slopes[axes.variables[axis]] += plane.slope(input);
            }
            // The lead of a rival is at most 0 where the output is chosen.
            rows.push(PlaneRow { slopes, upper: sub_up(0.0, plane.constant()) });
        })?;
        let lo: Vec<f64> = sides.sides().iter().map(|side| float_below(side.lo)).collect();
        let hi: Vec<f64> = sides.sides().iter().map(|side| float_above(side.hi)).collect();
        Ok(matches!(joint(&lo, &hi, &rows, self.budget)?, Joint::Contradictory))
    }

    /// Asks the query over the reals for a while, if its time has come.
    pub(crate) fn over_reals(&mut self, whole: &Restriction<'q>) -> Result<OverReals, StopReason> {
        if !RELAXED.contains(&self.open_boxes) || self.open_boxes == self.asked_at {
            return Ok(OverReals::Open);
        }
        self.asked_at = self.open_boxes;
        let started = Instant::now();
        let query =
            SelectionQuery { region: &whole.sides, conditions: &whole.open, output: self.output };
        let mut search = match self.relaxed.take() {
            Some(search) => search,
            None => self.oracle.relaxed_search(&query, self.budget)?,
        };
        let answer = search.advance(self.oracle, self.open_boxes, self.budget)?;
        self.relaxed = Some(search);
        self.finish(Stage::Split, started);
        Ok(match answer {
            Some(Answer::Refuted) => OverReals::Refuted,
            Some(Answer::Possible(Some(point))) => {
                let axes = &self.oracle.axes.variables;
                let rounded: Option<Vec<i64>> =
                    axes.iter().map(|&variable| nearest(&point[variable])).collect();
                match rounded {
                    Some(rounded) => {
                        let witness = self.witness_if_chosen(&rounded, whole)?;
                        witness.map_or(OverReals::Open, OverReals::Witness)
                    }
                    None => OverReals::Open,
                }
            }
            Some(Answer::Possible(None)) | None => OverReals::Open,
        })
    }
}

/// What the question over the reals says about the one over the integers.
pub(crate) enum OverReals {
    /// There is no witness.
    Refuted,
    Witness(State),
    Open,
}

/// The nearest integer.
fn nearest(value: &Rational) -> Option<i64> {
    let half = Rational::new(1, 2)?;
    (value + &half).floor().to_i64()
}
