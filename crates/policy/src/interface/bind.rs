//! Finding the variables and labels of an interface in a model.

use policert_model::{LabelId, Model, VarId, VariableKind};

use super::similar_names::near;
use super::sources::{InputSource, NamedExpressions, Names};
use super::{GroupFeed, InputGroup, Interface};
use crate::error::PolicyError;

/// The inputs and outputs of a policy, as parts of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The source of each input.
    pub inputs: Vec<InputSource>,
    /// The labels of the outputs.
    pub outputs: Vec<LabelId>,
    /// Labels that are never chosen.
    pub never: Vec<LabelId>,
}

impl Binding {
    /// The variables of the inputs; `None` if some input is none.
    #[must_use]
    pub fn variables(&self) -> Option<Vec<VarId>> {
        let variable = |input: &InputSource| match input {
            InputSource::Variable(variable) => Some(*variable),
            InputSource::Computed(_) | InputSource::Normalised(_) => None,
        };
        self.inputs.iter().map(variable).collect()
    }
}

/// The number of inputs of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputCount {
    /// As many.
    Exactly(usize),
    /// It reads inputs below this one; its file does not say how many there are.
    AtLeast(usize),
}

/// Sizes of the function that an interface is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSizes {
    /// The noun for the function in messages.
    pub kind: &'static str,
    /// The number of inputs.
    pub inputs: InputCount,
    /// The names that its file gives to the inputs; empty if it gives none.
    pub input_names: Vec<String>,
    /// The number of outputs.
    pub outputs: usize,
    /// The inputs of a graph that has several: names and widths.
    pub groups: Vec<(String, usize)>,
    /// The classes that its file names for the outputs; empty if it names none.
    pub classes: Vec<String>,
    /// The sizes of the hidden layers of a network that is a chain of layers.
    pub hidden: Option<Vec<usize>>,
}

impl Interface {
    /// Finds inputs and outputs in the model, and checks that the function fits. Inputs are those of
    /// the interface, one after the other.
    ///
    /// # Errors
    /// If something does not fit: everything that does not.
    pub fn bind(
        &self,
        model: &Model,
        expressions: &dyn NamedExpressions,
        sizes: &FunctionSizes,
    ) -> Result<Binding, PolicyError> {
        let names = Names { model, expressions };
        let (found, wrong) = self.find_inputs(&names);
        let mut problems = Vec::new();
        let found = match wrong.is_empty() && !self.groups.is_empty() {
            true => self.in_order(found, &sizes.groups, &mut problems),
            false => found.into_iter().flatten().collect(),
        };
        let kind = sizes.kind;
        // What is missing has one input each, as far as that can be said.
        let listed = found.len() + wrong.len();
        match sizes.inputs {
            // What is wrong with each input of the graph was said.
            _ if !self.groups.is_empty() => {}
            InputCount::Exactly(width) if listed != width => {
                let of_graph = match sizes.groups.as_slice() {
                    [] | [_] => String::new(),
                    groups => {
                        let shown =
                            groups.iter().map(|(name, width)| format!("`{name}` ({width})"));
                        format!(": {}", shown.collect::<Vec<_>>().join(", "))
                    }
                };
                problems.push(format!(
                    "the interface lists {listed} inputs, the {kind} has {width}{of_graph}"
                ));
            }
            InputCount::AtLeast(width) if listed < width => problems.push(format!(
                "the interface lists {listed} inputs, and the {kind} reads input {}, counted from \
                 0",
                width - 1
            )),
            InputCount::Exactly(_) | InputCount::AtLeast(_) => {}
        }
        if self.outputs.len() != sizes.outputs {
            let (listed, width) = (self.outputs.len(), sizes.outputs);
            let classes = match sizes.classes.as_slice() {
                [] => String::new(),
                classes => format!(
                    ": {}; labels that it never chooses are listed under `never`",
                    classes.join(", ")
                ),
            };
            problems.push(format!(
                "the interface lists {listed} outputs, the {kind} has {width}{classes}"
            ));
        }
        problems.extend(self.other_order(&sizes.input_names));
        if let (Some(elements), Some(sizes)) = (&self.elements, &sizes.hidden)
            && elements != sizes
        {
            problems.push(format!(
                "/elements: the interface says {elements:?}, the hidden layers of the network are \
                 {sizes:?}"
            ));
        }
        problems.extend(wrong);
        self.find(model, found, problems)
    }

    /// The error message if the policy file gives the inputs the same names in another order.
    fn other_order(&self, names: &[String]) -> Option<String> {
        let listed: Vec<String> = self.inputs.iter().map(ToString::to_string).collect();
        let sorted = |list: &[String]| {
            let mut list = list.to_vec();
            list.sort_unstable();
            list
        };
        if listed == names || sorted(&listed) != sorted(names) {
            return None;
        }
        Some(format!(
            "/input: the policy file names its inputs {}; the interface lists the same in another \
             order: {}",
            names.join(", "),
            listed.join(", ")
        ))
    }

    /// Finds inputs and outputs in the model, for a policy that is not there yet.
    ///
    /// # Errors
    /// All names that the model does not have, and expressions that are wrong.
    pub fn bind_names(
        &self,
        model: &Model,
        expressions: &dyn NamedExpressions,
    ) -> Result<Binding, PolicyError> {
        let (found, problems) = self.find_inputs(&Names { model, expressions });
        self.find(model, found.into_iter().flatten().collect(), problems)
    }

