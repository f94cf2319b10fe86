//! Exact scores of a policy, and how they compare.

use std::cmp::Ordering;

use policert_numeric::{Enclosure, IntInterval, Rational};
use policert_policy::{
    ChoiceRule, ExactEvaluator, Law, Policy, PreciseScores, RoundedScores, Scoring, precise_scores,
};

use crate::single_trees::SumErrors;
use crate::{single, single_trees};

/// The scores of one state, one for each output.
#[derive(Clone, PartialEq, Debug)]
pub enum StateScores {
    /// The numbers.
    Exact(Vec<Rational>),
    /// A lower and an upper bound for each: the network has functions such as tanh. Those at its very
    /// end are left out, as they do not change the order of the scores. None if no bounds are known.
    Enclosed(Vec<(Rational, Rational)>),
}

/// Precisions at which scores are enclosed, in fractional bits, until they are told apart.
const BITS: [usize; 6] = [64, 128, 256, 512, 1024, 2048];

/// Evaluates the scores of one policy exactly.
#[derive(Debug)]
pub(crate) struct Scorer<'p> {
    pub(crate) policy: &'p Policy,
    exact: Option<ExactEvaluator>,
    evaluations: Evaluations,
}

/// Which evaluations in single precision count, where these are asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Evaluations {
    /// The plain one: what it chooses is chosen.
    Plain,
    /// Each: what may be chosen is open.
    All,
}

/// A contender that has a better claim, or of which that is not known.
#[derive(Debug)]
pub(crate) enum Contest {
    /// The output satisfies what the tie rule requires against all others.
    Won,
    /// It does not against this one.
    LostTo(usize),
    /// It is drawn with a probability of 0, or too small a one.
    Unlikely,
    /// Scores that cannot be told apart.
    Open,
}

impl<'p> Scorer<'p> {
    pub(crate) fn new(policy: &'p Policy, evaluations: Evaluations) -> Self {
        Self { policy, exact: policy.network().and_then(ExactEvaluator::new), evaluations }
    }

    /// Returns whether `output` is chosen among the `competing` outputs, with the scores that say
    /// so.
    pub(crate) fn contest(
        &self,
        output: usize,
        competing: &[usize],
        inputs: &[i64],
    ) -> (Contest, StateScores) {
        if let Some((rounded, _)) = self.policy.single() {
            return match self.evaluations {
                Evaluations::Plain => self.plain_contest(output, competing, rounded, inputs),
                Evaluations::All => self.contest_of_all(output, competing, rounded, inputs),
            };
        }
        let network = match (self.rationals(inputs), self.policy.scoring()) {
            (Some(scores), _) => {
                return (
                    self.exact_contest(output, competing, &scores),
                    StateScores::Exact(scores),
                );
            }
            (None, Scoring::Network(network)) => network,
            (None, Scoring::Trees(trees)) => {
                return (Contest::Open, StateScores::Exact(trees.exact_scores(inputs)));
            }
        };
        let mut last = None;
        for bits in BITS {
            let Some(scores) = precise_scores(network, inputs, bits) else { continue };
            let contest = if self.draws() {
                let lead = |other: usize| &scores.scores()[other] - &scores.scores()[output];
                self.drawn(competing, lead, |other| scores.compare(output, other), bits)
            } else {
                self.won(output, competing, |other| scores.compare(output, other))
            };
            let open = matches!(contest, Contest::Open);
            last = Some((contest, enclosed(&scores)));
            if !open {
                break;
            }
        }
        last.unwrap_or((Contest::Open, StateScores::Enclosed(Vec::new())))
    }

