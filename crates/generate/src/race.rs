//! Moves of a car on a map: what lies on its way, which states it can win from, how far the finish is.

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Value, json};

use crate::jani::at_most;
use crate::track::{Cell, Track};

/// Says which places of a move a wall is looked for at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum WallCheck {
    /// The last one.
    #[default]
    End,
    /// All that the straight line comes to when it is rounded, one for each step along the longer
    /// axis; the finish ends the move.
    Path,
}

/// Says what becomes of a car that has moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MoveOutcome {
    Crashed,
    Finished,
    Drives,
}

/// Position and velocity: x, y, dx, dy.
pub(crate) type Car = [i64; 4];

/// Most states that are searched for start states.
pub(crate) const MAX_SEARCH: usize = 2_000_000;

/// `part / whole` of `length`, rounded; halves away from 0.
fn share(part: i64, whole: i64, length: i64) -> i64 {
    length.signum() * ((2 * part * length.abs() + whole) / (2 * whole))
}

/// Returns what becomes of a car that comes to `x`, `y` by a move of `dx`, `dy`.
pub(crate) fn outcome(track: &Track, check: WallCheck, [x, y, dx, dy]: Car) -> MoveOutcome {
    let at = |x, y| match track.at(x, y) {
        None | Some(Cell::Wall) => MoveOutcome::Crashed,
        Some(Cell::Goal) => MoveOutcome::Finished,
        Some(Cell::Road | Cell::Start) => MoveOutcome::Drives,
    };
    let length = dx.abs().max(dy.abs());
    if check == WallCheck::End || length == 0 {
        return at(x, y);
    }
    let place = |k| at(x - dx + share(k, length, dx), y - dy + share(k, length, dy));
    (1..=length)
        .map(place)
        .find(|&found| found != MoveOutcome::Drives)
        .unwrap_or(MoveOutcome::Drives)
}

/// The states in which a car can be that set out from the start line, and from which it can still
/// reach the finish, in order; absent if there are too many states to search.
pub(crate) fn winning(track: &Track, check: WallCheck, fastest: i64) -> Option<Vec<Car>> {
    let mut found: BTreeSet<Car> = track.cells(Cell::Start).map(|(x, y)| [x, y, 0, 0]).collect();
    let mut open: Vec<Car> = found.iter().copied().collect();
    let (mut won, mut back) = (BTreeSet::new(), Vec::new());
    while let Some(car) = open.pop() {
        for next in moves(car, fastest) {
            match outcome(track, check, next) {
                MoveOutcome::Crashed => {}
                MoveOutcome::Finished => {
                    if won.insert(car) {
                        back.push(car);
                    }
                }
                MoveOutcome::Drives => {
                    if found.insert(next) {
                        open.push(next);
                    }
                }
            }
        }
        if found.len() > MAX_SEARCH {
            return None;
        }
    }
    while let Some([x, y, dx, dy]) = back.pop() {
        // The states before: where the car was, with any velocity that one acceleration changes.
        for before in moves([x - dx, y - dy, dx, dy], fastest) {
            let before = [x - dx, y - dy, before[2], before[3]];
            let drives = outcome(track, check, [x, y, dx, dy]) == MoveOutcome::Drives;
            if drives && found.contains(&before) && won.insert(before) {
                back.push(before);
            }
        }
    }
    Some(won.into_iter().collect())
}

/// The states after one acceleration and a move.
fn moves([x, y, dx, dy]: Car, fastest: i64) -> impl Iterator<Item = Car> {
    let by = (-1..=1).flat_map(|ax| (-1..=1).map(move |ay| (ax, ay)));
    by.map(move |(ax, ay)| [x + dx + ax, y + dy + ay, dx + ax, dy + ay])
        .filter(move |car| car[2].abs() <= fastest && car[3].abs() <= fastest)
}

