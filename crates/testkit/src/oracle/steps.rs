//! The transitions of a network of automata, interpreted edge by edge.

use policert_model::{
    AssignedValue, Assignment, Condition, DomainRule, Edge, EdgeDestination, Expr, InstanceId,
    LabelId, Model, OperatorKey, Probability, State, Target, TransientId, VarId,
};
use policert_numeric::Rational;

/// Edges that fire together: a silent one alone, or one for each participant of a vector.
#[derive(Clone, Debug)]
pub struct JointEdge<'m> {
    /// Its name.
    pub key: OperatorKey,
    /// The label of the joint transition.
    pub label: Option<LabelId>,
    /// The participants and their edges.
    pub edges: Vec<(InstanceId, &'m Edge)>,
}

/// One transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The combination of destinations, the last participant's running fastest.
    pub destination: usize,
    /// The values of the free choices.
    pub choices: Vec<i64>,
    /// The probability of the destination.
    pub probability: Rational,
    /// The state after it.
    pub state: State,
}

/// Says what one joint edge does in a state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Steps {
    /// The transitions.
    pub list: Vec<Step>,
    /// True if some outcome was no transition: it leaves a domain, touches a cell that does not
    /// exist, or assigns what has no value.
    pub dropped: bool,
}

/// The model is wrong in a state: no distribution, two values at once, or, by
/// [`DomainRule::Error`], an outcome that is no transition, or a guard without value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Broken;

/// All joint edges: silent ones by instance, then by vector.
#[must_use]
pub fn joint_edges(model: &Model) -> Vec<JointEdge<'_>> {
    let mut all = Vec::new();
    for (i, instance) in model.instances.iter().enumerate() {
        for (e, edge) in (0..).zip(&instance.edges) {
            if edge.action.is_none() {
                let id = InstanceId::new(i);
                let key = OperatorKey { vector: None, edges: vec![(id, e)] };
                all.push(JointEdge { key, label: None, edges: vec![(id, edge)] });
            }
        }
    }
    for (v, vector) in (0..).zip(&model.vectors) {
        let mut partial = vec![Vec::new()];
        for &(id, action) in &vector.participants {
            let mut longer = Vec::new();
            for chosen in &partial {
                for (e, edge) in (0..).zip(&model.instances[id.index()].edges) {
                    if edge.action == Some(action) {
                        let mut chosen: Vec<(InstanceId, u32, &Edge)> = Clone::clone(chosen);
                        chosen.push((id, e, edge));
                        longer.push(chosen);
                    }
                }
            }
            partial = longer;
        }
        for chosen in partial.into_iter().filter(|chosen| !chosen.is_empty()) {
            let edges = chosen.iter().map(|&(id, e, _)| (id, e)).collect();
            all.push(JointEdge {
                key: OperatorKey { vector: Some(v), edges },
                label: vector.result,
                edges: chosen.iter().map(|&(id, _, edge)| (id, edge)).collect(),
            });
        }
    }
    all
}

/// Returns whether every participant is in the source location of its edge and every guard holds.
///
/// # Errors
/// By [`DomainRule::Error`], if that depends on a guard without value.
pub fn is_enabled(
    model: &Model,
    rule: DomainRule,
    joint: &JointEdge<'_>,
    state: &[i64],
) -> Result<bool, Broken> {
    let mut undefined = false;
    for (id, edge) in &joint.edges {
        if state[model.instances[id.index()].location.index()] != edge.source {
            return Ok(false);
        }
    }
    for (_, edge) in &joint.edges {
        match edge.guard.holds(state) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(_) => undefined = true,
        }
    }
    match (undefined, rule) {
        (false, _) => Ok(true),
        (true, DomainRule::Drop) => Ok(false),
        (true, DomainRule::Error) => Err(Broken),
    }
}

/// The transitions of an enabled joint edge.
///
/// # Errors
/// Fails if the model is wrong.
pub fn steps(
    model: &Model,
    rule: DomainRule,
    joint: &JointEdge<'_>,
    state: &[i64],
) -> Result<Steps, Broken> {
    let mut combinations: Vec<Vec<&EdgeDestination>> = vec![Vec::new()];
    for (_, edge) in &joint.edges {
        let mut longer = Vec::new();
        for chosen in &combinations {
            for destination in &edge.destinations {
                longer.push([chosen.as_slice(), &[destination]].concat());
            }
        }
        combinations = longer;
    }
    let mut probabilities = Vec::new();
    for combination in &combinations {
        let mut product = Rational::ONE;
        for destination in combination {
            let p = match &destination.probability {
                Probability::Constant(p) => p.clone(),
                Probability::Expr(p) => p.eval(state).map_err(|_| Broken)?,
            };
            product = &product * &p;
        }
        if product.signum() < 0 {
            return Err(Broken);
        }
        probabilities.push(product);
    }
    if probabilities.iter().sum::<Rational>() != Rational::ONE {
        return Err(Broken);
    }

    let mut steps = Steps::default();
    for (d, (combination, p)) in combinations.iter().zip(&probabilities).enumerate() {
        if p.is_zero() {
            continue;
        }
        // Choices are made one after the other: an execution that runs out of them says between
        // which values the next one is.
        let mut pending = vec![Vec::new()];
        while let Some(choices) = pending.pop() {
            match execute(model, joint, combination, state, &choices) {
                Execution::Asks(bounds) => match bounds {
                    Some((lower, upper)) if lower <= upper => {
                        pending.extend((lower..=upper).rev().map(|value| {
                            let mut choices = choices.clone();
                            choices.push(value);
                            choices
                        }))
                    }
                    Some(_) | None if rule == DomainRule::Drop => steps.dropped = true,
                    Some(_) | None => return Err(Broken),
                },
                Execution::Broken => return Err(Broken),
                Execution::Nowhere if rule == DomainRule::Drop => steps.dropped = true,
                Execution::Nowhere => return Err(Broken),
                Execution::Ends(state) => {
                    steps.list.push(Step { destination: d, choices, probability: p.clone(), state })
                }
            }
        }
    }
    Ok(steps)
}

