//! From a recorded search that found nothing to a proof that there is nothing, whose every leaf the
//! independent check accepts.
//!
//! The tree is that of the search. What refutes a leaf is looked for with the bounds of the check
//! itself: an inequality alone, the multipliers of the search, those of a linear program over the
//! planes of all inequalities and splits, in doubles and then exactly. Where its bounds are not as tight as
//! those of the search, the part is split on, until no function bends in it if these are few.

use std::collections::VecDeque;

use policert_bounds::{RecordedMultipliers, RecordedStep};
use policert_certify::{ElementSide, InputPart, MultiplierSum, Plane, RefutationStep, Relaxation};
use policert_engine_api::{Budget, StopReason};
use policert_numeric::simplex::{Feasibility, SimplexRow, feasible_point};
use policert_numeric::{LinearInequality, Rational};
use policert_policy::Network;
use policert_policy::activation::Jump;

/// The greatest number of steps of all proofs together.
pub(crate) const MOST_STEPS: usize = 1_000_000;
/// Inputs of a part of the search are split so often beyond it.
const DEPTH: u32 = 16;
/// With at most so many functions that bend in a part, it is split at their bends.
const FEW_BENDS: usize = 8;

/// A proof that no inputs satisfy a disjunct; `None` if it was not found.
///
/// # Errors
/// A stop of the budget.
pub(crate) fn proof(
    network: &Network,
    inequalities: &[LinearInequality],
    recorded: Vec<RecordedStep>,
    most_steps: usize,
    budget: &mut Budget,
) -> Result<Option<Vec<RefutationStep>>, StopReason> {
    let mut proving = Proving {
        relaxation: Relaxation::new(network, inequalities),
        inequalities,
        recorded: recorded.into(),
        steps: Vec::new(),
    };
    let mut open = vec![Open::Recorded(InputPart::whole(inequalities, network.input_width()))];
    while let Some(next) = open.pop() {
        if proving.steps.len() > most_steps || !proving.go_on(next, &mut open, budget)? {
            return Ok(None);
        }
    }
    Ok(Some(proving.steps))
}

/// A part whose proof is still to be written.
enum Open {
    /// The next recorded step is about it.
    Recorded(InputPart),
    /// Nothing is recorded about it. It was split so often beyond what is recorded.
    Unrecorded(InputPart, u32),
    /// All but a box is to be cut off, input by input from this one on; the next recorded step is about
    /// the box.
    Cut(InputPart, InputPart, usize),
}

struct Proving<'a> {
    relaxation: Relaxation<'a>,
    inequalities: &'a [LinearInequality],
    recorded: VecDeque<RecordedStep>,
    steps: Vec<RefutationStep>,
}

