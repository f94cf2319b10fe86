//! The elements of a large network that are worth sharpening: those whose relaxation costs the bounds of
//! score differences most.
//!
//! A form that is carried back loses at each function that is not linear at most its coefficient times the
//! distance of the two lines, and at each maximum its coefficient times the width of the bounds. Where the
//! bound and all losses together are below 0, the score is lower somewhere in the part: sharpening would not
//! decide. Elsewhere the elements with the greatest losses are sharpened, some more in each round.

use std::ops::Range;

use policert_engine_api::{Budget, StopReason};
use policert_policy::Op;

use super::{Bounder, Compared, difference};
use crate::frame::RegionFrame;
use crate::program::{LANES, Lanes};
use crate::relaxation::Lines;
use crate::symbolic::Form;

/// Elements that are sharpened in each round: from measurements.
const ROUNDS: [usize; 3] = [64, 128, 256];
/// After so many parts in a row that all rounds left open most get the first round alone.
const FRUITLESS: u32 = 32;
/// One of so many gets all rounds even then.
const TRIED: u32 = 8;

/// What the bounds of some score differences say of the pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    /// All scores that are not hopeless are the lesser ones everywhere in the part.
    Decided,
    /// Sharpening would not tell more.
    Hopeless,
    Open,
}

/// Bounds of sharpened elements.
#[derive(Debug, Default)]
pub(super) struct Sharpened {
    /// Slots with their bounds, ascending.
    elements: Vec<(usize, (f64, f64))>,
}

impl Sharpened {
    pub fn clear(&mut self) {
        self.elements.clear();
    }

    /// Their number.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Those with slots in a range.
    pub fn within(&self, range: Range<usize>) -> &[(usize, (f64, f64))] {
        let place = |slot: usize| self.elements.partition_point(|(other, _)| *other < slot);
        &self.elements[place(range.start)..place(range.end)]
    }

    fn has(&self, slot: usize) -> bool {
        self.elements.binary_search_by_key(&slot, |(other, _)| *other).is_ok()
    }

    fn add(&mut self, more: impl Iterator<Item = (usize, (f64, f64))>) {
        self.elements.extend(more);
        self.elements.sort_unstable_by_key(|(slot, _)| *slot);
    }
}

impl Bounder {
    /// Sharpens what the differences of some scores lose most by, after [`touch`](Self::touch).
    ///
    /// # Errors
    /// A stop of the budget.
    pub(super) fn sharpen_chosen(
        &mut self,
        frame: &RegionFrame,
        sides: (&[f64], &[f64]),
        compared: Compared<'_>,
        budget: &mut Budget,
    ) -> Result<(), StopReason> {
        self.relax_all();
        let all = self.fruitless < FRUITLESS || self.fruitless.is_multiple_of(TRIED);
        for elements in ROUNDS.into_iter().take(if all { ROUNDS.len() } else { 1 }) {
            let (told, losses) = self.losses(frame, compared, budget)?;
            if told != Told::Open || !self.choose(&losses, elements) {
                self.note(told);
                return Ok(());
            }
            self.sharpen(frame, sides, &[], budget)?;
            let Self { sharpened, bounds, refined, program, .. } = self;
            let slots =
                refined.iter().map(|refined| program.nodes[refined.node].at + refined.element);
            sharpened.add(slots.map(|slot| (slot, (bounds.lo[slot], bounds.hi[slot]))));
        }
        let (told, _) = self.losses(frame, compared, budget)?;
        self.note(told);
        Ok(())
    }

    fn note(&mut self, told: Told) {
        self.fruitless = if told == Told::Decided { 0 } else { self.fruitless.saturating_add(1) };
    }

    /// What the bounds of the differences say, and by slot what those that are open lose.
    ///
    /// # Errors
    /// A stop of the budget.
    fn losses(
        &mut self,
        frame: &RegionFrame,
        compared: Compared<'_>,
        budget: &mut Budget,
    ) -> Result<(Told, Vec<f64>), StopReason> {
        let mut losses = vec![0.0; self.program.slots];
        let mut refuted: Vec<usize> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (block, pairs) in compared.pairs.chunks(LANES).enumerate() {
            let forms: Vec<Form> = pairs.iter().map(difference).collect();
            let lower = self.lower_bounds(frame, self.program.output, &forms, budget)?;
            let mut sums: Lanes = [0.0; LANES];
            self.for_each_loss(&mut |lane, _, loss| sums[lane] += loss);
            let mut is_open = [false; LANES];
            for (lane, &(_, lesser)) in pairs.iter().enumerate() {
                if lower[lane] > 0.0 && block * LANES + lane < compared.certain {
                    refuted.push(lesser);
                }
                is_open[lane] = lower[lane] <= 0.0 && lower[lane] + sums[lane] > 0.0;
                open.extend(is_open[lane].then_some(lesser));
            }
            self.for_each_loss(&mut |lane, slot, loss| {
                if is_open[lane] {
                    losses[slot] += loss;
                }
            });
        }
        let told = if open.iter().any(|lesser| !refuted.contains(lesser)) {
            Told::Open
        } else if refuted.is_empty() {
            Told::Hopeless
        } else {
            Told::Decided
        };
        Ok((told, losses))
    }

