//! Networks that read the state itself: actions over a box as affine forms of the state.
//!
//! A form encloses a value v by v ∈ Σⱼ sⱼ·(xⱼ − mⱼ) + c ± r for all x in the box, where m is its
//! middle. Affine layers act on forms directly; ReLU, tanh and the sigmoid are replaced by a line
//! and its greatest distance (as zonotopes do), other operations by the range of their result.
//! Every rounding error goes to r, so the form encloses the real-valued function that the stored
//! weights define.
//!
//! Reachable sets keep the dependency (`linearised.rs`).

use policert_numeric::round::{add_up, dot_error, mul_up};
use policert_numeric::{Interval, Rational};
use policert_policy::{Evaluator, Network, Op};

use crate::range::Range;
use crate::task::ActionMap;

/// A value as an affine form of the state.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    slopes: Vec<f64>,
    centre: f64,
    radius: f64,
}

/// The action of a network that reads the state.
#[derive(Clone, Debug)]
pub(crate) struct StateController {
    network: Network,
    double: Evaluator,
    action: ActionMap,
}

/// A relative amount that covers the rounding of sums of magnitudes.
const SLACK: f64 = 1.0 + 1e-9;

impl StateController {
    pub(crate) fn new(network: Network, action: ActionMap) -> Self {
        Self { double: Evaluator::new(&network), network, action }
    }

    /// Appends the range of each action over a box.
    pub(crate) fn append_ranges(&self, state: &[Interval], ranges: &mut Vec<Interval>) {
        let (middle, offsets) = centred(state);
        let forms = self.actions(state, &middle, &offsets);
        ranges.extend(forms.iter().map(|form| form.range(&offsets)));
    }

    /// Appends the actions in a state as the network computes them in double precision, with all
    /// rounding errors left out.
    pub(crate) fn append_rough(&mut self, state: &[f64], actions: &mut Vec<f64>) {
        let map = &self.action;
        self.double.evaluate(state, actions);
        for action in actions.iter_mut() {
            *action = (*action - map.offset.to_f64()) * map.scale.to_f64();
            if let Some((lower, upper)) = &map.clamp {
                *action = action.max(lower.floor()).min(upper.ceil());
            }
        }
    }

    /// Forms of the actions over a box, around `middle`, from which its points are at `offsets`.
    pub(crate) fn actions(
        &self,
        state: &[Interval],
        middle: &[f64],
        offsets: &[Interval],
    ) -> Vec<Form> {
        let outputs = self.outputs(state, middle, offsets).into_iter();
        outputs.map(|form| self.mapped(form, offsets)).collect()
    }

