//! The joint planes of a part of the region: linear inequalities over the variables that every
//! answer in the part satisfies, and the proof that they contradict each other.
//!
//! The multiples come from the simplex method in double precision and are a suggestion; the sum of
//! the planes with these multiples is evaluated with outward rounding, and that is the proof.

use policert_engine_api::{Budget, StopReason};
use policert_numeric::round::{add_down, add_up, mul_down, mul_up, sub_down, sub_up};
use policert_numeric::simplex::{Feasibility, SimplexRow, feasible_point};

/// `Σ slope · variable ≤ upper`.
#[derive(Clone, Debug)]
pub(crate) struct PlaneRow {
    pub slopes: Vec<f64>,
    pub upper: f64,
}

/// The joint meaning of all planes.
#[derive(Clone, Debug)]
pub(crate) enum Joint {
    /// No point of the box satisfies all of them.
    Contradictory,
    /// This one seems to.
    Point(Vec<f64>),
    Unclear,
}

impl PlaneRow {
    /// Returns whether no point of the box satisfies it.
    pub fn is_refuted(&self, lo: &[f64], hi: &[f64]) -> bool {
        let sides = lo.iter().zip(hi);
        let terms = self.slopes.iter().zip(sides);
        let least = terms.fold(0.0, |sum, (&slope, (&lo, &hi))| {
            let end = if slope < 0.0 { hi } else { lo };
            if slope == 0.0 { sum } else { add_down(sum, mul_down(slope, end)) }
        });
        least > self.upper
    }
}

/// Looks for a point of the box that satisfies all rows.
///
/// # Errors
/// A stop of the budget.
pub(crate) fn joint(
    lo: &[f64],
    hi: &[f64],
    rows: &[PlaneRow],
    budget: &mut Budget,
) -> Result<Joint, StopReason> {
    let widths: Vec<f64> = lo.iter().zip(hi).map(|(lo, hi)| hi - lo).collect();
    let mut factors = Vec::with_capacity(rows.len());
    let scaled: Vec<SimplexRow<f64>> = rows
        .iter()
        .filter_map(|row| {
            // Variables between 0 and 1, the greatest coefficient 1.
            let coefficients: Vec<f64> =
                row.slopes.iter().zip(&widths).map(|(slope, width)| slope * width).collect();
            let at_lo: f64 = row.slopes.iter().zip(lo).map(|(slope, lo)| slope * lo).sum();
            let largest = coefficients.iter().fold(0.0f64, |size, c| size.max(c.abs()));
            let factor = 1.0 / largest;
            let usable = factor.is_normal() && (row.upper - at_lo).is_finite();
            factors.push(if usable { factor } else { 0.0 });
            usable.then(|| SimplexRow {
                coefficients: coefficients.iter().map(|c| c * factor).collect(),
                upper: (row.upper - at_lo) * factor,
                strict: false,
            })
        })
        .collect();
    let (zeros, ones) = (vec![0.0; lo.len()], vec![1.0; lo.len()]);
    let mut stopped = Ok(());
    let found = feasible_point(&zeros, &ones, &scaled, || {
        stopped = budget.poll();
        stopped.is_ok()
    });
    stopped?;
    Ok(match found {
        Feasibility::Feasible(point) => {
            let sides = lo.iter().zip(hi).zip(&widths);
            let at = |(x, ((&lo, &hi), width)): (&f64, ((&f64, &f64), &f64))| {
                (lo + x * width).clamp(lo, hi)
            };
            Joint::Point(point.iter().zip(sides).map(at).collect())
        }
        Feasibility::Infeasible(multiples) => {
            let mut multiples = multiples.into_iter();
            let multiples: Vec<f64> = factors
                .iter()
                .map(
                    |&factor| {
                        if factor > 0.0 { multiples.next().unwrap_or(0.0) * factor } else { 0.0 }
                    },
                )
                .collect();
            if contradicts(lo, hi, rows, &multiples) {
                Joint::Contradictory
            } else {
                Joint::Unclear
            }
        }
        Feasibility::Open => Joint::Unclear,
    })
}

/// Returns whether the sum of the rows with these multiples is satisfied nowhere in the box.
fn contradicts(lo: &[f64], hi: &[f64], rows: &[PlaneRow], multiples: &[f64]) -> bool {
    let used = || rows.iter().zip(multiples).filter(|&(_, &multiple)| multiple != 0.0);
    if used().any(|(_, &multiple)| multiple.is_nan() || multiple < 0.0) {
        return false;
    }
    let upper = used().fold(0.0, |sum, (row, &by)| add_up(sum, mul_up(by, row.upper)));
    let mut least = 0.0;
    for (variable, (&lo, &hi)) in lo.iter().zip(hi).enumerate() {
        let (below, above) = used().fold((0.0, 0.0), |(below, above), (row, &by)| {
            let slope = row.slopes[variable];
            (add_down(below, mul_down(by, slope)), add_up(above, mul_up(by, slope)))
        });
        let products =
            [mul_down(below, lo), mul_down(below, hi), mul_down(above, lo), mul_down(above, hi)];
        let smallest = products.into_iter().fold(f64::INFINITY, f64::min);
        if products.iter().any(|product| product.is_nan()) {
            return false;
        }
        least = add_down(least, smallest);
    }
    least > upper
}

/// `upper − constant` for a plane `slopes · x + constant ≤ upper`.
pub(crate) fn upper_side(upper: f64, constant: f64) -> f64 {
    sub_up(upper, constant)
}

/// Adds the slopes of an inequality to those of a plane; `None` with what rounding may lose,
/// for variables of at most these magnitudes.
pub(crate) fn add_slopes(slopes: &mut [f64], others: &[f64], sizes: &[f64]) -> f64 {
    let mut loss = 0.0;
    for ((slope, &other), &size) in slopes.iter_mut().zip(others).zip(sizes) {
        if other != 0.0 {
            let (below, above) = (add_down(*slope, other), add_up(*slope, other));
            *slope += other;
            if below < above {
                loss = add_up(loss, mul_up(sub_up(above, below), size));
            }
        }
    }
    loss
}

/// `lower bound − upper`, rounded down.
pub(crate) fn margin(lower: f64, upper: f64) -> f64 {
    sub_down(lower, upper)
}
