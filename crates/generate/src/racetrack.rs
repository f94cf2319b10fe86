//! Racetrack: a car with velocity from the start line to the finish, without hitting a wall.
//!
//! A step has two parts: the policy accelerates and the car moves by its new velocity; then the
//! environment looks where it is, or also how it came there. A wall, or what lies outside of the
//! map, is a crash.

use serde_json::{Value, json};

use crate::DecimalProbability;
use crate::GenerateError;
use crate::error::in_range;
use crate::instance::{Destination, DomainInstance, Edge, StartSet};
use crate::jani::{all, any, at_least, at_most, compare, equal, minus, name, not, plus, sum};
use crate::race::{self, MoveOutcome, WallCheck};
use crate::random::Random;
use crate::track::{Cell, Track};
use crate::variable::Variable;

/// Most start states.
pub const MAX_STARTS: i64 = 100_000;

const X: &str = "car0_x";
const Y: &str = "car0_y";
const DX: &str = "car0_dx";
const DY: &str = "car0_dy";
const CRASHED: &str = "car0_crashed";
const FINISHED: &str = "car0_finished";
/// The variable that is 1 while the environment has to look where the car is.
const MOVED: &str = "car0_moved";
const NOISE: &str = "noise";

/// Options of Racetrack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Racetrack {
    /// The map.
    pub track: Track,
    /// Probability that an acceleration has no effect; absent: always effective.
    pub noise: Option<DecimalProbability>,
    /// The points at which walls are looked for.
    pub wall_check: WallCheck,
    /// Greatest velocity in either direction, 1 to 100; to 20 if walls on the way are looked for.
    pub max_velocity: i64,
    /// Number of start states that are drawn, 0 to [`MAX_STARTS`], or all if there are fewer: those
    /// that are reachable from the start line and from which the finish is; 0: standing on the start
    /// line.
    pub random_starts: i64,
    /// Greatest velocity in either direction of start states that are drawn.
    pub start_velocity: i64,
    /// Seed of what is drawn.
    pub seed: u64,
}

impl Racetrack {
    /// A race on a map, all else by default.
    #[must_use]
    pub fn new(track: Track) -> Self {
        let (max_velocity, random_starts, start_velocity, seed) = (10, 0, 5, 1);
        let (noise, wall_check) = (None, WallCheck::End);
        Self { track, noise, wall_check, max_velocity, random_starts, start_velocity, seed }
    }

    /// The instance.
    ///
    /// # Errors
    /// An option out of its range.
    pub fn instance(&self) -> Result<DomainInstance, GenerateError> {
        let checks_path = self.wall_check == WallCheck::Path;
        let bound = if checks_path { 20 } else { 100 };
        let fastest = in_range("the greatest velocity", self.max_velocity, 1, bound)?;
        in_range("the number of start states", self.random_starts, 0, MAX_STARTS)?;
        in_range("the velocity at the start", self.start_velocity, 0, 100)?;
        let (rows, columns) = (self.track.rows(), self.track.columns());
        let states = self.starts()?;
        let first = states.first().cloned().unwrap_or_else(|| vec![0; 4]);
        let variables = vec![
            Variable::new(Y, -fastest, rows - 1 + fastest, first[1]),
            Variable::new(X, -fastest, columns - 1 + fastest, first[0]),
            Variable::new(DY, -fastest, fastest, first[3]),
            Variable::new(DX, -fastest, fastest, first[2]),
            Variable::hidden(CRASHED, 0, 1, 0),
            Variable::hidden(FINISHED, 0, 1, 0),
            Variable::hidden(MOVED, 0, 1, 0),
        ];
        let noise = self.noise.as_ref().filter(|noise| !noise.is_zero());
        let accelerations = || (-1..=1).flat_map(|x| (-1..=1).map(move |y| (x, y)));
        let label = |(x, y): (i64, i64)| format!("accel0_{x}_{y}");
        let moves = accelerations().map(|by| self.accelerate(&label(by), by, noise.is_some()));
        let mut edges: Vec<Edge> = moves.collect();
        edges.extend(if checks_path { self.look_back() } else { self.look() });
        Ok(DomainInstance {
            name: format!("racetrack_{}", self.track.name()),
            comment: format!("Racetrack {}: {rows} rows, {columns} columns", self.track.name()),
            constants: noise
                .map(|noise| (NOISE.to_owned(), "real", noise.value()))
                .into_iter()
                .collect(),
            variables,
            labels: accelerations().map(label).collect(),
            edges,
            start_count: u128::try_from(states.len()).ok(),
            start: StartSet::States {
                variables: [X, Y, DX, DY].map(str::to_owned).to_vec(),
                states,
            },
            unsafe_condition: at_least(CRASHED, 1),
            unsafe_text: "the car has crashed into a wall".to_owned(),
            goal: at_least(FINISHED, 1),
            goal_potential: Some(race::nearness(&self.track, X, Y)),
            step_reward: None,
            planning: None,
        })
    }

