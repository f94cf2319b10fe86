//! Realisability of an abstract path in the environment (spuriousness i-a): is there a run of
//! the model, whatever the policy chooses, that follows it?

use policert_engine_api::{Answer, Budget, EngineError, StartStates};
use policert_model::{Condition, State};
use policert_numeric::IntBox;

use super::config::BrokenRequirements;
use super::path::{AbstractPath, RequirementKind};
use super::path_condition::PathCondition;
use crate::abstraction::Abstraction;
use crate::queries::Queries;
use crate::region::Region;

/// Start states of a path, one of several parts.
#[derive(Clone, Debug)]
pub(crate) struct StartPart {
    /// The conditions that single out states in the box.
    conditions: Vec<Condition>,
    /// A box of start states, extended by the free choices of the path.
    sides: IntBox,
}

impl StartPart {
    /// As a region.
    pub fn region(&self) -> Region<'_> {
        Region::new(self.sides.clone(), &self.conditions)
    }
}

/// Says how far the requirements of a path can be met.
#[derive(Debug)]
pub(crate) struct Prefix {
    /// Position of the first requirement that cannot be met together with all before; their
    /// number if all can.
    pub met: usize,
    /// A start state with free choices that meets all before.
    pub point: State,
    /// The requirements after the first one that cannot be met that cannot be met either together
    /// with all that can.
    pub further: Vec<usize>,
}

/// The start states in the first abstract state of a path, in parts.
pub(crate) fn start_parts(
    abstraction: &Abstraction<'_>,
    path: &AbstractPath,
    encoding: &PathCondition,
) -> Vec<StartPart> {
    let first = &path.states[0].cell;
    let variables = first.sides.dimensions();
    let choices = &encoding.sides.sides()[variables..];
    let extended = |mut sides: IntBox| {
        choices.iter().for_each(|&side| sides.push(side));
        sides
    };
    let mut parts = Vec::new();
    for source in abstraction.question.start_states() {
        match source {
            StartStates::List(states) => {
                for state in states {
                    if first.contains(state) {
                        let sides = extended(IntBox::point(state));
                        parts.push(StartPart { conditions: Vec::new(), sides });
                    }
                }
            }
            StartStates::Region(condition, sides) => {
                let mut conditions: Vec<Condition> = condition.conjuncts().to_vec();
                if condition == Condition::False {
                    conditions = vec![Condition::False];
                }
                conditions.extend(first.others.iter().map(|literal| literal.condition().clone()));
                let sides = extended(sides.intersect(&first.sides));
                parts.push(StartPart { conditions, sides });
            }
        }
    }
    parts
}

/// Meets the requirements of the path one after the other from one part of the start states;
/// `None` if that part is empty. Without `targets` a run need not stay in the abstract states of
/// the path. Whether further requirements are broken is looked at where all are wanted.
///
/// # Errors
/// A stop of the budget, or a query that is not decided.
pub(crate) fn longest_prefix(
    encoding: &PathCondition,
    part: &StartPart,
    (targets, wanted): (bool, BrokenRequirements),
    queries: &mut Queries<'_>,
    budget: &mut Budget,
) -> Result<Option<Prefix>, EngineError> {
    let mut region = part.region();
    let Some(mut point) = solution(&region, queries, budget)? else { return Ok(None) };
    let mut broken: Option<Prefix> = None;
    for (met, encoded) in encoding.requirements.iter().enumerate() {
        budget.poll()?;
        if !targets && encoded.requirement.kind == RequirementKind::Target {
            continue;
        }
        let condition = &encoded.initially;
        let narrower = region.restrict([condition]);
        let met_by = if condition.holds(&point) == Ok(true) {
            None
        } else {
            match solution(&narrower, queries, budget)? {
                Some(next) => Some(next),
                None => {
                    let further = Vec::new();
                    match &mut broken {
                        Some(broken) => broken.further.push(met),
                        None => broken = Some(Prefix { met, point: point.clone(), further }),
                    }
                    if wanted == BrokenRequirements::First {
                        break;
                    }
                    continue;
                }
            }
        };
        region = narrower;
        point = met_by.unwrap_or(point);
    }
    let all = encoding.requirements.len();
    Ok(broken.or(Some(Prefix { met: all, point, further: Vec::new() })))
}

/// A point of a region, exactly.
///
/// # Errors
/// A stop of the budget, or a query that is not decided.
pub(crate) fn solution(
    region: &Region<'_>,
    queries: &mut Queries<'_>,
    budget: &mut Budget,
) -> Result<Option<State>, EngineError> {
    if region.is_empty() {
        return Ok(None);
    }
    match queries.inhabitant(region, budget)? {
        Answer::Refuted => Ok(None),
        Answer::Possible(Some(point)) => Ok(Some(point)),
        Answer::Possible(None) => Err(EngineError::Undecided(
            "whether an abstract path can be followed in the environment".to_owned(),
        )),
    }
}
