//! Configuration of the explicit search.

use std::num::NonZeroUsize;

use policert_engine_api::configuration::zero_is_none;
use policert_engine_api::{Configuration, Preset};
use serde::{Deserialize, Serialize};

/// Says how the explicit search works. No setting changes the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ExplicitConfig {
    /// Number of states whose guards are evaluated, and which the policy sees, together.
    /// [default: 512] [range: 1 and more]
    pub batch: NonZeroUsize,
    /// After how many start states that wait the search goes on to its end before more of them are
    /// enumerated; `None` for all start states first. Shortest counterexamples take all of them.
    /// [default: none] [paper: POLIC3, BRFS: 1]
    #[serde(with = "zero_is_none")]
    pub start_batch: Option<NonZeroUsize>,
    /// For how many operators that dropped an outcome the result names the first such state.
    /// [default: 16] [range: 0 and more]
    pub drop_examples: usize,
}

impl Default for ExplicitConfig {
    fn default() -> Self {
        const BATCH: NonZeroUsize = NonZeroUsize::new(512).expect("not zero");
        Self { batch: BATCH, start_batch: None, drop_examples: 16 }
    }
}

impl Configuration for ExplicitConfig {
    fn presets() -> Vec<Preset> {
        vec![("native", include_str!("../../../configs/explicit/native.toml"))]
    }
}