    /// Forms of the network's outputs.
    fn outputs(&self, outer: &[Interval], middle: &[f64], offsets: &[Interval]) -> Vec<Form> {
        let n = outer.len();
        let reach: Vec<f64> = offsets.iter().map(|offset| offset.magnitude()).collect();
        let mut values: Vec<Vec<Form>> = Vec::with_capacity(self.network.nodes().len());
        for node in self.network.nodes() {
            let sources = node.op.inputs();
            let x = sources.first().map_or(&[][..], |input| values[input.index()].as_slice());
            let ranges = |i: usize| -> Vec<Interval> {
                sources.iter().map(|s| values[s.index()][i].range(offsets)).collect()
            };
            let result: Vec<Form> = match &node.op {
                Op::Input => (0..n)
                    .map(|i| {
                        let mut slopes = vec![0.0; n];
                        slopes[i] = 1.0;
                        Form { slopes, centre: middle[i], radius: 0.0 }
                    })
                    .collect(),
                Op::Affine { weights, bias, .. } => weights
                    .row_iter()
                    .zip(bias)
                    .map(|(row, &bias)| Form::combination(row, bias, x, &reach))
                    .collect(),
                Op::Scale { mul, div, add, .. } => x
                    .iter()
                    .zip(mul.iter().zip(div).zip(add))
                    .map(|(form, ((&mul, &div), &add))| {
                        let factor = Interval::point(mul).checked_div(Interval::point(div));
                        match factor {
                            Some(factor) => form.scaled(factor, Interval::point(add), &reach),
                            None => Form::unknown(n),
                        }
                    })
                    .collect(),
                Op::Relu { .. } => x.iter().map(|form| form.relu(offsets, &reach)).collect(),
                Op::Tanh { .. } => x
                    .iter()
                    .map(|form| {
                        let slope = |t: Interval| Interval::point(1.0) - t.square();
                        form.increasing(offsets, &reach, Interval::tanh, slope)
                    })
                    .collect(),
                Op::Sigmoid { .. } => x
                    .iter()
                    .map(|form| {
                        let slope = |s: Interval| s * (Interval::point(1.0) - s);
                        form.increasing(offsets, &reach, Interval::sigmoid, slope)
                    })
                    .collect(),
                Op::LeakyRelu { alpha, .. } => x
                    .iter()
                    .map(|form| {
                        let range = form.range(offsets);
                        let below = range.min(Interval::ZERO) * Interval::point(*alpha);
                        if range.lo() >= 0.0 {
                            form.clone()
                        } else if range.hi() < 0.0 {
                            form.scaled(Interval::point(*alpha), Interval::ZERO, &reach)
                        } else {
                            Form::constant(below.hull(range.relu()), n)
                        }
                    })
                    .collect(),
                Op::Clip { lo, hi, .. } => x
                    .iter()
                    .map(|form| {
                        let range = form.range(offsets);
                        let lower = lo.map_or(range, |lo| range.max(Interval::point(lo)));
                        let clipped = hi.map_or(lower, |hi| lower.min(Interval::point(hi)));
                        if clipped == range { form.clone() } else { Form::constant(clipped, n) }
                    })
                    .collect(),
                Op::Add { .. } => (0..node.width)
                    .map(|i| {
                        let terms: Vec<Form> =
                            sources.iter().map(|s| values[s.index()][i].clone()).collect();
                        Form::combination(&vec![1.0; terms.len()], 0.0, &terms, &reach)
                    })
                    .collect(),
                Op::Max { .. } => (0..node.width)
                    .map(|i| {
                        let greatest = ranges(i).into_iter().reduce(Interval::max);
                        Form::constant(greatest.unwrap_or(Interval::EVERYTHING), n)
                    })
                    .collect(),
                Op::Concat { .. } => {
                    sources.iter().flat_map(|s| values[s.index()].clone()).collect()
                }
            };
            values.push(result);
        }
        values.swap_remove(self.network.output().index())
    }

    /// From an output to an action.
    fn mapped(&self, form: Form, offsets: &[Interval]) -> Form {
        let reach: Vec<f64> = offsets.iter().map(|offset| offset.magnitude()).collect();
        let map = &self.action;
        let scale = Interval::enclosing(&map.scale);
        let shift = -Interval::enclosing(&map.offset) * scale;
        let unit = map.scale == Rational::ONE && map.offset.is_zero();
        let form = if unit { form } else { form.scaled(scale, shift, &reach) };
        let Some((lower, upper)) = &map.clamp else { return form };
        let range = form.range(offsets);
        let clamped = range.clamped(lower, upper);
        if clamped == range { form } else { Form::constant(clamped, offsets.len()) }
    }
}

/// The middle of a box, and the ranges of the state around it.
fn centred(state: &[Interval]) -> (Vec<f64>, Vec<Interval>) {
    let middle: Vec<f64> = state.iter().map(|range| range.midpoint()).collect();
    let offset = |(&range, &middle): (&Interval, &f64)| range - Interval::point(middle);
    let offsets = state.iter().zip(&middle).map(offset).collect();
    (middle, offsets)
}

impl Form {
    fn unknown(n: usize) -> Self {
        Form { slopes: vec![0.0; n], centre: 0.0, radius: f64::INFINITY }
    }

    /// A form without slopes.
    fn constant(range: Interval, n: usize) -> Self {
        let centre = range.midpoint();
        let radius = (range - Interval::point(centre)).magnitude();
        Form { slopes: vec![0.0; n], centre, radius }
    }

    /// sⱼ: one for each variable.
    pub(crate) fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// c ± r.
    pub(crate) fn rest(&self) -> Interval {
        Interval::ball(self.centre, self.radius)
    }

    /// All values over the box.
    pub(crate) fn range(&self, offsets: &[Interval]) -> Interval {
        let rest = self.rest();
        let terms = self.slopes.iter().zip(offsets);
        terms.fold(rest, |sum, (&slope, &offset)| sum + Interval::point(slope) * offset)
    }

