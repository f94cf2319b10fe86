//! `policert certify`.

use std::io;

use policert_verify::{CertifyRequest, ExitStatus, OutputFiles, certify};

use super::{detail, end, fail, limits, run_within, show_report};
use crate::args::CertifyArgs;
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &CertifyArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color, &io::stderr());
    let outputs = OutputFiles::new([("--json", output.json.as_deref())]);
    if let Err(failure) = outputs.check([arguments.evidence.as_path()]) {
        return fail(&failure, error_style);
    }
    let request = CertifyRequest {
        evidence: arguments.evidence.clone(),
        limits: limits(arguments.timeout, arguments.memory),
    };
    run_within(
        output,
        &request.limits,
        |cancel, observer| certify(&request, cancel, observer),
        |outcome, error_style| {
            // No input may be overwritten by the result.
            let inputs = outcome.report.inputs.iter().map(|input| input.path.as_path());
            if let Err(failure) = outputs.check_inputs(inputs) {
                return fail(&failure, error_style);
            }
            let (report, failure) = (&outcome.report, outcome.failure.as_ref());
            let shown = show_report(output, report, failure, error_style, |out, style| {
                render::certify_report(out, report, detail(output), style)
            });
            end(outcome.status, None, shown, error_style)
        },
    )
}
