//! Composition of operators from a network of automata (PPA 2022, Appendix A, extended by
//! assignment indices, transient variables, several destinations and free choices).
//!
//! Operators are composed one at a time, when asked for: a model may have millions.

use std::collections::BTreeMap;

use policert_numeric::Rational;
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::{
    AssignedValue, Assignment, BinaryOp, CellWrite, Choice, Condition, Conflict, Destination, Edge,
    EdgeDestination, Expr, InstanceId, Model, OpId, Operator, OperatorKey, Probability, Target,
    TransientId, UnaryOp, Update, UpdateValue, VarId,
};

/// Why an operator, or all of them, cannot be composed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ComposeError {
    /// More operators than the limit.
    #[error("the composed model has {count} operators, more than the limit of {limit}")]
    TooManyOperators {
        /// How many there are.
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

/// The effect of assignments as it builds up from index to index.
struct Effect<'m> {
    model: &'m Model,
    values: BTreeMap<VarId, Expr>,
    transients: BTreeMap<TransientId, Expr>,
    choices: Vec<Choice>,
    defined: Vec<Condition>,
    cell_writes: Vec<CellWrite>,
    conflicts: Vec<Expr>,
    conflicting: Vec<String>,
}

/// A variable that assignments write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Slot {
    Var(VarId),
    Transient(TransientId),
}

/// A value written where `condition` holds.
struct Write {
    condition: Expr,
    value: Expr,
}

impl<'m> Effect<'m> {
    fn new(model: &'m Model) -> Self {
        let transients = model.transients.iter().enumerate();
        Self {
            model,
            values: BTreeMap::new(),
            transients: transients.map(|(i, t)| (TransientId::new(i), t.initial.clone())).collect(),
            choices: Vec::new(),
            defined: Vec::new(),
            cell_writes: Vec::new(),
            conflicts: Vec::new(),
            conflicting: Vec::new(),
        }
    }

    fn destination(
        mut self,
        parts: &[(InstanceId, &EdgeDestination)],
    ) -> Result<Destination, ComposeError> {
        let mut groups: BTreeMap<i64, Vec<&Assignment>> = BTreeMap::new();
        for assignment in parts.iter().flat_map(|(_, d)| &d.assignments) {
            groups.entry(assignment.index).or_default().push(assignment);
        }
        for group in groups.values() {
            self.apply(group)?;
        }
        for (i, destination) in parts {
            let location = self.model.instance(*i).location;
            self.values.insert(location, Expr::int(destination.location));
        }
        let probability = probability(parts);
        if let Probability::Expr(p) = &probability {
            let positive = Expr::binary(BinaryOp::Lt, Expr::int(0), p.clone());
            self.defined.push(Condition::from_expr(&positive));
        }
        let keeps = |v: VarId, value: &Expr| {
            *value == Expr::Var(v)
                || self.model.variables[v.index()].domain.is_point()
                    && value.as_constant().and_then(Rational::to_i64)
                        == Some(self.model.variables[v.index()].domain.lo)
        };
        Ok(Destination {
            probability,
            defined: Condition::and(self.defined),
            cell_writes: self.cell_writes,
            conflict: Conflict {
                condition: Condition::or(self.conflicts.iter().map(Condition::from_expr)),
                variables: self.conflicting,
            },
            choices: self.choices,
            updates: self
                .values
                .into_iter()
                .filter(|(v, value)| !keeps(*v, value))
                .map(|(variable, value)| Update { variable, value: UpdateValue::from_expr(value) })
                .collect(),
        })
    }

    /// Runs the assignments of one index: all right-hand sides first, then all writes.
    fn apply(&mut self, group: &[&Assignment]) -> Result<(), ComposeError> {
        let mut writes: BTreeMap<Slot, Vec<Write>> = BTreeMap::new();
        for assignment in group {
            let value = self.value(assignment)?;
            let mut write = |slot, condition| {
                writes.entry(slot).or_default().push(Write { condition, value: value.clone() });
            };
            match &assignment.target {
                Target::Var(v) => write(Slot::Var(*v), Expr::bool(true)),
                Target::Transient(t) => write(Slot::Transient(*t), Expr::bool(true)),
                Target::Cell { cells, index } => {
                    let first = cells.first().map(|v| &self.model.variables[v.index()].name);
                    let index = self.written_cell(first, index, cells.len());
                    for (k, cell) in cells.iter().enumerate() {
                        write(Slot::Var(*cell), index_is(&index, k));
                    }
                }
                Target::TransientCell { cells, index } => {
                    let first = cells.first().map(|t| &self.model.transients[t.index()].name);
                    let index = self.written_cell(first, index, cells.len());
                    for (k, cell) in cells.iter().enumerate() {
                        write(Slot::Transient(*cell), index_is(&index, k));
                    }
                }
            }
        }
        for (slot, writes) in writes {
            self.note_conflicts(slot, &writes);
            let mut value = match slot {
                Slot::Var(v) => self.values.get(&v).cloned().unwrap_or(Expr::Var(v)),
                Slot::Transient(t) => self.transients[&t].clone(),
            };
            for write in writes {
                value = Expr::ite(write.condition, write.value, value);
            }
            match slot {
                Slot::Var(v) => self.values.insert(v, value),
                Slot::Transient(t) => self.transients.insert(t, value),
            };
        }
        Ok(())
    }

