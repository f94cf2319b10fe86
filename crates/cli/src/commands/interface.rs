//! `policert interface`.

use std::io::{self, Write as _};

use policert_lab::{SkeletonRequest, write_skeleton};
use policert_outcome::ExitStatus;

use super::{fail, say};
use crate::args::InterfaceArgs;
use crate::screen::Screen;
use crate::style::Style;

/// Runs the command: the file's name goes to standard output, what was guessed to standard error.
pub fn run(arguments: &InterfaceArgs) -> ExitStatus {
    let error_style = Style::new(arguments.color.when, &io::stderr());
    let beside = || arguments.policy.with_extension("interface.json");
    let constants = arguments.constants.iter().flat_map(|constants| constants.0.clone());
    let request = SkeletonRequest {
        model: arguments.model.clone(),
        pddl_problem: arguments.pddl_problem.clone(),
        constants: constants.collect(),
        policy: arguments.policy.clone(),
        scores: arguments.scores.clone(),
        output: arguments.output.clone().unwrap_or_else(beside),
        force: arguments.force,
    };
    let written = match write_skeleton(&request) {
        Ok(written) => written,
        Err(failure) => return fail(&failure, error_style),
    };
    let name = policert_files::path(&request.output);
    let mut errors = Screen::new(io::stderr().lock());
    let mut told: io::Result<()> =
        written.notes.iter().try_for_each(|note| writeln!(errors, "note: {note}"));
    if let Some(misfit) = &written.misfit {
        told = told.and_then(|()| {
            writeln!(errors, "warning: the policy cannot be read with it yet: {misfit}")
        });
    }
    drop(errors);
    // Notes that nobody can read are no reason to fail.
    drop(told);
    match say(format_args!("{name} is written")) {
        Ok(()) => ExitStatus::Safe,
        Err(failure) => fail(&failure, error_style),
    }
}
