//! `policert check`.

use std::io;

use policert_outcome::{ExitStatus, OutputFiles};
use policert_verify::check::check;

use super::{Showing, fail, limits, named_inputs, run_within, task_options};
use crate::args::CheckArgs;
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &CheckArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color.when, &io::stderr());
    let outputs = OutputFiles::new([("--json", output.json.as_deref())]);
    if let Err(failure) = outputs.check(named_inputs(&arguments.task)) {
        return fail(&failure, error_style);
    }
    let options = task_options(&arguments.task);
    let limits = limits(arguments.timeout, arguments.memory);
    run_within(
        output,
        &limits,
        |cancel, _| check(&options, cancel),
        |outcome, style| {
            let showing = Showing { with_failure: true, ..Showing::new(output, &outputs) };
            showing.show(&outcome, style, render::check_report)
        },
    )
}
