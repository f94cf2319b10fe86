//! Reading interface files: what their keys may be, and all that is wrong with them.

use serde_json::Value;

use super::similar_names::distance;
use super::{GroupFeed, InputGroup, InputItem, InputStatistics, InstanceItem, Interface};
use crate::error::PolicyError;
use crate::json::{Lines, escaped};
use crate::semantics::{Filter, Ties};
use crate::trees::Rounds;

/// The keys of an interface file. The file of the weights before their conversion says nothing
/// about the policy.
const KEYS: [&str; 8] =
    ["elements", "file", "filter", "input", "never", "output", "rounds", "torch-file"];
/// The keys of an input.
const INPUT_KEYS: [&str; 3] = ["automaton", "index", "name"];
/// The keys of an interface file of version 2.
const COMPUTED_KEYS: [&str; 10] = [
    "elements", "file", "filter", "input", "never", "output", "rounds", "scores", "ties", "version",
];
/// The keys of inputs that are normalised.
const STATISTICS_KEYS: [&str; 5] = ["clip", "epsilon", "mean", "normalise", "variance"];
/// The word that stands for the applicable labels, in place of a list of inputs.
const APPLICABLE: &str = "applicable";
/// The number that Stable-Baselines3 adds to variances by default.
const EPSILON: f64 = 1e-8;
/// The versions of the format.
const VERSIONS: [u64; 2] = [1, 2];
/// The keys of an instance.
const INSTANCE_KEYS: [&str; 2] = ["index", "name"];

/// Reads an interface file from its JSON.
pub(super) fn interface(name: &str, value: &Value, lines: Lines) -> Result<Interface, PolicyError> {
    let version = value.get("version").map(|version| version.as_u64());
    let is_known = |version: u64| VERSIONS.contains(&version);
    if let Some(given) = version
        && !given.is_some_and(is_known)
    {
        let message = "interfaces of this version are not supported; versions 1 and 2 are";
        return Err(PolicyError::unsupported("/version", message).in_file(name));
    }
    let computes = version.flatten() == Some(2);
    let mut reader = Reader { computes, problems: Vec::new(), warnings: Vec::new() };
    let interface = reader.interface(name, value, lines);
    if reader.problems.is_empty() {
        Ok(interface)
    } else {
        Err(interface.mismatch(reader.problems))
    }
}

/// Reads values and collects problems, each with its JSON pointer.
struct Reader {
    /// True if inputs may be computed, as in version 2 and later.
    computes: bool,
    problems: Vec<String>,
    warnings: Vec<String>,
}

impl Reader {
    fn interface(&mut self, name: &str, value: &Value, lines: Lines) -> Interface {
        match value.as_object() {
            Some(members) if self.computes => self.known(members, &COMPUTED_KEYS, ""),
            Some(members) => self.known(members, &KEYS, ""),
            None => self.problem("", "an object is expected"),
        }
        let key = |key: &str| value.get(key).filter(|value| !value.is_null());
        let filter = key("filter").and_then(|value| match value.as_bool() {
            Some(true) => Some(Filter::Applicable),
            Some(false) => Some(Filter::None),
            None => {
                self.problem("/filter", "true or false is expected");
                None
            }
        });
        let file = key("file").and_then(|value| self.text(value, "/file"));
        let elements = key("elements").map(|value| {
            let sizes = self.list(value, "/elements");
            let place = |i| format!("/elements/{i}");
            sizes.iter().enumerate().filter_map(|(i, size)| self.index(size, &place(i))).collect()
        });
        let rounds = key("rounds").and_then(|value| self.rounds(value));
        // Of version 1, these keys are unknown, and there is a warning.
        let later = |name: &str| key(name).filter(|_| self.computes);
        let (ties, scores) = (later("ties"), later("scores"));
        let ties = ties.and_then(|value| self.ties(value));
        let scores = scores.and_then(|value| self.text(value, "/scores"));
        let mut inputs = Vec::new();
        let groups = match key("input").and_then(Value::as_object) {
            Some(groups) if self.computes => self.groups(groups, &mut inputs),
            _ => {
                let listed = self.required(value, "input");
                inputs = self.inputs(listed, "/input");
                Vec::new()
            }
        };
        for (i, input) in inputs.iter().enumerate() {
            if inputs[..i].contains(input) {
                self.warnings.push(format!("/input/{i}: `{input}` is listed twice"));
            }
        }
        let outputs = self.required(value, "output");
        let outputs = self.names(outputs, "/output");
        let never = key("never").map_or(&[][..], |value| self.list(value, "/never"));
        let never = self.names(never, "/never");
        for label in outputs.iter().filter(|label| never.contains(label)) {
            let message = format!("`{label}` is one of the outputs, too");
            self.problem("/never", &message);
        }
        let warnings = self.warnings.iter().map(|warning| format!("{name}: {warning}")).collect();
        Interface {
            name: name.to_owned(),
            file,
            filter,
            ties,
            scores,
            elements,
            rounds,
            inputs,
            groups,
            outputs,
            never,
            warnings,
            lines,
        }
    }

