//! The model: variables, instances with their edges, synchronisation vectors, initial states.

use policert_model::{
    AutomatonInstance, Condition, Edge, EdgeDestination, EdgePlace, InstanceId, LabelId, Model,
    Probability, SyncVector,
};

use super::{
    Layout, Reading, Trouble, assignment, condition::condition, expression::ExprLowerer,
    probability, transients,
};
use crate::{
    ast,
    check::{self, Checked, DestinationProbability, Entity, SCALED, Sort},
    diagnostic::{DiagnosticCode, Diagnostics},
    names::Names,
    parse::{EdgeReader, Parser},
    source::At,
};

/// A model with where the variables of the file are in it.
#[derive(Clone, Debug)]
pub(crate) struct LoweredModel {
    pub model: Model,
    pub layout: Layout,
}

/// Lowers a model that was checked without errors and has no [`unsupported`] parts; `None` after
/// diagnostics of what in its expressions is not supported, or after a stop.
pub(crate) fn lower(checked: &Checked, parser: &mut Parser) -> Option<LoweredModel> {
    let mut layout = Layout::new(checked, &parser.names, &|v| checked.uses.written[v.0]);
    transients::show_in_states(checked, &mut layout);
    let mut lowerer = AutomataLowerer {
        checked,
        layout: &layout,
        troubles: Vec::new(),
        unchecked: Vec::new(),
        scaled: Vec::new(),
        parser,
    };
    let instances = (0..checked.instances.len()).map(|i| lowerer.instance(i)).collect();
    let initial_condition = lowerer.initial_condition();
    let AutomataLowerer { troubles, unchecked, scaled, .. } = lowerer;
    let Parser { diagnostics, names, watch } = parser;
    let stopped = watch.is_stopped();
    for at in scaled {
        diagnostics.note(DiagnosticCode::Probability, at, SCALED);
    }
    for (at, what) in unchecked {
        let message = format!(
            "the value of a transient variable that no assignment reads is taken to exist and to \
             lie within its bounds: unsupported: {what}"
        );
        diagnostics.warning(DiagnosticCode::Skipped, at, message);
    }
    if stopped {
        return None;
    }
    if !troubles.is_empty() {
        troubles.into_iter().for_each(|trouble| trouble.report(names, diagnostics));
        return None;
    }
    let model = Model {
        name: checked.ast.name.clone(),
        variables: layout.variables.clone(),
        transients: layout.transients.clone(),
        labels: checked.ast.actions.iter().map(|a| names.text(a.symbol).to_owned()).collect(),
        instances,
        vectors: vectors(checked),
        initial_values: layout.initial_values.clone(),
        initial_condition,
    };
    Some(LoweredModel { model, layout })
}

/// Reports what no engine can do: time, and variables that are not discrete.
pub(crate) fn unsupported(checked: &Checked, names: &Names, diagnostics: &mut Diagnostics) {
    if let Some((ty, at)) = checked.ast.ty
        && !ty.is_untimed()
    {
        let what = format!("models of the type {} (only lts, dtmc and mdp)", ty.name());
        diagnostics.unsupported(at, what);
        return;
    }
    for variable in &checked.variables {
        let kind = match variable.sort {
            _ if variable.transient => continue,
            Sort::Discrete => {
                let bounds = [&variable.bounds.lower, &variable.bounds.upper];
                if bounds.into_iter().flatten().all(|bound| bound.to_i64().is_some()) {
                    continue;
                }
                "bounds beyond 64 bits of the variable"
            }
            Sort::Real => "real-valued variables: the state variable",
            Sort::Clock => "clocks: the variable",
            Sort::Continuous => "continuous variables: the variable",
        };
        diagnostics.unsupported(variable.at, format!("{kind} `{}`", names.text(variable.name)));
    }
}

fn vectors(checked: &Checked) -> Vec<SyncVector> {
    let vectors = checked.vectors.iter().map(|vector| SyncVector {
        participants: vector
            .actions
            .iter()
            .enumerate()
            .filter_map(|(i, action)| Some((InstanceId::new(i), LabelId::new((*action)?))))
            .collect(),
        result: vector.result.map(LabelId::new),
    });
    vectors.collect()
}

struct AutomataLowerer<'c, 'p> {
    checked: &'c Checked,
    layout: &'c Layout,
    troubles: Vec<Trouble>,
    /// Assignments to transient variables that nothing reads, with what is not supported in them.
    unchecked: Vec<(At, String)>,
    /// Edges whose probabilities are scaled in the states where rounding makes them miss 1.
    scaled: Vec<At>,
    parser: &'p mut Parser,
}

