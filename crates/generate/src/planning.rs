//! The same task in PDDL: domain, problems, and the translation between them and the model.

use serde_json::{Map, Value, json};

use crate::instance::InstanceFile;
use crate::random::Random;

/// The file of the domain, relative to the instance's folder.
const DOMAIN: &str = "domain.pddl";
/// The file of the problem, relative to the instance's folder.
const PROBLEM: &str = "problem.pddl";

/// A domain and problems of it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Planning {
    pub domain: &'static str,
    /// The problem that the model is.
    pub problem: String,
    /// Other problems of the same size.
    pub others: Vec<String>,
    pub translation: Value,
}

/// What blocks with costs have beside those without.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BlockCosts {
    /// The cost from which a block is costly.
    pub costly: i64,
    /// Most blocks that the table may bear.
    pub limit: i64,
}

impl Planning {
    /// The files, relative to the instance's folder.
    pub fn files(&self) -> Vec<InstanceFile> {
        let file = |path: String, text: &str| InstanceFile { path, text: text.to_owned() };
        let mut files =
            vec![file(DOMAIN.to_owned(), self.domain), file(PROBLEM.to_owned(), &self.problem)];
        let others = self.others.iter().enumerate();
        files.extend(others.map(|(i, text)| file(format!("problems/{i}.pddl"), text)));
        files
    }

    /// The members of a translation that all have.
    fn translation(values: Map<String, Value>, propositions: Value, labels: Value) -> Value {
        json!({
            "asnet": null,
            "domain": DOMAIN,
            "problem": PROBLEM,
            "values": values,
            "propositions": propositions,
            "labels": labels,
        })
    }

    /// Blocks: each lies on one of smaller index in the goal, and on one of larger index at first.
    pub fn blocks(blocks: i64, costs: Option<&BlockCosts>, others: usize, seed: u64) -> Self {
        let n = usize::try_from(blocks).unwrap_or(0);
        let ascending: Vec<Option<usize>> = (0..n).map(|i| i.checked_sub(1)).collect();
        let descending: Vec<Option<usize>> =
            (0..n).map(|i| Some(i + 1).filter(|&below| below < n)).collect();
        let mut random = Random::new(seed);
        let drawn = |number| {
            let (start, goal) = (towers(n, &mut random), towers(n, &mut random));
            // Which of them are costly is drawn where costs matter alone.
            let costly: Option<Vec<usize>> =
                costs.map(|_| (0..n).filter(|_| random.index(4) == 0).collect());
            let costs = costs.zip(costly.as_deref());
            blocks_problem(&format!("blocks-{n}-{number}"), &start, &goal, costs)
        };
        let others = (0..others).map(drawn).collect();
        let mut values: Map<String, Value> =
            (0..n).map(|i| (format!("b{i}"), Value::from(i))).collect();
        let mut propositions = json!({
            "on(?x,?y)": "block_{x} = ite({y} < {x}, {y} + 2, {y} + 1)",
            "on-table(?x)": "block_{x} = 1",
            "holding(?x)": "block_{x} = 0",
            "clear(?x)": "clear_{x} = 1",
            "hand-empty": "`hand-empty` = 1",
        });
        let (domain, labels) = match costs {
            None => (
                include_str!("../../../examples/blocks/domain.pddl"),
                json!({
                    "choose_table": ["put-down(?x)"],
                    "choose_block_{x}": ["pick-up(?x)", "unstack(?x,?y)", "stack(?y,?x)"],
                }),
            ),
            Some(BlockCosts { costly, limit }) => {
                values.extend((0..=n).map(|k| (format!("c{k}"), Value::from(k))));
                propositions["costly(?x)"] = format!("cost_block_{{x}} >= {costly}").into();
                propositions["table(?k)"] = "`table-counter` = {k}".into();
                propositions["room"] = format!("`table-counter` < {limit}").into();
                (
                    include_str!("../../../examples/blocks/with_costs.pddl"),
                    json!({
                        "choose_table": ["put-down(?x,?k,?l)", "crowd(?x,?k,?l)"],
                        "choose_block_{x}": [
                            "pick-up(?x,?k,?l)", "pick-up-costly(?x,?k,?l)",
                            "unstack(?x,?y)", "unstack-costly(?x,?y)", "stack(?y,?x)",
                        ],
                    }),
                )
            }
        };
        let costs = costs.zip(Some(&[][..]));
        Self {
            domain,
            problem: blocks_problem(&format!("blocks-{n}"), &descending, &ascending, costs),
            others,
            translation: Self::translation(values, propositions, labels),
        }
    }

