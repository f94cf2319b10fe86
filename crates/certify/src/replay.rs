//! Replaying a trace: every claim of it is checked.

use policert_engine_api::{Aim, Question, StartStates, Trace, TraceStep};
use policert_model::{Composer, LabelId, ModelSemantics, ModellingError, Operator, State};
use policert_numeric::Rational;
use policert_policy::{Filter, Policy};

use crate::applicable::is_applicable;
use crate::error::ReplayError;
use crate::scores::{Contest, Evaluations, Scorer, StateScores};
use crate::stuck::check_stuck;

/// A trace that was checked: a run of the model under the policy from a start state that does not do
/// what the question asks.
#[derive(Clone, PartialEq, Debug)]
pub struct Replayed {
    /// One entry for each step of the trace.
    pub steps: Vec<ReplayedStep>,
    /// The way in which it ends.
    pub end: TraceEnd,
}

/// Says how a run ends that does not do what the question asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceEnd {
    /// In an unsafe state.
    Unsafe,
    /// In a state in which it may get stuck.
    Stuck,
    /// In a terminal state.
    Terminal,
    /// Not at all: it goes round.
    Loop {
        /// After how many steps the loop begins.
        back_to: usize,
    },
}

/// A step that was checked.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplayedStep {
    /// The result of the policy's computation; `None` where the step belongs to the environment.
    pub policy: Option<ReplayedChoice>,
}

/// The policy's choice in one state.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplayedChoice {
    /// The network's inputs.
    pub inputs: Vec<i64>,
    /// The outputs that compete, in ascending order: with a filter those that are applicable.
    pub competing: Vec<usize>,
    /// The output of the step's label.
    pub chosen: usize,
    /// The scores of all outputs.
    pub scores: StateScores,
}

/// Checks that `trace` is a run from a start state that does not do what the question asks, in which
/// every label is either the environment's or chosen by the policy. Without policy every label is the
/// environment's.
///
/// If unsafe states are to be avoided, it ends in one, or gets stuck where that is unsafe. If a
/// goal state is to be reached, it meets none, and gets stuck, ends in a terminal state, or comes
/// back to a state by a loop without chance. No transition leaves a terminal state, also where the
/// question asks to build everything.
///
/// # Errors
/// The first claim that is wrong, or that cannot be decided.
pub fn replay(
    question: &Question<'_>,
    policy: Option<&Policy>,
    trace: &Trace,
) -> Result<Replayed, ReplayError> {
    let replay = Replay::new(question, policy)?;
    replay.check_start(&trace.start)?;
    let mut state = &trace.start;
    let mut steps = Vec::with_capacity(trace.steps.len());
    for (number, step) in trace.steps.iter().enumerate() {
        steps.push(replay.check_step(number, state, step)?);
        state = &step.state;
    }
    let end = match question.aim {
        Aim::AvoidUnsafe | Aim::Probability(_) => replay.check_unsafe_end(trace)?,
        Aim::ReachGoal => replay.check_miss(trace)?,
    };
    Ok(Replayed { steps, end })
}

struct Replay<'a> {
    question: &'a Question<'a>,
    semantics: ModelSemantics<'a>,
    policy: Option<(&'a Policy, Scorer<'a>)>,
}

impl<'a> Replay<'a> {
    fn new(question: &'a Question<'a>, policy: Option<&'a Policy>) -> Result<Self, ReplayError> {
        Ok(Self {
            question,
            semantics: ModelSemantics { model: question.model, rule: question.domain_rule },
            policy: policy.map(|policy| (policy, Scorer::new(policy, Evaluations::Plain))),
        })
    }

    fn check_start(&self, start: &[i64]) -> Result<(), ReplayError> {
        let model = self.question.model;
        let inside = start.len() == model.variables.len()
            && model.variables.iter().zip(start).all(|(v, &value)| v.domain.contains(value));
        if !inside {
            return Err(ReplayError::NoState(model.display_state(start)));
        }
        let listed = self.question.start_states().iter().any(|source| match source {
            StartStates::List(states) => states.iter().any(|state| state == start),
            StartStates::Region(condition, sides) => {
                sides.contains(start) && condition.holds(start) == Ok(true)
            }
        });
        if listed { Ok(()) } else { Err(ReplayError::NoStart(model.display_state(start))) }
    }

    fn check_unsafe_end(&self, trace: &Trace) -> Result<TraceEnd, ReplayError> {
        let (question, end) = (self.question, trace.last_state());
        if question.is_unsafe(end) {
            Ok(TraceEnd::Unsafe)
        } else if question.must_go_on(end) {
            check_stuck(self.semantics, self.policy.as_ref(), trace.steps.len(), end)?;
            Ok(TraceEnd::Stuck)
        } else {
            Err(ReplayError::NotUnsafe(question.model.display_state(end)))
        }
    }

