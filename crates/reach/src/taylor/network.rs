//! Networks over Taylor models: what they compute as combinations of the monomials of the state.
//!
//! A value v is enclosed by v ∈ Σ sⱼ·mⱼ + Σ tₖ·eₖ + c ± r for all values of the symbols, where mⱼ are the
//! monomials that the state is made of and eₖ ∈ [−1, 1] the errors of functions that were replaced by
//! a line: each of them is the same number wherever it occurs, so that what values have in common is kept
//! from layer to layer. Where an argument crosses no bend of a function of linear pieces, nothing is
//! lost.

use std::convert::Infallible;

use policert_numeric::Interval;
use policert_numeric::round::{add_down, add_up, mul_up};
use policert_policy::activation::Curve;
use policert_policy::{Activation, Elements, Network};

use super::model::{Model, rounding};
use super::monomial::Monomial;

/// Into so many pieces an interval is cut to bound the distance of a function from a line.
const PIECES: u32 = 16;

/// A relative amount that covers the rounding of sums of magnitudes.
const SLACK: f64 = 1.0 + 1e-9;

/// A value.
#[derive(Clone, Debug)]
pub(super) struct Row {
    centre: f64,
    /// sⱼ, then tₖ; those at the end that are missing are 0.
    slopes: Vec<f64>,
    radius: f64,
    /// The sum of the magnitudes of centre and slopes, rounded up.
    size: f64,
}

/// What values are combinations of.
#[derive(Debug)]
struct Basis {
    monomials: Vec<Monomial>,
    /// By monomial: whether it is never negative.
    even: Vec<bool>,
    /// The number of errors so far.
    errors: usize,
    /// For each symbol of the initial state how much of the errors is due to it.
    blame: Vec<f64>,
}

/// The outputs of a network over a state, whose `fixed` first symbols stand for the initial state; what
/// is lost is added to `blame`, symbol by symbol.
pub(super) fn outputs(network: &Network, state: &[Model], blame: &mut Vec<f64>) -> Vec<Model> {
    let mut monomials: Vec<Monomial> =
        state.iter().flat_map(|model| model.terms.iter().map(|&(m, _)| m)).collect();
    monomials.sort_unstable();
    monomials.dedup();
    monomials.retain(|&m| m != Monomial::ONE);
    let even = monomials.iter().map(|m| m.is_even()).collect();
    let mut basis = Basis { monomials, even, errors: 0, blame: std::mem::take(blame) };
    let inputs = state.iter().map(|model| basis.row_of(model)).collect();
    let rows = match network.fold(&mut basis, inputs) {
        Ok(mut values) => values.swap_remove(network.output().index()),
        Err(never) => match never {},
    };
    let models = rows.iter().map(|row| basis.model_of(row)).collect();
    *blame = basis.blame;
    models
}

impl Basis {
    fn row_of(&self, model: &Model) -> Row {
        let mut slopes = vec![0.0; self.monomials.len()];
        for &(m, c) in &model.terms {
            if let Ok(at) = self.monomials.binary_search(&m) {
                slopes[at] = c;
            }
        }
        let middle = model.rest.midpoint();
        let radius = (model.rest - Interval::point(middle)).magnitude();
        let centre = model.centre() + middle;
        let radius = add_up(radius, rounding(1, centre.abs(), 1));
        Row { centre, slopes, radius, size: 0.0 }.sized()
    }

    fn model_of(&self, row: &Row) -> Model {
        let count = self.monomials.len().min(row.slopes.len());
        let errors = row.slopes[count..].iter().map(|t| t.abs()).sum::<f64>();
        let terms = self.monomials.iter().zip(&row.slopes).map(|(&m, &c)| (m, c));
        let terms = terms.filter(|(_, c)| *c != 0.0).collect();
        let radius = add_up(row.radius, mul_up(errors, SLACK));
        Model { terms, rest: Interval::ball(0.0, radius) }.shifted(row.centre)
    }