    /// Sliding tiles. The last two tiles are free in the goal. The other problems begin in any order, or
    /// after that many random moves from the goal at most.
    pub fn tiles(rows: i64, columns: i64, others: usize, moves: Option<u32>, seed: u64) -> Self {
        let tiles = rows * columns - 1;
        // The tile of each position, 0 for none.
        let first: Vec<i64> = (0..=tiles).collect();
        let mut random = Random::new(seed);
        let mut drawn = |number: usize| {
            let at = match moves {
                None => {
                    let mut at = first.clone();
                    random.shuffle(&mut at);
                    at
                }
                Some(most) => walk_from_goal(rows, columns, most, &mut random),
            };
            tiles_problem(&format!("tiles-{rows}-{columns}-{number}"), rows, columns, &at)
        };
        let others = (0..others).map(&mut drawn).collect();
        let tile = |k: i64| (format!("t{k}"), Value::from(k));
        let position = |p: i64| (format!("p{p}"), Value::from(p));
        Self {
            domain: include_str!("../../../examples/tiles/domain.pddl"),
            problem: tiles_problem(&format!("tiles-{rows}-{columns}"), rows, columns, &first),
            others,
            translation: Self::translation(
                (1..=tiles).map(tile).chain((0..=tiles).map(position)).collect(),
                json!({"at(?t,?p)": "tile_{t} = {p}", "empty(?p)": "empty = {p}"}),
                json!({"move_{d}": ["slide(?t,?from,?to,?d)"]}),
            ),
        }
    }
}

/// What each block lies on, drawn: in any order each one comes on the table, or on a tower.
fn towers(n: usize, random: &mut Random) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..n).collect();
    random.shuffle(&mut order);
    let mut beneath = vec![None; n];
    let mut tops: Vec<usize> = Vec::new();
    for block in order {
        let place = random.index(tops.len() + 1);
        match tops.get_mut(place) {
            Some(top) => beneath[block] = Some(std::mem::replace(top, block)),
            None => tops.push(block),
        }
    }
    beneath
}

/// With costs these blocks are costly.
fn blocks_problem(
    name: &str,
    start: &[Option<usize>],
    goal: &[Option<usize>],
    costs: Option<(&BlockCosts, &[usize])>,
) -> String {
    let lies = |beneath: &[Option<usize>]| {
        let lies = |(i, below): (usize, &Option<usize>)| match below {
            Some(below) => format!("(on b{i} b{below})"),
            None => format!("(on-table b{i})"),
        };
        beneath.iter().enumerate().map(lies).collect::<Vec<_>>()
    };
    let n = start.len();
    let names: Vec<String> = (0..n).map(|i| format!("b{i}")).collect();
    let mut facts = lies(start);
    let clear = (0..n).filter(|&i| !start.contains(&Some(i)));
    facts.extend(clear.map(|i| format!("(clear b{i})")));
    facts.push("(hand-empty)".to_owned());
    let (mut domain, mut counts, mut metric) = ("blocks", String::new(), "");
    if let Some((BlockCosts { limit, .. }, costly)) = costs {
        let names: Vec<String> = (0..=n).map(|k| format!("c{k}")).collect();
        counts = format!(" {} - count", names.join(" "));
        facts.extend(costly.iter().map(|i| format!("(costly b{i})")));
        let on_table = start.iter().filter(|below| below.is_none()).count();
        facts.push(format!("(table c{on_table})"));
        if i64::try_from(on_table).is_ok_and(|count| count < *limit) {
            facts.push("(room)".to_owned());
        }
        facts.push(format!("(last c{limit})"));
        facts.extend((0..n).map(|k| format!("(next c{k} c{})", k + 1)));
        facts.push("(= (total-cost) 0)".to_owned());
        (domain, metric) = ("blocks-with-costs", "\n  (:metric minimize (total-cost))");
    }
    format!(
        "(define (problem {name})\n  (:domain {domain})\n  (:objects {} - block{counts})\n  \
         (:init {})\n  (:goal (and {})){metric})\n",
        names.join(" "),
        facts.join(" "),
        lies(goal).join(" ")
    )
}

