//! The probabilities with which a policy draws its labels, from below.

use std::cmp::Ordering;

use policert_numeric::{Enclosure, Rational};
use policert_policy::{Law, precise_scores};

use crate::scores::Scorer;

/// The precision, in fractional bits.
const BITS: usize = 128;

impl Scorer<'_> {
    /// Lower bounds of the probabilities with which the `competing` outputs are drawn; those that never are may
    /// be left out. Shares of trees and those of equal scores are exact.
    pub(crate) fn shares(&self, competing: &[usize], inputs: &[i64]) -> Vec<(usize, Rational)> {
        match (self.rationals(inputs), self.policy.law()) {
            (Some(scores), Law::Shares) => of_sum(competing, &scores),
            (Some(scores), Law::Softmax) => {
                let lead = |one: usize, other: usize| {
                    Enclosure::of(&(&scores[one] - &scores[other]), BITS)
                };
                softmax(competing, &lead, &|one, other| scores[one] == scores[other])
            }
            (None, _) => {
                let network = self.policy.ranking();
                let scores = network.and_then(|network| precise_scores(network, inputs, BITS));
                let Some(scores) = scores else {
                    return competing.iter().map(|&output| (output, Rational::ZERO)).collect();
                };
                let lead =
                    |one: usize, other: usize| &scores.scores()[one] - &scores.scores()[other];
                let is_equal = |one, other| scores.compare(one, other) == Some(Ordering::Equal);
                softmax(competing, &lead, &is_equal)
            }
        }
    }
}

/// The scores by their sum.
fn of_sum(competing: &[usize], scores: &[Rational]) -> Vec<(usize, Rational)> {
    let sum: Rational = competing.iter().map(|&other| scores[other].clone()).sum();
    let share = |&output: &usize| Some((output, scores[output].checked_div(&sum)?));
    competing.iter().filter_map(share).filter(|(_, share)| share.signum() > 0).collect()
}

/// The inverse of the sum of e to the leads of all that compete over an output, that of its own included.
fn softmax(
    competing: &[usize],
    lead: &dyn Fn(usize, usize) -> Enclosure,
    is_equal: &dyn Fn(usize, usize) -> bool,
) -> Vec<(usize, Rational)> {
    if competing.iter().all(|&output| is_equal(competing[0], output)) {
        let count = i64::try_from(competing.len()).ok();
        let share = count.and_then(|count| Rational::new(1, count)).unwrap_or_default();
        return competing.iter().map(|&output| (output, share.clone())).collect();
    }
    let least = |&output: &usize| {
        let powers = competing.iter().map(|&other| lead(other, output).exp());
        let sum = powers
            .into_iter()
            .try_fold(Enclosure::integer(0, BITS), |sum, power| Some(&sum + &power?));
        // Where a power is beyond any bound, the output is hardly ever drawn.
        (output, sum.and_then(|sum| sum.upper().recip()).unwrap_or_default())
    };
    competing.iter().map(least).collect()
}
