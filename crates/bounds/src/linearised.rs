//! A network with a line in place of each function: its values, and forms carried back to the
//! inputs. One form at a time in plain double precision: for suggestions, not for proofs.

use std::iter::zip;

use policert_policy::{Activation, NodeId, Op};

use crate::program::{Program, factor};

/// `slope · x + offset`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Line {
    pub slope: f64,
    pub offset: f64,
}

impl Line {
    pub fn at(self, x: f64) -> f64 {
        self.slope * x + self.offset
    }
}

/// An element of a function's node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionElement {
    pub slot: usize,
    /// The slot of its argument.
    pub source: usize,
    pub activation: Activation,
}

impl Program {
    /// The values of all slots for some inputs, rounded.
    pub fn values(&self, inputs: &[f64]) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.slots);
        self.values_by(inputs, |element, x| element.activation.image(x, x).0, &mut values);
        values
    }

    /// The values of all slots for some inputs, where functions are what `apply` says.
    pub fn values_by(
        &self,
        inputs: &[f64],
        apply: impl Fn(FunctionElement, f64) -> f64,
        values: &mut Vec<f64>,
    ) {
        values.clear();
        values.extend_from_slice(inputs);
        for node in 1..self.nodes.len() {
            let width = self.nodes[node].width;
            let at = values.len();
            let of = |source: &NodeId| self.nodes[source.index()].at;
            match self.op(node) {
                Op::Input => {}
                Op::Affine { input, weights, bias } => {
                    for (row, bias) in zip(weights.row_iter(), bias) {
                        let sum = dot(row, &values[self.range(input.index())]);
                        values.push(sum + bias);
                    }
                }
                Op::Scale { input, mul, div, add } => {
                    for i in 0..width {
                        values.push(values[of(input) + i] * factor(mul[i], div[i]) + add[i]);
                    }
                }
                Op::Pointwise { input, activation } => {
                    let (activation, of) = (*activation, of(input));
                    for i in 0..width {
                        let element = FunctionElement { slot: at + i, source: of + i, activation };
                        values.push(apply(element, values[of + i]));
                    }
                }
                Op::Add { inputs } => {
                    for i in 0..width {
                        values.push(inputs.iter().map(|input| values[of(input) + i]).sum());
                    }
                }
                Op::Max { inputs } => {
                    for i in 0..width {
                        let of = inputs.iter().map(|input| values[of(input) + i]);
                        values.push(of.fold(f64::NEG_INFINITY, f64::max));
                    }
                }
                Op::Concat { inputs } => {
                    for input in inputs {
                        values.extend_from_within(self.range(input.index()));
                    }
                }
            }
        }
    }

    /// Carries the form Σ coefficient · element back to the inputs. Afterwards each slot has the
    /// coefficient with which the form passed it; the constant is returned. `line` is asked for
    /// each element of a function's node, with its coefficient.
    pub fn carry_back(
        &self,
        coefficients: &mut [f64],
        mut line: impl FnMut(FunctionElement, f64) -> Line,
    ) -> f64 {
        let mut constant = 0.0;
        for node in (1..self.nodes.len()).rev() {
            let at = self.nodes[node].at;
            let (before, own) = coefficients.split_at_mut(at);
            let own = &own[..self.nodes[node].width];
            match self.op(node) {
                Op::Input => {}
                Op::Affine { input, weights, bias } => {
                    let source = &mut before[self.range(input.index())];
                    for ((row, bias), &a) in zip(zip(weights.row_iter(), bias), own) {
                        if a != 0.0 {
                            constant += a * bias;
                            zip(&mut *source, row).for_each(|(out, weight)| *out += a * weight);
                        }
                    }
                }
                Op::Scale { input, mul, div, add } => {
                    let source = &mut before[self.range(input.index())];
                    for (i, &a) in own.iter().enumerate() {
                        source[i] += a * factor(mul[i], div[i]);
                        constant += a * add[i];
                    }
                }
                Op::Pointwise { input, activation } => {
                    let (activation, of) = (*activation, self.nodes[input.index()].at);
                    for (i, &a) in own.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                        let element = FunctionElement { slot: at + i, source: of + i, activation };
                        let Line { slope, offset } = line(element, a);
                        before[of + i] += a * slope;
                        constant += a * offset;
                    }
                }
                Op::Add { inputs } => {
                    for input in inputs {
                        let source = &mut before[self.range(input.index())];
                        zip(source, own).for_each(|(out, a)| *out += a);
                    }
                }
                // Any of the sources is below it.
                Op::Max { inputs } => {
                    for input in inputs.iter().take(1) {
                        let source = &mut before[self.range(input.index())];
                        zip(source, own).for_each(|(out, a)| *out += a);
                    }
                }
                Op::Concat { inputs } => {
                    let mut rest = own;
                    for input in inputs {
                        let (part, others) = rest.split_at(self.nodes[input.index()].width);
                        let source = &mut before[self.range(input.index())];
                        zip(source, part).for_each(|(out, a)| *out += a);
                        rest = others;
                    }
                }
            }
        }
        constant
    }

    /// The gradient of the form Σ coefficient · element at the inputs with which all slots have
    /// `values`. Where a function is flat, its slope is `flat` instead, which shows a way out.
    pub fn gradient(&self, values: &[f64], flat: f64, coefficients: &mut [f64]) {
        self.carry_back(coefficients, |element, _| {
            let slope = slope_at(element.activation, values[element.source]);
            Line { slope: if slope == 0.0 { flat } else { slope }, offset: 0.0 }
        });
    }
}

/// A slope of a function at a point, of one side where there are two.
fn slope_at(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Leaky { alpha } => {
            if x > 0.0 {
                1.0
            } else {
                alpha
            }
        }
        Activation::Clip { lo, hi } => f64::from(u8::from(lo <= x && x <= hi)),
        Activation::Staircase(_) => 0.0,
        Activation::Smooth(function) if x.is_finite() => {
            let slope = function.curve().slope(x);
            slope.lo() / 2.0 + slope.hi() / 2.0
        }
        Activation::Smooth(_) => 0.0,
    }
}

/// Σ weight · x, as several sums side by side.
fn dot(weights: &[f64], x: &[f64]) -> f64 {
    const SIDE_BY_SIDE: usize = 8;
    let (weights, last_weights) = weights.as_chunks::<SIDE_BY_SIDE>();
    let (x, last) = x.as_chunks::<SIDE_BY_SIDE>();
    let mut sums = [0.0; SIDE_BY_SIDE];
    for (weights, x) in zip(weights, x) {
        zip(&mut sums, zip(weights, x)).for_each(|(sum, (weight, x))| *sum += weight * x);
    }
    let rest: f64 = zip(last_weights, last).map(|(weight, x)| weight * x).sum();
    sums.iter().sum::<f64>() + rest
}
