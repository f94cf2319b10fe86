//! Evidence of a probability: bounds by state, checked before they are written.

use policert_certify::{
    CertifiedProbability, ProbabilityClaim, ProbabilityError, ValuedPieces, check_pieces,
    check_probability,
};
use policert_engine_api::{Budget, ClaimedValues, EngineError, ProbabilityAim, StopReason};
use policert_model::Model;
use policert_numeric::Rational;
use policert_outcome::Failure;
use policert_outcome::decimal::outward;
use policert_problem::{Problem, state_record};

use super::from_invariant::{piece_record, read_piece};
use crate::invariant_check::{CheckedBy, with_choices};
use crate::{
    Evidence, OperatorRecord, PieceRecord, Proof, ValueRecord, WitnessPathRecord, WitnessStepRecord,
};

/// The greatest number of paths that are written.
const PATHS: usize = 10;

/// Checks bounds within what is left of the budget, without what the engine kept.
///
/// # Errors
/// A policy that the decision oracle cannot take; the fault of the bounds stands in what is returned.
pub fn check(
    problem: &Problem,
    asked: &ProbabilityAim,
    claimed: &ClaimedValues,
    whole: &Budget,
) -> Result<Result<CertifiedProbability, ProbabilityError>, Failure> {
    let claim = ProbabilityClaim {
        question: &problem.question(),
        stay: &asked.stay,
        policy: problem.policy.as_ref(),
        direction: asked.direction,
        complement: asked.complement,
        over: asked.over_starts(),
    };
    let values = &claimed.states;
    let Some(pieces) = &claimed.pieces else {
        let mut budget = whole.within(whole.remaining());
        return Ok(check_probability(&claim, values, PATHS, &mut budget));
    };
    let is_time = |error: &ProbabilityError| {
        matches!(error, ProbabilityError::Engine(EngineError::Stop(StopReason::Time)))
    };
    let checked = with_choices(problem, whole, is_time, |choices, budget| {
        check_pieces(&claim, values, pieces, PATHS, choices, budget)
    })?;
    Ok(checked.map(|(certified, _): (_, CheckedBy)| certified))
}

impl Evidence {
    /// The evidence that bounds by state and by piece are, or why they are not confirmed.
    ///
    /// # Errors
    /// A modelling error that the check meets.
    pub fn of_bounds(
        problem: &Problem,
        engine: &str,
        asked: &ProbabilityAim,
        claimed: &ClaimedValues,
        whole: &Budget,
    ) -> Result<Result<Self, Unconfirmed>, Failure> {
        let certified = match check(problem, asked, claimed, whole)? {
            Ok(certified) => certified,
            Err(error) if error.is_stop() => return Ok(Err(Unconfirmed::Check(error))),
            Err(ProbabilityError::Engine(error)) => return Err(error.into()),
            Err(error) => return Ok(Err(Unconfirmed::Check(error))),
        };
        let proof = proof(problem, asked, claimed, &certified);
        Ok(proof
            .map(|proof| Self::new(problem, "probability", engine, proof))
            .map_err(Unconfirmed::Unwritten))
    }
}

/// Says why there is no evidence of bounds.
#[derive(Clone, PartialEq, Debug)]
pub enum Unconfirmed {
    /// The check did not confirm them, or did not end.
    Check(ProbabilityError),
    /// They cannot be written.
    Unwritten(String),
}

/// Reads pieces with their bounds, and the bound of the start states; `None` if some piece is not what it
/// should be.
pub(crate) fn read_pieces(
    model: &Model,
    records: &[PieceRecord],
    start: Rational,
) -> Option<ValuedPieces> {
    let piece = |PieceRecord(sides, conditions, upper): &PieceRecord| {
        Some((read_piece(model, sides, conditions)?, *upper))
    };
    let pieces = records.iter().map(piece).collect::<Option<_>>()?;
    Some(ValuedPieces { pieces, start })
}

fn proof(
    problem: &Problem,
    asked: &ProbabilityAim,
    claimed: &ClaimedValues,
    certified: &CertifiedProbability,
) -> Result<Proof, String> {
    let model = &problem.model;
    let mut operators: Vec<OperatorRecord> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    let records = claimed.states.iter().zip(&certified.taken).map(|(value, taken)| {
        let taken = taken.as_ref().map(|key| {
            *places.entry(key.clone()).or_insert_with(|| {
                operators.push(OperatorRecord::new(model, key));
                operators.len() - 1
            })
        });
        ValueRecord(value.state.clone(), value.bounds[0], value.bounds[1], taken)
    });
    let values = records.collect();
    let label = |key: &policert_model::OperatorKey| {
        let result = key.vector.and_then(|v| model.vectors.get(v as usize)?.result);
        result.map(|label| model.label_name(Some(label)).to_owned())
    };
    let paths = certified.paths.iter().map(|path| WitnessPathRecord {
        probability: path.probability.to_string(),
        decimal: path.probability.to_f64(),
        start: state_record(model, &path.start),
        steps: path
            .steps
            .iter()
            .map(|step| WitnessStepRecord {
                label: label(&step.operator),
                operator: OperatorRecord::new(model, &step.operator),
                outcome: step.destination,
                choices: step.choices.clone(),
                probability: step.probability.to_string(),
                state: state_record(model, &step.state),
            })
            .collect(),
    });
    let paths = paths.collect();
    let piece = |(piece, upper): &(policert_model::Region<policert_model::Condition>, f64)| {
        let (sides, conditions) = piece_record(model, piece)?;
        Ok(PieceRecord(sides, conditions, *upper))
    };
    let pieces = claimed.pieces.as_ref().map(|claimed| claimed.pieces.iter().map(piece));
    Ok(Proof::Probability {
        pieces: pieces.map(Iterator::collect::<Result<_, String>>).transpose()?,
        probability: outward(&certified.lower, &certified.upper),
        over_start_states: asked.over_starts(),
        variables: model.variables.iter().map(|variable| variable.name.clone()).collect(),
        operators,
        values,
        paths,
    })
}
