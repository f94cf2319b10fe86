//! Concrete runs along an abstract path: one start state, step by step, by the plain semantics.

use policert_engine_api::{Budget, EngineError, Trace, TraceStep};
use policert_model::{Destination, State, UpdateValue};
use policert_numeric::{IntBox, IntInterval};

use super::path::{AbstractPath, Requirement};
use super::path_condition::PathCondition;
use super::policy_choice::PolicyChoice;
use super::realisability::solution;
use crate::abstraction::Abstraction;
use crate::queries::Queries;
use crate::region::Region;

/// Says where a run along a path ends.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// It follows the whole path: the last state is unsafe.
    Unsafe,
    /// A requirement of the step does not hold in the last state.
    Requirement(Requirement),
    /// The policy does not choose the step's label in the last state.
    Choice(usize),
    /// It is undecided whether the policy chooses the label.
    Undecided,
}

/// A run as far as it follows a path.
#[derive(Clone, Debug)]
pub(crate) struct PathRun {
    /// The states, from the start state on: all steps before the last state were taken.
    pub states: Vec<State>,
    /// The free choices of the steps taken.
    pub choices: Vec<Vec<i64>>,
    /// The reason why it ends there.
    pub end: End,
}

impl PathRun {
    /// Number of steps taken.
    pub fn steps(&self) -> usize {
        self.choices.len()
    }

    /// The state that it ends in.
    pub fn last(&self) -> &State {
        &self.states[self.steps()]
    }

    /// As a trace.
    pub fn trace(&self, abstraction: &Abstraction<'_>, path: &AbstractPath) -> Trace {
        let steps = (0..self.steps())
            .map(|step| {
                let operator = path.operator(abstraction, step);
                TraceStep {
                    label: operator.label,
                    operator: operator.key.clone(),
                    destination: path.steps[step].destination,
                    choices: self.choices[step].clone(),
                    state: self.states[step + 1].clone(),
                }
            })
            .collect();
        Trace { start: self.states[0].clone(), steps }
    }
}

/// Holds what runs are followed with.
#[derive(Debug)]
pub(crate) struct Follower<'r, 'p> {
    pub abstraction: &'r Abstraction<'r>,
    pub path: &'r AbstractPath,
    pub encoding: &'r PathCondition,
    /// `None` allows everything.
    pub policy: Option<&'r mut PolicyChoice<'p>>,
}

impl Follower<'_, '_> {
    /// Follows the path from a point of its encoding.
    ///
    /// # Errors
    /// A stop of the budget, a query that is not decided, or a modelling error.
    pub fn follow(
        &mut self,
        point: &[i64],
        queries: &mut Queries<'_>,
        budget: &mut Budget,
    ) -> Result<PathRun, EngineError> {
        let variables = self.abstraction.predicates.domains().dimensions();
        let mut run = PathRun {
            states: vec![point[..variables].to_vec()],
            choices: Vec::new(),
            end: End::Unsafe,
        };
        for step in 0..=self.path.steps.len() {
            budget.poll()?;
            let state = run.states[step].clone();
            let requirements = self.path.requirements(self.abstraction, step);
            let last = step == self.path.steps.len();
            let encoded = self.encoding.moments.get(step);
            let mut extended = state.clone();
            if !last {
                let outcome = self.path.outcome(self.abstraction, step);
                match encoded {
                    Some(moment) => {
                        extended.extend(moment.choices(point, outcome.choices.len()));
                    }
                    None => {
                        let chosen = choices_for(outcome, &state, &requirements, queries, budget)?;
                        extended.extend(chosen);
                    }
                }
            }
            let fails = |r: &&Requirement| r.condition.holds(&extended) != Ok(true);
            if let Some(requirement) = requirements.iter().find(fails) {
                run.end = End::Requirement(requirement.clone());
                return Ok(run);
            }
            if last {
                return Ok(run);
            }
            if let (Some(policy), Some(output)) = (&mut self.policy, self.path.steps[step].output) {
                match policy.chooses(self.abstraction, &state, output)? {
                    Some(true) => {}
                    Some(false) => {
                        run.end = End::Choice(output);
                        return Ok(run);
                    }
                    None => {
                        run.end = End::Undecided;
                        return Ok(run);
                    }
                }
            }
            let outcome = self.path.outcome(self.abstraction, step);
            let Some(next) = after(outcome, &extended, variables) else {
                let operator = &self.path.operator(self.abstraction, step).key;
                return Err(EngineError::Unsupported(format!(
                    "{} may assign a value that is no integer",
                    self.abstraction.question.model.display_operator(operator)
                )));
            };
            run.states.push(next);
            run.choices.push(extended[variables..].to_vec());
        }
        Ok(run)
    }
}

/// Free choices of an outcome by which a state meets all requirements; any if there are none.
fn choices_for(
    outcome: &Destination,
    state: &State,
    requirements: &[Requirement],
    queries: &mut Queries<'_>,
    budget: &mut Budget,
) -> Result<Vec<i64>, EngineError> {
    if outcome.choices.is_empty() {
        return Ok(Vec::new());
    }
    let mut sides = IntBox::point(state);
    let choices = outcome.choice_sides(&sides);
    choices.iter().for_each(|&side| sides.push(side));
    let region = Region::new(sides, requirements.iter().map(|r| &r.condition));
    Ok(match solution(&region, queries, budget)? {
        Some(point) => point[state.len()..].to_vec(),
        None => choices.into_iter().map(IntInterval::nearest_to_zero).collect(),
    })
}

/// The state after an outcome, over the state before and its choices; `None` if a value does not
/// exist.
fn after(outcome: &Destination, extended: &[i64], variables: usize) -> Option<State> {
    let mut next = extended[..variables].to_vec();
    for update in &outcome.updates {
        let value = match &update.value {
            UpdateValue::Linear(linear) => linear.eval(extended),
            UpdateValue::General(_) => None,
        };
        let value = match value {
            Some(value) => value,
            None => update.value.to_expr().eval(extended).ok()?.to_i64()?,
        };
        next[update.variable.index()] = value;
    }
    Some(next)
}
