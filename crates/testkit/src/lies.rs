//! Ways in which an engine may lie: it answers about another model or policy than it was asked about, and
//! its evidence says that it is about the right one.

use serde_json::{Value, json};

use crate::Random;

/// A way to lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lie {
    /// An edge is left out.
    DropSuccessor,
    /// All edges of a label are left out.
    SkipLabel,
    /// A number in a guard, an update or the unsafe condition is another.
    ShiftBound,
    /// Not all start states count.
    ForgetStart,
    /// Numbers of the policy are rounded.
    Round,
}

impl Lie {
    /// All ways.
    pub const ALL: [Lie; 5] =
        [Lie::DropSuccessor, Lie::SkipLabel, Lie::ShiftBound, Lie::ForgetStart, Lie::Round];

    /// The model that the lie is about; `None` where it does not apply.
    #[must_use]
    pub fn model(self, model: &Value, random: &mut Random) -> Option<Value> {
        let mut other = model.clone();
        match self {
            Self::DropSuccessor => {
                let edges = some_edges(&mut other, random)?;
                let at = random.below(edges.len());
                edges.remove(at);
            }
            Self::SkipLabel => {
                let labels = model["actions"].as_array()?;
                let label = &labels.get(random.below(labels.len().max(1)))?["name"];
                let automata = other["automata"].as_array_mut()?;
                for automaton in automata {
                    automaton["edges"].as_array_mut()?.retain(|edge| edge["action"] != *label);
                }
            }
            Self::ShiftBound => {
                let mut places = Vec::new();
                for part in ["automata", "properties"] {
                    numbers(&model[part], &format!("/{part}"), false, &mut places);
                }
                let place = places.get(random.below(places.len().max(1)))?;
                let value = model.pointer(place)?.as_i64()?;
                *other.pointer_mut(place)? = json!(value + *random.pick(&[-1, 1]));
            }
            Self::ForgetStart => {
                let variables = other["variables"].as_array_mut()?;
                let variable = random.below(variables.len().max(1));
                let variable = variables.get_mut(variable)?;
                let first = variable["type"]["lower-bound"].as_i64()?;
                variable["initial-value"] = json!(first);
                for property in other["properties"].as_array_mut()? {
                    property["expression"].as_object_mut()?.remove("start");
                }
            }
            Self::Round => return None,
        }
        (other != *model).then_some(other)
    }

    /// The policy as NNet that the lie is about; `None` where it does not apply.
    #[must_use]
    pub fn policy(self, text: &str, random: &mut Random) -> Option<String> {
        if self != Self::Round {
            return None;
        }
        // The numbers of the network begin after comments and seven lines.
        let head = text.lines().take_while(|line| line.starts_with("//")).count() + 7;
        let lines: Vec<&str> = text.lines().collect();
        let at = head + random.below(lines.len().checked_sub(head).filter(|count| *count > 0)?);
        let changed = |number: &str| match number.parse::<f64>() {
            Ok(value) => (value.round() + *random.pick(&[0.0, -1.0, 1.0])).to_string(),
            Err(_) => number.to_owned(),
        };
        let line = lines[at].split(',').map(changed).collect::<Vec<_>>().join(",");
        let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
        lines[at] = line;
        Some(lines.join("\n") + "\n")
    }
}

/// The edges of an automaton that has some.
fn some_edges<'m>(model: &'m mut Value, random: &mut Random) -> Option<&'m mut Vec<Value>> {
    let automata = model["automata"].as_array_mut()?;
    let has_edges = |automaton: &&mut Value| {
        automaton["edges"].as_array().is_some_and(|edges| !edges.is_empty())
    };
    let mut automata: Vec<&mut Value> = automata.iter_mut().filter(has_edges).collect();
    if automata.is_empty() {
        return None;
    }
    let at = random.below(automata.len());
    automata.swap_remove(at)["edges"].as_array_mut()
}

/// The places of whole numbers in guards, values and conditions, as JSON pointers.
fn numbers(value: &Value, place: &str, inside: bool, places: &mut Vec<String>) {
    match value {
        Value::Number(number) if inside && number.is_i64() => places.push(place.to_owned()),
        Value::Array(parts) => {
            for (at, part) in parts.iter().enumerate() {
                numbers(part, &format!("{place}/{at}"), inside, places);
            }
        }
        Value::Object(members) => {
            for (key, part) in members {
                let looks = ["guard", "value", "exp", "left", "right"].contains(&key.as_str());
                let inside = (inside || looks) && key != "index" && key != "probability";
                numbers(part, &format!("{place}/{key}"), inside, places);
            }
        }
        Value::Number(_) | Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The evidence, as if it were about the question of other evidence.
#[must_use]
pub fn retold(evidence: &Value, other: &Value) -> Value {
    let mut lie = evidence.clone();
    for member in ["task", "inputs", "semantics", "unsafe_condition"] {
        lie[member] = other[member].clone();
    }
    lie
}

/// The evidence with some part of what shows its verdict changed, left out, or put in twice.
#[must_use]
pub fn mutated(evidence: &Value, random: &mut Random) -> Value {
    const ABOUT: [&str; 8] = [
        "schema_version",
        "version",
        "verdict",
        "engine",
        "task",
        "semantics",
        "inputs",
        "unsafe_condition",
    ];
    let mut lie = evidence.clone();
    for _ in 0..1 + random.below(3) {
        let mut places = Vec::new();
        for (key, value) in lie.as_object().into_iter().flatten() {
            if !ABOUT.contains(&key.as_str()) {
                all_places(value, &format!("/{}", escaped(key)), &mut places);
            }
        }
        let Some(place) = places.get(random.below(places.len().max(1))) else { break };
        let other = places[random.below(places.len())].clone();
        let Some(copied) = lie.pointer(&other).cloned() else { break };
        let Some(value) = lie.pointer_mut(place) else { break };
        change(value, copied, random);
    }
    lie
}

fn change(value: &mut Value, copied: Value, random: &mut Random) {
    match value {
        Value::Array(parts) if !parts.is_empty() && random.percent(70) => {
            let at = random.below(parts.len());
            if random.percent(60) {
                parts.remove(at);
            } else {
                let part = parts[at].clone();
                parts.push(part);
            }
        }
        Value::Object(members) if !members.is_empty() && random.percent(70) => {
            let keys: Vec<String> = members.keys().cloned().collect();
            members.remove(random.pick(&keys));
        }
        Value::Number(number) if random.percent(80) => {
            *value = match number.as_i64() {
                Some(whole) => json!(whole + *random.pick(&[-2, -1, 1, 2])),
                None => json!(*random.pick(&[0.0, 0.25, 0.5, 1.0])),
            };
        }
        Value::Bool(truth) => *value = json!(!*truth),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            *value = copied;
        }
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn all_places(value: &Value, place: &str, places: &mut Vec<String>) {
    places.push(place.to_owned());
    match value {
        Value::Array(parts) => {
            for (at, part) in parts.iter().enumerate() {
                all_places(part, &format!("{place}/{at}"), places);
            }
        }
        Value::Object(members) => {
            for (key, part) in members {
                all_places(part, &format!("{place}/{}", escaped(key)), places);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
