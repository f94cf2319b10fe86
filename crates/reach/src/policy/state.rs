//! Networks that read the state itself: actions over a box as affine forms of the state.
//!
//! A form encloses a value v by v ∈ Σⱼ sⱼ·(xⱼ − mⱼ) + c ± r for all x in the box, where m is its
//! middle. Affine layers act on forms directly; ReLU, tanh and the sigmoid are replaced by a line
//! and its greatest distance (as zonotopes do), other operations by the range of their result.
//! Every rounding error goes to r, so the form encloses the real-valued function that the stored
//! weights define.
//!
//! Reachable sets keep the dependency (`linearised.rs`).

use std::cmp::Ordering;
use std::convert::Infallible;

use policert_control_loop::{ActionMap, ClosedRange, Observation};
use policert_numeric::round::{add_up, dot_error, mul_up};
use policert_numeric::{Interval, Rational};
use policert_policy::activation::Curve;
use policert_policy::{Activation, Elements, Evaluator, Network};

use super::taken::AnyChoice;

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
    /// What the network is shown, if that is not the state itself.
    observation: Option<Observation>,
}

/// A relative amount that covers the rounding of sums of magnitudes.
const SLACK: f64 = 1.0 + 1e-9;

impl StateController {
    pub(crate) fn new(
        network: Network,
        action: ActionMap,
        observation: Option<Observation>,
    ) -> Self {
        Self { double: Evaluator::new(&network), network, action, observation }
    }

    /// What the network is shown, if that is not the state itself.
    pub(crate) fn observation(&self) -> Option<&Observation> {
        self.observation.as_ref()
    }

    /// The network.
    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    /// From the network's outputs to actions.
    pub(crate) fn map(&self) -> &ActionMap {
        &self.action
    }

    /// Appends the range of each action over a box; `None` if what the network is shown has no value
    /// somewhere in it.
    pub(crate) fn append_ranges(
        &self,
        state: &[Interval],
        ranges: &mut Vec<Interval>,
    ) -> Option<()> {
        let seen = match &self.observation {
            Some(observation) => &observation.ranges(state)?,
            None => state,
        };
        let (middle, offsets) = centred(seen);
        if let Some(choices) = &self.action.choices {
            // Where it is not certain which one is taken, none is.
            let [choice] = self.possible_choices(seen, &middle, &offsets)[..] else { return None };
            ranges.extend(choices[choice].iter().map(Interval::enclosing));
            return Some(());
        }
        let forms = self.actions(seen, &middle, &offsets);
        ranges.extend(forms.iter().map(|form| form.range(&offsets)));
        Some(())
    }

    /// The choices of actions that may be taken somewhere in a box of what the network is shown.
    pub(crate) fn possible_choices(
        &self,
        seen: &[Interval],
        middle: &[f64],
        offsets: &[Interval],
    ) -> Vec<usize> {
        let outputs = self.outputs(seen, middle, offsets);
        greatest(outputs.len(), |a, b| difference(&outputs, (a, b), offsets).range(offsets))
    }

    /// One output minus another over a box of what the network is shown.
    pub(crate) fn difference(
        &self,
        pair: (usize, usize),
        seen: &[Interval],
        middle: &[f64],
        offsets: &[Interval],
    ) -> Form {
        difference(&self.outputs(seen, middle, offsets), pair, offsets)
    }

    /// Forms of the actions where any of several choices may be taken.
    pub(crate) fn any_actions(
        &self,
        any: &AnyChoice,
        seen: &[Interval],
        middle: &[f64],
        offsets: &[Interval],
    ) -> Vec<Form> {
        let difference = self.difference(any.outputs, seen, middle, offsets);
        let reach: Vec<f64> = offsets.iter().map(|offset| offset.magnitude()).collect();
        let lines = any.lines.iter();
        lines
            .map(|line| difference.scaled(Interval::point(line.slope), line.rest, &reach))
            .collect()
    }

    /// Appends the actions in a state as the network computes them in double precision, with all
    /// rounding errors left out; `None` if it has no choices.
    pub(crate) fn append_rough(&mut self, state: &[f64], actions: &mut Vec<f64>) -> Option<()> {
        let map = &self.action;
        let seen: Vec<f64> = match &self.observation {
            Some(observation) => {
                let mut seen = Vec::with_capacity(observation.width());
                observation.approximate(state, &mut Vec::new(), &mut seen);
                seen
            }
            None => state.to_vec(),
        };
        self.double.evaluate(&seen, actions);
        if let Some(choices) = &map.choices {
            let first_greatest = (1..actions.len())
                .fold(0, |best, i| if actions[i] > actions[best] { i } else { best });
            *actions = choices.get(first_greatest)?.iter().map(Rational::to_f64).collect();
            return Some(());
        }
        for action in actions.iter_mut() {
            *action = (*action - map.offset.to_f64()) * map.scale.to_f64();
            if let Some((lower, upper)) = &map.clamp {
                *action = action.max(lower.floor()).min(upper.ceil());
            }
        }
        Some(())
    }

