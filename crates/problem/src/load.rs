//! Loading a problem: model, then property, then policy, and what they say about each other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use policert_engine_api::{Budget, StopReason};
use policert_jani::diagnostic::DiagnosticCode;
use policert_jani::property::{Property, StandardProperty, TrainingRewards};
use policert_jani::{
    Diagnostic, LoadOptions, Loaded, PropertyKey, Selector, Severity, StopCheck, load_model,
};
use policert_model::{Condition, Expr, InitialValue, Model, Observable, SafetyProperty, Start};
use policert_outcome::{DigestError, Failure, Finding, InputRole, Remarks};
use policert_policy::LoadedPolicy;
use policert_policy::interface::NamedExpressions;
use policert_ppa::SplitsError;

use crate::files::Files;
use crate::kept_policy::taken;
use crate::probability_question::as_safety;
use crate::semantics::semantics;
use crate::{
    InitialStates, ModelSource, PolicySource, Predicates, Probabilities, Problem, ProblemOptions,
    ProblemRecord, QuestionAim, TerminalChoice, is_reachability, pddl, policy, reaching,
    without_effect,
};

impl Problem {
    /// Loads what the options name. What is found on the way goes to `remarks`, also if loading
    /// fails.
    ///
    /// # Errors
    /// Inputs that are wrong or not supported, with all problems of the first stage that fails; a
    /// property that is no safety property; a stop of the budget.
    pub fn load(
        options: &ProblemOptions,
        budget: &Budget,
        remarks: &mut Remarks,
    ) -> Result<Self, Failure> {
        let problem = Self::load_any(options, budget, remarks)?;
        match problem.standard {
            Some(_) => Err(no_safety_property(&problem.property.name)),
            None => Ok(problem),
        }
    }

    /// As [`Problem::load`], but the property may be a standard one.
    ///
    /// # Errors
    /// As [`Problem::load`].
    pub fn load_any(
        options: &ProblemOptions,
        budget: &Budget,
        remarks: &mut Remarks,
    ) -> Result<Self, Failure> {
        let mut files = model_files(options);
        let result = load(options, budget, remarks, &mut files);
        if let Err(failure @ Failure::Stopped(_)) = result {
            return Err(failure);
        }
        remarks.files = files.iter().map(|(_, path)| path.clone()).collect();
        // Also of a run that failed, as far as its files can be read.
        files.retain(|_| options.digests);
        match options.kept.digests.digests(files, budget) {
            Ok(inputs) => remarks.inputs = inputs,
            Err((_, DigestError::Stop(reason))) => return Err(Failure::Stopped(reason)),
            Err((path, error)) if result.is_ok() => {
                return Err(Failure::invalid(format!("{}: {error}", path.display())));
            }
            Err(_) => {}
        }
        let mut problem = result?;
        problem.inputs.clone_from(&remarks.inputs);
        Ok(problem)
    }
}

fn load(
    options: &ProblemOptions,
    budget: &Budget,
    remarks: &mut Remarks,
    files: &mut Files,
) -> Result<Problem, Failure> {
    let source = model(options, budget, remarks)?;
    let selector = selector(options, &source)?;
    let (mut property, rewards, standard) =
        any_property(options, &source, &selector, budget, remarks, files)?;
    choose_predicates(options, &source, &mut property)?;
    choose_goal(options, &source, &mut property)?;
    let terminal = terminal(options, &source, &property)?;
    let (record, policy) = {
        let model = source.model().ok_or_else(no_model)?;
        let interface = property.interface.as_deref();
        let asked = (options, &source, interface);
        let fitted = options.kept.policy.or_read(asked, budget, files, |files| {
            let expressions = ModelExpressions::new(&source);
            let planned = (model, source.task.as_ref());
            policy::load(options, planned, &expressions, interface, budget, files)
        })?;
        without_effect::refuse(options, &property, fitted.is_some())?;
        (record(options, &source, &selector, &property, fitted.as_deref()), fitted)
    };
    let is_markov_chain = source.summary().is_some_and(|summary| summary.model_type == "dtmc");
    let never = policy.as_ref().map(|fitted| fitted.never.as_slice()).unwrap_or_default();
    let model = Arc::try_unwrap(source)
        .map_or_else(|kept| kept.model().cloned(), ModelSource::into_model)
        .ok_or_else(no_model)?
        .without_labels(never);
    remark(options, &property, policy.as_deref(), remarks);
    let rules = policy.as_ref().map(|fitted| &fitted.policy);
    let semantics = semantics(options, &model, &property, rules, never, terminal.as_ref());
    Ok(Problem {
        model,
        property,
        standard,
        is_markov_chain,
        rewards,
        policy: policy.map(taken),
        semantics,
        record,
        inputs: Vec::new(),
        terminal,
        options: options.clone(),
        ignored_keys: std::mem::take(&mut remarks.ignored_keys),
    })
}

