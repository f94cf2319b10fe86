//! Distributions, each stored once: exact probabilities, and doubles around them.

use policert_numeric::Rational;
use policert_numeric::round::UNIT_ROUNDOFF;
use rustc_hash::FxHashMap;

/// A stored probability.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProbabilityId(u32);

/// A stored distribution: probabilities without the states that they belong to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DistributionId(pub(crate) u32);

/// The probabilities and distributions of an MDP. A distribution may sum up to less than 1: the
/// rest never reaches anything.
#[derive(Clone, Debug, Default)]
pub struct Distributions {
    probabilities: Vec<Rational>,
    probability_ids: FxHashMap<Rational, u32>,
    /// By distribution, and one more: its first entry.
    starts: Vec<u32>,
    entries: Vec<ProbabilityId>,
    /// By entry: lower and upper bound of its probability.
    bounds: Vec<[f64; 2]>,
    /// By distribution: what its computed sums are multiplied with to be bounds.
    factors: Vec<[f64; 2]>,
    /// By distribution: whether it sums up to 1.
    complete: Vec<bool>,
    ids: FxHashMap<Box<[ProbabilityId]>, u32>,
}

/// Sums below this are rounded to 0, so that products that underflow do no harm.
const NEGLIGIBLE: f64 = 1e-250;
/// More than all products of a sum can lose by underflow.
const UNDERFLOW: f64 = 1e-300;

impl Distributions {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self { starts: vec![0], ..Self::default() }
    }

    /// Stores a probability.
    pub fn probability(&mut self, value: &Rational) -> ProbabilityId {
        if let Some(&id) = self.probability_ids.get(value) {
            return ProbabilityId(id);
        }
        let id = index(self.probabilities.len());
        self.probabilities.push(value.clone());
        self.probability_ids.insert(value.clone(), id);
        ProbabilityId(id)
    }

    /// Stores a distribution.
    pub fn distribution(&mut self, entries: &[ProbabilityId]) -> DistributionId {
        if let Some(&id) = self.ids.get(entries) {
            return DistributionId(id);
        }
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let id = index(self.starts.len() - 1);
        self.entries.extend_from_slice(entries);
        for entry in entries {
            let (lo, hi) = self.value(*entry).to_f64_interval();
            self.bounds.push([lo.max(0.0), hi]);
        }
        let sum: Rational = entries.iter().map(|&entry| self.value(entry).clone()).sum();
        self.complete.push(sum == Rational::ONE);
        self.starts.push(index(self.entries.len()));
        self.factors.push(factors(entries.len()));
        self.ids.insert(entries.into(), id);
        DistributionId(id)
    }

    /// A stored probability.
    #[must_use]
    pub fn value(&self, id: ProbabilityId) -> &Rational {
        &self.probabilities[id.0 as usize]
    }

    /// The probabilities of a distribution.
    #[must_use]
    #[inline]
    pub fn entries(&self, id: DistributionId) -> &[ProbabilityId] {
        &self.entries[self.range(id)]
    }

    /// Returns whether a distribution sums up to 1.
    #[must_use]
    #[inline]
    pub fn is_complete(&self, id: DistributionId) -> bool {
        self.complete[id.0 as usize]
    }

    /// Number of distributions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.factors.len()
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// The exact mean of the values of the successors.
    #[must_use]
    pub fn exact_mean<'v>(
        &self,
        id: DistributionId,
        values: impl IntoIterator<Item = &'v Rational>,
    ) -> Rational {
        let mut sum = Rational::ZERO;
        for (entry, value) in self.entries(id).iter().zip(values) {
            if !value.is_zero() {
                sum = &sum + &(self.value(*entry) * value);
            }
        }
        sum
    }

    /// Bounds of the mean of values between `[lo, hi]` in [0, 1]: proved, whatever the rounding.
    #[must_use]
    #[inline]
    pub fn mean(&self, id: DistributionId, successors: &[u32], values: &[[f64; 2]]) -> [f64; 2] {
        let bounds = self.bounds(id);
        if let ([[lo, _]], [successor]) = (bounds, successors)
            && *lo >= 1.0
        {
            return values[*successor as usize];
        }
        let (mut lo, mut hi) = (0.0f64, 0.0f64);
        for (p, &successor) in bounds.iter().zip(successors) {
            let value = values[successor as usize];
            lo += p[0] * value[0];
            hi += p[1] * value[1];
        }
        if hi > 0.0 || successors.iter().any(|&to| values[to as usize][1] > 0.0) {
            self.outward(id, lo, hi)
        } else {
            [0.0, 0.0]
        }
    }

    /// As [`Distributions::mean`], of these values.
    #[must_use]
    pub(crate) fn mean_of(&self, id: DistributionId, values: &[[f64; 2]]) -> [f64; 2] {
        let bounds = self.bounds(id);
        let (mut lo, mut hi) = (0.0f64, 0.0f64);
        for (p, value) in bounds.iter().zip(values) {
            lo += p[0] * value[0];
            hi += p[1] * value[1];
        }
        if values.iter().any(|value| value[1] > 0.0) {
            self.outward(id, lo, hi)
        } else {
            [0.0, 0.0]
        }
    }

    /// Lower and upper bounds of the probabilities of a distribution.
    #[inline]
    pub(crate) fn bounds(&self, id: DistributionId) -> &[[f64; 2]] {
        &self.bounds[self.range(id)]
    }

    /// Bounds of the exact sums, from the computed ones.
    #[inline]
    fn outward(&self, id: DistributionId, lo: f64, hi: f64) -> [f64; 2] {
        let [down, up] = self.factors[id.0 as usize];
        let lo = if lo < NEGLIGIBLE { 0.0 } else { lo * down };
        [lo, (hi * up + UNDERFLOW).min(1.0)]
    }

    #[inline]
    fn range(&self, id: DistributionId) -> std::ops::Range<usize> {
        let id = id.0 as usize;
        self.starts[id] as usize..self.starts[id + 1] as usize
    }
}

