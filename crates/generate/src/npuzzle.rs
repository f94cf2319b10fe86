//! Sliding tiles: moves may fail and cost more each time; a tile must not lie on a position.
//!
//! Positions are counted row by row from 0. A label names where the empty place goes.

use serde_json::Value;

use crate::GenerateError;
use crate::error::in_range;
use crate::failing::Failing;
use crate::instance::{DomainInstance, Edge, StartSet};
use crate::jani::{all, any, at_most, compare, equal, name, not, plus, sum, times, worth};
use crate::planning::Planning;
use crate::random::Random;
use crate::variable::Variable;

/// Most positions of a puzzle.
pub const MAX_POSITIONS: i64 = 16;

const EMPTY: &str = "empty";
const STEP_COST: &str = "step_cost";

/// Options of sliding tiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NPuzzle {
    /// Number of rows, 2 and more.
    pub rows: i64,
    /// Number of columns, 2 and more; at most [`MAX_POSITIONS`] positions in all.
    pub columns: i64,
    /// Tile and position that must not come together; drawn by the seed if it is empty.
    pub unsafe_pairs: Vec<(i64, i64)>,
    /// The way in which moves fail.
    pub failing: Failing,
    /// The greatest number of times that moves of one tile may fail, 1 to 1000.
    pub cost_bound: i64,
    /// True if the policy reads the costs, and steps are rewarded by them.
    pub cost_aware: bool,
    /// Number of random problems in PDDL of the same size.
    pub problems: usize,
    /// Most random moves after which these problems begin, from their goal on; any order if it is not given.
    pub moves: Option<u32>,
    /// Seed of what is drawn.
    pub seed: u64,
}

fn tile(k: i64) -> String {
    format!("tile_{k}")
}

fn cost(k: i64) -> String {
    format!("cost_tile_{k}")
}

/// Minus the moves that are wanted at least, up to a constant: the rows and columns by which the tiles
/// are away from where the goal wants them.
fn nearness(tiles: i64, columns: i64) -> Value {
    let away = |at: i64, goal: i64| {
        (at / columns - goal / columns).abs() + (at % columns - goal % columns).abs()
    };
    let most = tiles / columns + columns - 1;
    let tile_near = |k: i64| {
        let near = move |at| worth(most - away(at, tiles - k), equal(&tile(k), at));
        (0..=tiles).filter(move |&at| away(at, tiles - k) < most).map(near)
    };
    sum((1..=tiles - 2).flat_map(tile_near).collect())
}

impl NPuzzle {
    /// A puzzle of that size, all else by default.
    #[must_use]
    pub fn new(rows: i64, columns: i64) -> Self {
        let (failing, unsafe_pairs) = (Failing::default(), Vec::new());
        let (cost_bound, cost_aware, problems, moves, seed) = (8, false, 0, None, 1);
        Self { rows, columns, unsafe_pairs, failing, cost_bound, cost_aware, problems, moves, seed }
    }

    /// The instance.
    ///
    /// # Errors
    /// A size out of its range, or a tile or position that is not there.
    pub fn instance(&self) -> Result<DomainInstance, GenerateError> {
        let rows = in_range("the number of rows", self.rows, 2, MAX_POSITIONS / 2)?;
        let columns = in_range("the number of columns", self.columns, 2, MAX_POSITIONS / rows)?;
        let bound = in_range("the bound of costs", self.cost_bound, 1, 1000)?;
        let tiles = rows * columns - 1;
        let has_costs = self.failing.is_possible();
        if self.cost_aware && !has_costs {
            let what = "moves that never fail have no costs that a policy could read";
            return Err(GenerateError::Conflict(what.to_owned()));
        }
        let pairs = self.unsafe_pairs(tiles)?;
        let mut variables = vec![Variable::new(EMPTY, 0, tiles, 0)];
        variables.extend((1..=tiles).map(|k| Variable::new(tile(k), 0, tiles, k)));
        if has_costs {
            variables.extend((1..=tiles).map(|k| Variable::cost(cost(k), bound, self.cost_aware)));
        }
        if self.cost_aware {
            variables.push(Variable::hidden(STEP_COST, 0, bound, 0));
        }
        // The order opposite to that of the start, the empty place at the end. The last two tiles are
        // free, as an exchange of two tiles is out of reach for half of all positions.
        let goal = std::iter::once(equal(EMPTY, tiles))
            .chain((1..=tiles - 2).map(|k| equal(&tile(k), tiles - k)));
        let unsafe_condition = any(pairs.iter().map(|&(k, at)| equal(&tile(k), at)).collect());
        let words = pairs.iter().map(|(k, at)| format!("tile {k} on position {at}"));
        let scale = "-0.01".parse::<serde_json::Number>().map_or(Value::Null, Value::from);
        Ok(DomainInstance {
            name: format!("npuzzle_{rows}_{columns}"),
            comment: format!("Sliding tiles: {tiles} tiles, {rows} rows, {columns} columns"),
            constants: self.failing.constants(),
            variables,
            labels: ["left", "right", "up", "down"].map(|to| format!("move_{to}")).to_vec(),
            edges: self.edges(columns, tiles, bound),
            start: StartSet::Condition(self.start(
                tiles,
                &unsafe_condition,
                &goal.clone().collect::<Vec<_>>(),
            )),
            start_count: (tiles <= 8).then(|| count(tiles, &pairs)),
            unsafe_condition,
            unsafe_text: words.collect::<Vec<_>>().join(", or "),
            goal: all(goal.clone().collect()),
            goal_potential: Some(nearness(tiles, columns)),
            step_reward: self.cost_aware.then(|| times(scale, name(STEP_COST))),
            planning: Some(Planning::tiles(rows, columns, self.problems, self.moves, self.seed)),
        })
    }

