//! Products of models of degree two in tables: what comes to a monomial is added up where the positions of its symbols say, so that
//! nothing is searched for, and the sums lie in the order of the monomials.
//!
//! A model is split by degree and by the power of time: numbers, vectors over the symbols, and sparse terms of degree two. The
//! products of two vectors are a square table, whose two halves are folded at the end.

use super::algebra::Order;
use super::model::Term;
use super::monomial::{Monomial, SYMBOLS};

/// The greatest exponent of time is below this.
const TIMES: usize = 16;
/// Tables are worth while if they have at most so many entries for each pair of terms.
const ENTRIES_PER_PAIR: usize = 4;

/// Work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    left: Split,
    right: Split,
    numbers: Vec<f64>,
    vectors: Vec<f64>,
    squares: Vec<f64>,
}

/// A model by degree and power of time.
#[derive(Clone, Debug, Default)]
struct Split {
    numbers: [f64; TIMES],
    /// By power of time, then by symbol.
    vectors: Vec<f64>,
    /// Power of time, place in the square, coefficient.
    pairs: Vec<(usize, usize, f64)>,
    /// Sums of magnitudes by degree and power of time.
    sizes: [[f64; TIMES]; 3],
}

/// Terms in their order.
pub(super) struct Sums {
    pub(super) terms: Vec<Term>,
    /// The sum of the magnitudes of all that was left out.
    pub(super) dropped: f64,
}

impl Tables {
    /// The product of two polynomials, the terms that the order leaves out, and those that are too small, dropped; `None` if
    /// tables are not worth while, or do not take the degree.
    pub(super) fn product(&mut self, a: &[Term], b: &[Term], order: Order) -> Option<Sums> {
        if order.degree != 2 {
            return None;
        }
        let times = usize::try_from(order.time).ok().filter(|&time| time < TIMES)? + 1;
        let joined =
            |all, terms: &[Term]| terms.iter().fold(all, |all: Monomial, (m, _)| all.joined(*m));
        let together = joined(joined(Monomial::ONE, a), b);
        let symbols: Vec<usize> = (0..SYMBOLS).filter(|&i| together.has(i)).collect();
        let s = symbols.len();
        if times * (1 + s + s * s) > ENTRIES_PER_PAIR * a.len() * b.len() {
            return None;
        }
        let mut positions = [0; SYMBOLS];
        for (position, &symbol) in symbols.iter().enumerate() {
            positions[symbol] = position;
        }
        let Self { left, right, numbers, vectors, squares } = self;
        left.fill(a, &positions, (times, s))?;
        right.fill(b, &positions, (times, s))?;
        for (table, length) in [(&mut *numbers, 1), (&mut *vectors, s), (&mut *squares, s * s)] {
            table.clear();
            table.resize(times * length, 0.0);
        }
        for t in 0..times {
            for u in 0..times - t {
                let at = t + u;
                let (x, y) = (left.numbers[t], right.numbers[u]);
                numbers[at] += x * y;
                let sum = &mut vectors[at * s..(at + 1) * s];
                let (p, q) =
                    (&left.vectors[t * s..(t + 1) * s], &right.vectors[u * s..(u + 1) * s]);
                let (has_p, has_q) = (left.sizes[1][t] > 0.0, right.sizes[1][u] > 0.0);
                if x != 0.0 && has_q {
                    add_scaled(sum, q, x);
                }
                if y != 0.0 && has_p {
                    add_scaled(sum, p, y);
                }
                if has_p && has_q {
                    let square = &mut squares[at * s * s..(at + 1) * s * s];
                    for (row, &factor) in square.chunks_exact_mut(s).zip(p) {
                        if factor != 0.0 {
                            add_scaled(row, q, factor);
                        }
                    }
                }
            }
        }
        for (pairs, factors) in [(&left.pairs, &right.numbers), (&right.pairs, &left.numbers)] {
            for &(t, place, x) in pairs.iter().filter(|pair| pair.0 < times) {
                for (u, &factor) in factors[..times - t].iter().enumerate() {
                    squares[(t + u) * s * s + place] += factor * x;
                }
            }
        }
        let mut dropped = left.beyond(right, times);
        fold(squares, &symbols, &mut dropped);
        let size = size_of(&numbers[1..]) + size_of(vectors) + size_of(squares);
        if !(size + numbers[0].abs() + dropped).is_finite() {
            return None;
        }
        let least = size * order.cutoff;
        let mut terms = Vec::new();
        let mut power = Monomial::ONE;
        let mut powers = Vec::with_capacity(times);
        for &c in &*numbers {
            if power == Monomial::ONE && c != 0.0 {
                terms.push((power, c));
            } else {
                dropped += take(&mut terms, power, least, (&[Monomial::ONE], &[c]))?;
            }
            powers.push(power);
            power = power.times_time();
        }
        let monomials: Vec<Monomial> = symbols.iter().map(|&i| Monomial::symbol(i)).collect();
        for (t, &power) in powers.iter().enumerate() {
            dropped += take(&mut terms, power, least, (&monomials, &vectors[t * s..]))?;
        }
        for (t, power) in powers.iter().enumerate() {
            for (i, high) in monomials.iter().enumerate() {
                let row = &squares[(t * s + i) * s..];
                let lower = &monomials[..=i];
                dropped += take(&mut terms, high.times(*power)?, least, (lower, row))?;
            }
        }
        Some(Sums { terms, dropped })
    }
}

