//! The commands as functions: options as dictionaries, outcomes as JSON.

use std::path::PathBuf;

use clap::ValueEnum;
use policert_engine_api::Budget;
use policert_evidence::CertifyRequest;
use policert_explore::Rollout;
use policert_lab::{
    ConvertFormat, ConvertRequest, PolicyEncoding, SimulateRequest, SkeletonRequest,
};
use policert_numeric::Rational;
use policert_outcome::{Failure, Remarks};
use policert_problem::{Problem, ProblemOptions};
use policert_query::QueryRequest;
use policert_verify::reach::{GoalRule, InitialRange, ReachRequest};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::json;

use crate::failure::{failed, usage};
use crate::options::{Answering, Bounds, Task, request};
use crate::run::{json as text, run};
use crate::spaces::check_state;

/// The version, with the parts that this build has.
#[pyfunction]
pub fn version() -> String {
    policert_verify::version_with_parts(option_env!("POLICERT_COMMIT"))
}

/// Verifies a policy; the outcome, the trace and the evidence.
#[pyfunction]
#[pyo3(signature = (task, answering, bounds, progress=None))]
pub fn verify(
    py: Python<'_>,
    task: Task,
    answering: Answering,
    bounds: Bounds,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let request = request(&task, &answering, &bounds)?;
    let outcome =
        run(py, progress, |cancel, observer| policert_verify::verify(&request, cancel, observer))?;
    let report = &outcome.report;
    text(&Told {
        outcome: &outcome,
        evidence: &report.evidence,
        start_states: &report.start_states,
        no_evidence: &report.no_evidence,
    })
}

/// An outcome with what the command line writes to files of their own.
#[derive(Serialize)]
struct Told<'a, O, E, S> {
    #[serde(flatten)]
    outcome: &'a O,
    evidence: &'a E,
    start_states: &'a S,
    no_evidence: &'a str,
}

/// Random runs.
#[pyfunction]
#[pyo3(signature = (task, bounds, runs, steps, seed, past_goal, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the options of the command")]
pub fn simulate(
    py: Python<'_>,
    task: Task,
    bounds: Bounds,
    runs: u64,
    steps: u32,
    seed: u64,
    past_goal: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let request = SimulateRequest {
        runs: runs.max(1),
        steps,
        seed,
        past_goal,
        limits: bounds.limits()?,
        ..SimulateRequest::new(task.options()?)
    };
    let outcome =
        run(py, progress, |cancel, observer| policert_lab::simulate(&request, cancel, observer))?;
    text(&outcome)
}

/// The reachable boxes of a control loop.
#[pyfunction]
#[pyo3(signature = (file, bounds, instance=None, initial=Vec::new(), threads=1, record=false, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the options of the command")]
pub fn reach(
    py: Python<'_>,
    file: PathBuf,
    bounds: Bounds,
    instance: Option<String>,
    initial: Vec<Side>,
    threads: u16,
    record: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let number = |text: &String| {
        let wrong = |_| usage(format!("initial: `{text}` is no number such as 0.25 or 1/3"));
        text.parse::<Rational>().map_err(wrong)
    };
    let range = |(variable, lower, upper): &Side| {
        let (lower, upper) = (number(lower)?, number(upper)?);
        Ok(InitialRange { variable: variable.clone(), lower, upper })
    };
    let request = ReachRequest {
        initial: initial.iter().map(range).collect::<PyResult<_>>()?,
        instance,
        threads: threads.max(1),
        limits: bounds.limits()?,
        record,
        ..ReachRequest::new(file)
    };
    let outcome = run(py, progress, |cancel, observer| {
        policert_verify::reach::reach(&request, cancel, observer)
    })?;
    text(&outcome)
}

/// A variable with its least and greatest value, as fractions.
type Side = (String, String, String);

/// The initial box of a control loop, each variable with its bounds, and whether all trajectories are to be
/// in a goal at once.
#[pyfunction]
#[pyo3(signature = (file, instance=None))]
pub fn initial_box(file: PathBuf, instance: Option<&str>) -> PyResult<(Vec<Side>, bool)> {
    let task = policert_problem::control_loop::read(&file, instance);
    let task = task.map_err(|failure| failed(&failure))?;
    let sides = task.state.iter().zip(&task.initial);
    let sides = sides.map(|(name, (low, high))| (name.clone(), low.to_string(), high.to_string()));
    let is_all_at_once = task.goal.is_some() && task.question.goal == GoalRule::AllAtOnce;
    Ok((sides.collect(), is_all_at_once))
}

