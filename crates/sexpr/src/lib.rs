//! Text to S-expressions, with places: what VNN-LIB and PDDL are written in.
//!
//! [`Reader`] reads one expression after the other. What is wrong with a text is a [`Fault`] at a
//! position, which the name of the file makes a message at a [`Place`].

#![warn(missing_docs)]

mod error;
mod fault;
mod place;
mod reader;
mod text;

pub use error::SexprError;
pub use fault::{Fault, FaultKind};
pub use place::Place;
pub use reader::{Kind, MAX_DEPTH, Reader, Sexpr, quoted};
pub use text::text;
