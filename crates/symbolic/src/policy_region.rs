//! The policy's part of a question: is a label chosen somewhere in a region? Questions about parts of
//! the region that was entered share what is found out about it.

use std::borrow::Borrow;

use policert_bounds::{DecisionMap, Oracle, SelectionQuery};
use policert_engine_api::{Answer, Budget, EngineError, StopReason};
use policert_model::{Condition, Region, State};
use policert_numeric::{IntBox, Rational};
use policert_policy::{Choice, Chooser, Filter, Policy};

use crate::operators::Operators;

/// A policy, asked about regions and single states.
#[derive(Debug)]
pub struct PolicyRegion<'p> {
    policy: &'p Policy,
    oracle: Oracle<'p>,
    chooser: Chooser<'p>,
    /// By output: the condition of its being applicable; empty without filter.
    applicable: Vec<Condition>,
    entered: Option<IntBox>,
    /// The knowledge about the box that was entered; built when the first question about it is
    /// asked.
    map: Option<DecisionMap>,
    asked: u64,
}

impl<'p> PolicyRegion<'p> {
    /// Prepares a policy over these operators; they are grouped by its outputs.
    #[must_use]
    pub fn new(policy: &'p Policy, operators: &Operators) -> Self {
        let applicable = match policy.semantics().filter {
            Filter::None => Vec::new(),
            Filter::Applicable => operators.applicability(),
        };
        Self {
            policy,
            oracle: Oracle::new(policy, applicable.clone()),
            chooser: policy.chooser(),
            applicable,
            entered: None,
            map: None,
            asked: 0,
        }
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &'p Policy {
        self.policy
    }

    /// Returns where each output is applicable; empty if choices do not depend on it.
    #[must_use]
    pub fn applicable(&self) -> &[Condition] {
        &self.applicable
    }

    /// Questions about parts of this box follow. Without it each question is answered on its own.
    pub fn enter(&mut self, sides: &IntBox) {
        self.entered = Some(sides.clone());
        self.map = None;
    }

    /// Gives up questions after this many boxes that bounds leave open; see [`Oracle::limit_boxes`].
    pub fn limit_boxes(&mut self, limit: Option<u64>) {
        self.oracle.limit_boxes(limit);
    }

    /// Returns whether the policy chooses an output somewhere in a region. Neither a refutation nor
    /// a witness means that it is not decided; for a single state it always is, unless its choice
    /// is undecided.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn is_chosen<C: Borrow<Condition>>(
        &mut self,
        region: &Region<C>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        let conditions: Vec<&Condition> = region.conditions.iter().map(Borrow::borrow).collect();
        Ok(self.decide(&region.sides, &conditions, output, budget)?)
    }

    /// As [`PolicyRegion::is_chosen`], in a whole box.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn is_chosen_in(
        &mut self,
        sides: &IntBox,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        Ok(self.decide(sides, &[], output, budget)?)
    }

    fn decide(
        &mut self,
        sides: &IntBox,
        conditions: &[&Condition],
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, StopReason> {
        self.asked += 1;
        let query = SelectionQuery { region: sides, conditions, output };
        let Some(entered) = &self.entered else { return self.oracle.decide(&query, budget) };
        let map = self.map.get_or_insert_with(|| DecisionMap::new(&self.oracle, entered));
        map.decide(&mut self.oracle, &query, budget)
    }

    /// The relaxed question: variables range over the reals, and so does a witness. Never refutes what
    /// the exact question finds possible.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn is_chosen_over_reals<C: Borrow<Condition>>(
        &mut self,
        region: &Region<C>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<Vec<Rational>>, EngineError> {
        let conditions: Vec<&Condition> = region.conditions.iter().map(Borrow::borrow).collect();
        let query = SelectionQuery { region: &region.sides, conditions: &conditions, output };
        Ok(self.oracle.decide_relaxed(&query, budget)?)
    }

    /// Returns what the policy chooses in each of some states; a few cost as much as one.
    pub fn choices<'s>(&mut self, states: impl IntoIterator<Item = &'s [i64]>) -> Vec<Choice> {
        let (mut inputs, mut mask) = (Vec::new(), Vec::new());
        for state in states {
            inputs.extend(self.policy.inputs().iter().map(|v| state[v.index()]));
            let applicable = self.applicable.iter();
            mask.extend(applicable.map(|condition| condition.holds(state) == Ok(true)));
        }
        let mut choices = Vec::new();
        self.chooser.choose_batch(&inputs, &mask, &mut choices);
        choices
    }

    /// Returns what the policy chooses in a state.
    pub fn choice(&mut self, state: &[i64]) -> Choice {
        let inputs: Vec<i64> = self.policy.inputs().iter().map(|v| state[v.index()]).collect();
        let applicable = self.applicable.iter();
        let mask: Vec<bool> =
            applicable.map(|condition| condition.holds(state) == Ok(true)).collect();
        self.chooser.choose(&inputs, &mask)
    }

    /// The number of questions so far, without relaxed ones.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.asked
    }
}