    /// The contest by the plain evaluation in single precision: open where what is made of two scores may be
    /// equal, or exchanged.
    fn plain_contest(
        &self,
        output: usize,
        competing: &[usize],
        rounded: &RoundedScores,
        inputs: &[i64],
    ) -> (Contest, StateScores) {
        let scores = match (rounded, self.policy.trees()) {
            (RoundedScores::Network(single), _) => single::plain_scores(single, inputs),
            (RoundedScores::Trees(single), Some(trees)) => {
                single_trees::plain_scores(single, trees, inputs)
            }
            (RoundedScores::Trees(_), None) => vec![None; self.policy.outputs().len()],
        };
        let merged = self.errors_in(rounded, inputs).map_or(Rational::ZERO, |errors| errors.merged);
        let order = |other: usize| {
            let (own, other) = (scores[output].as_ref()?, scores[other].as_ref()?);
            let order = own.cmp(other);
            (order.is_eq() || (own - other).abs() >= merged).then_some(order)
        };
        let contest = self.won(output, competing, order);
        let finite: Option<Vec<Rational>> = scores.iter().cloned().collect();
        (contest, StateScores::Exact(finite.unwrap_or_default()))
    }

    /// How far the computed scores of a state may be from the exact ones.
    fn errors_in(&self, rounded: &RoundedScores, inputs: &[i64]) -> Option<SumErrors> {
        match (rounded, self.policy.trees()) {
            (RoundedScores::Network(single), _) => {
                let errors = single::errors_in(single, inputs);
                let radii = errors.radii.into_iter().map(Rational::from_f64).collect();
                Some(SumErrors { radii, merged: Rational::from_f64(errors.merged)? })
            }
            (RoundedScores::Trees(single), Some(trees)) => {
                let point: Vec<IntInterval> =
                    inputs.iter().map(|&x| IntInterval::point(x)).collect();
                Some(single_trees::errors(single, trees, &point))
            }
            (RoundedScores::Trees(_), None) => None,
        }
    }

    /// The contest by all evaluations in single precision: lost where none chooses the output, won where each
    /// does.
    fn contest_of_all(
        &self,
        output: usize,
        competing: &[usize],
        rounded: &RoundedScores,
        inputs: &[i64],
    ) -> (Contest, StateScores) {
        let Some(errors) = self.errors_in(rounded, inputs) else {
            return (Contest::Open, StateScores::Exact(Vec::new()));
        };
        let scores = match (self.rationals(inputs), self.policy.ranking()) {
            (Some(exact), _) => StateScores::Exact(exact),
            (None, Some(network)) => match precise_scores(network, inputs, BITS[1]) {
                Some(scores) => enclosed(&scores),
                None => return (Contest::Open, StateScores::Enclosed(Vec::new())),
            },
            (None, None) => return (Contest::Open, StateScores::Exact(Vec::new())),
        };
        let bounds = |output: usize| match &scores {
            StateScores::Exact(scores) => [&scores[output], &scores[output]],
            StateScores::Enclosed(scores) => [&scores[output].0, &scores[output].1],
        };
        let order = |other: usize| {
            let slack = errors.slack(output, other)?;
            let ([lo, hi], [other_lo, other_hi]) = (bounds(output), bounds(other));
            let (least, greatest) = (lo - other_hi, hi - other_lo);
            let are_computed = slack == errors.merged;
            let equal = are_computed && least.is_zero() && greatest.is_zero();
            if equal {
                Some(Ordering::Equal)
            } else if least > slack {
                Some(Ordering::Greater)
            } else if greatest < -slack {
                Some(Ordering::Less)
            } else {
                None
            }
        };
        let contest = self.won(output, competing, order);
        (contest, scores)
    }

    /// For each of the `competing` outputs, whether it is chosen among them.
    pub(crate) fn contests(&self, competing: &[usize], inputs: &[i64]) -> Vec<(usize, Contest)> {
        let rationals = self.rationals(inputs).filter(|_| self.policy.single().is_none());
        let contest = |&output: &usize| match &rationals {
            Some(scores) => (output, self.exact_contest(output, competing, scores)),
            None => (output, self.contest(output, competing, inputs).0),
        };
        competing.iter().map(contest).collect()
    }

