//! `policert dataset`.

use std::io;

use policert_verify::{
    DatasetOutcome, DatasetRequest, ExitStatus, Failure, OutputFiles, TaskOptions, dataset,
};

use super::{
    detail, end, fail, initial_states, limits, named_inputs, run_within, show_report, task_options,
};
use crate::args::DatasetArgs;
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &DatasetArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color, &io::stderr());
    let outputs = OutputFiles::new([
        ("--output", Some(arguments.table.as_path())),
        ("--json", output.json.as_deref()),
    ]);
    let inputs = named_inputs(&arguments.task).into_iter().chain(arguments.states.as_deref());
    if let Err(failure) = outputs.check(inputs) {
        return fail(&failure, error_style);
    }
    let request = request(arguments);
    run_within(
        output,
        &request.limits,
        |cancel, observer| dataset(&request, cancel, observer),
        |outcome, style| {
            let shown = show(arguments, outcome, style);
            end(outcome.status, outcome.unwritten.as_ref(), shown, style)
        },
    )
}

fn show(
    arguments: &DatasetArgs,
    outcome: &DatasetOutcome,
    error_style: Style,
) -> Result<(), Failure> {
    let output = &arguments.output;
    let (report, failure) = (&outcome.report, outcome.failure.as_ref());
    show_report(output, report, failure, error_style, |out, style| {
        render::dataset_report(out, report, detail(output), style)
    })
}

fn request(arguments: &DatasetArgs) -> DatasetRequest {
    DatasetRequest {
        task: TaskOptions {
            filter: arguments.filter.map(Into::into),
            initial_states: initial_states(arguments.no_initial),
            ..task_options(&arguments.task)
        },
        rollouts: arguments.rollouts,
        horizon: arguments.horizon,
        states: arguments.states.clone(),
        seed: arguments.seed,
        limits: limits(arguments.timeout, arguments.memory),
        output: arguments.table.clone(),
    }
}