/// Says what interfaces may say about the states of a model that was loaded.
pub struct ModelExpressions<'a> {
    source: &'a Loaded,
    observables: Vec<Observable>,
}

impl<'a> ModelExpressions<'a> {
    /// Those of this model.
    #[must_use]
    pub fn new(source: &'a Loaded) -> Self {
        Self { source, observables: source.observables() }
    }
}

impl NamedExpressions for ModelExpressions<'_> {
    fn observables(&self) -> &[Observable] {
        &self.observables
    }

    fn expression(&self, text: &str) -> Result<Expr, String> {
        self.source.expression(text).map_err(|diagnostics| {
            let message = |diagnostic: &Diagnostic| match &diagnostic.place {
                Some(place) => format!("{} (at character {})", diagnostic.message, place.column),
                None => diagnostic.message.clone(),
            };
            let messages: Vec<String> = diagnostics.iter().map(message).collect();
            format!("`{text}`: {}", messages.join("; "))
        })
    }
}

/// The files that a model is in.
#[must_use]
pub fn model_files(options: &ProblemOptions) -> Files {
    let files = std::iter::once(&options.model).chain(&options.pddl_problem);
    files.map(|path| (InputRole::Model, path.clone())).collect()
}

fn no_model() -> Failure {
    Failure::Internal("a model without diagnostics is missing".to_owned())
}

/// Loads the model, unless the options keep it.
pub fn model(
    options: &ProblemOptions,
    budget: &Budget,
    remarks: &mut Remarks,
) -> Result<Arc<ModelSource>, Failure> {
    let source = options.kept.model.or_read(options, budget, || read(options, budget))?;
    accept(source.diagnostics(), remarks)?;
    if source.model().is_none() { Err(no_model()) } else { Ok(source) }
}

fn read(options: &ProblemOptions, budget: &Budget) -> Result<ModelSource, Failure> {
    let jani = LoadOptions {
        constants: options.constants.clone(),
        exact_probabilities: options.probabilities == Probabilities::Exact,
        stop: stop_check(budget),
    };
    let source = match &options.pddl_problem {
        Some(problem) => pddl::load(options, problem, &jani, budget)?,
        None => ModelSource::new(load_model(&options.model, &jani), None),
    };
    if source.was_stopped() {
        return Err(stopped(budget));
    }
    if source.model().is_none() && pddl::is_domain(options) {
        return Err(pddl::no_problem(&options.model));
    }
    Ok(source)
}

/// Asks a budget whether to go on reading.
fn stop_check(budget: &Budget) -> StopCheck {
    let polled = Mutex::new(budget.fork());
    StopCheck::new(move || polled.lock().map_or(true, |mut budget| budget.poll_clock().is_err()))
}

/// Returns why loading was stopped: what the budget says, or a limit on memory that it was beyond
/// for a moment.
pub(crate) fn stopped(budget: &Budget) -> Failure {
    let reason = budget.fork().poll_clock().err();
    Failure::Stopped(reason.unwrap_or(StopReason::Memory))
}

