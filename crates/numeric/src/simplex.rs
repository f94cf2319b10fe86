//! Linear feasibility: is there a point of a box that satisfies some inequalities?
//!
//! The simplex method for feasibility with bounds on all variables (B. Dutertre and L. de Moura, A
//! Fast Linear-Arithmetic Solver for DPLL(T), CAV 2006, Sections 3 and 4): one more variable for
//! each inequality, a basis of them, and pivots until no basic variable violates a bound. Strict
//! inequalities are bounds with an infinitesimal part. The same method serves exact numbers,
//! where the answer is a proof, and doubles, where it is a suggestion.

use std::cmp::Ordering;
use std::iter::zip;

use crate::Rational;

/// Numbers that the method computes with.
pub trait Number: Clone {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// True if results are exact, so that the method need not give up.
    const EXACT: bool;
    /// `self + factor · other`.
    #[must_use]
    fn add_product(&self, factor: &Self, other: &Self) -> Self;
    /// `self − other`.
    #[must_use]
    fn minus(&self, other: &Self) -> Self;
    /// `self / divisor`; the divisor is not 0.
    #[must_use]
    fn over(&self, divisor: &Self) -> Self;
    /// Returns how it compares with 0, up to rounding errors.
    fn sign(&self) -> Ordering;
}

impl Number for Rational {
    const ZERO: Self = Rational::ZERO;
    const ONE: Self = Rational::ONE;
    const EXACT: bool = true;

    fn add_product(&self, factor: &Self, other: &Self) -> Self {
        if factor.is_zero() || other.is_zero() { self.clone() } else { self + &(factor * other) }
    }

    fn minus(&self, other: &Self) -> Self {
        self - other
    }

    fn over(&self, divisor: &Self) -> Self {
        self.checked_div(divisor).unwrap_or(Rational::ZERO)
    }

    fn sign(&self) -> Ordering {
        self.signum().cmp(&0)
    }
}

/// The greatest magnitude that counts as 0 in double precision.
const TOLERANCE: f64 = 1e-10;

impl Number for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const EXACT: bool = false;

    fn add_product(&self, factor: &Self, other: &Self) -> Self {
        self + factor * other
    }

    fn minus(&self, other: &Self) -> Self {
        self - other
    }

    fn over(&self, divisor: &Self) -> Self {
        self / divisor
    }

    fn sign(&self) -> Ordering {
        if *self > TOLERANCE {
            Ordering::Greater
        } else if *self < -TOLERANCE {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    }
}

/// `Σ coefficient · variable ≤ upper`, or `<` if it is strict.
#[derive(Clone, Debug)]
pub struct SimplexRow<N> {
    /// One coefficient for each variable.
    pub coefficients: Vec<N>,
    /// The upper bound of the sum, which it may reach unless the inequality is strict.
    pub upper: N,
    /// True for `<`, false for `≤`.
    pub strict: bool,
}

/// Says what was found.
#[derive(Clone, PartialEq, Debug)]
pub enum Feasibility<N> {
    /// This point satisfies everything.
    Feasible(Vec<N>),
    /// These multiples (not negative) of the rows sum to an inequality that no point of the box
    /// satisfies.
    Infeasible(Vec<N>),
    /// The pivots did not suffice to tell.
    Open,
}

/// A number and a multiple of a positive infinitesimal.
#[derive(Clone, Debug)]
struct Value<N> {
    real: N,
    infinitesimal: N,
}

impl<N: Number> Value<N> {
    fn of(real: N) -> Self {
        Self { real, infinitesimal: N::ZERO }
    }

    fn add_product(&self, factor: &N, other: &Self) -> Self {
        Self {
            real: self.real.add_product(factor, &other.real),
            infinitesimal: self.infinitesimal.add_product(factor, &other.infinitesimal),
        }
    }

    fn minus(&self, other: &Self) -> Self {
        Self {
            real: self.real.minus(&other.real),
            infinitesimal: self.infinitesimal.minus(&other.infinitesimal),
        }
    }

    fn over(&self, divisor: &N) -> Self {
        Self { real: self.real.over(divisor), infinitesimal: self.infinitesimal.over(divisor) }
    }

    fn sign(&self) -> Ordering {
        self.real.sign().then_with(|| self.infinitesimal.sign())
    }
}

/// Pivots after which the variable with the least index leaves and enters (Bland's rule), which
/// cannot cycle.
const GREEDY_PIVOTS: usize = 60;
/// Pivots after which inexact numbers are given up.
const INEXACT_PIVOTS: usize = 400;

