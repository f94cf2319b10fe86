//! PDDL text to a grounded task, and that to a model.
//!
//! A domain says what actions do to the truth of propositions, a problem which objects there are, what
//! holds at first and what is wanted. [`Task`] is both, grounded: actions and propositions that can
//! never matter are left out. [`Task::jani`] is its model, with one label for each ground action.
//!
//! | module | what it does |
//! |---|---|
//! | `parse` | S-expressions to a domain and a problem, names and types checked |
//! | `domain`, `problem` | what they say |
//! | `reachable` | the facts and actions that can occur, deletions ignored |
//! | `task` | grounded actions over the propositions that change |
//! | `model` | the task as a JANI model |

#![warn(missing_docs)]

mod domain;
mod error;
mod instances;
mod model;
mod parse;
mod problem;
mod reachable;
mod task;

pub use domain::{Atom, Domain, Effect, Object, Predicate, Schema, Term, Test, Type};
pub use error::PddlError;
pub use parse::{is_pddl, parse_domain, parse_problem};
pub use problem::Problem;
pub use reachable::MAX_ACTIONS;
pub use task::{GroundAction, GroundAtom, GroundEffect, GroundLiteral, GroundOutcome, Task};

use std::path::Path;

use policert_sexpr::SexprError;

/// Reads a domain and a problem of it, and grounds them. Stops where `stop` says so.
///
/// # Errors
/// If a file cannot be read, breaks the format, does not fit the other, or has something that is not
/// supported; and [`PddlError::Stopped`].
pub fn read_task(
    domain: &Path,
    problem: &Path,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Task, PddlError> {
    let domain = read_domain(domain)?;
    let name = problem.display().to_string();
    let problem = parse_problem(&name, &read(problem)?, &domain)?;
    Task::ground(domain, problem, stop)
}

/// Reads a domain.
///
/// # Errors
/// As [`read_task`].
pub fn read_domain(path: &Path) -> Result<Domain, PddlError> {
    parse_domain(&path.display().to_string(), &read(path)?)
}

fn read(path: &Path) -> Result<Vec<u8>, PddlError> {
    policert_files::read(path)
        .map_err(|source| SexprError::Io { file: path.display().to_string(), source }.into())
}
