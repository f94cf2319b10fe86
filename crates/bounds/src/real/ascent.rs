//! The best bound of all inequalities of a part together, by ascent (α,β-CROWN, Wang et al. 2021).
//!
//! In a part every answer satisfies `inequality − upper ≤ 0`, and `at − argument ≤ 0` or
//! `argument − at ≤ 0` at each bend. A sum of these with multipliers of at least 0 that is above 0
//! everywhere refutes the part. It is carried back to the inputs as one form, with any slope that is
//! below for each convex function. Multipliers and slopes are improved by gradients: a suggestion in
//! double precision, which [`RealSearch::mixed_row`](super::search::RealSearch::mixed_row) turns into
//! a plane with proved rounding. Where the ascent ends without a refutation, it tells how much each
//! function was relaxed at the point that is left.

use std::iter::zip;

use policert_engine_api::{Budget, StopReason};

use super::RealOracle;
use super::queue::RealPart;
use super::search::RealSearch;
use crate::bound::Convex;
use crate::linearised::{FunctionElement, Line};

/// The multipliers of a part, and the slopes of the lines below convex functions.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Multipliers {
    /// Of the inequalities, divided by their scales.
    pub constraints: Vec<f64>,
    /// Of the bends, in their order; those of bends that came later are 0.
    pub bends: Vec<f64>,
    /// By slot; NaN where the line was not chosen.
    pub slopes: Vec<f32>,
}

/// The end of an ascent.
#[derive(Debug)]
pub(super) struct Ascended {
    /// The bound that was reached, not proved.
    pub bound: f64,
    pub multipliers: Multipliers,
    /// The point of the part that satisfies the relaxed inequalities, or nearly so.
    pub point: Vec<f64>,
    /// For each slot by how much the function's relaxation misses it there, as the bound sees it.
    pub gaps: Vec<f64>,
}

/// Steps of an ascent from nothing, and from the multipliers of the part before.
const STEPS: usize = 40;
const LATER_STEPS: usize = 12;
/// The length of the first step of a slope, and what is left of a length after each step.
const LENGTH: f64 = 0.25;
const SHORTER: f64 = 0.93;
/// The shares of the last gradients that count on.
const OF_GRADIENT: f64 = 0.8;
const OF_SQUARE: f64 = 0.95;
/// The share of the last points in the mean of all.
const OF_MEAN: f64 = 0.8;

/// A number that is improved, between bounds, by the mean of its last gradients over their mean
/// size (Adam, Kingma and Ba 2015).
#[derive(Clone, Copy, Debug)]
struct Parameter {
    value: f64,
    gradient: f64,
    square: f64,
    /// Of the steps.
    scale: f64,
}

impl Parameter {
    fn new(value: f64, scale: f64) -> Self {
        Self { value, gradient: 0.0, square: 0.0, scale }
    }

    fn ascend(&mut self, gradient: f64, length: f64, lo: f64, hi: f64) {
        self.gradient = OF_GRADIENT * self.gradient + (1.0 - OF_GRADIENT) * gradient;
        self.square = OF_SQUARE * self.square + (1.0 - OF_SQUARE) * gradient * gradient;
        if self.square > 0.0 {
            let step = self.gradient / self.square.sqrt();
            self.value = (self.value + length * self.scale * step).clamp(lo, hi);
        }
    }
}

impl RealSearch {
    /// Improves the multipliers of the part that was entered last.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn ascend(
        &self,
        oracle: &RealOracle,
        part: &RealPart,
        budget: &mut Budget,
    ) -> Result<Ascended, StopReason> {
        let start = part.multipliers.as_deref();
        let steps = if start.is_some() { LATER_STEPS } else { STEPS };
        let mut ascent = Ascent::new(self, oracle, part);
        let mut length = LENGTH;
        for step in 0..steps {
            oracle.bounder.poll(budget)?;
            ascent.evaluate(step);
            if ascent.best > 0.0 || step + 1 == steps || ascent.is_fixed() {
                break;
            }
            ascent.improve(length);
            length *= SHORTER;
        }
        Ok(ascent.finish())
    }
}