/// The places beside one, with the direction in which they lie.
fn beside(place: i64, rows: i64, columns: i64) -> impl Iterator<Item = (&'static str, i64)> {
    let directions = [("left", 0, -1), ("right", 0, 1), ("up", -1, 0), ("down", 1, 0)];
    directions.into_iter().filter_map(move |(to, dr, dc)| {
        let (r, c) = (place / columns + dr, place % columns + dc);
        let is_there = (0..rows).contains(&r) && (0..columns).contains(&c);
        is_there.then_some((to, r * columns + c))
    })
}

/// The tile of each position, 0 for none, after 1 to `most` random moves from the goal, none of which takes back
/// the one before.
fn walk_from_goal(rows: i64, columns: i64, most: u32, random: &mut Random) -> Vec<i64> {
    let tiles = rows * columns - 1;
    let mut at: Vec<i64> = (0..=tiles).map(|p| if p == tiles { 0 } else { tiles - p }).collect();
    // The last two tiles, which are free, lie on the first two positions.
    if random.index(2) == 1 {
        at.swap(0, 1);
    }
    let (mut empty, mut before) = (tiles, None);
    for _ in 0..random.within(1, i64::from(most)) {
        let mut next: Vec<i64> = beside(empty, rows, columns).map(|(_, place)| place).collect();
        next.retain(|&place| Some(place) != before);
        next.sort_unstable();
        let to = next[random.index(next.len())];
        let place = |place: i64| usize::try_from(place).unwrap_or(0);
        at.swap(place(empty), place(to));
        (empty, before) = (to, Some(empty));
    }
    at
}

/// `at` has the tile of each position, 0 for none.
fn tiles_problem(name: &str, rows: i64, columns: i64, at: &[i64]) -> String {
    let tiles = rows * columns - 1;
    let names = |letter: &str, from: i64| {
        (from..=tiles).map(|i| format!("{letter}{i}")).collect::<Vec<_>>().join(" ")
    };
    let facts: Vec<String> = at
        .iter()
        .enumerate()
        .map(
            |(p, tile)| {
                if *tile == 0 { format!("(empty p{p})") } else { format!("(at t{tile} p{p})") }
            },
        )
        .collect();
    let neighbours = (0..=tiles).flat_map(|p| {
        beside(p, rows, columns).map(move |(to, q)| format!("(beside p{p} p{q} {to})"))
    });
    let goal: Vec<String> = std::iter::once(format!("(empty p{tiles})"))
        .chain((1..=tiles - 2).map(|k| format!("(at t{k} p{})", tiles - k)))
        .collect();
    format!(
        "(define (problem {name})\n  (:domain tiles)\n  (:objects {} - tile {} - position)\n  (:init {}\n    \
         {})\n  (:goal (and {})))\n",
        names("t", 1),
        names("p", 0),
        facts.join(" "),
        neighbours.collect::<Vec<_>>().join(" "),
        goal.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_from_the_goal_are_as_long_as_asked() {
        let mut random = Random::new(1);
        for _ in 0..50 {
            // One move puts a tile beside the last place there.
            let at = walk_from_goal(3, 3, 1, &mut random);
            assert!(at[8] != 0 && (at[5] == 0 || at[7] == 0), "{at:?}");
            let away = (2..8).filter(|&p| at[p] != 8 - i64::try_from(p).expect("small")).count();
            assert_eq!(away, 1, "{at:?}");
            // Every tile is somewhere.
            let mut at = walk_from_goal(2, 2, 20, &mut random);
            at.sort_unstable();
            assert_eq!(at, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn longer_walks_lead_farther() {
        let starts = |moves| Planning::tiles(3, 3, 200, Some(moves), 5).others;
        let distinct = |moves| {
            starts(moves)
                .iter()
                .map(|p| p.lines().nth(3).map(str::to_owned))
                .collect::<std::collections::BTreeSet<_>>()
                .len()
        };
        assert!(distinct(2) < distinct(6) && distinct(6) < distinct(12));
    }
}
