//! Verdicts: what may be said about a policy.

use std::fmt;

use crate::{StopReason, Trace};

/// The answer to a question about safety.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// No unsafe state is reachable.
    Safe {
        /// True if that is so because there is no start state.
        vacuous: bool,
    },
    /// An unsafe state is reachable, by this trace.
    Unsafe(Trace),
    /// Not known, with the reason.
    Unknown(UnknownReason),
}

/// Says why the answer is not known.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum UnknownReason {
    /// The engine was stopped.
    Stopped(StopReason),
    /// The abstraction has a path to an unsafe abstract state that does not concretise, or whose
    /// concretisation was not decided.
    AbstractPath {
        /// Number of its transitions.
        steps: usize,
    },
    /// A choice of the policy could not be decided with growing precision.
    UndecidedChoice {
        /// The state, as a person would write it.
        state: String,
    },
    /// The policy has no scores: the argument of an exponential function is too great.
    NoScores {
        /// The state, as a person would write it.
        state: String,
    },
    /// Scores as they are rounded may be in another order than the exact ones.
    CloseScores {
        /// The state, as a person would write it.
        state: String,
        /// The labels that some evaluation may choose, if they are known.
        labels: Vec<String>,
    },
    /// Every run that never reaches a goal state needs chance to go against it for ever.
    ChanceForEver {
        /// A state in which that is possible, as a person would write it.
        state: String,
    },
    /// A solver gave up.
    SolverGaveUp(String),
    /// There is no unsafe path of up to this length, and no longer one was looked for.
    StepLimit {
        /// Number of transitions.
        steps: u64,
    },
    /// The bound of a probability lies inside the interval that was found.
    BoundInside {
        /// Advice on how to get an answer.
        hint: &'static str,
    },
    /// A search that does not prove safety met no unsafe state, and ran out of states to look at.
    NoneFound {
        /// Number of states that it met.
        states: u64,
    },
}

impl fmt::Display for UnknownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(reason) => write!(f, "{reason}"),
            Self::AbstractPath { steps: 0 } => write!(
                f,
                "no unsafe start state was found, but the predicates do not tell start states from \
                 unsafe ones: nothing can be proved with them"
            ),
            Self::AbstractPath { steps } => write!(
                f,
                "abstract unsafe path of {steps} steps, spurious or not decided: \
                 the predicates are too coarse to tell"
            ),
            Self::StepLimit { steps } => write!(f, "no unsafe path of up to {steps} steps"),
            Self::ChanceForEver { state } => write!(
                f,
                "a run may miss the goal for ever, but only if chance goes against it each time, as in \
                 state {state}: ask for the least probability (Pmin) of reaching the goal"
            ),
            Self::BoundInside { hint } => {
                write!(f, "the bound lies inside the interval: {hint}")
            }
            Self::NoneFound { states } => write!(
                f,
                "no unsafe state among the {states} that the search met; it proves nothing safe"
            ),
            Self::SolverGaveUp(text) => write!(f, "a query was not decided: {text}"),
            Self::CloseScores { state, labels } => {
                let of = match labels[..] {
                    [] => "the best scores".to_owned(),
                    [_, ..] => format!("the scores of {}", labels.join(", ")),
                };
                write!(
                    f,
                    "in state {state} {of} are closer than rounding errors may be, and what the plain \
                     evaluation chooses does not decide"
                )
            }
            Self::NoScores { state } => write!(
                f,
                "the policy has no scores in state {state}: the argument of an exponential function (Exp) \
                 is above 1024 there"
            ),
            Self::UndecidedChoice { state } => write!(
                f,
                "the policy's choice cannot be decided at the highest precision in state {state}"
            ),
        }
    }
}

/// The answer to one query: a refutation is a proof, a possibility may carry a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer<W> {
    /// Proved impossible.
    Refuted,
    /// Possible, or not refuted; with a verified witness if there is one.
    Possible(Option<W>),
}

impl<W> Answer<W> {
    /// Returns whether it is proved impossible.
    #[must_use]
    pub fn refuted(&self) -> bool {
        matches!(self, Self::Refuted)
    }
}

/// Counts that every engine reports; `None` where the engine has no such thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Predicates of the abstraction.
    pub predicates: Option<u64>,
    /// Start states: abstract ones for abstractions, else concrete ones.
    pub start_states: u64,
    /// States whose successors were computed.
    pub expanded_states: u64,
    /// States reached, start states included.
    pub reachable_states: u64,
    /// Distinct (source, target) pairs.
    pub transitions: u64,
    /// Unsafe states among the reached ones.
    pub unsafe_states: u64,
    /// Outcomes that were no transition because they leave a domain.
    pub dropped_outcomes: u64,
}
