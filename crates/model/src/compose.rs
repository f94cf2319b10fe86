//! Composition of operators from a network of automata (PPA 2022, Appendix A, extended by
//! assignment indices, transient variables, several destinations and free choices).
//!
//! Operators are composed one at a time, when asked for: a model may have millions.

mod effect;

use rustc_hash::FxHashMap;
use thiserror::Error;

use effect::Effect;

use crate::{Condition, Edge, EdgeDestination, InstanceId, Model, OpId, Operator, OperatorKey};

/// Says why an operator, or all of them, cannot be composed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ComposeError {
    /// More operators than the limit.
    #[error("the composed model has {count} operators, more than the limit of {limit}")]
    TooManyOperators {
        /// Their number.
        count: u128,
        /// The limit asked for.
        limit: usize,
    },
    /// A free choice written to a transient variable.
    #[error("unsupported: a non-deterministic assignment to the transient variable {0}")]
    TransientChoice(String),
    /// A key that describes no operator of the model.
    #[error("the model has no operator {0:?}")]
    NoSuchOperator(OperatorKey),
    /// An operator whose destinations multiply beyond reason.
    #[error("unsupported: an operator with {0} destinations")]
    TooManyDestinations(u128),
}

/// The most operators that are composed where all are needed at once.
pub const OPERATOR_LIMIT: usize = 200_000;

/// The most destinations of one operator.
const MAX_DESTINATIONS: u128 = 1 << 20;

/// Composes operators and remembers them.
#[derive(Debug)]
pub struct Composer<'m> {
    model: &'m Model,
    ids: FxHashMap<OperatorKey, OpId>,
    operators: Vec<Operator>,
}

impl<'m> Composer<'m> {
    /// A composer that has composed nothing yet.
    #[must_use]
    pub fn new(model: &'m Model) -> Self {
        Self { model, ids: FxHashMap::default(), operators: Vec::new() }
    }

    /// The operators composed so far, by id.
    #[must_use]
    pub fn operators(&self) -> &[Operator] {
        &self.operators
    }

    /// The operator of this id.
    #[must_use]
    pub fn operator(&self, id: OpId) -> &Operator {
        &self.operators[id.index()]
    }

    /// The operator that `key` describes, composed now or earlier.
    ///
    /// # Errors
    /// See [`ComposeError`].
    pub fn compose(&mut self, key: &OperatorKey) -> Result<OpId, ComposeError> {
        if let Some(&id) = self.ids.get(key) {
            return Ok(id);
        }
        let operator = compose(self.model, key)?;
        let id = OpId::new(self.operators.len());
        self.operators.push(operator);
        self.ids.insert(key.clone(), id);
        Ok(id)
    }
}

impl Model {
    /// All operators: silent ones by instance, then by vector, edges in the order of the file.
    ///
    /// # Errors
    /// See [`ComposeError`].
    pub fn operators(&self, limit: usize) -> Result<Vec<Operator>, ComposeError> {
        let count = self.operator_count();
        if count > limit as u128 {
            return Err(ComposeError::TooManyOperators { count, limit });
        }
        self.operator_keys().map(|key| compose(self, &key)).collect()
    }

    /// The keys of all operators, in the order of [`Model::operators`].
    pub fn operator_keys(&self) -> impl Iterator<Item = OperatorKey> + '_ {
        let silent = self.instances.iter().enumerate().flat_map(|(i, instance)| {
            positions(&instance.edges, |e| e.action.is_none())
                .into_iter()
                .map(move |e| OperatorKey { vector: None, edges: vec![(InstanceId::new(i), e)] })
        });
        let joint = self.vectors.iter().enumerate().flat_map(move |(v, vector)| {
            let choices: Vec<Vec<u32>> = vector
                .participants
                .iter()
                .map(|&(i, action)| {
                    positions(&self.instance(i).edges, |e| e.action == Some(action))
                })
                .collect();
            let participants: Vec<InstanceId> =
                vector.participants.iter().map(|&(i, _)| i).collect();
            let vector = u32::try_from(v).ok();
            Product::new(choices).map(move |edges| OperatorKey {
                vector,
                edges: participants.iter().copied().zip(edges).collect(),
            })
        });
        silent.chain(joint)
    }
}

