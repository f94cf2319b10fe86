//! Models and properties as JANI text, for tests that start from files.

mod expression;

use policert_model::{
    AssignedValue, Assignment, Condition, Edge, InitialValue, InstanceId, Model, Probability,
    SafetyProperty, Start, State, Target, ValueBounds, VarId, VariableKind,
};
use policert_numeric::IntInterval;
use serde_json::{Map, Value, json};

use expression::{Type, number};

/// A model as a JANI document with these properties; `None` for what JANI cannot say.
#[must_use]
pub fn jani_model(model: &Model, properties: &[Value]) -> Option<Value> {
    let writer = Writer { model };
    let condition = |condition: &Condition| json!({"exp": writer.condition(condition)});
    let mut automata = Vec::new();
    for instance in &model.instances {
        let location = &model.variables[instance.location.index()];
        let VariableKind::Location { names, .. } = &location.kind else { return None };
        let name = |at: i64| usize::try_from(at).ok().and_then(|at| names.get(at));
        let initial: Vec<&String> = match &model.initial_values[instance.location.index()] {
            InitialValue::Fixed(at) => vec![name(*at)?],
            InitialValue::OneOf(all) => all.iter().map(|&at| name(at)).collect::<Option<_>>()?,
            InitialValue::Any => names.iter().collect(),
        };
        let edges = instance.edges.iter().map(|edge| writer.edge(edge, names));
        automata.push(json!({
            "name": instance.automaton,
            "locations": names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
            "initial-locations": initial,
            "edges": edges.collect::<Option<Vec<_>>>()?,
        }));
    }
    let elements = model.instances.iter().map(|i| json!({"automaton": i.automaton}));
    let syncs = model.vectors.iter().map(|vector| {
        let action = |id: usize| {
            let participant = vector.participants.iter().find(|(i, _)| *i == InstanceId::new(id));
            participant.map(|&(_, action)| model.label_name(Some(action)))
        };
        let actions: Vec<_> = (0..model.instances.len()).map(action).collect();
        let mut sync = Map::new();
        sync.insert("synchronise".to_owned(), json!(actions));
        if let Some(result) = vector.result {
            sync.insert("result".to_owned(), json!(model.label_name(Some(result))));
        }
        Value::Object(sync)
    });
    Some(json!({
        "jani-version": 1,
        "name": model.name,
        "type": "mdp",
        "features": ["arrays", "derived-operators"],
        "actions": model.labels.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
        "variables": writer.variables()?,
        "restrict-initial": condition(&model.initial_condition),
        "properties": properties,
        "automata": automata,
        "system": {"elements": elements.collect::<Vec<_>>(), "syncs": syncs.collect::<Vec<_>>()},
    }))
}

/// A property as JANI text with the authors' `PA` operator; `None` for what it cannot say.
#[must_use]
pub fn jani_property(model: &Model, property: &SafetyProperty) -> Option<Value> {
    let writer = Writer { model };
    let mut expression = Map::new();
    expression.insert("op".to_owned(), json!("PA"));
    if let Some(file) = &property.interface {
        expression.insert("file".to_owned(), json!(file.to_str()?));
    }
    match &property.start {
        None => {}
        Some(Start::Condition(condition)) => {
            expression.insert("start".to_owned(), writer.state_condition(condition)?);
        }
        Some(Start::States(states)) => {
            let states: Vec<Value> =
                states.iter().map(|state| writer.state(state)).collect::<Option<_>>()?;
            let list = json!({"op": "states-values", "values": states});
            expression.insert("start".to_owned(), list);
        }
    }
    let reach = writer.state_condition(&property.unsafe_condition)?;
    expression.insert("reach".to_owned(), reach);
    if let Some(goal) = &property.goal {
        let objective = json!({"op": "objective", "goal": writer.state_condition(goal)?});
        expression.insert("objective".to_owned(), objective);
    }
    let predicates = property.predicates.iter().map(|p| writer.condition(&p.condition));
    expression.insert("predicates".to_owned(), predicates.collect());
    Some(json!({"name": property.name, "expression": expression}))
}

