//! `policert certify`.

use std::io;

use policert_evidence::{CertifyRequest, certify};
use policert_outcome::{ExitStatus, OutputFiles};

use super::{Showing, fail, limits, run_within};
use crate::args::CertifyArgs;
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &CertifyArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color.when, &io::stderr());
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
        |outcome, style| {
            Showing::new(output, &outputs).show(&outcome, style, render::certify_report)
        },
    )
}
