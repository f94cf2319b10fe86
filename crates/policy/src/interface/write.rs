//! Writing interface files.

use policert_model::{Model, VarId, VariableKind};
use serde_json::{Value, json};

use super::{GroupFeed, InputItem, InputStatistics, InstanceItem, Interface};
use crate::json::Lines;
use crate::semantics::Filter;
use crate::trees::Rounds;

impl Interface {
    /// The interface of a policy that reads these variables and chooses among these labels, by
    /// name.
    ///
    /// # Errors
    /// A variable that interfaces cannot name: its name.
    pub fn of(model: &Model, inputs: &[VarId], outputs: Vec<String>) -> Result<Self, String> {
        let item = |variable: &VarId| {
            let name = &model.variables[variable.index()].name;
            InputItem::of(model, *variable).ok_or_else(|| name.clone())
        };
        Ok(Self {
            name: String::new(),
            file: None,
            filter: None,
            ties: None,
            scores: None,
            elements: None,
            rounds: None,
            groups: Vec::new(),
            lines: Lines::default(),
            inputs: inputs.iter().map(item).collect::<Result<_, _>>()?,
            outputs,
            never: Vec::new(),
            warnings: Vec::new(),
        })
    }

    /// The file's JSON; what is not given is left out.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut file = serde_json::Map::new();
        if let Some(elements) = &self.elements {
            file.insert("elements".to_owned(), json!(elements));
        }
        if let Some(name) = &self.file {
            file.insert("file".to_owned(), json!(name));
        }
        if let Some(filter) = self.filter {
            file.insert("filter".to_owned(), json!(filter == Filter::Applicable));
        }
        if let Some(rounds) = self.rounds {
            let value = match rounds {
                Rounds::Best => json!("best"),
                Rounds::All => json!("all"),
                Rounds::First(count) => json!(count),
            };
            file.insert("rounds".to_owned(), value);
        }
        if let Some(ties) = self.ties {
            file.insert("ties".to_owned(), json!(ties));
        }
        if let Some(scores) = &self.scores {
            file.insert("scores".to_owned(), json!(scores));
        }
        file.insert("input".to_owned(), self.inputs_json());
        if !self.never.is_empty() {
            file.insert("never".to_owned(), json!(self.never));
        }
        file.insert("output".to_owned(), json!(self.outputs));
        if self.computes() {
            file.insert("version".to_owned(), json!(2));
        }
        Value::Object(file)
    }

    /// Returns whether the interface says something that only version 2 of the format can express.
    fn computes(&self) -> bool {
        let computed = |item: &InputItem| {
            matches!(item, InputItem::Expression(_) | InputItem::Normalised { .. })
        };
        self.ties.is_some()
            || self.scores.is_some()
            || !self.groups.is_empty()
            || matches!(self.rounds, Some(Rounds::First(_)))
            || self.inputs.iter().any(computed)
    }

    /// The inputs, by the input of the graph where the file names these.
    fn inputs_json(&self) -> Value {
        let mut items = self.inputs.iter().map(InputItem::to_json);
        if self.groups.is_empty() {
            return Value::Array(items.collect());
        }
        let groups = self.groups.iter().map(|group| {
            let value = match group.feed {
                GroupFeed::Inputs(count) => Value::Array(items.by_ref().take(count).collect()),
                GroupFeed::Applicable => json!("applicable"),
            };
            (group.name.clone(), value)
        });
        Value::Object(groups.collect())
    }
}

impl InputItem {
    /// The item by which an interface names a variable; `None` if it cannot name it.
    fn of(model: &Model, variable: VarId) -> Option<Self> {
        let variable = &model.variables[variable.index()];
        let instance_item = |index: usize| InstanceItem {
            automaton: model.instances[index].automaton.clone(),
            index,
        };
        if let VariableKind::Location { instance, .. } = &variable.kind {
            return Some(Self::Location(instance_item(instance.index())));
        }
        // The longest name of an instance that fits, if one does.
        let prefixed = (0..model.instances.len())
            .map(instance_item)
            .filter_map(|i| Some((variable.name.strip_prefix(&format!("{i}."))?, i)))
            .min_by_key(|(rest, _)| rest.len());
        let (rest, instance) = match prefixed {
            Some((rest, instance)) => (rest, Some(instance)),
            None => (variable.name.as_str(), None),
        };
        let cell = rest
            .strip_suffix(']')
            .and_then(|rest| rest.rsplit_once('['))
            .and_then(|(name, cell)| Some((name, cell.parse::<usize>().ok()?)));
        let (name, cell) = cell.map_or((rest, None), |(name, cell)| (name, Some(cell)));
        let item = Self::Variable { name: name.to_owned(), instance, cell };
        (item.to_string() == variable.name).then_some(item)
    }

    fn to_json(&self) -> Value {
        let instance = |item: &InstanceItem| json!({"name": item.automaton, "index": item.index});
        match self {
            Self::Location(item) => instance(item),
            Self::Expression(text) => json!(text),
            Self::Normalised { items, statistics } => {
                let items: Vec<Value> = items.iter().map(Self::to_json).collect();
                let InputStatistics { mean, variance, epsilon, clip } = statistics;
                json!({"normalise": items, "mean": mean, "variance": variance,
                       "epsilon": epsilon, "clip": clip})
            }
            Self::Variable { name, instance: owner, cell } => {
                let owner = owner.as_ref().map_or(Value::Null, instance);
                match cell {
                    None => json!({"automaton": owner, "name": name}),
                    Some(cell) => json!({"automaton": owner, "index": cell, "name": name}),
                }
            }
        }
    }
}
