//! Whether a run may get stuck in a state, by the definition: the environment has no successor, and the
//! policy may choose a label that has none, or chooses nothing.

use policert_model::{Composer, LabelId, Model, ModelSemantics, ModellingError, OperatorKey};
use policert_policy::{Filter, Policy};

use crate::applicable::is_applicable;
use crate::error::ReplayError;
use crate::scores::{Contest, Scorer};

/// Checks that a run may get stuck in `state`, after `step` steps.
pub(crate) fn check_stuck(
    semantics: ModelSemantics<'_>,
    policy: Option<&(&Policy, Scorer<'_>)>,
    step: usize,
    state: &[i64],
) -> Result<(), ReplayError> {
    let model = semantics.model;
    let modelling = |error: ModellingError| ReplayError::Modelling { step, error: Box::new(error) };
    let goes_on =
        |operator: String| ReplayError::GoesOn { operator, state: model.display_state(state) };
    let of_policy = |label: LabelId| policy.is_some_and(|(p, _)| p.output_of(label).is_some());
    let is_environments = |label: Option<LabelId>| !label.is_some_and(of_policy);
    if let Some(operator) = successor(semantics, state, is_environments, step)? {
        return Err(goes_on(operator));
    }
    let Some((policy, scorer)) = policy else { return Ok(()) };
    let mut competing = Vec::new();
    for (output, &label) in policy.outputs().iter().enumerate() {
        if policy.semantics().filter == Filter::None
            || is_applicable(semantics, label, state).map_err(modelling)?
        {
            competing.push(output);
        }
    }
    let mut inputs = Vec::new();
    policy.read_inputs(state, &mut inputs);
    let contests = scorer.contests(&competing, &inputs);
    // An operator that goes on with a label that is chosen, or may be.
    let (mut chosen, mut possible) = (None, None);
    let mut is_open = false;
    for (output, contest) in contests {
        let is_won = match contest {
            Contest::LostTo(_) | Contest::Unlikely => continue,
            Contest::Open => false,
            Contest::Won => true,
        };
        let label = policy.outputs()[output];
        match (successor(semantics, state, |l| l == Some(label), step)?, is_won) {
            // Chosen, and nothing comes of it.
            (None, true) => return Ok(()),
            (None, false) => is_open = true,
            (Some(operator), true) => chosen = Some(operator),
            (Some(operator), false) => possible = Some(operator),
        }
    }
    // One of those that may be chosen is, unless nothing may be chosen.
    is_open |= possible.is_some() && chosen.is_none() && !policy.always_chooses();
    match (chosen.or(possible), is_open) {
        (_, true) => Err(ReplayError::UndecidedChoice { step, state: model.display_state(state) }),
        (Some(operator), false) => Err(goes_on(operator)),
        (None, false) => Ok(()),
    }
}

/// An operator with one of these labels that has a successor in `state`, if there is one.
fn successor(
    semantics: ModelSemantics<'_>,
    state: &[i64],
    wanted: impl Fn(Option<LabelId>) -> bool,
    step: usize,
) -> Result<Option<String>, ReplayError> {
    let model = semantics.model;
    let modelling = |error: ModellingError| ReplayError::Modelling { step, error: Box::new(error) };
    let mut composer = Composer::new(model);
    for key in enabled(model, state, wanted) {
        let id = composer.compose(&key).map_err(|error| ReplayError::NoOperator { step, error })?;
        let operator = composer.operator(id);
        let is_enabled = semantics.is_enabled(operator, state).map_err(modelling)?;
        if is_enabled && !semantics.successors(operator, state).map_err(modelling)?.list.is_empty()
        {
            return Ok(Some(model.display_operator(&key)));
        }
    }
    Ok(None)
}

/// The operators with one of these labels whose edges leave the locations of `state`, and whose guards
/// do not fail there.
fn enabled(
    model: &Model,
    state: &[i64],
    wanted: impl Fn(Option<LabelId>) -> bool,
) -> Vec<OperatorKey> {
    let mut keys = Vec::new();
    let may_fire = |instance: policert_model::InstanceId, action: Option<LabelId>| {
        let found = model.instance(instance);
        let edges = found.edges.iter().zip(0u32..);
        let fires = edges.filter(|(edge, _)| {
            edge.action == action
                && state[found.location.index()] == edge.source
                && edge.guard.holds(state) != Ok(false)
        });
        fires.map(|(_, e)| (instance, e)).collect::<Vec<_>>()
    };
    if wanted(None) {
        let instances = (0..model.instances.len()).map(policert_model::InstanceId::new);
        let alone = instances.flat_map(|instance| may_fire(instance, None));
        keys.extend(alone.map(|edge| OperatorKey { vector: None, edges: vec![edge] }));
    }
    for (vector, v) in model.vectors.iter().zip(0u32..) {
        if vector.participants.is_empty() || !wanted(vector.result) {
            continue;
        }
        let mut joint = vec![Vec::new()];
        for &(instance, action) in &vector.participants {
            let edges = may_fire(instance, Some(action));
            let longer = |begun: &Vec<_>| {
                let begun = begun.clone();
                edges
                    .iter()
                    .map(move |&edge| [begun.clone(), vec![edge]].concat())
                    .collect::<Vec<_>>()
            };
            joint = joint.iter().flat_map(longer).collect();
        }
        keys.extend(joint.into_iter().map(|edges| OperatorKey { vector: Some(v), edges }));
    }
    keys
}
