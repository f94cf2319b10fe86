//! The instance of the algorithm for a model with a policy (POLIC3, Section 3.3), or without one
//! (Section 3.2): then every label is the environment's.

use std::collections::VecDeque;

use policert_engine_api::{Answer, Budget, EngineError, Question, TraceStep};
use policert_model::State;
use policert_numeric::IntBox;
use policert_policy::Policy;
use policert_symbolic::PolicyRegion;

use crate::config::{Config, EnvironmentSolver, Induction};
use crate::frame_transition::{Environment, EnvironmentTransition, Into, Solvers};
use crate::frames::Escape;
use crate::generalize::Target;
use crate::joint::Joins;
use crate::order::Ordering;
use crate::parallel::Helper;
use crate::start_states::StartSelection;
use crate::sub_procedures::{Generalized, Succession};
use crate::successors::{escapes_into, is_target};
use crate::{Frames, SubProcedures};

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
    pub(crate) policy: Option<PolicyRegion<'a>>,
    pub(crate) z3: Option<Box<dyn EnvironmentTransition + 'a>>,
    pub(crate) start: StartSelection,
    /// The latest states that were found to have transitions into some frame.
    pub(crate) escapes: VecDeque<Escape>,
    /// The same system for each further thread.
    pub(crate) helpers: Vec<Helper<'a>>,
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

impl SystemStatistics {
    pub(crate) fn with_queries(self, policy: Option<&PolicyRegion<'_>>) -> Self {
        Self { policy_queries: policy.map_or(0, PolicyRegion::asked), ..self }
    }
}

impl std::fmt::Debug for PolicySystem<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolicySystem").field("statistics", &self.statistics).finish_non_exhaustive()
    }
}

impl<'a> PolicySystem<'a> {
    /// Prepares a question, to be answered by at least one thread.
    ///
    /// # Errors
    /// What the engine cannot take: unsupported.
    pub fn new(
        question: &'a Question<'a>,
        policy: Option<&'a Policy>,
        config: &'a Config,
        threads: usize,
    ) -> Result<Self, EngineError> {
        let z3 = config.environment == EnvironmentSolver::Z3;
        if threads > 1 && z3 {
            let message = format!("preset `{}` asks Z3, on one thread", config.name);
            return Err(EngineError::Unsupported(message));
        }
        let mut system = Self::of_thread(question, policy, config)?;
        for _ in 1..threads {
            system.helpers.push(Self::of_thread(question, policy, config)?.into());
        }
        Ok(system)
    }

    fn of_thread(
        question: &'a Question<'a>,
        policy: Option<&'a Policy>,
        config: &'a Config,
    ) -> Result<Self, EngineError> {
        let environment = Environment::new(question, policy.map_or(&[][..], Policy::outputs))?;
        Ok(Self {
            config,
            ordering: Ordering::new(config.order, &environment, policy),
            joins: Joins::new(environment.domains.dimensions()),
            statistics: SystemStatistics::default(),
            policy: policy.map(|policy| PolicyRegion::new(policy, &environment.operators)),
            environment,
            z3: z3_environment(question, config)?,
            start: StartSelection::new(question)?,
            escapes: VecDeque::new(),
            helpers: Vec::new(),
        })
    }

    /// The start states.
    pub(crate) fn start(&self) -> &StartSelection {
        &self.start
    }

    /// Questions that were asked.
    #[must_use]
    pub fn statistics(&self) -> SystemStatistics {
        let mut sum = self.statistics.with_queries(self.policy.as_ref());
        for other in self.helpers.iter().map(Helper::statistics) {
            sum.generalizations += other.generalizations;
            sum.frame_transitions += other.frame_transitions;
            sum.recalled += other.recalled;
            sum.probed += other.probed;
            sum.policy_queries += other.policy_queries;
        }
        sum
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
            policy: self.policy.as_mut(),
            box_limit: self.config.box_limit,
            environment: self.z3.as_deref_mut().map(|z3| z3 as &mut dyn EnvironmentTransition),
        };
        let answer = self.environment.frame_transition(part, into, &mut solvers, budget)?;
        if let Answer::Possible(Some(state)) = &answer {
            let successors = self.successor_states(state);
            self.remember(Escape { state: state.clone(), successors });
        }
        Ok(answer)
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

    fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    fn select_start_states(
        &mut self,
        frames: &Frames,
        count: usize,
        budget: &mut Budget,
    ) -> Result<Vec<State>, EngineError> {
        self.start.select_several(frames, count, budget)
    }

    fn side_by_side<T: Send, R: Send>(
        &mut self,
        work: Vec<T>,
        run: impl Fn(&mut Self, T) -> R + Sync,
    ) -> Vec<R> {
        self.on_threads(work, run)
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
