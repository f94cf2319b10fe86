//! The whole way from a request to a report: load, run, replay, report.

mod remarks;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use policert_engine_api::{
    Aim, BoundedProbability, Budget, CancelFlag, Conclusion, Context, EngineAnswer, Event, Limits,
    Observer, ProbabilityAim, Question, Recorder, StopReason, Trace, UnknownReason,
};
use policert_evidence::{Evidence, Unconfirmed, certify_unwritten, check_invariant};
use policert_outcome::decimal::outward;
use policert_outcome::{Certified, ExitStatus, Failure, Outcome, ReasonCode, VerdictWord};
use policert_problem::{Problem, ProblemOptions, check_aim};
use serde_json::Value;

use crate::engine_option::EngineOption;
use crate::engine_options;
use crate::engines::{self, Registration};
use crate::query_log::QueryLog;
use crate::report::{Report, Statistics, Times};
use crate::request::{ProblemSource, Request};
use crate::start_states::StartStatesRecord;

impl Request {
    /// Returns what the engine is asked about a problem.
    ///
    /// # Errors
    /// A question that the engine does not answer.
    fn question<'p>(
        &self,
        problem: &'p Problem,
        engine: &Registration,
    ) -> Result<Question<'p>, Failure> {
        let question = Question { evidence: self.evidence || self.certify, ..problem.question() };
        let is_standard = problem.standard.is_some();
        if let Some(standard) = &problem.standard {
            policert_problem::direction(standard)?;
        }
        if is_standard && !engine.questions.standard {
            return Err(Failure::Usage(format!(
                "property `{}` asks for a probability: leave --engine out, or choose prob",
                problem.property.name
            )));
        }
        if self.bound.is_some() && !engine.questions.probability {
            let others = self.engines.names(|engine| engine.options.contains(&EngineOption::Bound));
            return Err(Failure::Usage(format!(
                "--bound goes with --engine {}",
                others.join(", ")
            )));
        }
        if self.exact && self.precision.is_some() {
            let why = "--precision has no effect: --exact computes the value itself";
            return Err(Failure::Usage(why.to_owned()));
        }
        let asks_probability = is_standard || self.bound.is_some() || !engine.questions.safety;
        if asks_probability {
            remarks::refuse_probability(problem, &question, engine.questions.safety)?;
        }
        self.engines.refuse(engine, &question)?;
        if !asks_probability {
            self.engines.refuse_rounded(self, engine, &question)?;
            self.engines.refuse_drawn(self, engine, &question)?;
            return Ok(question);
        }
        let aim = ProbabilityAim {
            precision: self.precision,
            exact: self.exact,
            ..problem.probability_aim(self.bound.clone())?
        };
        let question = Question { aim: Aim::Probability(aim), ..question };
        self.engines.refuse_rounded(self, engine, &question)?;
        self.engines.refuse_drawn(self, engine, &question)?;
        Ok(question)
    }
}

