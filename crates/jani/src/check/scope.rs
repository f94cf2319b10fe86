//! What names mean, and that no two things of a kind share one.

use rustc_hash::FxHashMap;

use super::Checker;
use crate::{
    ast::{Function, Name},
    diagnostic::DiagnosticCode,
    names::NameId,
};

/// A variable: index into [`Checked::variables`](super::Checked).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct VariableId(pub usize);

/// A function: of the model or of an automaton, by position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct FunctionId {
    pub automaton: Option<usize>,
    pub index: usize,
}

/// Says what a name in an expression stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entity {
    /// A constant, by position.
    Constant(usize),
    /// A variable.
    Variable(VariableId),
}

/// The meaning of names.
#[derive(Clone, Default, Debug)]
pub(crate) struct Scope {
    globals: FxHashMap<NameId, Entity>,
    /// By automaton.
    locals: Vec<FxHashMap<NameId, Entity>>,
    functions: FxHashMap<NameId, FunctionId>,
    local_functions: Vec<FxHashMap<NameId, FunctionId>>,
    /// Positions in the list of actions.
    actions: FxHashMap<NameId, usize>,
    /// Positions in the list of automata.
    automata: FxHashMap<NameId, usize>,
    /// Positions in the list of locations, by automaton.
    locations: Vec<FxHashMap<NameId, usize>>,
}

impl Scope {
    /// Returns what `name` means inside an automaton, or outside of all.
    pub fn entity(&self, name: NameId, automaton: Option<usize>) -> Option<Entity> {
        let local = automaton.and_then(|a| self.locals.get(a)?.get(&name));
        local.or_else(|| self.globals.get(&name)).copied()
    }

    /// The names of global constants and variables, in no certain order.
    pub fn globals(&self) -> impl Iterator<Item = NameId> {
        self.globals.keys().copied()
    }

    /// The function `name`.
    pub fn function(&self, name: NameId, automaton: Option<usize>) -> Option<FunctionId> {
        let local = automaton.and_then(|a| self.local_functions.get(a)?.get(&name));
        local.or_else(|| self.functions.get(&name)).copied()
    }

    /// The position of an action.
    pub fn action(&self, name: NameId) -> Option<usize> {
        self.actions.get(&name).copied()
    }

    /// The position of an automaton.
    pub fn automaton(&self, name: NameId) -> Option<usize> {
        self.automata.get(&name).copied()
    }

    /// The position of a location in its automaton.
    pub fn location(&self, automaton: usize, name: NameId) -> Option<usize> {
        self.locations.get(automaton)?.get(&name).copied()
    }

    /// The local variables named `name`, with their automata.
    pub fn locals_named(&self, name: NameId) -> impl Iterator<Item = (usize, VariableId)> {
        self.locals.iter().enumerate().filter_map(move |(a, locals)| match locals.get(&name) {
            Some(Entity::Variable(v)) => Some((a, *v)),
            _ => None,
        })
    }
}

impl Checker<'_> {
    /// Enters all names; two things of one name are an error.
    pub(super) fn declare(&mut self) {
        let mut scope = Scope::default();
        let ast = self.ast();
        let mut clashes: Vec<(Name, &str)> = Vec::new();
        for (i, constant) in ast.constants.iter().enumerate() {
            let entity = Entity::Constant(i);
            if scope.globals.insert(constant.name.symbol, entity).is_some() {
                clashes.push((constant.name, "constant or global variable"));
            }
        }
        for (i, variable) in ast.variables.iter().enumerate() {
            let entity = Entity::Variable(VariableId(i));
            if scope.globals.insert(variable.name.symbol, entity).is_some() {
                clashes.push((variable.name, "constant or global variable"));
            }
        }
        let mut next_variable = ast.variables.len();
        let functions =
            |list: &[Function], automaton, table: &mut FxHashMap<_, _>, clashes: &mut Vec<_>| {
                for (index, function) in list.iter().enumerate() {
                    let id = FunctionId { automaton, index };
                    if table.insert(function.name.symbol, id).is_some() {
                        clashes.push((function.name, "function"));
                    }
                }
            };
        functions(&ast.functions, None, &mut scope.functions, &mut clashes);
        for (i, action) in ast.actions.iter().enumerate() {
            if scope.actions.insert(action.symbol, i).is_some() {
                clashes.push((*action, "action"));
            }
        }
        for (i, automaton) in ast.automata.iter().enumerate() {
            if scope.automata.insert(automaton.name.symbol, i).is_some() {
                clashes.push((automaton.name, "automaton"));
            }
            let mut locals = FxHashMap::default();
            for variable in &automaton.variables {
                let name = variable.name.symbol;
                if scope.globals.contains_key(&name) {
                    clashes.push((variable.name, "constant or global variable"));
                }
                let entity = Entity::Variable(VariableId(next_variable));
                if locals.insert(name, entity).is_some() {
                    clashes.push((variable.name, "variable of this automaton"));
                }
                next_variable += 1;
            }
            scope.locals.push(locals);
            let mut table = FxHashMap::default();
            functions(&automaton.functions, Some(i), &mut table, &mut clashes);
            for function in &automaton.functions {
                if scope.functions.contains_key(&function.name.symbol) {
                    clashes.push((function.name, "global function"));
                }
            }
            scope.local_functions.push(table);
            let mut locations = FxHashMap::default();
            for (l, location) in automaton.locations.iter().enumerate() {
                if locations.insert(location.name.symbol, l).is_some() {
                    clashes.push((location.name, "location of this automaton"));
                }
            }
            scope.locations.push(locations);
        }
        self.checked.scope = scope;
        for (name, what) in clashes {
            let message = format!("there is another {what} named `{}`", self.text(name.symbol));
            self.invalid(DiagnosticCode::DuplicateName, name.at, message);
        }
    }

    /// The position of an action that is named somewhere.
    pub(super) fn known_action(&mut self, name: Name) -> Option<usize> {
        let found = self.checked.scope.action(name.symbol);
        if found.is_none() {
            let message = format!("unknown action `{}`", self.text(name.symbol));
            let help = "actions are declared in the model's list `actions`";
            self.parser.diagnostics.invalid_with_help(
                DiagnosticCode::UnknownName,
                name.at,
                message,
                help,
            );
        }
        found
    }

    /// The position of a location that is named somewhere.
    pub(super) fn known_location(&mut self, automaton: usize, name: Name) -> Option<usize> {
        let found = self.checked.scope.location(automaton, name.symbol);
        if found.is_none() {
            let message = format!("unknown location `{}`", self.text(name.symbol));
            self.invalid(DiagnosticCode::UnknownName, name.at, message);
        }
        found
    }
}
