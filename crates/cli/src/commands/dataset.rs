//! `policert dataset`.

use std::io;

use policert_verify::{
    CancelFlag, DatasetOutcome, DatasetRequest, ExitStatus, Failure, Limits, OutputFiles,
    TaskOptions, dataset,
};

use super::{detail, fail, initial_states, named_inputs, show_report, task_options};
use crate::args::DatasetArgs;
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
        limits: Limits { time: arguments.timeout, memory: None, states: None },
        output: arguments.table.clone(),
    }
}