/// Answers a request. Every counterexample was replayed, and every invariant checked, before it is
/// returned.
pub fn verify(
    request: &Request,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> Outcome<Report> {
    let begin = Instant::now();
    let mut outcome = Outcome::of(Report::empty(VerdictWord::Error), |outcome| {
        run(request, cancel, observer, begin, outcome)
    });
    if let Some(failure) = &outcome.failure {
        outcome.report = Report::empty(VerdictWord::from(failure));
    }
    outcome
}

fn run(
    request: &Request,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
    begin: Instant,
    outcome: &mut Outcome<Report>,
) -> Result<ExitStatus, Failure> {
    let engine = request.engines.find(&request.engine)?;
    let chosen = engine_options::configure(request, engine)?;
    cancel.check()?;
    observer.event(Event::Phase("load"));
    let budget = Budget::new(request.limits.clone(), cancel.clone());
    let problem = match &request.problem {
        ProblemSource::Files(options) => {
            let is_recorded =
                request.evidence || request.certify || request.record_queries.is_some();
            let digests = options.digests || is_recorded;
            let options = ProblemOptions { digests, ..(**options).clone() };
            let problem = Problem::load_any(&options, &budget, &mut outcome.remarks);
            problem.and_then(|problem| check_aim(&options).map(|()| Arc::new(problem)))
        }
        ProblemSource::Loaded(problem) => Ok(Arc::clone(problem)),
    };
    request.outputs.check_inputs(outcome.remarks.files.iter().map(PathBuf::as_path))?;
    if let Err(Failure::Findings(findings)) = &problem {
        request.outputs.check_findings(findings)?;
    }
    let problem = problem?;
    let mut times = Times { load: begin.elapsed().as_secs_f64(), ..Times::default() };

    let question = request.question(&problem, engine)?;
    let answers = match (&question.aim, engine.passes_on) {
        (Aim::Probability(_), Some(other)) => request.engines.find(other)?,
        (Aim::Probability(_) | Aim::AvoidUnsafe | Aim::ReachGoal, _) => engine,
    };
    engine_options::check(request, answers)?;
    let path = request.record_queries.as_deref();
    let mut log = path.map(|path| QueryLog::create(path, &problem)).transpose()?;
    let engines_begin = Instant::now();
    let mut notes = Notes { inner: observer, notes: Vec::new() };
    let mut context = Context {
        recorder: log.as_mut().map(|log| log as &mut dyn Recorder),
        threads: request.threads,
        ..Context::new(budget.within(budget.remaining()), &mut notes)
    };
    let mut found = engines::answer(engine.name, &*chosen, &question, &mut context)?;
    let mut notes = notes.notes;
    match log.map(QueryLog::finish) {
        Some(Ok(count)) => {
            notes.push(format!("queries about the policy that were recorded: {count}"));
        }
        Some(Err(failure)) => outcome.keep_unwritten(Err(failure)),
        None => {}
    }
    times.engines = engines_begin.elapsed().as_secs_f64();

    let replay_begin = Instant::now();
    let proved = prove(&problem, &question, &found, &budget, question.evidence)?;
    notes.extend(proved.notes);
    if let Some(reason) = proved.unconfirmed {
        found.answer = EngineAnswer::Unknown(UnknownReason::Stopped(reason));
    }
    times.replay = replay_begin.elapsed().as_secs_f64();
    let certified = match request.certify {
        true => Some(certified(proved.evidence.as_ref(), &proved.no_evidence, &budget, observer)?),
        false => None,
    };
    let (verdict, status, reason) = ended(&found.answer);
    if let Some(reason) = reason {
        outcome.explain(ReasonCode::from(reason), reason.to_string());
    }
    let starts = found.start_states.as_deref().filter(|_| request.start_states);
    let start_states = starts.map(|starts| StartStatesRecord::new(&problem, starts));
    outcome.remarks.warnings.append(&mut found.warnings);
    for note in std::mem::take(&mut found.notes).into_iter().chain(notes) {
        if !outcome.remarks.notes.contains(&note) {
            outcome.remarks.notes.push(note);
        }
    }
    let is_hollow = is_hollow(&found.answer);
    outcome.report = Report {
        evidence: proved.evidence,
        no_evidence: proved.no_evidence,
        certified,
        start_states,
        ..report(&problem, found, verdict, times)
    };
    if let Some(vacuous) = is_hollow {
        remarks::say_hollow(&problem, vacuous, budget.remaining(), cancel, outcome);
    }
    if request.start_states && outcome.report.start_states.is_none() {
        let why = "the abstraction is not complete";
        outcome.remarks.warnings.push(format!("nothing is written about start states: {why}"));
    }
    Ok(status)
}

/// Holds what an answer rests on.
#[derive(Default)]
struct Proved {
    evidence: Option<Evidence>,
    no_evidence: String,
    notes: Vec<String>,
    /// The reason why a check of the evidence did not end.
    unconfirmed: Option<StopReason>,
}

/// Replays a trace, checks an invariant, and checks bounds if evidence of them is `wanted`.
///
/// # Errors
/// Evidence that does not show what it claims: our own mistake.
fn prove(
    problem: &Problem,
    question: &Question<'_>,
    found: &Conclusion,
    budget: &Budget,
    wanted: bool,
) -> Result<Proved, Failure> {
    let mut proved = Proved { no_evidence: remarks::no_evidence(found), ..Proved::default() };
    match &found.answer {
        EngineAnswer::Unsafe(trace) => {
            let evidence = evidence(problem, question, found.engine, trace)?;
            proved.notes.extend(remarks::chance_note(problem, &evidence));
            proved.evidence = Some(evidence);
        }
        EngineAnswer::Safe { invariant: Ok(claimed), .. } => {
            let boxes = claimed.invariant.boxes();
            match check_invariant(problem, claimed, budget) {
                Ok(checked) => {
                    proved.notes.push(checked.note(boxes));
                    match Evidence::of_invariant(problem, found.engine, claimed) {
                        Ok(evidence) => proved.evidence = Some(evidence),
                        Err(why) => proved.no_evidence = why,
                    }
                }
                Err(Failure::Stopped(reason)) => {
                    let what = match claimed.ranks {
                        Some(_) => "ranks that fall until the goal is reached",
                        None => "an inductive invariant",
                    };
                    let why = format!(
                        "the engine found {what} ({boxes} boxes), but their check did not end"
                    );
                    if claimed.is_needed {
                        proved.notes.push(why.clone());
                        proved.unconfirmed = Some(reason);
                    }
                    proved.no_evidence = why;
                }
                Err(other) => return Err(other),
            }
        }
        EngineAnswer::Probability(BoundedProbability {
            values: Ok(values),
            rounded,
            holds,
            ..
        }) if wanted => {
            let Aim::Probability(aim) = &question.aim else { return Ok(proved) };
            match Evidence::of_bounds(problem, found.engine, aim, values, budget)? {
                Ok(evidence) => {
                    proved.notes.extend(remarks::undecided_by(&evidence, aim, *holds));
                    proved.evidence = Some(evidence);
                }
                Err(Unconfirmed::Unwritten(why)) => proved.no_evidence = why,
                Err(Unconfirmed::Check(why)) if why.is_stop() || *rounded => {
                    proved.no_evidence = why.to_string();
                }
                Err(Unconfirmed::Check(why)) => {
                    return Err(Failure::Internal(format!("not confirmed: {why}")));
                }
            }
        }
        EngineAnswer::Safe { invariant: Err(_), .. }
        | EngineAnswer::Probability(_)
        | EngineAnswer::Unknown(_) => {}
    }
    Ok(proved)
}

/// Checks evidence from its text and the input files, within what is left of the budget.
///
/// # Errors
/// Evidence that does not show what it claims: our own mistake. An input that has changed.
fn certified(
    evidence: Option<&Evidence>,
    no_evidence: &str,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Certified, Failure> {
    let Some(evidence) = evidence else { return Ok(Certified::not(no_evidence)) };
    let limits = Limits { time: budget.remaining(), ..budget.limits().clone() };
    Certified::by(|| certify_unwritten(evidence, &limits, budget.cancel_flag(), observer))
}

/// Replays a trace and writes it down.
fn evidence(
    problem: &Problem,
    question: &Question<'_>,
    engine: &str,
    trace: &Trace,
) -> Result<Evidence, Failure> {
    match policert_certify::replay(question, question.policy, trace) {
        Ok(replayed) => Ok(Evidence::of_trace(problem, engine, trace, replayed.end)),
        Err(error) => Err(Failure::Internal(format!(
            "the counterexample of engine {engine} does not replay: {error}"
        ))),
    }
}

/// The verdict in a word, the status that the run ends with, and why the answer is not known.
fn ended(answer: &EngineAnswer) -> (VerdictWord, ExitStatus, Option<&UnknownReason>) {
    let unknown = |reason| (VerdictWord::Unknown, ExitStatus::of_unknown(reason), Some(reason));
    match answer {
        EngineAnswer::Safe { .. } => (VerdictWord::Safe, ExitStatus::Safe, None),
        EngineAnswer::Unsafe(_) => (VerdictWord::Unsafe, ExitStatus::Unsafe, None),
        EngineAnswer::Unknown(reason) => unknown(reason),
        EngineAnswer::Probability(found) => match (found.holds, &found.unknown) {
            (Some(true), _) => (VerdictWord::Safe, ExitStatus::Safe, None),
            (Some(false), _) => (VerdictWord::Unsafe, ExitStatus::Unsafe, None),
            (None, None) => (VerdictWord::Probability, ExitStatus::Safe, None),
            (None, Some(reason)) => unknown(reason),
        },
    }
}

/// Returns whether an answer may be hollow, that nothing bad is reached: if so, whether there is no
/// start state.
fn is_hollow(answer: &EngineAnswer) -> Option<bool> {
    match answer {
        EngineAnswer::Safe { vacuous, .. } => Some(*vacuous),
        EngineAnswer::Probability(found) => {
            let is_good =
                found.holds == Some(true) || found.holds.is_none() && found.unknown.is_none();
            (found.bounds.hi.is_zero() && is_good || found.vacuous).then_some(found.vacuous)
        }
        EngineAnswer::Unsafe(_) | EngineAnswer::Unknown(_) => None,
    }
}

fn report(problem: &Problem, found: Conclusion, verdict: VerdictWord, times: Times) -> Report {
    let empty = Report::empty(verdict);
    let shown = match found.answer {
        EngineAnswer::Safe { vacuous, invariant } => {
            let invariant = invariant.ok().map(|claimed| claimed.invariant);
            Report { vacuous, invariant, ..empty }
        }
        EngineAnswer::Unsafe(trace) => Report { trace: Some(trace), ..empty },
        EngineAnswer::Probability(BoundedProbability { bounds, vacuous, .. }) => Report {
            vacuous,
            probability: Some(outward(&bounds.lo, &bounds.hi)),
            value: (bounds.lo == bounds.hi).then(|| bounds.lo.to_string()),
            bounds: Some(bounds),
            ..empty
        },
        EngineAnswer::Unknown(_) => empty,
    };
    let steps = shown.trace.as_ref().map(|trace| trace.steps.len());
    let mut statistics = Statistics::new(&found.counts, found.counted, steps, times);
    statistics.start_states_proved_safe = found
        .start_states
        .as_ref()
        .map(|starts| starts.iter().filter(|start| start.proved_safe).count() as u64);
    if found.numbers != Value::Null {
        statistics.engine.insert(found.engine.to_owned(), found.numbers);
    }
    Report {
        property: Some(problem.property.name.clone()),
        engine: Some(found.engine.to_owned()),
        preset: found.preset,
        attempts: found.attempts,
        semantics: Some(problem.semantics.clone()),
        statistics: Some(statistics),
        ..shown
    }
}

/// Keeps the notes that engines send, and passes all events on.
struct Notes<'a> {
    inner: &'a mut dyn Observer,
    notes: Vec<String>,
}

impl Observer for Notes<'_> {
    fn event(&mut self, event: Event) {
        if let Event::Note(note) = &event
            && !self.notes.contains(note)
        {
            self.notes.push(note.clone());
        }
        self.inner.event(event);
    }
}
