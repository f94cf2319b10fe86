//! Task files: `[dynamics]`, `[abstraction]`, `[initial]`, `[goal]`, … and `[[instance]]`.

use std::path::Path;

use policert_numeric::Rational;
use toml::de::DeTable;

use super::boxes::{grid, initial};
use super::fields::{
    MAX_STEPS, bounds, cell_formula, distances, expression, names, pairs, positive, read_question,
    reads_state_from,
};
use super::formulas::read_formulas;
use super::hidden::Hidden;
use super::reader::{Entry, Section, Source};
use super::regions::{region, unsafe_sets};
use super::{ActionMap, Controller, Dynamics, DynamicsKind, LoopQuestion, Task};
use crate::disturbance::Disturbance;
use crate::error::ReachError;
use crate::expression::ExpressionGraph;
use crate::observation::Observation;

/// Keys of published benchmark files that say how numbers came about.
const INFORMATIVE_TOP: [&str; 2] = ["published_method", "description"];
const INFORMATIVE_INSTANCE: [&str; 8] = [
    "table_row",
    "hidden_layers",
    "hidden_activation",
    "output_activation",
    "source_weights",
    "baseline_verdict",
    "onnx_sha256",
    "note",
];

/// Tables of tasks that are not one table.
const TABLES: [&str; 13] = [
    "abstraction",
    "action",
    "dynamics",
    "goal",
    "horizon",
    "initial",
    "instance",
    "memory",
    "policy",
    "question",
    "stay",
    "uncertain",
    "unsafe",
];

pub(super) fn read_task(
    file: &str,
    text: &str,
    folder: &Path,
    instance: Option<&str>,
) -> Result<Task, ReachError> {
    let source = Source { file, text };
    let table = DeTable::parse(text).map_err(|error| {
        source.error(error.span().map_or(0, |span| span.start), error.message())
    })?;
    let root = Section::root(source, &table);
    if let Some(task) = root.section("task")? {
        if let Some(beside) = root.entries().iter().find(|entry| TABLES.contains(&entry.key())) {
            let key = beside.key();
            return Err(beside.error(format!(
                "`{key}` counts for nothing beside [task], from which alone the task is read; write it there"
            )));
        }
        if instance.is_some() {
            return Err(ReachError::Usage(format!("{file} has no instances")));
        }
        return read_formulas(&task, Path::new(file));
    }
    Reader { root, folder }.read(instance)
}

struct Reader<'a, 'i> {
    root: Section<'a, 'i>,
    folder: &'a Path,
}

impl<'a, 'i> Reader<'a, 'i> {
    fn read(&self, instance: Option<&str>) -> Result<Task, ReachError> {
        let root = &self.root;
        let state = names(&root.need("state")?)?;
        let input = root.need("input")?;
        let inputs = names(&input)?;
        if let Some(both) = inputs.iter().find(|name| state.contains(name)) {
            return Err(input.error(format!("`{both}` is the name of a variable as well")));
        }
        let n = state.len();
        if let Some(entry) = root.get("dimension")
            && usize::try_from(entry.count(1, 64)?) != Ok(n)
        {
            return Err(entry.error(format!("`state` has {n} variables")));
        }
        let hidden = Hidden::read(root, &state, &inputs)?;
        let all: Vec<String> = state.iter().chain(&hidden.variables).cloned().collect();
        let dynamics = self.dynamics(&state, &inputs, &hidden)?;
        let instance = self.instance(instance)?;
        let policy = root.section("policy")?;
        let action = self.action(policy.as_ref(), inputs.len())?;
        let abstraction = root.section("abstraction")?;
        let (grid, reads_state) = match &abstraction {
            Some(section) => grid(section, n)?,
            None => (None, false),
        };
        let controller =
            self.controller(&state, inputs.len(), policy.as_ref(), instance.as_ref(), reads_state)?;
        let reads_state = matches!(controller, Controller::StateNetwork(_));
        if !reads_state && grid.is_none() {
            return Err(
                root.error("[abstraction] with the cells that the controller reads is missing")
            );
        }
        if !reads_state && action.choices.is_some() {
            return Err(ReachError::Unsupported(
                "a table of actions where the controller reads cells; a `formula` with choices, or a \
                 network that reads the state, is followed"
                    .to_owned(),
            ));
        }
        let observation = self.observation(policy.as_ref(), &all, n, reads_state)?;
        if let Some(section) = &policy {
            section.finish(&[])?;
        }
        if !reads_state && dynamics.disturbances.iter().any(Disturbance::changes_within_steps) {
            return Err(ReachError::Unsupported(
                "disturbances that change at any time where the controller reads cells; those with \
                 `changes = \"each-step\"` are followed"
                    .to_owned(),
            ));
        }
        let initial_section = root.need_section("initial")?;
        let (mut initial, mut partition) = initial(&initial_section, n)?;
        for (lower, upper) in &hidden.initial {
            initial.push((lower.clone(), upper.clone()));
            partition.push(vec![lower.clone(), upper.clone()]);
        }
        let goal = root.section("goal")?.map(|section| region(&section, (&all, n))).transpose()?;
        let has_times = root.need_section("dynamics")?.get("dt").is_some();
        let period = Some(&dynamics.period).filter(|_| has_times);
        let avoid = unsafe_sets(root, (&all, n), period)?;
        if goal.is_none() && avoid.is_empty() {
            return Err(root.error("there is neither [goal] nor [unsafe] nor [stay]"));
        }
        let horizon = root.need_section("horizon")?;
        let steps = horizon.need("steps")?.count(0, MAX_STEPS)?;
        horizon.finish(&[])?;
        let question = self.question()?;
        let name = root.get("name").map(|entry| entry.text()).transpose()?.unwrap_or("task");
        let (name, mut aggregation) = self.aggregation(name, instance.as_ref(), n)?;
        if let Some(distances) = &mut aggregation {
            distances.resize(all.len(), 0.0);
        }
        root.finish(&INFORMATIVE_TOP)?;
        Ok(Task {
            name,
            state: all,
            inputs: inputs.into_iter().chain(hidden.inputs).collect(),
            dynamics,
            controller,
            observation,
            action,
            grid,
            initial,
            partition,
            goal,
            avoid,
            steps,
            question,
            aggregation,
        })
    }

