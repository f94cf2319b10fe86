//! The frame around what a command says, one for all of them: `docs/formats/result.md`.

use std::path::PathBuf;
use std::time::Instant;

use policert_engine_api::StopReason;
use serde::{Serialize, Serializer};

use crate::{
    ExitStatus, Failure, Finding, Input, ReasonCode, SCHEMA_VERSION, VERSION, peak_memory_mb,
};

/// Holds what a command says, and how it ended. As data it is one object, with the fields of the
/// report among its own.
#[derive(Debug, Serialize)]
pub struct Outcome<T> {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Version of the program.
    pub version: &'static str,
    /// The exit code.
    #[serde(rename = "exit_code", serialize_with = "code")]
    pub status: ExitStatus,
    /// The reason why the answer is not known or not complete, or the fault.
    pub reason: Option<String>,
    /// The same for programs.
    pub reason_code: Option<ReasonCode>,
    /// The fields of this command's own report.
    #[serde(flatten)]
    pub report: T,
    /// Warnings and notes about the answer.
    #[serde(flatten)]
    pub remarks: Remarks,
    /// The faults of the inputs.
    pub errors: Vec<Finding>,
    /// Wall-clock time of the whole run in seconds.
    pub time_s: f64,
    /// Peak resident memory in MB (10⁶ bytes), where the system tells.
    pub peak_memory_mb: Option<f64>,
    /// The reason why there is no answer.
    #[serde(skip)]
    pub failure: Option<Failure>,
    /// A file that could not be written.
    #[serde(skip)]
    pub unwritten: Option<Failure>,
}

/// Holds what was found on the way to an answer, also if there is none.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Remarks {
    /// Warnings to read before trusting the answer.
    pub warnings: Vec<String>,
    /// Notes that are worth knowing.
    pub notes: Vec<String>,
    /// The files that were read, where their digests are wanted.
    pub inputs: Vec<Input>,
    /// The files that were read.
    #[serde(skip)]
    pub files: Vec<PathBuf>,
    /// Warnings about keys of the inputs that are ignored and may be misspelt; they are among the
    /// warnings, too.
    #[serde(skip)]
    pub ignored_keys: Vec<String>,
}

fn code<S: Serializer>(status: &ExitStatus, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(status.code())
}

impl<T> Outcome<T> {
    /// Does the work of a command, which fills the report and says how it ended.
    pub fn of(report: T, work: impl FnOnce(&mut Self) -> Result<ExitStatus, Failure>) -> Self {
        let begin = Instant::now();
        let mut outcome = Self {
            schema_version: SCHEMA_VERSION,
            version: VERSION,
            status: ExitStatus::Internal,
            reason: None,
            reason_code: None,
            report,
            remarks: Remarks::default(),
            errors: Vec::new(),
            time_s: 0.0,
            peak_memory_mb: None,
            failure: None,
            unwritten: None,
        };
        outcome.status = match work(&mut outcome) {
            Ok(status) => status,
            Err(failure) => outcome.fail(failure),
        };
        outcome.time_s = begin.elapsed().as_secs_f64();
        outcome.peak_memory_mb = peak_memory_mb();
        outcome
    }

    /// Says why there is no answer.
    fn fail(&mut self, failure: Failure) -> ExitStatus {
        let status = failure.status();
        self.explain(ReasonCode::from(&failure), failure.to_string());
        if let Failure::Findings(findings) = &failure {
            self.errors.clone_from(findings);
        }
        self.failure = Some(failure);
        status
    }

    /// Says why the answer is not known, or not complete.
    pub fn explain(&mut self, code: ReasonCode, reason: impl Into<String>) {
        self.reason_code = Some(code);
        self.reason = Some(reason.into());
    }

    /// Says why it ended early, with what was found up to there.
    pub fn stop(&mut self, reason: StopReason) -> ExitStatus {
        self.explain(ReasonCode::from(reason), reason.to_string());
        ExitStatus::of_stop(reason)
    }

    /// Keeps in mind that a file could not be written.
    pub fn keep_unwritten(&mut self, written: Result<(), Failure>) {
        if let (Err(failure), None) = (written, &self.unwritten) {
            self.remarks.warnings.push(format!("not written: {failure}"));
            self.unwritten = Some(failure);
        }
    }
}
