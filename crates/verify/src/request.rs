//! Requests: the question, the engine that answers it, and what it may use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use policert_engine_api::{Limits, Setting};
use policert_numeric::Rational;
use policert_outcome::OutputFiles;
use policert_problem::{Problem, ProblemOptions};

use crate::engine_option::EngineOption;
use crate::engines::Registry;

/// Says what to verify, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// The question.
    pub problem: ProblemSource,
    /// The engines that there are. [default: those of this library]
    pub engines: Registry,
    /// Name of the engine that answers. [default: auto]
    pub engine: String,
    /// Its configuration: name of a preset, or a file. [default: native]
    pub preset: String,
    /// Settings that are changed in it. [default: none]
    pub settings: Vec<Setting>,
    /// Safe means: the greatest probability of reaching an unsafe state is at most this.
    /// [default: the engine says what is asked for]
    pub bound: Option<Rational>,
    /// Width of the interval of a probability. [default: that of the engine]
    pub precision: Option<f64>,
    /// True if the exact value of a probability is to be computed. [default: no]
    pub exact: bool,
    /// Options that the user named: one that the engine does not use is refused.
    pub named: Vec<EngineOption>,
    /// The limits of what may be used.
    pub limits: Limits,
    /// The number of threads that may be used. [default: 1]
    pub threads: u16,
    /// The file to which the queries about the policy are written: `docs/formats/queries.md`.
    pub record_queries: Option<PathBuf>,
    /// True if evidence of probabilities is wanted; that of other verdicts comes in any case.
    pub evidence: bool,
    /// True if the evidence of a verdict is to be checked from its text and the input files before
    /// the verdict is returned. A problem that is loaded already needs the digests of its files.
    /// [default: no]
    pub certify: bool,
    /// True if the start states that are proved safe are to be named.
    pub start_states: bool,
    /// All files that are written, also by the caller; none of them may be an input.
    pub outputs: OutputFiles,
}

impl Request {
    /// The request with all defaults, without limits: about a model by its file, about a problem by
    /// its options, or about one that is loaded.
    pub fn new(problem: impl Into<ProblemSource>) -> Self {
        Self {
            problem: problem.into(),
            engines: Registry::standard(),
            engine: "auto".to_owned(),
            preset: "native".to_owned(),
            settings: Vec::new(),
            bound: None,
            precision: None,
            exact: false,
            named: Vec::new(),
            limits: Limits::default(),
            threads: 1,
            record_queries: None,
            evidence: false,
            certify: false,
            start_states: false,
            outputs: OutputFiles::default(),
        }
    }
}

/// Says where a problem comes from.
#[derive(Clone, Debug)]
pub enum ProblemSource {
    /// From files.
    Files(Box<ProblemOptions>),
    /// It is there already.
    Loaded(Arc<Problem>),
}

impl ProblemSource {
    /// Returns the problem in the words of the user.
    #[must_use]
    pub fn options(&self) -> &ProblemOptions {
        match self {
            Self::Files(options) => options,
            Self::Loaded(problem) => problem.options(),
        }
    }
}

impl From<&Path> for ProblemSource {
    fn from(model: &Path) -> Self {
        ProblemOptions::new(model).into()
    }
}

impl From<&str> for ProblemSource {
    fn from(model: &str) -> Self {
        Path::new(model).into()
    }
}

impl From<ProblemOptions> for ProblemSource {
    fn from(options: ProblemOptions) -> Self {
        Self::Files(Box::new(options))
    }
}

impl From<Problem> for ProblemSource {
    fn from(problem: Problem) -> Self {
        Self::Loaded(Arc::new(problem))
    }
}
