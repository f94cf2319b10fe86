//! Automata: locations, edges and destinations.

use super::{Checker, Entity, Type};
use crate::{
    ast::{Automaton, Edge, TransientValue},
    diagnostic::DiagnosticCode,
    lower::{Uses, target},
    parse::EdgeReader,
};

impl Checker<'_> {
    /// Checks all automata.
    pub(super) fn automata(&mut self) {
        self.checked.uses = Uses::of_none(self.checked.variables.len());
        for (i, automaton) in self.ast().automata.iter().enumerate() {
            self.automaton(i, automaton);
        }
    }

    fn automaton(&mut self, i: usize, automaton: &Automaton) {
        if automaton.locations.is_empty() {
            let message =
                format!("automaton `{}` has no locations", self.text(automaton.name.symbol));
            self.invalid(DiagnosticCode::MissingKey, automaton.name.at, message);
        }
        for name in &automaton.initial_locations {
            self.known_location(i, *name);
        }
        if let Some(restriction) = &automaton.restrict_initial {
            self.condition(restriction, Some(i));
        }
        for location in &automaton.locations {
            if let Some(time_progress) = &location.time_progress {
                self.condition(time_progress, Some(i));
                if self.checked.ast.is_untimed() {
                    let what = "time progress conditions in a model without time";
                    self.parser.diagnostics.unsupported(time_progress.at, what);
                }
            }
            for given in &location.transient_values {
                self.transient_value(i, given);
            }
        }
        let mut edges = EdgeReader::new(&automaton.edges, &self.parser.diagnostics.sources);
        while let Some(edge) = edges.next(self.parser) {
            self.edge(i, &edge);
        }
    }

    fn transient_value(&mut self, automaton: usize, given: &TransientValue) {
        let ty = self.types(Some(automaton)).ty(&given.target);
        let Some((name, indices)) = target(&given.target) else {
            let message = "a transient variable expected";
            return self.invalid(DiagnosticCode::Value, given.target.at, message);
        };
        if indices.is_empty() || ty != Type::Unknown {
            self.types(Some(automaton)).expect(&given.value, &ty);
        }
        match self.checked.scope.entity(name, Some(automaton)) {
            Some(Entity::Variable(v)) if !self.checked.variable(v).transient => {
                let message = format!("variable `{}` is not transient", self.text(name));
                self.invalid(DiagnosticCode::Value, given.target.at, message);
            }
            Some(Entity::Constant(_)) => {
                let message = format!("`{}` is a constant", self.text(name));
                self.invalid(DiagnosticCode::Value, given.target.at, message);
            }
            _ => {}
        }
    }

    fn edge(&mut self, automaton: usize, edge: &Edge) {
        self.known_location(automaton, edge.location);
        if let Some(action) = edge.action {
            self.known_action(action);
        }
        if let Some(guard) = &edge.guard {
            self.condition(guard, Some(automaton));
        }
        if let Some(rate) = &edge.rate {
            self.types(Some(automaton)).expect(rate, &Type::Real);
            if self.checked.ast.is_untimed() {
                self.invalid(
                    DiagnosticCode::Value,
                    rate.at,
                    "rates need a model of the type ctmc or ma",
                );
            }
        }
        if edge.destinations.is_empty() {
            let message = "an edge without destinations is skipped";
            self.parser.diagnostics.warning(DiagnosticCode::Skipped, edge.at, message);
        }
        for destination in &edge.destinations {
            self.known_location(automaton, destination.location);
        }
        self.assignments(automaton, edge);
        super::probabilities(&self.checked, self.parser, automaton, edge);
        let mut uses = std::mem::take(&mut self.checked.uses);
        uses.note(&self.checked, automaton, edge);
        self.checked.uses = uses;
    }
}