    /// Values of x, y, dx, dy.
    fn starts(&self) -> Result<Vec<Vec<i64>>, GenerateError> {
        if self.random_starts == 0 {
            return Ok(self.track.cells(Cell::Start).map(|(x, y)| vec![x, y, 0, 0]).collect());
        }
        let cars = race::winning(&self.track, self.wall_check, self.max_velocity);
        let Some(mut cars) = cars else {
            let what = format!("more than {} states to draw start states from", race::MAX_SEARCH);
            return Err(GenerateError::Conflict(what));
        };
        cars.retain(|[_, _, dx, dy]| dx.abs().max(dy.abs()) <= self.start_velocity);
        if cars.is_empty() {
            let what = "no start states: the finish is out of reach".to_owned();
            return Err(GenerateError::Conflict(what));
        }
        let mut random = Random::new(self.seed);
        let wanted = usize::try_from(self.random_starts).unwrap_or(0).min(cars.len());
        for k in 0..wanted {
            let drawn = k + random.index(cars.len() - k);
            cars.swap(k, drawn);
        }
        Ok(cars[..wanted].iter().map(|car| car.to_vec()).collect())
    }

    /// The car accelerates and moves.
    fn accelerate(&self, label: &str, (x, y): (i64, i64), noisy: bool) -> Edge {
        let mut guard = vec![equal(MOVED, 0), equal(CRASHED, 0), equal(FINISHED, 0)];
        for (velocity, by) in [(DX, x), (DY, y)] {
            match by {
                1 => guard.push(at_most(velocity, self.max_velocity - 1)),
                -1 => guard.push(at_least(velocity, 1 - self.max_velocity)),
                _ => {}
            }
        }
        let axis = |at: &str, velocity: &str, by: i64| {
            let moved = sum(vec![name(at), plus(velocity, by)]);
            [(at.to_owned(), moved), (velocity.to_owned(), plus(velocity, by))]
        };
        let outcome = |x, y| {
            let moved = [(MOVED.to_owned(), Value::from(1))];
            axis(X, DX, x).into_iter().chain(axis(Y, DY, y)).chain(moved).collect::<Vec<_>>()
        };
        let destinations = if noisy && (x, y) != (0, 0) {
            let (slips, holds) = (name(NOISE), minus(1.into(), name(NOISE)));
            vec![
                Destination { probability: Some(holds), assignments: outcome(x, y) },
                Destination { probability: Some(slips), assignments: outcome(0, 0) },
            ]
        } else {
            vec![Destination::sure(outcome(x, y))]
        };
        Edge { label: Some(label.to_owned()), guard: all(guard), destinations }
    }

    /// The environment looks where the car is: one edge for each way it can be.
    fn look(&self) -> Vec<Edge> {
        let wall = self.track.runs(|cell| cell == Cell::Wall);
        let goal = self.track.runs(|cell| cell == Cell::Goal);
        let road = self.track.runs(|cell| matches!(cell, Cell::Road | Cell::Start));
        vec![
            looked(vec![any(vec![self.outside(), among(&wall)])], Some(CRASHED)),
            looked(vec![among(&goal)], Some(FINISHED)),
            looked(vec![among(&road)], None),
        ]
    }

