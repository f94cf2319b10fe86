//! The result of a query as versioned data: `docs/formats/result.md`.

use policert_bounds::RealStatistics;
use policert_engine_api::StopReason;
use policert_numeric::Rational;
use policert_outcome::{Certified, ExitStatus, FileRecord, Outcome, VerdictWord};
use policert_policy::{ElementType, Network};
use policert_vnnlib::NetworkProperty;
use serde::Serialize;

use crate::QueryEvidence;

/// The meaning of the numbers, in one line.
pub(crate) const SEMANTICS: &str = "the network is the real-valued function that its stored weights define; \
                         inputs are real numbers; every comparison is exact, with tolerance 0";

/// The report that `policert query --json` writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct QueryReport {
    /// The answer; `null` where the inputs are wrong.
    pub answer: Option<AnswerWord>,
    /// The same as a verdict: *unsafe* is sat, *safe* is unsat.
    pub verdict: VerdictWord,
    /// True if the answer is unsat because no input satisfies the conditions on the inputs.
    pub vacuous: bool,
    /// Inputs and outputs that satisfy the property.
    pub witness: Option<Witness>,
    /// The meaning of the answer.
    pub semantics: &'static str,
    /// The network in numbers.
    pub network: Option<NetworkSummary>,
    /// The property in numbers.
    pub property: Option<VnnlibSummary>,
    /// The counts of what was done.
    pub statistics: Option<QueryStatistics>,
    /// The check of the evidence, if it was asked for.
    pub certified: Option<Certified>,
    /// The evidence file, if one was asked for.
    pub evidence_file: Option<FileRecord>,
    /// The evidence of the answer, where it was asked for and there is some.
    #[serde(skip)]
    pub evidence: Option<QueryEvidence>,
    /// The reason why there is no evidence, where there is none.
    #[serde(skip)]
    pub no_evidence: String,
}

/// An answer in the words of VNN-COMP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerWord {
    /// There is a witness.
    Sat,
    /// There is none.
    Unsat,
    /// Not known.
    Unknown,
    /// Not known before the time limit.
    Timeout,
}

impl AnswerWord {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sat => "sat",
            Self::Unsat => "unsat",
            Self::Unknown => "unknown",
            Self::Timeout => "timeout",
        }
    }
}

/// Inputs and outputs that satisfy a disjunct of the property.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Witness {
    /// The disjunct that it satisfies, counted from 0.
    pub disjunct: usize,
    /// The inputs, as many as the network has.
    pub inputs: Vec<WitnessValue>,
    /// The outputs, as many as the network has.
    pub outputs: Vec<WitnessValue>,
}

/// The value of a variable.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WitnessValue {
    /// `X_0`, `Y_1` and so on.
    pub name: String,
    /// The value as it is printed: of inputs the exact one, as a decimal or as `(/ 1 3)`; of
    /// outputs a decimal that may be rounded.
    pub value: String,
    /// The exact value, as an integer or as `1/3`; `null` where it is no rational number.
    pub exact: Option<String>,
}

impl Witness {
    /// Names of outputs whose printed value is not the exact one.
    #[must_use]
    pub fn rounded_outputs(&self) -> Vec<&str> {
        let number = |text: &str| text.parse::<Rational>().ok();
        let is_rounded = |output: &&WitnessValue| {
            let exact = output.exact.as_deref().and_then(number);
            exact.is_none() || exact != number(&output.value)
        };
        self.outputs.iter().filter(is_rounded).map(|output| output.name.as_str()).collect()
    }
}

/// A network in numbers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct NetworkSummary {
    /// Number of inputs.
    pub inputs: usize,
    /// Widths of the results of all weight matrices but the last one.
    pub hidden: Vec<usize>,
    /// Number of outputs.
    pub outputs: usize,
    /// Type in which the weights are stored: `f32` or `f64`.
    pub weights: &'static str,
}

impl NetworkSummary {
    pub(super) fn new(network: &Network) -> Self {
        Self {
            inputs: network.input_width(),
            hidden: network.hidden_widths(),
            outputs: network.output_width(),
            weights: match network.element_type() {
                ElementType::F32 => "f32",
                ElementType::F64 => "f64",
            },
        }
    }
}

