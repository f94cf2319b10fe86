//! Automata as they are written: one for the model, one for the policy, and what is asked of them.

use policert_mdp::Direction;
use policert_model::Expr;

/// Automata that are ready to be written. Every action is taken by all of them together.
#[derive(Clone, Debug)]
pub struct WrittenAutomata {
    pub(crate) name: String,
    pub(crate) variables: Vec<Variable>,
    pub(crate) automata: Vec<Automaton>,
    pub(crate) actions: Vec<Action>,
    /// The condition that start states satisfy; `None` if the initial values are all.
    pub(crate) initial: Option<Expr>,
    pub(crate) stay: Expr,
    pub(crate) target: Expr,
    pub(crate) direction: Direction,
}

impl WrittenAutomata {
    /// Number of variables.
    #[must_use]
    pub fn variable_count(&self) -> usize {
        self.variables.len()
    }

    /// Number of edges of all automata.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.automata.iter().map(|automaton| automaton.edges.len()).sum()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub name: String,
    pub kind: VariableKind,
    /// `None`: any value that the start states have.
    pub initial: Option<i64>,
    /// The automaton that writes it.
    pub owner: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum VariableKind {
    Integer { lo: i64, hi: i64 },
    Real { lo: f64, hi: f64 },
}

#[derive(Clone, Debug)]
pub(crate) struct Automaton {
    pub name: String,
    pub edges: Vec<Edge>,
}

#[derive(Clone, Debug)]
pub(crate) struct Action {
    pub name: String,
    /// True if the joint action has no label.
    pub silent: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub action: Option<usize>,
    pub guard: Expr,
    pub destinations: Vec<Destination>,
}

#[derive(Clone, Debug)]
pub(crate) struct Destination {
    pub probability: Expr,
    /// By variable, as in [`Expr::Var`].
    pub updates: Vec<(usize, Expr)>,
}
