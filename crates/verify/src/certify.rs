//! `policert certify`: checks evidence from its file, without any engine.

mod file;
mod invariant;
mod trace;

use std::path::{Path, PathBuf};
use std::time::Instant;

use policert_certify::{OverStarts, ProbabilityError};
use policert_engine_api::{Budget, CancelFlag, EngineError, Event, Limits, Observer};
use policert_jani::property::FilterFunction;
use policert_numeric::Rational;
use serde::Serialize;
use serde_json::{Value, json};

use crate::probability::{Asked, check_bounds};
use crate::report::{SCHEMA_VERSION, VerdictWord};
use crate::{
    ExitStatus, Failure, InitialStates, Input, Loaded, PolicyChoice, SemanticsRecord, Task,
    TaskOptions, TaskRecord, TerminalChoice, VERSION,
};
use file::{File, Kind};

/// Which evidence is checked.
#[derive(Clone, Debug)]
pub struct CertifyRequest {
    /// The file.
    pub evidence: PathBuf,
    /// What may be used.
    pub limits: Limits,
}

/// What `policert certify --json` writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CertifyReport {
    /// Version of the schema.
    pub schema_version: u32,
    /// Version of the program.
    pub version: String,
    /// The exit code.
    pub exit_code: u8,
    /// Why nothing is certified; `null` if it is.
    pub reason: Option<String>,
    /// The evidence.
    pub evidence: PathBuf,
    /// The verdict that is certified.
    pub verdict: Option<VerdictWord>,
    /// Of a probability: the bounds that are certified.
    pub probability: Option<[String; 2]>,
    /// Of a probability: which number the greatest probabilities from the start states make.
    pub over_start_states: Option<OverStarts>,
    /// Of a probability: number of states with bounds.
    pub states: usize,
    /// Of *unsafe*: number of steps.
    pub steps: Option<usize>,
    /// Of *safe*: number of boxes of the invariant.
    pub boxes: Option<usize>,
    /// Number of start states.
    pub start_states: u64,
    /// What the bounds mean.
    pub semantics: Option<SemanticsRecord>,
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// Wall-clock time in seconds.
    pub time_s: f64,
}

/// What came out.
#[derive(Debug)]
pub struct CertifyOutcome {
    /// The result as data.
    pub report: CertifyReport,
    /// What is wrong, if something is.
    pub failure: Option<Failure>,
    /// The status that the run ends with.
    pub status: ExitStatus,
}

