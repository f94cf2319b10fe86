//! Linear equations x = P x + b of a policy, in doubles: stabilised biconjugate gradients (van der
//! Vorst 1992), preconditioned by a Gauss–Seidel sweep. Nothing here is proved.

use policert_engine_api::{Budget, StopReason};

/// Rows of a sparse matrix of probabilities.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// By row: the end of its entries.
    pub ends: Vec<usize>,
    /// Column, probability.
    pub entries: Vec<(u32, f64)>,
}

/// Times that the iteration starts again from what it found.
const RESTARTS: u32 = 8;
/// The residual, relative to the solution, at which a solution is good enough.
const TOLERANCE: f64 = 1e-15;
/// The greatest residual that is accepted at the end.
const ACCEPTED: f64 = 1e-9;
/// A greater solution is none: the equations determine nothing, or nothing that doubles can tell.
const GREATEST: f64 = 1e12;

impl Rows {
    fn row(&self, row: usize) -> &[(u32, f64)] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.entries[start..self.ends[row]]
    }

    /// The mean of a row.
    #[inline]
    pub(super) fn mean(&self, row: usize, x: &[f64]) -> f64 {
        self.row(row).iter().map(|&(to, p)| p * x[to as usize]).sum()
    }

    /// Some of the rows.
    pub(super) fn of(&self, rows: &[usize]) -> Self {
        let mut chosen = Self::default();
        for &row in rows {
            chosen.entries.extend_from_slice(self.row(row));
            chosen.ends.push(chosen.entries.len());
        }
        chosen
    }

    /// y = x - P x.
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        for (row, y) in y.iter_mut().enumerate() {
            *y = x[row] - self.mean(row, x);
        }
    }

    /// z with z - L z = r, for the part L of P that leads to rows before.
    fn sweep(&self, r: &[f64], z: &mut [f64]) {
        for row in 0..r.len() {
            let before = self.row(row).iter().filter(|&&(to, _)| (to as usize) < row);
            z[row] = r[row] + before.map(|&(to, p)| p * z[to as usize]).sum::<f64>();
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The greatest magnitude; infinite if there is one without value.
fn greatest(x: &[f64]) -> f64 {
    let magnitude = |x: &f64| if x.is_nan() { f64::INFINITY } else { x.abs() };
    x.iter().map(magnitude).fold(0.0, f64::max)
}

/// x ← x + factor · d.
fn add(x: &mut [f64], factor: f64, d: &[f64]) {
    for (x, d) in x.iter_mut().zip(d) {
        *x += factor * d;
    }
}

/// Says how good a solution has to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Accuracy {
    /// Good enough to find better choices.
    Rough,
    /// As good as doubles allow.
    Fine,
}

/// Improves x; whether it is about a solution.
pub(super) fn solve(
    rows: &Rows,
    b: &[f64],
    x: &mut [f64],
    accuracy: Accuracy,
    budget: &mut Budget,
) -> Result<bool, StopReason> {
    let n = b.len();
    let mut rest = vec![0.0; n];
    let mut best = f64::INFINITY;
    let (restarts, goal) = match accuracy {
        Accuracy::Rough => (1, 1e-3),
        Accuracy::Fine => (RESTARTS, 1e-9),
    };
    for _ in 0..restarts {
        rows.apply(x, &mut rest);
        for (rest, b) in rest.iter_mut().zip(b) {
            *rest = b - *rest;
        }
        let left = greatest(&rest) / greatest(x).max(f64::MIN_POSITIVE);
        if !left.is_finite() {
            return Ok(false);
        }
        let slow = left > best / 2.0;
        best = best.min(left);
        if slow || left <= TOLERANCE {
            break;
        }
        let mut correction = vec![0.0; n];
        gradients(rows, &mut rest, &mut correction, goal, budget)?;
        add(x, 1.0, &correction);
    }
    let determined = greatest(x) <= GREATEST;
    Ok(determined && (accuracy == Accuracy::Rough || best <= ACCEPTED))
}

/// x with x - P x ≈ r; what is left of r at the end.
fn gradients(
    rows: &Rows,
    r: &mut [f64],
    x: &mut [f64],
    goal: f64,
    budget: &mut Budget,
) -> Result<(), StopReason> {
    let n = r.len();
    let goal = goal * greatest(r);
    let shadow = r.to_vec();
    let (mut p, mut v) = (vec![0.0; n], vec![0.0; n]);
    let (mut y, mut z, mut t) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
    let (mut least, mut best) = (greatest(r), vec![0.0; n]);
    for _ in 0..(4 * n).min(2000) + 20 {
        for _ in 0..n / 64 + 1 {
            budget.poll()?;
        }
        let next = dot(&shadow, r);
        if next.abs() < f64::MIN_POSITIVE || omega == 0.0 {
            break;
        }
        let beta = next / rho * (alpha / omega);
        rho = next;
        for i in 0..n {
            p[i] = r[i] + beta * (p[i] - omega * v[i]);
        }
        rows.sweep(&p, &mut y);
        rows.apply(&y, &mut v);
        alpha = rho / dot(&shadow, &v);
        add(x, alpha, &y);
        add(r, -alpha, &v);
        rows.sweep(r, &mut z);
        rows.apply(&z, &mut t);
        let size = dot(&t, &t);
        omega = if size > 0.0 { dot(&t, r) / size } else { 0.0 };
        add(x, omega, &z);
        add(r, -omega, &t);
        let left = greatest(r);
        if !left.is_finite() {
            break;
        }
        if left < least {
            least = left;
            best.copy_from_slice(x);
        }
        if left <= goal {
            break;
        }
    }
    x.copy_from_slice(&best);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_between_two_ends() {
        let mut rows = Rows::default();
        let n = 200u32;
        for i in 0..n {
            rows.entries.extend(
                [i.checked_sub(1), Some(i + 1)]
                    .into_iter()
                    .flatten()
                    .filter(|&to| to < n)
                    .map(|to| (to, 0.5)),
            );
            rows.ends.push(rows.entries.len());
        }
        let mut b = vec![0.0; 200];
        b[199] = 0.5;
        let mut x = vec![0.0; 200];
        assert!(
            solve(&rows, &b, &mut x, Accuracy::Fine, &mut Budget::unlimited()).expect("no limit")
        );
        for (x, i) in x.iter().zip(1u32..) {
            assert!((x - f64::from(i) / 201.0).abs() < 1e-10, "{i}: {x}");
        }
    }

    #[test]
    fn what_never_ends_has_no_solution() {
        let rows = Rows { ends: vec![1, 2], entries: vec![(1, 1.0), (0, 1.0)] };
        let mut x = vec![0.0; 2];
        let solved = solve(&rows, &[1.0, 1.0], &mut x, Accuracy::Fine, &mut Budget::unlimited());
        assert_eq!(solved, Ok(false), "{x:?}");
    }
}
