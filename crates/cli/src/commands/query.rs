//! `policert query`.

use std::io;

use policert_outcome::{ExitStatus, OutputFiles};
use policert_query::{QueryRequest, query as decide};

use super::{Showing, fail, limits, run_within};
use crate::args::QueryArgs;
use crate::render;
use crate::screen::Screen;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &QueryArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color.when, &io::stderr());
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
        |outcome, style| {
            // The answer and the witness go to standard output, for programs as well; what else
            // there is to say goes to standard error.
            Showing::new(output, &outputs).show(&outcome, style, |out, outcome, detail, painted| {
                render::answer(out, outcome, detail, painted)?;
                // Nothing can be done if standard error is gone.
                let mut errors = Screen::new(io::stderr().lock());
                let _ = render::query_details(&mut errors, outcome, detail, style);
                Ok(())
            })
        },
    )
}
