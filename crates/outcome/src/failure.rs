//! Why a run has no verdict at all.

use policert_engine_api::{EngineError, StopReason};
use policert_policy::PolicyError;

use crate::{ExitStatus, Finding, FindingKind, policy_findings};

/// A run that ended without verdict.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Inputs are wrong, or not supported: all that was found.
    #[error("{}", joined(.0))]
    Findings(Vec<Finding>),
    /// The command line asks for something that does not exist.
    #[error("{0}")]
    Usage(String),
    /// An expression of the command line is wrong.
    #[error("{option}: {}", joined(.findings))]
    Expression {
        /// The option.
        option: &'static str,
        /// The problem with it.
        findings: Vec<Finding>,
    },
    /// A file that the command line names for output must not be written, or cannot be; nothing is
    /// written.
    #[error("{0}")]
    Refused(String),
    /// Stopped before there was anything to tell.
    #[error("{0}")]
    Stopped(#[from] StopReason),
    /// A result could not be written.
    #[error("{what}: {source}")]
    Output {
        /// The file.
        what: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Evidence that does not show what it claims.
    #[error("{0}")]
    Rejected(String),
    /// A mistake of this program.
    #[error("internal error: {0}")]
    Internal(String),
}

fn joined(findings: &[Finding]) -> String {
    findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("\n")
}

impl Failure {
    /// The exit status that it ends with.
    #[must_use]
    pub fn status(&self) -> ExitStatus {
        match self {
            Self::Findings(findings) => FindingKind::status(findings.iter().map(|p| p.kind)),
            Self::Usage(_) | Self::Expression { .. } | Self::Refused(_) => ExitStatus::Usage,
            Self::Stopped(reason) => ExitStatus::of_stop(*reason),
            Self::Rejected(_) => ExitStatus::Rejected,
            Self::Output { .. } | Self::Internal(_) => ExitStatus::Internal,
        }
    }

    /// One invalid input.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Findings(vec![Finding::new(FindingKind::Invalid, message.into())])
    }

    /// One unsupported input.
    #[must_use]
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::Findings(vec![Finding::new(FindingKind::Unsupported, message.into())])
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Stop(reason) => Self::Stopped(reason),
            EngineError::Modelling(_) => Self::invalid(error.to_string()),
            EngineError::Unsupported(_) => Self::unsupported(error.to_string()),
            EngineError::Internal(message) => Self::Internal(message),
            other => Self::Internal(other.to_string()),
        }
    }
}

impl From<PolicyError> for Failure {
    fn from(error: PolicyError) -> Self {
        Self::Findings(policy_findings(&error))
    }
}
