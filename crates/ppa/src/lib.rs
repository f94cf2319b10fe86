//! Policy predicate abstraction (PPA 2022): the reachable fragment of Θ^π_𝒫, built by abstract
//! state expansion, and what it says about safety.
//!
//! | looking for | file |
//! |---|---|
//! | Algorithm 1 | `expansion.rs`, for given predicates `given.rs` |
//! | the tests of Section 6 | `queries.rs`, answered in `native.rs`, `branch_and_bound.rs` and `z3.rs`; `solvers.rs` chooses |
//! | forward search, safety per start state | `search.rs` |
//! | abstract start states | `start_states.rs` |
//! | predicates, abstract states, concretisation | `predicates.rs`, `atoms.rs`, `abstract_state.rs`, `region.rs` |
//! | predicates and operators together, what outcomes do to predicates | `abstraction.rs`, `effects.rs` |
//! | predicate sets by binary search | `splits.rs` |
//! | from an abstract path to a concrete run | `concretise.rs` |
//! | recording of tests | `recording.rs` |
//! | counterexample-guided abstraction refinement | `cegar.rs` and `cegar/` |
//! | bounds of probabilities: given predicates, and refined | `prob.rs` and `prob/` |
//! | presets | `config.rs` and `configs/ppa/*.toml` |

mod abstract_state;
mod abstraction;
mod atoms;
mod branch_and_bound;
mod cegar;
mod concretise;
mod config;
mod effects;
mod engine;
mod expansion;
mod given;
#[cfg(test)]
mod hand_made;
mod inhabited;
mod native;
mod predicates;
mod prob;
mod queries;
mod recording;
mod region;
mod search;
mod solvers;
mod splits;
mod start_states;
#[cfg(feature = "z3")]
mod z3;

pub use abstract_state::{AbstractState, AbstractStateId, AbstractStateTable, Layout, PredId};
pub use abstraction::Abstraction;
pub use cegar::{
    BrokenRequirements, CegarConfig, CegarReport, Origin, Scope, SearchOrder, SplitConfig,
    SplitPoint, SplitUntil, SplitVariable, cegar,
};
pub use config::{EnvironmentSolver, PolicySolver, PpaConfig, RelaxedSolver, Test};
pub use engine::{PpaReport, StartRegion, run, run_recorded};
pub use predicates::PredicateSet;
pub use prob::{
    CounterexampleAnalysis, MaxProbMethod, ProbConfig, ProbReport, Shown, Spurious, prob_cegar,
    prob_ppa,
};
pub use queries::{EnvironmentTests, Queries, QueryStats, Selection, TestStats};
pub use region::Region;
pub use search::{AbstractFragment, StateInfo};
pub use splits::{Splits, SplitsError};
