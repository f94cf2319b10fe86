//! The task as a JANI model: a truth value for each proposition, a label for each ground action.

use std::collections::BTreeMap;

use policert_jani::write::{all, any, binary, name, not, text};
use policert_numeric::Rational;
use serde_json::{Number, Value, json};

use crate::task::{GroundAction, GroundEffect, GroundLiteral, GroundOutcome, Task};

impl Task {
    /// The text of its JANI model. Its property has the goal, and no unsafe states.
    #[must_use]
    pub fn jani(&self) -> String {
        let names: Vec<String> =
            self.propositions.iter().map(|atom| self.atom_name(atom)).collect();
        let labels: Vec<String> =
            self.actions.iter().map(|action| self.action_name(action)).collect();
        let variable = |(name, initial): (&String, &bool)| json!({"name": name, "type": "bool", "initial-value": initial});
        let variables: Vec<Value> = names.iter().zip(&self.initial).map(variable).collect();
        let edges = self.actions.iter().zip(&labels);
        let edges: Vec<Value> = edges.map(|(action, label)| edge(action, label, &names)).collect();
        let sync = |label: &String| json!({"synchronise": [label], "result": label});
        text(&json!({
            "jani-version": 1,
            "name": self.problem.name,
            "type": "mdp",
            "features": ["derived-operators"],
            "actions": labels.iter().map(|label| json!({"name": label})).collect::<Vec<_>>(),
            "variables": variables,
            "properties": [{"name": self.problem.name, "expression": {
                "op": "PA",
                "reach": {"op": "state-condition", "exp": false},
                "objective": {"op": "objective", "goal": {
                    "op": "state-condition", "exp": self.goal_condition(&names)}},
            }}],
            "automata": [{
                "name": "task",
                "locations": [{"name": "base"}],
                "initial-locations": ["base"],
                "edges": edges,
            }],
            "system": {
                "elements": [{"automaton": "task"}],
                "syncs": labels.iter().map(sync).collect::<Vec<_>>(),
            },
        }))
    }

    fn goal_condition(&self, names: &[String]) -> Value {
        self.goal.as_ref().map_or(Value::Bool(false), |goal| conjunction(goal, names))
    }
}

fn conjunction(literals: &[GroundLiteral], names: &[String]) -> Value {
    let literal = |&(proposition, truth): &GroundLiteral| {
        let atom = name(&names[proposition]);
        if truth { atom } else { not(atom) }
    };
    all(literals.iter().map(literal).collect())
}

fn edge(action: &GroundAction, label: &str, names: &[String]) -> Value {
    let destinations = action.outcomes.iter().map(|outcome| destination(outcome, names));
    json!({
        "location": "base",
        "action": label,
        "guard": {"exp": conjunction(&action.precondition, names)},
        "destinations": destinations.collect::<Vec<_>>(),
    })
}

fn destination(outcome: &GroundOutcome, names: &[String]) -> Value {
    let mut changes: BTreeMap<usize, Vec<&GroundEffect>> = BTreeMap::new();
    for effect in &outcome.effects {
        changes.entry(effect.change.0).or_default().push(effect);
    }
    let assignment = |(proposition, effects): (&usize, &Vec<&GroundEffect>)| json!({"ref": names[*proposition], "value": value(*proposition, effects, names)});
    let assignments: Vec<Value> = changes.iter().map(assignment).collect();
    let mut out = json!({"location": "base"});
    if outcome.probability != Rational::ONE {
        out["probability"] = json!({"exp": probability(&outcome.probability)});
    }
    out["assignments"] = assignments.into();
    out
}

/// The truth of a proposition after these changes of it: those that add it go first.
fn value(proposition: usize, effects: &[&GroundEffect], names: &[String]) -> Value {
    let happens = |truth: bool| {
        let effects = effects.iter().filter(move |effect| effect.change.1 == truth);
        any(effects.map(|effect| conjunction(&effect.condition, names)).collect())
    };
    let always = |truth: bool| {
        effects.iter().any(|effect| effect.change.1 == truth && effect.condition.is_empty())
    };
    match (always(true), always(false)) {
        (true, _) => Value::Bool(true),
        (false, true) => happens(true),
        (false, false) => {
            let stays = all(vec![name(&names[proposition]), not(happens(false))]);
            any(vec![happens(true), stays])
        }
    }
}

/// A probability, exactly: a quotient of whole numbers.
fn probability(value: &Rational) -> Value {
    let (top, bottom) = value.to_parts();
    let integer = |text: String| text.parse::<Number>().map_or(Value::Null, Value::Number);
    binary("/", integer(top.to_string()), integer(bottom.to_string()))
}
