//! Whether a point satisfies the inequalities: likely ones in double precision first, then exactly.

use std::iter::zip;

use policert_engine_api::{Budget, StopReason};
use policert_numeric::Rational;

use super::RealOracle;
use super::search::RealSearch;
use crate::frame::RegionFrame;

impl RealSearch {
    /// One of the points that satisfies everything, exactly.
    pub fn check(
        &self,
        oracle: &mut RealOracle,
        points: &[f64],
        budget: &mut Budget,
    ) -> Result<Option<Vec<Rational>>, StopReason> {
        let excesses = self.excesses(oracle, points, budget)?;
        for (point, excess) in zip(points.chunks_exact(self.whole.lo.len()), excesses) {
            if excess <= 0.0
                && let Some(point) = self.exactly(oracle, point)
            {
                return Ok(Some(point));
            }
        }
        Ok(None)
    }

    /// The point, if it satisfies everything for certain.
    pub fn exactly(&self, oracle: &mut RealOracle, point: &[f64]) -> Option<Vec<Rational>> {
        let exactly: Option<Vec<Rational>> = point.iter().map(|&x| Rational::from_f64(x)).collect();
        exactly.filter(|point| self.satisfies(oracle, point))
    }

    /// Returns whether a point certainly satisfies everything.
    pub fn satisfies(&self, oracle: &mut RealOracle, point: &[Rational]) -> bool {
        oracle.statistics.checks += 1;
        let within = zip(zip(&self.problem.lo, &self.problem.hi), point)
            .all(|((lo, hi), x)| lo <= x && x <= hi);
        if !within {
            return false;
        }
        let inputs: Vec<Rational> =
            oracle.reads.iter().map(|&variable| point[variable].clone()).collect();
        if let Some(exact) = oracle.exact() {
            let mut values = point.to_vec();
            values.extend(exact.scores_at(&inputs));
            return self.problem.exact.iter().all(|inequality| inequality.holds(&values));
        }
        // Bounds of the scores at the point, by the worst value for each inequality.
        let lo = inputs.iter().map(|x| x.to_f64_interval().0).collect();
        let hi = inputs.iter().map(|x| x.to_f64_interval().1).collect();
        let bounds = RegionFrame::scores(oracle.bounder.program(), lo, hi);
        self.problem.exact.iter().all(|inequality| {
            let mut values = point.to_vec();
            values.extend(bounds.iter().map(|_| Rational::ZERO));
            for (variable, coefficient) in &inequality.terms {
                if let Some(element) = variable.checked_sub(self.problem.dimensions) {
                    let (below, above) = bounds[element];
                    let worst = if coefficient.signum() > 0 { above } else { below };
                    let Some(worst) = Rational::from_f64(worst) else { return false };
                    values[*variable] = worst;
                }
            }
            inequality.holds(&values)
        })
    }
}
