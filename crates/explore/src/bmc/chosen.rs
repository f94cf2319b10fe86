//! Boxes in which the policy chooses a label everywhere, by the decision oracle.

use policert_bounds::{DecisionMap, Oracle, SelectionQuery};
use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::{Condition, State, VarId};
use policert_numeric::IntBox;
use policert_policy::{Choice, Chooser, Filter, Policy, Ties};

use super::partition::{cut, halves};

/// Tells where the policy chooses a label.
#[derive(Debug)]
pub(super) struct Choices<'p> {
    policy: &'p Policy,
    oracle: Oracle<'p>,
    chooser: Chooser<'p>,
    /// The box that was entered.
    entered: Option<IntBox>,
    /// What is known about it; built when the first question is asked.
    map: Option<DecisionMap>,
    /// The state whose choice was asked last, and what it is.
    last: Option<(State, Choice)>,
    /// With a filter: where each output is applicable.
    applicable: Vec<Condition>,
    /// The variables that the choice depends on.
    reads: Vec<usize>,
    /// The output that competed last.
    rival: usize,
    /// A state in which the choice is undecided.
    pub undecided: Option<State>,
    /// Questions to the oracle.
    pub queries: u64,
}

impl<'p> Choices<'p> {
    /// For this policy. `applicable` says for each output where its label is applicable.
    pub fn new(policy: &'p Policy, mut applicable: Vec<Condition>) -> Self {
        if policy.semantics().filter == Filter::None {
            applicable.clear();
        }
        let mut reads: Vec<usize> = policy.inputs().iter().map(|v| v.index()).collect();
        for condition in &applicable {
            reads.extend(condition.variables().into_iter().map(VarId::index));
        }
        reads.sort_unstable();
        reads.dedup();
        Self {
            policy,
            oracle: Oracle::new(policy, applicable.clone()),
            chooser: policy.chooser(),
            entered: None,
            map: None,
            last: None,
            applicable,
            reads,
            rival: 0,
            undecided: None,
            queries: 0,
        }
    }

    /// The next boxes lie in this one.
    pub fn enter(&mut self, sides: &IntBox) {
        self.entered = Some(sides.clone());
        self.map = None;
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
        let mut stack = vec![sides];
        while let Some(sides) = stack.pop() {
            budget.poll()?;
            if self.reads.iter().all(|&d| sides[d].is_point()) {
                let state = sides.lower_corner();
                match self.choice(&state).contains(output) {
                    Some(true) => chosen.push(sides),
                    Some(false) => {}
                    None => self.undecided = Some(state),
                }
                continue;
            }
            let Answer::Possible(witness) = self.ask(&sides, output, budget)? else { continue };
            match self.competitor(&sides, output, budget)? {
                // Something is chosen in each state, for the output is applicable there.
                None if self.policy.semantics().ties != Ties::Strict => chosen.push(sides),
                other => {
                    let rival = other.flatten();
                    let (lower, upper) = self.cut(sides, witness.as_ref(), rival.as_ref())?;
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
        let outputs = self.policy.outputs().len();
        let first = std::iter::once(self.rival);
        for other in first.chain(0..outputs) {
            if other != output
                && let Answer::Possible(state) = self.ask(sides, other, budget)?
            {
                self.rival = other;
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    fn ask(
        &mut self,
        sides: &IntBox,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        self.queries += 1;
        if let (None, Some(entered)) = (&self.map, &self.entered) {
            self.map = Some(DecisionMap::new(&self.oracle, entered));
        }
        let query = SelectionQuery { region: sides, conditions: &[], output };
        Ok(match &mut self.map {
            Some(map) => map.decide(&mut self.oracle, &query, budget)?,
            None => self.oracle.decide(&query, budget)?,
        })
    }

    /// Cuts a box between two states with different choices, else in the middle.
    fn cut(
        &mut self,
        sides: IntBox,
        one: Option<&State>,
        other: Option<&State>,
    ) -> Result<(IntBox, IntBox), EngineError> {
        if let (Some(one), Some(other)) = (one, other) {
            let differ = self.reads.iter().copied().filter(|&d| one[d] != other[d]);
            if let Some(d) = differ.max_by_key(|&d| one[d].abs_diff(other[d])) {
                let (low, high) = (one[d].min(other[d]), one[d].max(other[d]));
                let at = low.midpoint(high).clamp(low, high - 1);
                return Ok(cut(sides, d, at));
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
        let inputs: Vec<i64> = self.policy.inputs().iter().map(|v| state[v.index()]).collect();
        let mask: Vec<bool> =
            self.applicable.iter().map(|condition| condition.holds(state) == Ok(true)).collect();
        let choice = self.chooser.choose(&inputs, &mask);
        self.last = Some((state.clone(), choice.clone()));
        choice
    }
}
