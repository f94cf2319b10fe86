//! `policert convert`: a question for other model checkers.

use std::path::PathBuf;

use policert_convert::{
    Conversion, ConvertError, PolicyEncoding, Reach, WrittenAutomata, drn_text, jani_text,
    prism_properties, prism_text,
};
use policert_engine_api::{Budget, CancelFlag, Event, Limits, Observer};
use policert_explore::{ExplicitConfig, ReachQuestion, induced_mdp};
use policert_outcome::{ExitStatus, Failure, Outcome, OutputFiles, write_text};
use policert_problem::{Problem, ProblemOptions};
use serde::Serialize;

/// In which format a question is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum ConvertFormat {
    /// JANI.
    Jani,
    /// The language of PRISM, with a file of properties beside.
    Prism,
    /// The explicit Markov decision process that the policy leaves, in Storm's format.
    Drn,
}

/// Says what is converted, and where it goes.
#[derive(Clone, Debug)]
pub struct ConvertRequest {
    /// Model, property and policy.
    pub problem: ProblemOptions,
    /// The format.
    pub format: ConvertFormat,
    /// The encoding of the policy in JANI and PRISM.
    pub policy: Option<PolicyEncoding>,
    /// The limits of what may be used to build states.
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

/// The report that `policert convert --json` writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ConvertReport {
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
}

/// Writes a question in the format of other model checkers.
pub fn convert(
    request: &ConvertRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> Outcome<ConvertReport> {
    let report = ConvertReport {
        format: request.format,
        model: None,
        property: None,
        outputs: Vec::new(),
        variables: None,
        edges: None,
        states: None,
    };
    Outcome::of(report, |outcome| run(request, cancel, observer, outcome))
}

fn run(
    request: &ConvertRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
    outcome: &mut Outcome<ConvertReport>,
) -> Result<ExitStatus, Failure> {
    cancel.check()?;
    observer.event(Event::Phase("load"));
    let mut budget = Budget::new(request.limits.clone(), cancel.clone());
    let problem = Problem::load_any(&request.problem, &budget, &mut outcome.remarks)?;
    let (report, notes) = (&mut outcome.report, &mut outcome.remarks.notes);
    let properties = request.properties();
    let outputs = OutputFiles::new([
        ("--output", Some(request.output.as_path())),
        ("the file of properties", properties.as_deref()),
    ]);
    outputs.check_inputs(problem.inputs.iter().map(|input| input.path.as_path()))?;
    report.model = Some(problem.model.name.clone());
    report.property = Some(problem.property.name.clone());
    let asked = problem.probability_aim(None)?;
    if asked.complement {
        let note = "the property asks for what holds for ever: 1 minus the probability written";
        notes.push(note.to_owned());
    }
    if asked.comparison.is_some() {
        let note = "the property compares a probability: the file asks for the number";
        notes.push(note.to_owned());
    }
    if request.format == ConvertFormat::Drn {
        if request.policy.is_some() {
            let message = "--policy-as-automaton goes with --to jani and --to prism";
            return Err(Failure::Usage(message.to_owned()));
        }
        observer.event(Event::Phase("states"));
        let config = ExplicitConfig::default();
        let policy = problem.policy.as_ref();
        let question = ReachQuestion { question: problem.question(), stay: asked.stay };
        let induced = induced_mdp(&question, policy, &config, &mut budget, observer)?;
        if let Some(reason) = induced.stopped {
            return Err(Failure::Stopped(reason));
        }
        if problem.is_markov_chain {
            induced.check_chain(&problem.model)?;
        }
        report.states = Some(induced.counts.reachable_states);
        write_text(&request.output, &drn_text(&induced).map_err(failure)?)?;
        report.outputs.push(request.output.clone());
        return Ok(ExitStatus::Safe);
    }
    let policy = match (&problem.policy, request.policy) {
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
    if problem.is_markov_chain {
        let note = "the model is of the type dtmc and is written as mdp: several operators in a state are a \
                    choice there";
        notes.push(note.to_owned());
    }
    let reach =
        Reach { question: problem.question(), stay: asked.stay, direction: asked.direction };
    let automata = WrittenAutomata::new(&Conversion { reach, policy }).map_err(failure)?;
    report.variables = Some(automata.variable_count());
    report.edges = Some(automata.edge_count());
    if let Some((_, PolicyEncoding::Discrete(_))) = policy {
        let note =
            "scores are rounded: the policy written may choose otherwise where scores are close";
        notes.push(note.to_owned());
    }
    match properties {
        None => write_text(&request.output, &jani_text(&automata).map_err(failure)?)?,
        Some(properties) => {
            write_text(&request.output, &prism_text(&automata).map_err(failure)?)?;
            write_text(&properties, &prism_properties(&automata))?;
            report.outputs.push(properties);
        }
    }
    report.outputs.insert(0, request.output.clone());
    Ok(ExitStatus::Safe)
}

fn failure(error: ConvertError) -> Failure {
    match error {
        ConvertError::Engine(error) => error.into(),
        other => Failure::unsupported(other.to_string()),
    }
}
