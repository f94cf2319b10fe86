//! `policert check`.

use std::io;

use policert_verify::{Checked, ExitStatus, Failure, OutputFiles, check};

use super::{
    detail, end, fail, is_standard_output, limits, named_inputs, output_failed, print, run_within,
    task_options, write_data,
};
use crate::args::CheckArgs;
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &CheckArgs) -> ExitStatus {
    let error_style = Style::new(arguments.output.color, &io::stderr());
    let outputs = OutputFiles::new([("--json", arguments.output.json.as_deref())]);
    if let Err(failure) = outputs.check(named_inputs(&arguments.task)) {
        return fail(&failure, error_style);
    }
    let options = task_options(&arguments.task);
    let limits = limits(arguments.timeout, arguments.memory);
    run_within(
        &arguments.output,
        &limits,
        |cancel, _| check(&options, cancel),
        |checked, error_style| {
            // The inputs that others name.
            let inputs = checked.report.inputs.iter().map(|input| input.path.as_path());
            let known = outputs.check_inputs(inputs);
            match known.and_then(|()| outputs.check_problems(&checked.report.errors)) {
                Err(failure) => fail(&failure, error_style),
                Ok(()) => {
                    let shown = show(arguments, checked, error_style);
                    end(checked.status, None, shown, error_style)
                }
            }
        },
    )
}

fn show(arguments: &CheckArgs, checked: &Checked, error_style: Style) -> Result<(), Failure> {
    let output = &arguments.output;
    let written = write_data(output.json.as_deref(), &checked.report);
    if let Some(failure) = &checked.failure {
        fail(failure, error_style);
    }
    let taken = is_standard_output(output.json.as_deref());
    let style = if taken { error_style } else { Style::new(output.color, &io::stdout()) };
    print(taken, |out| render::check_report(out, &checked.report, detail(output), style))
        .map_err(output_failed)
        .and(written)
}