    /// A run that never meets a goal state.
    fn check_miss(&self, trace: &Trace) -> Result<TraceEnd, ReplayError> {
        let question = self.question;
        let states: Vec<&State> =
            std::iter::once(&trace.start).chain(trace.steps.iter().map(|s| &s.state)).collect();
        if let Some(step) = states.iter().position(|state| question.is_goal(state)) {
            let state = question.model.display_state(states[step]);
            return Err(ReplayError::MeetsGoal { step, state });
        }
        let (end, before) = (trace.last_state(), &states[..trace.steps.len()]);
        if question.is_terminal(end) {
            return Ok(TraceEnd::Terminal);
        }
        let Some(back_to) = before.iter().position(|state| *state == end) else {
            check_stuck(self.semantics, self.policy.as_ref(), trace.steps.len(), end)?;
            return Ok(TraceEnd::Stuck);
        };
        for (number, step) in trace.steps.iter().enumerate().skip(back_to) {
            self.check_without_chance(number, states[number], step)?;
        }
        Ok(TraceEnd::Loop { back_to })
    }

    /// Checks whether the operator of a step can lead to its state whatever chance does.
    fn check_without_chance(
        &self,
        number: usize,
        state: &[i64],
        step: &TraceStep,
    ) -> Result<(), ReplayError> {
        let model = self.question.model;
        let mut composer = Composer::new(model);
        let id = composer
            .compose(&step.operator)
            .map_err(|error| ReplayError::NoOperator { step: number, error })?;
        let operator = composer.operator(id);
        let found = self
            .semantics
            .successors(operator, state)
            .map_err(|error| ReplayError::Modelling { step: number, error: Box::new(error) })?;
        let leads = |at: usize| {
            found.list.iter().any(|next| next.destination == at && next.state == step.state)
        };
        let destinations = operator.destinations.iter().enumerate();
        let leading = destinations.filter(|(at, _)| leads(*at));
        let values = leading.map(|(_, to)| to.probability.in_state(state).unwrap_or_default());
        if values.sum::<Rational>() == Rational::ONE {
            return Ok(());
        }
        let operator = model.display_operator(&operator.key);
        let state = model.display_state(state);
        Err(ReplayError::Chance { step: number, operator, state })
    }

    fn check_step(
        &self,
        number: usize,
        state: &[i64],
        step: &TraceStep,
    ) -> Result<ReplayedStep, ReplayError> {
        let model = self.question.model;
        let here = || model.display_state(state);
        let modelling =
            |error: ModellingError| ReplayError::Modelling { step: number, error: Box::new(error) };
        if self.question.is_terminal(state) {
            return Err(ReplayError::LeavesTerminal { step: number, state: here() });
        }
        let mut composer = Composer::new(model);
        let id = composer
            .compose(&step.operator)
            .map_err(|error| ReplayError::NoOperator { step: number, error })?;
        let operator: &Operator = composer.operator(id);
        if operator.label != step.label {
            return Err(ReplayError::WrongLabel {
                step: number,
                claimed: model.label_name(step.label).to_owned(),
                actual: model.label_name(operator.label).to_owned(),
            });
        }
        let named = || model.display_operator(&operator.key);
        if !self.semantics.is_enabled(operator, state).map_err(modelling)? {
            let operator = named();
            return Err(ReplayError::NotEnabled { step: number, operator, state: here() });
        }
        let policy = match operator.label {
            Some(label) => self.check_choice(number, state, label)?,
            None => None,
        };
        let successors = self.semantics.successors(operator, state).map_err(modelling)?;
        let claimed = successors.list.iter().any(|successor| {
            successor.destination == step.destination
                && successor.choices == step.choices
                && successor.state == step.state
        });
        if !claimed {
            let operator = named();
            return Err(ReplayError::NoOutcome { step: number, operator, state: here() });
        }
        Ok(ReplayedStep { policy })
    }

    /// Returns whether a label is chosen by the policy, if it is one of the policy's at all.
    fn check_choice(
        &self,
        number: usize,
        state: &[i64],
        label: LabelId,
    ) -> Result<Option<ReplayedChoice>, ReplayError> {
        let model = self.question.model;
        let Some((policy, scorer)) = &self.policy else { return Ok(None) };
        let Some(chosen) = policy.output_of(label) else { return Ok(None) };
        let mut competing = Vec::new();
        for (output, &other) in policy.outputs().iter().enumerate() {
            let competes = match policy.semantics().filter {
                Filter::None => true,
                Filter::Applicable => is_applicable(self.semantics, other, state)
                    .map_err(|e| ReplayError::Modelling { step: number, error: Box::new(e) })?,
            };
            if competes {
                competing.push(output);
            }
        }
        let mut inputs = Vec::new();
        policy.read_inputs(state, &mut inputs);
        let (contest, scores) = scorer.contest(chosen, &competing, &inputs);
        let here = || model.display_state(state);
        let lost = |reason: String| ReplayError::NotChosen {
            step: number,
            label: model.label_name(Some(label)).to_owned(),
            state: here(),
            reason,
        };
        if !competing.contains(&chosen) {
            return Err(lost("it is not applicable".to_owned()));
        }
        match contest {
            Contest::Won => Ok(Some(ReplayedChoice { inputs, competing, chosen, scores })),
            Contest::LostTo(other) => {
                let other = model.label_name(policy.outputs().get(other).copied());
                Err(lost(format!("{other} has the better claim")))
            }
            Contest::Unlikely => Err(lost("it is too improbable to be drawn".to_owned())),
            Contest::Open => Err(ReplayError::UndecidedChoice { step: number, state: here() }),
        }
    }
}
