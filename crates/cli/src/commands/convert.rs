//! `policert convert`.

use std::io;

use policert_verify::{
    ConvertFormat, ConvertOutcome, ConvertRequest, Domain, ExitStatus, Failure, OutputFiles,
    TaskOptions, convert,
};

use super::{
    detail, end, fail, initial_states, is_refused, limits, named_inputs, run_within, show_report,
    task_options, terminal,
};
use crate::args::{ConvertArgs, DomainArg, FormatArg};
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &ConvertArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color, &io::stderr());
    let request = request(arguments);
    let properties = request.properties();
    let outputs = OutputFiles::new([
        ("--output", Some(arguments.file.as_path())),
        ("the file of properties", properties.as_deref()),
        ("--json", output.json.as_deref()),
    ]);
    if let Err(failure) = outputs.check(named_inputs(&arguments.task)) {
        return fail(&failure, error_style);
    }
    run_within(
        output,
        &request.limits,
        |cancel, observer| convert(&request, cancel, observer),
        |outcome, error_style| {
            if is_refused(outcome.failure.as_ref(), error_style) {
                return outcome.status;
            }
            let shown = show(arguments, outcome, error_style);
            end(outcome.status, None, shown, error_style)
        },
    )
}

fn show(
    arguments: &ConvertArgs,
    outcome: &ConvertOutcome,
    error_style: Style,
) -> Result<(), Failure> {
    let output = &arguments.output;
    let (report, failure) = (&outcome.report, outcome.failure.as_ref());
    show_report(output, report, failure, error_style, |out, style| {
        render::convert_report(out, report, detail(output), style)
    })
}

fn request(arguments: &ConvertArgs) -> ConvertRequest {
    ConvertRequest {
        task: TaskOptions {
            filter: arguments.filter.map(Into::into),
            ties: arguments.ties.map(Into::into),
            domain: match arguments.domain {
                DomainArg::Drop => Domain::Drop,
                DomainArg::Error => Domain::Error,
            },
            terminal: terminal(arguments.terminal.as_deref()),
            initial_states: initial_states(arguments.no_initial),
            ..task_options(&arguments.task)
        },
        format: match arguments.format {
            FormatArg::Jani => ConvertFormat::Jani,
            FormatArg::Prism => ConvertFormat::Prism,
            FormatArg::Drn => ConvertFormat::Drn,
        },
        policy: arguments.policy_as_automaton,
        limits: limits(arguments.timeout, arguments.memory),
        output: arguments.file.clone(),
    }
}