    /// The sources of each input in the order of the graph's inputs.
    fn in_order(
        &self,
        found: Vec<Vec<InputSource>>,
        graph: &[(String, usize)],
        problems: &mut Vec<String>,
    ) -> Vec<InputSource> {
        let mut found = found.into_iter();
        let mut given: Vec<(&InputGroup, Vec<InputSource>)> = Vec::new();
        for group in &self.groups {
            if let GroupFeed::Inputs(count) = group.feed {
                given.push((group, found.by_ref().take(count).flatten().collect()));
            }
        }
        let names: Vec<&str> = graph.iter().map(|(name, _)| name.as_str()).collect();
        let mut inputs = Vec::new();
        for (name, width) in graph {
            let at = given.iter().position(|(group, _)| group.name == *name);
            let Some((group, sources)) = at.map(|at| given.swap_remove(at)) else {
                problems
                    .push(format!("/input: the policy has an input `{name}`, which is not listed"));
                continue;
            };
            if sources.len() != *width {
                let listed = sources.len();
                let message = format!("{listed} inputs are listed, the policy has {width}");
                problems.push(format!("{}: {message}", group.pointer()));
            }
            inputs.extend(sources);
        }
        for (group, _) in given {
            let names = match names.as_slice() {
                [] => "its file names none".to_owned(),
                names => format!("its inputs are {}", names.join(", ")),
            };
            let message = format!("the policy has no input `{}`; {names}", group.name);
            problems.push(format!("{}: {message}", group.pointer()));
        }
        inputs
    }

    /// The sources of each input that is found, and what is wrong with the others.
    fn find_inputs(&self, names: &Names<'_>) -> (Vec<Vec<InputSource>>, Vec<String>) {
        let (mut found, mut problems) = (Vec::with_capacity(self.inputs.len()), Vec::new());
        for (i, item) in self.inputs.iter().enumerate() {
            match names.sources(item) {
                Ok(sources) => found.push(sources),
                Err(problem) => {
                    // A part of the item is named by a pointer of its own.
                    let sign = if problem.starts_with('/') { "" } else { ": " };
                    problems.push(format!("{}{sign}{problem}", self.pointer(i)));
                }
            }
        }
        (found, problems)
    }

    /// The JSON pointer of an input.
    fn pointer(&self, input: usize) -> String {
        let mut first = 0;
        for group in &self.groups {
            let GroupFeed::Inputs(count) = group.feed else { continue };
            if input < first + count {
                return format!("{}/{}", group.pointer(), input - first);
            }
            first += count;
        }
        format!("/input/{input}")
    }

    fn find(
        &self,
        model: &Model,
        inputs: Vec<InputSource>,
        mut problems: Vec<String>,
    ) -> Result<Binding, PolicyError> {
        let mut labels = |names: &[String], list: &str| {
            let mut labels = Vec::with_capacity(names.len());
            for (i, name) in names.iter().enumerate() {
                match model.label_by_name(name) {
                    Some(label) => labels.push(label),
                    None => {
                        let near = near(name, model.labels.iter().map(String::as_str));
                        let message = format!("the model has no action `{name}`{near}");
                        problems.push(format!("/{list}/{i}: {message}"));
                    }
                }
            }
            labels
        };
        let (outputs, never) = (labels(&self.outputs, "output"), labels(&self.never, "never"));
        if problems.is_empty() {
            Ok(Binding { inputs, outputs, never })
        } else {
            Err(self.mismatch(problems))
        }
    }
}

/// Binds a function without interface by the order of variables and actions, where the numbers
/// allow it: all variables but locations, and all labels of operators (or all actions).
///
/// # Errors
/// If the numbers do not fit.
pub fn bind_by_order(model: &Model, sizes: &FunctionSizes) -> Result<Binding, PolicyError> {
    let is_location = |kind: &VariableKind| matches!(kind, VariableKind::Location { .. });
    let variables = model.variables.iter().enumerate().filter(|(_, v)| !is_location(&v.kind));
    let inputs: Vec<InputSource> =
        variables.map(|(i, _)| InputSource::Variable(VarId::new(i))).collect();
    let operator_labels = model.operator_labels();
    let all_labels: Vec<LabelId> = (0..model.labels.len()).map(LabelId::new).collect();
    let (kind, output_width) = (sizes.kind, sizes.outputs);

    let mut problems = Vec::new();
    let count = inputs.len();
    let fault = match sizes.inputs {
        InputCount::Exactly(width) if count != width => Some(format!("has {width} inputs")),
        InputCount::AtLeast(width) if count < width => {
            Some(format!("reads input {}, counted from 0", width - 1))
        }
        InputCount::Exactly(_) | InputCount::AtLeast(_) => None,
    };
    if let Some(fault) = fault {
        problems.push(format!(
            "without an interface, inputs are all {count} variables in the order of the model; \
             the {kind} {fault}"
        ));
    }
    let outputs = [operator_labels, all_labels];
    let count = outputs[0].len();
    let outputs = outputs.into_iter().find(|labels| labels.len() == output_width);
    match outputs {
        Some(outputs) if problems.is_empty() => Ok(Binding { inputs, outputs, never: Vec::new() }),
        outputs => {
            if outputs.is_none() {
                problems.push(format!(
                    "without an interface, outputs are all {count} labels in the order of the \
                     model's actions; the {kind} has {output_width} outputs"
                ));
            }
            Err(PolicyError::Mismatch { file: String::new(), problems })
        }
    }
}
