//! Points at random, and descents from the best: where witnesses are not rare, they are found
//! without any bounds.

use policert_engine_api::{Budget, StopReason};
use policert_numeric::Rational;

use super::RealOracle;
use super::search::RealSearch;

/// Points that are tried for each part that was looked at so far.
const POINTS_PER_PART: u64 = 16;
/// At most so many at once.
const MANY_POINTS: u64 = 1 << 14;
/// Points before the first split, and how many of them a descent starts from.
const FIRST_POINTS: u64 = 64;
const FIRST_DESCENTS: usize = 1;
/// The best points are checked exactly.
const CHECKED: usize = 4;

/// Numbers that look random (SplitMix64), the same in every run.
#[derive(Clone, Debug)]
pub(super) struct Draws(u64);

impl Draws {
    pub fn new() -> Self {
        Self(0)
    }

    /// 64 bits.
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number between 0 and 1; with `ends` every second one is an end.
    fn share(&mut self, ends: bool) -> f64 {
        let bits = self.bits();
        match bits & 3 {
            0 if ends => 0.0,
            1 if ends => 1.0,
            #[expect(clippy::cast_precision_loss, reason = "53 bits")]
            _ => (bits >> 11) as f64 / (1u64 << 53) as f64,
        }
    }
}

impl RealSearch {
    /// Before anything is split: looks at a few points of the whole box, and descends from the
    /// best. A point that satisfies everything, exactly.
    pub fn first_look(
        &mut self,
        oracle: &mut RealOracle,
        budget: &mut Budget,
    ) -> Result<Option<Vec<Rational>>, StopReason> {
        self.look_at_points(oracle, FIRST_POINTS, FIRST_DESCENTS, budget)
    }

    /// After 4, 16, 64, … parts that were not refuted: looks at as many points of the whole box as
    /// these parts are worth, and descends from the best, from one more each time. A point that
    /// satisfies everything, exactly.
    pub fn sample(
        &mut self,
        oracle: &mut RealOracle,
        budget: &mut Budget,
    ) -> Result<Option<Vec<Rational>>, StopReason> {
        let parts = self.looked_at;
        if parts < 4 || !parts.is_power_of_two() || !parts.trailing_zeros().is_multiple_of(2) {
            return Ok(None);
        }
        let count = (parts * POINTS_PER_PART).min(MANY_POINTS);
        self.look_at_points(oracle, count, parts.trailing_zeros() as usize / 2, budget)
    }

    /// Looks at points at random, every second one a corner in most of its coordinates, and
    /// descends from the best.
    fn look_at_points(
        &mut self,
        oracle: &mut RealOracle,
        count: u64,
        descents: usize,
        budget: &mut Budget,
    ) -> Result<Option<Vec<Rational>>, StopReason> {
        let mut points = Vec::new();
        for number in 0..count {
            let ends = number % 2 == 1;
            for (&lo, &hi) in self.whole.lo.iter().zip(&self.whole.hi) {
                let share = self.draws.share(ends);
                points.push((lo * (1.0 - share) + hi * share).clamp(lo, hi));
            }
        }
        let excesses = self.excesses(oracle, &points, budget)?;
        let mut order: Vec<usize> = (0..excesses.len()).collect();
        order.sort_by(|&a, &b| excesses[a].total_cmp(&excesses[b]));
        let dimensions = self.whole.lo.len();
        let point = |at: usize| &points[at * dimensions..(at + 1) * dimensions];
        for &at in order.iter().take(CHECKED).filter(|&&at| excesses[at] <= 0.0) {
            if let Some(found) = self.exactly(oracle, point(at)) {
                return Ok(Some(found));
            }
        }
        for &at in order.iter().take(descents) {
            let end = self.descend(oracle, point(at), budget)?;
            if let Some(found) = self.check(oracle, &end, budget)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
