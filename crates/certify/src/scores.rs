//! Exact scores of a policy, and how they compare.

use std::cmp::Ordering;

use policert_numeric::Rational;
use policert_policy::{ExactEvaluator, Policy, PreciseScores, Scoring, precise_scores};

/// The scores of one state, one for each output.
#[derive(Clone, PartialEq, Debug)]
pub enum StateScores {
    /// The numbers.
    Exact(Vec<Rational>),
    /// A lower and an upper bound for each: the network has tanh or sigmoid. Those at its very
    /// end are left out, as they do not change the order of the scores.
    Enclosed(Vec<(Rational, Rational)>),
}

/// Precisions at which scores are enclosed, in fractional bits, until they are told apart.
const BITS: [usize; 6] = [64, 128, 256, 512, 1024, 2048];

/// Evaluates the scores of one policy exactly.
#[derive(Debug)]
pub(crate) struct Scorer<'p> {
    policy: &'p Policy,
    exact: Option<ExactEvaluator>,
}

/// A contender that has a better claim, or of which that is not known.
#[derive(Debug)]
pub(crate) enum Contest {
    /// The output satisfies what the tie rule requires against all others.
    Won,
    /// It does not against this one.
    LostTo(usize),
    /// Scores that cannot be told apart.
    Open,
}

impl<'p> Scorer<'p> {
    pub(crate) fn new(policy: &'p Policy) -> Self {
        Self { policy, exact: policy.network().and_then(ExactEvaluator::new) }
    }

    /// Returns whether `output` is chosen among the `competing` outputs, with the scores that say
    /// so.
    pub(crate) fn contest(
        &self,
        output: usize,
        competing: &[usize],
        inputs: &[i64],
    ) -> (Contest, StateScores) {
        if let Some(exact) = &self.exact {
            let scores = exact.scores(inputs).to_rationals();
            let order = |other: usize| Some(scores[output].cmp(&scores[other]));
            return (self.won(output, competing, order), StateScores::Exact(scores));
        }
        let network = match self.policy.scoring() {
            Scoring::Network(network) => network,
            Scoring::Trees(trees) => {
                let scores = trees.exact_scores(inputs);
                let order = |other: usize| Some(scores[output].cmp(&scores[other]));
                return (self.won(output, competing, order), StateScores::Exact(scores));
            }
        };
        let mut last = None;
        for bits in BITS {
            let scores = precise_scores(network, inputs, bits);
            let contest = self.won(output, competing, |other| scores.compare(output, other));
            let open = matches!(contest, Contest::Open);
            last = Some((contest, enclosed(&scores)));
            if !open {
                break;
            }
        }
        last.unwrap_or((Contest::Open, StateScores::Enclosed(Vec::new())))
    }

    /// For each of the `competing` outputs, whether it is chosen among them.
    pub(crate) fn contests(&self, competing: &[usize], inputs: &[i64]) -> Vec<(usize, Contest)> {
        let rationals = match (&self.exact, self.policy.scoring()) {
            (Some(exact), _) => Some(exact.scores(inputs).to_rationals()),
            (None, Scoring::Trees(trees)) => Some(trees.exact_scores(inputs)),
            (None, Scoring::Network(_)) => None,
        };
        let contest = |&output: &usize| match &rationals {
            Some(scores) => {
                let order = |other: usize| Some(scores[output].cmp(&scores[other]));
                (output, self.won(output, competing, order))
            }
            None => (output, self.contest(output, competing, inputs).0),
        };
        competing.iter().map(contest).collect()
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
