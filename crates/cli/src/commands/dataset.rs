//! `policert dataset`.

use std::io;

use policert_verify::{
    CancelFlag, DatasetOutcome, DatasetRequest, ExitStatus, Failure, Filter, InitialStates, Limits,
    OutputFiles, TaskOptions, dataset,
};

use super::{
    detail, fail, is_standard_output, named_inputs, output_failed, print, task_options, write_data,
};
use crate::args::{DatasetArgs, FilterArg};
use crate::interrupt::stop_on_interrupt;
use crate::progress::Progress;
use crate::render::{self, Detail};
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
    let cancel = CancelFlag::default();
    if let Err(error) = stop_on_interrupt(cancel.clone()) {
        return fail(&Failure::Internal(error.to_string()), error_style);
    }
    let mut progress = Progress::new(detail(output) != Detail::Quiet);
    let outcome = dataset(&request(arguments), &cancel, &mut progress);
    progress.finish();
    match show(arguments, &outcome, error_style) {
        Ok(()) => outcome.status,
        Err(failure) => fail(&failure, error_style),
    }
}

fn show(
    arguments: &DatasetArgs,
    outcome: &DatasetOutcome,
    error_style: Style,
) -> Result<(), Failure> {
    let output = &arguments.output;
    let written = write_data(output.json.as_deref(), &outcome.report);
    if let Some(failure) = &outcome.failure {
        fail(failure, error_style);
        return written;
    }
    let taken = is_standard_output(output.json.as_deref());
    let style = if taken { error_style } else { Style::new(output.color, &io::stdout()) };
    print(taken, |out| render::dataset_report(out, &outcome.report, detail(output), style))
        .map_err(output_failed)
        .and(written)
}

fn request(arguments: &DatasetArgs) -> DatasetRequest {
    DatasetRequest {
        task: TaskOptions {
            filter: arguments.filter.map(|filter| match filter {
                FilterArg::None => Filter::None,
                FilterArg::Applicable => Filter::Applicable,
            }),
            initial_states: if arguments.no_initial {
                InitialStates::LeftOut
            } else {
                InitialStates::Included
            },
            ..task_options(&arguments.task)
        },
        rollouts: arguments.rollouts,
        horizon: arguments.horizon,
        states: arguments.states.clone(),
        seed: arguments.seed,
        limits: Limits { time: arguments.timeout, memory: None, states: None },
        output: arguments.table.clone(),
    }
}