/// Looks for a point with `lo ≤ x ≤ hi` that satisfies all rows. Before each pivot, and with exact
/// numbers before each row of one, `go_on` is asked, and the method gives up when it denies.
///
/// # Panics
/// If a row or a bound lacks a variable.
pub fn feasible_point<N: Number>(
    lo: &[N],
    hi: &[N],
    rows: &[SimplexRow<N>],
    mut go_on: impl FnMut() -> bool,
) -> Feasibility<N> {
    if zip(lo, hi).any(|(lo, hi)| hi.minus(lo).sign() == Ordering::Less) {
        return Feasibility::Infeasible(vec![N::ZERO; rows.len()]);
    }
    let mut tableau = Tableau::new(lo, hi, rows);
    for pivots in 0.. {
        if !N::EXACT && pivots >= INEXACT_PIVOTS || !go_on() {
            break;
        }
        let Some((row, below)) = tableau.violated(pivots >= GREEDY_PIVOTS) else {
            return Feasibility::Feasible(tableau.point());
        };
        match tableau.entering(row, below, pivots >= GREEDY_PIVOTS) {
            Some(column) => {
                if !tableau.pivot(row, column, below, &mut go_on) {
                    break;
                }
            }
            None => return Feasibility::Infeasible(tableau.multipliers(row, rows.len())),
        }
    }
    Feasibility::Open
}

/// Each basic variable as a combination of the others.
struct Tableau<N> {
    /// By row, one for each other variable.
    entries: Vec<Vec<N>>,
    basic: Vec<usize>,
    others: Vec<usize>,
    /// By variable; those of the problem first, then one for each row of it.
    lower: Vec<Option<Value<N>>>,
    upper: Vec<Value<N>>,
    value: Vec<Value<N>>,
}

impl<N: Number> Tableau<N> {
    fn new(lo: &[N], hi: &[N], rows: &[SimplexRow<N>]) -> Self {
        let dimensions = lo.len();
        let mut lower: Vec<_> = lo.iter().map(|lo| Some(Value::of(lo.clone()))).collect();
        let mut upper: Vec<_> = hi.iter().map(|hi| Value::of(hi.clone())).collect();
        let mut value: Vec<_> = lo.iter().map(|lo| Value::of(lo.clone())).collect();
        for row in rows {
            let sum = zip(&row.coefficients, lo);
            let sum = sum.fold(N::ZERO, |sum, (coefficient, lo)| sum.add_product(coefficient, lo));
            value.push(Value::of(sum));
            lower.push(None);
            let below = if row.strict { N::ZERO.minus(&N::ONE) } else { N::ZERO };
            upper.push(Value { real: row.upper.clone(), infinitesimal: below });
        }
        Self {
            entries: rows.iter().map(|row| row.coefficients[..dimensions].to_vec()).collect(),
            basic: (dimensions..dimensions + rows.len()).collect(),
            others: (0..dimensions).collect(),
            lower,
            upper,
            value,
        }
    }

    /// By how much a variable is below its lower or above its upper bound, and whether it is below.
    fn violation(&self, variable: usize) -> Option<(Value<N>, bool)> {
        let value = &self.value[variable];
        if let Some(lower) = &self.lower[variable] {
            let missing = lower.minus(value);
            if missing.sign() == Ordering::Greater {
                return Some((missing, true));
            }
        }
        let excess = value.minus(&self.upper[variable]);
        (excess.sign() == Ordering::Greater).then_some((excess, false))
    }

    /// The row of a basic variable that violates a bound: the greatest violation, or the variable
    /// with the least index.
    fn violated(&self, bland: bool) -> Option<(usize, bool)> {
        let mut best: Option<(usize, Value<N>, bool)> = None;
        for (row, &variable) in self.basic.iter().enumerate() {
            let Some((violation, below)) = self.violation(variable) else { continue };
            let better = match &best {
                None => true,
                Some((other, ..)) if bland => variable < self.basic[*other],
                Some((_, other, _)) => violation.minus(other).sign() == Ordering::Greater,
            };
            if better {
                best = Some((row, violation, below));
            }
        }
        best.map(|(row, _, below)| (row, below))
    }

