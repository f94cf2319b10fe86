//! `policert check`: what a model, a property and a policy are, and what does not fit.

mod divisions;
mod domain_exits;
mod sizes;

use std::time::Instant;

use policert_engine_api::{Budget, CancelFlag, Limits};
use policert_jani::Loaded as LoadedModel;
use policert_jani::property::StandardProperty;
use policert_model::SafetyProperty;
use serde::Serialize;

use crate::digest::{DigestError, InputRole, digests};
use crate::probability;
use crate::report::SCHEMA_VERSION;
use crate::task::{load, policy};
use crate::{ExitStatus, Failure, Input, Loaded, Problem, TaskOptions, VERSION};

pub use divisions::divisions_by_variables;
pub use domain_exits::{DomainExit, DomainExits, domain_exits};
pub use sizes::{LabelSummary, ModelSummary, OperatorCount, PolicySummary, PropertySummary};

/// What `policert check --json` writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CheckReport {
    /// Version of the schema.
    pub schema_version: u32,
    /// Version of the program.
    pub version: String,
    /// The exit code.
    pub exit_code: u8,
    /// The model in numbers.
    pub model: Option<ModelSummary>,
    /// Labels that operators carry.
    pub labels: Vec<LabelSummary>,
    /// The property in numbers.
    pub property: Option<PropertySummary>,
    /// The policy in numbers.
    pub policy: Option<PolicySummary>,
    /// Operators that can leave a domain.
    pub domain_exits: Option<DomainExits>,
    /// Divisions and moduli whose divisor is not constant.
    pub divisions_by_variables: usize,
    /// What should be looked at.
    pub warnings: Vec<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
    /// What is wrong.
    pub errors: Vec<Problem>,
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// Wall-clock time in seconds.
    pub time_s: f64,
}

/// What came out of a check.
#[derive(Debug)]
pub struct Checked {
    /// The result as data.
    pub report: CheckReport,
    /// What is wrong, if something is.
    pub failure: Option<Failure>,
    /// The status that the check ends with.
    pub status: ExitStatus,
}

/// Looks at a model, a property and a policy, as far as they can be read.
pub fn check(options: &TaskOptions, cancel: &CancelFlag) -> Checked {
    let begin = Instant::now();
    let mut budget = Budget::new(Limits::default(), cancel.clone());
    let mut check =
        Check { options, budget: &mut budget, loaded: Loaded::default(), files: Vec::new() };
    let mut report = CheckReport {
        schema_version: SCHEMA_VERSION,
        version: VERSION.to_owned(),
        exit_code: ExitStatus::Safe.code(),
        model: None,
        labels: Vec::new(),
        property: None,
        policy: None,
        domain_exits: None,
        divisions_by_variables: 0,
        warnings: Vec::new(),
        notes: Vec::new(),
        errors: Vec::new(),
        inputs: Vec::new(),
        time_s: 0.0,
    };
    let stopped = cancel.check().map_err(Failure::from);
    let mut failure = stopped.and_then(|()| check.fill(&mut report)).err();
    match digests(std::mem::take(&mut check.files), check.budget) {
        Ok(inputs) => report.inputs = inputs,
        Err((_, DigestError::Stop(reason))) => failure = Some(Failure::Stopped(reason)),
        // Whoever reads the file says what is wrong.
        Err((_, DigestError::Io(_))) => {}
    }
    let status = failure.as_ref().map_or(ExitStatus::Safe, Failure::status);
    if let Some(Failure::Problems(problems)) = &failure {
        report.errors.clone_from(problems);
    }
    report.warnings = check.loaded.warnings;
    report.notes = check.loaded.notes;
    report.exit_code = status.code();
    report.time_s = begin.elapsed().as_secs_f64();
    Checked { report, failure, status }
}

struct Check<'a> {
    options: &'a TaskOptions,
    budget: &'a mut Budget,
    loaded: Loaded,
    files: load::Files,
}

impl Check<'_> {
    /// Fills the report. Property and policy are looked at both, even if one is wrong.
    fn fill(&mut self, report: &mut CheckReport) -> Result<(), Failure> {
        self.files.push((InputRole::Model, self.options.model.clone()));
        let source = load::model(self.options, self.budget, &mut self.loaded)?;
        let (Some(model), Some(written)) = (source.model(), source.summary()) else {
            return Err(Failure::Internal("a model without diagnostics is missing".to_owned()));
        };
        report.model = Some(ModelSummary::new(model, written, self.budget));
        let mut problems = Vec::new();
        let property = keep(self.property(&source), &mut problems)?.flatten();
        report.property = property
            .as_ref()
            .map(|(p, standard)| PropertySummary::new(model, p, standard.as_ref()));
        let interface = property.and_then(|(property, _)| property.interface);
        let observables = source.observables();
        let interface = interface.as_deref();
        let fitted = policy::load(
            self.options,
            model,
            &observables,
            interface,
            self.budget,
            &mut self.files,
        );
        let fitted = keep(fitted, &mut problems)?.flatten();
        let learned = fitted.as_ref().map(|fitted| {
            let outputs = fitted.policy.outputs();
            outputs.iter().map(|&label| model.label_name(Some(label))).collect::<Vec<_>>()
        });
        report.labels = sizes::labels(model, learned.as_deref());
        report.policy = fitted.as_ref().map(|fitted| PolicySummary::new(model, &fitted.policy));
        if let Some(fitted) = fitted {
            self.loaded.warnings.extend(fitted.warnings);
            self.loaded.notes.extend(fitted.notes);
        }
        report.divisions_by_variables = divisions_by_variables(model);
        report.domain_exits = Some(domain_exits(model, self.budget)?);
        if problems.is_empty() { Ok(()) } else { Err(Failure::Problems(problems)) }
    }

    /// The property that is meant; none if the model has none and none is named.
    fn property(&mut self, source: &LoadedModel) -> Result<Option<AnyProperty>, Failure> {
        match load::selector(self.options, source) {
            Ok(selector) => {
                let found = load::any_property(
                    source,
                    &selector,
                    self.budget,
                    &mut self.loaded,
                    &mut self.files,
                );
                let (property, _, standard) = found?;
                if let Some(standard) = &standard {
                    probability::direction(standard)?;
                }
                Ok(Some((property, standard)))
            }
            Err(Failure::Usage(message)) => {
                self.loaded.notes.push(message);
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }
}

/// A safety property, or the one that stands for a standard one.
type AnyProperty = (SafetyProperty, Option<StandardProperty>);

/// Keeps problems for later; anything else ends the check.
fn keep<T>(result: Result<T, Failure>, problems: &mut Vec<Problem>) -> Result<Option<T>, Failure> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Problems(found)) => {
            problems.extend(found);
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}
