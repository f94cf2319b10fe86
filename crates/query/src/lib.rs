//! `policert query`: one VNN-LIB property of one network, over the reals.
//!
//! ```
//! use policert_engine_api::{CancelFlag, Silent};
//! use policert_query::{AnswerWord, QueryRequest, query};
//!
//! let examples = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"));
//! let network = examples.join("icy_road/careful.onnx");
//! let request = QueryRequest::new(network, examples.join("queries/brakes_on_ice.vnnlib"));
//! let outcome = query(&request, &CancelFlag::default(), &mut Silent);
//! assert_eq!(outcome.report.answer, Some(AnswerWord::Sat));
//! assert_eq!(outcome.report.witness.expect("a witness").inputs[0].value, "19");
//! ```

#![warn(missing_docs)]

mod evidence;
mod refute;
mod report;
mod witness;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Instant;

use policert_bounds::{
    PrepareError, RealAnswer, RealOracle, RecordedStep, UndecidedReason, contradict,
};
use policert_engine_api::{Budget, CancelFlag, Event, Limits, Observer, StopReason};
use policert_numeric::{LinearInequality, Rational};
use policert_outcome::{
    Certified, ExitStatus, Failure, Finding, InputRole, Outcome, ReasonCode, VerdictWord,
    digests_if_readable, metered,
};
use policert_policy::{Network, read_network_within};
use policert_vnnlib::{NetworkProperty, read_property};

pub use evidence::{CheckedQuery, QueryEvidence, QueryProof, QueryTask, check_evidence};
use refute::MOST_STEPS;
pub use report::{
    AnswerWord, NetworkSummary, QueryReport, QueryStatistics, VnnlibSummary, Witness, WitnessValue,
};
use witness::Scores;

/// Says what to decide.
#[derive(Clone, Debug)]
pub struct QueryRequest {
    /// The network's file, `.onnx` or `.nnet`.
    pub network: PathBuf,
    /// The property's file.
    pub property: PathBuf,
    /// The limits of what may be used; states do not count here.
    pub limits: Limits,
    /// True if evidence of the answer is wanted.
    pub evidence: bool,
    /// True if that evidence is to be checked before the answer is returned.
    pub certify: bool,
}

impl QueryRequest {
    /// A question without limits, whose answer is enough.
    pub fn new(network: impl Into<PathBuf>, property: impl Into<PathBuf>) -> Self {
        let (network, property) = (network.into(), property.into());
        Self { network, property, limits: Limits::default(), evidence: false, certify: false }
    }
}

