//! Questions for SMT solvers: solver-neutral terms, the encodings of states, operators and
//! policies (PPA 2022, Appendix C), and Z3 as a back end.
//!
//! - [`Term`] and [`Formula`] are exact: numbers are rationals, and [`Formula::eval`] says at a
//!   point what they mean. A back end implements [`Solver`].
//! - [`encode`] turns model conditions, operators and policy networks into formulas.
//! - `Z3Solver`, with the feature `z3`, is the back end in use. `./x build` fetches the library.
//!
//! A solver's "unknown", a time limit and an interruption are errors ([`SmtError`]); they can not
//! be read as "unsatisfiable". What a solver calls satisfiable is evaluated exactly before it
//! counts.

mod budget;
pub mod encode;
mod error;
mod solver;
mod terms;
#[cfg(feature = "z3")]
mod z3_solver;

pub use budget::{check_within, decide_within};
pub use error::SmtError;
pub use solver::{CheckResult, Solver, SolverAssignment, SolverLimits};
pub use terms::{Formula, Sort, Symbol, Term};
#[cfg(feature = "z3")]
pub use z3_solver::Z3Solver;