struct Ascent<'a> {
    search: &'a RealSearch,
    oracle: &'a RealOracle,
    part: &'a RealPart,
    convex: Vec<Convex>,
    constraints: Vec<Parameter>,
    bends: Vec<Parameter>,
    slopes: Vec<Parameter>,
    /// By slot the slope below, NaN where the line is the bounder's.
    chosen: Vec<f64>,
    /// By slot: the coefficients of the form, and the values of the relaxed network where it is
    /// least.
    coefficients: Vec<f64>,
    values: Vec<f64>,
    point: Vec<f64>,
    bound: f64,
    best: f64,
    found: Multipliers,
    /// Means over the last points, and of the sizes of the coefficients.
    mean_values: Vec<f64>,
    mean_point: Vec<f64>,
    mean_sizes: Vec<f64>,
}

impl<'a> Ascent<'a> {
    fn new(search: &'a RealSearch, oracle: &'a RealOracle, part: &'a RealPart) -> Self {
        let convex = oracle.bounder.convex();
        let start = part.multipliers.as_deref();
        let count = search.constraints.len();
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let even = 1.0 / count.max(1) as f64;
        let constraint = |at: usize| {
            let value = start.and_then(|start| start.constraints.get(at));
            Parameter::new(value.copied().unwrap_or(even), 1.0)
        };
        let bend = |at: usize| {
            let value = start.and_then(|start| start.bends.get(at));
            Parameter::new(value.copied().unwrap_or(0.0), 0.0)
        };
        let slope = |function: &Convex| {
            let value = start.and_then(|start| start.slopes.get(function.slot));
            let value = value.map_or(f64::NAN, |&value| f64::from(value));
            let own = oracle.bounder.line(function.slot, 0.0).slope;
            let value = if value.is_nan() { own } else { value };
            Parameter::new(value.clamp(function.alpha, 1.0), 1.0 - function.alpha)
        };
        let slots = oracle.bounder.program().slots;
        Self {
            search,
            oracle,
            part,
            constraints: (0..count).map(constraint).collect(),
            bends: (0..part.bends.len()).map(bend).collect(),
            slopes: convex.iter().map(slope).collect(),
            convex,
            chosen: vec![f64::NAN; slots],
            coefficients: vec![0.0; slots],
            values: Vec::with_capacity(slots),
            point: Vec::new(),
            bound: f64::NEG_INFINITY,
            best: f64::NEG_INFINITY,
            found: Multipliers::default(),
            mean_values: vec![0.0; slots],
            mean_point: vec![0.0; part.lo.len()],
            mean_sizes: vec![0.0; slots],
        }
    }

    /// Returns whether there is nothing to improve.
    fn is_fixed(&self) -> bool {
        self.constraints.len() <= 1 && self.bends.is_empty() && self.slopes.is_empty()
    }

    /// The line of a function for a coefficient.
    fn line(&self, slot: usize, coefficient: f64) -> Line {
        let slope = self.chosen[slot];
        if slope.is_nan() || coefficient < 0.0 {
            self.oracle.bounder.line(slot, coefficient)
        } else {
            Line { slope, offset: 0.0 }
        }
    }

    /// The bound with the parameters as they are, and where it is attained.
    fn evaluate(&mut self, step: usize) {
        let program = self.oracle.bounder.program();
        let output = program.nodes[program.output].at;
        for (function, slope) in zip(&self.convex, &self.slopes) {
            self.chosen[function.slot] = slope.value;
        }
        let mut coefficients = std::mem::take(&mut self.coefficients);
        coefficients.fill(0.0);
        let mut slopes = vec![0.0; self.part.lo.len()];
        let mut bound = 0.0;
        let constraints = zip(&self.search.constraints, &self.search.scales);
        for ((constraint, scale), multiplier) in zip(constraints, &self.constraints) {
            let by = multiplier.value / scale;
            bound -= by * constraint.upper;
            for term in &constraint.scores {
                coefficients[output + term.element] += by * term.factor;
            }
            zip(&mut slopes, &constraint.slopes).for_each(|(sum, slope)| *sum += by * slope);
        }
        for (bend, multiplier) in zip(&self.part.bends, &self.bends) {
            let by = if bend.above { -multiplier.value } else { multiplier.value };
            coefficients[bend.slot] += by;
            bound -= by * bend.at;
        }
        bound += program.carry_back(&mut coefficients, |element, a| self.line(element.slot, a));
        zip(&self.oracle.reads, &coefficients).for_each(|(&variable, a)| slopes[variable] += a);
        self.point.clear();
        for (slope, (&lo, &hi)) in zip(slopes, zip(&self.part.lo, &self.part.hi)) {
            let end = if slope < 0.0 { hi } else { lo };
            bound += slope * end;
            self.point.push(end);
        }
        let inputs: Vec<f64> = self.oracle.reads.iter().map(|&v| self.point[v]).collect();
        let mut values = std::mem::take(&mut self.values);
        let apply = |element: FunctionElement, x: f64| {
            self.line(element.slot, coefficients[element.slot]).at(x)
        };
        program.values_by(&inputs, apply, &mut values);
        (self.coefficients, self.values, self.bound) = (coefficients, values, bound);
        if bound > self.best {
            self.best = bound;
            self.found = self.multipliers();
        }
        if step == 0 {
            self.scale_bends();
        }
        let kept = if step == 0 { 0.0 } else { OF_MEAN };
        let mix = |mean: &mut f64, new: f64| *mean = kept * *mean + (1.0 - kept) * new;
        zip(&mut self.mean_values, &self.values).for_each(|(mean, &x)| mix(mean, x));
        zip(&mut self.mean_point, &self.point).for_each(|(mean, &x)| mix(mean, x));
        zip(&mut self.mean_sizes, &self.coefficients).for_each(|(mean, a)| mix(mean, a.abs()));
    }

