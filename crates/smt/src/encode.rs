//! Encodings of models and policies as formulas (PPA 2022, Appendix C).
//!
//! | paper | here |
//! |---|---|
//! | (i), (ii) bounds of state variables | [`StateFrame::bounds`], in [`successor`] for updated variables |
//! | (iii), (iv) predicates | [`StateFrame::condition`] of the source and of the successor frame |
//! | (v) guard | [`StateFrame::condition`] |
//! | (vi) updates | [`successor`] |
//! | (b), (c), (d) network | [`scores`]; with fixed activation cases [`scores_within`] |
//! | – tree ensembles | [`policy_scores`] |
//! | (e) selection | [`chooses`] |
//!
//! Deviations:
//! - D1. Expressions may have no value in a state (a division by zero, a cell that does not
//!   exist). A condition counts as satisfied only where it has the wanted truth value, with the
//!   strong Kleene rules of [`policert_model::Condition`].
//! - D2. A condition over integers is encoded as such, also over relaxed (real) state variables:
//!   `x < 3` is `x ≤ 2`. That is a tighter relaxation than the paper's, and a sound one.
//! - D3. The input neurons are the terms of the state variables; (b) needs no symbols.
//! - D4. The tie rule and the filter are those of [`policert_policy::semantics`]; the paper's
//!   strict `>` is one of them.

mod expression;
mod nn;
mod operator;
mod state;
mod trees;

pub use nn::{ScoreTerms, chooses, scores, scores_within};
pub use operator::{SuccessorTerms, successor};
pub use state::StateFrame;
pub use trees::{policy_scores, policy_scores_within};