/// A property of a network.
#[pyfunction]
#[pyo3(signature = (network, property, bounds, progress=None))]
pub fn query(
    py: Python<'_>,
    network: PathBuf,
    property: PathBuf,
    bounds: Bounds,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let request = QueryRequest { limits: bounds.limits()?, ..QueryRequest::new(network, property) };
    let outcome =
        run(py, progress, |cancel, observer| policert_query::query(&request, cancel, observer))?;
    text(&outcome)
}

/// Checks evidence.
#[pyfunction]
#[pyo3(signature = (evidence, bounds, progress=None))]
pub fn certify(
    py: Python<'_>,
    evidence: PathBuf,
    bounds: Bounds,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let request = CertifyRequest { evidence, limits: bounds.limits()? };
    let outcome = run(py, progress, |cancel, observer| {
        policert_evidence::certify(&request, cancel, observer)
    })?;
    text(&outcome)
}

/// Writes a question for another model checker.
#[pyfunction]
#[pyo3(signature = (task, bounds, format, output, encoding=None, progress=None))]
pub fn convert(
    py: Python<'_>,
    task: Task,
    bounds: Bounds,
    format: &str,
    output: PathBuf,
    encoding: Option<&str>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let known = ConvertFormat::from_str(format, false);
    let format =
        known.map_err(|_| usage(format!("format: `{format}` is none of jani, prism and drn")))?;
    let policy = encoding.map(str::parse::<PolicyEncoding>).transpose();
    let policy = policy.map_err(|error| usage(format!("policy_as_automaton: {error}")))?;
    let (problem, limits) = (task.options()?, bounds.limits()?);
    let request = ConvertRequest { problem, format, policy, limits, output };
    let outcome =
        run(py, progress, |cancel, observer| policert_lab::convert(&request, cancel, observer))?;
    text(&outcome)
}

/// Writes a first interface; remarks on what was guessed, and why it does not fit yet, if it does not.
#[pyfunction]
pub fn interface(
    files: (PathBuf, Option<PathBuf>),
    constants: Vec<(String, String)>,
    policy: PathBuf,
    output: PathBuf,
) -> PyResult<(Vec<String>, Option<String>)> {
    let ((model, pddl_problem), scores, force) = (files, None, true);
    let request = SkeletonRequest { model, pddl_problem, constants, policy, scores, output, force };
    let written = policert_lab::write_skeleton(&request).map_err(|failure| failed(&failure))?;
    Ok((written.notes, written.misfit))
}

/// Names and domains of a model, its labels and its properties, as JSON.
#[pyfunction]
pub fn shape(task: Task) -> PyResult<String> {
    let options = task.options()?;
    let mut remarks = Remarks::default();
    let loaded = policert_problem::load::model(&options, &Budget::unlimited(), &mut remarks);
    let source = loaded.map_err(|failure| failed(&failure))?;
    let Some(model) = source.model() else {
        return Err(failed(&Failure::Internal("no model".to_owned())));
    };
    let variables = model.variables.iter().map(|variable| {
        json!({
            "name": variable.name,
            "lower": variable.domain.lo,
            "upper": variable.domain.hi,
            "is_location": variable.is_location(),
        })
    });
    let properties = source
        .own_properties()
        .iter()
        .map(|property| json!({ "name": property.name, "is_safety": property.is_policy_property }));
    text(&json!({
        "name": model.name,
        "variables": variables.collect::<Vec<_>>(),
        "labels": model.labels,
        "properties": properties.collect::<Vec<_>>(),
        "warnings": remarks.warnings,
        "notes": remarks.notes,
    }))
}

/// The labels that the policy chooses in each of some states.
#[pyfunction]
pub fn choices(task: Task, states: Vec<Vec<i64>>) -> PyResult<Vec<Vec<String>>> {
    chosen(&task.options()?, &states).map_err(|failure| failed(&failure))
}

fn chosen(options: &ProblemOptions, states: &[Vec<i64>]) -> Result<Vec<Vec<String>>, Failure> {
    let problem = Problem::load_any(options, &Budget::unlimited(), &mut Remarks::default())?;
    let Some(policy) = &problem.policy else {
        return Err(Failure::Usage("there is no policy".to_owned()));
    };
    let question = problem.question();
    let mut rollout = Rollout::new(&question, policy.outputs());
    let mut chooser = policy.chooser();
    let domains = problem.model.domains();
    let (mut all, mut inputs) = (Vec::new(), Vec::new());
    for state in states {
        check_state(&domains, state)?;
        rollout.enter(state)?;
        inputs.clear();
        policy.read_inputs(rollout.state(), &mut inputs);
        let choice = chooser.choose(&inputs, rollout.applicable());
        let name = |&output: &usize| problem.model.label_name(Some(policy.outputs()[output]));
        all.push(choice.outputs().iter().map(|output| name(output).to_owned()).collect());
    }
    Ok(all)
}
