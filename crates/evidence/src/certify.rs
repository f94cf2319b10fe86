//! `policert certify`: checks evidence from its file, without any engine.

mod file;
mod invariant;
mod trace;

use std::path::{Path, PathBuf};

use policert_certify::{OverStarts, ProbabilityError};
use policert_engine_api::{
    Budget, CancelFlag, ClaimedValues, Direction, EngineError, Event, Limits, Observer,
};
use policert_jani::property::FilterFunction;
use policert_numeric::Rational;
use policert_outcome::{ExitStatus, Failure, Input, Outcome, VerdictWord};
use policert_problem::{
    ChoiceRule, InitialStates, PolicySource, Problem, ProblemOptions, ProblemRecord,
    SemanticsRecord, TerminalChoice,
};
use policert_query::AnswerWord;
use serde::Serialize;
use serde_json::{Value, json};

use crate::control_loop::{LoopFinding, LoopTask};
use crate::evidence::read_pieces;
use crate::{EndKind, Evidence, PieceRecord, check_bounds};
pub(crate) use file::File;
use file::{Kind, VerdictKind};

/// Says which evidence is checked.
#[derive(Clone, Debug)]
pub struct CertifyRequest {
    /// The file.
    pub evidence: PathBuf,
    /// The limits of what may be used.
    pub limits: Limits,
}

/// A probability over all schedulers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// The greatest probability of reaching the target.
    GreatestOfReaching,
    /// The least one.
    LeastOfReaching,
    /// The greatest probability of never reaching it.
    GreatestOfAvoiding,
    /// The least one.
    LeastOfAvoiding,
}

/// The report that `policert certify --json` writes.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct CertifyReport {
    /// The evidence.
    pub evidence: PathBuf,
    /// The verdict that is certified.
    pub verdict: Option<VerdictWord>,
    /// Of a probability: the bounds that are certified.
    pub probability: Option<[String; 2]>,
    /// Of a probability: which number the greatest probabilities from the start states make.
    pub over_start_states: Option<OverStarts>,
    /// Of a probability: which one is bounded.
    pub quantity: Option<Quantity>,
    /// Of a probability: number of states with bounds.
    pub states: usize,
    /// Of a probability: number of pieces with upper bounds, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pieces: Option<usize>,
    /// Of *unsafe*: number of steps; none where trajectories of a control loop miss the goal.
    pub steps: Option<usize>,
    /// Of *unsafe* of a control loop: number of trajectories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trajectories: Option<usize>,
    /// Of *unsafe*: in which way the run ends.
    pub end: Option<EndKind>,
    /// Of a loop: after how many steps it begins.
    pub back_to: Option<usize>,
    /// Of *safe*: number of boxes.
    pub boxes: Option<usize>,
    /// Of a control loop: number of parts of the initial box.
    pub initial_parts: Option<usize>,
    /// Of a control loop: the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_task: Option<LoopTask>,
    /// Of a query: the answer that is certified; the verdict is *safe* for unsat.
    pub answer: Option<AnswerWord>,
    /// Of unsat: number of parts of the inputs that are refuted.
    pub parts: Option<usize>,
    /// Number of start states.
    pub start_states: u64,
    /// The meaning of the bounds.
    pub semantics: Option<SemanticsRecord>,
}

