//! Recorders: told of every query that an engine asks about a policy.

use std::time::Duration;

use policert_engine_api::Answer;
use policert_model::{Condition, State};

use crate::query::SelectionQuery;

/// Over which values the variables of a query range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Values {
    /// Integers: the question itself.
    Integers,
    /// Real numbers: its relaxation.
    Reals,
}

/// A query that was asked, with its answer.
#[derive(Clone, Copy, Debug)]
pub struct AskedQuery<'q> {
    /// The query.
    pub query: SelectionQuery<'q>,
    /// Over which values the variables range.
    pub values: Values,
    /// The answer.
    pub answer: &'q Answer<State>,
    /// How long it took.
    pub time: Duration,
}

/// Is told of the queries about one policy, in the order in which they are asked.
pub trait Recorder {
    /// Before the first query. `applicable` says for each output where it is applicable.
    fn begin(&mut self, applicable: &[Condition]);

    /// Queries about parts of another region follow.
    fn enter(&mut self);

    /// A query was answered. Queries whose region is empty are not asked, and one that the budget
    /// stopped has no answer.
    fn record(&mut self, asked: &AskedQuery<'_>);
}