    fn dynamics(
        &self,
        state: &[String],
        inputs: &[String],
        hidden: &Hidden,
    ) -> Result<Dynamics, ReachError> {
        let section = self.root.need_section("dynamics")?;
        let kind = section.need("kind")?;
        let kind = match kind.text()? {
            "explicit-euler" | "difference" => DynamicsKind::Difference,
            "ode" => DynamicsKind::Ode,
            other => {
                let message = format!(
                    "`kind` is \"difference\", \"explicit-euler\" or \"ode\", not \"{other}\""
                );
                return Err(kind.error(message));
            }
        };
        let period = section.get("dt").map(|entry| positive(&entry)).transpose()?;
        let substeps =
            section.get("substeps").map(|entry| entry.count(1, 100_000)).transpose()?.unwrap_or(1);
        let h = section.get("h").map(|entry| positive(&entry)).transpose()?;
        let expressions = match kind {
            DynamicsKind::Difference => section.need("update")?,
            DynamicsKind::Ode => section.need("derivative")?,
        };
        let items = expressions.items()?;
        if items.len() != state.len() {
            let message =
                format!("there are {} variables and {} expressions", state.len(), items.len());
            return Err(expressions.error(message));
        }
        let mut graph = ExpressionGraph::new();
        let all = state.iter().chain(&hidden.variables).chain(inputs).chain(&hidden.inputs);
        let variables: Vec<&str> = all.map(String::as_str).collect();
        let constants = [("dt", period.clone()), ("h", h)];
        let covered =
            constants.iter().find(|(name, value)| value.is_some() && variables.contains(name));
        if let Some((name, _)) = covered {
            let message = format!("`{name}` is the name of a variable or action as well");
            return Err(section.need(name)?.error(message));
        }
        let mut components = items
            .iter()
            .map(|item| expression(item, &mut graph, &variables, &constants))
            .collect::<Result<Vec<_>, _>>()?;
        for position in state.len()..state.len() + hidden.variables.len() {
            components.push(match kind {
                DynamicsKind::Difference => graph.variable(position),
                DynamicsKind::Ode => graph.constant(Rational::ZERO),
            });
        }
        let clamp = section.get("clamp").map(|entry| pairs(&entry, state.len())).transpose()?;
        let period = match (kind, period) {
            (_, Some(period)) => period,
            (DynamicsKind::Difference, None) => Rational::ONE,
            (DynamicsKind::Ode, None) => return Err(section.missing("dt")),
        };
        section.finish(&["clamp_note"])?;
        let disturbances = hidden.disturbances.clone();
        if kind == DynamicsKind::Difference
            && disturbances.iter().any(Disturbance::changes_within_steps)
        {
            let message = "the disturbances of a difference equation change with \"each-step\"";
            return Err(self.root.error(message));
        }
        let memory = hidden.actions.iter().enumerate();
        let remembered = memory.map(|(i, &action)| (state.len() + i, action)).collect();
        Ok(Dynamics { kind, graph, components, substeps, period, clamp, disturbances, remembered })
    }

    /// From outputs to `inputs` actions: by `[action]`, or by a table of actions.
    fn action(
        &self,
        policy: Option<&Section<'a, 'i>>,
        inputs: usize,
    ) -> Result<ActionMap, ReachError> {
        let mut action = ActionMap::default();
        if let Some(entry) = policy.and_then(|section| section.get("actions")) {
            if self.root.get("action").is_some() {
                return Err(entry.error("[action] has no meaning where outputs choose actions"));
            }
            let rows = entry.items()?;
            if rows.is_empty() {
                return Err(entry.error("there is no action to be chosen"));
            }
            let row = |item: &Entry<'_, '_>| {
                if item.is_list() { item.exactly(inputs) } else { Ok(vec![item.number()?]) }
            };
            let choices = rows.iter().map(row).collect::<Result<Vec<_>, _>>()?;
            if choices.iter().any(|row| row.len() != inputs) {
                return Err(entry.error(format!("each choice needs {inputs} numbers")));
            }
            action.choices = Some(choices);
            return Ok(action);
        }
        let Some(section) = self.root.section("action")? else { return Ok(action) };
        if let Some(entry) = section.get("scale") {
            action.scale = entry.number()?;
        }
        if let Some(entry) = section.get("offset") {
            action.offset = entry.number()?;
        }
        if let Some(entry) = section.get("clamp") {
            action.clamp = Some(bounds(&entry, &entry.exactly(2)?)?);
        }
        section.finish(&[])?;
        Ok(action)
    }

