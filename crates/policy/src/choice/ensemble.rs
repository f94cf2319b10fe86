//! What a tree ensemble chooses: its scores are exact integers.

use policert_numeric::Rational;

use crate::choice::Choice;
use crate::policy::Policy;
use crate::sampling::Scores;
use crate::semantics::PolicySemantics;
use crate::single::{NarrowestLead, RoundedScores, SingleErrors, SingleTrees, rounded_choice};
use crate::trees::IntegerTrees;

/// Decides by the scores of a tree ensemble.
#[derive(Clone, Debug)]
pub(super) struct EnsembleScorer<'a> {
    trees: &'a IntegerTrees,
    semantics: PolicySemantics,
    /// The value of a unit of the scores, in double precision.
    unit: f64,
    /// Room for the scores.
    scores: Vec<i128>,
    rounded: Option<Rounded<'a>>,
}

/// Scores as a library computes them.
#[derive(Clone, Debug)]
struct Rounded<'a> {
    single: &'a SingleTrees,
    errors: &'a SingleErrors,
    /// In units: labels that lead by more are chosen by every evaluation.
    margin: i128,
    narrowest: Option<NarrowestLead>,
    exact_decisions: u64,
}

impl<'a> EnsembleScorer<'a> {
    pub fn new(policy: &'a Policy, trees: &'a IntegerTrees) -> Self {
        let rounded = match policy.single() {
            Some((RoundedScores::Trees(single), errors)) => {
                let margin = in_units(errors.greatest(), trees);
                Some(Rounded { single, errors, margin, narrowest: None, exact_decisions: 0 })
            }
            Some((RoundedScores::Network(_), _)) | None => None,
        };
        let (semantics, unit) = (policy.semantics(), trees.unit().to_f64());
        Self { trees, semantics, unit, scores: Vec::new(), rounded }
    }

    /// The choice in a state; with a filter, the outputs compete that the mask allows.
    pub fn choose(&mut self, inputs: &[i64], mask: Option<&[bool]>) -> Choice {
        self.trees.scores(inputs, &mut self.scores);
        let scores = &self.scores;
        let competes = |output: usize| mask.is_none_or(|mask| mask[output]);
        let competing = || (0..scores.len()).filter(|&output| competes(output));
        let Some(rounded) = &mut self.rounded else {
            return best_of_exact(scores, competing, &self.semantics);
        };
        #[expect(clippy::cast_precision_loss, reason = "a measure, no decision")]
        let approximate = competing().map(|output| (output, scores[output] as f64 * self.unit));
        NarrowestLead::note(&mut rounded.narrowest, approximate, rounded.errors, inputs);
        let Some(best) = competing().map(|output| scores[output]).max() else {
            return Choice::Nothing;
        };
        let near = || competing().filter(|&output| best - scores[output] <= rounded.margin);
        if rounded.margin == 0 || near().nth(1).is_none() {
            return best_of_exact(scores, near, &self.semantics);
        }
        let competing: Vec<usize> = competing().collect();
        rounded.exact_decisions += 1;
        let scores = Scores::Exact(self.trees.exact_scores(inputs));
        let errors = rounded.single.errors_at(self.trees, inputs);
        let plain = || rounded.single.plain_scores(self.trees, inputs);
        rounded_choice(&scores, &errors, plain, &self.semantics, &competing)
    }

    /// The scores in double precision: to draw with, not to decide.
    pub fn approximate_scores(&mut self, inputs: &[i64]) -> Vec<f64> {
        self.trees.scores(inputs, &mut self.scores);
        #[expect(clippy::cast_precision_loss, reason = "no decision")]
        self.scores.iter().map(|&score| score as f64 * self.unit).collect()
    }

    pub fn narrowest_lead(&self) -> Option<&NarrowestLead> {
        self.rounded.as_ref().and_then(|rounded| rounded.narrowest.as_ref())
    }

    /// The number of choices for which the bounds of the errors over all states do not suffice.
    pub fn exact_decisions(&self) -> u64 {
        self.rounded.as_ref().map_or(0, |rounded| rounded.exact_decisions)
    }
}

/// The least number of units that is no less than a score.
fn in_units(score: f64, trees: &IntegerTrees) -> i128 {
    let units = Rational::from_f64(score).and_then(|score| score.checked_div(&trees.unit()));
    units.and_then(|units| i128::try_from(units.ceil().to_parts().0).ok()).unwrap_or(i128::MAX)
}

/// The choice by exact scores.
fn best_of_exact<I: Iterator<Item = usize>>(
    scores: &[i128],
    competing: impl Fn() -> I,
    semantics: &PolicySemantics,
) -> Choice {
    let Some(best) = competing().map(|output| scores[output]).max() else {
        return Choice::Nothing;
    };
    let mut leaders = competing().filter(|&output| scores[output] == best);
    match (leaders.next(), leaders.next()) {
        (Some(one), None) => Choice::One(one),
        (first, second) => {
            let best: Vec<usize> = first.into_iter().chain(second).chain(leaders).collect();
            Choice::among_best(&best, semantics)
        }
    }
}