/// Returns how near the finish is, over x and y: 0 on walls and where no way leads, the greater the
/// nearer. Every place costs a few comparisons only.
pub(crate) fn nearness(track: &Track, x: &str, y: &str) -> Value {
    let width = track.columns();
    let goals: Vec<(i64, i64)> = track.cells(Cell::Goal).collect();
    let mut distances = std::collections::BTreeMap::new();
    let mut open: VecDeque<((i64, i64), i64)> = goals.into_iter().map(|cell| (cell, 0)).collect();
    distances.extend(open.iter().copied());
    while let Some(((x, y), far)) = open.pop_front() {
        for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
            let next = (x + dx, y + dy);
            let is_road = matches!(track.at(next.0, next.1), Some(Cell::Road | Cell::Start));
            if is_road && !distances.contains_key(&next) {
                distances.insert(next, far + 1);
                open.push_back((next, far + 1));
            }
        }
    }
    let most = distances.values().max().map_or(0, |far| far + 1);
    let near = |x, y| distances.get(&(x, y)).map_or(0, |far| most - far);
    let row = |row| {
        let values: Vec<i64> = (0..width).map(|x| near(x, row)).collect();
        let mut pieces: Vec<(i64, Value)> = Vec::new();
        for (at, &value) in (0..).zip(&values) {
            match pieces.last_mut() {
                Some((to, last)) if *last == json!(value) => *to = at,
                _ => pieces.push((at, value.into())),
            }
        }
        decide(x, &pieces)
    };
    let rows: Vec<(i64, Value)> = (0..track.rows()).map(|at| (at, row(at))).collect();
    decide(y, &rows)
}

/// The value of the piece that a variable lies in; pieces are given with their last places.
fn decide(variable: &str, pieces: &[(i64, Value)]) -> Value {
    let (left, right) = pieces.split_at(pieces.len() / 2);
    match (left.last(), right) {
        (Some((to, _)), _) => json!({
            "op": "ite", "if": at_most(variable, *to),
            "then": decide(variable, left), "else": decide(variable, right),
        }),
        (None, [(_, value)]) => value.clone(),
        (None, _) => 0.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track() -> Track {
        Track::read("t", "S..#F\n.....\n").expect("a map")
    }

    #[test]
    fn walls_on_the_way_count_if_asked() {
        let over = [4, 0, 4, 0];
        assert_eq!(outcome(&track(), WallCheck::End, over), MoveOutcome::Finished);
        assert_eq!(outcome(&track(), WallCheck::Path, over), MoveOutcome::Crashed);
        assert_eq!(outcome(&track(), WallCheck::Path, [4, 0, 1, -1]), MoveOutcome::Finished);
        assert_eq!(outcome(&track(), WallCheck::End, [5, 1, 1, 0]), MoveOutcome::Crashed);
    }

    #[test]
    fn lines_are_rounded_away_from_0() {
        assert_eq!([1, 2, 3, 4].map(|k| share(k, 4, 2)), [1, 1, 2, 2]);
        assert_eq!([1, 2, 3, 4].map(|k| share(k, 4, -2)), [-1, -1, -2, -2]);
    }

    #[test]
    fn winning_states_are_those_of_a_search_forwards() {
        for check in [WallCheck::End, WallCheck::Path] {
            let won = winning(&track(), check, 3).expect("few");
            let wins = |&car: &Car| {
                let mut seen = BTreeSet::from([car]);
                let mut open = vec![car];
                while let Some(car) = open.pop() {
                    for next in moves(car, 3) {
                        match outcome(&track(), check, next) {
                            MoveOutcome::Finished => return true,
                            MoveOutcome::Drives if seen.insert(next) => open.push(next),
                            _ => {}
                        }
                    }
                }
                false
            };
            assert!(won.contains(&[0, 0, 0, 0]) && won.iter().all(wins));
            assert!(!won.contains(&[4, 1, 3, 0]));
        }
    }

    #[test]
    fn nearness_falls_with_the_distance() {
        let read = |text: &str| Track::read("t", text).expect("a map");
        let near = nearness(&read("S.F"), "x", "y");
        let two = json!({"op": "ite", "if": at_most("x", 1), "then": 2, "else": 3});
        assert_eq!(near, json!({"op": "ite", "if": at_most("x", 0), "then": 1, "else": two}));
    }
}
