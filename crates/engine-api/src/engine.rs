//! What an engine is: it answers questions within limits.

use policert_model::Condition;
use policert_numeric::IntBox;
use serde::Serialize;
use serde_json::Value;

use crate::{
    Budget, ClaimedValues, Counts, EngineError, Invariant, Observer, ProbabilityBounds, Question,
    Recorder, Trace, UnknownReason, Verdict,
};

/// Answers questions about policies.
pub trait Engine: Send + Sync {
    /// Answers a question.
    ///
    /// # Errors
    /// Fails if the engine does not support something in the question, and on modelling errors. A
    /// stop may be an error too, or part of the conclusion.
    fn answer(
        &self,
        question: &Question<'_>,
        context: &mut Context<'_>,
    ) -> Result<Conclusion, EngineError>;

    /// Returns why a limit on states has no effect on it, if so.
    fn idle_state_limit(&self) -> Option<&'static str> {
        None
    }
}

/// Holds what an engine gets besides the question.
pub struct Context<'a> {
    /// The budget that it may use.
    pub budget: Budget,
    /// Is told of progress.
    pub observer: &'a mut dyn Observer,
    /// Is told of the queries about the policy.
    pub recorder: Option<&'a mut dyn Recorder>,
    /// The greatest number of threads that may be used.
    pub threads: u16,
}

impl<'a> Context<'a> {
    /// One thread, nothing recorded.
    #[must_use]
    pub fn new(budget: Budget, observer: &'a mut dyn Observer) -> Self {
        Self { budget, observer, recorder: None, threads: 1 }
    }

    /// Budget, observer and recorder, each to be used by itself.
    pub fn parts(&mut self) -> (&mut Budget, &mut dyn Observer, Option<&mut dyn Recorder>) {
        // The borrow of the recorder ends with that of the context.
        let recorder = self.recorder.as_mut().map(|recorder| &mut **recorder as &mut dyn Recorder);
        (&mut self.budget, &mut *self.observer, recorder)
    }
}

/// Holds what an engine found.
#[derive(Clone, PartialEq, Debug)]
pub struct Conclusion {
    /// Name of the engine; of a portfolio, that of the member that the answer comes from.
    pub engine: &'static str,
    /// Its configuration, where it has several.
    pub preset: Option<String>,
    /// The answer.
    pub answer: EngineAnswer,
    /// Counts.
    pub counts: Counts,
    /// The counts that this engine has.
    pub counted: Counted,
    /// The abstract start states and which are proved safe, where the engine tells.
    pub start_states: Option<Vec<StartRegion>>,
    /// Numbers of this engine alone.
    pub numbers: Value,
    /// Warnings to read before trusting the answer.
    pub warnings: Vec<String>,
    /// Notes that are worth knowing.
    pub notes: Vec<String>,
    /// The engines that a portfolio considered, in order.
    pub attempts: Vec<Attempt>,
}

impl Conclusion {
    /// An answer with all counts, of an engine that tells nothing else.
    #[must_use]
    pub fn new(engine: &'static str, answer: impl Into<EngineAnswer>, counts: Counts) -> Self {
        Self {
            engine,
            preset: None,
            answer: answer.into(),
            counts,
            counted: Counted::ALL,
            start_states: None,
            numbers: Value::Null,
            warnings: Vec::new(),
            notes: Vec::new(),
            attempts: Vec::new(),
        }
    }
}

/// The answer of an engine.
#[derive(Clone, PartialEq, Debug)]
pub enum EngineAnswer {
    /// No run does what must not happen.
    Safe {
        /// True if that is so because there is no start state.
        vacuous: bool,
        /// An inductive invariant, or why the engine has none.
        invariant: Result<ClaimedInvariant, String>,
    },
    /// A run does, by this trace.
    Unsafe(Trace),
    /// Bounds of a probability.
    Probability(BoundedProbability),
    /// Not known, with the reason.
    Unknown(UnknownReason),
}

impl EngineAnswer {
    /// A verdict and, where it is safe and the engine has collected one, an invariant that shows it, or
    /// why there is none. The verdict stands if the check of the invariant does not end.
    #[must_use]
    pub fn with_invariant(verdict: Verdict, invariant: Option<Result<Invariant, String>>) -> Self {
        match verdict {
            Verdict::Safe { vacuous } => {
                let none = || Err("the engine has no evidence of this verdict".to_owned());
                let claimed =
                    |invariant| ClaimedInvariant { invariant, ranks: None, is_needed: false };
                let invariant = invariant.unwrap_or_else(none).map(claimed);
                Self::Safe { vacuous, invariant }
            }
            Verdict::Unsafe(trace) => Self::Unsafe(trace),
            Verdict::Unknown(reason) => Self::Unknown(reason),
        }
    }
}

impl From<Verdict> for EngineAnswer {
    fn from(verdict: Verdict) -> Self {
        Self::with_invariant(verdict, None)
    }
}

/// An inductive invariant as an engine claims it.
#[derive(Clone, PartialEq, Debug)]
pub struct ClaimedInvariant {
    /// The invariant.
    pub invariant: Invariant,
    /// Where every run reaches the goal: by piece, a number that falls with every step from it to a state that
    /// is no goal state. Goal states need not be in a piece.
    pub ranks: Option<Vec<u64>>,
    /// True if the verdict stands only if the check of the invariant confirms it in time.
    pub is_needed: bool,
}

/// A probability between proved bounds.
#[derive(Clone, PartialEq, Debug)]
pub struct BoundedProbability {
    /// Bounds of the number; of a comparison, those of the start state that decides it.
    pub bounds: ProbabilityBounds,
    /// The truth of the comparison; `None` without a comparison, or if the bounds do not decide it.
    pub holds: Option<bool>,
    /// True if there is no start state.
    pub vacuous: bool,
    /// The reason why this is not what was asked for, if it is not.
    pub unknown: Option<UnknownReason>,
    /// Bounds of single states and of pieces for evidence, or why there are none.
    pub values: Result<ClaimedValues, String>,
    /// True if these are exact values that were rounded state by state, or values of a search that a limit ended: a
    /// check may fail then.
    pub rounded: bool,
}

/// Says which counts an engine has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Start states.
    pub start_states: bool,
    /// States that were reached, expanded, and unsafe.
    pub states: bool,
    /// Pairs of states.
    pub transitions: bool,
    /// Outcomes that leave a domain.
    pub dropped_outcomes: bool,
}

impl Counted {
    /// All of them.
    pub const ALL: Self =
        Self { start_states: true, states: true, transitions: true, dropped_outcomes: true };
}

/// The concrete states of an abstract start state.
#[derive(Clone, PartialEq, Debug)]
pub struct StartRegion {
    /// The ranges of the variables.
    pub sides: IntBox,
    /// The conditions that its states satisfy besides, where the predicates are not bounds of
    /// single variables.
    pub conditions: Vec<Condition>,
    /// True if no abstract unsafe state is reachable from it: then all of its states are safe.
    pub proved_safe: bool,
}

/// An engine that ran, or was passed over.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Attempt {
    /// Name of the engine.
    pub engine: String,
    /// The verdict, or the reason why there is none.
    pub result: String,
    /// Wall-clock time in seconds; `None` if it was passed over.
    pub time_s: Option<f64>,
}
