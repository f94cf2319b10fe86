//! `policert certify`: checks evidence of a probability from its file, without any engine.

use std::path::{Path, PathBuf};
use std::time::Instant;

use policert_certify::{ProbabilityError, ValuedState};
use policert_engine_api::{Budget, CancelFlag, EngineError, Event, Limits, Observer};
use policert_numeric::Rational;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::evidence::EVIDENCE_VERSION;
use crate::probability::{Asked, check_bounds};
use crate::report::SCHEMA_VERSION;
use crate::{
    ExitStatus, Failure, InitialStates, Input, Loaded, PolicyChoice, SemanticsRecord, Task,
    TaskOptions, TaskRecord, TerminalChoice, VERSION,
};

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
    /// The bounds that are certified.
    pub probability: Option<[String; 2]>,
    /// Number of states with bounds.
    pub states: usize,
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

/// Checks evidence of a probability.
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
        probability: None,
        states: 0,
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
    let record: TaskRecord = file.part("task")?;
    let semantics: SemanticsRecord = file.part("semantics")?;
    let inputs: Vec<Input> = file.part("inputs")?;
    let claimed: [String; 2] = file.part("probability")?;
    let [low, high] = [&claimed[0], &claimed[1]].map(|text| text.parse::<Rational>());
    let (Ok(low), Ok(high)) = (low, high) else { return Err(file.wrong("probability")) };
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
    let task = task?;
    if task.semantics != semantics {
        return Err(file.wrong("semantics"));
    }
    let values = file.values(&task)?;
    report.states = values.len();
    report.semantics = Some(semantics);
    let asked = Asked::new(&task, None)?;
    if asked.direction == policert_mdp::Direction::Min || asked.complement {
        let message = "unsupported: evidence of a least probability";
        return Err(Failure::unsupported(message.to_owned()));
    }
    observer.event(Event::Phase("certify"));
    let certified = match check_bounds(&task, &asked, &values, &mut budget) {
        Ok(certified) => certified,
        Err(ProbabilityError::Engine(EngineError::Stop(reason))) => {
            return Err(Failure::Stopped(reason));
        }
        Err(ProbabilityError::Engine(error)) => return Err(error.into()),
        Err(error) => return Err(Failure::Rejected(format!("evidence rejected: {error}"))),
    };
    report.start_states = certified.starts;
    if certified.lower < low || certified.upper > high {
        return Err(Failure::Rejected(format!(
            "evidence rejected: the values of the start states do not confirm the bounds {} and {}",
            claimed[0], claimed[1]
        )));
    }
    report.probability = Some(claimed);
    Ok(())
}

/// The question of a record.
fn options(record: &TaskRecord, semantics: &SemanticsRecord) -> TaskOptions {
    let property = match (&record.property_file, record.property_index) {
        (Some(file), Some(index)) => format!("{file}:{index}"),
        (None, Some(index)) => format!("#{index}"),
        (Some(file), None) => file.clone(),
        (None, None) => record.property.clone(),
    };
    let constants = record.constants.iter().map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (name.clone(), value)
    });
    let path = |text: &Option<String>| text.as_ref().map(PathBuf::from);
    let rules = semantics.policy.unwrap_or_default();
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
        ties: rules.ties,
        numbers: rules.numbers,
        domain: semantics.domain,
        terminal: match record.terminal.as_deref() {
            None => TerminalChoice::Nothing,
            Some("goal") => TerminalChoice::Goal,
            Some(condition) => TerminalChoice::Condition(condition.to_owned()),
        },
        initial_states: match record.initial_states {
            true => InitialStates::Included,
            false => InitialStates::LeftOut,
        },
        ..TaskOptions::new(Path::new(&record.model))
    }
}

/// A file whose content differs, or that was not read.
fn changed<'a>(recorded: &'a [Input], read: &[Input]) -> Option<&'a Path> {
    let same = |input: &Input| {
        read.iter().any(|other| other.path == input.path && other.sha256 == input.sha256)
    };
    recorded.iter().find(|input| !same(input)).map(|input| input.path.as_path())
}

/// An evidence file, read as JSON.
struct File<'a> {
    path: &'a Path,
    value: Value,
}

impl<'a> File<'a> {
    fn read(path: &'a Path) -> Result<Self, Failure> {
        let named = |error: &dyn std::fmt::Display| {
            Failure::invalid(format!("{}: {error}", path.display()))
        };
        let bytes = policert_files::read(path).map_err(|error| named(&error))?;
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| named(&error))?;
        let file = Self { path, value };
        let version = file.value["schema_version"].as_u64();
        match version {
            Some(version) if version == u64::from(EVIDENCE_VERSION) => {}
            Some(version) => {
                return Err(Failure::unsupported(format!(
                    "unsupported: {}: version {version} of the format",
                    path.display()
                )));
            }
            None => return Err(file.wrong("schema_version")),
        }
        if file.value.get("values").is_none() {
            return Err(Failure::unsupported(format!(
                "unsupported: {}: evidence without values; only that of probabilities is checked from \
                 a file",
                path.display()
            )));
        }
        Ok(file)
    }

    fn wrong(&self, member: &str) -> Failure {
        let path = self.path.display();
        Failure::invalid(format!("{path}: `{member}` is missing, or not what it should be"))
    }

    fn part<T: DeserializeOwned>(&self, member: &str) -> Result<T, Failure> {
        let value = self.value.get(member).cloned().ok_or_else(|| self.wrong(member))?;
        serde_json::from_value(value).map_err(|_| self.wrong(member))
    }

    /// The states with their bounds.
    fn values(&self, task: &Task) -> Result<Vec<ValuedState>, Failure> {
        let names = task.model.variables.iter().map(|variable| variable.name.as_str());
        let recorded = self.value["variables"].as_array();
        let recorded = recorded.map(|names| names.iter().filter_map(Value::as_str));
        if !recorded.is_some_and(|recorded| recorded.eq(names)) {
            return Err(self.wrong("variables"));
        }
        let entry = |value: &Value| {
            let state = value.get(0)?.as_array()?;
            let state = state.iter().map(Value::as_i64).collect::<Option<_>>()?;
            let bounds = [value.get(1)?.as_f64()?, value.get(2)?.as_f64()?];
            Some(ValuedState { state, bounds })
        };
        let entries = self.value["values"]
            .as_array()
            .and_then(|list| list.iter().map(entry).collect::<Option<Vec<_>>>());
        entries.ok_or_else(|| self.wrong("values"))
    }
}
