//! Stage *guess*, continued: coordinate ascent of an output's lead over its rivals, in double
//! precision. What it finds is a candidate and no more.

use policert_numeric::IntBox;

use crate::prepared::{PreparedPolicy, ScoreBounds};

/// Moves that are made at most.
const MOVES: usize = 16;

impl PreparedPolicy<'_> {
    /// A point of a box (along the axes), reached from `start` by changing one coordinate at a
    /// time, at which the output leads all `rivals`; `allowed` says which points come into
    /// question.
    pub(crate) fn climb(
        &mut self,
        sides: &IntBox,
        start: &[i64],
        output: usize,
        rivals: &[usize],
        mut allowed: impl FnMut(&[i64]) -> bool,
    ) -> Option<Vec<i64>> {
        let width = sides.dimensions();
        let mut current = start.to_vec();
        let mut lead = self.leads(&current, output, rivals).first().copied()?;
        for _ in 0..MOVES {
            let mut moves = Vec::new();
            for axis in 0..width {
                for value in steps(sides[axis].lo, sides[axis].hi, current[axis]) {
                    moves.extend_from_slice(&current);
                    let last = moves.len() - width;
                    moves[last + axis] = value;
                    if !allowed(&moves[last..]) {
                        moves.truncate(last);
                    }
                }
            }
            let leads = self.leads(&moves, output, rivals);
            let best = (0..leads.len()).max_by(|&a, &b| leads[a].total_cmp(&leads[b]))?;
            if leads[best].is_nan() || leads[best] <= lead {
                return None;
            }
            lead = leads[best];
            current.copy_from_slice(&moves[best * width..(best + 1) * width]);
            if lead > 0.0 {
                return Some(current);
            }
        }
        None
    }

    /// By how much the output leads its best rival at each point, rounded.
    fn leads(&mut self, points: &[i64], output: usize, rivals: &[usize]) -> Vec<f64> {
        let width = self.axes.variables.len();
        let mut inputs = Vec::with_capacity(points.len() / width * self.axes.reads.len());
        for point in points.chunks_exact(width) {
            #[expect(clippy::cast_precision_loss, reason = "a heuristic")]
            inputs.extend(self.axes.reads.iter().map(|&axis| point[axis] as f64));
        }
        let mut scores = Vec::new();
        // Scores of trees are constant around a point: there is nothing to climb.
        let ScoreBounds::Network(network) = &mut self.function else { return Vec::new() };
        network.evaluator.evaluate(&inputs, &mut scores);
        self.statistics.points += (points.len() / width) as u64;
        let outputs = self.applicable.len();
        let lead = |scores: &[f64]| {
            let best = rivals.iter().map(|&rival| scores[rival]).fold(f64::NEG_INFINITY, f64::max);
            scores[output] - best
        };
        scores.chunks_exact(outputs).map(lead).collect()
    }
}

/// Other values of a coordinate that are worth a try: neighbours, ends, and half way to them.
fn steps(lo: i64, hi: i64, current: i64) -> impl Iterator<Item = i64> {
    let half = |end: i64| current.midpoint(end);
    let values = [lo, hi, current.saturating_sub(1), current.saturating_add(1), half(lo), half(hi)];
    (0..values.len()).filter_map(move |i| {
        let value = values[i];
        let new = lo <= value && value <= hi && value != current && !values[..i].contains(&value);
        new.then_some(value)
    })
}
