//! Queries about a policy, and recorders: told of every one that an engine asks.

use std::time::Duration;

use policert_model::{Condition, State};
use policert_numeric::{IntBox, IntInterval};

use crate::Answer;

/// Is there a point in the region that satisfies all conditions and where the policy chooses the
/// output?
#[derive(Clone, Copy, Debug)]
pub struct SelectionQuery<'q> {
    /// The variables of the state, then any further ones that conditions mention (free choices
    /// of a destination). A variable that it lacks counts as unbounded.
    pub region: &'q IntBox,
    /// All must hold. A condition without truth value at a point does not hold there.
    pub conditions: &'q [&'q Condition],
    /// The output of the policy.
    pub output: usize,
}

impl SelectionQuery<'_> {
    /// The region with all variables that the conditions mention, and at least `least` many.
    #[must_use]
    pub fn sides(&self, least: usize) -> IntBox {
        let mut dimensions = least;
        for condition in self.conditions {
            condition.for_each_var(&mut |v| dimensions = dimensions.max(v.index() + 1));
        }
        let mut sides = self.region.clone();
        while sides.dimensions() < dimensions {
            sides.push(IntInterval::ALL);
        }
        sides
    }
}

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
    /// The time that it took.
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
