//! A brute-force oracle: what is true of a small model under a policy, by the definitions alone.
//!
//! It shares no code with composition, compiled successors, network evaluation or any engine:
//! it interprets the automata as they are written, evaluates networks in exact rationals, and
//! enumerates. It is intended to be easy to read, and slow.

pub mod abstraction;
pub mod policy;
pub mod probability;
pub mod reachability;
pub mod scores;
pub mod softmax;
pub mod steps;

pub use abstraction::{AbstractGraph, AbstractReachable, AbstractState, Projection};
pub use probability::{DecisionProcess, Distribution};
pub use reachability::{Expansion, NoAnswer, Oracle, Reachable, Transition};
