//! The other kind of problem: a control loop, from its task file.

use std::path::{Path, PathBuf};

use policert_control_loop::{ReachError, Task};
use policert_outcome::{Failure, Finding, policy_findings};

/// Reads a task, or the instance of it that is named.
///
/// # Errors
/// A file that is wrong, or an instance that it does not have.
pub fn read(path: &Path, instance: Option<&str>) -> Result<Task, Failure> {
    Task::read(path, instance).map_err(failure)
}

/// Turns an error about a control loop into the failure of a run.
#[must_use]
pub fn failure(error: ReachError) -> Failure {
    let at = |file: &str, line, column| {
        let (file, finding) = (Some(PathBuf::from(file)), Finding::invalid(error.to_string()));
        Failure::Findings(vec![Finding { file, line, column, ..finding }])
    };
    match &error {
        ReachError::Usage(message) => Failure::Usage(message.clone()),
        ReachError::Stop(reason) => Failure::Stopped(*reason),
        ReachError::Unsupported(_) => Failure::unsupported(error.to_string()),
        ReachError::Policy(error) => Failure::Findings(policy_findings(error)),
        ReachError::Invalid { file, line, column, .. } => at(file, Some(*line), Some(*column)),
        ReachError::Io { file, .. } => at(file, None, None),
        other => Failure::invalid(other.to_string()),
    }
}
