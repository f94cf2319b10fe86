//! Explicit Markov decision processes in compressed sparse rows.

use policert_numeric::Rational;

use crate::distribution::{DistributionId, Distributions, ProbabilityId};
use crate::error::MdpError;

/// An explicit MDP: states, their choices, and the distribution of each choice over successors.
///
/// States and choices are numbered from 0; the choices of a state follow each other. A state
/// without choices is a dead end. What a distribution lacks to 1 is lost: it reaches nothing.
#[derive(Clone, Debug)]
pub struct Mdp {
    /// By state, and one more: its first choice.
    rows: Vec<u32>,
    /// By choice, and one more: its first successor.
    starts: Vec<u32>,
    /// By choice.
    distribution: Vec<DistributionId>,
    successors: Vec<u32>,
    distributions: Distributions,
}

impl Mdp {
    /// Number of states.
    #[must_use]
    pub fn states(&self) -> usize {
        self.rows.len() - 1
    }

    /// Number of choices.
    #[must_use]
    pub fn choices(&self) -> usize {
        self.distribution.len()
    }

    /// Number of entries of all distributions.
    #[must_use]
    pub fn transitions(&self) -> usize {
        self.successors.len()
    }

    /// All states.
    #[must_use]
    pub fn state_range(&self) -> std::ops::Range<u32> {
        0..u32::try_from(self.states()).unwrap_or(u32::MAX)
    }

    /// Number of choices, as numbers of choices are.
    #[must_use]
    pub(crate) fn choice_count(&self) -> u32 {
        self.rows[self.states()]
    }

    /// The choices of a state.
    #[must_use]
    #[inline]
    pub fn choices_of(&self, state: u32) -> std::ops::Range<u32> {
        self.rows[state as usize]..self.rows[state as usize + 1]
    }

    /// The successors of a choice, each once.
    #[must_use]
    #[inline]
    pub fn successors(&self, choice: u32) -> &[u32] {
        let choice = choice as usize;
        &self.successors[self.starts[choice] as usize..self.starts[choice + 1] as usize]
    }

    /// The successors of all choices of a state, one choice after the other.
    #[must_use]
    #[inline]
    pub fn all_successors(&self, state: u32) -> &[u32] {
        let choices = self.choices_of(state);
        let start = self.starts[choices.start as usize];
        &self.successors[start as usize..self.starts[choices.end as usize] as usize]
    }

    /// The distribution of a choice, in the order of its successors.
    #[must_use]
    #[inline]
    pub fn distribution(&self, choice: u32) -> DistributionId {
        self.distribution[choice as usize]
    }

    /// The distributions of all choices.
    #[must_use]
    pub fn distributions(&self) -> &Distributions {
        &self.distributions
    }

    /// The successors of a choice with their exact probabilities.
    pub fn outcomes(&self, choice: u32) -> impl Iterator<Item = (u32, &Rational)> + '_ {
        let entries = self.distributions.entries(self.distribution(choice));
        let successors = self.successors(choice).iter();
        successors.zip(entries).map(|(&state, &p)| (state, self.distributions.value(p)))
    }

    /// Bounds of the value of a choice, from bounds of the values of the states.
    #[must_use]
    #[inline]
    pub fn mean(&self, choice: u32, values: &[[f64; 2]]) -> [f64; 2] {
        self.distributions.mean(self.distribution(choice), self.successors(choice), values)
    }
}

/// Builds an [`Mdp`] state by state.
#[derive(Clone, Debug)]
pub struct MdpBuilder {
    mdp: Mdp,
    merged: Vec<(u32, ProbabilityId)>,
    entries: Vec<ProbabilityId>,
    greatest: u32,
}

/// Up to this many outcomes, equal successors are found by comparing all.
const FEW: usize = 16;

impl Default for MdpBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl MdpBuilder {
    /// Begins with state 0.
    #[must_use]
    pub fn new() -> Self {
        Self::with_distributions(Distributions::new())
    }

    /// Begins with state 0, and with distributions that are known already.
    #[must_use]
    pub fn with_distributions(distributions: Distributions) -> Self {
        let mdp = Mdp {
            rows: vec![0],
            starts: vec![0],
            distribution: Vec::new(),
            successors: Vec::new(),
            distributions,
        };
        Self { mdp, merged: Vec::new(), entries: Vec::new(), greatest: 0 }
    }

    /// Stores a probability.
    pub fn probability(&mut self, value: &Rational) -> ProbabilityId {
        self.mdp.distributions.probability(value)
    }

