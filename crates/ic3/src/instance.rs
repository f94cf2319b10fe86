//! The instance of the algorithm for a model with a policy (POLIC3, Section 3.3), or without one
//! (Section 3.2): then every label is the environment's.

use std::collections::VecDeque;

use policert_engine_api::{Answer, Budget, EngineError, Question, TraceStep};
use policert_model::{Semantics, State};
use policert_numeric::IntBox;
use policert_policy::{Choice, Policy};

use crate::choices::{Decisions, NetworkDecisions};
use crate::config::{Config, EnvironmentSolver, Induction};
use crate::frame_transition::{Environment, EnvironmentTransition, Into, Solvers};
use crate::frames::Escape;
use crate::generalize::Target;
use crate::joint::Joins;
use crate::order::Ordering;
use crate::start_states::StartSelection;
use crate::sub_procedures::{Generalized, Succession};
use crate::{Frames, SubProcedures};

/// States with transitions that are remembered.
const ESCAPES: usize = 256;

/// A step of a path.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicyStep {
    /// What happens.
    pub step: TraceStep,
    /// The state before it, if the policy's choice there is undecided.
    pub undecided: Option<State>,
}

/// A model under a policy, seen through the sub-procedures.
pub struct PolicySystem<'a> {
    pub(crate) config: &'a Config,
    pub(crate) environment: Environment<'a>,
    pub(crate) ordering: Ordering,
    pub(crate) statistics: SystemStatistics,
    pub(crate) joins: Joins,
    decisions: Option<Box<dyn Decisions + 'a>>,
    z3: Option<Box<dyn EnvironmentTransition + 'a>>,
    start: StartSelection,
    /// The latest states that were found to have transitions into some frame.
    escapes: VecDeque<Escape>,
}

/// Questions that were asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SystemStatistics {
    /// Attempts to free a variable of a reason.
    pub generalizations: u64,
    /// Frame transition problems.
    pub frame_transitions: u64,
    /// Those that a state known before answered.
    pub recalled: u64,
    /// Those that a state at hand answered.
    pub probed: u64,
    /// Questions about the policy.
    pub policy_queries: u64,
    /// Clauses that were moved on.
    pub propagated: u64,
}

impl std::fmt::Debug for PolicySystem<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolicySystem").field("statistics", &self.statistics).finish_non_exhaustive()
    }
}

impl<'a> PolicySystem<'a> {
    /// Prepares a question.
    ///
    /// # Errors
    /// What the engine cannot take: unsupported.
    pub fn new(
        question: &'a Question<'a>,
        policy: Option<&'a Policy>,
        config: &'a Config,
    ) -> Result<Self, EngineError> {
        let environment = Environment::new(question, policy.map_or(&[][..], Policy::outputs))?;
        let decisions = policy.map(|policy| {
            let applicable = environment.operators.applicability(policy.outputs().len());
            let decisions = NetworkDecisions::new(policy, applicable, config.box_limit);
            Box::new(decisions) as Box<dyn Decisions + 'a>
        });
        Ok(Self {
            config,
            ordering: Ordering::new(config.order, &environment, policy),
            joins: Joins::new(environment.domains.dimensions()),
            environment,
            statistics: SystemStatistics::default(),
            decisions,
            z3: z3_environment(question, config)?,
            start: StartSelection::new(question)?,
            escapes: VecDeque::new(),
        })
    }

    /// The start states.
    pub(crate) fn start(&self) -> &StartSelection {
        &self.start
    }

    /// Questions that were asked.
    #[must_use]
    pub fn statistics(&self) -> SystemStatistics {
        let policy_queries = self.decisions.as_ref().map_or(0, |decisions| decisions.asked());
        SystemStatistics { policy_queries, ..self.statistics }
    }

    /// Whether some state of a box, part of one of some reasons, has a transition into ℱₙ; with
    /// relative induction those into the reasons themselves do not count.
    ///
    /// # Errors
    /// A stop of the budget.
    pub(crate) fn transition(
        &mut self,
        part: &IntBox,
        reasons: &[IntBox],
        target: Target<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        self.statistics.frame_transitions += 1;
        let question = self.environment.question;
        let relative = self.config.induction == Induction::Relative;
        let Target { frames, frame } = target;
        let into = Into { frames, frame, but: if relative { reasons } else { &[] } };
        let known = self
            .escapes
            .iter()
            .find(|escape| part.contains(&escape.state) && escapes_into(question, escape, into));
        if let Some(escape) = known {
            self.statistics.recalled += 1;
            return Ok(Answer::Possible(Some(escape.state.clone())));
        }
        if let Some(state) = self.probed(part, into) {
            return Ok(Answer::Possible(Some(state)));
        }
        let mut solvers = Solvers {
            method: self.config.frame_transition,
            decisions: self.decisions.as_deref_mut().map(|d| d as &mut dyn Decisions),
            environment: self.z3.as_deref_mut().map(|z3| z3 as &mut dyn EnvironmentTransition),
        };
        let answer = self.environment.frame_transition(part, into, &mut solvers, budget)?;
        if let Answer::Possible(Some(state)) = &answer {
            let successors = self.successor_states(state);
            self.remember(Escape { state: state.clone(), successors });
        }
        Ok(answer)
    }

