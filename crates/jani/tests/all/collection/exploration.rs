//! A plain breadth-first search, to see that what was read means what it should.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::ControlFlow,
};

use policert_model::{
    Condition, DomainRule, Model, ModelSemantics, Operator, SafetyProperty, Start, State, Visit,
    for_each_solution,
};

/// The result of a search.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No unsafe state; how many states are reachable.
    Safe(usize),
    /// Transitions to the first unsafe state.
    Unsafe(usize),
    /// The model breaks its own rules: the message.
    Invalid(String),
}

/// The states that satisfy a condition inside the domains, or inside a smaller box.
pub fn solutions(condition: &Condition, sides: &policert_numeric::IntBox) -> Vec<State> {
    let mut states = Vec::new();
    let result = for_each_solution(condition, sides, true, &mut |visit| {
        if let Visit::Solution(state) = visit {
            states.push(state.to_vec());
        }
        ControlFlow::<()>::Continue(())
    });
    result.expect("a bounded condition").is_continue().then_some(states).expect("all solutions")
}

/// The initial states of a model.
pub fn initial_states(model: &Model) -> Vec<State> {
    let (condition, sides) = model.initial_states();
    solutions(&condition, &sides)
}

/// All operators of a model that has not too many.
pub fn operators(model: &Model) -> Vec<Operator> {
    model.operators(20_000).expect("not too many operators")
}

/// The states reachable from some, until an unsafe one is found; terminal ones end there.
pub fn explore(
    model: &Model,
    start: Vec<State>,
    unsafe_condition: &Condition,
    terminal: &Condition,
    rule: DomainRule,
) -> Outcome {
    let operators = operators(model);
    let semantics = ModelSemantics { model, rule };
    let mut depths: BTreeMap<State, usize> = BTreeMap::new();
    let mut open = VecDeque::new();
    for state in start {
        if depths.insert(state.clone(), 0).is_none() {
            open.push_back(state);
        }
    }
    while let Some(state) = open.pop_front() {
        let depth = depths[&state];
        if unsafe_condition.holds(&state) == Ok(true) {
            return Outcome::Unsafe(depth);
        }
        if terminal.holds(&state) == Ok(true) {
            continue;
        }
        for operator in &operators {
            let successors = match semantics.is_enabled(operator, &state) {
                Ok(false) => continue,
                Ok(true) => semantics.successors(operator, &state),
                Err(error) => Err(error),
            };
            let successors = match successors {
                Ok(successors) => successors,
                Err(error) => return Outcome::Invalid(error.to_string()),
            };
            for successor in successors.list {
                if !depths.contains_key(&successor.state) {
                    depths.insert(successor.state.clone(), depth + 1);
                    open.push_back(successor.state);
                }
            }
        }
    }
    Outcome::Safe(depths.len())
}

/// Answers a safety property without a policy.
pub fn answer(model: &Model, property: &SafetyProperty, rule: DomainRule) -> Outcome {
    let mut start = initial_states(model);
    match &property.start {
        None => {}
        Some(Start::States(states)) => start.extend(states.iter().cloned()),
        Some(Start::Condition(condition)) => start.extend(solutions(condition, &model.domains())),
    }
    explore(model, start, &property.unsafe_condition, &Condition::False, rule)
}
