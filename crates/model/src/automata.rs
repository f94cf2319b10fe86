//! Networks of automata as the model is written: instances with edges, and synchronisation
//! vectors. Operators are composed from them, see [`Composer`](crate::Composer).

use std::{fmt, sync::Arc};

use policert_numeric::Rational;

use crate::{
    BinaryOp, Condition, EvalResult, Expr, InstanceId, LabelId, Range, TransientId, VarId,
};

/// An automaton instance of the system.
#[derive(Clone, PartialEq, Debug)]
pub struct AutomatonInstance {
    /// Name of its automaton; several instances may share it.
    pub automaton: String,
    /// The variable that holds its location.
    pub location: VarId,
    /// Its edges in the order of the file.
    pub edges: Vec<Edge>,
}

/// An edge of an instance.
#[derive(Clone, PartialEq, Debug)]
pub struct Edge {
    /// The location in which it starts.
    pub source: i64,
    /// Its action; `None` for a silent edge, which runs alone.
    pub action: Option<LabelId>,
    /// Its guard over the state (without the location).
    pub guard: Condition,
    /// The destinations, one of which it leads to.
    pub destinations: Vec<EdgeDestination>,
    /// Its place in the file, for messages.
    pub place: EdgePlace,
}

/// The place of an edge in its file; written as a JSON pointer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct EdgePlace {
    automaton: u32,
    edge: u32,
}

impl EdgePlace {
    /// The edge at a position of the list of an automaton.
    #[must_use]
    pub fn new(automaton: usize, edge: usize) -> Self {
        let position = |value| u32::try_from(value).unwrap_or(u32::MAX);
        Self { automaton: position(automaton), edge: position(edge) }
    }
}

impl fmt::Display for EdgePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/automata/{}/edges/{}", self.automaton, self.edge)
    }
}

/// One outcome of an edge.
#[derive(Clone, PartialEq, Debug)]
pub struct EdgeDestination {
    /// The location that the instance moves to.
    pub location: i64,
    /// The probability of this outcome.
    pub probability: Probability,
    /// The assignments.
    pub assignments: Vec<Assignment>,
}

/// A probability: exact, and positive where it is a constant.
#[derive(Clone, PartialEq, Debug)]
pub enum Probability {
    /// The same in every state, greater than 0.
    Constant(Rational),
    /// Depends on the state; may be 0 in some.
    Expr(Box<Expr>),
}

impl Probability {
    /// Probability 1.
    #[must_use]
    pub fn one() -> Self {
        Self::Constant(Rational::ONE)
    }

    /// One that depends on the state.
    #[must_use]
    pub fn expr(expr: Expr) -> Self {
        Self::Expr(Box::new(expr))
    }

    /// The same as an expression.
    #[must_use]
    pub fn to_expr(&self) -> Expr {
        match self {
            Self::Constant(p) => Expr::Constant(p.clone()),
            Self::Expr(expr) => (**expr).clone(),
        }
    }

    /// Its value in a state.
    ///
    /// # Errors
    /// An expression without value.
    pub fn in_state(&self, state: &[i64]) -> EvalResult {
        match self {
            Self::Constant(p) => Ok(p.clone()),
            Self::Expr(expr) => expr.eval(state),
        }
    }
}

/// An assignment of an edge.
#[derive(Clone, PartialEq, Debug)]
pub struct Assignment {
    /// The variable or the cell that is written.
    pub target: Target,
    /// The value.
    pub value: AssignedValue,
    /// Assignments of one index are simultaneous; indices run in ascending order.
    pub index: i64,
}

/// Says what an assignment writes.
#[derive(Clone, PartialEq, Debug)]
pub enum Target {
    /// A state variable.
    Var(VarId),
    /// A transient variable.
    Transient(TransientId),
    /// One of several state variables, the cells of an array, by a computed index from 0.
    Cell {
        /// The cells.
        cells: Arc<[VarId]>,
        /// The index of the cell.
        index: Box<Expr>,
    },
    /// One of several transient variables, the cells of a transient array.
    TransientCell {
        /// The cells.
        cells: Arc<[TransientId]>,
        /// The index of the cell.
        index: Box<Expr>,
    },
}

