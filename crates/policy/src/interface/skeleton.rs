//! An interface for a policy of which only the sizes and the names are known: what can be guessed, and
//! what must be written by hand.

use policert_model::{Model, Variable};

use super::bind::{FunctionSizes, InputCount};
use super::sources::NamedExpressions;
use super::{GroupFeed, InputGroup, InputItem, Interface};
use crate::json::Lines;

/// An interface that was guessed.
#[derive(Clone, Debug)]
pub struct Skeleton {
    /// The interface.
    pub interface: Interface,
    /// Remarks on what was guessed and what is missing.
    pub notes: Vec<String>,
}

/// Names of inputs or outputs, and why they are these.
struct Guess {
    names: Vec<String>,
    why: String,
}

impl Guess {
    fn new(names: Vec<String>, why: impl Into<String>) -> Self {
        Self { names, why: why.into() }
    }
}

impl Skeleton {
    /// The interface of a policy with these sizes, in the file of this name.
    #[must_use]
    pub fn new(
        model: &Model,
        expressions: &dyn NamedExpressions,
        sizes: &FunctionSizes,
        file: String,
    ) -> Self {
        let inputs = inputs(model, expressions, sizes);
        let outputs = outputs(model, sizes);
        let operators = model.operator_labels();
        let labels = operators.iter().map(|&label| model.label_name(Some(label)).to_owned());
        // A classifier has no scores for the classes that it never saw.
        let never: Vec<String> = match sizes.classes.as_slice() {
            classes if !classes.is_empty() && outputs.names == classes => {
                labels.filter(|label| !classes.contains(label)).collect()
            }
            _ => Vec::new(),
        };
        let mut notes = vec![inputs.why, outputs.why];
        if !never.is_empty() {
            notes.push(format!(
                "never: the policy has no class for {}; if it does not decide about one of these, \
                 take it out of the list, and it belongs to the environment",
                never.join(", ")
            ));
        }
        notes.push(
            "filter: the policy chooses among all its labels; if it was trained with a mask of the \
             applicable ones, add \"filter\": true"
                .to_owned(),
        );
        let interface = Interface {
            name: String::new(),
            file: Some(file),
            filter: None,
            ties: None,
            scores: None,
            elements: None,
            rounds: None,
            groups: groups(sizes, inputs.names.len()),
            inputs: inputs.names.into_iter().map(InputItem::Expression).collect(),
            outputs: outputs.names,
            never,
            warnings: Vec::new(),
            lines: Lines::default(),
        };
        Self { interface, notes }
    }
}

/// The inputs of a graph that has several, if the names are one for each of their elements.
fn groups(sizes: &FunctionSizes, names: usize) -> Vec<InputGroup> {
    let total: usize = sizes.groups.iter().map(|(_, width)| width).sum();
    if sizes.groups.len() < 2 || total != names {
        return Vec::new();
    }
    let group = |(name, width): &(String, usize)| InputGroup {
        name: name.clone(),
        feed: GroupFeed::Inputs(*width),
    };
    sizes.groups.iter().map(group).collect()
}

fn inputs(model: &Model, expressions: &dyn NamedExpressions, sizes: &FunctionSizes) -> Guess {
    let given = &sizes.input_names;
    let is_known = |name: &String| {
        let observables = expressions.observables();
        model.variable_by_name(name).is_some() || observables.iter().any(|o| o.name == *name)
    };
    if !given.is_empty() && given.iter().all(is_known) {
        let why = "input: the policy file names its inputs, and the model has these variables";
        return Guess::new(given.clone(), why);
    }
    let (count, kind) = match sizes.inputs {
        InputCount::Exactly(count) => (count, "has"),
        InputCount::AtLeast(count) => (count, "reads at least"),
    };
    let names = |keep: &dyn Fn(&Variable) -> bool| -> Vec<String> {
        let kept = model.variables.iter().filter(|variable| keep(variable));
        kept.map(|variable| variable.name.clone()).collect()
    };
    let variables = names(&|variable| !variable.is_location());
    let varying = names(&|variable| !variable.is_location() && !variable.domain.is_point());
    let all = names(&|_| true);
    let by_order = "compare the order with the observation of the training environment";
    for (found, which) in [
        (&variables, "all variables of the model, in its order"),
        (&varying, "the variables of the model that can change, in its order"),
        (&all, "all locations and variables of the model, in its order"),
    ] {
        if found.len() == count {
            return Guess::new(found.clone(), format!("input: {which}; {by_order}"));
        }
    }
    let width = |variable: &Variable| {
        let side = variable.domain;
        let span = side.is_bounded().then(|| side.hi.checked_sub(side.lo)).flatten();
        span.and_then(|span| usize::try_from(span).ok()?.checked_add(1))
    };
    let widths = model.variables.iter().filter(|variable| !variable.is_location()).map(width);
    let total = widths.sum::<Option<usize>>();
    if total == Some(count) {
        let hot = variables.iter().map(|name| format!("one_hot({name})")).collect();
        let why = format!("input: one position for each value of each variable; {by_order}");
        return Guess::new(hot, why);
    }
    let why = format!(
        "input: the policy {kind} {count} inputs and the model has {} variables, so the list is not \
         right: write one expression for each input, or one_hot(…), flatten(…), normalise",
        variables.len()
    );
    Guess::new(variables, why)
}

fn outputs(model: &Model, sizes: &FunctionSizes) -> Guess {
    let classes = &sizes.classes;
    if !classes.is_empty() && classes.iter().all(|class| model.label_by_name(class).is_some()) {
        let why = "output: the policy file names its classes, and the model has these labels";
        return Guess::new(classes.clone(), why);
    }
    let names = |labels: &[policert_model::LabelId]| -> Vec<String> {
        labels.iter().map(|&label| model.label_name(Some(label)).to_owned()).collect()
    };
    let acting = names(&model.operator_labels());
    let count = sizes.outputs;
    let classes = match classes.as_slice() {
        [] => String::new(),
        classes => format!(" ({})", classes.join(", ")),
    };
    if count == acting.len() || model.labels.len() == count {
        let found = if count == acting.len() { acting } else { model.labels.clone() };
        let why = format!(
            "output: the labels in the order of the model's actions; compare it with the order of \
             the actions of the training environment{classes}"
        );
        return Guess::new(found, why);
    }
    if count == 1 && acting.len() == 2 {
        let why =
            "output: the policy has one score; the second label is chosen where it is positive";
        return Guess::new(acting, why);
    }
    let why = format!(
        "output: the policy has {count} outputs{classes} and the model {} labels, so the list is not \
         right: keep one label for each output, in the order of the policy; those that it never \
         chooses belong to `never`",
        acting.len()
    );
    Guess::new(acting, why)
}
