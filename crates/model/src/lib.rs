//! The papers' state space ⟨V, L, O⟩: variables, labels, operators with probabilistic updates,
//! states, and safety properties (PPA 2022, Section 2 and Appendix A).
//!
//! A [`Model`] is a network of automata over bounded integer variables; booleans are 0/1 and
//! automaton locations are variables. Operators are composed from edges on demand
//! ([`Composer`], [`Model::operators`]). [`ModelSemantics`] evaluates them by the definition;
//! [`Condition::truth`] and [`Condition::tighten`] reason about whole boxes of states.

#![warn(missing_docs)]

mod automata;
mod cells;
mod compose;
mod condition;
mod conjunction;
mod display;
mod eval;
mod expr;
mod filter;
mod idle;
mod ids;
mod linear;
mod model;
mod operator;
mod propagate;
mod property;
mod range;
mod region;
mod solutions;
mod successor;
mod variable;

pub use automata::{
    AssignedValue, Assignment, AutomatonInstance, Edge, EdgeDestination, EdgePlace, Observable,
    Probability, SyncVector, Target, Transient, ValueBounds,
};
pub use compose::{ComposeError, Composer, OPERATOR_LIMIT};
pub use condition::Condition;
pub use conjunction::Conjunction;
pub use eval::{BY_ZERO, EvalError, EvalResult};
pub use expr::{BinaryOp, Expr, UnaryOp};
pub use filter::{FilterFunction, QuantityComparison, Relation};
pub use idle::Satisfiable;
pub use ids::{InstanceId, LabelId, OpId, TransientId, VarId};
pub use linear::{LinearConstraint, LinearExpr};
pub use model::{InitialValue, Model};
pub use operator::{
    CellWrite, Conflict, Destination, FreeChoice, Operator, OperatorKey, TransientValue, Update,
    UpdateValue,
};
pub use property::{Predicate, SafetyProperty, Start, State};
pub use range::{Range, Truth};
pub use region::Region;
pub use solutions::{SolutionsError, Visit, find_point, find_solution, for_each_solution};
pub use successor::{
    DomainRule, ModelSemantics, ModellingError, ModellingProblem, Successor, Successors,
};
pub use variable::{Variable, VariableKind};
