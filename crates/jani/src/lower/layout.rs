//! Where the variables of the file are in the model's state: locations of the instances, then
//! globals, then locals by instance; arrays cell by cell. Transient variables are not in it.

use policert_model::{
    Expr, InitialValue, InstanceId, Observable, Transient, TransientId, VarId, Variable,
    VariableKind,
};
use policert_numeric::{IntInterval, Rational};

use super::{Lowered, Scalar, Trouble, expression::from_value};
use crate::{
    check::{Checked, Sort, Type, Value, VariableId},
    names::Names,
};

/// Says where a variable of the file is kept.
#[derive(Clone, Debug)]
pub(crate) enum Storage {
    /// In the state, from this variable on.
    State(VarId),
    /// Transient.
    Transient {
        /// The values that it has in states; computed from what the locations say.
        shown: Result<Lowered, Trouble>,
        /// The model's transient variables from this one on, if edges write to it; else it is at
        /// its initial value whenever it is read in a transition.
        kept: Option<TransientId>,
    },
    /// Not in the model: reading it is no use.
    Missing,
}

/// Says where all variables are kept.
#[derive(Clone, Default, Debug)]
pub(crate) struct Layout {
    /// By variable; by instance for local variables, else one entry.
    storage: Vec<Vec<Storage>>,
    /// Values of constants and shapes, for reading: initial values by variable.
    initial: Vec<Option<Value>>,
    shapes: Vec<Vec<usize>>,
    /// The model's variables.
    pub variables: Vec<Variable>,
    /// Their initial values.
    pub initial_values: Vec<InitialValue>,
    /// The model's transient variables.
    pub transients: Vec<Transient>,
    /// The instances that have each local variable.
    owners: Vec<Option<usize>>,
}

impl Layout {
    /// Lays out all variables; `kept` tells which transient variables the model has.
    pub fn new(checked: &Checked, names: &Names, kept: &dyn Fn(VariableId) -> bool) -> Self {
        let mut layout = Self::default();
        for instance in 0..checked.instances.len() {
            layout.push_location(checked, names, instance);
        }
        for variable in &checked.variables {
            let entries = if variable.automaton.is_some() { checked.instances.len() } else { 1 };
            layout.storage.push(vec![Storage::Missing; entries]);
            layout.initial.push(variable.initial.clone());
            layout.shapes.push(variable.shape.clone());
            layout.owners.push(variable.automaton);
        }
        let globals = (0..checked.variables.len())
            .filter(|&v| checked.variables[v].automaton.is_none())
            .map(|v| (v, None));
        let locals = checked.instances.iter().enumerate().flat_map(|(i, &automaton)| {
            (0..checked.variables.len())
                .filter(move |&v| checked.variables[v].automaton == Some(automaton))
                .map(move |v| (v, Some(i)))
        });
        for (v, instance) in globals.chain(locals) {
            layout.place(checked, names, VariableId(v), instance, kept);
        }
        layout
    }

    fn push_location(&mut self, checked: &Checked, names: &Names, instance: usize) {
        let automaton = &checked.ast.automata[checked.instances[instance]];
        let locations: Vec<String> =
            automaton.locations.iter().map(|l| names.text(l.name.symbol).to_owned()).collect();
        let last = i64::try_from(locations.len()).unwrap_or(i64::MAX) - 1;
        let mut initial: Vec<i64> = automaton
            .initial_locations
            .iter()
            .filter_map(|name| checked.scope.location(checked.instances[instance], name.symbol))
            .filter_map(|l| i64::try_from(l).ok())
            .collect();
        initial.sort_unstable();
        initial.dedup();
        self.variables.push(Variable {
            name: format!("{}#{instance}", names.text(automaton.name.symbol)),
            kind: VariableKind::Location { instance: InstanceId::new(instance), names: locations },
            domain: IntInterval::new(0, last),
        });
        self.initial_values.push(match initial[..] {
            [location] => InitialValue::Fixed(location),
            _ => InitialValue::OneOf(initial),
        });
    }

    fn place(
        &mut self,
        checked: &Checked,
        names: &Names,
        v: VariableId,
        instance: Option<usize>,
        kept: &dyn Fn(VariableId) -> bool,
    ) {
        let variable = checked.variable(v);
        let cells = cells(&full_name(checked, names, v, instance), &variable.shape);
        let mut initial = Vec::new();
        if let Some(value) = &variable.initial {
            from_value(value).flatten(&mut initial);
        }
        let storage = if variable.transient {
            let kept = kept(v).then(|| TransientId::new(self.transients.len()));
            if kept.is_some() {
                self.transients.extend(cells.into_iter().zip(initial).map(|(name, initial)| {
                    Transient { name, initial: initial.expr, bounds: variable.bounds.clone() }
                }));
            }
            let shown = variable.initial.as_ref().map(from_value).ok_or(Trouble::Known);
            Storage::Transient { shown, kept }
        } else if variable.sort == Sort::Discrete {
            let first = VarId::new(self.variables.len());
            for (i, name) in cells.into_iter().enumerate() {
                let fixed = initial.get(i).and_then(|s| s.expr.as_constant());
                self.push(name, variable, fixed.and_then(Rational::to_i64));
            }
            Storage::State(first)
        } else {
            Storage::Missing
        };
        self.storage[v.0][instance.unwrap_or(0)] = storage;
    }