    /// Forms of the actions over a box of what the network is shown, around `middle`, from which its points are at `offsets`.
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
        let input = |i: usize| {
            let mut slopes = vec![0.0; n];
            slopes[i] = 1.0;
            Form { slopes, centre: middle[i], radius: 0.0 }
        };
        match self.network.fold(&mut Forms { offsets, reach }, (0..n).map(input).collect()) {
            Ok(mut values) => values.swap_remove(self.network.output().index()),
            Err(never) => match never {},
        }
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

/// One of some forms minus another.
fn difference(outputs: &[Form], (a, b): (usize, usize), offsets: &[Interval]) -> Form {
    let reach: Vec<f64> = offsets.iter().map(|offset| offset.magnitude()).collect();
    let pair = [outputs[a].clone(), outputs[b].clone()];
    Form::combination(&[1.0, -1.0], 0.0, &pair, &reach)
}

/// The outputs that may be the first of the greatest ones, given bounds of one minus another.
pub(crate) fn greatest(count: usize, difference: impl Fn(usize, usize) -> Interval) -> Vec<usize> {
    let may_be = |a: usize, b: usize| {
        match difference(a, b).hi().partial_cmp(&0.0) {
            Some(Ordering::Less) => false,
            // Among equals the first one counts.
            Some(Ordering::Equal) => a < b,
            // Where there is no bound, it may be anything.
            Some(Ordering::Greater) | None => true,
        }
    };
    (0..count).filter(|&a| (0..count).all(|b| a == b || may_be(a, b))).collect()
}

/// Forms over the box around its middle.
struct Forms<'a> {
    offsets: &'a [Interval],
    /// The magnitudes of the offsets.
    reach: Vec<f64>,
}

impl Elements for Forms<'_> {
    type Element = Form;
    type Error = Infallible;

    fn row(&mut self, weights: &[f64], bias: f64, x: &[Form]) -> Result<Form, Infallible> {
        Ok(Form::combination(weights, bias, x, &self.reach))
    }

    fn scale(&mut self, x: &Form, mul: f64, div: f64, add: f64) -> Result<Form, Infallible> {
        Ok(match Interval::point(mul).checked_div(Interval::point(div)) {
            Some(factor) => x.scaled(factor, Interval::point(add), &self.reach),
            None => Form::unknown(self.reach.len()),
        })
    }

    fn apply(&mut self, activation: Activation, x: &Form) -> Result<Form, Infallible> {
        let range = x.range(self.offsets);
        Ok(match activation {
            Activation::Leaky { alpha: 0.0 } => x.relu(self.offsets, &self.reach),
            Activation::Leaky { alpha } if range.hi() < 0.0 => {
                x.scaled(Interval::point(alpha), Interval::ZERO, &self.reach)
            }
            Activation::Leaky { .. } | Activation::Clip { .. } => {
                // Where all values stay, it changes nothing.
                let image = activation.of_interval(range);
                if image == range { x.clone() } else { Form::constant(image, self.reach.len()) }
            }
            Activation::Staircase(_) => {
                Form::constant(activation.of_interval(range), self.reach.len())
            }
            Activation::Smooth(function) => x.smooth(function.curve(), range, &self.reach),
        })
    }

    fn sum(&mut self, terms: &[Form]) -> Result<Form, Infallible> {
        Ok(Form::combination(&vec![1.0; terms.len()], 0.0, terms, &self.reach))
    }

    fn max(&mut self, terms: &[Form]) -> Result<Form, Infallible> {
        let greatest = terms.iter().map(|term| term.range(self.offsets)).reduce(Interval::max);
        Ok(Form::constant(greatest.unwrap_or(Interval::EVERYTHING), self.reach.len()))
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
    pub(crate) fn constant(range: Interval, n: usize) -> Self {
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

    /// A function that is not piecewise linear, over the range of the form.
    fn smooth(&self, curve: &dyn Curve, range: Interval, reach: &[f64]) -> Self {
        let (lo, hi) = (range.lo(), range.hi());
        if !ClosedRange::is_bounded(&range) {
            return Self::constant(curve.image(lo, hi), reach.len());
        }
        // f(x) − slope·x does not decrease, so its extremes are at the ends.
        let least = Interval::point(curve.slopes(lo, hi).lo());
        let first = curve.at(lo) - least * Interval::point(lo);
        let last = curve.at(hi) - least * Interval::point(hi);
        match Interval::new(first.lo(), last.hi()) {
            Some(rest) => self.scaled(least, rest, reach),
            None => Self::constant(curve.image(lo, hi), reach.len()),
        }
    }
}

#[cfg(test)]
mod tests;
