//! Descent from a likely point to one that satisfies the inequalities, in double precision. What
//! it finds is a candidate and no more.

use std::iter::zip;

use policert_engine_api::{Budget, StopReason};

use super::RealOracle;
use super::search::RealSearch;

/// Steps that are taken at most.
const STEPS: usize = 24;
/// A margin by which an inequality most likely holds in spite of rounding errors.
const CLEAR: f64 = 1e-9;
/// The distance at which the gradient is measured, as a part of each side.
const NEAR: f64 = 1.0 / 4096.0;
/// Coordinates of points that are kept at once.
const AT_ONCE: usize = 1 << 20;
/// Products that are computed between two looks at the budget.
const BATCH: usize = 1 << 22;

impl RealSearch {
    /// A point of the whole box with a smaller excess than `start`, along the steepest descent of
    /// the greatest excess of an inequality.
    pub fn descend(
        &self,
        oracle: &mut RealOracle,
        start: &[f64],
        budget: &mut Budget,
    ) -> Result<Vec<f64>, StopReason> {
        let dimensions = start.len();
        let widths: Vec<f64> =
            zip(&self.whole.lo, &self.whole.hi).map(|(lo, hi)| hi - lo).collect();
        let mut current = start.to_vec();
        let mut excess = self.excesses(oracle, &current, budget)?[0];
        for _ in 0..STEPS {
            if excess <= -CLEAR {
                break;
            }
            let slopes = self.slopes(oracle, &current, excess, budget)?;
            let steepest = slopes.iter().fold(0.0f64, |most, slope| most.max(slope.abs()));
            if !(steepest > 0.0 && steepest.is_finite()) {
                break;
            }
            // Lengths 1, 1/4, 1/16, … of the sides, by sign and by gradient.
            let mut points = Vec::with_capacity(16 * dimensions);
            for by_sign in [true, false] {
                for length in 0..8 {
                    let length = 0.25f64.powi(length);
                    for (variable, &slope) in slopes.iter().enumerate() {
                        let share = if by_sign { slope.signum() } else { slope / steepest };
                        let share = if slope == 0.0 { 0.0 } else { share };
                        let to = current[variable] - share * length * widths[variable];
                        points.push(to.clamp(self.whole.lo[variable], self.whole.hi[variable]));
                    }
                }
            }
            let excesses = self.excesses(oracle, &points, budget)?;
            let best = (0..excesses.len()).min_by(|&a, &b| excesses[a].total_cmp(&excesses[b]));
            match best {
                Some(best) if excesses[best] < excess => {
                    excess = excesses[best];
                    current.copy_from_slice(&points[best * dimensions..(best + 1) * dimensions]);
                }
                _ => break,
            }
        }
        Ok(current)
    }

    /// By variable, how steeply the excess rises along its whole side.
    fn slopes(
        &self,
        oracle: &mut RealOracle,
        at: &[f64],
        excess: f64,
        budget: &mut Budget,
    ) -> Result<Vec<f64>, StopReason> {
        let dimensions = at.len();
        let side = |variable: usize| self.whole.hi[variable] - self.whole.lo[variable];
        let step = |variable: usize| {
            let step = side(variable) * NEAR;
            if self.whole.hi[variable] - at[variable] >= step { step } else { -step }
        };
        let mut slopes = Vec::with_capacity(dimensions);
        let variables: Vec<usize> = (0..dimensions).collect();
        // As many points at a time as need little memory.
        for variables in variables.chunks((AT_ONCE / dimensions.max(1)).max(1)) {
            let mut near = Vec::with_capacity(variables.len() * dimensions);
            for &variable in variables {
                near.extend_from_slice(at);
                let last = near.len() - dimensions;
                near[last + variable] += step(variable);
            }
            let excesses = self.excesses(oracle, &near, budget)?;
            for (row, (&variable, near_excess)) in zip(variables, excesses).enumerate() {
                let step = near[row * dimensions + variable] - at[variable];
                let slope = (near_excess - excess) / step * side(variable);
                slopes.push(if step == 0.0 { 0.0 } else { slope });
            }
        }
        Ok(slopes)
    }

    /// For each point by how much the inequality that is farthest from holding does not hold.
    pub fn excesses(
        &self,
        oracle: &mut RealOracle,
        points: &[f64],
        budget: &mut Budget,
    ) -> Result<Vec<f64>, StopReason> {
        let dimensions = self.whole.lo.len();
        // As many at a time as take about a millisecond.
        let batch = (BATCH / oracle.bounder.program().weights().max(1)).max(1) * dimensions.max(1);
        let mut excesses = Vec::with_capacity(points.len() / dimensions.max(1));
        for points in points.chunks(batch) {
            budget.poll()?;
            self.add_excesses(oracle, points, &mut excesses);
        }
        Ok(excesses)
    }

    fn add_excesses(&self, oracle: &mut RealOracle, points: &[f64], excesses: &mut Vec<f64>) {
        let dimensions = self.whole.lo.len();
        let mut inputs = Vec::with_capacity(points.len());
        for point in points.chunks_exact(dimensions) {
            inputs.extend(oracle.reads.iter().map(|&variable| point[variable]));
        }
        let mut scores = Vec::new();
        oracle.evaluator.evaluate(&inputs, &mut scores);
        oracle.statistics.points += (points.len() / dimensions) as u64;
        let scores = scores.chunks_exact(oracle.evaluator.output_width());
        let excess = |(point, scores): (&[f64], &[f64])| {
            let of = |constraint: &super::problem::Constraint| {
                let of_scores = constraint.scores.iter().map(|t| t.factor * scores[t.element]);
                let of_point = zip(&constraint.slopes, point).map(|(slope, x)| slope * x);
                of_scores.chain(of_point).sum::<f64>() - constraint.upper
            };
            self.constraints.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
        };
        excesses.extend(zip(points.chunks_exact(dimensions), scores).map(excess));
    }
}
