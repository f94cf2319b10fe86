//! A problem: a model, a property and a policy, loaded and fitted together ([`Problem`]), in the words
//! of whoever asks ([`ProblemOptions`]), with what its answer will mean ([`SemanticsRecord`]).
//!
//! ```
//! use policert_engine_api::Budget;
//! use policert_outcome::Remarks;
//! use policert_problem::{Problem, ProblemOptions};
//!
//! let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/icy_road/model.jani");
//! let mut options = ProblemOptions::new(model.as_ref());
//! options.property = Some("careful".to_owned());
//! let mut remarks = Remarks::default();
//! let problem = Problem::load(&options, &Budget::unlimited(), &mut remarks)?;
//! assert!(problem.policy.is_some() && !remarks.inputs.is_empty());
//!
//! // The same question, from parts that a program has made.
//! let again = Problem::from_parts(problem.model, problem.property, problem.policy);
//! assert_eq!(again.semantics, problem.semantics);
//! # Ok::<(), policert_outcome::Failure>(())
//! ```

#![warn(missing_docs)]

mod asnet;
pub mod control_loop;
mod files;
mod hollow_facts;
mod kept;
mod kept_model;
mod kept_policy;
pub mod load;
mod model_source;
mod options;
mod pddl;
pub mod policy;
mod probability_question;
mod problem;
mod semantics;
mod semantics_record;
mod state_record;
mod without_effect;

pub use policert_policy::{ChoiceRule, Filter, Numbers, Share, Ties};
pub use policert_ppa::Splits;

pub use asnet::is_asnet;
pub use files::Files;
pub use hollow_facts::HollowFact;
pub use kept::Kept;
pub use kept_model::KeptModel;
pub use kept_policy::KeptPolicy;
pub use model_source::ModelSource;
pub use options::{
    InitialStates, PolicySource, Predicates, Probabilities, ProblemOptions, StateSpace,
    TerminalChoice,
};
pub use pddl::{check_aim, planning_task};
pub use probability_question::{direction, is_reachability, reaching};
pub use problem::{Problem, ProblemRecord};
pub use semantics_record::{
    DomainSetting, QuestionAim, SemanticsRecord, StartRule, StuckStates, shortened,
};
pub use state_record::{changes, read_state, read_value, state_record, value_record};
