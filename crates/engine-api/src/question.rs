//! The question that engines answer: is an unsafe state reachable from a start state?

use std::ops::ControlFlow;

use policert_model::{
    Condition, DomainRule, Model, SafetyProperty, Start, State, Visit, for_each_solution,
};
use policert_numeric::IntBox;
use policert_policy::{Filter, Policy};

use crate::{Budget, EngineError, ProbabilityAim, UnknownReason, point_of};

/// Says what a question asks of the runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Aim {
    /// That none reaches an unsafe state.
    #[default]
    AvoidUnsafe,
    /// That each reaches a goal state, whatever happens before.
    ReachGoal,
    /// The probability that one reaches an unsafe state is to be bounded.
    Probability(ProbabilityAim),
}

/// Says what a state without successors is, if it is neither terminal nor a goal state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StuckRule {
    /// The end of a run.
    #[default]
    Allowed,
    /// An unsafe state.
    Unsafe,
}

/// A question about a model under a policy.
#[derive(Clone, Debug)]
pub struct Question<'m> {
    /// The model.
    pub model: &'m Model,
    /// The property.
    pub property: &'m SafetyProperty,
    /// The policy; `None` allows all actions.
    pub policy: Option<&'m Policy>,
    /// The rule for updates that leave a domain.
    pub domain_rule: DomainRule,
    /// States without successors declared terminal, besides unsafe ones; `None` for none.
    pub terminal: Option<Condition>,
    /// The question about the runs.
    pub aim: Aim,
    /// The rule for states without successors.
    pub stuck: StuckRule,
    /// True if the model's own initial states are start states besides those that the property
    /// names. Without a start in the property they are the start states in any case.
    pub initial_states: bool,
    /// True if the search goes on after the first unsafe state, to all reachable states.
    pub keep_going: bool,
    /// True if the search ends with the first unsafe state also where the engine goes on by
    /// default.
    pub stop_at_first_unsafe: bool,
    /// True if unsafe and terminal states are expanded too; the search goes on then.
    pub build_all: bool,
    /// True if evidence is wanted that takes time to collect: of probabilities, and of safe verdicts.
    pub evidence: bool,
}

/// Says where start states come from.
#[derive(Clone, Debug)]
pub enum StartStates<'m> {
    /// All points of the box that satisfy the condition.
    Region(Condition, IntBox),
    /// A list.
    List(&'m [State]),
}

impl<'m> Question<'m> {
    /// A question without policy, with the default rules: drop, nothing terminal, initial states
    /// included.
    #[must_use]
    pub fn new(model: &'m Model, property: &'m SafetyProperty) -> Self {
        Self {
            model,
            property,
            policy: None,
            domain_rule: DomainRule::Drop,
            terminal: None,
            aim: Aim::AvoidUnsafe,
            stuck: StuckRule::Allowed,
            initial_states: true,
            keep_going: false,
            stop_at_first_unsafe: false,
            build_all: false,
            evidence: false,
        }
    }

    /// The reason for an open answer that lies in the policy's choice in a state.
    #[must_use]
    pub fn undecided_choice(&self, state: &[i64]) -> UnknownReason {
        let text = self.model.display_state(state);
        let mut inputs = Vec::new();
        let Some(policy) = self.policy else {
            return UnknownReason::UndecidedChoice { state: text };
        };
        policy.read_inputs(state, &mut inputs);
        if !policy.has_scores(&inputs) {
            return UnknownReason::NoScores { state: text };
        }
        if policy.single().is_none() {
            return UnknownReason::UndecidedChoice { state: text };
        }
        // With a filter it depends on what is applicable.
        let labels = match policy.semantics().filter {
            Filter::Applicable => Vec::new(),
            Filter::None => {
                let choice = policy.chooser().choose(&inputs, &[]);
                let label = |&output: &usize| self.model.label_name(Some(policy.outputs()[output]));
                choice.possible().iter().map(label).map(str::to_owned).collect()
            }
        };
        UnknownReason::CloseScores { state: text, labels }
    }

