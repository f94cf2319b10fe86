//! `policert query`.

use std::io;

use policert_verify::{ExitStatus, Failure, OutputFiles, Queried, QueryRequest, query as decide};

use super::{
    detail, end, fail, is_standard_output, limits, output_failed, print, run_within, write_data,
};
use crate::args::QueryArgs;
use crate::render;
use crate::screen::Screen;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &QueryArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color, &io::stderr());
    let outputs = OutputFiles::new([("--json", output.json.as_deref())]);
    if let Err(failure) = outputs.check([arguments.network.as_path(), &arguments.property]) {
        return fail(&failure, error_style);
    }
    let request = QueryRequest {
        network: arguments.network.clone(),
        property: arguments.property.clone(),
        limits: limits(arguments.timeout, arguments.memory),
    };
    run_within(
        output,
        &request.limits,
        |cancel, observer| decide(&request, cancel, observer),
        |queried, style| end(queried.status, None, show(arguments, queried, style), style),
    )
}

/// The answer and the witness go to standard output, for programs as well; what else there is to
/// say goes to standard error.
fn show(arguments: &QueryArgs, queried: &Queried, error_style: Style) -> Result<(), Failure> {
    let output = &arguments.output;
    let written = write_data(output.json.as_deref(), &queried.report);
    if let Some(failure) = &queried.failure {
        fail(failure, error_style);
        return written;
    }
    let taken = is_standard_output(output.json.as_deref());
    let style = if taken { error_style } else { Style::new(output.color, &io::stdout()) };
    let detail = detail(output);
    print(taken, |out| render::answer(out, &queried.report, detail, style))
        .map_err(output_failed)?;
    // Nothing can be done if standard error is gone.
    let mut errors = Screen::new(io::stderr().lock());
    let _ = render::query_details(&mut errors, &queried.report, detail, error_style);
    written
}