    fn unsafe_pairs(&self, tiles: i64) -> Result<Vec<(i64, i64)>, GenerateError> {
        if self.unsafe_pairs.is_empty() {
            let mut random = Random::new(self.seed);
            let k = random.within(1, tiles - 2);
            // Not where the goal wants it.
            let at = random.within(0, tiles - 1);
            return Ok(vec![(k, if at < tiles - k { at } else { at + 1 })]);
        }
        for &(k, at) in &self.unsafe_pairs {
            in_range("an unsafe tile", k, 1, tiles)?;
            in_range("an unsafe position", at, 0, tiles)?;
            if at == tiles - k && k <= tiles - 2 {
                let what = format!("the goal has tile {k} on position {at}: it cannot be unsafe");
                return Err(GenerateError::Conflict(what));
            }
        }
        Ok(self.unsafe_pairs.clone())
    }

    fn edges(&self, columns: i64, tiles: i64, bound: i64) -> Vec<Edge> {
        let step_cost = self.cost_aware.then_some(STEP_COST);
        let moves = [("left", -1), ("right", 1), ("up", -columns), ("down", columns)];
        let mut edges = Vec::new();
        for (to, offset) in moves {
            for k in 1..=tiles {
                let beside = compare(name(EMPTY), "=", plus(&tile(k), -offset));
                let mut guard = vec![beside];
                // The end of one row is not beside the begin of the next one.
                let ends = (0..=tiles).filter(|at| match to {
                    "left" => at % columns == 0 && *at > 0,
                    "right" => at % columns == columns - 1 && *at < tiles,
                    _ => false,
                });
                guard.extend(ends.map(|at| crate::jani::differs(EMPTY, at)));
                let moved = vec![
                    (tile(k), plus(&tile(k), -offset)),
                    (EMPTY.to_owned(), plus(EMPTY, offset)),
                ];
                let label = format!("move_{to}");
                edges.extend(self.failing.edges(&label, guard, moved, &cost(k), bound, step_cost));
            }
        }
        edges
    }

    /// Every tile on its own position, each group in order, neither unsafe nor the goal, no costs.
    fn start(&self, tiles: i64, unsafe_condition: &Value, goal: &[Value]) -> Value {
        let places: Vec<String> =
            std::iter::once(EMPTY.to_owned()).chain((1..=tiles).map(tile)).collect();
        let mut conditions = Vec::new();
        for (k, place) in places.iter().enumerate() {
            conditions.extend(places[..k].iter().map(|p| compare(name(p), "≠", name(place))));
        }
        let ordered =
            (1..=tiles - GROUPS).map(|k| compare(name(&tile(k)), "≤", name(&tile(k + GROUPS))));
        conditions.extend(ordered);
        conditions.extend([not(unsafe_condition.clone()), not(all(goal.to_vec()))]);
        if self.failing.is_possible() {
            conditions.extend((1..=tiles).map(|k| at_most(&cost(k), 0)));
        }
        if self.cost_aware {
            conditions.push(at_most(STEP_COST, 0));
        }
        all(conditions)
    }
}

/// Tiles whose numbers differ by a multiple of this are in a group.
const GROUPS: i64 = 3;
const GROUP_SPAN: usize = 3;

/// Number of start states: permutations, group by group in order, neither unsafe nor the goal.
fn count(tiles: i64, pairs: &[(i64, i64)]) -> u128 {
    fn place(k: i64, tiles: i64, at: &mut Vec<i64>, pairs: &[(i64, i64)]) -> u128 {
        if k > tiles {
            let mut ordered = (1..=tiles - 2).zip(at.iter());
            let is_goal = !at.contains(&tiles) && ordered.all(|(k, &place)| place == tiles - k);
            return u128::from(!is_goal);
        }
        let before = (k > GROUPS).then(|| at[at.len() - GROUP_SPAN]);
        let mut total = 0;
        for position in 0..=tiles {
            let follows = before.is_none_or(|before| before < position);
            if follows && !at.contains(&position) && !pairs.contains(&(k, position)) {
                at.push(position);
                total += place(k + 1, tiles, at, pairs);
                at.pop();
            }
        }
        total
    }
    place(1, tiles, &mut Vec::new(), pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_8_puzzle_has_the_start_states_of_the_paper() {
        let puzzle = NPuzzle { unsafe_pairs: vec![(3, 7)], ..NPuzzle::new(3, 3) };
        let instance = puzzle.instance().expect("in range");
        assert_eq!(instance.sizes().start_states, Some(4900));
    }

    #[test]
    fn the_seed_never_makes_the_goal_unsafe() {
        for seed in 0..50 {
            let puzzle = NPuzzle { seed, ..NPuzzle::new(3, 3) };
            let [(k, at)] = puzzle.unsafe_pairs(8).expect("one")[..] else { panic!("one pair") };
            assert!((1..=8).contains(&k) && (0..=8).contains(&at) && at != 8 - k);
        }
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert!(NPuzzle::new(1, 3).instance().is_err());
        assert!(NPuzzle::new(4, 5).instance().is_err());
        let goal = NPuzzle { unsafe_pairs: vec![(3, 5)], ..NPuzzle::new(3, 3) };
        assert!(goal.instance().is_err());
    }
}
