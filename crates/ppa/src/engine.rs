//! The engine: from a question, a policy and predicates to a verdict.

use policert_bounds::{Oracle, Recorder};
use policert_engine_api::{
    Budget, Counts, EngineError, Event, Id, Observer, Question, StopReason, Trace, UnknownReason,
    Verdict,
};
use policert_model::{Condition, DomainRule, Predicate};
use policert_numeric::IntBox;
use policert_policy::Policy;

use crate::branch_and_bound::BranchAndBound;
use crate::cegar::weakest_precondition::{atoms, is_predicate};
use crate::concretise::{Concretisation, Concretised};
use crate::config::{Config, EnvironmentSolver, PolicySolver, RelaxedSolver};
use crate::native::NativeSelection;
use crate::operators::Operators;
use crate::predicates::require_total;
use crate::queries::{Environment, Queries, QueryStats, Selection, TwoSolvers};
use crate::recording::RecordingSelection;
use crate::search::{Fragment, Search, StateInfo};
use crate::{AbstractStateId, PredicateSet};

/// The most abstract unsafe states whose paths are tried for a concrete run.
const PATHS_TRIED: usize = 64;

/// What the engine found.
#[derive(Debug)]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// Counts, partial after a stop.
    pub counts: Counts,
    /// Tests by kind.
    pub queries: QueryStats,
    /// The abstract start states; `None` where the fragment is not complete.
    pub start_states: Option<Vec<StartRegion>>,
    /// What the user should know besides.
    pub notes: Vec<String>,
}

/// The concrete states of an abstract start state.
#[derive(Clone, Debug)]
pub struct StartRegion {
    /// The ranges of the variables.
    pub sides: IntBox,
    /// What holds besides, where the predicates are not bounds of single variables.
    pub conditions: Vec<Condition>,
    /// Whether no abstract unsafe state is reachable: then all of its states are safe.
    pub proved_safe: bool,
}

/// The abstraction before the search: predicates and operators, ready to expand single states.
#[derive(Debug)]
pub struct Abstraction<'a> {
    /// The question.
    pub question: &'a Question<'a>,
    /// The policy; `None` for plain predicate abstraction.
    pub policy: Option<&'a Policy>,
    /// 𝒫.
    pub predicates: PredicateSet,
    /// 𝒪.
    pub operators: Operators,
    not_terminal: Condition,
}

impl<'a> Abstraction<'a> {
    /// Prepares the predicates of the property and the operators of the model.
    ///
    /// # Errors
    /// What the abstraction cannot take: unsupported.
    pub fn new(
        question: &'a Question<'a>,
        policy: Option<&'a Policy>,
    ) -> Result<Self, EngineError> {
        let predicates = PredicateSet::new(question.model, &question.property.predicates)?;
        let outputs = policy.map_or(&[][..], Policy::outputs);
        let operators = Operators::new(question, outputs)?;
        let not_terminal = match &question.terminal {
            None => Condition::True,
            Some(terminal) => {
                require_total(terminal, predicates.domains(), "the terminal condition")?;
                terminal.negate()
            }
        };
        Ok(Self { question, policy, predicates, operators, not_terminal })
    }

    /// Adds the atoms of the unsafe condition that 𝒫 lacks: without them abstract states do not tell
    /// unsafe states from others, and nothing about them can be proved. Returns how many there were.
    ///
    /// # Errors
    /// None that [`Abstraction::new`] does not have.
    pub fn add_unsafe_atoms(&mut self) -> Result<usize, EngineError> {
        let property = self.question.property;
        let mut unsafe_atoms = Vec::new();
        atoms(&property.unsafe_condition, &mut unsafe_atoms);
        unsafe_atoms.retain(|atom| is_predicate(self, atom) && !self.predicates.tells(atom));
        let text = "the unsafe condition".to_owned();
        let predicate = |condition| Predicate { text: text.clone(), condition };
        let new: Vec<Predicate> = unsafe_atoms.into_iter().map(predicate).collect();
        self.predicates.extend(self.question.model, &new)?;
        Ok(new.len())
    }

