//! A model under a policy, and what is known of it while the algorithm runs.

use std::collections::VecDeque;

use policert_engine_api::{EngineError, Question, TraceStep};
use policert_model::State;
use policert_policy::Policy;
use policert_symbolic::PolicyRegion;

use crate::config::{EnvironmentSolver, Ic3Config};
use crate::frame_transition::{Environment, EnvironmentTransition};
use crate::frames::Escape;
use crate::joins::Joins;
use crate::order::Ordering;
use crate::start_states::StartSelection;

/// A step of a path.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicyStep {
    /// The step that happens.
    pub step: TraceStep,
    /// The state before it, if the policy's choice there is undecided.
    pub undecided: Option<State>,
}

/// A model under a policy, seen through the sub-procedures.
pub struct PolicySystem<'a> {
    pub(crate) config: &'a Ic3Config,
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
    /// Those of both.
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            generalizations: self.generalizations + other.generalizations,
            frame_transitions: self.frame_transitions + other.frame_transitions,
            recalled: self.recalled + other.recalled,
            probed: self.probed + other.probed,
            policy_queries: self.policy_queries + other.policy_queries,
            propagated: self.propagated + other.propagated,
        }
    }

    fn with_queries(self, policy: Option<&PolicyRegion<'_>>) -> Self {
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
    /// Fails if the engine does not support something in the question.
    pub fn new(
        question: &'a Question<'a>,
        policy: Option<&'a Policy>,
        config: &'a Ic3Config,
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
        config: &'a Ic3Config,
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
        let own = self.statistics.with_queries(self.policy.as_ref());
        self.helpers.iter().map(Helper::statistics).fold(own, SystemStatistics::plus)
    }
}

/// A system without what one thread alone may have: a solver.
pub(crate) struct Helper<'a> {
    config: &'a Ic3Config,
    environment: Environment<'a>,
    ordering: Ordering,
    statistics: SystemStatistics,
    joins: Joins,
    policy: Option<PolicyRegion<'a>>,
    start: StartSelection,
    escapes: VecDeque<Escape>,
}

impl<'a> From<PolicySystem<'a>> for Helper<'a> {
    fn from(system: PolicySystem<'a>) -> Self {
        Self {
            config: system.config,
            environment: system.environment,
            ordering: system.ordering,
            statistics: system.statistics,
            joins: system.joins,
            policy: system.policy,
            start: system.start,
            escapes: system.escapes,
        }
    }
}

impl<'a> From<Helper<'a>> for PolicySystem<'a> {
    fn from(helper: Helper<'a>) -> Self {
        Self {
            config: helper.config,
            environment: helper.environment,
            ordering: helper.ordering,
            statistics: helper.statistics,
            joins: helper.joins,
            policy: helper.policy,
            start: helper.start,
            escapes: helper.escapes,
            z3: None,
            helpers: Vec::new(),
        }
    }
}

impl Helper<'_> {
    fn statistics(&self) -> SystemStatistics {
        self.statistics.with_queries(self.policy.as_ref())
    }
}

#[cfg(feature = "z3")]
#[expect(clippy::unnecessary_wraps, reason = "an error without Z3")]
fn z3_environment<'a>(
    question: &'a Question<'a>,
    config: &Ic3Config,
) -> Result<Option<Box<dyn EnvironmentTransition + 'a>>, EngineError> {
    Ok(match config.environment {
        EnvironmentSolver::Native => None,
        EnvironmentSolver::Z3 => Some(Box::new(crate::z3::Z3Environment::new(question.model))),
    })
}

#[cfg(not(feature = "z3"))]
fn z3_environment<'a>(
    _: &'a Question<'a>,
    config: &Ic3Config,
) -> Result<Option<Box<dyn EnvironmentTransition + 'a>>, EngineError> {
    match config.environment {
        EnvironmentSolver::Native => Ok(None),
        EnvironmentSolver::Z3 => {
            Err(EngineError::Unsupported("Z3 is not built in: build with `./x build`".to_owned()))
        }
    }
}
