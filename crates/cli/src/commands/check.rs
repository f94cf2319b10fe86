//! `policert check`.

use std::io;

use policert_verify::{CancelFlag, Checked, ExitStatus, Failure, check};

use super::{detail, fail, is_standard_output, output_failed, print, task_options, write_data};
use crate::args::CheckArgs;
use crate::interrupt::stop_on_interrupt;
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &CheckArgs) -> ExitStatus {
    let error_style = Style::new(arguments.output.color, &io::stderr());
    let cancel = CancelFlag::default();
    if let Err(error) = stop_on_interrupt(cancel.clone()) {
        return fail(&Failure::Internal(error.to_string()), error_style);
    }
    let checked = check(&task_options(&arguments.task), &cancel);
    match show(arguments, &checked, error_style) {
        Ok(()) => checked.status,
        Err(failure) => fail(&failure, error_style),
    }
}

fn show(arguments: &CheckArgs, checked: &Checked, error_style: Style) -> Result<(), Failure> {
    let output = &arguments.output;
    write_data(output.json.as_deref(), &checked.report)?;
    if let Some(failure) = &checked.failure {
        fail(failure, error_style);
    }
    let taken = is_standard_output(output.json.as_deref());
    let style = if taken { error_style } else { Style::new(output.color, &io::stdout()) };
    print(taken, |out| render::check_report(out, &checked.report, detail(output), style))
        .map_err(output_failed)
}
