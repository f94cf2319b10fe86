//! `policert certify`.

use std::io;

use policert_verify::{
    CancelFlag, CertifyRequest, ExitStatus, Failure, Limits, OutputFiles, certify,
};

use super::{detail, fail, show_report};
use crate::args::CertifyArgs;
use crate::interrupt::stop_on_interrupt;
use crate::progress::Progress;
use crate::render::{self, Detail};
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &CertifyArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color, &io::stderr());
    let outputs = OutputFiles::new([("--json", output.json.as_deref())]);
    if let Err(failure) = outputs.check([arguments.evidence.as_path()]) {
        return fail(&failure, error_style);
    }
    let cancel = CancelFlag::default();
    if let Err(error) = stop_on_interrupt(cancel.clone()) {
        return fail(&Failure::Internal(error.to_string()), error_style);
    }
    let request = CertifyRequest {
        evidence: arguments.evidence.clone(),
        limits: Limits {
            time: arguments.timeout,
            memory: arguments.memory.map(|size| size.0),
            states: None,
        },
    };
    let mut progress = Progress::new(detail(output) != Detail::Quiet);
    let outcome = certify(&request, &cancel, &mut progress);
    progress.finish();
    // No input may be overwritten by the result.
    let inputs = outcome.report.inputs.iter().map(|input| input.path.as_path());
    if let Err(failure) = outputs.check_inputs(inputs) {
        return fail(&failure, error_style);
    }
    let (report, failure) = (&outcome.report, outcome.failure.as_ref());
    let shown = show_report(output, report, failure, error_style, |out, style| {
        render::certify_report(out, report, detail(output), style)
    });
    match shown {
        Ok(()) => outcome.status,
        Err(failure) => fail(&failure, error_style),
    }
}
