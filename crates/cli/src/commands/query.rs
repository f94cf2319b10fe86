//! `policert query`.

use std::io;

use policert_outcome::{ExitStatus, Failure, OutputFiles};
use policert_query::{QueryRequest, query as decide};

use super::{Showing, fail, is_standard_output, limits, run_within};
use crate::args::QueryArgs;
use crate::render;
use crate::screen::Screen;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &QueryArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color.when, &io::stderr());
    if [&output.json, &arguments.evidence].iter().all(|file| is_standard_output(file.as_deref())) {
        let message = "of --json and --evidence one can go to standard output";
        return fail(&Failure::Usage(message.to_owned()), error_style);
    }
    let outputs = OutputFiles::new([
        ("--json", output.json.as_deref()),
        ("--evidence", arguments.evidence.as_deref()),
    ]);
    if let Err(failure) = outputs.check([arguments.network.as_path(), &arguments.property]) {
        return fail(&failure, error_style);
    }
    let request = QueryRequest {
        limits: limits(arguments.timeout, arguments.memory),
        evidence: arguments.evidence.is_some(),
        certify: arguments.certify,
        ..QueryRequest::new(&arguments.network, &arguments.property)
    };
    run_within(
        output,
        &request.limits,
        |cancel, observer| decide(&request, cancel, observer),
        |mut outcome, style| {
            let mut showing = Showing::new(output, &outputs);
            let mut unwritten = Ok(());
            if let Some(path) = &arguments.evidence
                && showing.refused(&outcome).is_none()
            {
                let report = &mut outcome.report;
                let (record, written) =
                    showing.write_or_remove(path, report.evidence.as_ref(), &report.no_evidence);
                report.evidence_file = Some(record);
                unwritten = written;
            }
            // The answer and the witness go to standard output, for programs as well; what else
            // there is to say goes to standard error.
            let status = showing.show(&outcome, style, |out, outcome, detail, painted| {
                render::answer(out, outcome, detail, painted)?;
                // Nothing can be done if standard error is gone.
                let mut errors = Screen::new(io::stderr().lock());
                let _ = render::query_details(&mut errors, outcome, detail, style);
                Ok(())
            });
            unwritten.map_or_else(|failure| fail(&failure, style), |()| status)
        },
    )
}
