//! Applicable labels by the definition: a label is applicable iff the guard of an operator with
//! it holds. Guards are conjunctions over the participants of a vector, so no operator needs to
//! be composed.

use policert_model::{
    Composer, DomainRule, EvalError, InstanceId, LabelId, Model, ModelSemantics, ModellingError,
    OperatorKey, SyncVector,
};

/// Returns whether `label` is applicable in `state`.
///
/// # Errors
/// An operator whose guard has no truth value, under [`DomainRule::Error`].
pub(crate) fn is_applicable(
    semantics: ModelSemantics<'_>,
    label: LabelId,
    state: &[i64],
) -> Result<bool, ModellingError> {
    let model = semantics.model;
    let mut applicable = false;
    for (vector, v) in model.vectors.iter().zip(0u32..) {
        if vector.result != Some(label) || vector.participants.is_empty() {
            continue;
        }
        let guards: Vec<Guards> =
            vector.participants.iter().map(|&p| Guards::of(model, p, state)).collect();
        applicable |= guards.iter().all(|g| g.holds.is_some());
        if semantics.rule == DomainRule::Error {
            check_values(semantics, vector, v, &guards, state)?;
        }
    }
    Ok(applicable)
}

/// The edges that an instance may take with an action.
#[derive(Default)]
struct Guards {
    /// The first edge whose guard holds.
    holds: Option<u32>,
    /// The first edge whose guard has no truth value.
    undefined: Option<u32>,
}

impl Guards {
    fn of(model: &Model, (instance, action): (InstanceId, LabelId), state: &[i64]) -> Self {
        let instance = model.instance(instance);
        let mut guards = Self::default();
        for (edge, e) in instance.edges.iter().zip(0u32..) {
            if edge.action != Some(action) || state[instance.location.index()] != edge.source {
                continue;
            }
            let truth: Result<bool, EvalError> = edge.guard.holds(state);
            match truth {
                Ok(true) => guards.holds = guards.holds.or(Some(e)),
                Ok(false) => {}
                Err(_) => guards.undefined = guards.undefined.or(Some(e)),
            }
        }
        guards
    }

    fn possible(&self) -> Option<u32> {
        self.undefined.or(self.holds)
    }
}

/// An operator all of whose guards hold or have no truth value, one at least the latter, has no
/// truth value itself.
fn check_values(
    semantics: ModelSemantics<'_>,
    vector: &SyncVector,
    v: u32,
    guards: &[Guards],
    state: &[i64],
) -> Result<(), ModellingError> {
    if guards.iter().all(|g| g.undefined.is_none()) {
        return Ok(());
    }
    let instances = vector.participants.iter().map(|&(instance, _)| instance);
    let edges: Option<Vec<_>> =
        instances.zip(guards).map(|(i, g)| Some((i, g.possible()?))).collect();
    let Some(edges) = edges else { return Ok(()) };
    let mut composer = Composer::new(semantics.model);
    // What does not compose is reported when a step takes it.
    let Ok(id) = composer.compose(&OperatorKey { vector: Some(v), edges }) else { return Ok(()) };
    semantics.is_enabled(composer.operator(id), state).map(|_| ())
}
