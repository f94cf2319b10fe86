//! Products of Taylor models, and functions of them.

use policert_control_loop::{ClosedRange, ExpressionFunction};
use policert_numeric::Interval;
use policert_numeric::round::{add_up, mul_up};
use rustc_hash::FxHashMap;

use super::model::{Model, Term, rounding};
use super::monomial::Monomial;
use super::quadratic::{Sums, Tables};
use super::series::{MOST_TERMS, coefficients};

/// Says which terms are kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    /// The greatest sum of exponents of symbols.
    pub(super) degree: u32,
    /// The greatest exponent of time.
    pub(super) time: u32,
    /// Terms below this part of the variable ones of a model are left out.
    pub(super) cutoff: f64,
}

impl Order {
    /// The highest power of a function's argument that is worth computing.
    fn highest_power(self) -> usize {
        let power = self.degree.max(self.time) + 1;
        usize::try_from(power).map_or(MOST_TERMS - 1, |power| power.min(MOST_TERMS - 1))
    }
}

/// The operations that truncate; has its own work space.
#[derive(Clone, Debug)]
pub(super) struct Algebra {
    pub(super) order: Order,
    sums: FxHashMap<Monomial, f64>,
    tables: Tables,
}

impl Algebra {
    pub(super) fn new(order: Order) -> Self {
        Self { order, sums: FxHashMap::default(), tables: Tables::default() }
    }

    /// a · b.
    pub(super) fn product(&mut self, a: &Model, b: &Model) -> Model {
        for (one, other) in [(a, b), (b, a)] {
            if let [(Monomial::ONE, factor)] = one.terms[..] {
                return other.scaled_by(Interval::point(factor) + one.rest);
            }
        }
        let rest = match (is_zero(a.rest), is_zero(b.rest)) {
            (true, true) => Interval::ZERO,
            (false, true) => a.rest * b.polynomial_range(),
            (true, false) => b.rest * a.polynomial_range(),
            (false, false) => {
                let (p, q) = (a.polynomial_range(), b.polynomial_range());
                a.rest * q + b.rest * p + a.rest * b.rest
            }
        };
        let (count, pairs) = (a.terms.len().min(b.terms.len()), a.terms.len() * b.terms.len());
        let error = rounding(count + 1, mul_up(a.size(), b.size()), pairs);
        let with_errors = |terms: Vec<Term>, dropped: f64| {
            let error = add_up(error, mul_up(dropped, 1.0 + 1e-9));
            Model { terms, rest: rest + Interval::ball(0.0, error) }
        };
        if let Some(Sums { terms, dropped }) = self.tables.product(&a.terms, &b.terms, self.order) {
            return with_errors(terms, dropped);
        }
        let (terms, dropped) = self.hashed(&a.terms, &b.terms);
        self.swept(with_errors(terms, dropped))
    }

    /// The product of two polynomials, and the magnitudes of what the order leaves out.
    pub(super) fn hashed(&mut self, a: &[Term], b: &[Term]) -> (Vec<Term>, f64) {
        self.sums.clear();
        let mut dropped = 0.0;
        let Order { degree, time, .. } = self.order;
        let blocks = blocks(b);
        for &(m, x) in a {
            for block in &blocks {
                if m.degree() + block.degree > degree || m.time() + block.time > time {
                    dropped += x.abs() * block.size;
                    continue;
                }
                for &(k, y) in block.terms {
                    match m.times(k) {
                        Some(product) => *self.sums.entry(product).or_insert(0.0) += x * y,
                        None => dropped += (x * y).abs(),
                    }
                }
            }
        }
        // The order of the table decides nothing.
        let mut terms: Vec<_> = self.sums.iter().map(|(&m, &c)| (m, c)).collect();
        terms.sort_unstable_by_key(|&(m, _)| m);
        (terms, dropped)
    }

    /// The model with its smallest terms in the rest.
    pub(super) fn swept(&self, mut model: Model) -> Model {
        let variable = model.terms.iter().filter(|(m, _)| *m != Monomial::ONE);
        let least = variable.map(|(_, c)| c.abs()).sum::<f64>() * self.order.cutoff;
        let (mut dropped, mut count) = (0.0, 0);
        model.terms.retain(|&(m, c)| {
            let kept = m == Monomial::ONE || c.abs() > least;
            if !kept {
                dropped += c.abs();
                count += 1;
            }
            kept
        });
        if count > 0 {
            model.rest = model.rest + Interval::ball(0.0, mul_up(dropped, 1.0 + 1e-9));
        }
        model
    }

    /// An integer power; `None` for a negative one of a range with 0.
    pub(super) fn power(&mut self, a: &Model, exponent: i32) -> Option<Model> {
        if exponent < 0 {
            let power = self.power(a, exponent.checked_neg()?)?;
            return self.reciprocal(&power);
        }
        let mut result: Option<Model> = None;
        let (mut square, mut left) = (a.clone(), exponent);
        while left > 0 {
            if left & 1 == 1 {
                result = Some(match &result {
                    Some(result) => self.product(result, &square),
                    None => square.clone(),
                });
            }
            left >>= 1;
            if left > 0 {
                square = self.product(&square, &square);
            }
        }
        Some(result.unwrap_or_else(|| Model::constant(Interval::point(1.0))))
    }