/// A VNN-LIB property in numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct VnnlibSummary {
    /// Number of disjuncts in disjunctive normal form.
    pub disjuncts: usize,
    /// Number of inequalities in all of them.
    pub inequalities: usize,
}

impl VnnlibSummary {
    pub(super) fn new(property: &NetworkProperty) -> Self {
        Self {
            disjuncts: property.disjuncts.len(),
            inequalities: property.disjuncts.iter().map(Vec::len).sum(),
        }
    }
}

/// Says what was done.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct QueryStatistics {
    /// Questions to the decision oracle.
    pub queries: u64,
    /// Parts of regions that were looked at.
    pub parts: u64,
    /// Parts refuted by a single plane.
    pub by_plane: u64,
    /// Parts refuted by planes jointly.
    pub jointly: u64,
    /// Parts on which the network is linear, decided exactly.
    pub polytopes: u64,
    /// Cuts of a side of a box.
    pub bisections: u64,
    /// Splits at the bend of a function.
    pub bends: u64,
    /// Points at which the network was evaluated.
    pub points: u64,
    /// Points that were checked exactly.
    pub checks: u64,
    /// Wall-clock time of the decision in seconds.
    pub decide_s: f64,
}

impl QueryStatistics {
    pub(super) fn new(counted: &RealStatistics) -> Self {
        Self {
            queries: counted.queries,
            parts: counted.parts,
            by_plane: counted.by_plane,
            jointly: counted.jointly,
            polytopes: counted.polytopes,
            bisections: counted.bisections,
            bends: counted.bends,
            points: counted.points,
            checks: counted.checks,
            decide_s: 0.0,
        }
    }
}

impl QueryReport {
    /// A report that says nothing yet.
    pub(super) fn empty() -> Self {
        Self {
            answer: None,
            verdict: VerdictWord::Error,
            vacuous: false,
            witness: None,
            semantics: SEMANTICS,
            network: None,
            property: None,
            statistics: None,
            certified: None,
            evidence_file: None,
            evidence: None,
            no_evidence: "there is no answer".to_owned(),
        }
    }
}

pub(super) fn sat(outcome: &mut Outcome<QueryReport>, witness: Witness) -> ExitStatus {
    let rounded = witness.rounded_outputs();
    if !rounded.is_empty() {
        outcome.remarks.notes.push(format!(
            "the values of {} are rounded; those of the inputs are exact",
            shortened(&rounded)
        ));
    }
    let report = &mut outcome.report;
    report.witness = Some(witness);
    (report.answer, report.verdict) = (Some(AnswerWord::Sat), VerdictWord::Unsafe);
    ExitStatus::Unsafe
}

pub(super) fn unsat(outcome: &mut Outcome<QueryReport>, vacuous: bool) -> ExitStatus {
    let report = &mut outcome.report;
    report.vacuous = vacuous;
    (report.answer, report.verdict) = (Some(AnswerWord::Unsat), VerdictWord::Safe);
    if vacuous {
        outcome.remarks.warnings.push(
            "the answer is vacuous: no input satisfies the conditions on the inputs, whatever the \
             network is"
                .to_owned(),
        );
    }
    ExitStatus::Safe
}

pub(super) fn stopped(outcome: &mut Outcome<QueryReport>, stop: StopReason) -> ExitStatus {
    let answer = match stop {
        StopReason::Time => AnswerWord::Timeout,
        _ => AnswerWord::Unknown,
    };
    (outcome.report.answer, outcome.report.verdict) = (Some(answer), VerdictWord::Unknown);
    outcome.stop(stop)
}

/// The first few of many names.
fn shortened(names: &[&str]) -> String {
    const SHOWN: usize = 6;
    match names.len() {
        count if count > SHOWN => {
            format!("{} and {} more outputs", names[..SHOWN].join(", "), count - SHOWN)
        }
        _ => names.join(", "),
    }
}