impl Split {
    /// `None` if a term has a higher degree.
    fn fill(
        &mut self,
        terms: &[Term],
        positions: &[usize; SYMBOLS],
        (times, s): (usize, usize),
    ) -> Option<()> {
        let Self { numbers, vectors, pairs, sizes } = self;
        *numbers = [0.0; TIMES];
        *sizes = [[0.0; TIMES]; 3];
        vectors.clear();
        vectors.resize(times * s, 0.0);
        pairs.clear();
        for &(m, c) in terms {
            let t = m.time() as usize;
            sizes.get_mut(m.degree() as usize)?[t] += c.abs();
            if t >= times {
                continue;
            }
            match m.pair() {
                None => numbers[t] = c,
                Some((symbol, None)) => vectors[t * s + positions[symbol]] = c,
                Some((low, Some(high))) => {
                    pairs.push((t, positions[high] * s + positions[low], c));
                }
            }
        }
        Some(())
    }

    /// The magnitudes of the products with degrees above two, or time above the greatest power.
    fn beyond(&self, other: &Self, times: usize) -> f64 {
        let mut sum = 0.0;
        for (degree, sizes) in self.sizes.iter().enumerate() {
            for (t, &x) in sizes.iter().enumerate().filter(|(_, x)| **x > 0.0) {
                for (more, sizes) in other.sizes.iter().enumerate() {
                    for (u, &y) in sizes.iter().enumerate() {
                        if degree + more > 2 || t + u >= times {
                            sum += x * y;
                        }
                    }
                }
            }
        }
        sum
    }
}

/// Adds the upper half of each square to the lower one. The squares of symbols without powers are dropped.
fn fold(squares: &mut [f64], symbols: &[usize], dropped: &mut f64) {
    let s = symbols.len();
    for square in squares.chunks_exact_mut((s * s).max(1)) {
        for i in 0..s {
            for k in 0..i {
                square[i * s + k] += square[k * s + i];
                square[k * s + i] = 0.0;
            }
            if !Monomial::has_powers(symbols[i]) {
                *dropped += square[i * s + i].abs();
                square[i * s + i] = 0.0;
            }
        }
    }
}

/// Appends the products of a factor with monomials whose coefficients are above a bound. The magnitudes of the others; `None` if
/// a product is no monomial.
fn take(
    terms: &mut Vec<Term>,
    factor: Monomial,
    least: f64,
    (monomials, coefficients): (&[Monomial], &[f64]),
) -> Option<f64> {
    let mut dropped = 0.0;
    for (m, &c) in monomials.iter().zip(coefficients) {
        if c.abs() > least {
            terms.push((m.times(factor)?, c));
        } else {
            dropped += c.abs();
        }
    }
    Some(dropped)
}

/// The sum of magnitudes, in several sums side by side.
fn size_of(x: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let chunks = x.chunks_exact(sums.len());
    let rest: f64 = chunks.remainder().iter().map(|x| x.abs()).sum();
    for chunk in chunks {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum += x.abs();
        }
    }
    sums.iter().sum::<f64>() + rest
}

fn add_scaled(sum: &mut [f64], x: &[f64], factor: f64) {
    for (sum, x) in sum.iter_mut().zip(x) {
        *sum += factor * x;
    }
}

#[cfg(test)]
mod tests;