    /// The multiplier of a bend moves as far as coefficients beside it are great.
    fn scale_bends(&mut self) {
        let program = self.oracle.bounder.program();
        for (bend, parameter) in zip(&self.part.bends, &mut self.bends) {
            let beside = &self.coefficients[program.range(program.node_of(bend.slot))];
            let sum: f64 = beside.iter().map(|a| a.abs()).sum();
            #[expect(clippy::cast_precision_loss, reason = "a mean")]
            let mean = sum / beside.len().max(1) as f64;
            parameter.scale = if bend.implied { 0.0 } else { mean };
        }
    }

    /// One step along the gradients.
    fn improve(&mut self, length: f64) {
        let program = self.oracle.bounder.program();
        if let [_, _, ..] = self.constraints.as_slice() {
            let scores = &self.values[program.range(program.output)];
            let excesses = zip(&self.search.constraints, &self.search.scales)
                .map(|(constraint, scale)| constraint.excess(&self.point, scores) / scale);
            let excesses: Vec<f64> = excesses.collect();
            // Only differences matter: the multipliers sum to 1.
            let mean: f64 = zip(&excesses, &self.constraints).map(|(e, by)| e * by.value).sum();
            for (parameter, excess) in zip(&mut self.constraints, &excesses) {
                parameter.ascend(excess - mean, length, 0.0, f64::MAX);
            }
            let sum: f64 = self.constraints.iter().map(|parameter| parameter.value).sum();
            if sum > 0.0 {
                self.constraints.iter_mut().for_each(|parameter| parameter.value /= sum);
            }
        }
        for (bend, parameter) in zip(&self.part.bends, &mut self.bends) {
            let over = self.values[bend.slot] - bend.at;
            parameter.ascend(if bend.above { -over } else { over }, length, 0.0, f64::MAX);
        }
        for (function, parameter) in zip(&self.convex, &mut self.slopes) {
            let a = self.coefficients[function.slot];
            if a > 0.0 {
                let gradient = a * self.values[function.source];
                parameter.ascend(gradient, length, function.alpha, 1.0);
            }
        }
    }

    fn multipliers(&self) -> Multipliers {
        let values = |parameters: &[Parameter]| parameters.iter().map(|one| one.value).collect();
        #[expect(clippy::cast_possible_truncation, reason = "any slope will do")]
        let slopes = self.chosen.iter().map(|&slope| slope as f32).collect();
        let (constraints, bends) = (values(&self.constraints), values(&self.bends));
        Multipliers { constraints, bends, slopes }
    }

    fn finish(self) -> Ascended {
        let program = self.oracle.bounder.program();
        let mut gaps = vec![0.0; program.slots];
        for (.., slot) in self.oracle.bounder.relaxed() {
            let node = program.node_of(slot);
            let policert_policy::Op::Pointwise { input, activation } = *program.op(node) else {
                continue;
            };
            let argument =
                self.mean_values[program.nodes[input.index()].at + slot - program.nodes[node].at];
            let (below, above) = activation.image(argument, argument);
            let missed = (self.mean_values[slot] - below / 2.0 - above / 2.0).abs();
            gaps[slot] = self.mean_sizes[slot] * missed;
        }
        let inside = zip(self.mean_point, zip(&self.part.lo, &self.part.hi));
        Ascended {
            bound: self.best,
            multipliers: self.found,
            point: inside.map(|(x, (&lo, &hi))| x.max(lo).min(hi)).collect(),
            gaps,
        }
    }
}
