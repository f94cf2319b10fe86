//! Networks over Taylor models: what they compute as combinations of the monomials of the state.
//!
//! A value v is enclosed by v ∈ Σ sⱼ·mⱼ + Σ tₖ·eₖ + c ± r for all values of the symbols, where mⱼ are
//! monomials and eₖ ∈ [−1, 1] the errors of functions that were replaced by a line or a parabola: each of
//! them is the same number wherever it occurs, so that what values have in common is kept from layer to
//! layer. Where an argument crosses no bend of a function of linear pieces, nothing is lost.

mod shape;

use std::convert::Infallible;

use policert_numeric::Interval;
use policert_numeric::round::{add_down, add_up, mul_up};
use policert_policy::{Activation, Elements, Network};
use rustc_hash::FxHashMap;

use super::model::{Model, rounding};
use super::monomial::Monomial;
use shape::{Fit, Shape};

/// A relative amount that covers the rounding of sums of magnitudes.
const SLACK: f64 = 1.0 + 1e-9;

/// Squares are those of at most so many terms …
const SQUARED_TERMS: usize = 16;
/// … each of which makes at least this part of the range.
const SQUARED_PART: f64 = 0.01;
/// A parabola takes the place of a line if less than this part of its error is left.
const WORTH: f64 = 0.7;

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
    /// Monomials, and errors, which are none.
    columns: Vec<Option<Monomial>>,
    /// By column: whether it is never negative.
    even: Vec<bool>,
    places: FxHashMap<Monomial, usize>,
    /// The greatest degree of a monomial.
    degree: u32,
    /// For each symbol of the initial state how much of the errors is due to it.
    blame: Vec<f64>,
}

/// The square of a value's distance from its centre.
struct Square {
    /// By column.
    terms: Vec<(usize, f64)>,
    /// All magnitudes together.
    size: f64,
    /// What is left out.
    error: f64,
}