fn positions(edges: &[Edge], keep: impl Fn(&Edge) -> bool) -> Vec<u32> {
    edges.iter().zip(0u32..).filter(|(e, _)| keep(e)).map(|(_, i)| i).collect()
}

/// The cartesian product of lists, the last one fastest; empty if there is no list.
struct Product {
    lists: Vec<Vec<u32>>,
    at: Option<Vec<usize>>,
}

impl Product {
    fn new(lists: Vec<Vec<u32>>) -> Self {
        let empty = lists.is_empty() || lists.iter().any(Vec::is_empty);
        let at = (!empty).then(|| vec![0; lists.len()]);
        Self { lists, at }
    }
}

impl Iterator for Product {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        let at = self.at.as_mut()?;
        let item = at.iter().zip(&self.lists).map(|(&i, list)| list[i]).collect();
        let mut k = at.len();
        loop {
            if k == 0 {
                self.at = None;
                break;
            }
            k -= 1;
            at[k] += 1;
            if at[k] < self.lists[k].len() {
                break;
            }
            at[k] = 0;
        }
        Some(item)
    }
}

/// The edges that `key` names, if they compose to an operator.
fn participants<'m>(model: &'m Model, key: &OperatorKey) -> Option<Vec<(InstanceId, &'m Edge)>> {
    let find = |&(i, e): &(InstanceId, u32)| {
        Some((i, model.instances.get(i.index())?.edges.get(e as usize)?))
    };
    let edges = key.edges.iter().map(find).collect::<Option<Vec<_>>>()?;
    let fits = match key.vector {
        None => edges.len() == 1 && edges[0].1.action.is_none(),
        Some(vector) => {
            let wanted = &model.vectors.get(vector as usize)?.participants;
            let named = edges.iter().map(|&(i, edge)| (i, edge.action));
            !edges.is_empty() && named.eq(wanted.iter().map(|&(i, action)| (i, Some(action))))
        }
    };
    fits.then_some(edges)
}

/// Composes one operator.
fn compose(model: &Model, key: &OperatorKey) -> Result<Operator, ComposeError> {
    let edges =
        participants(model, key).ok_or_else(|| ComposeError::NoSuchOperator(key.clone()))?;
    let guard = Condition::and(edges.iter().flat_map(|(i, edge)| {
        let location = Condition::var_equals(model.instance(*i).location, edge.source);
        [simplify_location(model, *i, location), edge.guard.clone()]
    }));
    let count =
        edges.iter().fold(1u128, |n, (_, e)| n.saturating_mul(e.destinations.len() as u128));
    if count > MAX_DESTINATIONS {
        return Err(ComposeError::TooManyDestinations(count));
    }
    let lists = edges.iter().map(|(_, e)| (0u32..).take(e.destinations.len()).collect()).collect();
    let mut destinations = Vec::new();
    for choice in Product::new(lists) {
        let parts: Vec<(InstanceId, &EdgeDestination)> = edges
            .iter()
            .zip(&choice)
            .map(|((i, edge), &d)| (*i, &edge.destinations[d as usize]))
            .collect();
        destinations.push(Effect::new(model).destination(&parts)?);
    }
    let label = key.vector.and_then(|v| model.vectors[v as usize].result);
    Ok(Operator { key: key.clone(), label, guard, destinations })
}

/// The location of an instance with a single location says nothing.
fn simplify_location(model: &Model, instance: InstanceId, condition: Condition) -> Condition {
    let location = &model.variables[model.instance(instance).location.index()];
    if location.domain.is_point() { Condition::True } else { condition }
}