struct Writer<'m> {
    model: &'m Model,
}

impl Writer<'_> {
    /// The array and the position in it, for a variable that is a cell.
    fn cell(name: &str) -> Option<(&str, usize)> {
        let (array, rest) = name.strip_suffix(']')?.split_once('[')?;
        Some((array, rest.parse().ok()?))
    }

    /// The variable as something that can be read or assigned.
    fn reference(&self, v: VarId) -> Value {
        let name = &self.model.variables[v.index()].name;
        match Self::cell(name) {
            Some((array, at)) => json!({"op": "aa", "exp": array, "index": at}),
            None => json!(name),
        }
    }

    /// The name of the array that consists of these cells.
    fn array(&self, cells: &[VarId]) -> Option<&str> {
        let name = |v: &VarId| self.model.variables.get(v.index()).map(|v| v.name.as_str());
        let (array, 0) = Self::cell(name(cells.first()?)?)? else { return None };
        let other = |(at, v): (usize, &VarId)| name(v).and_then(Self::cell) == Some((array, at));
        cells.iter().enumerate().all(other).then_some(array)
    }

    fn variables(&self) -> Option<Vec<Value>> {
        let bounded = |domain: IntInterval| {
            json!({
                "kind": "bounded",
                "base": "int",
                "lower-bound": domain.lo,
                "upper-bound": domain.hi,
            })
        };
        let mut all = Vec::new();
        let mut arrays: Vec<(String, Value, Vec<i64>)> = Vec::new();
        for (variable, initial) in self.model.variables.iter().zip(&self.model.initial_values) {
            let kind = match &variable.kind {
                VariableKind::Location { .. } => continue,
                VariableKind::Boolean => json!("bool"),
                VariableKind::Integer => bounded(variable.domain),
            };
            if let Some((array, _)) = Self::cell(&variable.name) {
                let InitialValue::Fixed(value) = initial else { return None };
                match arrays.last_mut() {
                    Some((name, _, cells)) if name == array => cells.push(*value),
                    _ => arrays.push((array.to_owned(), kind, vec![*value])),
                }
                continue;
            }
            let mut entry = Map::new();
            entry.insert("name".to_owned(), json!(variable.name));
            entry.insert("type".to_owned(), kind);
            match (initial, &variable.kind) {
                (InitialValue::Fixed(value), VariableKind::Boolean) => {
                    entry.insert("initial-value".to_owned(), json!(*value != 0));
                }
                (InitialValue::Fixed(value), _) => {
                    entry.insert("initial-value".to_owned(), json!(value));
                }
                (InitialValue::Any, _) => {}
                (InitialValue::OneOf(_), _) => return None,
            }
            all.push(Value::Object(entry));
        }
        for (name, base, cells) in arrays {
            all.push(json!({
                "name": name,
                "type": {"kind": "array", "base": base},
                "initial-value": {"op": "av", "elements": cells},
            }));
        }
        for transient in &self.model.transients {
            let mut kind = json!("int");
            let ValueBounds { lower, upper } = &transient.bounds;
            if lower.is_some() || upper.is_some() {
                kind = json!({"kind": "bounded", "base": "int"});
                for (key, bound) in [("lower-bound", lower), ("upper-bound", upper)] {
                    if let Some(bound) = bound {
                        kind[key] = number(bound);
                    }
                }
            }
            all.push(json!({
                "name": transient.name,
                "type": kind,
                "transient": true,
                "initial-value": self.expr(&transient.initial, Type::Number),
            }));
        }
        Some(all)
    }

    fn edge(&self, edge: &Edge, locations: &[String]) -> Option<Value> {
        let location = |at: i64| usize::try_from(at).ok().and_then(|at| locations.get(at));
        let mut destinations = Vec::new();
        for destination in &edge.destinations {
            let p = match &destination.probability {
                Probability::Constant(p) => number(p),
                Probability::Expr(p) => self.expr(p, Type::Number),
            };
            let assignments = destination.assignments.iter().map(|a| self.assignment(a));
            destinations.push(json!({
                "location": location(destination.location)?,
                "probability": {"exp": p},
                "assignments": assignments.collect::<Option<Vec<_>>>()?,
            }));
        }
        let mut entry = Map::new();
        entry.insert("location".to_owned(), json!(location(edge.source)?));
        if let Some(action) = edge.action {
            entry.insert("action".to_owned(), json!(self.model.label_name(Some(action))));
        }
        entry.insert("guard".to_owned(), json!({"exp": self.condition(&edge.guard)}));
        entry.insert("destinations".to_owned(), json!(destinations));
        Some(Value::Object(entry))
    }

    fn assignment(&self, assignment: &Assignment) -> Option<Value> {
        let kind = |v: &VarId| match self.model.variables[v.index()].kind {
            VariableKind::Boolean => Type::Truth,
            _ => Type::Number,
        };
        let (target, kind) = match &assignment.target {
            Target::Var(v) => (self.reference(*v), kind(v)),
            Target::Transient(t) => (json!(self.model.transients[t.index()].name), Type::Number),
            Target::Cell { cells, index } => {
                let index = self.expr(index, Type::Number);
                let array = self.array(cells)?;
                (json!({"op": "aa", "exp": array, "index": index}), kind(cells.first()?))
            }
            Target::TransientCell { .. } => return None,
        };
        let mut entry = Map::new();
        entry.insert("ref".to_owned(), target);
        match &assignment.value {
            AssignedValue::Expr(value) => {
                entry.insert("value".to_owned(), self.expr(value, kind));
            }
            AssignedValue::Between(bounds) => {
                let [lower, upper] = &**bounds;
                entry.insert("lower-bound".to_owned(), self.expr(lower, kind));
                entry.insert("upper-bound".to_owned(), self.expr(upper, kind));
            }
        }
        if assignment.index != 0 {
            entry.insert("index".to_owned(), json!(assignment.index));
        }
        Some(Value::Object(entry))
    }

    /// A condition with the locations that it asks for apart.
    fn state_condition(&self, condition: &Condition) -> Option<Value> {
        let is_location = |v: VarId| self.model.variables[v.index()].is_location();
        let mut locations = Vec::new();
        let mut parts = Vec::new();
        for part in condition.conjuncts() {
            if part.variables().into_iter().any(is_location) {
                locations.push(part.clone());
            } else {
                parts.push(part.clone());
            }
        }
        let asked = Condition::and(locations);
        let mut sides = self.model.domains();
        asked.tighten(&mut sides);
        let mut list = Vec::new();
        for (i, instance) in self.model.instances.iter().enumerate() {
            let variable = &self.model.variables[instance.location.index()];
            let side = sides[instance.location.index()];
            if side == variable.domain {
                continue;
            }
            let VariableKind::Location { names, .. } = &variable.kind else { return None };
            let at = usize::try_from(side.lo).ok().filter(|_| side.is_point())?;
            let location = names.get(at)?;
            list.push(json!({"automaton": instance.automaton, "index": i, "location": location}));
        }
        let exact = asked.truth(&sides) == policert_model::Truth::True;
        exact.then(|| {
            let exp = self.condition(&Condition::and(parts));
            json!({"op": "state-condition", "exp": exp, "locations": list})
        })
    }

    fn state(&self, state: &State) -> Option<Value> {
        let mut locations = Vec::new();
        let mut variables = Vec::new();
        for (v, &value) in state.iter().enumerate() {
            let variable = &self.model.variables[v];
            match &variable.kind {
                VariableKind::Location { instance, names } => {
                    let location = names.get(usize::try_from(value).ok()?)?;
                    let automaton = &self.model.instance(*instance).automaton;
                    let index = instance.index();
                    locations.push(
                        json!({"automaton": automaton, "index": index, "location": location}),
                    );
                }
                VariableKind::Boolean => {
                    let var = self.reference(VarId::new(v));
                    variables.push(json!({"var": var, "value": value != 0}));
                }
                VariableKind::Integer => {
                    variables.push(json!({"var": self.reference(VarId::new(v)), "value": value}));
                }
            }
        }
        Some(json!({"locations": locations, "variables": variables}))
    }
}