    fn range(&self, row: &Row) -> Interval {
        let (mut below, mut above) = (0.0, 0.0);
        for (&slope, &even) in row.slopes.iter().zip(&self.even) {
            if !even || slope < 0.0 {
                below += slope.abs();
            }
            if !even || slope > 0.0 {
                above += slope.abs();
            }
        }
        let errors = row.slopes.iter().skip(self.even.len()).map(|t| t.abs()).sum::<f64>();
        let below = add_up(mul_up(below + errors, SLACK), row.radius);
        let above = add_up(mul_up(above + errors, SLACK), row.radius);
        let (lo, hi) = (add_down(row.centre, -below), add_up(row.centre, above));
        Interval::new(lo, hi).unwrap_or(Interval::EVERYTHING)
    }

    /// `slope · x` plus a number of `rest`, which is an error of its own.
    fn line(&mut self, x: &Row, slope: f64, rest: Interval) -> Row {
        let middle = rest.midpoint();
        let spread = (rest - Interval::point(middle)).magnitude();
        let mut slopes: Vec<f64> = x.slopes.iter().map(|s| s * slope).collect();
        let centre = x.centre * slope + middle;
        let size = add_up(mul_up(x.size, slope.abs()), middle.abs());
        let error = rounding(2, size, slopes.len() + 1);
        let radius = add_up(mul_up(x.radius, slope.abs()), error);
        if spread > 0.0 {
            self.take_blame(x, spread);
            slopes.resize(self.monomials.len() + self.errors, 0.0);
            slopes.push(spread);
            self.errors += 1;
        }
        Row { centre, slopes, radius, size: 0.0 }.sized()
    }

    /// Says which symbols make the range of x, over which something of a size is lost, as wide as it is.
    fn take_blame(&mut self, x: &Row, lost: f64) {
        let total: f64 = x.slopes.iter().map(|s| s.abs()).sum();
        for (symbol, blame) in self.blame.iter_mut().enumerate() {
            let terms = self.monomials.iter().zip(&x.slopes).filter(|(m, _)| m.has(symbol));
            let share = terms.map(|(_, s)| s.abs()).sum::<f64>() / total;
            if share.is_finite() && lost.is_finite() {
                *blame += share * lost;
            }
        }
    }

    /// A function of linear pieces with bends, from one end of the range of its argument to the other.
    fn bent(&mut self, activation: Activation, x: &Row, range: Interval, bends: [f64; 2]) -> Row {
        let (lo, hi) = (range.lo(), range.hi());
        let value = |at: f64| activation.of_interval(Interval::point(at));
        let image = activation.of_interval(range);
        let slope = (value(hi) - value(lo)).midpoint() / (hi - lo);
        if !(slope.is_finite() && lo.is_finite() && hi.is_finite()) {
            return Row::constant(image);
        }
        // What is left is linear between its ends and the bends.
        let left = |at: f64| value(at) - Interval::point(slope) * Interval::point(at);
        let inside = bends.into_iter().filter(|&bend| lo < bend && bend < hi);
        let rest = inside.fold(left(lo).hull(left(hi)), |rest, bend| rest.hull(left(bend)));
        self.line(x, slope, rest)
    }

    /// A function that is not made of linear pieces.
    fn curved(&mut self, curve: &dyn Curve, x: &Row, range: Interval) -> Row {
        let (lo, hi) = (range.lo(), range.hi());
        if !(lo.is_finite() && hi.is_finite()) {
            return Row::constant(curve.image(lo, hi));
        }
        let slope = if hi > lo {
            (curve.at(hi) - curve.at(lo)).midpoint() / (hi - lo)
        } else {
            curve.slope(lo).midpoint()
        };
        if !slope.is_finite() {
            return Row::constant(curve.image(lo, hi));
        }
        let exact = Interval::point(slope);
        let mut rest: Option<Interval> = None;
        let mut from = lo;
        for piece in 1..=PIECES {
            let part = f64::from(piece) / f64::from(PIECES);
            let to = if piece == PIECES { hi } else { (lo + (hi - lo) * part).clamp(from, hi) };
            // From each end of a piece the slope says how far the function gets from the line.
            let left = |at: f64| curve.at(at) - exact * Interval::point(at);
            let steepness = curve.slopes(from, to) - exact;
            let width = Interval::ZERO.hull(Interval::point(to) - Interval::point(from));
            let (ahead, back) = (left(from) + steepness * width, left(to) - steepness * width);
            let both = ahead.intersection(back).unwrap_or(ahead);
            rest = Some(rest.map_or(both, |rest| rest.hull(both)));
            from = to;
        }
        self.line(x, slope, rest.unwrap_or(Interval::EVERYTHING))
    }
}

