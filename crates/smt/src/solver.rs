//! What a back end does: assertions in scopes, and checks under limits.

use std::time::Duration;

use policert_numeric::Rational;

use crate::{Formula, SmtError, Sort, Symbol};

/// A satisfying assignment: a value for every declared symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SolverAssignment(pub(crate) Vec<Rational>);

impl SolverAssignment {
    /// The values, by symbol index.
    #[must_use]
    pub fn new(values: Vec<Rational>) -> Self {
        Self(values)
    }

    /// The value of a symbol; `None` if it was not declared.
    #[must_use]
    pub fn value(&self, symbol: Symbol) -> Option<&Rational> {
        self.0.get(symbol.index())
    }

    /// The values as machine integers; `None` if one is not, or was not declared.
    #[must_use]
    pub fn integers(&self, symbols: impl IntoIterator<Item = Symbol>) -> Option<Vec<i64>> {
        symbols.into_iter().map(|symbol| self.value(symbol)?.to_i64()).collect()
    }
}

/// A definite answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckResult {
    /// No assignment satisfies the assertions.
    Unsat,
    /// This one does.
    Sat(SolverAssignment),
}

impl CheckResult {
    /// The assignment, if there is one.
    #[must_use]
    pub fn sat(self) -> Option<SolverAssignment> {
        match self {
            Self::Unsat => None,
            Self::Sat(assignment) => Some(assignment),
        }
    }
}

/// Says how long a check may go on.
#[derive(Clone, Copy, Default)]
pub struct SolverLimits<'a> {
    /// Wall-clock time. [default: none]
    pub time: Option<Duration>,
    /// Asked every few milliseconds from another thread: true ends the check with
    /// [`SmtError::Interrupted`]. Cancellation and memory budgets go here; a back end has no
    /// memory limit of its own. [default: none]
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl std::fmt::Debug for SolverLimits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limits")
            .field("time", &self.time)
            .field("stop", &self.stop.map(|_| "…"))
            .finish()
    }
}

/// An incremental SMT solver.
pub trait Solver {
    /// A new symbol. It lives until the scope in which it was declared is popped; its index is
    /// the number of symbols before it.
    fn declare(&mut self, sort: Sort) -> Symbol;

    /// Adds `formula` to the current scope. Symbols must have been declared, and the divisor of
    /// every quotient and modulus must differ from 0 wherever the assertions hold.
    fn assert(&mut self, formula: Formula);

    /// Opens a scope.
    fn push(&mut self);

    /// Closes the innermost scope, with its assertions and symbols; without one it does nothing.
    fn pop(&mut self);

    /// Returns whether the assertions of all open scopes have a common solution.
    ///
    /// # Errors
    /// Whenever there is no definite answer.
    fn check(&mut self, limits: &SolverLimits) -> Result<CheckResult, SmtError>;
}
