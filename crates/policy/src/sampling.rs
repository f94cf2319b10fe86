//! Policies that draw: the probabilities of their labels, and which of them may be drawn.
//!
//! The probability of a label is e^s / Σ e^t over the scores t of the labels that compete, or its
//! share of the sum of the scores where these are class probabilities themselves ([`Law`]). Shares
//! are exact. A softmax is enclosed with growing precision. Whether it is a certain number can be
//! told wherever the scores are rational: by the theorem of Lindemann and Weierstrass, it is rational
//! only if all scores that compete are equal, and then they are told apart from others exactly.

use std::cmp::Ordering;

use policert_numeric::{Enclosure, Rational};

use crate::choice::{Choice, Chooser, FIRST_BITS, LAST_BITS};
use crate::policy::{Function, NetworkFunction, Policy};
use crate::precise::{PreciseScores, precise_scores};
use crate::semantics::Filter;
use crate::share::Share;

/// The law by which the scores of labels become probabilities.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Law {
    /// By the softmax of the scores.
    #[default]
    Softmax,
    /// The scores are the probabilities, up to a common factor; none is negative.
    Shares,
}

/// The probabilities with which labels are drawn in a state.
#[derive(Clone, PartialEq, Debug)]
pub struct Drawn {
    /// The outputs that may be drawn, ascending, each with a lower bound of its probability.
    pub outputs: Vec<(usize, Rational)>,
    /// The probability that these bounds lack to 1 together: any of the outputs may have it, or each a part.
    pub rest: Rational,
}

/// Lower bounds are as close as this many bits, before they are rounded.
const RELATIVE_BITS: i32 = 80;
/// More fractional bits than these are not spent on a probability that is nearly 0.
const MOST_BITS: usize = 1 << 14;

impl Policy {
    /// Returns what a policy that draws may choose among the `competing` outputs.
    pub(crate) fn drawn(&self, inputs: &[i64], competing: &[usize]) -> Choice {
        let at_least = self.semantics().at_least;
        match (self.law(), at_least) {
            (Law::Softmax, None) => Choice::of(competing.to_vec()),
            (Law::Softmax, Some(share)) => self.drawn_at_least(inputs, competing, share),
            (Law::Shares, at_least) => {
                let shares = shares(&self.exact_scores(inputs, FIRST_BITS), competing);
                let counts = |share: &Rational| match at_least {
                    None => share.signum() > 0,
                    Some(least) => *share >= least.value(),
                };
                let outputs = competing.iter().zip(&shares);
                Choice::of(outputs.filter(|(_, share)| counts(share)).map(|(&o, _)| o).collect())
            }
        }
    }

    /// The outputs whose softmax is at least a share.
    fn drawn_at_least(&self, inputs: &[i64], competing: &[usize], share: Share) -> Choice {
        let share = share.value();
        let mut bits = FIRST_BITS;
        loop {
            let scores = self.exact_scores(inputs, bits);
            if let Some(equal) = scores.equal(competing) {
                let is_drawn = equal >= share;
                return Choice::of(if is_drawn { competing.to_vec() } else { Vec::new() });
            }
            let bounds = scores.softmax(competing, bits);
            let those = |side: usize| {
                let reaching = competing.iter().zip(&bounds).filter(|(_, b)| b[side] >= share);
                reaching.map(|(&output, _)| output).collect::<Vec<usize>>()
            };
            let (certain, possible) = (those(0), those(1));
            if certain.len() == possible.len() || bits >= LAST_BITS {
                return Choice::between(certain, possible);
            }
            bits *= 2;
        }
    }

    /// The probabilities with which the `competing` outputs are drawn in a state.
    ///
    /// # Panics
    /// If there are fewer inputs than the policy has, or no such output.
    #[must_use]
    pub fn probabilities(&self, inputs: &[i64], competing: &[usize]) -> Drawn {
        let bounds = match self.law() {
            Law::Shares => shares(&self.exact_scores(inputs, FIRST_BITS), competing),
            Law::Softmax => self.softmax_from_below(inputs, competing),
        };
        let outputs: Vec<(usize, Rational)> = competing
            .iter()
            .copied()
            .zip(bounds)
            .filter(|(_, bound)| self.law() == Law::Softmax || !bound.is_zero())
            .collect();
        let sum: Rational = outputs.iter().map(|(_, bound)| bound.clone()).sum();
        let rest = if outputs.is_empty() { Rational::ZERO } else { Rational::ONE - sum };
        Drawn { outputs, rest }
    }

    /// Lower bounds of the softmax of the competing scores: doubles, unless all are equal.
    fn softmax_from_below(&self, inputs: &[i64], competing: &[usize]) -> Vec<Rational> {
        let close = Rational::integer(2).pow(-RELATIVE_BITS).unwrap_or_default();
        let mut bits = FIRST_BITS;
        loop {
            let scores = self.exact_scores(inputs, bits);
            if let Some(equal) = scores.equal(competing) {
                return vec![equal; competing.len()];
            }
            let bounds = scores.softmax(competing, bits);
            let is_close = |[lo, hi]: &[Rational; 2]| hi - lo <= lo * &close;
            if bounds.iter().all(is_close) || bits >= MOST_BITS {
                return bounds.iter().map(|[lo, _]| rounded_down(lo)).collect();
            }
            bits *= 2;
        }
    }

