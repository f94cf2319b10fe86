//! What a policy chooses in a state, decided exactly.
//!
//! Scores of tree ensembles are exact integers. Those of networks are computed in double precision
//! first. If the best one leads by more than the bound of the rounding errors, or there is no
//! rounding at all, that decides. Otherwise exact rational scores decide, and for networks with tanh
//! or sigmoid enclosures of growing precision. Where even these do not tell, the choice is
//! [`Choice::Undecided`]: never a guess. What a policy draws is in `sampling`, what it chooses in single
//! precision in `single`.

mod ensemble;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use policert_numeric::round::{add_up, sub_down};

use crate::evaluate::{Evaluator, LANES, Lanes};
use crate::policy::{Function, NetworkFunction, Policy};
use crate::precise::precise_scores;
use crate::semantics::{ChoiceRule, Filter, PolicySemantics};
use crate::single::{NarrowestLead, RoundedScores, SingleErrors, SinglePrecision, rounded_choice};
use ensemble::EnsembleScorer;

/// Precision of the first enclosures, in fractional bits; it doubles up to the last.
pub(crate) const FIRST_BITS: usize = 128;
/// Precision of the last enclosures.
pub(crate) const LAST_BITS: usize = 2048;

/// The choice of the policy in a state; outputs are given by index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Nothing: a tie under strict ties, or a filter and nothing applicable.
    Nothing,
    /// One output.
    One(usize),
    /// Several outputs, in ascending order: the environment picks one.
    Several(Box<[usize]>),
    /// It cannot be told with the precision that is available. Nothing may be concluded but what
    /// the lists say.
    Undecided {
        /// Outputs that are certainly chosen, in ascending order.
        certain: Box<[usize]>,
        /// All outputs that may be chosen, those included.
        possible: Box<[usize]>,
    },
}

impl Choice {
    /// The outputs that are certainly chosen.
    #[must_use]
    pub fn outputs(&self) -> &[usize] {
        match self {
            Choice::Nothing => &[],
            Choice::One(output) => std::slice::from_ref(output),
            Choice::Several(outputs) | Choice::Undecided { certain: outputs, .. } => outputs,
        }
    }

    /// The outputs that are chosen, or may be.
    #[must_use]
    pub fn possible(&self) -> &[usize] {
        match self {
            Choice::Undecided { possible, .. } => possible,
            Choice::Nothing | Choice::One(_) | Choice::Several(_) => self.outputs(),
        }
    }

    /// Returns whether it is [`Undecided`](Self::Undecided).
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        matches!(self, Choice::Undecided { .. })
    }

    /// Returns whether an output is chosen; `None` if that is undecided.
    #[must_use]
    pub fn contains(&self, output: usize) -> Option<bool> {
        match self.outputs().contains(&output) {
            true => Some(true),
            false => (!self.possible().contains(&output)).then_some(false),
        }
    }

    /// The choice of all these outputs, in ascending order.
    pub(crate) fn of(outputs: Vec<usize>) -> Self {
        match outputs[..] {
            [] => Choice::Nothing,
            [one] => Choice::One(one),
            [_, _, ..] => Choice::Several(outputs.into()),
        }
    }

    /// The choice of which some outputs are certain, and others possible.
    pub(crate) fn between(certain: Vec<usize>, possible: Vec<usize>) -> Self {
        if certain.len() == possible.len() {
            return Self::of(certain);
        }
        Choice::Undecided { certain: certain.into(), possible: possible.into() }
    }

    /// The choice among outputs whose scores are equal, and greater than those of all others.
    pub(crate) fn among_best(best: &[usize], semantics: &PolicySemantics) -> Self {
        let wins = |chosen: usize| {
            let others = best.iter().filter(|&&other| other != chosen);
            others.into_iter().all(|&o| semantics.requires(chosen, o).holds(Ordering::Equal))
        };
        Self::of(best.iter().copied().filter(|&output| wins(output)).collect())
    }
}

/// Decides what a policy chooses.
///
/// A lead beyond the bound of the rounding errors decides in double precision, exact scores or
/// enclosures of growing precision decide otherwise.
#[derive(Clone, Debug)]
pub struct Chooser<'a> {
    policy: &'a Policy,
    scorer: Scorer<'a>,
}

