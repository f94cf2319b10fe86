//! Regions whose conditions are shared, and points of regions.

use std::borrow::Borrow;
use std::sync::Arc;

use policert_engine_api::{Budget, EngineError, point_of};
use policert_model::{Condition, Region, State};

/// States, and free choices, with shared conditions.
pub type SharedRegion = Region<Arc<Condition>>;

/// The conjuncts of a condition, shared.
#[must_use]
pub fn shared(condition: &Condition) -> Vec<Arc<Condition>> {
    match condition {
        Condition::And(parts) => parts.iter().cloned().map(Arc::new).collect(),
        Condition::True => Vec::new(),
        other => vec![Arc::new(other.clone())],
    }
}

/// A point of a region, if there is one.
///
/// # Errors
/// A stop of the budget.
pub fn point_in<C: Borrow<Condition> + Clone>(
    region: &Region<C>,
    budget: &mut Budget,
) -> Result<Option<State>, EngineError> {
    if region.is_empty() {
        return Ok(None);
    }
    if region.is_box() {
        return Ok(Some(region.sides.lower_corner()));
    }
    let conditions = region.conditions.iter().map(|c| Condition::clone(c.borrow()));
    point_of(&Condition::and(conditions), &region.sides, budget)
}