    fn push(&mut self, name: String, variable: &crate::check::Variable, initial: Option<i64>) {
        let mut base = &variable.ty;
        while let Type::Array(element) = base {
            base = element;
        }
        let boolean = *base == Type::Bool;
        let bound = |value: &Option<Rational>, unbounded| {
            value.as_ref().and_then(Rational::to_i64).unwrap_or(unbounded)
        };
        let domain = if boolean {
            IntInterval::new(0, 1)
        } else {
            IntInterval::new(
                bound(&variable.bounds.lower, IntInterval::UNBOUNDED_BELOW),
                bound(&variable.bounds.upper, IntInterval::UNBOUNDED_ABOVE),
            )
        };
        let kind = if boolean { VariableKind::Boolean } else { VariableKind::Integer };
        self.variables.push(Variable { name, kind, domain });
        self.initial_values.push(initial.map_or(InitialValue::Any, InitialValue::Fixed));
    }

    /// Returns where a variable is kept; `instance` is needed for local ones.
    pub fn storage(&self, v: VariableId, instance: Option<usize>) -> &Storage {
        let entry = match self.owners.get(v.0) {
            Some(Some(_)) => instance,
            _ => Some(0),
        };
        entry.and_then(|entry| self.storage.get(v.0)?.get(entry)).unwrap_or(&Storage::Missing)
    }

    /// Sets what a transient variable is in states.
    pub fn show(
        &mut self,
        v: VariableId,
        instance: Option<usize>,
        value: Result<Lowered, Trouble>,
    ) {
        if let Storage::Transient { shown, .. } = &mut self.storage[v.0][instance.unwrap_or(0)] {
            *shown = value;
        }
    }

    /// Returns what transient variables, and cells of transient arrays, are in states.
    pub fn observables(&self, checked: &Checked, names: &Names) -> Vec<Observable> {
        let mut observables = Vec::new();
        for (v, entries) in self.storage.iter().enumerate() {
            let v = VariableId(v);
            for (instance, storage) in entries.iter().enumerate() {
                let Storage::Transient { shown, .. } = storage else { continue };
                let instance = checked.variable(v).automaton.map(|_| instance);
                let cells = cells(&full_name(checked, names, v, instance), self.shape(v));
                let mut values = Vec::new();
                match shown {
                    Ok(shown) => shown.clone().flatten(&mut values),
                    Err(trouble) => {
                        let observable =
                            |name| Observable { name, value: Err(trouble.text(names)) };
                        observables.extend(cells.into_iter().map(observable));
                        continue;
                    }
                }
                let observable =
                    |(name, value): (String, Scalar)| Observable { name, value: Ok(value.expr) };
                observables.extend(cells.into_iter().zip(values).map(observable));
            }
        }
        observables
    }

    /// The variable that holds the location of an instance.
    pub fn location(instance: usize) -> VarId {
        VarId::new(instance)
    }

    /// Lengths of an array by dimension.
    pub fn shape(&self, v: VariableId) -> &[usize] {
        &self.shapes[v.0]
    }

    /// A variable read in a state.
    pub fn in_state(&self, v: VariableId, instance: Option<usize>) -> Result<Lowered, Trouble> {
        match self.storage(v, instance) {
            Storage::State(first) => Ok(self.state_cells(v, *first)),
            Storage::Transient { shown, .. } => shown.clone(),
            Storage::Missing => Err(Trouble::Known),
        }
    }

    /// A variable read while a transition is under way.
    pub fn in_transition(
        &self,
        v: VariableId,
        instance: Option<usize>,
    ) -> Result<Lowered, Trouble> {
        match self.storage(v, instance) {
            Storage::State(first) => Ok(self.state_cells(v, *first)),
            Storage::Transient { kept: Some(first), .. } => {
                let mut next = first.0;
                Ok(array(&self.shapes[v.0], &mut || {
                    next += 1;
                    Expr::Transient(TransientId(next - 1))
                }))
            }
            Storage::Transient { kept: None, .. } => {
                self.initial[v.0].as_ref().map(from_value).ok_or(Trouble::Known)
            }
            Storage::Missing => Err(Trouble::Known),
        }
    }

    fn state_cells(&self, v: VariableId, first: VarId) -> Lowered {
        let mut next = first.0;
        array(&self.shapes[v.0], &mut || {
            next += 1;
            Expr::Var(VarId(next - 1))
        })
    }
}

/// The name of a variable in the model: `x`, or `Car#0.v` for one of an instance.
fn full_name(checked: &Checked, names: &Names, v: VariableId, instance: Option<usize>) -> String {
    let name = names.text(checked.variable(v).name);
    match instance {
        None => name.to_owned(),
        Some(i) => {
            let automaton = &checked.ast.automata[checked.instances[i]];
            format!("{}#{i}.{name}", names.text(automaton.name.symbol))
        }
    }
}

/// An array of a shape, its cells row by row; a scalar for no dimension.
fn array(shape: &[usize], cell: &mut dyn FnMut() -> Expr) -> Lowered {
    match shape.split_first() {
        None => Lowered::Scalar(Scalar::leaf(cell())),
        Some((&length, inner)) => Lowered::Array((0..length).map(|_| array(inner, cell)).collect()),
    }
}

/// Names of the cells of a variable: itself, or `A[0]`, `A[1]` and so on.
fn cells(name: &str, shape: &[usize]) -> Vec<String> {
    match shape.split_first() {
        None => vec![name.to_owned()],
        Some((&length, inner)) => {
            (0..length).flat_map(|i| cells(&format!("{name}[{i}]"), inner)).collect()
        }
    }
}