#[derive(Clone, Debug)]
enum Scorer<'a> {
    Network(Box<NetworkScorer<'a>>),
    Trees(EnsembleScorer<'a>),
}

#[derive(Clone, Debug)]
struct NetworkScorer<'a> {
    function: &'a NetworkFunction,
    semantics: PolicySemantics,
    outputs: usize,
    evaluator: Evaluator,
    /// For scores in single precision.
    single: Option<(&'a SinglePrecision, &'a SingleErrors)>,
    narrowest: Option<NarrowestLead>,
    /// Twice the rounding error: scores further apart than this are in their true order, in single
    /// precision too if that is asked, after all that the library makes of them before it compares them.
    margin: f64,
    exact_decisions: u64,
}

impl Policy {
    /// Decides what the policy chooses; one for each thread.
    #[must_use]
    pub fn chooser(&self) -> Chooser<'_> {
        Chooser::new(self)
    }
}

impl<'a> Chooser<'a> {
    pub(crate) fn new(policy: &'a Policy) -> Self {
        let scorer = match policy.function() {
            Function::Trees(trees) => Scorer::Trees(EnsembleScorer::new(policy, trees)),
            Function::Network(function) => {
                let radii = function.bound.radii().iter().copied();
                let radius = radii.fold(0.0, f64::max);
                let single = match policy.single() {
                    Some((RoundedScores::Network(single), errors)) => Some((single, errors)),
                    Some((RoundedScores::Trees(_), _)) | None => None,
                };
                let rounded = single.map_or(0.0, |(_, errors)| errors.greatest());
                Scorer::Network(Box::new(NetworkScorer {
                    function,
                    semantics: policy.semantics(),
                    outputs: policy.outputs().len(),
                    evaluator: function.evaluator.clone(),
                    single,
                    narrowest: None,
                    margin: add_up(add_up(radius, radius), rounded),
                    exact_decisions: 0,
                }))
            }
        };
        Self { policy, scorer }
    }

    /// The choice for one state, given its network inputs. `applicable` has one entry for each
    /// output; it is read with a filter only, and may be empty without.
    pub fn choose(&mut self, inputs: &[i64], applicable: &[bool]) -> Choice {
        let mut choices = Vec::with_capacity(1);
        self.choose_batch(inputs, applicable, &mut choices);
        let all = || (0..self.policy.outputs().len()).collect();
        choices.pop().unwrap_or_else(|| Choice::between(Vec::new(), all()))
    }

    /// The choices for a batch of states: `inputs` is batch × inputs and `applicable` batch ×
    /// outputs, row by row. `applicable` is read with a filter only, and may be empty without.
    ///
    /// # Panics
    /// If a row is incomplete, or `applicable` has not one row for each state where it is read.
    pub fn choose_batch(&mut self, inputs: &[i64], applicable: &[bool], choices: &mut Vec<Choice>) {
        let (width, outputs) = (self.policy.inputs().len(), self.policy.outputs().len());
        let states = inputs.len() / width;
        assert_eq!(inputs.len(), states * width, "an incomplete row of inputs");
        let filtered = self.policy.semantics().filter == Filter::Applicable;
        if filtered {
            assert_eq!(applicable.len(), states * outputs, "a row of applicable outputs a state");
        }
        choices.clear();
        choices.reserve(states);
        let mask =
            |state: usize| filtered.then(|| &applicable[state * outputs..(state + 1) * outputs]);
        if self.policy.semantics().choice == ChoiceRule::Sample {
            for (state, row) in inputs.chunks_exact(width).enumerate() {
                let competes = |&o: &usize| mask(state).is_none_or(|mask| mask[o]);
                let competing: Vec<usize> = (0..outputs).filter(competes).collect();
                choices.push(self.policy.drawn(row, &competing));
            }
            return;
        }
        match &mut self.scorer {
            Scorer::Network(network) => network.choose_batch(inputs, width, mask, choices),
            Scorer::Trees(ensemble) => {
                for (state, row) in inputs.chunks_exact(width).enumerate() {
                    choices.push(ensemble.choose(row, mask(state)));
                }
            }
        }
    }