    /// The scores of a state: exact, or with enclosures of so many bits.
    fn exact_scores(&self, inputs: &[i64], bits: usize) -> Scores<'_> {
        match self.function() {
            Function::Trees(trees) => Scores::Exact(trees.exact_scores(inputs)),
            Function::Network(function) => function.exact_scores(inputs, bits),
        }
    }
}

impl NetworkFunction {
    pub(crate) fn exact_scores(&self, inputs: &[i64], bits: usize) -> Scores<'_> {
        match self.exact() {
            Some(exact) => Scores::Exact(exact.scores(inputs).to_rationals()),
            None => precise_scores(&self.ranking, inputs, bits)
                .map_or(Scores::Unknown, Scores::Enclosed),
        }
    }
}

/// The scores of all outputs in a state.
pub(crate) enum Scores<'a> {
    Exact(Vec<Rational>),
    Enclosed(PreciseScores<'a>),
    /// The precision does not suffice.
    Unknown,
}

impl Scores<'_> {
    /// A lower bound of the score of one output less that of another one, if one is known.
    pub(crate) fn least_lead(&self, one: usize, other: usize) -> Option<Rational> {
        match self {
            Self::Exact(scores) => Some(&scores[one] - &scores[other]),
            Self::Enclosed(scores) => Some(scores.difference(one, other).lower()),
            Self::Unknown => None,
        }
    }

    /// The probability of each of the competing outputs, if their scores are known to be equal.
    fn equal(&self, competing: &[usize]) -> Option<Rational> {
        let (&first, others) = competing.split_first()?;
        let is_equal = |&other: &usize| match self {
            Self::Exact(scores) => scores[other] == scores[first],
            Self::Enclosed(scores) => scores.compare(first, other) == Some(Ordering::Equal),
            Self::Unknown => false,
        };
        let count = i64::try_from(competing.len()).ok()?;
        others.iter().all(is_equal).then(|| Rational::new(1, count)).flatten()
    }

    /// Bounds of e^s / Σ e^t for each competing score s.
    fn softmax(&self, competing: &[usize], bits: usize) -> Vec<[Rational; 2]> {
        let unknown = || vec![[Rational::ZERO, Rational::ONE]; competing.len()];
        let lower = |output: usize| match self {
            Self::Exact(scores) => scores[output].clone(),
            Self::Enclosed(scores) => scores.scores()[output].lower(),
            Self::Unknown => Rational::ZERO,
        };
        let Some(leader) = competing.iter().copied().max_by_key(|&output| lower(output)) else {
            return Vec::new();
        };
        let lead = |output: usize| match self {
            Self::Exact(scores) => Some(Enclosure::of(&(&scores[output] - &scores[leader]), bits)),
            Self::Enclosed(scores) => Some(scores.difference(output, leader)),
            Self::Unknown => None,
        };
        let powers: Option<Vec<Enclosure>> =
            competing.iter().map(|&output| lead(output)?.exp()).collect();
        let Some(powers) = powers else { return unknown() };
        let none = Enclosure::integer(0, bits);
        let sum = powers.iter().fold(none, |sum, power| &sum + power);
        let of = |power: &Enclosure| {
            let quotient = power.checked_div(&sum)?;
            let (lo, hi) = (quotient.lower(), quotient.upper());
            Some([lo.max(Rational::ZERO), hi.min(Rational::ONE)])
        };
        powers.iter().map(of).collect::<Option<_>>().unwrap_or_else(unknown)
    }
}

impl Chooser<'_> {
    /// Draws an output by its probability but for rounding errors, with a random number of [0, 1); none
    /// where nothing can be drawn. `applicable` is read with a filter only.
    pub fn draw(&mut self, inputs: &[i64], applicable: &[bool], unit: f64) -> Option<usize> {
        let filtered = self.policy().semantics().filter == Filter::Applicable;
        let competes = |output: usize| !filtered || applicable.get(output) == Some(&true);
        let law = self.policy().law();
        let scores = self.approximate_scores(inputs);
        let competing = || (0..scores.len()).filter(|&output| competes(output));
        let greatest = competing().map(|o| scores[o]).fold(f64::NEG_INFINITY, f64::max);
        let weight = |output: usize| match law {
            Law::Softmax => (scores[output] - greatest).exp(),
            Law::Shares => scores[output],
        };
        let mut left = unit * competing().map(weight).sum::<f64>();
        let mut last = None;
        for output in competing().filter(|&output| weight(output) > 0.0) {
            last = Some(output);
            left -= weight(output);
            if left < 0.0 {
                break;
            }
        }
        last
    }
}

/// Returns the share of each of the competing scores in their sum; nothing of a sum that is 0.
fn shares(scores: &Scores<'_>, competing: &[usize]) -> Vec<Rational> {
    let score = |&output: &usize| match scores {
        Scores::Exact(scores) => scores[output].clone(),
        // Networks draw by softmax.
        Scores::Enclosed(_) | Scores::Unknown => Rational::ZERO,
    };
    let scores: Vec<Rational> = competing.iter().map(score).collect();
    let sum: Rational = scores.iter().cloned().sum();
    scores.iter().map(|score| score.checked_div(&sum).unwrap_or_default()).collect()
}

/// The greatest double that is not above a number of at least 0.
fn rounded_down(value: &Rational) -> Rational {
    Rational::from_f64(value.to_f64_interval().0).unwrap_or_default()
}

#[cfg(test)]
mod tests;
