//! Transient variables: which of them edges write and read, and what they are in states.
//!
//! In a state, a transient variable has the value that the location of an instance gives it, else
//! its initial value. During a transition it starts at its initial value, and what edges assign
//! lasts until the end. So it matters to the state after it only if an assignment reads it; but it
//! has to have a value within its bounds, as any other variable, or the outcome is no transition.

use std::collections::BTreeMap;

use policert_model::Expr as ModelExpr;

use super::{
    Layout, Lowered, Reading, Scalar, Trouble,
    expression::{ExprLowerer, from_value},
};
use crate::{
    ast::{AssignedValue, Edge, Expr, ExprKind},
    check::{Checked, Entity, VariableId},
    names::NameId,
    source::At,
};

/// Holds what edges do with variables.
#[derive(Clone, Default, Debug)]
pub(crate) struct Uses {
    /// Those that they write.
    pub written: Vec<bool>,
    /// Those that their assignments read.
    pub read: Vec<bool>,
}

impl Uses {
    /// That they do nothing with some variables.
    pub fn of_none(variables: usize) -> Self {
        Self { written: vec![false; variables], read: vec![false; variables] }
    }

    /// Adds what an edge of an automaton does.
    pub fn note(&mut self, checked: &Checked, automaton: usize, edge: &Edge) {
        let scope = Some(automaton);
        let of_destinations = edge.destinations.iter().flat_map(|d| &d.assignments);
        for assignment in edge.assignments.iter().chain(of_destinations) {
            let mut reads = |expr: &Expr| {
                each_variable(checked, expr, scope, &mut |v| self.read[v.0] = true);
            };
            let mut target = &assignment.target;
            while let ExprKind::Access(parts) = &target.kind {
                reads(&parts[1]);
                target = &parts[0];
            }
            match &assignment.value {
                AssignedValue::Expr(value) => reads(value),
                AssignedValue::Between(lower, upper) => {
                    reads(lower);
                    reads(upper);
                }
            }
            if let ExprKind::Name(name) = &target.kind
                && let Some(Entity::Variable(v)) = checked.scope.entity(*name, scope)
            {
                self.written[v.0] = true;
            }
        }
    }
}

/// Calls `f` for each variable that an expression may read, also inside functions.
fn each_variable(
    checked: &Checked,
    expr: &Expr,
    automaton: Option<usize>,
    f: &mut dyn FnMut(VariableId),
) {
    let mut open = vec![(expr, automaton)];
    let mut functions = Vec::new();
    while let Some((expr, automaton)) = open.pop() {
        match &expr.kind {
            ExprKind::Name(name) => {
                // A parameter that hides a variable only makes for one more.
                if let Some(Entity::Variable(v)) = checked.scope.entity(*name, automaton) {
                    f(v);
                }
            }
            ExprKind::Call(name, _) => {
                if let Some(id) = checked.scope.function(name.symbol, automaton)
                    && !functions.contains(&id)
                {
                    functions.push(id);
                    open.push((&checked.function(id).body, id.automaton));
                }
            }
            _ => {}
        }
        expr.for_each_operand(&mut |operand| open.push((operand, automaton)));
    }
}

/// A value that a location gives to a cell of a transient variable.
struct Shown<'c> {
    instance: usize,
    location: i64,
    cell: Option<Vec<usize>>,
    value: &'c Expr,
    at: At,
}

/// Finds what each transient variable is in states and enters it into the layout.
pub(super) fn show_in_states(checked: &Checked, layout: &mut Layout) {
    let mut shown: BTreeMap<(VariableId, Option<usize>), Vec<Shown<'_>>> = BTreeMap::new();
    let mut troubles: BTreeMap<(VariableId, Option<usize>), Trouble> = BTreeMap::new();
    for (instance, &automaton) in checked.instances.iter().enumerate() {
        for (l, location) in checked.ast.automata[automaton].locations.iter().enumerate() {
            for given in &location.transient_values {
                let Some((name, indices)) = target(&given.target) else { continue };
                let Some(Entity::Variable(v)) = checked.scope.entity(name, Some(automaton)) else {
                    continue;
                };
                let owner = checked.variable(v).automaton.map(|_| instance);
                let mut lowerer = ExprLowerer::new(checked, Reading::Constant, Some(automaton));
                let cell = indices
                    .iter()
                    .map(|i| usize::try_from(lowerer.constant(i)?.to_i64()?).ok())
                    .collect::<Option<Vec<_>>>();
                if cell.is_none() {
                    let what = "a location that sets a computed cell of a transient array";
                    let trouble = Trouble::Unsupported(given.target.at, what.to_owned());
                    troubles.insert((v, owner), trouble);
                }
                shown.entry((v, owner)).or_default().push(Shown {
                    instance,
                    location: i64::try_from(l).unwrap_or(i64::MAX),
                    cell,
                    value: &given.value,
                    at: given.target.at,
                });
            }
        }
    }
    for (&key, values) in &shown {
        if let Some(at) = disagreement(checked, values) {
            let what = "a transient variable that locations of several instances set to values \
                        that may be different";
            troubles.insert(key, Trouble::Unsupported(at, what.to_owned()));
        }
    }
    // Each after those that its values read.
    let mut order = Order { checked, shown: &shown, done: BTreeMap::new(), order: Vec::new() };
    for &key in shown.keys() {
        if let Err(at) = order.visit(key) {
            let what = "transient variables that need each other's values";
            troubles.insert(key, Trouble::Unsupported(at, what.to_owned()));
        }
    }
    for key in order.order {
        let value = match troubles.remove(&key) {
            Some(trouble) => Err(trouble),
            None => value_in_states(checked, layout, key.0, &shown[&key]),
        };
        layout.show(key.0, key.1, value);
    }
}