/// Keeps warnings and notes; errors are a failure.
fn accept(diagnostics: &[Diagnostic], remarks: &mut Remarks) -> Result<(), Failure> {
    let mut findings = Vec::new();
    for diagnostic in diagnostics {
        if diagnostic.code == DiagnosticCode::MisspeltKey {
            remarks.ignored_keys.push(diagnostic.message.clone());
        }
        match diagnostic.severity {
            Severity::Error => findings.push(Finding::from(diagnostic)),
            Severity::Warning => remarks.warnings.push(with_place(diagnostic)),
            Severity::Note => remarks.notes.push(with_place(diagnostic)),
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(Failure::Findings(findings)) }
}

/// A warning or note in one line.
fn with_place(diagnostic: &Diagnostic) -> String {
    let times = match diagnostic.repeated {
        0 => String::new(),
        n => format!(" and {n} more places"),
    };
    match &diagnostic.place {
        Some(place) => format!(
            "{} ({}:{}:{}{times})",
            diagnostic.message,
            policert_files::path(&place.file),
            place.line,
            place.column
        ),
        None => diagnostic.message.clone(),
    }
}

/// The property that is meant.
pub fn selector(options: &ProblemOptions, source: &Loaded) -> Result<Selector, Failure> {
    if let Some(text) = &options.property {
        return Ok(source.selector(text));
    }
    let own = source.own_properties();
    let first = own.iter().position(|property| property.is_policy_property);
    match (first, own.len()) {
        (Some(index), _) => Ok(Selector::Own(PropertyKey::Index(index))),
        (None, 1) => Ok(Selector::Own(PropertyKey::Index(0))),
        (None, 0) => Err(Failure::Usage(format!(
            "{} has no property of its own: name one with --property FILE:N",
            options.model.display()
        ))),
        (None, _) => {
            let names: Vec<&str> = own.iter().map(|property| property.name.as_str()).collect();
            Err(Failure::Usage(format!(
                "{} has no safety property (PA) of its own: name one with --property FILE:N, or \
                 one of its others with --property NAME: {}",
                options.model.display(),
                names.join(", ")
            )))
        }
    }
}

fn no_safety_property(name: &str) -> Failure {
    Failure::unsupported(format!(
        "unsupported: property `{name}` is a standard property; here a safety (PA) property is \
         needed"
    ))
}

/// Loads a property, with the unsafe and start states that are given in place of its own; a standard
/// one comes with the safety property that stands for it.
pub fn any_property(
    options: &ProblemOptions,
    source: &Loaded,
    selector: &Selector,
    budget: &Budget,
    remarks: &mut Remarks,
    files: &mut Files,
) -> Result<(SafetyProperty, TrainingRewards, Option<StandardProperty>), Failure> {
    let found = source.property_until(selector, stop_check(budget));
    if found.stopped {
        return Err(stopped(budget));
    }
    files.extend(found.files.into_iter().map(|path| (InputRole::Property, path)));
    accept(&found.diagnostics, remarks)?;
    match found.property {
        Some(Property::Safety(mut safety)) => {
            choose_unsafe(options, source, &mut safety)?;
            choose_start(options, source, &mut safety, files)?;
            Ok((safety, found.rewards, None))
        }
        Some(Property::Standard(standard)) => {
            let given = [("--unsafe", &options.unsafe_states), ("--start", &options.start_states)];
            if let Some((option, _)) = given.iter().find(|(_, text)| text.is_some()) {
                let name = &standard.name;
                let what = "a standard property, which says itself what is reached from where";
                let message = format!("{option} has no effect: property `{name}` is {what}");
                return Err(Failure::Usage(message));
            }
            let safety = reaching(&standard);
            let one = source.model().is_some_and(has_one_initial_state);
            if is_reachability(&standard, one) {
                remarks.notes.push(as_safety(&standard));
                return Ok((safety, found.rewards, None));
            }
            Ok((safety, found.rewards, Some(standard)))
        }
        None => Err(Failure::Internal("a property without diagnostics is missing".to_owned())),
    }
}

/// Returns whether the model has at most one initial state, as far as its form shows.
fn has_one_initial_state(model: &Model) -> bool {
    let fixed = |value: &InitialValue| matches!(value, InitialValue::Fixed(_));
    model.initial_values.iter().all(fixed)
}

/// Replaces the predicates of the property by those that are asked for.
fn choose_predicates(
    options: &ProblemOptions,
    source: &Loaded,
    property: &mut SafetyProperty,
) -> Result<(), Failure> {
    match &options.predicates {
        Predicates::OfProperty => {}
        Predicates::None => property.predicates.clear(),
        Predicates::Splits(splits) => {
            let model = source.model().ok_or_else(no_model)?;
            property.predicates = splits.predicates(model).map_err(|error| match error {
                SplitsError::Percent(_) | SplitsError::NoVariable(_) => {
                    Failure::Usage(format!("--predicates {error}"))
                }
                other => Failure::unsupported(format!("--predicates {other}")),
            })?;
        }
    }
    Ok(())
}

/// Replaces the unsafe states of the property by those that are given.
fn choose_unsafe(
    options: &ProblemOptions,
    source: &Loaded,
    property: &mut SafetyProperty,
) -> Result<(), Failure> {
    if let Some(text) = &options.unsafe_states {
        property.unsafe_condition = condition(source, "--unsafe", text)?;
    }
    Ok(())
}

/// Replaces the start states of the property by those that are given.
fn choose_start(
    options: &ProblemOptions,
    source: &Loaded,
    property: &mut SafetyProperty,
    files: &mut Files,
) -> Result<(), Failure> {
    let Some(text) = &options.start_states else { return Ok(()) };
    let path = Path::new(text);
    let start = if path.is_file() {
        files.push((InputRole::Property, path.to_owned()));
        let text = policert_files::read_text(path)
            .map_err(|error| Failure::invalid(format!("{}: {error}", path.display())))?;
        condition(source, "--start", text.trim())?
    } else {
        condition(source, "--start", text)?
    };
    property.start = Some(Start::Condition(start));
    Ok(())
}

/// Replaces the goal of the property by the one that is given. Where a goal is asked for, there has to be
/// one.
fn choose_goal(
    options: &ProblemOptions,
    source: &Loaded,
    property: &mut SafetyProperty,
) -> Result<(), Failure> {
    if let Some(text) = &options.goal {
        property.goal = Some(condition(source, "--goal", text)?);
    }
    if options.aim == QuestionAim::ReachGoal && property.goal.is_none() {
        return Err(Failure::Usage(format!(
            "--reach-goal: property `{}` has no objective with a goal; name one with --goal CONDITION",
            property.name
        )));
    }
    Ok(())
}

/// A condition that the command line gives.
fn condition(source: &Loaded, option: &'static str, text: &str) -> Result<Condition, Failure> {
    source.condition(text).map_err(|diagnostics| Failure::Expression {
        option,
        findings: diagnostics.iter().map(Finding::from).collect(),
    })
}

fn terminal(
    options: &ProblemOptions,
    source: &Loaded,
    property: &SafetyProperty,
) -> Result<Option<Condition>, Failure> {
    match &options.terminal {
        TerminalChoice::Nothing => Ok(None),
        TerminalChoice::Goal => match &property.goal {
            Some(goal) => Ok(Some(goal.clone())),
            None => Err(Failure::Usage(format!(
                "--terminal goal: property `{}` has no objective with a goal",
                property.name
            ))),
        },
        TerminalChoice::Condition(text) => condition(source, "--terminal", text).map(Some),
    }
}

fn record(
    options: &ProblemOptions,
    source: &Loaded,
    selector: &Selector,
    property: &SafetyProperty,
    policy: Option<&LoadedPolicy>,
) -> ProblemRecord {
    let (file, key) = match selector {
        Selector::Own(key) => (None, key),
        Selector::File(path, key) => (Some(path), key),
    };
    let text = |path: &PathBuf| path.display().to_string();
    ProblemRecord {
        model: text(&options.model),
        property: property.name.clone(),
        pddl_problem: options.pddl_problem.as_ref().map(text),
        unsafe_states: options.unsafe_states.clone(),
        start_states: options.start_states.clone(),
        property_file: file.map(text),
        property_index: match key {
            PropertyKey::Index(index) => Some(*index),
            PropertyKey::Name(name) if file.is_none() => {
                source.own_properties().iter().position(|own| own.name == *name)
            }
            PropertyKey::Name(_) => None,
        },
        constants: options
            .constants
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().into()))
            .collect(),
        interface: policy.and_then(|policy| policy.interface_file.as_ref()).map(text),
        policy: policy.map(|policy| text(&policy.network_file)),
        scores: options.scores.clone(),
        terminal: match &options.terminal {
            TerminalChoice::Nothing => None,
            TerminalChoice::Goal => Some("goal".to_owned()),
            TerminalChoice::Condition(text) => Some(text.clone()),
        },
        goal: options.goal.clone(),
        initial_states: options.initial_states == InitialStates::Included,
    }
}

/// Remarks on what to know before trusting a verdict, and what is worth knowing.
fn remark(
    options: &ProblemOptions,
    property: &SafetyProperty,
    policy: Option<&LoadedPolicy>,
    remarks: &mut Remarks,
) {
    match policy {
        Some(policy) => {
            remarks.warnings.extend(policy.warnings.iter().cloned());
            remarks.notes.extend(policy.notes.iter().cloned());
        }
        None if options.policy == PolicySource::None => {}
        None => remarks.notes.push(format!(
            "property `{}` names no policy and none is given: all actions are allowed",
            property.name
        )),
    }
}