impl Elements for Basis {
    type Element = Row;
    type Error = Infallible;

    fn row(&mut self, weights: &[f64], bias: f64, x: &[Row]) -> Result<Row, Infallible> {
        let length = x.iter().map(|x| x.slopes.len()).max().unwrap_or(0);
        let mut slopes = vec![0.0; length];
        let (mut centre, mut size, mut radius) = (bias, bias.abs(), 0.0);
        for (&weight, x) in weights.iter().zip(x) {
            for (slope, s) in slopes.iter_mut().zip(&x.slopes) {
                *slope += weight * s;
            }
            centre += weight * x.centre;
            size = add_up(size, mul_up(weight.abs(), x.size));
            radius = add_up(radius, mul_up(weight.abs(), x.radius));
        }
        let error = rounding(weights.len() + 1, size, length + 1);
        Ok(Row { centre, slopes, radius: add_up(radius, error), size: 0.0 }.sized())
    }

    fn scale(&mut self, x: &Row, mul: f64, div: f64, add: f64) -> Result<Row, Infallible> {
        let Some(factor) = Interval::point(mul).checked_div(Interval::point(div)) else {
            return Ok(Row::constant(Interval::EVERYTHING));
        };
        let middle = factor.midpoint();
        let error = (factor - Interval::point(middle)) * self.range(x);
        let mut row = self.line(x, middle, Interval::point(add));
        row.radius = add_up(row.radius, error.magnitude());
        Ok(row)
    }

    fn apply(&mut self, activation: Activation, x: &Row) -> Result<Row, Infallible> {
        let range = self.range(x);
        Ok(match activation {
            Activation::Leaky { .. } if range.lo() >= 0.0 => x.clone(),
            Activation::Leaky { alpha } if range.hi() <= 0.0 => self.line(x, alpha, Interval::ZERO),
            Activation::Leaky { .. } => self.bent(activation, x, range, [0.0, 0.0]),
            Activation::Clip { lo, hi } if range.lo() >= lo && range.hi() <= hi => x.clone(),
            Activation::Clip { lo, hi } if range.hi() <= lo || range.lo() >= hi => {
                Row::constant(activation.of_interval(range))
            }
            Activation::Clip { lo, hi } => self.bent(activation, x, range, [lo, hi]),
            Activation::Smooth(function) => self.curved(function.curve(), x, range),
        })
    }

    fn sum(&mut self, terms: &[Row]) -> Result<Row, Infallible> {
        self.row(&vec![1.0; terms.len()], 0.0, terms)
    }

    fn max(&mut self, terms: &[Row]) -> Result<Row, Infallible> {
        let mut greatest = terms[0].clone();
        for term in &terms[1..] {
            // a + max(b − a, 0)
            let pair = [term.clone(), greatest.clone()];
            let Ok(difference) = self.row(&[1.0, -1.0], 0.0, &pair);
            let Ok(more) = Elements::apply(self, Activation::RELU, &difference);
            greatest = self.row(&[1.0, 1.0], 0.0, &[greatest, more])?;
        }
        Ok(greatest)
    }
}

impl Row {
    fn constant(range: Interval) -> Self {
        let centre = range.midpoint();
        let radius = (range - Interval::point(centre)).magnitude();
        Row { centre, slopes: Vec::new(), radius, size: 0.0 }.sized()
    }

    /// With its size; overflow says nothing.
    fn sized(mut self) -> Self {
        let sum = self.centre.abs() + self.slopes.iter().map(|s| s.abs()).sum::<f64>();
        self.size = mul_up(sum, SLACK);
        if self.size.is_finite() && !self.radius.is_nan() {
            return self;
        }
        Row { centre: 0.0, slopes: Vec::new(), radius: f64::INFINITY, size: 0.0 }
    }
}
