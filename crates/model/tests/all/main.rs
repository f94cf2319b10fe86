//! The integration tests of this crate, in one program.

mod composition;
mod domain_rules;
mod idle;
mod prop_boxes;
mod prop_composition;
mod prop_condition;