/// Checks evidence.
pub fn certify(
    request: &CertifyRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> CertifyOutcome {
    let begin = Instant::now();
    let mut report = CertifyReport {
        schema_version: SCHEMA_VERSION,
        version: VERSION.to_owned(),
        exit_code: 0,
        reason: None,
        evidence: request.evidence.clone(),
        verdict: None,
        probability: None,
        over_start_states: None,
        states: 0,
        steps: None,
        boxes: None,
        start_states: 0,
        semantics: None,
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
    CertifyOutcome { report, failure, status }
}

fn run(
    request: &CertifyRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
    report: &mut CertifyReport,
) -> Result<(), Failure> {
    cancel.check()?;
    observer.event(Event::Phase("load"));
    let file = File::read(&request.evidence)?;
    let kind = file.kind()?;
    let record: TaskRecord = file.part("task")?;
    let semantics: SemanticsRecord = file.part("semantics")?;
    let inputs: Vec<Input> = file.part("inputs")?;
    let mut loaded = Loaded::default();
    let mut budget = Budget::new(request.limits.clone(), cancel.clone());
    let task = Task::load_any(&options(&record, &semantics), &budget, &mut loaded);
    report.inputs.clone_from(&loaded.inputs);
    if let Some(changed) = changed(&inputs, &loaded.inputs) {
        return Err(Failure::invalid(format!(
            "{}: {} is not the file that the evidence is about",
            request.evidence.display(),
            changed.display()
        )));
    }
    let task = task.map_err(|failure| match failure {
        // The evidence names what does not exist; nobody used the command line wrongly.
        Failure::Expression { .. } => {
            Failure::invalid(format!("{}: {failure}", file.path().display()))
        }
        Failure::Usage(message) => {
            Failure::invalid(format!("{}: {message}", file.path().display()))
        }
        other => other,
    })?;
    if let Some(unnamed) = unrecorded(&inputs, &loaded.inputs) {
        return Err(file.rejected(&format!(
            "`inputs` does not name {} as what it is for the question",
            unnamed.display()
        )));
    }
    file.compare("task", &json!(task.record))?;
    file.compare("semantics", &json!(task.semantics))?;
    let unsafe_condition = task.model.display_condition(&task.property.unsafe_condition);
    file.compare("unsafe_condition", &Value::from(unsafe_condition))?;
    report.semantics = Some(semantics);
    observer.event(Event::Phase("certify"));
    match kind {
        Kind::Probability => {
            probability(&file, &task, report, &mut budget)?;
            report.verdict = Some(VerdictWord::Probability);
        }
        Kind::Unsafe => {
            report.steps = Some(trace::check(&file, &task)?);
            report.verdict = Some(VerdictWord::Unsafe);
        }
        Kind::Safe => {
            report.boxes = Some(invariant::check(&file, &task, &request.limits, cancel)?);
            report.verdict = Some(VerdictWord::Safe);
        }
    }
    Ok(())
}

/// Checks bounds of a probability.
fn probability(
    file: &File<'_>,
    task: &Task,
    report: &mut CertifyReport,
    budget: &mut Budget,
) -> Result<(), Failure> {
    let claimed: [String; 2] = file.part("probability")?;
    let [low, high] = [&claimed[0], &claimed[1]].map(|text| text.parse::<Rational>());
    let (Ok(low), Ok(high)) = (low, high) else { return Err(file.wrong("probability")) };
    let values = file.values(task)?;
    report.states = values.len();
    let asked = Asked::new(task, None)?;
    if asked.direction == policert_mdp::Direction::Min || asked.complement {
        let message = "unsupported: evidence of a least probability";
        return Err(Failure::unsupported(message.to_owned()));
    }
    let over = asked.over_starts();
    if file.value().get("over_start_states").is_some() {
        file.compare("over_start_states", &json!(over))?;
    }
    let certified = match check_bounds(task, &asked, &values, budget) {
        Ok(certified) => certified,
        Err(ProbabilityError::Engine(EngineError::Stop(reason))) => {
            return Err(Failure::Stopped(reason));
        }
        Err(ProbabilityError::Engine(error)) => return Err(error.into()),
        Err(error) => return Err(file.rejected(&error.to_string())),
    };
    report.start_states = certified.starts;
    if certified.starts > 1 && asked.function == FilterFunction::Values {
        return Err(file.rejected("the property asks for one number, and there are several"));
    }
    if certified.lower < low || certified.upper > high {
        return Err(file.rejected(&format!(
            "the values of the start states do not confirm the bounds {} and {}",
            claimed[0], claimed[1]
        )));
    }
    report.probability = Some(claimed);
    report.over_start_states = Some(over);
    Ok(())
}

/// The question of a record.
fn options(record: &TaskRecord, semantics: &SemanticsRecord) -> TaskOptions {
    let property = match (&record.property_file, record.property_index) {
        (Some(file), Some(index)) => format!("{file}:{index}"),
        (None, Some(index)) => format!("#{index}"),
        (Some(file), None) => format!("{file}:{}", record.property),
        (None, None) => record.property.clone(),
    };
    let constants = record.constants.iter().map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (name.clone(), value)
    });
    let path = |text: &Option<String>| text.as_ref().map(PathBuf::from);
    TaskOptions {
        property: Some(property),
        constants: constants.collect(),
        policy: match &semantics.policy {
            None => PolicyChoice::None,
            Some(_) => PolicyChoice::Given {
                interface: path(&record.interface),
                network: path(&record.policy),
            },
        },
        filter: semantics.policy.map(|rules| rules.filter),
        ties: semantics.policy.map(|rules| rules.ties),
        numbers: semantics.policy.map(|rules| rules.numbers),
        domain: semantics.domain,
        terminal: match record.terminal.as_deref() {
            None => TerminalChoice::Nothing,
            Some("goal") => TerminalChoice::Goal,
            Some(condition) => TerminalChoice::Condition(condition.to_owned()),
        },
        goal: record.goal.clone(),
        aim: semantics.aim,
        stuck: semantics.stuck,
        initial_states: match record.initial_states {
            true => InitialStates::Included,
            false => InitialStates::LeftOut,
        },
        ..TaskOptions::new(Path::new(&record.model))
    }
}

/// A recorded file whose content differs, or that was not read.
fn changed<'a>(recorded: &'a [Input], read: &[Input]) -> Option<&'a Path> {
    let is_read = |input: &&Input| {
        read.iter().any(|other| (&other.path, &other.sha256) == (&input.path, &input.sha256))
    };
    recorded.iter().find(|input| !is_read(input)).map(|input| input.path.as_path())
}

/// A file that was read, and that is not recorded as what it is.
fn unrecorded<'a>(recorded: &[Input], read: &'a [Input]) -> Option<&'a Path> {
    read.iter().find(|input| !recorded.contains(input)).map(|input| input.path.as_path())
}