    /// A state of a box with a transition to a target, if one of a few is.
    fn probed(&mut self, part: &IntBox, into: Into<'_>) -> Option<State> {
        let question = self.environment.question;
        let states = probes(part);
        let choices = self.decisions.as_mut().map(|decisions| decisions.choices(&states));
        for (i, state) in states.into_iter().enumerate() {
            let choice = choices.as_ref().and_then(|choices| choices.get(i));
            let steps = self.steps_by(&state, choice).unwrap_or_default();
            let successors = steps.into_iter().map(|step| step.step.state).collect();
            let escape = Escape { state, successors };
            if escapes_into(question, &escape, into) {
                let state = escape.state.clone();
                self.statistics.probed += 1;
                self.remember(escape);
                return Some(state);
            }
        }
        None
    }

    /// The successors of a state; none where it breaks the model's rules.
    fn successor_states(&mut self, state: &State) -> Vec<State> {
        let steps = self.steps(state).unwrap_or_default().into_iter();
        steps.map(|step| step.step.state).collect()
    }

    fn remember(&mut self, escape: Escape) {
        self.escapes.truncate(ESCAPES - 1);
        self.escapes.push_front(escape);
    }

    /// A successor of a state that is in ℱₙ and in none of some boxes; none where the state breaks
    /// the model's rules.
    pub(crate) fn first_into(
        &mut self,
        state: &State,
        target: Target<'_>,
        but: &[IntBox],
    ) -> Option<State> {
        let question = self.environment.question;
        let into = Into { frames: target.frames, frame: target.frame, but };
        if let Some(known) = self.escapes.iter().find(|escape| escape.state == *state) {
            let mut successors = known.successors.iter();
            return successors.find(|next| is_target(question, into, next)).cloned();
        }
        let mut successors = self.successor_states(state).into_iter();
        successors.find(|next| is_target(question, into, next))
    }

    /// The transitions of a state under the policy, by the plain semantics. Where the policy's
    /// choice is undecided all of its labels count as chosen.
    fn steps(&mut self, state: &State) -> Result<Vec<PolicyStep>, EngineError> {
        let states = std::slice::from_ref(state);
        let choices = self.decisions.as_mut().map(|decisions| decisions.choices(states));
        self.steps_by(state, choices.as_ref().and_then(|choices| choices.first()))
    }

    /// The transitions of a state in which the policy chooses this.
    fn steps_by(
        &self,
        state: &State,
        choice: Option<&Choice>,
    ) -> Result<Vec<PolicyStep>, EngineError> {
        let question = self.environment.question;
        if question.is_terminal(state) {
            return Ok(Vec::new());
        }
        let semantics = Semantics { model: question.model, rule: question.domain_rule };
        let mut steps = Vec::new();
        for group in &self.environment.operators.groups {
            let mut undecided = None;
            if let (Some(output), Some(choice)) = (group.output, choice) {
                match choice.contains(output) {
                    Some(true) => {}
                    Some(false) => continue,
                    None => {
                        debug_assert_eq!(*choice, Choice::Undecided);
                        undecided = Some(state.clone());
                    }
                }
            }
            for &o in &group.operators {
                let operator = &self.environment.operators.all[o].operator;
                if !semantics.is_enabled(operator, state)? {
                    continue;
                }
                for successor in semantics.successors(operator, state)?.list {
                    let step = TraceStep {
                        label: operator.label,
                        operator: operator.key.clone(),
                        destination: successor.destination,
                        choices: successor.choices,
                        state: successor.state,
                    };
                    steps.push(PolicyStep { step, undecided: undecided.clone() });
                }
            }
        }
        Ok(steps)
    }
}

