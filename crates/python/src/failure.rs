//! Failures as one exception, which the Python half sorts by exit code.

use policert_outcome::{Failure, Finding};
use pyo3::prelude::*;

pyo3::create_exception!(
    _policert,
    Failed,
    pyo3::exceptions::PyException,
    "No answer: exit code, message, and the findings as JSON."
);

/// The exception of a failure.
pub fn failed(failure: &Failure) -> PyErr {
    let findings: &[Finding] = match failure {
        Failure::Findings(findings) | Failure::Expression { findings, .. } => findings,
        _ => &[],
    };
    let findings = serde_json::to_string(findings).unwrap_or_else(|_| "[]".to_owned());
    // As on the screen: no character of an input moves a cursor there.
    let text = failure.to_string();
    let lines: Vec<String> =
        text.lines().map(|line| policert_files::shown(line).to_string()).collect();
    Failed::new_err((failure.status().code(), lines.join("\n"), findings))
}

/// The exception of an argument that makes no sense.
pub fn usage(message: String) -> PyErr {
    failed(&Failure::Usage(message))
}
