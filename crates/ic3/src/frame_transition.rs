//! The policy frame transition problem (POLIC3, Definitions 1 and 2): does some state of a reason
//! have a transition into a frame that the policy allows?
//!
//! An answer *refuted* is a proof. For single states the answer is exact, whatever the
//! configuration, but where the policy's choice in it is undecided.

use std::sync::Arc;

use policert_engine_api::{Answer, Budget, EngineError, Question};
use policert_model::{Condition, LabelId, Operator, State};
use policert_numeric::IntBox;
use policert_symbolic::{
    OperatorOutcome, Operators, PolicyRegion, SharedRegion as Region, point_in, shared,
};

use crate::Frames;
use crate::config::FrameTransition;

/// The environment's part of the transition system.
#[derive(Debug)]
pub(crate) struct Environment<'a> {
    pub question: &'a Question<'a>,
    pub operators: Operators,
    /// By operator: what questions about regions need.
    pub prepared: Vec<Prepared>,
    /// That a state is not declared terminal.
    pub not_terminal: Vec<Arc<Condition>>,
    /// The box of all states.
    pub domains: IntBox,
}

/// An operator, made ready for questions about regions.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The conjuncts of its guard.
    guard: Vec<Arc<Condition>>,
    /// By destination.
    outcomes: Vec<OperatorOutcome>,
}

impl Prepared {
    fn new(question: &Question<'_>, operator: &Operator) -> Self {
        let outcomes =
            operator.destinations.iter().map(|d| OperatorOutcome::new(question, d)).collect();
        Self { guard: shared(&operator.guard), outcomes }
    }
}

/// Answers (5.1), the environment's part of APFT, in place of interval reasoning.
pub(crate) trait EnvironmentTransition {
    /// Returns whether some state of a region leads by an outcome into the target.
    fn is_possible(
        &mut self,
        outcome: &OperatorOutcome,
        region: &Region,
        into: Into<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError>;
}

/// The states that transitions are looked for into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Into<'f> {
    pub frames: &'f Frames,
    /// n: the states of ℱₙ.
    pub frame: usize,
    /// But not those of these boxes, for n ≥ 1.
    pub but: &'f [IntBox],
}

impl<'f> Into<'f> {
    /// A box around a state that is no target, n ≥ 1.
    pub fn blocking(&self, state: &[i64]) -> Option<&'f IntBox> {
        let own = self.but.iter().find(|own| own.contains(state));
        own.or_else(|| self.frames.blocking(self.frame, state))
    }

    /// Returns whether one box without targets includes a whole one, n ≥ 1.
    fn excludes(&self, sides: &IntBox) -> bool {
        self.but.iter().any(|own| own.includes(sides))
            || self.frames.including(self.frame, sides).is_some()
    }
}

/// Answers the parts of the problem.
pub(crate) struct Solvers<'s, 'p> {
    pub method: FrameTransition,
    /// The policy; without one the environment chooses.
    pub policy: Option<&'s mut PolicyRegion<'p>>,
    /// Boxes after which a question about the policy is given up; 0 for never.
    pub box_limit: u64,
    /// For (5.1); interval reasoning if there is none.
    pub environment: Option<&'s mut dyn EnvironmentTransition>,
}

impl<'a> Environment<'a> {
    /// Prepares the operators of a model.
    ///
    /// # Errors
    /// A variable without bounds, a terminal condition without value somewhere, or too many
    /// operators: unsupported.
    pub fn new(question: &'a Question<'a>, outputs: &[LabelId]) -> Result<Self, EngineError> {
        let model = question.model;
        if let Some(v) = model.variables.iter().find(|v| !v.domain.is_bounded()) {
            let name = &v.name;
            return Err(EngineError::Unsupported(format!(
                "engine ic3 needs both bounds of variable {name}"
            )));
        }
        let domains = model.domains();
        let not_terminal = match &question.terminal {
            None => Vec::new(),
            Some(terminal) if terminal.is_total(&domains) => shared(&terminal.negate()),
            Some(_) => {
                return Err(EngineError::Unsupported(
                    "the terminal condition may have no truth value in some state (a cell that \
                     does not exist or a division by zero)"
                        .to_owned(),
                ));
            }
        };
        let operators = Operators::new(model, outputs)?;
        let prepared = operators.all().iter().map(|o| Prepared::new(question, o)).collect();
        Ok(Self { question, operators, prepared, not_terminal, domains })
    }

