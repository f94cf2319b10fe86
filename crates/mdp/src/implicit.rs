//! MDPs that are built on the fly: states are numbered by whoever builds them.

use policert_engine_api::{Budget, EngineError};
use policert_numeric::Rational;

use crate::{Direction, Reachability};

/// Says how a state stands to the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It is in the target.
    Target,
    /// The target is out of reach: runs end here.
    Failed,
    /// Runs go on.
    Open,
}

/// An MDP whose states are expanded when they are needed.
///
/// States are numbered from 0 as they are found, and each is expanded at most once. How a state
/// stands, and what its choices are, must not change. The abstract MDP of a policy is one, where
/// expanding a state asks which abstract distributions there are.
pub trait ImplicitMdp {
    /// The states asked about; the answer is the best of their values.
    ///
    /// # Errors
    /// A stop of the budget, or what is wrong with the model.
    fn initial_states(&mut self, budget: &mut Budget) -> Result<Vec<u32>, EngineError>;

    /// Returns how a state that was named before stands.
    ///
    /// # Errors
    /// A stop of the budget, or what is wrong with the model.
    fn standing(&mut self, state: u32, budget: &mut Budget) -> Result<Standing, EngineError>;

    /// Adds the choices of an open state.
    ///
    /// # Errors
    /// A stop of the budget, or what is wrong with the model; then the state counts as not expanded.
    fn expand(
        &mut self,
        state: u32,
        choices: &mut Choices,
        budget: &mut Budget,
    ) -> Result<(), EngineError>;

    /// A proved upper bound of the value of an open state that was named before; the bounds found
    /// are as sound as these.
    fn upper_bound(&self, state: u32) -> f64 {
        let _ = state;
        1.0
    }
}

/// The choices of a state, with exact probabilities. What a choice lacks to 1 is lost.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Choices {
    outcomes: Vec<(u32, Rational)>,
    ends: Vec<usize>,
}

impl Choices {
    /// Adds a choice; a state may come several times.
    pub fn add(&mut self, outcomes: impl IntoIterator<Item = (u32, Rational)>) {
        self.outcomes.extend(outcomes);
        self.ends.push(self.outcomes.len());
    }

    /// The choices, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &[(u32, Rational)]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.outcomes[start..end])
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.outcomes.clear();
        self.ends.clear();
    }
}

/// An explicit problem of [`Direction::Max`] as an implicit MDP.
#[derive(Clone, Copy, Debug)]
pub struct ExplicitMdp<'m>(Reachability<'m>);

impl<'m> ExplicitMdp<'m> {
    /// `None` for a problem of [`Direction::Min`].
    #[must_use]
    pub fn new(problem: Reachability<'m>) -> Option<Self> {
        (problem.direction == Direction::Max).then_some(Self(problem))
    }
}

impl ImplicitMdp for ExplicitMdp<'_> {
    fn initial_states(&mut self, _: &mut Budget) -> Result<Vec<u32>, EngineError> {
        Ok(self.0.initial.to_vec())
    }

    fn standing(&mut self, state: u32, _: &mut Budget) -> Result<Standing, EngineError> {
        Ok(if self.0.target.contains(state) {
            Standing::Target
        } else if self.0.avoid.contains(state) {
            Standing::Failed
        } else {
            Standing::Open
        })
    }

    fn expand(
        &mut self,
        state: u32,
        choices: &mut Choices,
        _: &mut Budget,
    ) -> Result<(), EngineError> {
        for choice in self.0.mdp.choices_of(state) {
            choices.add(self.0.mdp.outcomes(choice).map(|(to, p)| (to, p.clone())));
        }
        Ok(())
    }
}