    pub(crate) fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// The scores in double precision: to draw with, not to decide.
    pub(crate) fn approximate_scores(&mut self, inputs: &[i64]) -> Vec<f64> {
        match &mut self.scorer {
            Scorer::Network(network) => {
                #[expect(clippy::cast_precision_loss, reason = "no decision")]
                let inputs: Vec<f64> = inputs.iter().map(|&input| input as f64).collect();
                let mut scores = Vec::new();
                network.evaluator.evaluate(&inputs, &mut scores);
                scores
            }
            Scorer::Trees(ensemble) => ensemble.approximate_scores(inputs),
        }
    }

    /// The narrowest lead so far, where scores are in single precision and rounded.
    #[must_use]
    pub fn narrowest_lead(&self) -> Option<&NarrowestLead> {
        match &self.scorer {
            Scorer::Network(network) => network.narrowest.as_ref(),
            Scorer::Trees(ensemble) => ensemble.narrowest_lead(),
        }
    }

    /// The number of choices so far that scores in double precision left open.
    #[must_use]
    pub fn exact_decisions(&self) -> u64 {
        match &self.scorer {
            Scorer::Network(network) => network.exact_decisions,
            Scorer::Trees(ensemble) => ensemble.exact_decisions(),
        }
    }
}

impl NetworkScorer<'_> {
    /// As [`Chooser::choose_batch`]; `mask` gives the row of applicable outputs with a filter.
    fn choose_batch<'m>(
        &mut self,
        inputs: &[i64],
        width: usize,
        mask: impl Fn(usize) -> Option<&'m [bool]>,
        choices: &mut Vec<Choice>,
    ) {
        let states = inputs.len() / width;
        for first in (0..states).step_by(LANES) {
            let lanes = LANES.min(states - first);
            let block = &inputs[first * width..(first + lanes) * width];
            #[expect(clippy::cast_precision_loss, reason = "part of the error bound")]
            self.evaluator.run(|k, lane| block.get(lane * width + k).map_or(0.0, |&x| x as f64));
            let leaders = Leaders::of(self.evaluator.outputs(), self.margin);
            for (lane, row) in block.chunks_exact(width).enumerate() {
                if let Some((_, errors)) = self.single {
                    let mask = mask(first + lane);
                    let scores = self.evaluator.outputs().iter().map(|row| row[lane]).enumerate();
                    let competing = scores.filter(|(o, _)| mask.is_none_or(|mask| mask[*o]));
                    NarrowestLead::note(&mut self.narrowest, competing, errors, row);
                }
                choices.push(match mask(first + lane) {
                    Some(mask) => self.filtered(lane, row, mask),
                    None => self.unfiltered(lane, row, &leaders),
                });
            }
        }
    }

    /// All outputs compete.
    #[inline]
    fn unfiltered(&mut self, lane: usize, inputs: &[i64], leaders: &Leaders) -> Choice {
        if leaders.single[lane] && self.within_bound(inputs) {
            return Choice::One(leaders.index[lane]);
        }
        let all: Vec<usize> = (0..self.outputs).collect();
        self.best_of(lane, inputs, &all)
    }

    /// The applicable outputs compete.
    #[inline]
    fn filtered(&mut self, lane: usize, inputs: &[i64], mask: &[bool]) -> Choice {
        let competing = || {
            let scores = self.evaluator.outputs().iter().map(|row| row[lane]);
            scores.zip(mask).enumerate().filter(|(_, (_, applicable))| **applicable)
        };
        let (mut best, mut index) = (f64::NEG_INFINITY, 0);
        for (output, (score, _)) in competing() {
            if score > best {
                (best, index) = (score, output);
            }
        }
        let threshold = sub_down(best, self.margin);
        let near = competing().filter(|(_, (score, _))| *score >= threshold).count();
        if near == 1 && self.within_bound(inputs) {
            return Choice::One(index);
        }
        let competing: Vec<usize> = competing().map(|(output, _)| output).collect();
        self.best_of(lane, inputs, &competing)
    }

    /// Returns whether the bound of the rounding errors holds for these inputs.
    #[inline]
    fn within_bound(&self, inputs: &[i64]) -> bool {
        self.margin < f64::INFINITY && self.function.bound.inputs().contains(inputs)
    }

    fn best_of(&mut self, lane: usize, inputs: &[i64], competing: &[usize]) -> Choice {
        let semantics = self.semantics;
        if let [] | [_] = competing {
            return Choice::among_best(competing, &semantics);
        }
        if let Some((single, _)) = self.single {
            self.exact_decisions += 1;
            let scores = self.function.exact_scores(inputs, FIRST_BITS);
            let errors = single.errors_at(inputs);
            let plain = || single.plain_scores(inputs).into_iter().map(f64::from).collect();
            return rounded_choice(&scores, &errors, plain, &semantics, competing);
        }
        if !self.within_bound(inputs) {
            return self.exactly(inputs, competing);
        }
        let scores = self.evaluator.outputs();
        let best = competing.iter().map(|&o| scores[o][lane]).fold(f64::NEG_INFINITY, f64::max);
        let threshold = sub_down(best, self.margin);
        let near = |output: &usize| scores[*output][lane] >= threshold;
        let candidates: Vec<usize> = competing.iter().copied().filter(near).collect();
        // Without rounding errors, candidates have the best score exactly.
        if candidates.len() == 1 || self.margin <= 0.0 {
            return Choice::among_best(&candidates, &semantics);
        }
        self.exactly(inputs, &candidates)
    }

    /// The choice among candidates of which one has the best score, by exact comparison.
    #[cold]
    fn exactly(&mut self, inputs: &[i64], candidates: &[usize]) -> Choice {
        self.exact_decisions += 1;
        let semantics = self.semantics;
        if let Some(exact) = self.function.exact() {
            let scores = exact.scores(inputs);
            let order = |a: usize, b: usize| Some(scores.compare(a, b));
            let best = undominated(candidates, order);
            return Choice::among_best(&best, &semantics);
        }
        let mut candidates = candidates.to_vec();
        let mut bits = FIRST_BITS;
        while bits <= LAST_BITS {
            let Some(scores) = precise_scores(&self.function.ranking, inputs, bits) else {
                bits *= 2;
                continue;
            };
            candidates = undominated(&candidates, |a, b| scores.compare(a, b));
            let equal = |(i, &a): (usize, &usize)| {
                let mut later = candidates[i + 1..].iter();
                later.all(|&b| scores.compare(a, b) == Some(Ordering::Equal))
            };
            if candidates.iter().enumerate().all(equal) {
                return Choice::among_best(&candidates, &semantics);
            }
            bits *= 2;
        }
        Choice::between(Vec::new(), candidates)
    }
}