    /// The environment looks how the car came where it is: edges for each velocity.
    fn look_back(&self) -> Vec<Edge> {
        let fastest = self.max_velocity;
        let mut edges = Vec::new();
        for (dx, dy) in (-fastest..=fastest).flat_map(|x| (-fastest..=fastest).map(move |y| (x, y)))
        {
            let moved = || vec![equal(DX, dx), equal(DY, dy)];
            let runs = |of: MoveOutcome| {
                self.track.runs_where(|x, y| {
                    race::outcome(&self.track, self.wall_check, [x, y, dx, dy]) == of
                })
            };
            let (crashed, finished) = (runs(MoveOutcome::Crashed), runs(MoveOutcome::Finished));
            let on_map = [(CRASHED, &crashed), (FINISHED, &finished)];
            // Beyond the map the finish may have been passed before.
            let passed = self.passed(dx, dy);
            for (flag, runs) in on_map {
                let mut ways = Vec::new();
                if !runs.is_empty() {
                    ways.push(among(runs));
                }
                if flag == CRASHED {
                    ways.push(all(vec![self.outside(), not(among(&passed))]));
                } else if !passed.is_empty() {
                    ways.push(among(&passed));
                }
                if !ways.is_empty() {
                    edges.push(looked([moved(), vec![any(ways)]].concat(), Some(flag)));
                }
            }
            let drives = runs(MoveOutcome::Drives);
            if !drives.is_empty() {
                edges.push(looked([moved(), vec![among(&drives)]].concat(), None));
            }
        }
        edges
    }

    /// The places outside of the map that a car with this velocity reaches over the finish.
    fn passed(&self, dx: i64, dy: i64) -> Vec<(i64, i64, i64)> {
        let mut places = std::collections::BTreeSet::new();
        let from = [Cell::Start, Cell::Road, Cell::Goal, Cell::Wall];
        for (x, y) in from.into_iter().flat_map(|cell| self.track.cells(cell)) {
            let car = [x + dx, y + dy, dx, dy];
            let is_outside = self.track.at(car[0], car[1]).is_none();
            let finished =
                || race::outcome(&self.track, self.wall_check, car) == MoveOutcome::Finished;
            if is_outside && finished() {
                places.insert((car[1], car[0]));
            }
        }
        places.into_iter().map(|(y, x)| (y, x, x)).collect()
    }

    fn outside(&self) -> Value {
        any(vec![
            compare(name(X), "<", 0.into()),
            compare(name(Y), "<", 0.into()),
            at_least(X, self.track.columns()),
            at_least(Y, self.track.rows()),
        ])
    }
}

/// The environment's own step where the conditions hold after a move.
fn looked(conditions: Vec<Value>, then: Option<&str>) -> Edge {
    let mut assignments = vec![(MOVED.to_owned(), json!(0))];
    assignments.extend(then.map(|flag| (flag.to_owned(), json!(1))));
    let guard = all([vec![equal(MOVED, 1)], conditions].concat());
    Edge { label: None, guard, destinations: vec![Destination::sure(assignments)] }
}

/// The car is in one of the runs of a row: y, first and last x.
fn among(runs: &[(i64, i64, i64)]) -> Value {
    let run = |&(y, from, to): &(i64, i64, i64)| {
        all(vec![equal(Y, y), at_least(X, from), at_most(X, to)])
    };
    any(runs.iter().map(run).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_drawn_from_the_road() {
        let track = Track::built_in("barto-small").expect("built in");
        let race = Racetrack { random_starts: 50, ..Racetrack::new(track.clone()) };
        let states = race.starts().expect("few states");
        assert_eq!(states.len(), 50);
        let on = |state: &Vec<i64>| {
            let here = (state[0], state[1]);
            track.cells(Cell::Road).chain(track.cells(Cell::Start)).any(|cell| cell == here)
        };
        assert!(states.iter().all(on));
        assert_ne!(states, Racetrack { seed: 2, ..race }.starts().expect("few states"));
    }
}