    /// Σ wₖ·xₖ + b.
    fn combination(weights: &[f64], bias: f64, x: &[Form], reach: &[f64]) -> Self {
        let n = reach.len();
        let count = weights.len() + 1;
        let (mut slopes, mut sizes) = (vec![0.0; n], vec![0.0; n]);
        let (mut centre, mut size, mut radius) = (bias, bias.abs(), 0.0);
        for (&weight, form) in weights.iter().zip(x) {
            for j in 0..n {
                let product = weight * form.slopes[j];
                slopes[j] += product;
                sizes[j] += product.abs();
            }
            let product = weight * form.centre;
            centre += product;
            size += product.abs();
            radius = add_up(radius, mul_up(weight.abs(), form.radius));
        }
        // Sums of magnitudes, as computed, are right up to the slack and underflow; the latter is
        // part of the error of a dot product once more.
        let error =
            |size: f64| dot_error(count + 1, add_up(mul_up(size, SLACK), f64::MIN_POSITIVE));
        radius = add_up(radius, error(size));
        for j in 0..n {
            radius = add_up(radius, mul_up(error(sizes[j]), reach[j]));
        }
        Form { slopes, centre, radius }.checked()
    }

    /// The form times a factor plus a summand, both of which are ranges.
    fn scaled(&self, factor: Interval, summand: Interval, reach: &[f64]) -> Self {
        let mut rest = Interval::ball(self.centre, self.radius) * factor + summand;
        let mut slopes = Vec::with_capacity(self.slopes.len());
        for (&slope, &reach) in self.slopes.iter().zip(reach) {
            let product = Interval::point(slope) * factor;
            let middle = product.midpoint();
            let error = (product - Interval::point(middle)).magnitude();
            rest = rest + Interval::ball(0.0, mul_up(error, reach));
            slopes.push(middle);
        }
        let constant = Self::constant(rest, reach.len());
        Form { slopes, ..constant }.checked()
    }

    /// Overflow says nothing.
    fn checked(self) -> Self {
        let finite = self.centre.is_finite() && self.slopes.iter().all(|slope| slope.is_finite());
        if finite && !self.radius.is_nan() { self } else { Self::unknown(self.slopes.len()) }
    }

    fn relu(&self, offsets: &[Interval], reach: &[f64]) -> Self {
        let range = self.range(offsets);
        if range.lo() >= 0.0 {
            return self.clone();
        }
        if range.hi() <= 0.0 {
            return Self::constant(Interval::ZERO, reach.len());
        }
        let width = range.hi() - range.lo();
        let slope = range.hi() / width;
        if !(0.0..=1.0).contains(&slope) || !width.is_finite() {
            return Self::constant(range.relu(), reach.len());
        }
        // max(x, 0) − slope·x is greatest at one of the ends and least at 0.
        let slope = Interval::point(slope);
        let at_low = -(slope * Interval::point(range.lo()));
        let at_high = (Interval::point(1.0) - slope) * Interval::point(range.hi());
        let above = Interval::ZERO.hull(at_low).hull(at_high);
        self.scaled(slope, above, reach)
    }

    /// An increasing function whose slope, given by its value, has no local minimum inside.
    fn increasing(
        &self,
        offsets: &[Interval],
        reach: &[f64],
        function: impl Fn(Interval) -> Interval,
        slope: impl Fn(Interval) -> Interval,
    ) -> Self {
        let range = self.range(offsets);
        let image = function(range);
        if !Range::is_bounded(&range) {
            return Self::constant(image, reach.len());
        }
        let ends = [Interval::point(range.lo()), Interval::point(range.hi())].map(&function);
        let least = slope(ends[0]).lo().min(slope(ends[1]).lo()).max(0.0);
        // f(x) − slope·x does not decrease, so its extremes are at the ends.
        let least = Interval::point(least);
        let first = ends[0] - least * Interval::point(range.lo());
        let last = ends[1] - least * Interval::point(range.hi());
        let Some(rest) = Interval::new(first.lo(), last.hi()) else {
            return Self::constant(image, reach.len());
        };
        self.scaled(least, rest, reach)
    }
}

#[cfg(test)]
mod tests;