    /// 1/a; `None` if a may be 0.
    pub(super) fn reciprocal(&mut self, a: &Model) -> Option<Model> {
        let image = Interval::point(1.0).checked_div(a.range())?;
        Some(self.composed(a, image, |x, count| {
            // xᵏ⁺¹ under 1, of alternating sign.
            let inverse = Interval::point(1.0).checked_div(x)?;
            let mut terms = vec![inverse];
            for k in 0..count {
                terms.push(-(terms[k] * inverse));
            }
            Some(terms)
        }))
    }

    /// A function of a; `None` if it may have no value.
    pub(super) fn apply(&mut self, function: ExpressionFunction, a: &Model) -> Option<Model> {
        let range = a.range();
        let image = ClosedRange::apply(&range, function)?;
        if function == ExpressionFunction::Abs {
            return Some(absolute(a, range));
        }
        Some(self.composed(a, image, |x, count| coefficients(function, x, count)))
    }

    /// A function of a with values in `image`, by Taylor's formula around the centre of a: `series` has
    /// the derivatives divided by factorials, up to a number, at all points of an interval.
    fn composed(
        &mut self,
        a: &Model,
        image: Interval,
        series: impl Fn(Interval, usize) -> Option<Vec<Interval>>,
    ) -> Model {
        let centre = Interval::point(a.centre());
        let around = a.around_centre();
        let (offset, whole) = (around.range(), a.range().hull(centre));
        let (Some(at), Some(over)) = (series(centre, MOST_TERMS), series(whole, MOST_TERMS)) else {
            return Model::constant(image);
        };
        // As many terms as leave next to nothing.
        let enough = at[1].magnitude().max(1e-3) * offset.magnitude() * self.order.cutoff;
        let mut power = offset;
        let (mut terms, mut left_out) = (1, Interval::EVERYTHING);
        // Higher powers are cut off anyway.
        for k in 1..=self.order.highest_power() {
            power = if k % 2 == 1 { (power * offset).abs() } else { power * offset };
            let beyond = over[k + 1] * power;
            if beyond.magnitude() < left_out.magnitude() {
                (terms, left_out) = (k, beyond);
            }
            if beyond.magnitude() <= enough {
                break;
            }
        }
        let mut sum = Model::constant(at[terms]);
        for &term in at[..terms].iter().rev() {
            sum = self.product(&sum, &around).shifted_by(term);
        }
        sum.rest = sum.rest + left_out;
        // Where a wide range makes much of the rest, the values alone say more.
        let keeps = sum.is_bounded() && sum.range().width() < 2.0 * image.width();
        if keeps { sum } else { Model::constant(image) }
    }

    /// The smaller of a number of each.
    pub(super) fn min(&self, a: &Model, b: &Model) -> Model {
        self.max(&a.negated(), &b.negated()).negated()
    }

    /// The larger of a number of each.
    pub(super) fn max(&self, a: &Model, b: &Model) -> Model {
        let difference = a.minus(b);
        let range = difference.range();
        if range.lo() >= 0.0 {
            return a.clone();
        }
        if range.hi() <= 0.0 {
            return b.clone();
        }
        // (a + b + |a − b|) / 2
        a.plus(b).plus(&absolute(&difference, range)).scaled(0.5)
    }
}

/// Terms that follow each other and have one degree and one exponent of time.
struct Block<'a> {
    terms: &'a [(Monomial, f64)],
    degree: u32,
    time: u32,
    /// The sum of the magnitudes of their coefficients.
    size: f64,
}

fn blocks(terms: &[(Monomial, f64)]) -> Vec<Block<'_>> {
    let alike = |(m, _): &(Monomial, f64), (k, _): &(Monomial, f64)| {
        m.degree() == k.degree() && m.time() == k.time()
    };
    let blocks = terms.chunk_by(alike).map(|terms| Block {
        terms,
        degree: terms[0].0.degree(),
        time: terms[0].0.time(),
        size: terms.iter().map(|(_, c)| c.abs()).sum(),
    });
    blocks.collect()
}

fn is_zero(range: Interval) -> bool {
    range == Interval::ZERO
}

/// |a| for a model with values in `range`.
fn absolute(a: &Model, range: Interval) -> Model {
    if range.lo() >= 0.0 {
        return a.clone();
    }
    if range.hi() <= 0.0 {
        return a.negated();
    }
    // |x| − slope·x is 0 at 0 and greatest at the ends.
    let slope = (range.hi() + range.lo()) / (range.hi() - range.lo());
    if !(-1.0..=1.0).contains(&slope) {
        return Model::constant(range.abs());
    }
    let exact = Interval::point(slope);
    let at_low = -((Interval::point(1.0) + exact) * Interval::point(range.lo()));
    let at_high = (Interval::point(1.0) - exact) * Interval::point(range.hi());
    a.scaled(slope).shifted_by(Interval::ZERO.hull(at_low).hull(at_high))
}