    /// The tests as `config` wants them answered.
    ///
    /// # Errors
    /// A solver that is not built in, or a policy that it cannot take.
    pub fn queries<'s>(&self, config: &'s Config) -> Result<Queries<'s>, EngineError>
    where
        'a: 's,
    {
        self.queries_for(config, None)
    }

    /// The tests, of which `recorder` is told those about the policy.
    pub(crate) fn queries_for<'s>(
        &self,
        config: &'s Config,
        recorder: Option<&'s mut dyn Recorder>,
    ) -> Result<Queries<'s>, EngineError>
    where
        'a: 's,
    {
        let environment: Box<dyn Environment + 's> = match config.environment {
            EnvironmentSolver::Native => self.native_environment(),
            EnvironmentSolver::Z3 => self.z3_environment()?,
        };
        let selection: Option<Box<dyn Selection + 's>> = match self.policy {
            None => None,
            Some(policy) => Some(self.selection(policy, config)?),
        };
        let selection = match (selection, recorder) {
            (Some(selection), Some(recorder)) => {
                recorder.begin(&self.operators.applicability());
                let recording: Box<dyn Selection + 's> =
                    Box::new(RecordingSelection::new(selection, recorder));
                Some(recording)
            }
            (selection, _) => selection,
        };
        Ok(Queries::new(config, environment, selection))
    }

    /// The tests about the policy.
    fn selection<'s>(
        &self,
        policy: &'a Policy,
        config: &Config,
    ) -> Result<Box<dyn Selection + 's>, EngineError>
    where
        'a: 's,
    {
        let oracle = || Oracle::new(policy, self.operators.applicability());
        let exact: Box<dyn Selection + 's> = match config.policy {
            PolicySolver::Native => Box::new(NativeSelection::new(oracle())),
            PolicySolver::BranchAndBound => Box::new(BranchAndBound::new(oracle())),
            PolicySolver::Z3 => self.z3_selection(policy, Phases::Open)?,
            PolicySolver::Z3FixedPhases => self.z3_selection(policy, Phases::Fixed)?,
        };
        let relaxed: Box<dyn Selection + 's> = match (config.relaxed, config.policy) {
            (RelaxedSolver::Native, PolicySolver::Native)
            | (RelaxedSolver::Z3, PolicySolver::Z3) => return Ok(exact),
            (RelaxedSolver::Native, _) => Box::new(NativeSelection::new(oracle())),
            (RelaxedSolver::Z3, _) => self.z3_selection(policy, Phases::Open)?,
        };
        Ok(Box::new(TwoSolvers { exact, relaxed }))
    }

    #[cfg(feature = "z3")]
    fn native_environment(&self) -> Box<dyn Environment + 'a> {
        Box::new(crate::z3::NativeThenZ3::new(self.question.model))
    }

    #[cfg(not(feature = "z3"))]
    #[expect(clippy::unused_self, reason = "the model is needed where Z3 is built in")]
    fn native_environment(&self) -> Box<dyn Environment + 'a> {
        Box::new(crate::native::NativeEnvironment)
    }

    #[cfg(feature = "z3")]
    #[expect(clippy::unnecessary_wraps, reason = "an error without Z3")]
    fn z3_environment(&self) -> Result<Box<dyn Environment + 'a>, EngineError> {
        Ok(Box::new(crate::z3::Z3Environment::new(self.question.model)))
    }

    #[cfg(feature = "z3")]
    fn z3_selection(
        &self,
        policy: &'a Policy,
        phases: Phases,
    ) -> Result<Box<dyn Selection + 'a>, EngineError> {
        let applicable = self.operators.applicability();
        let model = self.question.model;
        Ok(match phases {
            Phases::Open => Box::new(crate::z3::Z3Selection::new(model, policy, applicable)?),
            Phases::Fixed => Box::new(crate::z3::Z3FixedPhases::new(model, policy, &applicable)?),
        })
    }

    #[cfg(not(feature = "z3"))]
    #[expect(clippy::unused_self, reason = "the model is needed where Z3 is built in")]
    fn z3_environment(&self) -> Result<Box<dyn Environment + 'a>, EngineError> {
        Err(without_z3())
    }

    #[cfg(not(feature = "z3"))]
    #[expect(clippy::unused_self, reason = "the model is needed where Z3 is built in")]
    fn z3_selection(
        &self,
        _: &'a Policy,
        _: Phases,
    ) -> Result<Box<dyn Selection + 'a>, EngineError> {
        Err(without_z3())
    }

    pub(crate) fn search<'s, 'q>(
        &'q self,
        queries: &'q mut Queries<'s>,
        budget: &'q mut Budget,
        observer: &'q mut dyn Observer,
        until_unsafe: bool,
    ) -> Search<'q, 's, 'q> {
        Search {
            question: self.question,
            predicates: &self.predicates,
            operators: &self.operators,
            not_terminal: &self.not_terminal,
            queries,
            budget,
            observer,
            until_unsafe,
        }
    }

    /// Adds predicates. What was prepared for the set before is forgotten.
    ///
    /// # Errors
    /// A predicate that may have no truth value in some state.
    pub fn refine(&mut self, predicates: &[Predicate]) -> Result<(), EngineError> {
        self.operators.forget_outcomes();
        self.predicates.extend(self.question.model, predicates)
    }

    /// That a state is not terminal by decree.
    #[must_use]
    pub fn not_terminal(&self) -> &Condition {
        &self.not_terminal
    }

    /// Builds the reachable fragment. What was built before a stop stays in `fragment`.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that cannot be decided.
    pub fn build(
        &self,
        queries: &mut Queries<'_>,
        fragment: &mut Fragment,
        budget: &mut Budget,
        observer: &mut dyn Observer,
    ) -> Result<(), EngineError> {
        self.search(queries, budget, observer, self.question.stop_at_first_unsafe).run(fragment)
    }

    /// The abstract start states of a complete fragment, in the order of their ids.
    fn start_regions(&self, fragment: &Fragment) -> Vec<StartRegion> {
        let starts = fragment.safe_start_states().into_iter();
        starts
            .map(|(id, proved_safe)| {
                let region = self.predicates.concretisation(&fragment.states.state(id));
                let conditions = region.conditions.into_iter().cloned().collect();
                StartRegion { sides: region.sides, conditions, proved_safe }
            })
            .collect()
    }
}

