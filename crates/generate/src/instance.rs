//! An instance of a domain, and the files that describe it.

use serde_json::{Map, Value, json};

use crate::jani;
use crate::planning::Planning;
use crate::splits::predicate_sets;
use crate::variable::Variable;

/// An instance of a domain.
#[derive(Clone, PartialEq, Debug)]
pub struct DomainInstance {
    /// Its name: the stem of the names of its files.
    pub name: String,
    /// A sentence that describes it.
    pub(crate) comment: String,
    pub(crate) constants: Vec<(String, &'static str, Value)>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) labels: Vec<String>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) start: StartSet,
    /// Number of start states, where a formula or a list gives it.
    pub(crate) start_count: Option<u128>,
    pub(crate) unsafe_condition: Value,
    /// The unsafe condition in words.
    pub(crate) unsafe_text: String,
    pub(crate) goal: Value,
    pub(crate) goal_potential: Option<Value>,
    pub(crate) step_reward: Option<Value>,
    /// The same task in PDDL.
    pub(crate) planning: Option<Planning>,
}

/// An edge of the model's automaton.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Edge {
    /// Absent: the environment's own.
    pub label: Option<String>,
    pub guard: Value,
    pub destinations: Vec<Destination>,
}

/// An outcome of an edge.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Destination {
    /// Absent: 1.
    pub probability: Option<Value>,
    pub assignments: Vec<(String, Value)>,
}

impl Destination {
    /// The only outcome.
    pub fn sure(assignments: Vec<(String, Value)>) -> Self {
        Self { probability: None, assignments }
    }
}

/// Start states.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum StartSet {
    /// Those of a condition.
    Condition(Value),
    /// Given one by one: values of the variables with these names.
    States { variables: Vec<String>, states: Vec<Vec<i64>> },
}

/// Says how the policy will look that an instance is generated for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyShape {
    /// Sizes of the hidden layers.
    pub hidden: Vec<usize>,
    /// True if labels that are not applicable are left out of the choice.
    pub filter: bool,
}

impl Default for PolicyShape {
    fn default() -> Self {
        Self { hidden: vec![16, 16], filter: false }
    }
}

/// A file of an instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstanceFile {
    /// The path, relative to the instance's folder.
    pub path: String,
    /// The content.
    pub text: String,
}

/// The sizes of an instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Number of variables.
    pub variables: usize,
    /// Number of variables that the policy reads.
    pub inputs: usize,
    /// Number of labels.
    pub labels: usize,
    /// Number of operators.
    pub operators: usize,
    /// Number of start states, the model's initial one left out, where a formula or a list gives
    /// it.
    pub start_states: Option<u128>,
}

impl DomainInstance {
    /// The model's file, relative to the instance's folder.
    #[must_use]
    pub fn model_path(&self) -> String {
        format!("{}.jani", self.name)
    }

    /// The file of properties, relative to the instance's folder.
    #[must_use]
    pub fn property_path(&self) -> String {
        format!("pa_{}.jani", self.name)
    }

    /// The file of the policy's interface, relative to the instance's folder.
    #[must_use]
    pub fn interface_path(&self, shape: &PolicyShape) -> String {
        format!("{}.jani2nnet", self.policy_name(shape))
    }

    /// The file of the translation between the model and the task in PDDL, relative to the instance's
    /// folder.
    #[must_use]
    pub fn translation_path(&self) -> String {
        format!("{}.translation.json", self.name)
    }

    fn policy_name(&self, shape: &PolicyShape) -> String {
        shape.hidden.iter().fold(self.name.clone(), |name, size| format!("{name}_{size}"))
    }

    /// The unsafe condition in words.
    #[must_use]
    pub fn unsafe_text(&self) -> &str {
        &self.unsafe_text
    }

