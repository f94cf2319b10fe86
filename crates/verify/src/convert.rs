//! `policert convert`: a question for other model checkers.

use std::path::PathBuf;
use std::time::Instant;

use policert_convert::{
    Conversion, ConvertError, PolicyEncoding, Reach, WrittenNetwork, drn_text, jani_text,
    prism_properties, prism_text,
};
use policert_engine_api::{Budget, CancelFlag, Event, Limits, Observer};
use policert_explore::{ExplicitConfig, induced_mdp};
use serde::Serialize;

use crate::atomic_file::write_text;
use crate::probability::{Asked, check_chain};
use crate::report::SCHEMA_VERSION;
use crate::{ExitStatus, Failure, Input, Loaded, OutputFiles, Task, TaskOptions, VERSION};

/// In which format a question is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConvertFormat {
    /// JANI.
    Jani,
    /// The language of PRISM, with a file of properties beside.
    Prism,
    /// The explicit Markov decision process that the policy leaves, in Storm's format.
    Drn,
}

/// What is converted, and where it goes.
#[derive(Clone, Debug)]
pub struct ConvertRequest {
    /// Model, property and policy.
    pub task: TaskOptions,
    /// The format.
    pub format: ConvertFormat,
    /// How the policy is written in JANI and PRISM.
    pub policy: Option<PolicyEncoding>,
    /// What may be used to build states.
    pub limits: Limits,
    /// The file that is written.
    pub output: PathBuf,
}

impl ConvertRequest {
    /// The file of properties, of a format that has one.
    #[must_use]
    pub fn properties(&self) -> Option<PathBuf> {
        (self.format == ConvertFormat::Prism).then(|| self.output.with_extension("props"))
    }
}

/// What `policert convert --json` writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ConvertReport {
    /// Version of the schema.
    pub schema_version: u32,
    /// Version of the program.
    pub version: String,
    /// The exit code.
    pub exit_code: u8,
    /// Why nothing was written; `null` if it was.
    pub reason: Option<String>,
    /// The format.
    pub format: ConvertFormat,
    /// Name of the model.
    pub model: Option<String>,
    /// Name of the property.
    pub property: Option<String>,
    /// The files, once they are written.
    pub outputs: Vec<PathBuf>,
    /// Variables of the automata.
    pub variables: Option<usize>,
    /// Edges of the automata.
    pub edges: Option<usize>,
    /// States of the explicit process.
    pub states: Option<u64>,
    /// What to know about the file.
    pub notes: Vec<String>,
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// Wall-clock time in seconds.
    pub time_s: f64,
}

/// What came out.
#[derive(Debug)]
pub struct ConvertOutcome {
    /// The result as data.
    pub report: ConvertReport,
    /// What is wrong, if something is.
    pub failure: Option<Failure>,
    /// The status that the run ends with.
    pub status: ExitStatus,
}

/// Writes a question in the format of other model checkers.
pub fn convert(
    request: &ConvertRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> ConvertOutcome {
    let begin = Instant::now();
    let mut report = ConvertReport {
        schema_version: SCHEMA_VERSION,
        version: VERSION.to_owned(),
        exit_code: 0,
        reason: None,
        format: request.format,
        model: None,
        property: None,
        outputs: Vec::new(),
        variables: None,
        edges: None,
        states: None,
        notes: Vec::new(),
        inputs: Vec::new(),
        time_s: 0.0,
    };
    let (status, failure) = match run(request, cancel, observer, &mut report) {
        Ok(()) => (ExitStatus::Safe, None),
        Err(failure) => {
            report.reason = Some(failure.to_string());
            (failure.status(), Some(failure))
        }
    };
    report.exit_code = status.code();
    report.time_s = begin.elapsed().as_secs_f64();
    ConvertOutcome { report, failure, status }
}

fn run(
    request: &ConvertRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
    report: &mut ConvertReport,
) -> Result<(), Failure> {
    cancel.check()?;
    observer.event(Event::Phase("load"));
    let mut loaded = Loaded::default();
    let mut budget = Budget::new(request.limits.clone(), cancel.clone());
    let task = Task::load_any(&request.task, &budget, &mut loaded);
    report.inputs = loaded.inputs;
    let task = task?;
    let properties = request.properties();
    let outputs = OutputFiles::new([
        ("--output", Some(request.output.as_path())),
        ("the file of properties", properties.as_deref()),
    ]);
    let read: Vec<PathBuf> = report.inputs.iter().map(|input| PathBuf::from(&input.path)).collect();
    outputs.check_inputs(read.iter().map(PathBuf::as_path))?;
    report.model = Some(task.model.name.clone());
    report.property = Some(task.property.name.clone());
    let asked = Asked::new(&task, None)?;
    if asked.complement {
        let note = "the property asks for what holds for ever: 1 minus the probability written";
        report.notes.push(note.to_owned());
    }
    if asked.comparison.is_some() {
        let note = "the property compares a probability: the file asks for the number";
        report.notes.push(note.to_owned());
    }
    if request.format == ConvertFormat::Drn {
        if request.policy.is_some() {
            let message = "--policy-as-automaton goes with --to jani and --to prism";
            return Err(Failure::Usage(message.to_owned()));
        }
        observer.event(Event::Phase("states"));
        let config = ExplicitConfig::default();
        let policy = task.policy.as_ref();
        let induced = induced_mdp(&asked.reach, policy, &config, &mut budget, observer)?;
        if let Some(reason) = induced.stopped {
            return Err(Failure::Stopped(reason));
        }
        check_chain(&task, &induced)?;
        report.states = Some(induced.counts.reachable_states);
        write_text(&request.output, &drn_text(&induced)?)?;
        report.outputs.push(request.output.clone());
        return Ok(());
    }
    let policy = match (&task.policy, request.policy) {
        (None, None) => None,
        (Some(policy), Some(encoding)) => Some((policy, encoding)),
        (None, Some(_)) => {
            let message =
                "--policy-as-automaton needs a policy: name one with --interface or --policy";
            return Err(Failure::Usage(message.to_owned()));
        }
        (Some(_), None) => {
            let message = "there is a policy: write it with --policy-as-automaton, or leave it out with \
                           --no-policy";
            return Err(Failure::Usage(message.to_owned()));
        }
    };
    if task.is_markov_chain {
        let note = "the model is of the type dtmc and is written as mdp: several operators in a state are a \
                    choice there";
        report.notes.push(note.to_owned());
    }
    let reach = Reach {
        question: asked.reach.question.clone(),
        stay: asked.reach.stay.clone(),
        direction: asked.direction,
    };
    let network = WrittenNetwork::new(&Conversion { reach, policy })?;
    report.variables = Some(network.variable_count());
    report.edges = Some(network.edge_count());
    if let Some((_, PolicyEncoding::Discrete(_))) = policy {
        let note =
            "scores are rounded: the policy written may choose otherwise where scores are close";
        report.notes.push(note.to_owned());
    }
    match properties {
        None => write_text(&request.output, &jani_text(&network)?)?,
        Some(properties) => {
            write_text(&request.output, &prism_text(&network)?)?;
            write_text(&properties, &prism_properties(&network))?;
            report.outputs.push(properties);
        }
    }
    report.outputs.insert(0, request.output.clone());
    Ok(())
}

impl From<ConvertError> for Failure {
    fn from(error: ConvertError) -> Self {
        match error {
            ConvertError::Engine(error) => error.into(),
            other => Self::unsupported(other.to_string()),
        }
    }
}