    /// Returns whether some state of `reason` has a transition to a target under the policy. A
    /// witness is such a state; without one it is not known.
    ///
    /// A state in which an operator that may be taken breaks the model's rules counts as one with
    /// a transition.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn frame_transition(
        &self,
        reason: &IntBox,
        into: Into<'_>,
        solvers: &mut Solvers<'_, '_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        let states = Region::new(reason.clone(), self.not_terminal.iter().cloned());
        if states.is_empty() {
            return Ok(Answer::Refuted);
        }
        if let Some(policy) = &mut solvers.policy {
            policy.enter(reason);
            let limited = solvers.box_limit > 0 && !reason.is_point();
            policy.limit_boxes(limited.then_some(solvers.box_limit));
        }
        for group in self.operators.environment_first() {
            let decoupled = solvers.method == FrameTransition::Decoupled
                && group.output.is_some()
                && solvers.policy.is_some();
            let mut possible = None;
            for &o in &group.operators {
                let prepared = &self.prepared[o];
                let applicable = states.restrict(prepared.guard.iter().cloned());
                if applicable.is_empty() {
                    continue;
                }
                for outcome in &prepared.outcomes {
                    let output = group.output.filter(|_| !decoupled);
                    let answer = outcome_into(outcome, &applicable, output, into, solvers, budget)?;
                    if let Answer::Possible(witness) = answer {
                        possible = Some(self.state_of(witness));
                        break;
                    }
                }
                if possible.is_some() {
                    break;
                }
            }
            let Some(witness) = possible else { continue };
            // (5.2)
            if decoupled
                && let Some(output) = group.output
                && let Some(policy) = &mut solvers.policy
            {
                match policy.is_chosen_in(reason, output, budget)? {
                    Answer::Refuted => continue,
                    // The two parts may hold in different states.
                    Answer::Possible(_) => {
                        return Ok(Answer::Possible(witness.filter(|_| reason.is_point())));
                    }
                }
            }
            return Ok(Answer::Possible(witness));
        }
        Ok(Answer::Refuted)
    }

    /// The state of a point with free choices.
    fn state_of(&self, point: Option<State>) -> Option<State> {
        point.map(|mut point| {
            point.truncate(self.domains.dimensions());
            point
        })
    }
}

/// Returns whether an outcome leads from a region of states into a frame.
fn outcome_into(
    outcome: &OperatorOutcome,
    applicable: &Region,
    output: Option<usize>,
    into: Into<'_>,
    solvers: &mut Solvers<'_, '_>,
    budget: &mut Budget,
) -> Result<Answer<State>, EngineError> {
    if let Some(broken) = &outcome.broken {
        let choices = outcome.destination.choice_sides(&applicable.sides);
        let region = applicable.extend(choices).restrict([Arc::clone(broken)]);
        if let Answer::Possible(point) = is_taken(&region, output, solvers, budget)? {
            return Ok(Answer::Possible(point));
        }
    }
    let region = outcome.region(applicable);
    if region.is_empty() {
        return Ok(Answer::Refuted);
    }
    if output.is_none()
        && let Some(environment) = &mut solvers.environment
    {
        return environment.is_possible(outcome, &region, into, budget);
    }
    if into.frame == 0 {
        let region = region.restrict(outcome.into_unsafe.iter().cloned());
        return is_taken(&region, output, solvers, budget);
    }
    outside_of_reasons(outcome, region, output, into, solvers, budget)
}

/// Returns whether an outcome leads from a region to a state of ℱₙ, n ≥ 1, that no reason holds in:
/// parts of the region that lead into a reason are cut away until nothing is left.
fn outside_of_reasons(
    outcome: &OperatorOutcome,
    region: Region,
    output: Option<usize>,
    into: Into<'_>,
    solvers: &mut Solvers<'_, '_>,
    budget: &mut Budget,
) -> Result<Answer<State>, EngineError> {
    let mut open = vec![region];
    while let Some(region) = open.pop() {
        budget.poll()?;
        if region.is_empty() {
            continue;
        }
        if into.excludes(&outcome.hull(&region.sides)) {
            continue;
        }
        let point = match is_taken(&region, output, solvers, budget)? {
            Answer::Refuted => continue,
            Answer::Possible(Some(point)) => point,
            unknown => return Ok(unknown),
        };
        let blocked = outcome.target(&point).and_then(|next| into.blocking(&next));
        match blocked {
            None => return Ok(Answer::Possible(Some(point))),
            Some(reason) => outcome.cut(region, reason, &mut open),
        }
    }
    Ok(Answer::Refuted)
}

/// Returns whether a region has a state in which the policy chooses an output; without an output,
/// any.
fn is_taken(
    region: &Region,
    output: Option<usize>,
    solvers: &mut Solvers<'_, '_>,
    budget: &mut Budget,
) -> Result<Answer<State>, EngineError> {
    if region.is_empty() {
        return Ok(Answer::Refuted);
    }
    match (output, &mut solvers.policy) {
        (Some(output), Some(policy)) => policy.is_chosen(region, output, budget),
        _ => Ok(match point_in(region, budget)? {
            Some(point) => Answer::Possible(Some(point)),
            None => Answer::Refuted,
        }),
    }
}