    /// Chooses the next elements to sharpen; false if there are none.
    fn choose(&mut self, losses: &[f64], elements: usize) -> bool {
        let mut wanted: Vec<(f64, usize)> = Vec::new();
        for node in 0..self.program.nodes.len() {
            if !self.program.nodes[node].refined || !self.touched.nodes[node] {
                continue;
            }
            for slot in self.program.range(node) {
                if losses[slot] > 0.0 && !self.sharpened.has(slot) {
                    wanted.push((losses[slot], slot));
                }
            }
        }
        if wanted.len() > elements {
            wanted.select_nth_unstable_by(elements, |a, b| b.0.total_cmp(&a.0));
            wanted.truncate(elements);
        }
        self.touched.chosen.fill(false);
        wanted.iter().for_each(|(_, slot)| self.touched.chosen[*slot] = true);
        !wanted.is_empty()
    }

    /// Visits what the forms that were carried back last lost: lane, slot to sharpen, and at most how much.
    fn for_each_loss(&self, visit: &mut impl FnMut(usize, usize, f64)) {
        let program = &self.program;
        for node in 1..program.nodes.len() {
            let op = program.op(node);
            if !matches!(op, Op::Pointwise { .. } | Op::Max { .. }) || !self.forms.is_live(node) {
                continue;
            }
            for element in 0..program.nodes[node].width {
                let coefficients = self.forms.coefficients_of(program, node, element);
                if coefficients.iter().all(|coefficient| *coefficient == 0.0) {
                    continue;
                }
                let mut lose = |slot: usize, distance: f64| {
                    for (lane, coefficient) in coefficients.iter().enumerate() {
                        let loss = coefficient.abs() * distance;
                        if loss > 0.0 {
                            visit(lane, slot, loss.min(f64::MAX / 1e9));
                        } else if loss.is_nan() {
                            visit(lane, slot, f64::MAX / 1e9);
                        }
                    }
                };
                match op {
                    Op::Pointwise { input, .. } => {
                        let slot = program.nodes[input.index()].at + element;
                        let lines = &self.lines[program.nodes[node].at + element];
                        lose(slot, distance(lines, self.bounds.lo[slot], self.bounds.hi[slot]));
                    }
                    Op::Max { inputs } => {
                        let greatest = &self.greatest[program.nodes[node].at + element];
                        if greatest.dominates {
                            continue;
                        }
                        let slot = |source: usize| program.nodes[source].at + element;
                        let least = self.bounds.lo[slot(greatest.source)];
                        for source in inputs.iter().map(|input| input.index()) {
                            let above = self.bounds.hi[slot(source)] - least;
                            if above > 0.0 {
                                lose(self.sharpened_for(source, element), above);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// The slot whose bounds give those of an element.
    fn sharpened_for(&self, node: usize, element: usize) -> usize {
        match self.program.op(node) {
            Op::Pointwise { input, .. } if !self.program.nodes[node].refined => {
                self.program.nodes[input.index()].at + element
            }
            _ => self.program.nodes[node].at + element,
        }
    }

    /// Relaxes all functions by the bounds as they are.
    fn relax_all(&mut self) {
        for node in 1..self.program.nodes.len() {
            if let Op::Pointwise { input, activation } = *self.program.op(node) {
                self.relax(node, input.index(), activation);
            }
            self.note_greatest(node);
        }
    }
}

/// The greatest distance of two lines between `lo` and `hi`.
fn distance(lines: &Lines, lo: f64, hi: f64) -> f64 {
    let at = |x: f64| {
        (lines.upper_slope - lines.lower_slope) * x + (lines.upper_offset - lines.lower_offset)
    };
    at(lo).max(at(hi)).max(0.0)
}