    /// A probability that was stored.
    #[must_use]
    pub fn value(&self, id: ProbabilityId) -> &Rational {
        self.mdp.distributions.value(id)
    }

    /// Stores a distribution of probabilities that are not 0.
    pub fn distribution(&mut self, entries: &[ProbabilityId]) -> DistributionId {
        self.mdp.distributions.distribution(entries)
    }

    /// The distributions, to add some.
    pub(crate) fn distributions_mut(&mut self) -> &mut Distributions {
        &mut self.mdp.distributions
    }

    /// Adds a choice to the current state. Equal successors are merged; outcomes of probability 0
    /// are left out. Without outcomes, the choice loses everything.
    ///
    /// # Errors
    /// Too many transitions.
    pub fn choice(&mut self, outcomes: &[(u32, ProbabilityId)]) -> Result<(), MdpError> {
        let mut merged = std::mem::take(&mut self.merged);
        merged.clear();
        let mut index = None;
        if outcomes.len() > FEW {
            let mut sorted: Vec<_> = outcomes.to_vec();
            sorted.sort_unstable();
            index = Some(sorted);
        }
        for &(state, p) in index.as_deref().unwrap_or(outcomes) {
            if self.mdp.distributions.value(p).is_zero() {
                continue;
            }
            let known = if index.is_some() {
                merged.last_mut().filter(|(other, _)| *other == state)
            } else {
                merged.iter_mut().find(|(other, _)| *other == state)
            };
            match known {
                Some((_, other)) => {
                    let distributions = &mut self.mdp.distributions;
                    let sum = distributions.value(p) + distributions.value(*other);
                    *other = distributions.probability(&sum);
                }
                None => merged.push((state, p)),
            }
        }
        self.entries.clear();
        self.entries.extend(merged.iter().map(|&(_, p)| p));
        let distribution = self.mdp.distributions.distribution(&self.entries);
        let added = self.choice_of(distribution, merged.iter().map(|&(state, _)| state));
        self.merged = merged;
        added
    }

    /// As [`MdpBuilder::choice`], where the probabilities of the outcomes are known to make this
    /// distribution.
    ///
    /// # Errors
    /// Too many transitions.
    pub fn choice_from(
        &mut self,
        distribution: DistributionId,
        outcomes: &[(u32, ProbabilityId)],
    ) -> Result<(), MdpError> {
        let differ = |i: usize| outcomes[..i].iter().all(|(state, _)| *state != outcomes[i].0);
        if outcomes.len() <= FEW && (1..outcomes.len()).all(differ) {
            return self.choice_of(distribution, outcomes.iter().map(|&(state, _)| state));
        }
        self.choice(outcomes)
    }

    /// Adds a choice with a stored distribution, to successors that differ.
    pub(crate) fn choice_of(
        &mut self,
        distribution: DistributionId,
        successors: impl IntoIterator<Item = u32>,
    ) -> Result<(), MdpError> {
        let mdp = &mut self.mdp;
        mdp.successors.extend(successors);
        if let Some(&greatest) =
            mdp.successors[mdp.starts[mdp.distribution.len()] as usize..].iter().max()
        {
            self.greatest = self.greatest.max(greatest);
        }
        mdp.starts.push(u32::try_from(mdp.successors.len()).map_err(|_| MdpError::TooLarge)?);
        mdp.distribution.push(distribution);
        Ok(())
    }

    /// Number of states that are ended.
    #[must_use]
    pub fn states(&self) -> usize {
        self.mdp.states()
    }

    /// Number of transitions so far.
    #[must_use]
    pub fn transitions(&self) -> usize {
        self.mdp.transitions()
    }

    /// Ends the current state; the next one begins.
    ///
    /// # Errors
    /// Too many choices.
    pub fn end_state(&mut self) -> Result<(), MdpError> {
        let choices = u32::try_from(self.mdp.distribution.len());
        self.mdp.rows.push(choices.map_err(|_| MdpError::TooLarge)?);
        Ok(())
    }

    /// The MDP; every successor must be one of its states.
    ///
    /// # Errors
    /// A successor that is none.
    pub fn finish(self) -> Result<Mdp, MdpError> {
        if !self.mdp.successors.is_empty() && self.greatest as usize >= self.mdp.states() {
            return Err(MdpError::NoSuchState(self.greatest));
        }
        Ok(self.mdp)
    }
}
