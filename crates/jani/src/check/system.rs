//! The composition: instances and synchronisation vectors.

use std::collections::BTreeSet;

use super::Checker;
use crate::{diagnostic::DiagnosticCode, source::At};

/// A synchronisation vector that fits the system.
#[derive(Clone, Debug)]
pub(crate) struct Vector {
    /// The action of each instance, by position in the list of actions.
    pub actions: Vec<Option<usize>>,
    /// The label of the joint transition.
    pub result: Option<usize>,
}

impl Checker<'_> {
    /// Checks the composition.
    pub(super) fn system(&mut self) {
        let ast = self.ast();
        let system = &ast.system;
        for element in &system.elements {
            let name = element.automaton;
            match self.checked.scope.automaton(name.symbol) {
                Some(automaton) => self.checked.instances.push(automaton),
                None => {
                    let message = format!("unknown automaton `{}`", self.text(name.symbol));
                    self.invalid(DiagnosticCode::UnknownName, name.at, message);
                }
            }
            if let Some(action) = element.input_enable.first() {
                self.parser
                    .diagnostics
                    .unsupported(action.at, "input-enabled actions (`input-enable`)");
            }
        }
        let elements = system.elements.len();
        if elements == 0 {
            let message = "the system has no elements";
            self.invalid(DiagnosticCode::Synchronisation, self.checked.ast.at, message);
        }
        for sync in &system.syncs {
            let count = sync.synchronise.len();
            if count != elements {
                let message = format!(
                    "a synchronisation vector has an entry for each element: {elements}, not {count}"
                );
                self.invalid(DiagnosticCode::Synchronisation, sync.at, message);
            }
            let actions = sync.synchronise.iter().map(|name| self.known_action((*name)?));
            let actions: Vec<_> = actions.collect();
            let result = sync.result.and_then(|result| self.known_action(result));
            if actions.iter().all(Option::is_none) && sync.synchronise.iter().all(Option::is_none) {
                let message = "a synchronisation vector without any action never fires";
                self.parser.diagnostics.warning(DiagnosticCode::NeverFires, sync.at, message);
            }
            self.checked.vectors.push(Vector { actions, result });
        }
        if self.checked.instances.len() == elements {
            self.uncovered_actions();
        } else {
            // Positions would be off.
            self.checked.instances.clear();
        }
        for (i, automaton) in self.checked.ast.automata.iter().enumerate() {
            if !self.checked.instances.contains(&i) && !self.checked.instances.is_empty() {
                let name = self.parser.names.text(automaton.name.symbol);
                let message = format!("automaton `{name}` takes no part in the system");
                self.parser.diagnostics.warning(
                    DiagnosticCode::Skipped,
                    automaton.name.at,
                    message,
                );
            }
        }
    }

    /// Warns of edges that never fire: their action is in no vector, or only in vectors that join it
    /// with an action of which the other automaton has no edge.
    fn uncovered_actions(&mut self) {
        let actions_of = |&automaton: &usize| -> BTreeSet<usize> {
            let edges = &self.checked.ast.automata[automaton].edges;
            let names = edges.actions.iter().filter_map(|edges| edges.action);
            names.filter_map(|name| self.checked.scope.action(name.symbol)).collect()
        };
        let on_edges: Vec<BTreeSet<usize>> =
            self.checked.instances.iter().map(actions_of).collect();
        // Actions of instances in some vector, and in one whose actions all have edges.
        let (mut named, mut covered) = (BTreeSet::new(), BTreeSet::new());
        for vector in &self.checked.vectors {
            let entries = || {
                let entries = vector.actions.iter().enumerate();
                entries.filter_map(|(instance, action)| action.map(|action| (instance, action)))
            };
            let has_edge = |(i, action): (usize, usize)| {
                on_edges.get(i).is_some_and(|on| on.contains(&action))
            };
            named.extend(entries());
            if entries().all(has_edge) {
                covered.extend(entries());
            }
        }
        let mut found: Vec<(At, String)> = Vec::new();
        for (i, &automaton) in self.checked.instances.iter().enumerate() {
            let automaton = &self.checked.ast.automata[automaton];
            let mut seen = BTreeSet::new();
            for name in automaton.edges.actions.iter().filter_map(|e| e.action) {
                let Some(action) = self.checked.scope.action(name.symbol) else { continue };
                if covered.contains(&(i, action)) || !seen.insert(action) {
                    continue;
                }
                let (action_name, instance) = (
                    self.parser.names.text(name.symbol),
                    self.parser.names.text(automaton.name.symbol),
                );
                let of = format!("action `{action_name}` of instance {i} (`{instance}`)");
                let message = if named.contains(&(i, action)) {
                    format!(
                        "each synchronisation vector with {of} joins it with an action that the \
                         other instance has no edge for: its edges never fire"
                    )
                } else {
                    format!("no synchronisation vector has {of}: its edges never fire")
                };
                found.push((name.at, message));
            }
        }
        for (at, message) in found {
            self.parser.diagnostics.warning(DiagnosticCode::NeverFires, at, message);
        }
    }
}
