//! For tests only: generators of small models, properties and policies that are reproducible by
//! number, and a brute-force oracle that is meant to be easy to read.
//!
//! A test over many cases is a loop:
//!
//! ```
//! use policert_engine_api::Question;
//! use policert_policy::PolicySemantics;
//! use policert_testkit::{Case, Profile, case_numbers, oracle::Oracle};
//!
//! for number in case_numbers(20) {
//!     let case = Case::numbered(Profile::Linear, number);
//!     let question = Question::new(&case.model, &case.property);
//!     let oracle = Oracle::new(question, Some((&case.policy, PolicySemantics::default())));
//!     let truth = oracle.reachable();
//!     // … compare an engine's answer with `truth.is_safe()`, `truth.shortest`, …
//!     assert_eq!(truth.is_safe(), truth.shortest.is_none(), "case {number}");
//! }
//! ```

mod aim;
mod case;
pub mod case_files;
pub mod examples;
mod expressions;
mod infix_text;
pub mod jani_text;
pub mod json_text;
pub mod lies;
mod models;
pub mod nnet_text;
pub mod oracle;
mod pddl_text;
mod points;
mod policies;
mod properties;
mod random;
mod setting;
mod shared_folder;
mod sketch;

pub use case::{Case, LARGEST, cases};
pub use examples::ExampleFile;
pub use expressions::{Expressions, Forms, rebuilt};
pub use infix_text::some_expression;
pub use models::model;
pub use pddl_text::{PddlText, pddl_text};
pub use points::{boolean, integer, points, states, sub_box};
pub use policies::{PolicyParts, policy, with_trees};
pub use properties::property;
pub use random::{Random, case_numbers, slow_tests};
pub use setting::{Setting, semantics};
pub use shared_folder::{cases_folder, shared_folder};
pub use sketch::Profile;