    /// The scores, where they are rational numbers.
    pub(crate) fn rationals(&self, inputs: &[i64]) -> Option<Vec<Rational>> {
        match (&self.exact, self.policy.scoring()) {
            (Some(exact), _) => Some(exact.scores(inputs).to_rationals()),
            (None, Scoring::Trees(trees)) => Some(trees.exact_scores(inputs)),
            (None, Scoring::Network(_)) => None,
        }
    }

    fn draws(&self) -> bool {
        self.policy.semantics().choice == ChoiceRule::Sample
    }

    fn exact_contest(&self, output: usize, competing: &[usize], scores: &[Rational]) -> Contest {
        let order = |other: usize| Some(scores[output].cmp(&scores[other]));
        match (self.draws(), self.policy.law()) {
            (false, _) => self.won(output, competing, order),
            (true, Law::Shares) => self.has_share(output, competing, scores),
            (true, Law::Softmax) => {
                let contest = |bits: usize| {
                    let lead =
                        |other: usize| Enclosure::of(&(&scores[other] - &scores[output]), bits);
                    self.drawn(competing, lead, order, bits)
                };
                let decided = BITS.into_iter().map(contest).find(|c| !matches!(c, Contest::Open));
                decided.unwrap_or(Contest::Open)
            }
        }
    }

    /// Returns whether the score of an output has a share of the sum that counts.
    fn has_share(&self, output: usize, competing: &[usize], scores: &[Rational]) -> Contest {
        let sum: Rational = competing.iter().map(|&other| scores[other].clone()).sum();
        let least = self.policy.semantics().at_least.map_or(Rational::ZERO, |share| share.value());
        let counts = scores[output].signum() > 0 && scores[output] >= &sum * &least;
        if counts { Contest::Won } else { Contest::Unlikely }
    }

    /// Returns whether an output is drawn: its softmax is the inverse of the sum of e to the leads of all that
    /// compete over it.
    fn drawn(
        &self,
        competing: &[usize],
        lead: impl Fn(usize) -> Enclosure,
        order: impl Fn(usize) -> Option<Ordering>,
        bits: usize,
    ) -> Contest {
        let Some(share) = self.policy.semantics().at_least else { return Contest::Won };
        let greatest = share.value().recip().unwrap_or_default();
        if competing.iter().all(|&other| order(other) == Some(Ordering::Equal)) {
            let count = Rational::from(i64::try_from(competing.len()).unwrap_or(i64::MAX));
            return if count <= greatest { Contest::Won } else { Contest::Unlikely };
        }
        let mut sum = Enclosure::integer(0, bits);
        for &other in competing {
            let lead = lead(other);
            match lead.exp() {
                Some(power) => sum = &sum + &power,
                // e to such a lead is more than the inverse of any share.
                None if lead.lower() > Rational::from(1 << 10) => return Contest::Unlikely,
                None => return Contest::Open,
            }
        }
        match (sum.upper() <= greatest, sum.lower() > greatest) {
            (true, _) => Contest::Won,
            (false, true) => Contest::Unlikely,
            (false, false) => Contest::Open,
        }
    }

    /// Returns what the tie rule requires of the chosen output against each other one.
    fn won(
        &self,
        output: usize,
        competing: &[usize],
        order: impl Fn(usize) -> Option<Ordering>,
    ) -> Contest {
        let mut open = false;
        for &other in competing.iter().filter(|&&other| other != output) {
            let required = self.policy.semantics().requires(output, other);
            match order(other) {
                Some(order) if required.holds(order) => {}
                Some(_) => return Contest::LostTo(other),
                None => open = true,
            }
        }
        if open { Contest::Open } else { Contest::Won }
    }
}

fn enclosed(scores: &PreciseScores<'_>) -> StateScores {
    StateScores::Enclosed(scores.scores().iter().map(|s| (s.lower(), s.upper())).collect())
}
