//! Query logs: every question that an engine asks about the policy, written to a file so that it
//! can be asked again, of this program or of another solver.

mod format;

use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use policert_bounds::{AskedQuery, Recorder, Values};
use policert_engine_api::Answer;
use policert_model::{Condition, Model};
use policert_outcome::{AtomicFile, Failure, InputRole, VERSION};
use policert_policy::{Filter, Policy};
use policert_problem::Problem;
use serde::Serialize;

pub use format::{
    AnswerRecord, ConditionRecord, LinearRecord, QUERY_LOG_VERSION, QueryLogHeader, QueryRecord,
    SideRecord, VariableRecord,
};

/// A query log that is being written. It appears under its name when it is finished.
pub(crate) struct QueryLog<'a> {
    model: &'a Model,
    path: PathBuf,
    file: BufWriter<AtomicFile>,
    header: QueryLogHeader,
    /// Regions entered.
    regions: u64,
    /// Queries written.
    queries: u64,
    /// The first write that failed; nothing is written after it.
    error: Option<io::Error>,
}

impl<'a> QueryLog<'a> {
    /// A log for the queries about the policy of a task.
    pub fn create(path: &Path, problem: &'a Problem) -> Result<Self, Failure> {
        let Some(policy) = &problem.policy else {
            let message = "--record-queries: there is no policy to ask about";
            return Err(Failure::Usage(message.to_owned()));
        };
        if path == Path::new("-") {
            let message = "--record-queries takes a file: standard output is for the verdict";
            return Err(Failure::Usage(message.to_owned()));
        }
        let file = AtomicFile::create(path).map_err(|source| failed(path, source))?;
        Ok(Self {
            model: &problem.model,
            path: path.to_owned(),
            file: BufWriter::new(file),
            header: header(problem, policy)?,
            regions: 0,
            queries: 0,
            error: None,
        })
    }

    /// Gives the file its name. Returns the number of queries.
    pub fn finish(mut self) -> Result<u64, Failure> {
        if self.regions == 0 {
            self.write_header();
        }
        let written = match self.error {
            Some(error) => Err(error),
            None => self.file.into_inner().map_err(io::IntoInnerError::into_error),
        };
        written.and_then(AtomicFile::finish).map_err(|source| failed(&self.path, source))?;
        Ok(self.queries)
    }

    fn write_header(&mut self) {
        let header = self.header.clone();
        self.write(&header);
    }

    fn write(&mut self, line: &impl Serialize) {
        if self.error.is_some() {
            return;
        }
        let mut write = || {
            serde_json::to_writer(&mut self.file, line)?;
            self.file.write_all(b"\n")
        };
        self.error = write().err();
    }
}

fn failed(path: &Path, source: io::Error) -> Failure {
    Failure::Output { what: path.display().to_string(), source }
}

fn header(problem: &Problem, policy: &Policy) -> Result<QueryLogHeader, Failure> {
    let missing = || Failure::Internal("the network file of the policy is missing".to_owned());
    let input = problem.inputs.iter().find(|i| i.role == InputRole::Policy).ok_or_else(missing)?;
    let semantics = policy.semantics();
    let variables = problem.model.variables.iter();
    Ok(QueryLogHeader {
        format: "policert-queries".to_owned(),
        version: QUERY_LOG_VERSION,
        policert: VERSION.to_owned(),
        network: std::path::absolute(&input.path).unwrap_or_else(|_| input.path.clone()),
        network_sha256: input.sha256.clone(),
        trees: policy.trees().map(|trees| trees.trees().len()),
        variables: variables
            .map(|v| VariableRecord { name: v.name.clone(), domain: v.domain.into() })
            .collect(),
        inputs: policy.inputs().iter().map(|v| v.index()).collect(),
        outputs: policy
            .outputs()
            .iter()
            .map(|&label| problem.model.label_name(Some(label)).to_owned())
            .collect(),
        ties: semantics.ties,
        filter: semantics.filter,
        numbers: semantics.numbers,
        applicable: None,
    })
}

impl Recorder for QueryLog<'_> {
    fn begin(&mut self, applicable: &[Condition]) {
        if self.header.filter == Filter::Applicable {
            let conditions = applicable.iter().map(|c| ConditionRecord::new(self.model, c));
            self.header.applicable = Some(conditions.collect());
        }
    }

    fn enter(&mut self) {
        if self.regions == 0 {
            self.write_header();
        }
        self.regions += 1;
    }

    fn record(&mut self, asked: &AskedQuery<'_>) {
        let query = &asked.query;
        let conditions = query.conditions.iter().map(|c| ConditionRecord::new(self.model, c));
        let (answer, witness) = match asked.answer {
            Answer::Refuted => (AnswerRecord::Refuted, None),
            Answer::Possible(witness) => (AnswerRecord::Possible, witness.clone()),
        };
        let record = QueryRecord {
            region: self.regions.saturating_sub(1),
            output: query.output,
            relaxed: asked.values == Values::Reals,
            sides: query.region.sides().iter().map(|&side| side.into()).collect(),
            conditions: conditions.collect(),
            answer,
            witness,
            time_us: asked.time.as_secs_f64() * 1e6,
        };
        self.write(&record);
        self.queries += 1;
    }
}
