//! Questions for other model checkers: a model as one automaton, the policy as another, in JANI or in
//! the language of PRISM; and explicit chains in Storm's format DRN.
//!
//! The encoding of the policy is that of Vinzent, Wu and Hoffmann's probabilistic policy predicate
//! abstraction (appendix, *Encoding the Policy Into the Automata Network*), with deviations that
//! [`PolicyEncoding`] lists.
//!
//! **Architecture invariant**: what cannot be written with the meaning that it has here is refused
//! by name.

mod automata;
mod conversion;
mod drn;
mod environment;
mod error;
mod expression;
mod identifiers;
mod jani;
mod layers;
mod policy_automaton;
mod prism;

pub use automata::WrittenAutomata;
pub use conversion::{Conversion, Reach};
pub use drn::drn_text;
pub use error::ConvertError;
pub use jani::jani_text;
pub use policy_automaton::PolicyEncoding;
pub use prism::{prism_properties, prism_text};