    /// A list that must be there.
    fn required<'v>(&mut self, value: &'v Value, wanted: &str) -> &'v [Value] {
        let pointer = format!("/{wanted}");
        match value.get(wanted).filter(|value| !value.is_null()) {
            Some(value) => self.list(value, &pointer),
            None => {
                if value.is_object() {
                    self.problem(&pointer, "this list is missing");
                }
                &[]
            }
        }
    }

    fn rounds(&mut self, value: &Value) -> Option<Rounds> {
        match (value.as_str(), value.as_u64()) {
            (Some("best"), _) => Some(Rounds::Best),
            (Some("all"), _) => Some(Rounds::All),
            (_, Some(count)) if self.computes && count > 0 => {
                Some(Rounds::First(usize::try_from(count).unwrap_or(usize::MAX)))
            }
            _ if self.computes => {
                self.problem("/rounds", "\"best\", \"all\" or a number of rounds is expected");
                None
            }
            _ => {
                self.problem("/rounds", "\"best\" or \"all\" is expected");
                None
            }
        }
    }

    fn ties(&mut self, value: &Value) -> Option<Ties> {
        match value.as_str() {
            Some("first") => Some(Ties::First),
            Some("any") => Some(Ties::Any),
            Some("strict") => Some(Ties::Strict),
            _ => {
                self.problem("/ties", "\"first\", \"any\" or \"strict\" is expected");
                None
            }
        }
    }

    /// Inputs by the input of the policy's graph; they are appended to `inputs`.
    fn groups(
        &mut self,
        groups: &serde_json::Map<String, Value>,
        inputs: &mut Vec<InputItem>,
    ) -> Vec<InputGroup> {
        let mut read = Vec::with_capacity(groups.len());
        for (name, value) in groups {
            let pointer = format!("/input/{}", escaped(name));
            let feed = if value.as_str() == Some(APPLICABLE) {
                GroupFeed::Applicable
            } else if let Some(list) = value.as_array() {
                let items = self.inputs(list, &pointer);
                let count = items.len();
                inputs.extend(items);
                GroupFeed::Inputs(count)
            } else {
                self.problem(&pointer, "a list of inputs, or \"applicable\", is expected");
                continue;
            };
            read.push(InputGroup { name: name.clone(), feed });
        }
        if read.iter().all(|group| group.feed == GroupFeed::Applicable) {
            self.problem("/input", "no inputs are listed");
        }
        read
    }

    fn inputs(&mut self, list: &[Value], pointer: &str) -> Vec<InputItem> {
        let item = |(i, item)| self.input(item, &format!("{pointer}/{i}"));
        list.iter().enumerate().filter_map(item).collect()
    }

    /// Names, none of them twice.
    fn names(&mut self, values: &[Value], pointer: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::with_capacity(values.len());
        for (i, value) in values.iter().enumerate() {
            let pointer = format!("{pointer}/{i}");
            match self.text(value, &pointer) {
                Some(name) if names.contains(&name) => {
                    self.problem(&pointer, &format!("`{name}` is listed twice"));
                }
                Some(name) => names.push(name),
                None => {}
            }
        }
        names
    }

    /// Keys that are not known: an error if one looks like a misspelt one.
    fn known(&mut self, members: &serde_json::Map<String, Value>, known: &[&str], pointer: &str) {
        for key in members.keys().filter(|key| !known.contains(&key.as_str())) {
            let lower = key.to_lowercase();
            let meant = known.iter().find(|known| distance(&lower, known) <= known.len() / 3);
            let message = format!("the key `{key}` is not known");
            if self.computes && meant.is_none() {
                self.problem(pointer, &format!("{message}; known are {}", known.join(", ")));
            } else if let Some(meant) = meant {
                self.problem(pointer, &format!("{message}; did you mean `{meant}`?"));
            } else {
                let place = if pointer.is_empty() { String::new() } else { format!("{pointer}: ") };
                self.warnings.push(format!("{place}{message}; it is ignored"));
            }
        }
    }

    fn input(&mut self, item: &Value, pointer: &str) -> Option<InputItem> {
        if let Some(text) = item.as_str().filter(|_| self.computes) {
            return Some(InputItem::Expression(text.to_owned()));
        }
        let Some(item) = item.as_object() else {
            let expected = if self.computes { "an expression, or an object," } else { "an object" };
            self.problem(pointer, &format!("{expected} is expected"));
            return None;
        };
        if self.computes && item.contains_key("normalise") {
            return self.normalised(item, pointer);
        }
        self.known(item, &INPUT_KEYS, pointer);
        let name = match item.get("name") {
            Some(name) => self.text(name, &format!("{pointer}/name"))?,
            None => {
                self.problem(pointer, "the name is missing");
                return None;
            }
        };
        let index = match item.get("index").filter(|index| !index.is_null()) {
            Some(index) => Some(self.index(index, &format!("{pointer}/index"))?),
            None => None,
        };
        let instance = match (item.get("automaton"), index) {
            // Without the key, a name with an index is an automaton.
            (None, Some(index)) => {
                return Some(InputItem::Location(InstanceItem { automaton: name, index }));
            }
            (None | Some(Value::Null), _) => None,
            (Some(automaton), _) => {
                Some(self.instance(automaton, &format!("{pointer}/automaton"))?)
            }
        };
        Some(InputItem::Variable { name, instance, cell: index })
    }

    /// Inputs that are normalised.
    fn normalised(
        &mut self,
        item: &serde_json::Map<String, Value>,
        pointer: &str,
    ) -> Option<InputItem> {
        self.known(item, &STATISTICS_KEYS, pointer);
        let list = item.get("normalise").and_then(Value::as_array);
        let Some(list) = list else {
            self.problem(&format!("{pointer}/normalise"), "a list of inputs is expected");
            return None;
        };
        let items = self.inputs(list, &format!("{pointer}/normalise"));
        let numbers = |reader: &mut Self, key: &str| {
            let pointer = format!("{pointer}/{key}");
            let Some(list) = item.get(key).and_then(Value::as_array) else {
                reader.problem(&pointer, "a list of numbers, one for each input, is expected");
                return None;
            };
            let numbers: Option<Vec<f64>> = list.iter().map(number).collect();
            if numbers.is_none() {
                reader.problem(&pointer, "a number of the list is not finite, or is none");
            }
            numbers
        };
        let (mean, variance) = (numbers(self, "mean"), numbers(self, "variance"));
        let one = |reader: &mut Self, key: &str, default: Option<f64>| {
            let Some(value) = item.get(key).filter(|value| !value.is_null()) else {
                return default;
            };
            let number = number(value).filter(|number| *number >= 0.0);
            if number.is_none() {
                reader.problem(&format!("{pointer}/{key}"), "a number of at least 0 is expected");
            }
            number
        };
        let (epsilon, clip) = (one(self, "epsilon", Some(EPSILON)), one(self, "clip", None));
        let statistics =
            InputStatistics { mean: mean?, variance: variance?, epsilon: epsilon?, clip };
        Some(InputItem::Normalised { items, statistics })
    }

    fn instance(&mut self, value: &Value, pointer: &str) -> Option<InstanceItem> {
        let (Some(name), Some(index)) = (value.get("name"), value.get("index")) else {
            self.problem(pointer, "null, or an object with name and index, is expected");
            return None;
        };
        if let Some(members) = value.as_object() {
            self.known(members, &INSTANCE_KEYS, pointer);
        }
        let automaton = self.text(name, &format!("{pointer}/name"));
        let index = self.index(index, &format!("{pointer}/index"));
        Some(InstanceItem { automaton: automaton?, index: index? })
    }

    fn list<'a>(&mut self, value: &'a Value, pointer: &str) -> &'a [Value] {
        value.as_array().map_or_else(
            || {
                self.problem(pointer, "a list is expected");
                &[][..]
            },
            Vec::as_slice,
        )
    }

    fn text(&mut self, value: &Value, pointer: &str) -> Option<String> {
        if value.as_str().is_none() {
            self.problem(pointer, "text is expected");
        }
        value.as_str().map(str::to_owned)
    }

    fn index(&mut self, value: &Value, pointer: &str) -> Option<usize> {
        let index = value.as_u64().and_then(|index| usize::try_from(index).ok());
        if index.is_none() {
            self.problem(pointer, "a number of at least 0 is expected");
        }
        index
    }

    fn problem(&mut self, pointer: &str, message: &str) {
        self.problems.push(if pointer.is_empty() {
            message.to_owned()
        } else {
            format!("{pointer}: {message}")
        });
    }
}

/// A finite number.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}