    /// The index of a cell that is written, over the state; notes that the cell must exist.
    fn written_cell(&mut self, first: Option<&'m String>, index: &Expr, cells: usize) -> Expr {
        let index = self.before(index);
        self.defined.push(cell_exists(&index, cells));
        let array = first.map_or("", |name| name.strip_suffix("[0]").unwrap_or(name));
        self.cell_writes.push(CellWrite { array: array.to_owned(), index: index.clone(), cells });
        index
    }

    /// An expression over what holds before the current index, as one over the state.
    fn before(&self, expr: &Expr) -> Expr {
        expr.substitute(&|v| self.values.get(&v).cloned(), &|t| self.transients.get(&t).cloned())
    }

    /// The value that an assignment writes; a free choice becomes a new variable.
    fn value(&mut self, assignment: &Assignment) -> Result<Expr, ComposeError> {
        let (lower, upper) = match &assignment.value {
            AssignedValue::Expr(value) => return Ok(self.before(value)),
            AssignedValue::Between(lower, upper) => (self.before(lower), self.before(upper)),
        };
        let target = match &assignment.target {
            Target::Var(v) => *v,
            Target::Cell { cells, .. } if !cells.is_empty() => cells[0],
            Target::Transient(t) => {
                let name = self.model.transients[t.index()].name.clone();
                return Err(ComposeError::TransientChoice(name));
            }
            Target::Cell { .. } | Target::TransientCell { .. } => {
                return Err(ComposeError::TransientChoice("of an array".to_owned()));
            }
        };
        let choice = Expr::Var(VarId::new(self.model.variables.len() + self.choices.len()));
        let le = |a: &Expr, b: &Expr| {
            Condition::from_expr(&Expr::binary(BinaryOp::Le, a.clone(), b.clone()))
        };
        self.defined.push(le(&lower, &choice));
        self.defined.push(le(&choice, &upper));
        self.choices.push(Choice { target, lower, upper });
        Ok(choice)
    }

    /// Notes where two of `writes` happen and differ.
    fn note_conflicts(&mut self, slot: Slot, writes: &[Write]) {
        for (i, a) in writes.iter().enumerate() {
            for b in &writes[..i] {
                let both = Expr::and(a.condition.clone(), b.condition.clone());
                let differ = if a.value == b.value {
                    Expr::bool(false)
                } else {
                    Expr::binary(BinaryOp::Ne, a.value.clone(), b.value.clone())
                };
                let conflict = Expr::and(both, differ);
                if conflict == Expr::bool(false) {
                    continue;
                }
                let name = match slot {
                    Slot::Var(v) => &self.model.variables[v.index()].name,
                    Slot::Transient(t) => &self.model.transients[t.index()].name,
                };
                if !self.conflicting.contains(name) {
                    self.conflicting.push(name.clone());
                }
                self.conflicts.push(conflict);
            }
        }
    }
}

fn probability(parts: &[(InstanceId, &EdgeDestination)]) -> Probability {
    let mut product = Probability::one();
    for (_, destination) in parts {
        product = match (product, &destination.probability) {
            (Probability::Constant(a), Probability::Constant(b)) => Probability::Constant(&a * b),
            (a, b) => Probability::Expr(Expr::binary(BinaryOp::Mul, as_expr(&a), as_expr(b))),
        };
    }
    product
}

fn as_expr(probability: &Probability) -> Expr {
    match probability {
        Probability::Constant(p) => Expr::Constant(p.clone()),
        Probability::Expr(p) => p.clone(),
    }
}

fn index_is(index: &Expr, k: usize) -> Expr {
    let k = i64::try_from(k).unwrap_or(i64::MAX);
    Expr::binary(BinaryOp::Eq, index.clone(), Expr::int(k))
}

fn cell_exists(index: &Expr, cells: usize) -> Condition {
    let cells = Expr::int(i64::try_from(cells).unwrap_or(i64::MAX));
    let integral = if index.is_integral() {
        Condition::True
    } else {
        let floor = Expr::unary(UnaryOp::Floor, index.clone());
        Condition::from_expr(&Expr::binary(BinaryOp::Eq, floor, index.clone()))
    };
    Condition::and([
        Condition::from_expr(&Expr::binary(BinaryOp::Le, Expr::int(0), index.clone())),
        Condition::from_expr(&Expr::binary(BinaryOp::Lt, index.clone(), cells)),
        integral,
    ])
}
