//! The composition: instances and synchronisation vectors.

use std::collections::BTreeSet;

use super::Checker;
use crate::{diagnostic::Code, source::At};

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
                    self.invalid(Code::UnknownName, name.at, message);
                }
            }
            if let Some(action) = element.input_enable.first() {
                self.diagnostics.unsupported(action.at, "input-enabled actions (`input-enable`)");
            }
        }
        let elements = system.elements.len();
        if elements == 0 {
            let message = "the system has no elements";
            self.invalid(Code::Synchronisation, self.checked.ast.at, message);
        }
        for sync in &system.syncs {
            let count = sync.synchronise.len();
            if count != elements {
                let message = format!(
                    "a synchronisation vector has an entry for each element: {elements}, not {count}"
                );
                self.invalid(Code::Synchronisation, sync.at, message);
            }
            let actions = sync.synchronise.iter().map(|name| self.known_action((*name)?));
            let actions: Vec<_> = actions.collect();
            let result = sync.result.and_then(|result| self.known_action(result));
            if actions.iter().all(Option::is_none) && sync.synchronise.iter().all(Option::is_none) {
                let message = "a synchronisation vector without any action never fires";
                self.diagnostics.warning(Code::NeverFires, sync.at, message);
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
                let name = self.names.text(automaton.name.symbol);
                let message = format!("automaton `{name}` takes no part in the system");
                self.diagnostics.warning(Code::Skipped, automaton.name.at, message);
            }
        }
    }

    /// Warns of edges that never fire: their action is in no vector.
    fn uncovered_actions(&mut self) {
        let mut covered = BTreeSet::new();
        for vector in &self.checked.vectors {
            for (instance, action) in vector.actions.iter().enumerate() {
                covered.extend(action.map(|a| (instance, a)));
            }
        }
        let mut found: Vec<(At, String)> = Vec::new();
        for (i, &automaton) in self.checked.instances.iter().enumerate() {
            let automaton = &self.checked.ast.automata[automaton];
            let mut seen = BTreeSet::new();
            for name in automaton.edges.iter().filter_map(|e| e.action) {
                let Some(action) = self.checked.scope.action(name.symbol) else { continue };
                if !covered.contains(&(i, action)) && seen.insert(action) {
                    let message = format!(
                        "no synchronisation vector has action `{}` of instance {i} (`{}`): its \
                         edges never fire",
                        self.names.text(name.symbol),
                        self.names.text(automaton.name.symbol)
                    );
                    found.push((name.at, message));
                }
            }
        }
        for (at, message) in found {
            self.diagnostics.warning(Code::NeverFires, at, message);
        }
    }
}