/// A few states of a box: its middle and some of its corners, as many as are evaluated at a time.
fn probes(part: &IntBox) -> Vec<State> {
    /// Which ends the corners have, by dimension in turn.
    const ENDS: [u32; 7] = [0, u32::MAX, 0x5a69_96c3, 0xa596_693c, 0x33cc_5a5a, 0xcc33_a5a5, 0x9669];
    let middle: State = part.sides().iter().map(|side| side.midpoint()).collect();
    let mut states = vec![middle];
    for ends in ENDS {
        let sides = part.sides().iter().zip((0..32).cycle());
        let corner: State =
            sides.map(|(side, d)| if ends >> d & 1 == 0 { side.lo } else { side.hi }).collect();
        if !states.contains(&corner) {
            states.push(corner);
        }
    }
    states
}

/// Whether a successor of a state is a target.
fn escapes_into(question: &Question<'_>, escape: &Escape, into: Into<'_>) -> bool {
    escape.successors.iter().any(|next| is_target(question, into, next))
}

/// Whether a state is one that transitions are looked for into.
fn is_target(question: &Question<'_>, into: Into<'_>, state: &[i64]) -> bool {
    match into.frame {
        0 => question.is_unsafe(state),
        _ => into.blocking(state).is_none(),
    }
}

impl SubProcedures for PolicySystem<'_> {
    type Step = PolicyStep;

    fn domains(&self) -> IntBox {
        self.environment.domains.clone()
    }

    fn is_target(&self, state: &[i64]) -> bool {
        self.environment.question.is_unsafe(state)
    }

    fn select_start_state(
        &mut self,
        frames: &Frames,
        budget: &mut Budget,
    ) -> Result<Option<State>, EngineError> {
        self.start.select(frames, budget)
    }

    fn select_successor_state(
        &mut self,
        state: &State,
        frames: &Frames,
        frame: usize,
        _: &mut Budget,
    ) -> Result<Option<Succession<PolicyStep>>, EngineError> {
        let question = self.environment.question;
        let into = Into { frames, frame, but: &[] };
        let mut successors = self.successors(state)?.into_iter();
        Ok(successors.find(|next| is_target(question, into, &next.state)))
    }

    fn successors(&mut self, state: &State) -> Result<Vec<Succession<PolicyStep>>, EngineError> {
        let mut steps = self.steps(state)?;
        // A step that is certain rather than one by an undecided choice.
        steps.sort_by_key(|step| step.undecided.is_some());
        let step = |step: PolicyStep| Succession { state: step.step.state.clone(), step };
        Ok(steps.into_iter().map(step).collect())
    }

    fn generalize_reason(
        &mut self,
        states: &[State],
        frames: &Frames,
        frame: usize,
        budget: &mut Budget,
    ) -> Result<Generalized, EngineError> {
        self.generalized(states, frames, frame, budget)
    }

    fn propagate_clauses(
        &mut self,
        frames: &mut Frames,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        for m in 1..=frames.limit() {
            for i in 0..frames.reasons().len() {
                budget.poll_clock()?;
                let reason = &frames.reasons()[i];
                if reason.last != m {
                    continue;
                }
                let question = self.environment.question;
                let into = Into { frames, frame: m, but: &[] };
                if let Some(escape) = &reason.escape
                    && escapes_into(question, escape, into)
                {
                    continue;
                }
                let sides = reason.sides.clone();
                match self.transition(
                    &sides,
                    std::slice::from_ref(&sides),
                    Target { frames, frame: m },
                    budget,
                )? {
                    Answer::Refuted => {
                        self.statistics.propagated += 1;
                        frames.push(i);
                    }
                    Answer::Possible(_) => {
                        let known = self.escapes.front();
                        let known = known.filter(|escape| sides.contains(&escape.state)).cloned();
                        frames.set_escape(i, known);
                    }
                }
            }
        }
        frames.subsume();
        Ok(())
    }
}

#[cfg(feature = "z3")]
#[expect(clippy::unnecessary_wraps, reason = "an error without Z3")]
fn z3_environment<'a>(
    question: &'a Question<'a>,
    config: &Config,
) -> Result<Option<Box<dyn EnvironmentTransition + 'a>>, EngineError> {
    Ok(match config.environment {
        EnvironmentSolver::Native => None,
        EnvironmentSolver::Z3 => Some(Box::new(crate::z3::Z3Environment::new(question.model))),
    })
}

#[cfg(not(feature = "z3"))]
fn z3_environment<'a>(
    _: &'a Question<'a>,
    config: &Config,
) -> Result<Option<Box<dyn EnvironmentTransition + 'a>>, EngineError> {
    match config.environment {
        EnvironmentSolver::Native => Ok(None),
        EnvironmentSolver::Z3 => {
            Err(EngineError::Unsupported("Z3 is not built in: build with `./x build`".to_owned()))
        }
    }
}