    /// The sources of start states; a state may come from several.
    #[must_use]
    pub fn start_states(&self) -> Vec<StartStates<'m>> {
        let mut sources = Vec::new();
        match &self.property.start {
            Some(Start::Condition(c)) => {
                sources.push(StartStates::Region(c.clone(), self.model.domains()));
            }
            Some(Start::States(states)) => sources.push(StartStates::List(states)),
            None => {}
        }
        if self.initial_states || self.property.start.is_none() {
            let (condition, sides) = self.model.initial_states();
            sources.push(StartStates::Region(condition, sides));
        }
        sources
    }

    /// Visits every start state; one may come several times.
    ///
    /// # Errors
    /// A stop of the budget, an error of the visitor, or a start condition that leaves a
    /// variable unbounded.
    pub fn for_each_start_state(
        &self,
        budget: &mut Budget,
        visit: &mut impl FnMut(&[i64]) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        for source in self.start_states() {
            match source {
                StartStates::List(states) => {
                    for state in states {
                        budget.poll()?;
                        visit(state)?;
                    }
                }
                StartStates::Region(condition, sides) => {
                    let flow = for_each_solution(&condition, &sides, false, &mut |step| {
                        let result = match step {
                            Visit::Step => budget.poll().map_err(EngineError::from),
                            Visit::Solution(state) => {
                                budget.poll().map_err(EngineError::from).and_then(|()| visit(state))
                            }
                        };
                        match result {
                            Ok(()) => ControlFlow::Continue(()),
                            Err(error) => ControlFlow::Break(error),
                        }
                    })?;
                    if let ControlFlow::Break(error) = flow {
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }

    /// A start state that is unsafe, if there is one.
    ///
    /// # Errors
    /// A stop of the budget, or a start condition that leaves a variable unbounded.
    pub fn unsafe_start_state(&self, budget: &mut Budget) -> Result<Option<State>, EngineError> {
        for source in self.start_states() {
            match source {
                StartStates::List(states) => {
                    if let Some(state) = states.iter().find(|state| self.is_unsafe(state)) {
                        return Ok(Some(state.clone()));
                    }
                }
                StartStates::Region(condition, sides) => {
                    let unsafe_condition = self.property.unsafe_condition.clone();
                    let both = Condition::and([condition, unsafe_condition]);
                    if let Some(state) = point_of(&both, &sides, budget)? {
                        return Ok(Some(state));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Refuses what is not the plain question whether an unsafe state is reachable, for engines that
    /// answer no other.
    ///
    /// # Errors
    /// Another question: unsupported.
    pub fn require_safety(&self, engine: &str) -> Result<(), EngineError> {
        match (&self.aim, self.stuck) {
            (Aim::AvoidUnsafe, StuckRule::Allowed) => Ok(()),
            (Aim::AvoidUnsafe | Aim::ReachGoal | Aim::Probability(_), _) => {
                Err(self.refused_by(engine))
            }
        }
    }

    /// Returns what an engine says that does not answer the question.
    #[must_use]
    pub fn refused_by(&self, engine: &str) -> EngineError {
        let what = match &self.aim {
            Aim::AvoidUnsafe => "whether a run gets stuck or reaches an unsafe state",
            Aim::ReachGoal => "whether every run reaches the goal",
            Aim::Probability(_) => {
                "how probable it is to reach an unsafe state, as it is asked here"
            }
        };
        EngineError::Unsupported(format!("engine {engine} does not answer {what}"))
    }

    /// Returns whether `state` is unsafe. A condition without truth value does not hold.
    #[must_use]
    pub fn is_unsafe(&self, state: &[i64]) -> bool {
        self.property.unsafe_condition.holds(state) == Ok(true)
    }

    /// Returns whether `state` is a goal state of the property. A condition without truth value
    /// does not hold.
    #[must_use]
    pub fn is_goal(&self, state: &[i64]) -> bool {
        self.property.goal.as_ref().is_some_and(|c| c.holds(state) == Ok(true))
    }

    /// Returns whether `state` is one where a run must not get stuck.
    #[must_use]
    pub fn must_go_on(&self, state: &[i64]) -> bool {
        self.stuck == StuckRule::Unsafe && !self.is_terminal(state) && !self.is_goal(state)
    }

    /// Returns whether `state` is declared terminal. A condition without truth value does not
    /// hold.
    #[must_use]
    pub fn is_terminal(&self, state: &[i64]) -> bool {
        self.terminal.as_ref().is_some_and(|c| c.holds(state) == Ok(true))
    }
}
