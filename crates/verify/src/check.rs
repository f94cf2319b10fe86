//! `policert check`: what a model, a property and a policy are, and what does not fit.

mod divisions;
mod domain_exits;
mod sizes;

use policert_engine_api::{Budget, CancelFlag, Limits};
use policert_jani::Loaded;
use policert_jani::property::StandardProperty;
use policert_model::SafetyProperty;
use policert_outcome::{ExitStatus, Failure, Finding, Outcome, Remarks, digests_if_readable};
use policert_problem::{Files, ProblemOptions, direction, load, policy};
use serde::Serialize;

pub use policert_model::BY_ZERO;

use divisions::divisions_by_variables;
use domain_exits::domain_exits;
pub use domain_exits::{DomainExit, DomainExits};
pub use sizes::{LabelSummary, ModelSummary, OperatorCount, PolicySummary, PropertySummary};

/// The report that `policert check --json` writes.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct CheckReport {
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
}

/// Looks at a model, a property and a policy, as far as they can be read.
pub fn check(options: &ProblemOptions, cancel: &CancelFlag) -> Outcome<CheckReport> {
    Outcome::of(CheckReport::default(), |outcome| {
        cancel.check()?;
        let mut budget = Budget::new(Limits::default(), cancel.clone());
        let Outcome { report, remarks, .. } = outcome;
        let mut check = Check { options, budget: &mut budget, remarks, files: Vec::new() };
        let filled = check.fill(report);
        let files = check.files;
        outcome.remarks.inputs = digests_if_readable(files, &budget)?;
        filled.map(|()| ExitStatus::Safe)
    })
}

struct Check<'a> {
    options: &'a ProblemOptions,
    budget: &'a mut Budget,
    remarks: &'a mut Remarks,
    files: Files,
}

impl Check<'_> {
    /// Fills the report. Property and policy are looked at both, even if one is wrong.
    fn fill(&mut self, report: &mut CheckReport) -> Result<(), Failure> {
        self.files.extend(load::model_files(self.options));
        let source = load::model(self.options, self.budget, self.remarks)?;
        let (Some(model), Some(written)) = (source.model(), source.summary()) else {
            return Err(Failure::Internal("a model without diagnostics is missing".to_owned()));
        };
        report.model = Some(ModelSummary::new(model, written, self.budget));
        let mut findings = Vec::new();
        let property = keep(self.property(&source), &mut findings)?.flatten();
        report.property = property
            .as_ref()
            .map(|(p, standard)| PropertySummary::new(model, p, standard.as_ref()));
        let interface = property.and_then(|(property, _)| property.interface);
        let expressions = load::ModelExpressions::new(&source);
        let interface = interface.as_deref();
        let fitted = policy::load(
            self.options,
            (model, source.task.as_ref()),
            &expressions,
            interface,
            self.budget,
            &mut self.files,
        );
        let fitted = keep(fitted, &mut findings)?.flatten();
        let learned = fitted.as_ref().map(|fitted| {
            let outputs = fitted.policy.outputs();
            outputs.iter().map(|&label| model.label_name(Some(label))).collect::<Vec<_>>()
        });
        report.labels = sizes::labels(model, learned.as_deref());
        report.policy = fitted.as_ref().map(|fitted| PolicySummary::new(model, &fitted.policy));
        if let Some(fitted) = fitted {
            self.remarks.warnings.extend(fitted.warnings);
            self.remarks.notes.extend(fitted.notes);
        }
        report.divisions_by_variables = divisions_by_variables(model);
        report.domain_exits = Some(domain_exits(model, self.budget)?);
        if findings.is_empty() { Ok(()) } else { Err(Failure::Findings(findings)) }
    }

    /// The property that is meant; none if the model has none and none is named.
    fn property(&mut self, source: &Loaded) -> Result<Option<AnyProperty>, Failure> {
        match load::selector(self.options, source) {
            Ok(selector) => {
                let found = load::any_property(
                    self.options,
                    source,
                    &selector,
                    self.budget,
                    self.remarks,
                    &mut self.files,
                );
                let (property, _, standard) = found?;
                if let Some(standard) = &standard {
                    direction(standard)?;
                }
                Ok(Some((property, standard)))
            }
            Err(Failure::Usage(message)) => {
                self.remarks.notes.push(message);
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }
}

/// A safety property, or the one that stands for a standard one.
type AnyProperty = (SafetyProperty, Option<StandardProperty>);

/// Keeps problems for later; anything else ends the check.
fn keep<T>(result: Result<T, Failure>, findings: &mut Vec<Finding>) -> Result<Option<T>, Failure> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Findings(found)) => {
            findings.extend(found);
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}