/// Checks evidence.
pub fn certify(
    request: &CertifyRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> Outcome<CertifyReport> {
    let report = CertifyReport { evidence: request.evidence.clone(), ..CertifyReport::default() };
    Outcome::of(report, |outcome| {
        cancel.check()?;
        observer.event(Event::Phase("load"));
        let file = File::read(&request.evidence)?;
        run(&file, &request.limits, cancel, observer, outcome)
    })
}

/// Checks evidence that is about to be written, from its text and the files that it names: nothing
/// of the run that it comes from is used. Its size in bytes.
///
/// # Errors
/// The reason why it is not confirmed.
pub fn certify_unwritten(
    evidence: &Evidence,
    limits: &Limits,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> Result<u64, Failure> {
    let text = serde_json::to_vec(evidence)
        .map_err(|error| Failure::Internal(format!("evidence as JSON: {error}")))?;
    let file = File::parse(Path::new("evidence"), &text)?;
    let size = text.len() as u64;
    drop(text);
    let check = |outcome: &mut Outcome<_>| run(&file, limits, cancel, observer, outcome);
    Outcome::of(CertifyReport::default(), check).failure.map_or(Ok(size), Err)
}

fn run(
    file: &File<'_>,
    limits: &Limits,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
    outcome: &mut Outcome<CertifyReport>,
) -> Result<ExitStatus, Failure> {
    let budget = Budget::new(limits.clone(), cancel.clone());
    let kind = match file.kind()? {
        Kind::Answer => {
            observer.event(Event::Phase("certify"));
            return answer(file, budget, outcome);
        }
        Kind::ControlLoop => {
            observer.event(Event::Phase("certify"));
            return control_loop(file, budget, outcome);
        }
        Kind::Verdict(kind) => kind,
    };
    let record: ProblemRecord = file.part("task")?;
    let semantics: SemanticsRecord = file.part("semantics")?;
    let inputs: Vec<Input> = file.part("inputs")?;
    let problem = Problem::load_any(&options(&record, &semantics), &budget, &mut outcome.remarks);
    let (report, read) = (&mut outcome.report, &outcome.remarks.inputs);
    let problem = match problem {
        // Nothing is known of the files then.
        Err(failure @ Failure::Stopped(_)) => return Err(failure),
        Err(failure) if read.is_empty() => return Err(failure),
        loaded => loaded,
    };
    if let Some(changed) = changed(&inputs, read) {
        return Err(Failure::invalid(format!(
            "{}: {} is not the file that the evidence is about",
            file.path().display(),
            changed.display()
        )));
    }
    let problem = problem.map_err(|failure| match failure {
        // The evidence names what does not exist; nobody used the command line wrongly.
        Failure::Expression { .. } => {
            Failure::invalid(format!("{}: {failure}", file.path().display()))
        }
        Failure::Usage(message) => {
            Failure::invalid(format!("{}: {message}", file.path().display()))
        }
        other => other,
    })?;
    if let Some(unnamed) = unrecorded(&inputs, read) {
        return Err(file.rejected(&format!(
            "`inputs` does not name {} as what it is for the question",
            unnamed.display()
        )));
    }
    file.compare("task", &json!(problem.record))?;
    file.compare("semantics", &json!(problem.semantics))?;
    let unsafe_condition = problem.model.display_condition(&problem.property.unsafe_condition);
    file.compare("unsafe_condition", &Value::from(unsafe_condition))?;
    report.semantics = Some(semantics);
    observer.event(Event::Phase("certify"));
    if problem.standard.is_some() && kind != VerdictKind::Probability {
        return Err(file.rejected("the property asks for a probability, which this does not show"));
    }
    match kind {
        VerdictKind::Probability => {
            probability(file, &problem, report, &budget)?;
            report.verdict = Some(VerdictWord::Probability);
        }
        VerdictKind::Unsafe => {
            let (steps, end) = trace::check(file, &problem)?;
            report.steps = Some(steps);
            report.end = Some(end.kind);
            report.back_to = end.back_to;
            report.verdict = Some(VerdictWord::Unsafe);
        }
        VerdictKind::Safe => {
            report.boxes = Some(invariant::check(file, &problem, limits, cancel)?);
            report.verdict = Some(VerdictWord::Safe);
        }
    }
    Ok(ExitStatus::Safe)
}

/// Checks the answer of a query.
fn answer(
    file: &File<'_>,
    mut budget: Budget,
    outcome: &mut Outcome<CertifyReport>,
) -> Result<ExitStatus, Failure> {
    let checked = policert_query::check_evidence(file.value(), file.path(), &mut budget)?;
    outcome.remarks.inputs = file.part("inputs")?;
    let report = &mut outcome.report;
    report.answer = Some(checked.answer);
    report.parts = checked.parts;
    report.verdict = Some(match checked.parts {
        Some(_) => VerdictWord::Safe,
        None => VerdictWord::Unsafe,
    });
    Ok(ExitStatus::Safe)
}

/// Checks evidence about a control loop.
fn control_loop(
    file: &File<'_>,
    mut budget: Budget,
    outcome: &mut Outcome<CertifyReport>,
) -> Result<ExitStatus, Failure> {
    let checked = crate::control_loop::check(file, &mut budget)?;
    outcome.remarks.inputs = checked.inputs;
    let report = &mut outcome.report;
    report.loop_task = Some(checked.task);
    report.verdict = Some(match checked.finding {
        LoopFinding::Safe { boxes, parts } => {
            (report.boxes, report.initial_parts) = (Some(boxes), Some(parts));
            VerdictWord::Safe
        }
        LoopFinding::Unsafe { step, trajectories } => {
            report.steps = step.map(|step| step as usize);
            report.trajectories = Some(trajectories);
            VerdictWord::Unsafe
        }
    });
    Ok(ExitStatus::Safe)
}

/// Checks bounds of a probability.
fn probability(
    file: &File<'_>,
    problem: &Problem,
    report: &mut CertifyReport,
    budget: &Budget,
) -> Result<(), Failure> {
    let claimed: [String; 2] = file.part("probability")?;
    let [low, high] = [&claimed[0], &claimed[1]].map(|text| text.parse::<Rational>());
    let (Ok(low), Ok(high)) = (low, high) else { return Err(file.wrong("probability")) };
    let states = file.values(problem)?;
    let pieces = match file.value().get("pieces") {
        None => None,
        Some(_) => {
            let records: Vec<PieceRecord> = file.part("pieces")?;
            report.pieces = Some(records.len());
            let pieces = read_pieces(&problem.model, &records, high.clone());
            Some(pieces.ok_or_else(|| file.wrong("pieces"))?)
        }
    };
    report.states = states.len();
    let asked = problem.probability_aim(None)?;
    let over = asked.over_starts();
    if file.value().get("over_start_states").is_some() {
        file.compare("over_start_states", &json!(over))?;
    }
    let has_pieces = pieces.is_some();
    let certified = match check_bounds(problem, &asked, &ClaimedValues { states, pieces }, budget)?
    {
        Ok(certified) => certified,
        Err(ProbabilityError::Engine(EngineError::Stop(reason))) => {
            return Err(Failure::Stopped(reason));
        }
        Err(ProbabilityError::Engine(error)) => return Err(error.into()),
        Err(error) => return Err(file.rejected(&error.to_string())),
    };
    report.start_states = certified.starts;
    if (certified.starts > 1 || has_pieces) && asked.function == FilterFunction::Values {
        return Err(file.rejected("the property asks for one number, and there are several"));
    }
    if certified.lower < low || certified.upper > high {
        return Err(file.rejected(&format!(
            "the values of the start states do not confirm the bounds {} and {}",
            claimed[0], claimed[1]
        )));
    }
    report.probability = Some(claimed);
    let is_greatest = (asked.direction == Direction::Max) != asked.complement;
    report.quantity = Some(match (is_greatest, asked.complement) {
        (true, false) => Quantity::GreatestOfReaching,
        (true, true) => Quantity::GreatestOfAvoiding,
        (false, false) => Quantity::LeastOfReaching,
        (false, true) => Quantity::LeastOfAvoiding,
    });
    report.over_start_states = Some(over);
    Ok(())
}

/// The question of a record.
fn options(record: &ProblemRecord, semantics: &SemanticsRecord) -> ProblemOptions {
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
    ProblemOptions {
        pddl_problem: path(&record.pddl_problem),
        property: Some(property),
        unsafe_states: record.unsafe_states.clone(),
        start_states: record.start_states.clone(),
        constants: constants.collect(),
        policy: match &semantics.policy {
            None => PolicySource::None,
            Some(_) => PolicySource::Given {
                interface: path(&record.interface),
                network: path(&record.policy),
            },
        },
        scores: record.scores.clone(),
        filter: semantics.policy.map(|rules| rules.filter),
        ties: semantics
            .policy
            .filter(|rules| rules.choice == ChoiceRule::Argmax)
            .map(|rules| rules.ties),
        numbers: semantics.policy.map(|rules| rules.numbers),
        choice: semantics.policy.map(|rules| rules.choice),
        at_least: semantics.policy.and_then(|rules| rules.at_least),
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
        ..ProblemOptions::new(Path::new(&record.model))
    }
}

/// A recorded file whose content differs, or that was not read.
pub(crate) fn changed<'a>(recorded: &'a [Input], read: &[Input]) -> Option<&'a Path> {
    let is_read = |input: &&Input| {
        read.iter().any(|other| (&other.path, &other.sha256) == (&input.path, &input.sha256))
    };
    recorded.iter().find(|input| !is_read(input)).map(|input| input.path.as_path())
}

/// A file that was read, and that is not recorded as what it is.
pub(crate) fn unrecorded<'a>(recorded: &[Input], read: &'a [Input]) -> Option<&'a Path> {
    read.iter().find(|input| !recorded.contains(input)).map(|input| input.path.as_path())
}
