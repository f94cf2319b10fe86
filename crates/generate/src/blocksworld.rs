//! Blocksworld with a limited table: one hand, moves that may fail and cost more each time.
//!
//! `block_i` is 0 in the hand, 1 on the table, and from 2 on the block beneath, counted without
//! block `i` itself. A policy's label names where the hand goes: `choose_block_j` takes block j, or
//! puts what is in the hand onto it; `choose_table` puts it on the table.

use serde_json::Value;

use crate::GenerateError;
use crate::error::in_range;
use crate::failing::Failing;
use crate::instance::{DomainInstance, Edge, StartSet};
use crate::jani::{
    all, any, at_least, at_most, compare, differs, equal, name, plus, sum, times, worth,
};
use crate::planning::{BlockCosts, Planning};
use crate::variable::Variable;

/// Most blocks.
pub const MAX_BLOCKS: i64 = 20;

/// Options of Blocksworld.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocksworld {
    /// Number of blocks, 2 to [`MAX_BLOCKS`].
    pub blocks: i64,
    /// Most blocks that the table may bear, 1 to `blocks - 1`; that by default.
    pub table_limit: Option<i64>,
    /// The way in which moves fail.
    pub failing: Failing,
    /// The greatest number of times that moves of one block may fail, 1 to 1000.
    pub cost_bound: i64,
    /// True if the policy reads the costs, and steps are rewarded by them.
    pub cost_aware: bool,
    /// Number of random problems in PDDL of the same size.
    pub problems: usize,
    /// Seed of what is drawn.
    pub seed: u64,
}

const HAND: &str = "hand-empty";
const TABLE: &str = "table-counter";
const CHOOSE_TABLE: &str = "choose_table";
const STEP_COST: &str = "step_cost";

fn block(i: i64) -> String {
    format!("block_{i}")
}

fn clear(i: i64) -> String {
    format!("clear_{i}")
}

fn cost(i: i64) -> String {
    format!("cost_block_{i}")
}

/// The value of `block_i` when it lies on block `j`.
fn on(i: i64, j: i64) -> i64 {
    if j < i { j + 2 } else { j + 1 }
}

/// Minus the moves of the hand that are wanted at least, up to a constant: two for each block that is
/// not where the goal wants it, with all beneath, and one less for a block in the hand.
fn potential(mut goal: Vec<Value>) -> Value {
    let mut terms = vec![worth(1, at_most(HAND, 0))];
    while !goal.is_empty() {
        terms.push(worth(2, all(goal.clone())));
        // The last block is on top.
        goal.pop();
    }
    sum(terms)
}

impl Blocksworld {
    /// That many blocks, all else by default.
    #[must_use]
    pub fn new(blocks: i64) -> Self {
        let failing = Failing::default();
        let (table_limit, cost_bound, cost_aware) = (None, 12, false);
        Self { blocks, table_limit, failing, cost_bound, cost_aware, problems: 0, seed: 1 }
    }

    /// The instance.
    ///
    /// # Errors
    /// A size out of its range.
    pub fn instance(&self) -> Result<DomainInstance, GenerateError> {
        let n = in_range("the number of blocks", self.blocks, 2, MAX_BLOCKS)?;
        let limit = self.table_limit.unwrap_or(n - 1);
        let limit = in_range("the table's limit", limit, 1, n - 1)?;
        let bound = in_range("the bound of costs", self.cost_bound, 1, 1000)?;
        let has_costs = self.failing.is_possible();
        if self.cost_aware && !has_costs {
            let what = "moves that never fail have no costs that a policy could read";
            return Err(GenerateError::Conflict(what.to_owned()));
        }
        let labels = std::iter::once(CHOOSE_TABLE.to_owned())
            .chain((0..n).map(|i| format!("choose_{}", block(i))));
        let goal = (0..n).map(|i| equal(&block(i), i + 1));
        let costs = BlockCosts { costly: (bound + 1) / 2, limit };
        let costs = self.cost_aware.then_some(&costs);
        Ok(DomainInstance {
            name: format!("blocksworld_{n}_{limit}"),
            comment: format!("Blocksworld: {n} blocks, at most {limit} on the table"),
            constants: self.failing.constants(),
            variables: self.variables(n, bound),
            labels: labels.collect(),
            edges: self.edges(n, bound),
            start: StartSet::Condition(self.start(n, limit)),
            start_count: Some(partitions(n, limit)),
            unsafe_condition: at_least(TABLE, limit + 1),
            unsafe_text: format!("more than {limit} blocks on the table"),
            goal: all(goal.clone().collect()),
            goal_potential: Some(potential(goal.collect())),
            step_reward: self.cost_aware.then(|| {
                let scale = "-0.01".parse::<serde_json::Number>().map_or(Value::Null, Value::from);
                times(scale, name(STEP_COST))
            }),
            planning: Some(Planning::blocks(n, costs, self.problems, self.seed)),
        })
    }