/// How Z3 gets the activations of the network.
#[derive(Clone, Copy, Debug)]
enum Phases {
    /// As case distinctions.
    Open,
    /// Fixed where bounds over the region decide them.
    Fixed,
}

#[cfg(not(feature = "z3"))]
fn without_z3() -> EngineError {
    EngineError::Unsupported("Z3 is not built in: build with `./x build`".to_owned())
}

/// Builds the reachable fragment of the policy predicate abstraction and says what follows.
///
/// Without abstract unsafe states the policy is safe (Proposition 6). Otherwise the abstract
/// paths are tried for concrete runs; if none is found the verdict is unknown.
///
/// # Errors
/// What the engine cannot take, and modelling errors. A stop is a verdict *unknown*.
pub fn run(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &Config,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<Report, EngineError> {
    run_recorded(question, policy, config, budget, observer, None)
}

/// As [`run`]; `recorder` is told of the tests about the policy.
///
/// # Errors
/// As [`run`].
pub fn run_recorded(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &Config,
    budget: &mut Budget,
    observer: &mut dyn Observer,
    recorder: Option<&mut dyn Recorder>,
) -> Result<Report, EngineError> {
    if question.domain_rule == DomainRule::Error {
        return Err(EngineError::Unsupported(
            "engine ppa takes `--domain drop` only: whether an update that leaves its domain is \
             reachable is for engine explicit to say"
                .to_owned(),
        ));
    }
    let mut abstraction = Abstraction::new(question, policy)?;
    let added = abstraction.add_unsafe_atoms()?;
    let mut queries = abstraction.queries_for(config, recorder.map(|r| r as &mut dyn Recorder))?;
    let mut fragment = Fragment::default();
    let mut built = abstraction.build(&mut queries, &mut fragment, budget, observer);
    let mut notes = Vec::from_iter(added_atoms(added));
    let mut verdict = None;
    let complete = built.is_ok();
    if built.is_ok() {
        match verdict_of(&abstraction, &fragment, budget, observer) {
            Ok(v) => verdict = Some(v),
            Err(error) => built = Err(error),
        }
    }
    let verdict = match (verdict, built) {
        (Some(verdict), _) => verdict,
        (None, Err(EngineError::Stop(reason))) => stopped(reason),
        (None, Err(EngineError::Undecided(text))) => {
            Verdict::Unknown(UnknownReason::SolverGaveUp(text))
        }
        (None, Err(error)) => return Err(error),
        (None, Ok(())) => return Err(EngineError::Internal("no verdict".to_owned())),
    };
    if policy.is_some() && !config.t_sat_pi.is_on() {
        notes.push(
            "relaxed tests alone decide transitions: the abstraction may have more of them than \
             the policy has"
                .to_owned(),
        );
    }
    if fragment.counts.dropped_outcomes > 0 {
        notes.push(format!(
            "{} abstract outcomes may leave a variable's domain; such an outcome is no transition",
            fragment.counts.dropped_outcomes
        ));
    }
    let stopped_early = question.stop_at_first_unsafe && fragment.first_unsafe.is_some();
    let start_states = (complete && !stopped_early).then(|| abstraction.start_regions(&fragment));
    let queries = *queries.stats();
    Ok(Report { verdict, counts: fragment.counts, queries, start_states, notes })
}

/// What a user should know of predicates that no one listed.
pub(crate) fn added_atoms(count: usize) -> Option<String> {
    (count > 0).then(|| {
        format!("the predicates do not tell all unsafe states: atoms of the unsafe condition added: {count}")
    })
}

fn stopped(reason: StopReason) -> Verdict {
    Verdict::Unknown(UnknownReason::Stopped(reason))
}

/// The verdict that a complete fragment gives.
fn verdict_of(
    abstraction: &Abstraction<'_>,
    fragment: &Fragment,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<Verdict, EngineError> {
    let Some(first) = fragment.first_unsafe else {
        return Ok(Verdict::Safe { vacuous: fragment.counts.start_states == 0 });
    };
    observer.event(Event::Phase("concretise abstract paths"));
    match concrete_run(abstraction, fragment, budget)? {
        Some(trace) => Ok(Verdict::Unsafe(trace)),
        None => {
            let steps = fragment.info[first].depth as usize;
            Ok(Verdict::Unknown(UnknownReason::AbstractPath { steps }))
        }
    }
}

/// A run along one of the abstract unsafe paths, the shortest first.
fn concrete_run(
    abstraction: &Abstraction<'_>,
    fragment: &Fragment,
    budget: &mut Budget,
) -> Result<Option<Trace>, EngineError> {
    let concretisation = Concretisation {
        question: abstraction.question,
        policy: abstraction.policy,
        predicates: &abstraction.predicates,
        operators: &abstraction.operators,
    };
    // A path of no steps needs no search, however many start states there are.
    let at_start = |(_, info): &(AbstractStateId, &StateInfo)| info.is_start && info.is_unsafe;
    if fragment.info.iter().any(|entry| at_start(&entry))
        && let Some(start) = abstraction.question.unsafe_start_state(budget)?
    {
        return Ok(Some(Trace { start, steps: Vec::new() }));
    }
    let paths = fragment.info.iter().filter(|(_, info)| info.is_unsafe).map(|(id, _)| id);
    let paths: Vec<AbstractStateId> = paths.take(PATHS_TRIED).collect();
    let start = concretisation.start_layers(fragment, &paths, budget)?;
    for last in paths {
        debug_assert!(last.to_index() < fragment.info.len());
        if let Concretised::Run(trace) = concretisation.follow(fragment, last, &start, budget)? {
            return Ok(Some(trace));
        }
    }
    Ok(None)
}