/// The outputs of a network over a state, in monomials up to a degree; what is lost is added to `blame`,
/// for each of the first symbols.
pub(super) fn outputs(
    network: &Network,
    state: &[Model],
    degree: u32,
    blame: &mut Vec<f64>,
) -> Vec<Model> {
    let mut basis = Basis {
        columns: Vec::new(),
        even: Vec::new(),
        places: FxHashMap::default(),
        degree,
        blame: std::mem::take(blame),
    };
    for &(monomial, _) in state.iter().flat_map(|model| &model.terms) {
        if monomial != Monomial::ONE {
            basis.column(monomial);
        }
    }
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
    /// The column of a monomial.
    fn column(&mut self, monomial: Monomial) -> usize {
        let next = self.columns.len();
        let place = *self.places.entry(monomial).or_insert(next);
        if place == next {
            self.columns.push(Some(monomial));
            self.even.push(monomial.is_even());
        }
        place
    }

    fn row_of(&self, model: &Model) -> Row {
        let mut slopes = vec![0.0; self.columns.len()];
        for (monomial, c) in &model.terms {
            if let Some(&at) = self.places.get(monomial) {
                slopes[at] = *c;
            }
        }
        let middle = model.rest.midpoint();
        let radius = (model.rest - Interval::point(middle)).magnitude();
        let centre = model.centre() + middle;
        let radius = add_up(radius, rounding(1, centre.abs(), 1));
        Row { centre, slopes, radius, size: 0.0 }.sized()
    }

    fn model_of(&self, row: &Row) -> Model {
        let (mut terms, mut errors) = (Vec::new(), 0.0);
        for (column, &slope) in self.columns.iter().zip(&row.slopes) {
            match column {
                Some(_) if slope == 0.0 => {}
                Some(monomial) => terms.push((*monomial, slope)),
                None => errors += slope.abs(),
            }
        }
        terms.sort_unstable_by_key(|&(m, _)| m);
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
        let below = add_up(mul_up(below, SLACK), row.radius);
        let above = add_up(mul_up(above, SLACK), row.radius);
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
            slopes.resize(self.columns.len(), 0.0);
            slopes.push(spread);
            self.columns.push(None);
            self.even.push(false);
        }
        Row { centre, slopes, radius, size: 0.0 }.sized()
    }

    /// (x − c)², where c is the centre of x.
    fn square(&mut self, x: &Row) -> Square {
        let spread: f64 = x.slopes.iter().map(|s| s.abs()).sum();
        let mut chosen: Vec<(Monomial, f64)> = self
            .columns
            .iter()
            .zip(&x.slopes)
            .filter(|(_, s)| s.abs() > SQUARED_PART * spread)
            .filter_map(|(column, &s)| Some(((*column)?, s)))
            .collect();
        chosen.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        chosen.truncate(SQUARED_TERMS);
        let inside = mul_up(chosen.iter().map(|(_, s)| s.abs()).sum::<f64>(), SLACK);
        // The others, of which rounding may make less than nothing.
        let known = chosen.iter().map(|(m, _)| self.places[m]).collect::<Vec<_>>();
        let others = x.slopes.iter().enumerate().filter(|(at, _)| !known.contains(at));
        let outside = mul_up(others.map(|(_, s)| s.abs()).sum::<f64>(), SLACK);
        let outside = add_up(outside, x.radius);
        // (p + z)² − p² = (2·p + z)·z
        let mut error = mul_up(add_up(mul_up(2.0, inside), outside), outside);
        let mut sums: Vec<(usize, f64)> = Vec::new();
        for (i, &(m, a)) in chosen.iter().enumerate() {
            for (k, &(other, b)) in chosen.iter().enumerate().skip(i) {
                let coefficient = if i == k { a * b } else { 2.0 * (a * b) };
                match m.times(other).filter(|monomial| monomial.degree() <= self.degree) {
                    Some(monomial) => sums.push((self.column(monomial), coefficient)),
                    None => error = add_up(error, mul_up(coefficient.abs(), SLACK)),
                }
            }
        }
        let pairs = chosen.len() * chosen.len();
        let size = mul_up(inside, inside);
        let error = add_up(error, rounding(3, size, pairs));
        Square { terms: sums, size: mul_up(size, SLACK), error }
    }

    /// A function of x with values over a range.
    fn fitted(&mut self, x: &Row, shape: &Shape) -> Row {
        let line = shape.line();
        let Some(line) = line else { return Row::constant(shape.image()) };
        if self.degree < 2 {
            return self.line(x, line.slope, line.rest);
        }
        let Some(parabola) = shape.parabola(x.centre) else {
            return self.line(x, line.slope, line.rest);
        };
        let square = self.square(x);
        let lost = Interval::ball(0.0, mul_up(square.error, parabola.bend.abs()));
        if (parabola.rest + lost).width() < WORTH * line.rest.width() {
            self.bent(x, &parabola, &square, lost)
        } else {
            self.line(x, line.slope, line.rest)
        }
    }

    /// `bend·(x − c)² + slope·x` and the rest.
    fn bent(&mut self, x: &Row, parabola: &Fit, square: &Square, lost: Interval) -> Row {
        let mut row = self.line(x, parabola.slope, parabola.rest + lost);
        row.slopes.resize(self.columns.len(), 0.0);
        for &(column, coefficient) in &square.terms {
            row.slopes[column] += parabola.bend * coefficient;
        }
        // Each product and each sum rounds; a column gets at most as many terms as there are.
        let added = mul_up(square.size, parabola.bend.abs());
        let size = add_up(row.size, added);
        let error = rounding(square.terms.len() + 2, size, square.terms.len());
        row.radius = add_up(row.radius, error);
        row.sized()
    }

    /// Says which symbols make the range of x, over which something of a size is lost, as wide as it is.
    fn take_blame(&mut self, x: &Row, lost: f64) {
        let total: f64 = x.slopes.iter().map(|s| s.abs()).sum();
        for (symbol, blame) in self.blame.iter_mut().enumerate() {
            let columns = self.columns.iter().zip(&x.slopes);
            let terms = columns.filter(|(column, _)| column.is_some_and(|m| m.has(symbol)));
            let share = terms.map(|(_, s)| s.abs()).sum::<f64>() / total;
            if share.is_finite() && lost.is_finite() {
                *blame += share * lost;
            }
        }
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
            Activation::Leaky { .. } => {
                self.fitted(x, &Shape::of_pieces(activation, range, &[0.0]))
            }
            Activation::Clip { lo, hi } if range.lo() >= lo && range.hi() <= hi => x.clone(),
            Activation::Clip { lo, hi } if range.hi() <= lo || range.lo() >= hi => {
                Row::constant(activation.of_interval(range))
            }
            Activation::Clip { lo, hi } => {
                self.fitted(x, &Shape::of_pieces(activation, range, &[lo, hi]))
            }
            Activation::Staircase(_) => Row::constant(activation.of_interval(range)),
            Activation::Smooth(function) => {
                self.fitted(x, &Shape::of_curve(function.curve(), range))
            }
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
