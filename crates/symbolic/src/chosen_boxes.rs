//! Boxes in which the policy chooses a label everywhere, by the decision oracle.

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::{State, VarId};
use policert_numeric::IntBox;
use policert_policy::{Choice, Policy};

use crate::operators::Operators;
use crate::partition::halves;
use crate::policy_region::PolicyRegion;

/// Tells in which parts of a box the policy chooses a label.
#[derive(Debug)]
pub struct ChosenBoxes<'p> {
    region: PolicyRegion<'p>,
    /// The state whose choice was asked last, and what it is.
    last: Option<(State, Choice)>,
    /// The variables that the choice depends on.
    reads: Vec<usize>,
    /// The output that competed last.
    rival: usize,
    undecided: Option<State>,
    /// True if a label that is not excluded counts as chosen.
    includes_undecided: bool,
}

impl<'p> ChosenBoxes<'p> {
    /// Prepares a policy over these operators; they are grouped by its outputs.
    #[must_use]
    pub fn new(policy: &'p Policy, operators: &Operators) -> Self {
        let region = PolicyRegion::new(policy, operators);
        let mut reads: Vec<usize> = policy.inputs().iter().map(|v| v.index()).collect();
        for condition in region.applicable() {
            reads.extend(condition.variables().into_iter().map(VarId::index));
        }
        reads.sort_unstable();
        reads.dedup();
        Self { region, last: None, reads, rival: 0, undecided: None, includes_undecided: false }
    }

    /// The same, where every label that may be chosen counts as chosen.
    #[must_use]
    pub fn including_undecided(self) -> Self {
        Self { includes_undecided: true, ..self }
    }

    /// The next boxes lie in this one.
    pub fn enter(&mut self, sides: &IntBox) {
        self.region.enter(sides);
    }

    /// A state that was met in which the choice is undecided, and labels were left out for that.
    #[must_use]
    pub fn undecided(&self) -> Option<&State> {
        self.undecided.as_ref()
    }

    /// The number of questions to the oracle so far.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.region.asked()
    }

    /// Adds the parts of a box in which the policy chooses an output everywhere. In all other
    /// states of the box it does not, but for undecided ones. The output must be applicable
    /// everywhere in the box.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn add_chosen(
        &mut self,
        sides: IntBox,
        output: usize,
        chosen: &mut Vec<IntBox>,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        if self.region.policy().chooses_all() {
            chosen.push(sides);
            return Ok(());
        }
        let mut stack = vec![sides];
        while let Some(sides) = stack.pop() {
            budget.poll()?;
            if self.reads.iter().all(|&d| sides[d].is_point()) {
                let state = sides.lower_corner();
                match self.choice(&state).contains(output) {
                    Some(true) => chosen.push(sides),
                    Some(false) => {}
                    None if self.includes_undecided => chosen.push(sides),
                    None => self.undecided = Some(state),
                }
                continue;
            }
            let Answer::Possible(witness) = self.region.is_chosen_in(&sides, output, budget)?
            else {
                continue;
            };
            match self.competitor(&sides, output, budget)? {
                // Something is chosen in each state, for the output is applicable there.
                None if self.region.policy().always_chooses() => chosen.push(sides),
                other => {
                    let rival = other.flatten();
                    let [lower, upper] = self.cut(sides, witness.as_ref(), rival.as_ref())?;
                    stack.push(upper);
                    stack.push(lower);
                }
            }
        }
        Ok(())
    }

    /// A state where another output is chosen, or may be; `None` if there is none.
    fn competitor(
        &mut self,
        sides: &IntBox,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Option<Option<State>>, EngineError> {
        let outputs = self.region.policy().outputs().len();
        let first = std::iter::once(self.rival);
        for other in first.chain(0..outputs) {
            if other != output
                && let Answer::Possible(state) = self.region.is_chosen_in(sides, other, budget)?
            {
                self.rival = other;
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    /// Cuts a box between two states with different choices, else in the middle.
    fn cut(
        &mut self,
        sides: IntBox,
        one: Option<&State>,
        other: Option<&State>,
    ) -> Result<[IntBox; 2], EngineError> {
        if let (Some(one), Some(other)) = (one, other) {
            let differ = self.reads.iter().copied().filter(|&d| one[d] != other[d]);
            if let Some(d) = differ.max_by_key(|&d| one[d].abs_diff(other[d])) {
                let (low, high) = (one[d].min(other[d]), one[d].max(other[d]));
                let at = low.midpoint(high).clamp(low, high - 1);
                return Ok(sides.cut(d, at));
            }
        }
        let open = self.reads.iter().copied().filter(|&d| !sides[d].is_point());
        let widest = open.max_by_key(|&d| sides[d].count().unwrap_or(u128::MAX));
        let widest = widest.ok_or_else(|| EngineError::Internal("nothing to cut".to_owned()))?;
        halves(sides, widest)
    }

    fn choice(&mut self, state: &State) -> Choice {
        if let Some((last, choice)) = &self.last
            && last == state
        {
            return choice.clone();
        }
        let choice = self.region.choice(state);
        self.last = Some((state.clone(), choice.clone()));
        choice
    }
}
