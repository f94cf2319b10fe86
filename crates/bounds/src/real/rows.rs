//! The planes of a part: what each inequality and each bend says about the variables there.

use std::iter::zip;

use policert_engine_api::{Budget, StopReason};

use super::RealOracle;
use super::problem::Constraint;
use super::queue::RealPart;
use super::search::RealSearch;
use crate::bound::Bend;
use crate::planes::{self, PlaneRow};
use crate::symbolic::{Form, FormTerm};

/// So many functions are looked at one by one.
const FEW_FUNCTIONS: usize = 32;

impl RealSearch {
    /// The planes of all inequalities, and with `bends` those of the bends, over the part that was
    /// entered last, and how far the farthest of them is from being satisfied; `None` if one is
    /// satisfied nowhere.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn rows(
        &mut self,
        oracle: &mut RealOracle,
        part: &RealPart,
        bends: bool,
        budget: &mut Budget,
    ) -> Result<Option<(Vec<PlaneRow>, f64)>, StopReason> {
        let Self { constraints, frame, sizes, influence, effects, .. } = self;
        let RealOracle { bounder, reads, .. } = oracle;
        let program = bounder.program();
        let output = program.output;
        let mut groups: Vec<(usize, Vec<Form>)> = Vec::new();
        let is_row = |bend: &&Bend| bends && !bend.implied && bend.slot >= reads.len();
        // Those of inputs are sides of the box.
        for bend in part.bends.iter().filter(is_row) {
            let node = program.node_of(bend.slot);
            let element = bend.slot - program.nodes[node].at;
            let factor = if bend.above { -1.0 } else { 1.0 };
            let form: Form = [FormTerm { element, factor }].into_iter().collect();
            match groups.iter_mut().find(|(other, _)| *other == node) {
                Some((_, forms)) => forms.push(form),
                None => groups.push((node, vec![form])),
            }
        }
        let mut rows = Vec::with_capacity(constraints.len() + part.bends.len());
        let (mut refuted, mut distance) = (false, f64::NEG_INFINITY);
        let mut push = |row: PlaneRow, lower: f64| {
            distance = distance.max(planes::margin(lower, row.upper));
            rows.push(row);
        };
        let forms: Vec<Form> = constraints
            .iter()
            .filter(|constraint| !constraint.scores.is_empty())
            .map(|constraint| constraint.scores.clone())
            .collect();
        let mut own = constraints.iter().filter(|constraint| !constraint.scores.is_empty());
        let relaxed = bounder.relaxed();
        bounder.planes(frame, output, &forms, budget, &mut |_, lower, plane| {
            let Some(constraint) = own.next() else { return };
            let mut slopes = vec![0.0; sizes.len()];
            for (input, &variable) in reads.iter().enumerate() {
                slopes[variable] += plane.slope(input);
            }
            let mut by_input = vec![0.0; reads.len()];
            plane.add_influence(&mut by_input);
            for (&variable, by) in zip(&*reads, by_input) {
                influence[variable] += by;
            }
            for &(node, element, slot) in &relaxed {
                effects[slot] += plane.effect(node, element).abs();
            }
            let is_plain = constraint.slopes.iter().all(|&slope| slope == 0.0);
            if is_plain && is_beyond(lower, constraint) {
                refuted = true;
            }
            let loss = planes::add_slopes(&mut slopes, &constraint.slopes, sizes);
            let upper =
                planes::upper_side(constraint.upper, planes::margin(plane.constant(), loss));
            push(PlaneRow { slopes, upper }, if is_plain { lower } else { f64::NEG_INFINITY });
        })?;
        if refuted {
            return Ok(None);
        }
        for constraint in constraints.iter().filter(|constraint| constraint.scores.is_empty()) {
            let row = PlaneRow { slopes: constraint.slopes.clone(), upper: constraint.upper };
            push(row, f64::NEG_INFINITY);
        }
        for (node, forms) in groups {
            let at = bounder.program().nodes[node].at;
            bounder.planes(frame, node, &forms, budget, &mut |form, _, plane| {
                let term = forms[form][0];
                let bend = part.bends.iter().find(|bend| {
                    let is_it = bend.slot == at + term.element && !bend.implied;
                    is_it && bend.above == (term.factor < 0.0)
                });
                let Some(bend) = bend else { return };
                let mut slopes = vec![0.0; sizes.len()];
                for (input, &variable) in reads.iter().enumerate() {
                    slopes[variable] += plane.slope(input);
                }
                let upper = planes::upper_side(term.factor * bend.at, plane.constant());
                push(PlaneRow { slopes, upper }, f64::NEG_INFINITY);
            })?;
        }
        if rows.iter().any(|row| row.is_refuted(&part.lo, &part.hi)) {
            return Ok(None);
        }
        Ok(Some((rows, distance)))
    }

    /// The elements of functions that are not linear in the part that was entered last and that
    /// the inequalities depend on: node, element, slot. Those that they do not depend on are left
    /// out where it matters, that is where they are few.
    pub fn open_functions(
        &self,
        oracle: &RealOracle,
        part: &RealPart,
    ) -> Vec<(usize, usize, usize)> {
        let mut relaxed = oracle.bounder.relaxed();
        if relaxed.len() <= FEW_FUNCTIONS {
            let program = oracle.bounder.program();
            let output = program.nodes[program.output].at;
            let scores = self.constraints.iter().flat_map(|constraint| &constraint.scores);
            let scores = scores.map(|term| output + term.element);
            // The side of a bend is part of the question, too.
            let bends = part.bends.iter().map(|bend| bend.slot);
            let relevant = oracle.bounder.relevant(scores.chain(bends));
            relaxed.retain(|&(.., slot)| relevant[slot]);
        }
        relaxed
    }
}

/// Returns whether a lower bound of the left side contradicts an inequality over scores alone.
fn is_beyond(lower: f64, constraint: &Constraint) -> bool {
    if constraint.strict { lower >= constraint.upper } else { lower > constraint.upper }
}