    /// The instance of a name, or the only one.
    fn instance(&self, wanted: Option<&str>) -> Result<Option<Section<'a, 'i>>, ReachError> {
        let Some(entry) = self.root.get("instance") else {
            return match wanted {
                Some(name) => Err(ReachError::Usage(format!("there is no instance {name}"))),
                None => Ok(None),
            };
        };
        let sections = entry.items()?.iter().map(Entry::section).collect::<Result<Vec<_>, _>>()?;
        let mut ids = Vec::with_capacity(sections.len());
        for section in &sections {
            let id = section.need("id")?;
            if ids.contains(&id.text()?) {
                return Err(id.error(format!("two instances are called `{}`", id.text()?)));
            }
            ids.push(id.text()?);
        }
        let chosen = match wanted {
            Some(name) => ids.iter().position(|id| *id == name),
            None if ids.len() == 1 => Some(0),
            None => None,
        };
        match chosen {
            Some(position) => Ok(sections.into_iter().nth(position)),
            None => {
                let what = wanted.map_or_else(
                    || "an instance must be chosen (--instance)".to_owned(),
                    |name| format!("there is no instance {name}"),
                );
                Err(ReachError::Usage(format!("{what}; there are {}", ids.join(", "))))
            }
        }
    }

    fn controller(
        &self,
        state: &[String],
        inputs: usize,
        policy: Option<&Section<'a, 'i>>,
        instance: Option<&Section<'a, 'i>>,
        mut reads_state: bool,
    ) -> Result<Controller, ReachError> {
        let mut network = instance.and_then(|section| section.get("network"));
        if let Some(section) = policy {
            network = network.or_else(|| section.get("network"));
            if let Some(entry) = section.get("input") {
                reads_state = reads_state_from(&entry)?;
            }
            if let Some(entry) = section.get("formula") {
                if network.is_some() {
                    return Err(entry.error("there is a network as well"));
                }
                return cell_formula(&entry, state, inputs);
            }
        }
        let Some(network) = network else {
            return Err(self.root.error("neither a network nor a formula is given"));
        };
        let path = self.folder.join(network.text()?);
        Ok(if reads_state { Controller::StateNetwork(path) } else { Controller::CellNetwork(path) })
    }

    /// What the network is shown: expressions over all variables, the first `plant` of which it reads
    /// otherwise.
    fn observation(
        &self,
        policy: Option<&Section<'a, 'i>>,
        variables: &[String],
        plant: usize,
        reads_state: bool,
    ) -> Result<Option<Observation>, ReachError> {
        let mut graph = ExpressionGraph::new();
        let Some(entry) = policy.and_then(|section| section.get("observe")) else {
            let roots = (0..plant).map(|i| graph.variable(i)).collect();
            let needed = reads_state && plant < variables.len();
            return Ok(needed.then(|| Observation::new(graph, roots, variables.len())));
        };
        if !reads_state {
            return Err(entry.error("a controller that reads cells observes no expressions"));
        }
        let items = entry.items()?;
        if items.is_empty() {
            return Err(entry.error("the network is shown nothing"));
        }
        let names: Vec<&str> = variables.iter().map(String::as_str).collect();
        let roots = items.iter().map(|item| expression(item, &mut graph, &names, &[]));
        let roots = roots.collect::<Result<_, _>>()?;
        Ok(Some(Observation::new(graph, roots, variables.len())))
    }

    fn question(&self) -> Result<LoopQuestion, ReachError> {
        let mut question = LoopQuestion::default();
        if let Some(section) = self.root.section("question")? {
            read_question(&section, &mut question)?;
            section.finish(&[])?;
        }
        Ok(question)
    }

    /// The name with the instance's, and the distances of aggregation.
    fn aggregation(
        &self,
        name: &str,
        instance: Option<&Section<'a, 'i>>,
        n: usize,
    ) -> Result<(String, Option<Vec<f64>>), ReachError> {
        let mut distance = self.root.get("aggregation_distance");
        let mut name = name.to_owned();
        if let Some(section) = instance {
            name = section.need("id")?.text()?.to_owned();
            distance = section.get("aggregation_distance").or(distance);
            section.finish(&INFORMATIVE_INSTANCE)?;
        }
        let Some(entry) = distance else { return Ok((name, None)) };
        Ok((name, Some(distances(&entry, n)?)))
    }
}
