//! The policy's part of a question: is a label chosen somewhere in a region?

use std::borrow::Borrow;

use policert_bounds::{DecisionMap, Oracle, SelectionQuery};
use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::{Condition, State};
use policert_numeric::IntBox;
use policert_policy::{Choice, Chooser, Filter, Policy};

use crate::operators::Region;

/// What the engine asks about a policy. A policy of another kind than a network answers the same.
pub(crate) trait Decisions {
    /// The next questions are about parts of this box.
    fn enter(&mut self, sides: &IntBox);

    /// Whether the policy chooses an output somewhere in a region. No refutation and no witness:
    /// not decided; never for a single state, unless its choice is undecided.
    fn is_chosen(
        &mut self,
        region: &Region,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError>;

    /// What the policy chooses in each of some states; a few cost as much as one.
    fn choices(&mut self, states: &[State]) -> Vec<Choice>;

    /// Questions so far.
    fn asked(&self) -> u64;
}

/// A network, by the decision oracle.
#[derive(Debug)]
pub(crate) struct NetworkDecisions<'p> {
    policy: &'p Policy,
    oracle: Oracle<'p>,
    chooser: Chooser<'p>,
    /// Where each output is applicable; empty without filter.
    applicable: Vec<Condition>,
    entered: Option<IntBox>,
    /// Built when the first question about the box is asked.
    map: Option<DecisionMap>,
    box_limit: u64,
    asked: u64,
}

impl<'p> NetworkDecisions<'p> {
    pub fn new(policy: &'p Policy, mut applicable: Vec<Condition>, box_limit: u64) -> Self {
        let oracle = Oracle::new(policy, applicable.clone());
        if policy.semantics().filter == Filter::None {
            applicable.clear();
        }
        Self {
            policy,
            oracle,
            chooser: policy.chooser(),
            applicable,
            entered: None,
            map: None,
            box_limit,
            asked: 0,
        }
    }
}

impl Decisions for NetworkDecisions<'_> {
    fn enter(&mut self, sides: &IntBox) {
        self.entered = Some(sides.clone());
        self.map = None;
        let limited = self.box_limit > 0 && !sides.is_point();
        self.oracle.limit_boxes(limited.then_some(self.box_limit));
    }

    fn is_chosen(
        &mut self,
        region: &Region,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        self.asked += 1;
        let conditions: Vec<&Condition> = region.conditions.iter().map(Borrow::borrow).collect();
        let query = SelectionQuery { region: &region.sides, conditions: &conditions, output };
        if self.map.is_none() {
            self.map = self.entered.as_ref().map(|sides| DecisionMap::new(&self.oracle, sides));
        }
        Ok(match &mut self.map {
            Some(map) => map.decide(&mut self.oracle, &query, budget)?,
            None => self.oracle.decide(&query, budget)?,
        })
    }

    fn choices(&mut self, states: &[State]) -> Vec<Choice> {
        let (mut inputs, mut mask) = (Vec::new(), Vec::new());
        for state in states {
            inputs.extend(self.policy.inputs().iter().map(|v| state[v.index()]));
            let applicable = self.applicable.iter();
            mask.extend(applicable.map(|condition| condition.holds(state) == Ok(true)));
        }
        let mut choices = Vec::with_capacity(states.len());
        self.chooser.choose_batch(&inputs, &mask, &mut choices);
        choices
    }

    fn asked(&self) -> u64 {
        self.asked
    }
}