impl Proving<'_> {
    /// Writes the next step; false if none is found.
    fn go_on(
        &mut self,
        next: Open,
        open: &mut Vec<Open>,
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        let (part, depth, known) = match next {
            Open::Unrecorded(part, depth) => (part, depth, None),
            Open::Cut(part, left, input) => {
                self.cut(part, left, input, open);
                return Ok(true);
            }
            Open::Recorded(part) => match self.recorded.pop_front() {
                None => return Ok(false),
                Some(RecordedStep::Variable { variable, at }) => {
                    let [below, above] = self.split(&part, variable, at);
                    open.extend([Open::Recorded(above), Open::Recorded(below)]);
                    return Ok(true);
                }
                Some(RecordedStep::Element { node, element, at, is_below }) => {
                    let jump = Jump { at, is_below };
                    open.extend(self.split_at(part, node, element, jump).map(Open::Recorded));
                    return Ok(true);
                }
                Some(RecordedStep::Box { lo, hi }) => {
                    let left = InputPart { lo, hi, sides: part.sides.clone() };
                    open.push(Open::Cut(part, left, 0));
                    return Ok(true);
                }
                Some(RecordedStep::Refuted(known)) => (part, 0, known),
            },
        };
        if !self.relaxation.enter(&part, budget)? {
            self.steps.push(RefutationStep::Empty);
            return Ok(true);
        }
        if let Some(sum) = self.refuting(&part, known, budget)? {
            self.steps.push(RefutationStep::Sum(sum));
            return Ok(true);
        }
        let bends = self.relaxation.bends(&part);
        if let Some(&(node, element, at)) = bends.first().filter(|_| bends.len() <= FEW_BENDS) {
            let split = self.split_at(part, node, element, at);
            open.extend(split.map(|part| Open::Unrecorded(part, depth)));
            return Ok(true);
        }
        let Some((input, at)) = self.widest(&part).filter(|_| depth < DEPTH) else {
            return Ok(false);
        };
        let [below, above] = self.split(&part, input, at);
        open.extend([Open::Unrecorded(above, depth + 1), Open::Unrecorded(below, depth + 1)]);
        Ok(true)
    }

    /// Splits a part at a value of an input.
    fn split(&mut self, part: &InputPart, input: usize, at: f64) -> [InputPart; 2] {
        self.steps.push(RefutationStep::Input { input, at });
        let (mut below, mut above) = (part.clone(), part.clone());
        below.hi[input] = below.hi[input].min(at);
        above.lo[input] = above.lo[input].max(at);
        [below, above]
    }

    /// Splits a part at a value of an element; the upper part first.
    fn split_at(
        &mut self,
        part: InputPart,
        node: usize,
        element: usize,
        Jump { at, is_below }: Jump,
    ) -> [InputPart; 2] {
        self.steps.push(RefutationStep::Element { node, element, at, is_below });
        let (mut below, mut above) = (part.clone(), part);
        let side = |above| ElementSide { node, element, at, above, strict: above == is_below };
        below.sides.push(side(false));
        above.sides.push(side(true));
        [above, below]
    }

    /// Cuts off what lies beside a box along the next input that it is narrower in.
    fn cut(&mut self, part: InputPart, left: InputPart, input: usize, open: &mut Vec<Open>) {
        let narrower = (input..part.lo.len())
            .find(|&input| left.hi[input] < part.hi[input] || left.lo[input] > part.lo[input]);
        match narrower {
            None => open.push(Open::Recorded(part)),
            Some(input) if left.hi[input] < part.hi[input] => {
                let [rest, beyond] = self.split(&part, input, left.hi[input]);
                open.extend([Open::Unrecorded(beyond, 0), Open::Cut(rest, left, input)]);
            }
            Some(input) => {
                let [beyond, rest] = self.split(&part, input, left.lo[input]);
                open.extend([Open::Cut(rest, left, input + 1), Open::Unrecorded(beyond, 0)]);
            }
        }
    }

    /// A sum that refutes the part that was entered last.
    fn refuting(
        &self,
        part: &InputPart,
        known: Option<RecordedMultipliers>,
        budget: &mut Budget,
    ) -> Result<Option<MultiplierSum>, StopReason> {
        let known = known.map(|known| {
            let exactly = |list: Vec<(usize, f64)>| {
                list.into_iter()
                    .filter_map(|(at, by)| Some((at, Rational::from_f64(by)?)))
                    .collect()
            };
            MultiplierSum {
                inequalities: exactly(known.inequalities),
                splits: exactly(known.splits),
                slopes: known.slopes,
                exact: false,
            }
        });
        let alone = (0..self.inequalities.len()).map(MultiplierSum::alone);
        for sum in alone.chain(known) {
            if self.relaxation.refutes(part, &sum, budget)? {
                return Ok(Some(sum));
            }
        }
        if let Some(sum) = self.joint(part, budget)?
            && self.relaxation.refutes(part, &sum, budget)?
        {
            return Ok(Some(sum));
        }
        if self.relaxation.is_affine()
            && let Some(sum) = self.joint_exactly(part, budget)?
            && self.relaxation.refutes(part, &sum, budget)?
        {
            return Ok(Some(sum));
        }
        Ok(None)
    }

    /// The sums of which one is made: each inequality, then each split.
    fn parts_of_sums<'p>(
        &'p self,
        part: &'p InputPart,
        exact: bool,
    ) -> impl Iterator<Item = MultiplierSum> + 'p {
        let inequalities = (0..self.inequalities.len()).map(MultiplierSum::alone);
        let splits = (0..part.sides.len()).map(|at| MultiplierSum {
            splits: vec![(at, Rational::ONE)],
            ..MultiplierSum::default()
        });
        inequalities.chain(splits).map(move |sum| MultiplierSum { exact, ..sum })
    }

    /// The sum with multipliers by position.
    fn sum(&self, multipliers: Vec<Rational>, exact: bool) -> MultiplierSum {
        let count = self.inequalities.len();
        let used = multipliers.into_iter().enumerate().filter(|(_, by)| by.signum() > 0);
        let (inequalities, splits): (Vec<_>, Vec<_>) = used.partition(|(at, _)| *at < count);
        let splits = splits.into_iter().map(|(at, by)| (at - count, by)).collect();
        MultiplierSum { inequalities, splits, exact, ..MultiplierSum::default() }
    }

    /// The sum whose multipliers a linear program in doubles suggests.
    fn joint(
        &self,
        part: &InputPart,
        budget: &mut Budget,
    ) -> Result<Option<MultiplierSum>, StopReason> {
        let widths: Vec<f64> = part.lo.iter().zip(&part.hi).map(|(lo, hi)| hi - lo).collect();
        if !widths.iter().all(|width| width.is_finite()) {
            return Ok(None);
        }
        let (mut rows, mut factors) = (Vec::new(), Vec::new());
        for sum in self.parts_of_sums(part, false) {
            let row = self.relaxation.rounded_plane(part, &sum).and_then(|plane| {
                // Inputs between 0 and 1, the greatest coefficient 1.
                let coefficients = plane.slopes.iter().zip(&widths).map(|(slope, w)| slope * w);
                let coefficients: Vec<f64> = coefficients.collect();
                let at_lo: f64 = plane.slopes.iter().zip(&part.lo).map(|(s, lo)| s * lo).sum();
                let largest = coefficients.iter().fold(0.0f64, |size, c| size.max(c.abs()));
                let upper = -(plane.constant + at_lo);
                let factor = 1.0 / if largest > 0.0 { largest } else { upper.abs() };
                let coefficients = coefficients.iter().map(|c| c * factor).collect();
                let row = SimplexRow { coefficients, upper: upper * factor, strict: false };
                (factor.is_normal() && upper.is_finite()).then_some((row, factor))
            });
            factors.push(row.as_ref().map(|(_, factor)| *factor));
            rows.extend(row.map(|(row, _)| row));
        }
        let (zeros, ones) = (vec![0.0; widths.len()], vec![1.0; widths.len()]);
        let mut stopped = Ok(());
        let found = feasible_point(&zeros, &ones, &rows, || {
            stopped = budget.poll();
            stopped.is_ok()
        });
        stopped?;
        let Feasibility::Infeasible(multiples) = found else { return Ok(None) };
        let mut multiples = multiples.into_iter();
        let multipliers = factors.into_iter().map(|factor| {
            let multiple = factor.map_or(0.0, |f| multiples.next().unwrap_or(0.0) * f);
            Rational::from_f64(multiple).unwrap_or(Rational::ZERO)
        });
        Ok(Some(self.sum(multipliers.collect(), false)))
    }

    /// The sum of a part in which every function is a line, with exact multipliers.
    fn joint_exactly(
        &self,
        part: &InputPart,
        budget: &mut Budget,
    ) -> Result<Option<MultiplierSum>, StopReason> {
        let (lo, hi) = self.relaxation.exact_sides(part);
        let (Some(lo), Some(hi)): (Option<Vec<Rational>>, Option<Vec<Rational>>) =
            (lo.into_iter().collect(), hi.into_iter().collect())
        else {
            return Ok(None);
        };
        let mut rows = Vec::new();
        let count = self.inequalities.len();
        for (at, sum) in self.parts_of_sums(part, true).enumerate() {
            budget.poll()?;
            let plane = self.relaxation.exact_plane(part, &sum);
            let Some(Plane { slopes, constant }) = plane else { return Ok(None) };
            let strict = match at.checked_sub(count) {
                None => self.inequalities[at].strict,
                Some(split) => part.sides[split].strict,
            };
            rows.push(SimplexRow { coefficients: slopes, upper: -constant, strict });
        }
        let mut stopped = Ok(());
        let found = feasible_point(&lo, &hi, &rows, || {
            stopped = budget.poll();
            stopped.is_ok()
        });
        stopped?;
        let Feasibility::Infeasible(multiples) = found else { return Ok(None) };
        Ok(Some(self.sum(multiples, true)))
    }

    /// The input on which planes of inequalities depend most in the part that was entered last, and its
    /// middle there.
    fn widest(&self, part: &InputPart) -> Option<(usize, f64)> {
        let mut influence = vec![0.0; part.lo.len()];
        for sum in (0..self.inequalities.len()).map(MultiplierSum::alone) {
            let Some(plane) = self.relaxation.rounded_plane(part, &sum) else { continue };
            let size: f64 = plane
                .slopes
                .iter()
                .zip(&part.lo)
                .zip(&part.hi)
                .fold(f64::MIN_POSITIVE, |size, ((slope, lo), hi)| size + slope.abs() * (hi - lo));
            for (sum, (slope, (lo, hi))) in
                influence.iter_mut().zip(plane.slopes.iter().zip(part.lo.iter().zip(&part.hi)))
            {
                *sum += slope.abs() * (hi - lo) / size;
            }
        }
        let middle = |input: usize| part.lo[input] / 2.0 + part.hi[input] / 2.0;
        let is_wide =
            |&input: &usize| part.lo[input] < middle(input) && middle(input) < part.hi[input];
        let share = |input: &usize| influence[*input];
        let widest =
            (0..part.lo.len()).filter(is_wide).max_by(|a, b| share(a).total_cmp(&share(b)));
        widest.map(|input| (input, middle(input)))
    }
}
