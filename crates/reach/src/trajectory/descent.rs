//! Start states that come closest to breaking the question, by descent on how far a trajectory is from it.
//!
//! The slopes of that distance by the start are differences of neighbouring trajectories, in plain double
//! precision; whatever is found is followed rigorously.

use policert_control_loop::{ClosedRange, Disturbance, Gusts};
use policert_engine_api::StopReason;
use policert_numeric::{Interval, Rational};

use super::{Simulator, Violation, start_states};
use crate::reachable_sets::Part;

/// Most steps of a descent.
const STEPS: usize = 40;
/// The first step moves the start by this part of the range of the variable that matters most; a step that
/// comes no closer is halved.
const FIRST_STEP: f64 = 0.5;
/// Shorter steps are not tried.
const LEAST_STEP: f64 = 1e-4;
/// The part of a variable's range by which starts differ for the slope.
const DIFFERENCE: f64 = 1e-4;
/// Random starts, besides the middle and the corners, among which a descent begins with the best one.
const RANDOM_STARTS: usize = 24;

/// How far a trajectory is from breaking the question about each, about: in the units of bounds and
/// conditions, not positive where it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Margins {
    /// The least distance from an unsafe set, up to the goal where the run ends in it.
    avoids: f64,
    /// How deep in the goal it comes; infinite where there is none.
    reaches: f64,
}

impl Margins {
    /// Returns whether it may break the question.
    pub(super) fn promise(self) -> bool {
        self.avoids <= 0.0 || self.reaches <= 0.0
    }
}

impl<R: ClosedRange> Simulator<'_, '_, R> {
    /// The margins of the trajectory from a state; `None` if the controller reads cells.
    pub(super) fn margins(
        &mut self,
        start: &[f64],
        mut gusts: Gusts,
    ) -> Result<Option<Margins>, StopReason> {
        let mut margins = Margins { avoids: f64::INFINITY, reaches: f64::INFINITY };
        let mut nearest_goal = f64::INFINITY;
        let mut state = start.to_vec();
        for step in 0..=self.task.steps {
            if step > 0 {
                self.budget.poll_clock()?;
                let Some(mut inputs) = self.controls.rough_action(&state) else { return Ok(None) };
                let disturbances: &[Disturbance] = &self.task.dynamics.disturbances;
                let values: Vec<Interval> = gusts.next(disturbances);
                inputs.extend(values.iter().map(|value| value.midpoint()));
                self.approximate.step(&mut state, &inputs);
            }
            if !state.iter().all(|x| x.is_finite()) {
                return Ok(Some(margins));
            }
            for set in self.task.avoided_at(step) {
                margins.avoids = margins.avoids.min(set.distance(&state));
            }
            if let Some(goal) = &self.task.goal {
                nearest_goal = nearest_goal.min(goal.distance(&state));
                if nearest_goal < 0.0 && self.task.ends_in_goal() {
                    break;
                }
            }
        }
        if self.task.goal.is_some() {
            margins.reaches = -nearest_goal;
        }
        Ok(Some(margins))
    }

    /// A trajectory from a start in a part that breaks the question about each, if descent finds one.
    ///
    /// # Errors
    /// If the budget runs out.
    pub fn descent(&mut self, part: &Part) -> Result<Option<Violation<R>>, StopReason> {
        if !self.task.counts_each() {
            return Ok(None);
        }
        let starts = start_states(self.task, part, RANDOM_STARTS);
        let starts: Vec<Vec<f64>> =
            starts.iter().map(|start| start.iter().map(Rational::to_f64).collect()).collect();
        let measures: [fn(Margins) -> f64; 2] =
            [|margins| margins.avoids, |margins| margins.reaches];
        for measure in measures {
            let mut best: Option<(f64, Vec<f64>, Gusts)> = None;
            for start in &starts {
                for &gusts in Gusts::tried(&self.task.dynamics) {
                    let Some(margins) = self.margins(start, gusts)? else { return Ok(None) };
                    let margin = measure(margins);
                    if margin.is_finite() && best.as_ref().is_none_or(|best| margin < best.0) {
                        best = Some((margin, start.clone(), gusts));
                    }
                }
            }
            let Some((margin, start, gusts)) = best else { continue };
            if let Some(found) = self.descend_from(part, measure, (margin, start), gusts)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn descend_from(
        &mut self,
        part: &Part,
        measure: fn(Margins) -> f64,
        (mut margin, mut start): (f64, Vec<f64>),
        gusts: Gusts,
    ) -> Result<Option<Violation<R>>, StopReason> {
        let bounds: Vec<(f64, f64)> =
            part.iter().map(|(lo, hi)| (lo.to_f64(), hi.to_f64())).collect();
        let mut length = FIRST_STEP;
        for _ in 0..STEPS {
            if margin <= 0.0
                && let Some(found) = self.followed(part, &start, gusts)?
            {
                return Ok(Some(found));
            }
            let mut slopes = Vec::with_capacity(start.len());
            for (i, &(lo, hi)) in bounds.iter().enumerate() {
                // Towards the middle, so that the neighbour lies in the part.
                let towards = if start[i] > lo / 2.0 + hi / 2.0 { -1.0 } else { 1.0 };
                let difference = towards * DIFFERENCE;
                let mut neighbour = start.clone();
                neighbour[i] += difference * (hi - lo);
                let moved = self.margins(&neighbour, gusts)?.map_or(margin, measure);
                slopes.push(if hi > lo && moved.is_finite() {
                    (moved - margin) / difference
                } else {
                    0.0
                });
            }
            let steepest = slopes.iter().fold(0.0f64, |most, slope| most.max(slope.abs()));
            if steepest == 0.0 {
                return Ok(None);
            }
            let mut better = None;
            while length >= LEAST_STEP {
                let part_of_range = |slope: &f64| slope / steepest * length;
                let moved = start.iter().zip(&slopes).zip(&bounds);
                let next: Vec<f64> = moved
                    .map(|((x, slope), (lo, hi))| {
                        (x - part_of_range(slope) * (hi - lo)).max(*lo).min(*hi)
                    })
                    .collect();
                let reached = self.margins(&next, gusts)?.map_or(margin, measure);
                if reached < margin {
                    better = Some((reached, next));
                    length *= 2.0;
                    break;
                }
                length /= 2.0;
            }
            let Some(next) = better else { return Ok(None) };
            (margin, start) = next;
        }
        Ok(None)
    }

    /// What the trajectory from a start near `start`, within the part, certainly breaks.
    fn followed(
        &mut self,
        part: &Part,
        start: &[f64],
        gusts: Gusts,
    ) -> Result<Option<Violation<R>>, StopReason> {
        let exact = |(&x, (lo, hi)): (&f64, &(Rational, Rational))| {
            Some(Rational::from_f64(x)?.max(lo.clone()).min(hi.clone()))
        };
        let Some(start) = start.iter().zip(part).map(exact).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let trajectory = self.follow(&start, gusts)?;
        let kind = self.violates_each(&trajectory);
        Ok(kind.map(|kind| Violation { kind, trajectories: vec![trajectory] }))
    }
}