/// A place where locations of several instances may set one cell to different values: all of them are
/// in some location at once. The same constant is no conflict, nor are different cells.
fn disagreement(checked: &Checked, values: &[Shown<'_>]) -> Option<At> {
    if values.iter().all(|s| s.instance == values[0].instance) {
        return None;
    }
    let depth = |s: &Shown<'_>| s.cell.as_ref().map(Vec::len);
    if let Some(other) = values.iter().find(|s| depth(s) != depth(&values[0])) {
        return Some(other.at);
    }
    let mut of_cell: BTreeMap<&Option<Vec<usize>>, Vec<&Shown<'_>>> = BTreeMap::new();
    for shown in values {
        of_cell.entry(&shown.cell).or_default().push(shown);
    }
    let constant = |shown: &Shown<'_>| {
        let automaton = checked.instances[shown.instance];
        ExprLowerer::new(checked, Reading::Constant, Some(automaton)).constant(shown.value)
    };
    for all in of_cell.into_values() {
        let first = all[0];
        if all.iter().all(|s| s.instance == first.instance) {
            continue;
        }
        let value = constant(first);
        let differs = |s: &&&Shown<'_>| value.is_none() || constant(s) != value;
        if let Some(other) = all.iter().find(differs) {
            return Some(other.at);
        }
    }
    None
}

/// A depth-first order of the transient variables that locations set.
struct Order<'o, 'c> {
    checked: &'c Checked,
    shown: &'o BTreeMap<(VariableId, Option<usize>), Vec<Shown<'c>>>,
    /// By variable and cell: true if all that it needs is done, false if that is in progress.
    done: BTreeMap<(VariableId, Option<usize>), bool>,
    order: Vec<(VariableId, Option<usize>)>,
}

impl Order<'_, '_> {
    /// Puts a variable after those it needs; where it needs itself, the place that says so.
    fn visit(&mut self, key: (VariableId, Option<usize>)) -> Result<(), At> {
        if let Some(&done) = self.done.get(&key) {
            return if done { Ok(()) } else { Err(self.shown[&key][0].at) };
        }
        self.done.insert(key, false);
        let mut result = Ok(());
        for given in &self.shown[&key] {
            let automaton = self.checked.instances[given.instance];
            let mut needed = Vec::new();
            each_variable(self.checked, given.value, Some(automaton), &mut |v| needed.push(v));
            for v in needed {
                let owner = self.checked.variable(v).automaton.map(|_| given.instance);
                if self.shown.contains_key(&(v, owner)) {
                    result = result.and(self.visit((v, owner)));
                }
            }
        }
        self.done.insert(key, true);
        self.order.push(key);
        result
    }
}

fn value_in_states(
    checked: &Checked,
    layout: &Layout,
    v: VariableId,
    shown: &[Shown<'_>],
) -> Result<Lowered, Trouble> {
    let initial = checked.variable(v).initial.as_ref().ok_or(Trouble::Known)?;
    let mut value = from_value(initial);
    // The first that a location gives wins, so it is put on last.
    for given in shown.iter().rev() {
        let mut lowerer = ExprLowerer::of_instance(checked, Reading::State(layout), given.instance);
        let new = lowerer.lower(given.value)?;
        let automaton = &checked.ast.automata[checked.instances[given.instance]];
        let here = if automaton.locations.len() == 1 {
            Scalar::bool(true)
        } else {
            let location = Layout::location(given.instance);
            Scalar::leaf(ModelExpr::var_equals(location, given.location))
        };
        let mut cell = &mut value;
        for &i in given.cell.iter().flatten() {
            cell = match cell {
                Lowered::Array(elements) if i < elements.len() => &mut elements[i],
                _ => return Err(Trouble::ill_typed(given.at)),
            };
        }
        *cell = where_true(&here, new, cell.clone(), given.at)?;
    }
    Ok(value)
}

/// `then` where the condition holds, else `otherwise`, element by element.
fn where_true(
    condition: &Scalar,
    then: Lowered,
    otherwise: Lowered,
    at: At,
) -> Result<Lowered, Trouble> {
    match (then, otherwise) {
        (Lowered::Scalar(a), Lowered::Scalar(b)) => {
            Ok(Lowered::Scalar(Scalar::ite(condition.clone(), a, b)))
        }
        (Lowered::Array(a), Lowered::Array(b)) if a.len() == b.len() => {
            let pairs = a.into_iter().zip(b);
            let elements = pairs.map(|(a, b)| where_true(condition, a, b, at));
            Ok(Lowered::Array(elements.collect::<Result<_, _>>()?))
        }
        _ => Err(Trouble::Unsupported(at, "arrays whose length is not fixed".to_owned())),
    }
}

/// Name and indices of what an assignment writes.
pub(crate) fn target(expr: &Expr) -> Option<(NameId, Vec<&Expr>)> {
    let mut indices = Vec::new();
    let mut here = expr;
    while let ExprKind::Access(parts) = &here.kind {
        indices.push(&parts[1]);
        here = &parts[0];
    }
    indices.reverse();
    match &here.kind {
        ExprKind::Name(name) => Some((*name, indices)),
        _ => None,
    }
}