    fn variables(&self, n: i64, bound: i64) -> Vec<Variable> {
        // The goal tower turned round: its top is the goal's bottom.
        let mut variables = vec![Variable::new(HAND, 0, 1, 1), Variable::new(TABLE, 0, n, 1)];
        let beneath = |i| if i == n - 1 { 1 } else { on(i, i + 1) };
        variables.extend((0..n).map(|i| Variable::new(block(i), 0, n, beneath(i))));
        variables.extend((0..n).map(|i| Variable::new(clear(i), 0, 1, i64::from(i == 0))));
        if self.failing.is_possible() {
            variables.extend((0..n).map(|i| Variable::cost(cost(i), bound, self.cost_aware)));
        }
        if self.cost_aware {
            variables.push(Variable::hidden(STEP_COST, 0, bound, 0));
        }
        variables
    }

    fn edges(&self, n: i64, bound: i64) -> Vec<Edge> {
        let mut edges = Vec::new();
        let step_cost = self.cost_aware.then_some(STEP_COST);
        let mut action = |to: Option<i64>, i: i64, guard, moves| {
            let label = to.map_or(CHOOSE_TABLE.to_owned(), |j| format!("choose_{}", block(j)));
            edges.extend(self.failing.edges(&label, guard, moves, &cost(i), bound, step_cost));
        };
        let set = |name: String, value: i64| (name, Value::from(value));
        let count = |change| (TABLE.to_owned(), plus(TABLE, change));
        for i in 0..n {
            let free = vec![at_least(HAND, 1), at_least(&clear(i), 1)];
            let taken = vec![set(HAND.to_owned(), 0), set(block(i), 0), set(clear(i), 0)];
            let held = vec![at_most(HAND, 0), equal(&block(i), 0)];
            let put = vec![set(HAND.to_owned(), 1), set(clear(i), 1)];

            let guard = [free.clone(), vec![equal(&block(i), 1)]].concat();
            action(Some(i), i, guard, [taken.clone(), vec![count(-1)]].concat());
            let moves = [put.clone(), vec![set(block(i), 1), count(1)]].concat();
            action(None, i, held.clone(), moves);
            for j in (0..n).filter(|&j| j != i) {
                let guard = [free.clone(), vec![equal(&block(i), on(i, j))]].concat();
                let moves = [taken.clone(), vec![set(clear(j), 1)]].concat();
                action(Some(i), i, guard, moves);
                let guard = [held.clone(), vec![at_least(&clear(j), 1)]].concat();
                let moves = [put.clone(), vec![set(block(i), on(i, j)), set(clear(j), 0)]].concat();
                action(Some(j), i, guard, moves);
            }
        }
        edges
    }

    /// Towers in which every block lies on the table or on a block of larger index, at most
    /// `limit` of them, nothing in the hand, no costs.
    fn start(&self, n: i64, limit: i64) -> Value {
        let mut conditions = vec![equal(HAND, 1), at_least(TABLE, 1), at_most(TABLE, limit)];
        for i in 0..n {
            let above = any(vec![equal(&block(i), 1), at_least(&block(i), on(i, i + 1))]);
            conditions.push(if i == n - 1 { equal(&block(i), 1) } else { above });
        }
        for j in 0..n {
            let lies = |i: i64| equal(&block(i), on(i, j));
            let lies_not = |i: i64| differs(&block(i), on(i, j));
            let covered = any((0..j).map(lies).collect());
            let bare = all((0..j).map(lies_not).collect());
            conditions.push(any(vec![
                all(vec![equal(&clear(j), 1), bare]),
                all(vec![equal(&clear(j), 0), covered]),
            ]));
            for i in 0..j {
                conditions.extend((i + 1..j).map(|k| any(vec![lies_not(i), lies_not(k)])));
            }
        }
        // Every tower has one clear block.
        let towers = sum((0..n).map(|j| name(&clear(j))).collect());
        conditions.push(compare(name(TABLE), "=", towers));
        if self.failing.is_possible() {
            conditions.extend((0..n).map(|i| equal(&cost(i), 0)));
        }
        if self.cost_aware {
            conditions.push(equal(STEP_COST, 0));
        }
        all(conditions)
    }
}

/// Number of partitions of `n` blocks into at most `limit` towers (a tower's order is fixed).
fn partitions(n: i64, limit: i64) -> u128 {
    // By number of towers: partitions of the blocks so far (Stirling numbers).
    let mut counts = vec![0_u128; usize::try_from(n).unwrap_or(0) + 1];
    counts[0] = 1;
    for _ in 0..n {
        for k in (1..counts.len()).rev() {
            let stays = u128::try_from(k).unwrap_or(0) * counts[k];
            counts[k] = stays + counts[k - 1];
        }
        counts[0] = 0;
    }
    counts.iter().take(usize::try_from(limit).unwrap_or(0) + 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_states_are_those_of_the_paper() {
        for (blocks, starts) in [(4, 14), (6, 202), (8, 4139)] {
            let instance = Blocksworld::new(blocks).instance().expect("in range");
            assert_eq!(instance.sizes().start_states, Some(starts));
        }
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert!(Blocksworld::new(1).instance().is_err());
        assert!(Blocksworld { table_limit: Some(4), ..Blocksworld::new(4) }.instance().is_err());
        assert!(Blocksworld { cost_bound: 0, ..Blocksworld::new(4) }.instance().is_err());
    }
}
