//! Evidence of a probability: bounds by state, checked before they are written.

use policert_certify::{
    CertifiedProbability, ProbabilityClaim, ProbabilityError, ValuedState, check_probability,
};
use policert_engine_api::Budget;
use policert_explore::Induced;
use policert_jani::property::Relation;
use policert_mdp::{Direction, Solution};

use super::question::Asked;
use crate::evidence::{
    EVIDENCE_VERSION, OperatorRecord, Proof, ValueRecord, WitnessPathRecord, WitnessStepRecord,
    state_record,
};
use crate::{Evidence, Failure, Task, VERSION};

/// The most states that are written.
const MOST_STATES: usize = 2_000_000;
/// How many paths are written.
const PATHS: usize = 10;

/// The states of which something is known, with bounds.
pub(super) fn values(induced: &Induced, solution: &Solution) -> Vec<ValuedState> {
    let open = |&id: &u32| !induced.target.contains(id) && !induced.avoid.contains(id);
    let states = induced.mdp.state_range().filter(open);
    let valued = states.map(|id| (id, solution.float_bounds(id)));
    let known = valued.filter(|(_, [lo, hi])| *lo > 0.0 || *hi < 1.0);
    known.map(|(id, bounds)| ValuedState { state: induced.state(id), bounds }).collect()
}

/// Why there is no evidence for a question, if there is none.
pub(super) fn refusal(asked: &Asked<'_>, induced: &Induced) -> Option<&'static str> {
    if asked.direction == Direction::Min || asked.complement {
        Some("there is some for greatest probabilities only")
    } else if compares_equal(asked) {
        Some("there is none for a comparison by = or ≠")
    } else if !induced.unexplored.is_empty() || !induced.starts_complete {
        Some("not all states were built")
    } else if induced.undecided.is_some() {
        Some("the policy's choice is not decided in some state")
    } else if induced.mdp.states() > MOST_STATES {
        Some("there are more than two million states")
    } else {
        None
    }
}

/// Checks bounds, without what the engine kept.
pub(crate) fn check(
    task: &Task,
    asked: &Asked<'_>,
    values: &[ValuedState],
    budget: &mut Budget,
) -> Result<CertifiedProbability, ProbabilityError> {
    let claim = ProbabilityClaim {
        question: &asked.reach.question,
        stay: &asked.reach.stay,
        policy: task.policy.as_ref(),
        over: asked.over_starts(),
    };
    check_probability(&claim, values, PATHS, budget)
}

/// The evidence, or why the bounds are not confirmed.
pub(super) fn evidence(
    task: &Task,
    asked: &Asked<'_>,
    values: &[ValuedState],
    budget: &mut Budget,
) -> Result<Result<Evidence, ProbabilityError>, Failure> {
    let certified = match check(task, asked, values, budget) {
        Ok(certified) => certified,
        Err(error) if error.is_stop() => return Ok(Err(error)),
        Err(ProbabilityError::Engine(error)) => return Err(error.into()),
        Err(error) => return Ok(Err(error)),
    };
    Ok(Ok(Evidence {
        schema_version: EVIDENCE_VERSION,
        version: VERSION.to_owned(),
        verdict: "probability".to_owned(),
        engine: "prob".to_owned(),
        task: task.record.clone(),
        semantics: task.semantics.clone(),
        inputs: task.inputs.clone(),
        unsafe_condition: task.model.display_condition(&task.property.unsafe_condition),
        proof: proof(task, asked, values, &certified),
    }))
}

fn proof(
    task: &Task,
    asked: &Asked<'_>,
    values: &[ValuedState],
    certified: &CertifiedProbability,
) -> Proof {
    let model = &task.model;
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
    let bounds = policert_mdp::Bounds { lo: certified.lower.clone(), hi: certified.upper.clone() };
    Proof::Probability {
        probability: super::record::decimals(&bounds),
        over_start_states: asked.over_starts(),
        variables: model.variables.iter().map(|variable| variable.name.clone()).collect(),
        operators,
        values,
        paths,
    }
}

/// Whether numbers are compared for being equal: no start state alone decides that.
fn compares_equal(asked: &Asked<'_>) -> bool {
    asked.comparison.as_ref().is_some_and(|comparison| match comparison.relation {
        Relation::Equal | Relation::NotEqual => true,
        Relation::Less | Relation::AtMost | Relation::Greater | Relation::AtLeast => false,
    })
}