/// Factors that outweigh the roundings of a sum of `n` products of numbers that are not negative.
///
/// The computed sum s and the exact one differ by at most a factor 1 ± γₙ, and γₙ < (n + 1)u for
/// n < 2²⁶; one more u is for the product with the factor, and one for what underflows where
/// s is at least [`NEGLIGIBLE`].
fn factors(entries: usize) -> [f64; 2] {
    match u32::try_from(entries) {
        Ok(n) if n < 1 << 25 => {
            // An even number of u, so that 1 plus it is a double.
            let slack = f64::from((n + 5) & !1) * UNIT_ROUNDOFF;
            [1.0 - slack, 1.0 + slack]
        }
        _ => [0.0, f64::INFINITY],
    }
}

/// A number of stored things. Distributions are few; beyond the range of ids all memory is gone.
fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_distributions_are_one() {
        let mut distributions = Distributions::new();
        let half = distributions.probability(&Rational::new(1, 2).expect("not 0"));
        let again = distributions.probability(&Rational::new(2, 4).expect("not 0"));
        assert_eq!(half, again);
        let first = distributions.distribution(&[half, half]);
        assert_eq!(first, distributions.distribution(&[half, half]));
        assert_ne!(first, distributions.distribution(&[half]));
        assert_eq!(distributions.len(), 2);
    }

    proptest! {
        #[test]
        fn means_are_bounds(
            weights in prop::collection::vec((1i64..1_000_000, 0.0f64..=1.0), 1..20),
        ) {
            let sum: i64 = weights.iter().map(|w| w.0).sum();
            let mut distributions = Distributions::new();
            let exact: Vec<Rational> =
                weights.iter().map(|w| Rational::new(w.0, sum).expect("not 0")).collect();
            let entries: Vec<_> = exact.iter().map(|p| distributions.probability(p)).collect();
            let id = distributions.distribution(&entries);
            let successors: Vec<u32> = (0u32..).take(weights.len()).collect();
            let values: Vec<[f64; 2]> = weights.iter().map(|w| [w.1, w.1]).collect();
            let [lo, hi] = distributions.mean(id, &successors, &values);
            let rationals: Vec<_> =
                weights.iter().map(|w| Rational::from_f64(w.1).expect("finite")).collect();
            let mean = distributions.exact_mean(id, &rationals);
            prop_assert!(Rational::from_f64(lo).expect("finite") <= mean);
            prop_assert!(Rational::from_f64(hi).expect("finite") >= mean);
            prop_assert!(hi - lo < 1e-13);
        }
    }
}