/// Decides a property. A witness was checked exactly before it is returned.
pub fn query(
    request: &QueryRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> Outcome<QueryReport> {
    let mut outcome = Outcome::of(QueryReport::empty(), |outcome| {
        match run(request, cancel, observer, outcome) {
            // An answer, too.
            Err(Failure::Stopped(reason)) => Ok(report::stopped(outcome, reason)),
            result => result,
        }
    });
    if let Some(failure) = &outcome.failure {
        outcome.report.verdict = VerdictWord::from(failure);
    }
    outcome
}

fn run(
    request: &QueryRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
    outcome: &mut Outcome<QueryReport>,
) -> Result<ExitStatus, Failure> {
    cancel.check()?;
    let mut budget = Budget::new(request.limits.clone(), cancel.clone());
    observer.event(Event::Phase("load"));
    let network = metered(&budget, |meter| read_network_within(&request.network, meter));
    let property = read_property(&request.property).map_err(|error| Finding::from(&error));
    if let Err(failure @ Failure::Stopped(_)) = network {
        return Err(failure);
    }
    let files = [(InputRole::Network, &request.network), (InputRole::Property, &request.property)];
    let files = files.map(|(role, path)| (role, path.clone()));
    outcome.remarks.inputs = digests_if_readable(files, &budget)?;
    let (network, property) = match (network, property) {
        (Ok(network), Ok(property)) => (network, property),
        (Err(Failure::Findings(mut findings)), property) => {
            findings.extend(property.err());
            return Err(Failure::Findings(findings));
        }
        (Err(failure), _) => return Err(failure),
        (Ok(_), Err(finding)) => return Err(Failure::Findings(vec![finding])),
    };
    let (report, notes) = (&mut outcome.report, &mut outcome.remarks.notes);
    notes.extend(network.notes);
    let network = network.network;
    report.network = Some(NetworkSummary::new(&network));
    report.property = Some(VnnlibSummary::new(&property));
    fit(&request.network, &request.property, &network, &property)?;
    if property.disjuncts.iter().any(|disjunct| !about_outputs(disjunct, property.inputs)) {
        notes.push(
            "the property, or one of its alternatives, has no condition on the outputs: every \
             input that satisfies the rest is a witness"
                .to_owned(),
        );
    }

    observer.event(Event::Phase("decide"));
    let begin = Instant::now();
    let reads = (0..property.inputs).collect();
    let mut oracle = match RealOracle::new(&network, reads, property.inputs, &mut budget) {
        Ok(oracle) => oracle,
        Err(PrepareError::Stopped(reason)) => return Err(reason.into()),
        Err(PrepareError::Network(error)) => return Err(error.into()),
    };
    let is_proved = request.evidence || request.certify;
    if is_proved {
        oracle.keep_records();
    }
    let mut decision = Decision {
        network: &network,
        property: &property,
        oracle,
        budget: &mut budget,
        records: vec![None; property.disjuncts.len()],
    };
    let decided = decision.decide();
    let mut statistics = QueryStatistics::new(decision.oracle.statistics());
    statistics.decide_s = begin.elapsed().as_secs_f64();
    report.statistics = Some(statistics);
    let decided = decided?;
    if is_proved {
        observer.event(Event::Phase("certify"));
        let proved = match &decided {
            Decided::Sat(witness) => Ok(QueryProof::Witness((**witness).clone())),
            Decided::Unsat { .. } => decision.refutation()?,
            Decided::Unknown(_) => Err("there is no answer".to_owned()),
        };
        write_down(request, proved, &budget, outcome)?;
    }
    Ok(match decided {
        Decided::Sat(witness) => report::sat(outcome, *witness),
        Decided::Unsat { vacuous } => report::unsat(outcome, vacuous),
        Decided::Unknown(undecided) => {
            let (code, reason) = undecided_reason(undecided);
            let report = &mut outcome.report;
            (report.answer, report.verdict) = (Some(AnswerWord::Unknown), VerdictWord::Unknown);
            outcome.explain(code, reason);
            ExitStatus::Unknown
        }
    })
}

/// Writes down the evidence of an answer, and checks it if that is asked for.
///
/// # Errors
/// Evidence that does not show what it claims: our own mistake. An input that has changed.
fn write_down(
    request: &QueryRequest,
    proved: Result<QueryProof, String>,
    budget: &Budget,
    outcome: &mut Outcome<QueryReport>,
) -> Result<(), Failure> {
    let report = &mut outcome.report;
    let proof = match proved {
        Ok(proof) => proof,
        Err(why) => {
            report.certified = request.certify.then(|| Certified::not(&why));
            report.no_evidence = why;
            return Ok(());
        }
    };
    let answer = match &proof {
        QueryProof::Witness(_) => AnswerWord::Sat,
        QueryProof::Refutation(_) => AnswerWord::Unsat,
    };
    let QueryRequest { network, property, .. } = request;
    let evidence = QueryEvidence::new(answer, network, property, &outcome.remarks.inputs, proof);
    if request.certify {
        let mut budget = budget.within(budget.remaining());
        report.certified = Some(Certified::by(|| {
            let not_json = |error| Failure::Internal(format!("evidence as JSON: {error}"));
            let text = serde_json::to_vec(&evidence).map_err(not_json)?;
            let value = serde_json::from_slice(&text).map_err(not_json)?;
            check_evidence(&value, Path::new("evidence"), &mut budget).map(|_| text.len() as u64)
        })?);
    }
    report.evidence = Some(evidence);
    Ok(())
}

/// Checks whether network and property speak of the same inputs and outputs.
fn fit(
    network_file: &Path,
    property_file: &Path,
    network: &Network,
    property: &NetworkProperty,
) -> Result<(), Failure> {
    let name = |path: &Path| path.display().to_string();
    let mut findings = Vec::new();
    for (what, letter, declared, width) in [
        ("input", 'X', property.inputs, network.input_width()),
        ("output", 'Y', property.outputs, network.output_width()),
    ] {
        let counted = |count: usize| {
            let plural = if count == 1 { "" } else { "s" };
            format!("{count} {what}{plural}")
        };
        if declared != width {
            let declared_names = match declared {
                1 => format!("{letter}_0 alone"),
                count => format!("{letter}_0 to {letter}_{}", count - 1),
            };
            let message = format!(
                "{}: the property declares {declared_names} ({}), but the network {} has {}",
                name(property_file),
                counted(declared),
                name(network_file),
                counted(width)
            );
            let file = Some(property_file.to_owned());
            findings.push(Finding { file, ..Finding::invalid(message) });
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(Failure::Findings(findings)) }
}

fn about_outputs(disjunct: &[LinearInequality], inputs: usize) -> bool {
    disjunct.iter().any(|inequality| inequality.terms.iter().any(|(v, _)| *v >= inputs))
}

fn undecided_reason(undecided: UndecidedReason) -> (ReasonCode, String) {
    match undecided {
        UndecidedReason::Unbounded { variable } => (
            ReasonCode::UnboundedInput,
            format!(
                "X_{variable} is not bounded on both sides; an input that the network reads needs \
                 bounds such as (>= X_{variable} 0) and (<= X_{variable} 1)"
            ),
        ),
        UndecidedReason::NotPiecewiseLinear => {
            (ReasonCode::NotPiecewiseLinear, undecided.to_string())
        }
        other => (ReasonCode::Other, other.to_string()),
    }
}

/// The number of disjuncts that share the time: so that one that is hard does not keep others
/// waiting, and memory is needed for this many at once only.
const GROUP: usize = 256;

/// Says how a question ends, unless it is stopped.
enum Decided {
    Sat(Box<Witness>),
    Unsat { vacuous: bool },
    Unknown(UndecidedReason),
}

struct Decision<'a> {
    network: &'a Network,
    property: &'a NetworkProperty,
    oracle: RealOracle,
    budget: &'a mut Budget,
    /// By disjunct the steps of a search that found nothing, where they are kept.
    records: Vec<Option<Vec<RecordedStep>>>,
}

impl Decision<'_> {
    /// Decides the disjuncts, those of a group together.
    fn decide(&mut self) -> Result<Decided, Failure> {
        let property = self.property;
        let mut open: Vec<&[LinearInequality]> = Vec::new();
        // The positions of those that are open.
        let mut places = Vec::new();
        for (at, disjunct) in property.disjuncts.iter().enumerate() {
            if contradict(disjunct) {
                self.records[at] = Some(vec![RecordedStep::Refuted(None)]);
            } else {
                open.push(disjunct);
                places.push(at);
            }
        }
        let mut unknown = None;
        self.budget.poll_clock()?;
        for (group, places) in open.chunks(GROUP).zip(places.chunks(GROUP)) {
            let answer = self.oracle.decide_any(group, self.budget)?;
            if answer == RealAnswer::Unsat {
                for (disjunct, steps) in self.oracle.take_records() {
                    self.records[places[disjunct]] = Some(steps);
                }
            }
            match answer {
                RealAnswer::Unsat => {}
                RealAnswer::Sat(inputs) => return self.witness(&inputs),
                // A later one may be satisfied all the same.
                RealAnswer::Undecided(undecided) => _ = unknown.get_or_insert(undecided),
            }
        }
        Ok(match unknown {
            Some(undecided) => Decided::Unknown(undecided),
            None => Decided::Unsat { vacuous: self.is_vacuous() },
        })
    }

    /// A proof that nothing satisfies the property, made of what the searches did; or why there is none.
    fn refutation(&mut self) -> Result<Result<QueryProof, String>, Failure> {
        let mut proofs = Vec::with_capacity(self.records.len());
        let mut steps_left = MOST_STEPS;
        for (inequalities, recorded) in self.property.disjuncts.iter().zip(&mut self.records) {
            let Some(recorded) = recorded.take() else {
                return Err(Failure::Internal("a search without record".to_owned()));
            };
            let network = self.oracle.network();
            let proof = refute::proof(network, inequalities, recorded, steps_left, self.budget);
            let steps = match proof {
                Ok(Some(steps)) => steps,
                Ok(None) => {
                    let why = "no proof was found that bounds of the check confirm";
                    return Ok(Err(format!("{why}, of at most {MOST_STEPS} steps")));
                }
                Err(StopReason::Interrupted) => return Err(StopReason::Interrupted.into()),
                Err(reason) => return Ok(Err(format!("the proof was not finished: {reason}"))),
            };
            steps_left = steps_left.saturating_sub(steps.len());
            proofs.push(steps.iter().map(evidence::step_record).collect());
        }
        Ok(Ok(QueryProof::Refutation(proofs)))
    }

    /// The witness with these inputs, checked.
    fn witness(&self, inputs: &[Rational]) -> Result<Decided, Failure> {
        let scores = Scores::new(self.network);
        let found = scores
            .satisfied_disjunct(self.property, inputs)
            .and_then(|index| witness::witness(&scores, self.property, index, inputs));
        found.map(|witness| Decided::Sat(Box::new(witness))).ok_or_else(|| {
            Failure::Internal(format!("the inputs {inputs:?} satisfy no disjunct of the property"))
        })
    }

    /// Returns whether no inputs satisfy the conditions on the inputs of any disjunct. If that does
    /// not become clear, the answer is no.
    fn is_vacuous(&mut self) -> bool {
        let inputs = self.property.inputs;
        self.property.disjuncts.iter().all(|disjunct| {
            let mut region = disjunct.clone();
            region.retain(|inequality| inequality.terms.iter().all(|(v, _)| *v < inputs));
            contradict(&region)
                || matches!(self.oracle.decide(&region, self.budget), Ok(RealAnswer::Unsat))
        })
    }
}
