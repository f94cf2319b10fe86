//! Action schema networks (Toyer, Thiébaux, Trevizan, Xie: *ASNets: Deep Learning for Generalised
//! Planning*, JAIR 2020): one small set of weights for all problems of a domain in PDDL.
//!
//! Layers of action modules and of proposition modules alternate. All actions of a schema share the
//! weights of their modules, and all propositions of a predicate. An action module reads the modules of
//! the propositions in its schema's preconditions and effects, in the order in which the schema names
//! them; a proposition module reads, for each such place in each schema, the greatest of the modules of
//! the actions that have the proposition there.
//!
//! | symbol | name |
//! |---|---|
//! | layers L | [`Architecture::layers`]: proposition layers; there is one action layer more |
//! | d_h | [`Architecture::dimension`] |
//! | M, positions of related propositions | [`SchemaShape::slots`] |
//! | the pools of a predicate | [`PredicateShape::pools`] |
//! | m, the applicability bit | last input of the first action layer |
//!
//! Deviations:
//! - D1: atoms that are related to an action and never change in a problem are modules all the same,
//!   with a constant truth.
//! - D2: a negated atom of the goal has the goal input −1.
//! - D3: heuristic inputs and action counts are not supported: the policy is a function of the state.

#![warn(missing_docs)]

mod asnet;
mod canonical;
mod file;
mod graph;
mod instance;
mod load;
mod picture;
mod shape;
mod translation;

pub use asnet::{Architecture, Asnet, Module, Nonlinearity};
pub use file::{AsnetFile, FileKind, read_asnet};
pub use graph::{instantiate, network};
pub use instance::{ActionNode, AtomNode, Instance, Truth};
pub use load::{load_for_task, load_translated};
pub use picture::picture;
pub use shape::{DomainShape, PredicateShape, SchemaShape};
pub use translation::Translation;