/// The candidates that no other one certainly surpasses.
fn undominated(
    candidates: &[usize],
    order: impl Fn(usize, usize) -> Option<Ordering>,
) -> Vec<usize> {
    let surpassed = |a: usize| candidates.iter().any(|&b| order(a, b) == Some(Ordering::Less));
    candidates.iter().copied().filter(|&candidate| !surpassed(candidate)).collect()
}

/// The best score of each lane.
struct Leaders {
    index: [usize; LANES],
    /// By lane: whether all other scores lie below the best one by more than the margin.
    single: [bool; LANES],
}

impl Leaders {
    #[inline]
    fn of(scores: &[Lanes], margin: f64) -> Self {
        let mut best = [f64::NEG_INFINITY; LANES];
        let mut index = [0; LANES];
        for (output, row) in scores.iter().enumerate() {
            for lane in 0..LANES {
                if row[lane] > best[lane] {
                    best[lane] = row[lane];
                    index[lane] = output;
                }
            }
        }
        let threshold = best.map(|best| sub_down(best, margin));
        let mut near = [0u32; LANES];
        for row in scores {
            for lane in 0..LANES {
                // A score that is no number counts as near.
                let below = row[lane] < threshold[lane];
                near[lane] += u32::from(!below);
            }
        }
        Self { index, single: near.map(|near| near == 1) }
    }
}
