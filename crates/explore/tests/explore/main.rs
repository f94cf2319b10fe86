//! Tests of the explicit search against the definition.

mod automaton;
mod collection;
mod hand_made;
mod naive_search;
mod oracle_agrees;
mod qcomp;
mod random_model;
mod random_policy;
mod rollouts;
mod search_is_exact;
mod simulations;
