//! Interface files (`.jani2nnet`, `.jani2ensemble`): which variables and labels the inputs and
//! outputs of a policy are.
//!
//! ```json
//! {"file": "net.nnet", "filter": false, "elements": [32, 32],
//!  "input": [{"name": "x", "automaton": null},
//!            {"name": "A", "automaton": null, "index": 2},
//!            {"name": "v", "automaton": {"name": "Car", "index": 0}},
//!            {"name": "Car", "index": 0}],
//!  "output": ["go", "wait"],
//!  "never": ["stop"]}
//! ```
//!
//! The four kinds of inputs are a global variable, a cell of an array, a variable of an instance
//! (the index counts the elements of the system) and the location of an instance. `file`,
//! `filter`, `elements` (the sizes of the hidden layers), `rounds` (which rounds of training count)
//! and `never` (labels that the policy is never to choose) may be missing. A transient variable is
//! an input, too: its value in the state. A key that stands twice, or that looks like a misspelt
//! one, is an error; other keys are ignored with a warning.

mod bind;
mod classes;
pub(crate) mod observed;
mod write;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

use serde_json::Value;

use crate::error::{PolicyError, read_file};
use crate::json;
use crate::semantics::Filter;
use crate::trees::Rounds;

use bind::distance;
pub use bind::{Binding, InputCount, InputSource, Sizes, bind_by_order};
pub(crate) use classes::attach;

/// An interface file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// How messages name the file.
    pub name: String,
    /// The file of the policy, relative to the interface file.
    pub file: Option<String>,
    /// Which labels compete, if the file says so.
    pub filter: Option<Filter>,
    /// Sizes of the hidden layers.
    pub elements: Option<Vec<usize>>,
    /// Which rounds of training count, of a tree ensemble, if the file says so.
    pub rounds: Option<Rounds>,
    /// The inputs in the order of the policy.
    pub inputs: Vec<InputItem>,
    /// Names of the labels in the order of the policy's outputs.
    pub outputs: Vec<String>,
    /// Names of labels that belong to the policy, which never chooses them.
    pub never: Vec<String>,
    /// What a user should know: keys that are ignored, variables that are read twice.
    pub warnings: Vec<String>,
}

/// What an input of the policy is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputItem {
    /// A variable, or a cell of an array.
    Variable {
        /// Its name.
        name: String,
        /// The instance whose variable it is; `None` for a global one.
        instance: Option<InstanceItem>,
        /// The cell, for an array.
        cell: Option<usize>,
    },
    /// The location of an instance.
    Location(InstanceItem),
}

/// An automaton instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceItem {
    /// Name of the automaton.
    pub automaton: String,
    /// Position in the elements of the system.
    pub index: usize,
}

impl fmt::Display for InstanceItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.automaton, self.index)
    }
}

impl fmt::Display for InputItem {
    /// As the model names its variables: `x`, `A[2]`, `Car#0.v`, `Car#0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputItem::Location(instance) => instance.fmt(f),
            InputItem::Variable { name, instance, cell } => {
                if let Some(instance) = instance {
                    write!(f, "{instance}.")?;
                }
                f.write_str(name)?;
                cell.map_or(Ok(()), |cell| write!(f, "[{cell}]"))
            }
        }
    }
}

impl Interface {
    /// Reads an interface file.
    ///
    /// # Errors
    /// If the file cannot be read or breaks the format.
    pub fn read(path: &Path) -> Result<Self, PolicyError> {
        Self::parse(&path.display().to_string(), &read_file(path)?)
    }

    /// Reads the bytes of an interface file; `name` is used in messages.
    ///
    /// # Errors
    /// If they break the format: all places where they do.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, PolicyError> {
        let value = json::parse(bytes).map_err(|error| error.in_file(name))?;
        let mut reader = Reader { problems: Vec::new(), warnings: Vec::new() };
        let interface = reader.interface(name, &value);
        match reader.problems.is_empty() {
            true => Ok(interface),
            false => {
                let problems = reader.problems;
                Err(PolicyError::Mismatch { file: name.to_owned(), problems })
            }
        }
    }
}

/// The keys of an interface file. The file of the weights before their conversion says nothing
/// about the policy.
const KEYS: [&str; 8] =
    ["elements", "file", "filter", "input", "never", "output", "rounds", "torch-file"];
/// The keys of an input.
const INPUT_KEYS: [&str; 3] = ["automaton", "index", "name"];
/// The keys of an instance.
const INSTANCE_KEYS: [&str; 2] = ["index", "name"];

/// Reads values and collects problems, each with its JSON pointer.
struct Reader {
    problems: Vec<String>,
    warnings: Vec<String>,
}

impl Reader {
    fn interface(&mut self, name: &str, value: &Value) -> Interface {
        match value.as_object() {
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
        let rounds = key("rounds").and_then(|value| match value.as_str() {
            Some("best") => Some(Rounds::Best),
            Some("all") => Some(Rounds::All),
            _ => {
                self.problem("/rounds", "\"best\" or \"all\" is expected");
                None
            }
        });
        let mut required = |wanted: &str| {
            let pointer = format!("/{wanted}");
            match key(wanted) {
                Some(value) => self.list(value, &pointer),
                None if value.is_object() => {
                    self.problem(&pointer, "this list is missing");
                    &[]
                }
                None => &[],
            }
        };
        let (inputs, outputs) = (required("input"), required("output"));
        let inputs: Vec<InputItem> = inputs
            .iter()
            .enumerate()
            .filter_map(|(i, item)| self.input(item, &format!("/input/{i}")))
            .collect();
        for (i, input) in inputs.iter().enumerate() {
            if inputs[..i].contains(input) {
                self.warnings.push(format!("/input/{i}: `{input}` is listed twice"));
            }
        }
        let outputs = self.names(outputs, "/output");
        let never = key("never").map_or(&[][..], |value| self.list(value, "/never"));
        let never = self.names(never, "/never");
        for label in outputs.iter().filter(|label| never.contains(label)) {
            let message = format!("`{label}` is one of the outputs, too");
            self.problem("/never", &message);
        }
        let warnings = self.warnings.iter().map(|warning| format!("{name}: {warning}")).collect();
        let name = name.to_owned();
        Interface { name, file, filter, elements, rounds, inputs, outputs, never, warnings }
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
            if let Some(meant) = meant {
                self.problem(pointer, &format!("{message}; did you mean `{meant}`?"));
            } else {
                let place = if pointer.is_empty() { String::new() } else { format!("{pointer}: ") };
                self.warnings.push(format!("{place}{message}; it is ignored"));
            }
        }
    }

    fn input(&mut self, item: &Value, pointer: &str) -> Option<InputItem> {
        let Some(item) = item.as_object() else {
            self.problem(pointer, "an object is expected");
            return None;
        };
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