/// The value that an assignment writes.
#[derive(Clone, PartialEq, Debug)]
pub enum AssignedValue {
    /// The value of an expression.
    Expr(Expr),
    /// Any integer between the two, both included.
    Between(Box<[Expr; 2]>),
}

impl AssignedValue {
    /// Any integer between two bounds.
    #[must_use]
    pub fn between(lower: Expr, upper: Expr) -> Self {
        Self::Between(Box::new([lower, upper]))
    }
}

/// A transient variable: it holds its initial value in states and at the start of each
/// transition, and what an edge writes to it lasts for that transition. As with any other variable,
/// the value at the end of the transition exists and lies within the bounds, or the outcome is none.
#[derive(Clone, PartialEq, Debug)]
pub struct Transient {
    /// Its name.
    pub name: String,
    /// Its initial value.
    pub initial: Expr,
    /// Its least and its greatest value; `None` for unbounded.
    pub bounds: ValueBounds,
}

/// Bounds of a number, both included.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ValueBounds {
    /// The least value.
    pub lower: Option<Rational>,
    /// The greatest value.
    pub upper: Option<Rational>,
}

impl ValueBounds {
    /// Returns whether a value lies between them.
    #[must_use]
    pub fn contains(&self, value: &Rational) -> bool {
        self.lower.as_ref().is_none_or(|lower| lower <= value)
            && self.upper.as_ref().is_none_or(|upper| value <= upper)
    }

    /// Returns whether all values of a range lie between them, and all exist.
    #[must_use]
    pub fn contain_all(&self, range: &Range) -> bool {
        let above = |lower| range.lo.as_ref().is_some_and(|least| lower <= least);
        let below = |upper| range.hi.as_ref().is_some_and(|greatest| greatest <= upper);
        !range.partial
            && self.lower.as_ref().is_none_or(above)
            && self.upper.as_ref().is_none_or(below)
    }

    /// Holds where an expression has a value between them.
    #[must_use]
    pub fn condition(&self, value: &Expr) -> Condition {
        let compare =
            |op, a: &Expr, b: &Expr| Condition::from_expr(&Expr::binary(op, a.clone(), b.clone()));
        let constant = |bound: &Rational| Expr::Constant(bound.clone());
        let mut parts = Vec::new();
        parts.extend(self.lower.as_ref().map(|b| compare(BinaryOp::Le, &constant(b), value)));
        parts.extend(self.upper.as_ref().map(|b| compare(BinaryOp::Le, value, &constant(b))));
        if parts.is_empty() && !value.is_total() {
            parts.push(compare(BinaryOp::Eq, value, value));
        }
        Condition::and(parts)
    }
}

impl std::fmt::Display for ValueBounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.lower, &self.upper) {
            (Some(lower), Some(upper)) => write!(f, "[{lower}, {upper}]"),
            (Some(lower), None) => write!(f, "[{lower}, ∞)"),
            (None, Some(upper)) => write!(f, "(−∞, {upper}]"),
            (None, None) => write!(f, "(−∞, ∞)"),
        }
    }
}

/// Says what a transient variable, or a cell of a transient array, is in states: a function of the
/// state.
#[derive(Clone, PartialEq, Debug)]
pub struct Observable {
    /// Its name, as that of a state variable.
    pub name: String,
    /// Its value in states, or why that is not known.
    pub value: Result<Expr, String>,
}

/// A synchronisation vector: the participants take edges of these actions together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncVector {
    /// Who takes part, with which action; sorted by instance.
    pub participants: Vec<(InstanceId, LabelId)>,
    /// The label of the joint transition; `None` makes it silent.
    pub result: Option<LabelId>,
}
