//! Descent from a likely point to one that satisfies the inequalities, in double precision, along
//! gradients that the network's own backward pass gives. What it finds is a candidate and no more.

use std::iter::zip;

use policert_engine_api::{Budget, StopReason};

use super::RealOracle;
use super::problem::Constraint;
use super::search::RealSearch;

/// Steps that are taken at most.
const STEPS: usize = 24;
/// A margin by which an inequality most likely holds in spite of rounding errors.
const CLEAR: f64 = 1e-9;
/// The slope of a function where it is flat, for steps in spite of slopes that are 0.
const FLAT: f64 = 1.0 / 16.0;
/// Lengths of a step: 1, 1/4, 1/16, … of the sides.
const LENGTHS: i32 = 8;
/// Products that are computed between two looks at the budget.
const BATCH: usize = 1 << 22;

impl RealSearch {
    /// A point of the whole box with a smaller excess than `start`, along the steepest descent of
    /// the greatest excess of an inequality, or of all that do not hold.
    pub fn descend(
        &self,
        oracle: &mut RealOracle,
        start: &[f64],
        budget: &mut Budget,
    ) -> Result<Vec<f64>, StopReason> {
        let dimensions = start.len();
        let mut current = start.to_vec();
        let mut excess = self.excesses(oracle, &current, budget)?[0];
        for _ in 0..STEPS {
            if excess <= -CLEAR {
                break;
            }
            oracle.bounder.poll(budget)?;
            let points = self.steps(oracle, &current);
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

    /// Points that steps of all lengths lead to, by the signs of gradients and along them.
    fn steps(&self, oracle: &RealOracle, at: &[f64]) -> Vec<f64> {
        let inputs: Vec<f64> = oracle.reads.iter().map(|&variable| at[variable]).collect();
        let values = oracle.bounder.program().values(&inputs);
        let scores = &values[oracle.bounder.program().range(oracle.bounder.program().output)];
        let excesses: Vec<f64> =
            self.constraints.iter().map(|constraint| constraint.excess(at, scores)).collect();
        let worst = (0..excesses.len()).max_by(|&a, &b| excesses[a].total_cmp(&excesses[b]));
        let Some(worst) = worst else { return Vec::new() };
        let broken: Vec<usize> = (0..excesses.len()).filter(|&c| excesses[c] > -CLEAR).collect();
        let mut points = Vec::new();
        for chosen in [&[worst][..], &broken].iter().take(broken.len().clamp(1, 2)) {
            let chosen: Vec<&Constraint> = chosen.iter().map(|&c| &self.constraints[c]).collect();
            let slopes = self.slopes(oracle, &values, &chosen, 0.0);
            self.add_steps(at, &slopes, &mut points);
            let is_free = |(lo, hi)| lo < hi;
            let free = zip(&self.whole.lo, &self.whole.hi).map(is_free);
            if zip(&slopes, free).any(|(&slope, is_free)| is_free && slope == 0.0) {
                let slopes = self.slopes(oracle, &values, &chosen, FLAT);
                self.add_steps(at, &slopes, &mut points);
            }
        }
        points
    }

    /// Adds the points that steps of all lengths lead to, against these slopes.
    fn add_steps(&self, at: &[f64], slopes: &[f64], points: &mut Vec<f64>) {
        let steepest = slopes.iter().fold(0.0f64, |most, slope| most.max(slope.abs()));
        if !(steepest > 0.0 && steepest.is_finite()) {
            return;
        }
        for by_sign in [true, false] {
            for length in (0..LENGTHS).map(|length| 0.25f64.powi(length)) {
                let sides = zip(&self.whole.lo, &self.whole.hi);
                points.extend(zip(zip(at, slopes), sides).map(|((&x, &slope), (&lo, &hi))| {
                    let share = if by_sign { slope.signum() } else { slope / steepest };
                    let share = if slope == 0.0 { 0.0 } else { share };
                    (x - share * length * (hi - lo)).clamp(lo, hi)
                }));
            }
        }
    }

    /// By variable, how steeply the sum of some inequalities rises along its whole side where the
    /// network has these values. Functions that are flat there have the slope `flat`.
    fn slopes(
        &self,
        oracle: &RealOracle,
        values: &[f64],
        constraints: &[&Constraint],
        flat: f64,
    ) -> Vec<f64> {
        let program = oracle.bounder.program();
        let output = program.nodes[program.output].at;
        let mut coefficients = vec![0.0; program.slots];
        let mut slopes = vec![0.0; self.whole.lo.len()];
        for constraint in constraints {
            for term in &constraint.scores {
                coefficients[output + term.element] += term.factor;
            }
            zip(&mut slopes, &constraint.slopes).for_each(|(sum, slope)| *sum += slope);
        }
        program.gradient(values, flat, &mut coefficients);
        zip(&oracle.reads, &coefficients).for_each(|(&variable, a)| slopes[variable] += a);
        for (slope, (lo, hi)) in zip(&mut slopes, zip(&self.whole.lo, &self.whole.hi)) {
            *slope *= hi - lo;
        }
        slopes
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
            let each = self.constraints.iter().map(|constraint| constraint.excess(point, scores));
            each.fold(f64::NEG_INFINITY, f64::max)
        };
        excesses.extend(zip(points.chunks_exact(dimensions), scores).map(excess));
    }
}
