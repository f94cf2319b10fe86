//! The effect of a joint transition: assignments, index by index, as one update.

use std::collections::BTreeMap;

use policert_numeric::Rational;

use super::ComposeError;
use crate::{
    AssignedValue, Assignment, BinaryOp, CellWrite, Condition, Conflict, Destination,
    EdgeDestination, Expr, FreeChoice, InstanceId, Model, Probability, Target, TransientId,
    TransientValue, Update, UpdateValue, VarId,
};

/// The effect of assignments as it builds up from index to index.
pub(super) struct Effect<'m> {
    model: &'m Model,
    values: BTreeMap<VarId, Expr>,
    /// The transient variables that were written; others are at their initial values.
    transients: BTreeMap<TransientId, Expr>,
    choices: Vec<FreeChoice>,
    defined: Vec<Condition>,
    cell_writes: Vec<CellWrite>,
    transient_values: Vec<TransientValue>,
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
    pub(super) fn new(model: &'m Model) -> Self {
        Self {
            model,
            values: BTreeMap::new(),
            transients: BTreeMap::new(),
            choices: Vec::new(),
            defined: Vec::new(),
            cell_writes: Vec::new(),
            transient_values: Vec::new(),
            conflicts: Vec::new(),
            conflicting: Vec::new(),
        }
    }

    pub(super) fn destination(
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
        self.transients_stay_in_bounds();
        let probability = probability(parts);
        if let Probability::Expr(p) = &probability {
            let positive = Expr::binary(BinaryOp::Lt, Expr::int(0), (**p).clone());
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
            transient_values: self.transient_values,
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
                Slot::Transient(t) => self.transient(t),
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
        self.defined.push(Condition::from_expr(&Expr::cell_exists(&index, cells)));
        let array = first.map_or("", |name| name.strip_suffix("[0]").unwrap_or(name));
        self.cell_writes.push(CellWrite { array: array.to_owned(), index: index.clone(), cells });
        index
    }

    /// An expression over what holds before the current index, as one over the state.
    fn before(&self, expr: &Expr) -> Expr {
        expr.substitute(&|v| self.values.get(&v).cloned(), &|t| Some(self.transient(t)))
    }

    /// Returns what a transient variable holds so far.
    fn transient(&self, t: TransientId) -> Expr {
        let written = self.transients.get(&t);
        written.unwrap_or_else(|| &self.model.transients[t.index()].initial).clone()
    }

    /// Demands that the final values of transient variables exist and lie within their bounds.
    fn transients_stay_in_bounds(&mut self) {
        let domains = self.model.domains();
        for (t, value) in &self.transients {
            let transient = &self.model.transients[t.index()];
            if transient.bounds.contain_all(&value.range(&domains)) {
                continue;
            }
            self.defined.push(transient.bounds.condition(value));
            self.transient_values.push(TransientValue {
                name: transient.name.clone(),
                value: value.clone(),
                bounds: transient.bounds.clone(),
            });
        }
    }

    /// The value that an assignment writes; a free choice becomes a new variable.
    fn value(&mut self, assignment: &Assignment) -> Result<Expr, ComposeError> {
        let (lower, upper) = match &assignment.value {
            AssignedValue::Expr(value) => return Ok(self.before(value)),
            AssignedValue::Between(bounds) => (self.before(&bounds[0]), self.before(&bounds[1])),
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
        self.choices.push(FreeChoice { target, lower, upper });
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
            (a, b) => Probability::expr(Expr::binary(BinaryOp::Mul, a.to_expr(), b.to_expr())),
        };
    }
    product
}

fn index_is(index: &Expr, k: usize) -> Expr {
    let k = i64::try_from(k).unwrap_or(i64::MAX);
    Expr::binary(BinaryOp::Eq, index.clone(), Expr::int(k))
}