/// Says how the execution of assignments ends.
enum Execution {
    /// One more choice is needed: a value between these, if there is one; or one of the bounds has
    /// no value.
    Asks(Option<(i64, i64)>),
    /// Two different values at once.
    Broken,
    /// The outcome is no transition.
    Nowhere,
    /// The state after the transition.
    Ends(State),
}

/// Says what assignments write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Var(VarId),
    Transient(TransientId),
}

/// The values of all variables while a transition is taken, as constants; a value that does not
/// exist is an expression without value.
struct Memory {
    variables: Vec<Expr>,
    transients: Vec<Expr>,
}

impl Memory {
    fn value(&self, expr: &Expr) -> Option<Rational> {
        let var = |v: VarId| self.variables.get(v.index()).cloned();
        let transient = |t: TransientId| self.transients.get(t.index()).cloned();
        expr.substitute(&var, &transient).eval(&[]).ok()
    }

    fn write(&mut self, slot: Slot, value: Expr) {
        match slot {
            Slot::Var(v) => self.variables[v.index()] = value,
            Slot::Transient(t) => self.transients[t.index()] = value,
        }
    }
}

fn constant(value: Option<Rational>) -> Expr {
    value.map_or_else(
        || Expr::binary(policert_model::BinaryOp::Div, Expr::int(1), Expr::int(0)),
        Expr::Constant,
    )
}

fn execute(
    model: &Model,
    joint: &JointEdge<'_>,
    destinations: &[&EdgeDestination],
    state: &[i64],
    choices: &[i64],
) -> Execution {
    let variables = state.iter().map(|&value| Expr::int(value)).collect();
    let mut memory = Memory { variables, transients: Vec::new() };
    for transient in &model.transients {
        memory.transients.push(constant(memory.value(&transient.initial)));
    }
    let mut nowhere = false;
    let mut broken = false;
    let mut choices = choices.iter();
    let all: Vec<&Assignment> = destinations.iter().flat_map(|d| &d.assignments).collect();
    let mut indices: Vec<i64> = all.iter().map(|a| a.index).collect();
    indices.sort_unstable();
    indices.dedup();
    for index in indices {
        let mut writes: Vec<(Slot, Option<Rational>)> = Vec::new();
        for assignment in all.iter().filter(|a| a.index == index) {
            let value = match &assignment.value {
                AssignedValue::Expr(expr) => memory.value(expr),
                AssignedValue::Between(bounds) => match choices.next() {
                    Some(&choice) => Some(choice.into()),
                    None => {
                        let bounds = memory.value(&bounds[0]).zip(memory.value(&bounds[1]));
                        return Execution::Asks(bounds.map(|(lower, upper)| {
                            let integer = |value: Rational| value.to_i64().expect("small");
                            (integer(lower.ceil()), integer(upper.floor()))
                        }));
                    }
                },
            };
            match written(&memory, &assignment.target) {
                Some(slot) => writes.push((slot, value)),
                None => nowhere = true,
            }
        }
        for (i, (slot, value)) in writes.iter().enumerate() {
            for (other, other_value) in &writes[..i] {
                let differ = value.is_some() && other_value.is_some() && value != other_value;
                broken |= slot == other && differ;
            }
        }
        for (slot, value) in writes {
            memory.write(slot, constant(value));
        }
    }
    for ((id, _), destination) in joint.edges.iter().zip(destinations) {
        let location = model.instances[id.index()].location;
        memory.write(Slot::Var(location), Expr::int(destination.location));
    }
    if broken {
        return Execution::Broken;
    }
    let mut next = Vec::new();
    for (v, variable) in model.variables.iter().enumerate() {
        let value = memory.value(&Expr::Var(VarId::new(v))).and_then(|value| value.to_i64());
        match value.filter(|&value| variable.domain.contains(value)) {
            Some(value) => next.push(value),
            None => nowhere = true,
        }
    }
    for (t, transient) in model.transients.iter().enumerate() {
        let id = TransientId::new(t);
        if all.iter().any(|a| writes_transient(&a.target, id)) {
            let value = memory.value(&Expr::Transient(id));
            nowhere |= value.is_none_or(|value| !transient.bounds.contains(&value));
        }
    }
    if nowhere { Execution::Nowhere } else { Execution::Ends(next) }
}

/// Returns whether a target may write a transient variable.
fn writes_transient(target: &Target, id: TransientId) -> bool {
    match target {
        Target::Var(_) | Target::Cell { .. } => false,
        Target::Transient(t) => *t == id,
        Target::TransientCell { cells, .. } => cells.contains(&id),
    }
}

/// Returns what a target writes to; `None` for a cell that does not exist.
fn written(memory: &Memory, target: &Target) -> Option<Slot> {
    let at = |index: &Expr| usize::try_from(memory.value(index)?.to_i64()?).ok();
    match target {
        Target::Var(v) => Some(Slot::Var(*v)),
        Target::Transient(t) => Some(Slot::Transient(*t)),
        Target::Cell { cells, index } => cells.get(at(index)?).map(|&v| Slot::Var(v)),
        Target::TransientCell { cells, index } => {
            cells.get(at(index)?).map(|&t| Slot::Transient(t))
        }
    }
}

/// Returns whether a condition holds; one without truth value does not.
#[must_use]
pub fn holds(condition: &Condition, state: &[i64]) -> bool {
    condition.holds(state) == Ok(true)
}
