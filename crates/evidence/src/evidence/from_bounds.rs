//! Evidence of a probability: bounds by state, checked before they are written.

use policert_certify::{
    CertifiedProbability, ProbabilityClaim, ProbabilityError, ValuedState, check_probability,
};
use policert_engine_api::{Budget, ProbabilityAim};
use policert_outcome::Failure;
use policert_outcome::decimal::outward;
use policert_problem::{Problem, state_record};

use crate::{Evidence, OperatorRecord, Proof, ValueRecord, WitnessPathRecord, WitnessStepRecord};

/// The greatest number of paths that are written.
const PATHS: usize = 10;

/// Checks bounds, without what the engine kept.
pub fn check(
    problem: &Problem,
    asked: &ProbabilityAim,
    values: &[ValuedState],
    budget: &mut Budget,
) -> Result<CertifiedProbability, ProbabilityError> {
    let claim = ProbabilityClaim {
        question: &problem.question(),
        stay: &asked.stay,
        policy: problem.policy.as_ref(),
        direction: asked.direction,
        complement: asked.complement,
        over: asked.over_starts(),
    };
    check_probability(&claim, values, PATHS, budget)
}

impl Evidence {
    /// The evidence that bounds by state are, or why they are not confirmed.
    ///
    /// # Errors
    /// A modelling error that the check meets.
    pub fn of_bounds(
        problem: &Problem,
        asked: &ProbabilityAim,
        values: &[ValuedState],
        budget: &mut Budget,
    ) -> Result<Result<Self, ProbabilityError>, Failure> {
        let certified = match check(problem, asked, values, budget) {
            Ok(certified) => certified,
            Err(error) if error.is_stop() => return Ok(Err(error)),
            Err(ProbabilityError::Engine(error)) => return Err(error.into()),
            Err(error) => return Ok(Err(error)),
        };
        let proof = proof(problem, asked, values, &certified);
        Ok(Ok(Self::new(problem, "probability", "prob", proof)))
    }
}

fn proof(
    problem: &Problem,
    asked: &ProbabilityAim,
    values: &[ValuedState],
    certified: &CertifiedProbability,
) -> Proof {
    let model = &problem.model;
    let mut operators: Vec<OperatorRecord> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    let records = values.iter().zip(&certified.taken).map(|(value, taken)| {
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
    Proof::Probability {
        probability: outward(&certified.lower, &certified.upper),
        over_start_states: asked.over_starts(),
        variables: model.variables.iter().map(|variable| variable.name.clone()).collect(),
        operators,
        values,
        paths,
    }
}
