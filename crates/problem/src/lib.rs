//! A problem: a model, a property and a policy, loaded and fitted together ([`Problem`]), in the words
//! of whoever asks ([`ProblemOptions`]), with what its answer will mean ([`SemanticsRecord`]).

pub mod control_loop;
mod hollow_facts;
pub mod load;
mod markov_chain;
mod options;
pub mod policy;
mod probability_question;
mod problem;
mod semantics_record;
mod state_record;
mod without_effect;

pub use policert_policy::{Filter, Numbers, Ties};
pub use policert_ppa::Splits;

pub use hollow_facts::HollowFact;
pub use options::{
    InitialStates, PolicyChoice, Predicates, Probabilities, ProblemOptions, StateSpace,
    TerminalChoice,
};
pub use probability_question::{ProbabilityQuestion, direction, is_reachability, reaching};
pub use problem::{Problem, ProblemRecord};
pub use semantics_record::{
    Domain, QuestionAim, SemanticsRecord, StartRule, StuckStates, shortened,
};
pub use state_record::{changes, read_state, read_value, state_record, value_record};
