//! Models that are a domain and a problem in PDDL.

use std::path::Path;

use policert_engine_api::Budget;
use policert_jani::{LoadOptions, load_bytes};
use policert_outcome::{Failure, Finding};
use policert_pddl::{PddlError, Task, is_pddl, read_task};

use crate::load::stopped;
use crate::{ModelSource, ProblemOptions, QuestionAim, StuckStates};

/// Grounds the problem, and loads the model that it is.
pub(crate) fn load(
    options: &ProblemOptions,
    problem: &Path,
    jani: &LoadOptions,
    budget: &Budget,
) -> Result<ModelSource, Failure> {
    if !options.constants.is_empty() {
        let what = "--const has no effect: a problem in PDDL has no constants without value";
        return Err(Failure::Usage(what.to_owned()));
    }
    if is_json(&options.model) {
        return Err(Failure::Usage(format!(
            "{} is no domain in PDDL, which the problem {} goes with: for a model in JANI, leave the \
             problem out",
            policert_files::path(&options.model),
            policert_files::path(problem)
        )));
    }
    let task = planning_task(&options.model, problem, budget)?;
    let loaded = load_bytes(&options.model, task.jani().into_bytes(), jani);
    Ok(ModelSource::new(loaded, Some(task)))
}

/// Grounds a problem of a domain in PDDL.
///
/// # Errors
/// Files that are wrong, and a stop of the budget.
pub fn planning_task(domain: &Path, problem: &Path, budget: &Budget) -> Result<Task, Failure> {
    let mut polled = budget.fork();
    read_task(domain, problem, &mut || polled.poll_clock().is_err()).map_err(|error| match error {
        PddlError::Stopped => stopped(budget),
        error => Failure::Findings(vec![Finding::from(&error)]),
    })
}

/// Returns whether a file begins as JSON does, which is no beginning in PDDL.
fn is_json(model: &Path) -> bool {
    let bytes = policert_files::read(model).unwrap_or_default();
    bytes.trim_ascii_start().starts_with(b"{")
}

/// Returns whether a model file that is not in JANI is a domain in PDDL.
pub(crate) fn is_domain(options: &ProblemOptions) -> bool {
    policert_files::read(&options.model).is_ok_and(|bytes| is_pddl(&bytes))
}

/// Checks that the options say what is unsafe, where the model does not.
///
/// # Errors
/// A problem in PDDL, of which only the goal is known.
pub fn check_aim(options: &ProblemOptions) -> Result<(), Failure> {
    let ProblemOptions { pddl_problem, unsafe_states, aim, stuck, .. } = options;
    let has_aim =
        *aim == QuestionAim::ReachGoal || *stuck == StuckStates::Unsafe || unsafe_states.is_some();
    if pddl_problem.is_none() || has_aim {
        return Ok(());
    }
    let what = "a problem in PDDL has no unsafe states: name them with --unsafe CONDITION, or ask \
                for the goal with --reach-goal";
    Err(Failure::Usage(what.to_owned()))
}

/// Returns what to say where a domain stands alone.
pub(crate) fn no_problem(domain: &Path) -> Failure {
    Failure::Usage(format!(
        "{} is in PDDL: name the domain and a problem of it, DOMAIN.pddl PROBLEM.pddl",
        policert_files::path(domain)
    ))
}