impl<'c> AutomataLowerer<'c, '_> {
    fn instance(&mut self, instance: usize) -> AutomatonInstance {
        let automaton = self.checked.instances[instance];
        let first = self.checked.instances.iter().position(|a| *a == automaton) == Some(instance);
        let ast = &self.checked.ast.automata[automaton];
        let mut lowerer =
            ExprLowerer::of_instance(self.checked, Reading::State(self.layout), instance);
        let mut edges = Vec::with_capacity(ast.edges.count);
        let mut reader = EdgeReader::new(&ast.edges, &self.parser.diagnostics.sources);
        for position in 0.. {
            let Some(edge) = reader.next(self.parser) else { break };
            if edge.destinations.is_empty() {
                continue;
            }
            let place = EdgePlace::new(automaton, position);
            match self.edge(&mut lowerer, automaton, &edge, place) {
                Ok(edge) => edges.push(edge),
                // What is wrong with an automaton is said once, not for each instance.
                Err(trouble) if first => self.troubles.push(trouble),
                Err(_) => {}
            }
        }
        AutomatonInstance {
            automaton: self.parser.names.text(ast.name.symbol).to_owned(),
            location: Layout::location(instance),
            edges,
        }
    }

    fn edge(
        &mut self,
        lowerer: &mut ExprLowerer<'c>,
        automaton: usize,
        edge: &ast::Edge,
        place: EdgePlace,
    ) -> Result<Edge, Trouble> {
        let location = |name: ast::Name| {
            let position = self.checked.scope.location(automaton, name.symbol);
            position.and_then(|l| i64::try_from(l).ok()).ok_or(Trouble::Known)
        };
        let action = match edge.action {
            Some(name) => {
                let action = self.checked.scope.action(name.symbol).ok_or(Trouble::Known)?;
                Some(LabelId::new(action))
            }
            None => None,
        };
        let guard = match &edge.guard {
            Some(guard) => condition(lowerer.reading(Reading::State(self.layout)), guard)?,
            None => Condition::True,
        };
        let checked = self.checked;
        let probabilities =
            self.parser.again(|p| check::probabilities(checked, p, automaton, edge));
        let mut destinations = Vec::with_capacity(edge.destinations.len());
        for (destination, probability) in edge.destinations.iter().zip(&probabilities) {
            let probability = match (probability, &destination.probability) {
                (DestinationProbability::Constant(p), _) if p.is_zero() => continue,
                (DestinationProbability::Constant(p), _) => Probability::Constant(p.clone()),
                (DestinationProbability::Depends, Some(expr)) => {
                    let p = lowerer.reading(Reading::State(self.layout)).scalar(expr)?;
                    Probability::expr(p.expr)
                }
                (DestinationProbability::Depends, None) => return Err(Trouble::Known),
            };
            let mut assignments = Vec::new();
            lowerer.reading(Reading::Transition(self.layout));
            for assignment in edge.assignments.iter().chain(&destination.assignments) {
                let (checked, layout) = (self.checked, self.layout);
                match assignment::assignment(checked, layout, lowerer, assignment) {
                    Ok(lowered) => assignments.extend(lowered),
                    Err(Trouble::Unsupported(at, what)) if self.is_idle(automaton, assignment) => {
                        self.unchecked.push((at, what));
                    }
                    Err(trouble) => return Err(trouble),
                }
            }
            let location = location(destination.location)?;
            assignments.shrink_to_fit();
            destinations.push(EdgeDestination { location, probability, assignments });
        }
        self.scale(edge, &mut destinations);
        Ok(Edge { source: location(edge.location)?, action, guard, destinations, place })
    }

    /// Scales probabilities that depend on the state where rounding makes them miss 1.
    fn scale(&mut self, edge: &ast::Edge, destinations: &mut [EdgeDestination]) {
        let depends = |d: &EdgeDestination| matches!(d.probability, Probability::Expr(_));
        if self.checked.exact_probabilities || !destinations.iter().any(depends) {
            return;
        }
        let all: Vec<_> = destinations.iter().map(|d| d.probability.clone()).collect();
        if let Some(scaled) = probability::scaled(&all) {
            self.scaled.push(edge.at);
            for (destination, probability) in destinations.iter_mut().zip(scaled) {
                destination.probability = probability;
            }
        }
    }

    /// Returns whether an assignment writes a transient variable that no assignment reads.
    fn is_idle(&self, automaton: usize, assignment: &ast::Assignment) -> bool {
        let Some((name, _)) = transients::target(&assignment.target) else { return false };
        match self.checked.scope.entity(name, Some(automaton)) {
            Some(Entity::Variable(v)) => {
                self.checked.variable(v).transient && !self.checked.uses.read[v.0]
            }
            Some(Entity::Constant(_)) | None => false,
        }
    }

    /// Returns what the restrictions of initial states demand, of the model and of each instance.
    fn initial_condition(&mut self) -> Condition {
        let mut parts = Vec::new();
        let reading = Reading::State(self.layout);
        if let Some(restriction) = &self.checked.ast.restrict_initial {
            let mut lowerer = ExprLowerer::new(self.checked, reading, None);
            match condition(&mut lowerer, restriction) {
                Ok(part) => parts.push(part),
                Err(trouble) => self.troubles.push(trouble),
            }
        }
        for (i, &automaton) in self.checked.instances.iter().enumerate() {
            if let Some(restriction) = &self.checked.ast.automata[automaton].restrict_initial {
                let mut lowerer = ExprLowerer::of_instance(self.checked, reading, i);
                match condition(&mut lowerer, restriction) {
                    Ok(part) => parts.push(part),
                    Err(trouble) => self.troubles.push(trouble),
                }
            }
        }
        Condition::and(parts)
    }
}