    /// The sizes.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        Sizes {
            variables: self.variables.len(),
            inputs: self.inputs().count(),
            labels: self.labels.len(),
            operators: self.edges.len(),
            start_states: self.start_count,
        }
    }

    fn inputs(&self) -> impl Iterator<Item = &Variable> {
        self.variables.iter().filter(|variable| variable.is_input)
    }

    /// The files: model, start, unsafe and goal states, predicates, property, interface.
    #[must_use]
    pub fn files(&self, shape: &PolicyShape) -> Vec<InstanceFile> {
        let mut files = vec![
            (self.model_path(), self.model()),
            ("start.jani".to_owned(), self.start()),
            ("reach.jani".to_owned(), condition(&self.unsafe_condition)),
            ("objective.jani".to_owned(), self.objective()),
        ];
        let sets = predicate_sets(&self.variables, &self.unsafe_condition);
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        files.push((self.property_path(), self.properties(&names, shape)));
        files.push((self.interface_path(shape), self.interface(shape)));
        for set in &sets {
            files.push((format!("predicates/{}.jani", set.name), set.predicates.clone().into()));
        }
        if let Some(planning) = &self.planning {
            files.push((self.translation_path(), planning.translation.clone()));
        }
        let file = |(path, value): (String, Value)| InstanceFile { path, text: jani::text(&value) };
        let texts = self.planning.iter().flat_map(Planning::files);
        files.into_iter().map(file).chain(texts).collect()
    }

    fn model(&self) -> Value {
        let constant = |(name, of, value): &(String, &str, Value)| json!({"name": name, "type": of, "value": value});
        let variable = |variable: &Variable| {
            let of = json!({"kind": "bounded", "base": "int",
                "lower-bound": variable.lower, "upper-bound": variable.upper});
            json!({"name": variable.name, "type": of, "initial-value": variable.initial})
        };
        let mut model = json!({
            "jani-version": 1,
            "name": self.name,
            "type": "mdp",
            "features": ["derived-operators"],
            "metadata": {"description": self.comment},
            "actions": self.labels.iter().map(|label| json!({"name": label})).collect::<Vec<_>>(),
        });
        if !self.constants.is_empty() {
            model["constants"] = self.constants.iter().map(constant).collect();
        }
        model["variables"] = self.variables.iter().map(variable).collect();
        model["automata"] = json!([{
            "name": "environment",
            "locations": [{"name": "base"}],
            "initial-locations": ["base"],
            "edges": self.edges.iter().map(edge).collect::<Vec<_>>(),
        }]);
        let sync = |label: &String| json!({"synchronise": [label], "result": label});
        model["system"] = json!({
            "elements": [{"automaton": "environment"}],
            "syncs": self.labels.iter().map(sync).collect::<Vec<_>>(),
        });
        model
    }

    fn start(&self) -> Value {
        match &self.start {
            StartSet::Condition(exp) => condition(exp),
            StartSet::States { variables, states } => {
                let state = |values: &Vec<i64>| {
                    let value = |(var, value)| json!({"var": var, "value": value});
                    let values = variables.iter().zip(values).map(value);
                    json!({"variables": values.collect::<Vec<_>>()})
                };
                json!({"op": "states-values", "values": states.iter().map(state).collect::<Vec<_>>()})
            }
        }
    }

    fn objective(&self) -> Value {
        let mut objective = json!({"op": "objective", "goal": condition(&self.goal)});
        if let Some(potential) = &self.goal_potential {
            objective["goal-potential"] = potential.clone();
        }
        if let Some(reward) = &self.step_reward {
            objective["step-reward"] = reward.clone();
            objective["accumulate"] = json!(["steps"]);
        }
        objective
    }

    fn properties(&self, sets: &[&str], shape: &PolicyShape) -> Value {
        let property = |set: &&str| {
            let mut property = Map::new();
            property.insert("op".to_owned(), "PA".into());
            for (member, file) in [
                ("start", "start.jani".to_owned()),
                ("reach", "reach.jani".to_owned()),
                ("objective", "objective.jani".to_owned()),
                ("predicates", format!("predicates/{set}.jani")),
            ] {
                property.insert(member.to_owned(), json!({"file": file}));
            }
            property.insert("file".to_owned(), self.interface_path(shape).into());
            json!({"name": format!("{}_{set}", self.name), "expression": property})
        };
        json!({"properties": sets.iter().map(property).collect::<Vec<_>>()})
    }

    fn interface(&self, shape: &PolicyShape) -> Value {
        let input = |variable: &Variable| json!({"name": variable.name, "automaton": null});
        json!({
            "file": format!("{}.nnet", self.policy_name(shape)),
            "filter": shape.filter,
            "elements": shape.hidden,
            "input": self.inputs().map(input).collect::<Vec<_>>(),
            "output": self.labels,
        })
    }
}

fn condition(exp: &Value) -> Value {
    json!({"op": "state-condition", "exp": exp})
}

fn edge(edge: &Edge) -> Value {
    let assignment = |(name, value): &(String, Value)| json!({"ref": name, "value": value});
    let destination = |destination: &Destination| {
        let mut out = json!({"location": "base"});
        if let Some(probability) = &destination.probability {
            out["probability"] = json!({"exp": probability});
        }
        out["assignments"] = destination.assignments.iter().map(assignment).collect();
        out
    };
    let mut out = json!({"location": "base"});
    if let Some(label) = &edge.label {
        out["action"] = label.as_str().into();
    }
    out["guard"] = json!({"exp": edge.guard});
    out["destinations"] = edge.destinations.iter().map(destination).collect();
    out
}