    /// A column whose variable can move so that the row's variable moves towards its bound: one
    /// with a large entry, or the variable with the least index.
    fn entering(&self, row: usize, below: bool, bland: bool) -> Option<usize> {
        let mut best: Option<usize> = None;
        for (column, entry) in self.entries[row].iter().enumerate() {
            let variable = self.others[column];
            let sign = entry.sign();
            let up = match sign {
                Ordering::Equal => continue,
                Ordering::Greater => below,
                Ordering::Less => !below,
            };
            let value = &self.value[variable];
            let can_move = if up {
                self.upper[variable].minus(value).sign() == Ordering::Greater
            } else {
                let lower = self.lower[variable].as_ref();
                lower.is_none_or(|lower| value.minus(lower).sign() == Ordering::Greater)
            };
            if !can_move {
                continue;
            }
            let better = match best {
                None => true,
                Some(other) if bland => variable < self.others[other],
                Some(other) => {
                    let magnitude = |x: &N, sign: Ordering| match sign {
                        Ordering::Less => N::ZERO.minus(x),
                        _ => x.clone(),
                    };
                    let other = &self.entries[row][other];
                    let difference = magnitude(entry, sign).minus(&magnitude(other, other.sign()));
                    difference.sign() == Ordering::Greater
                }
            };
            if better {
                best = Some(column);
            }
        }
        best
    }

    /// Exchanges a basic variable, which moves to its bound, with another one. `false` if `go_on`
    /// denied: the tableau is of no use then.
    fn pivot(
        &mut self,
        row: usize,
        column: usize,
        below: bool,
        go_on: &mut impl FnMut() -> bool,
    ) -> bool {
        let (leaving, entering) = (self.basic[row], self.others[column]);
        let bound = match &self.lower[leaving] {
            Some(lower) if below => lower,
            _ => &self.upper[leaving],
        };
        let pivot = self.entries[row][column].clone();
        let step = bound.minus(&self.value[leaving]).over(&pivot);
        self.value[leaving] = bound.clone();
        self.value[entering] = self.value[entering].add_product(&N::ONE, &step);
        for (entries, &basic) in zip(&self.entries, &self.basic) {
            if basic != leaving {
                self.value[basic] = self.value[basic].add_product(&entries[column], &step);
            }
        }
        // leaving = Σ a·x + pivot·entering  ⇔  entering = leaving/pivot − Σ a/pivot·x
        let inverse = N::ONE.over(&pivot);
        let negative = N::ZERO.minus(&inverse);
        let mut exchanged: Vec<N> = Vec::with_capacity(self.others.len());
        for (at, entry) in self.entries[row].iter().enumerate() {
            let new =
                if at == column { inverse.clone() } else { N::ZERO.add_product(&negative, entry) };
            exchanged.push(new);
        }
        for (at, entries) in self.entries.iter_mut().enumerate() {
            if at == row {
                continue;
            }
            if N::EXACT && !go_on() {
                return false;
            }
            let factor = std::mem::replace(&mut entries[column], N::ZERO);
            for (entry, exchanged) in zip(entries, &exchanged) {
                *entry = entry.add_product(&factor, exchanged);
            }
        }
        self.entries[row] = exchanged;
        self.basic[row] = entering;
        self.others[column] = leaving;
        true
    }

    /// The multiples of the problem's rows that contradict the bounds of a basic variable.
    fn multipliers(&self, row: usize, rows: usize) -> Vec<N> {
        let dimensions = self.value.len() - rows;
        let mut multipliers = vec![N::ZERO; rows];
        if let Some(at) = self.basic[row].checked_sub(dimensions) {
            multipliers[at] = N::ONE;
        }
        for (entry, variable) in zip(&self.entries[row], &self.others) {
            if let Some(at) = variable.checked_sub(dimensions) {
                multipliers[at] = match entry.sign() {
                    Ordering::Less => N::ZERO.minus(entry),
                    Ordering::Equal => N::ZERO,
                    Ordering::Greater => entry.clone(),
                };
            }
        }
        multipliers
    }

    /// The values of the problem's variables, with an infinitesimal that is small enough.
    fn point(&self) -> Vec<N> {
        let mut epsilon = N::ONE;
        let mut shrink = |gap: Value<N>| {
            // The gap is not negative; its infinitesimal part may be.
            if gap.infinitesimal.sign() == Ordering::Less && gap.real.sign() == Ordering::Greater {
                let most = gap.real.over(&N::ZERO.minus(&gap.infinitesimal));
                if most.minus(&epsilon).sign() == Ordering::Less {
                    epsilon = most;
                }
            }
        };
        for ((value, lower), upper) in zip(zip(&self.value, &self.lower), &self.upper) {
            if let Some(lower) = lower {
                shrink(value.minus(lower));
            }
            shrink(upper.minus(value));
        }
        let dimensions = self.value.len() - self.entries.len();
        let values = self.value[..dimensions].iter();
        values.map(|value| value.real.add_product(&epsilon, &value.infinitesimal)).collect()
    }
}

#[cfg(test)]
mod tests;
