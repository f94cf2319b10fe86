//! Beluga: cargo from arriving planes goes into racks until the production line requests it.
//!
//! `cargo_i` is its rank of arrival while it is in its plane, counted from 0 for the last; then the
//! place: a rack, the trailer from the planes to the racks, the truck from the racks to the factory,
//! and at last the factory. A rack is a row with two ends: cargo goes in and out at the front or the
//! back. What is on the truck may go back to the trailer, so that one rack is enough for every order.

use serde_json::{Value, json};

use crate::GenerateError;
use crate::error::in_range;
use crate::instance::{Destination, DomainInstance, Edge, StartSet};
use crate::jani::{all, at_least, at_most, compare, equal, name, sum, worth};
use crate::variable::Variable;

/// Most pieces of cargo.
pub const MAX_CARGO: i64 = 12;
/// Most racks.
pub const MAX_RACKS: i64 = 6;

const ARRIVING: &str = "arriving";
const TRAILER: &str = "empty_trailer";
const TRUCK: &str = "empty_truck";
const REQUEST: &str = "request";
/// No piece of cargo.
const NONE: i64 = -1;

/// Options of Beluga.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Beluga {
    /// Number of planes with a piece of cargo each, 2 to [`MAX_CARGO`].
    pub cargo: i64,
    /// Number of racks, 2 to [`MAX_RACKS`].
    pub racks: i64,
    /// Number of production lines, 1 or 2: each requests its cargo in order of the numbers, and who
    /// requests next is drawn.
    pub lines: i64,
}

/// The ends of a rack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Front,
    Back,
}

impl End {
    fn word(self) -> &'static str {
        match self {
            Self::Front => "front",
            Self::Back => "back",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Front => Self::Back,
            Self::Back => Self::Front,
        }
    }

    /// The cargo at this end of a rack.
    fn of_rack(self, rack: i64) -> String {
        format!("{}_rack_{rack}", self.word())
    }

    /// The cargo next to a piece of cargo, towards this end.
    fn of_cargo(self, i: i64) -> String {
        format!("{}_cargo_{i}", self.word())
    }
}

fn cargo(i: i64) -> String {
    format!("cargo_{i}")
}

fn line(k: i64) -> String {
    format!("line_{k}")
}

fn set(name: &str, value: i64) -> (String, Value) {
    (name.to_owned(), value.into())
}

fn sure(label: &str, guard: Vec<Value>, assignments: Vec<(String, Value)>) -> Edge {
    let destinations = vec![Destination::sure(assignments)];
    Edge { label: Some(label.to_owned()), guard: all(guard), destinations }
}

impl Beluga {
    /// That much cargo and that many racks, all else by default.
    #[must_use]
    pub fn new(cargo: i64, racks: i64) -> Self {
        Self { cargo, racks, lines: 2 }
    }

    /// The instance.
    ///
    /// # Errors
    /// A size out of its range.
    pub fn instance(&self) -> Result<DomainInstance, GenerateError> {
        let n = in_range("the number of planes", self.cargo, 2, MAX_CARGO)?;
        let racks = in_range("the number of racks", self.racks, 2, MAX_RACKS)?;
        let lines = in_range("the number of production lines", self.lines, 1, 2)?;
        let variables = self.variables();
        let delivered = |i| at_least(&cargo(i), self.factory());
        let mut labels = vec!["unload_plane".to_owned(), "send_to_factory".to_owned()];
        for verb in ["push", "pop"] {
            for end in [End::Front, End::Back] {
                labels.extend((0..racks).map(|rack| label(verb, end, rack)));
            }
        }
        labels.push("unload_truck".to_owned());
        Ok(DomainInstance {
            name: format!("beluga_{n}_{racks}"),
            comment: format!("Beluga: {n} planes, {racks} racks, {lines} production lines"),
            constants: Vec::new(),
            edges: self.edges(),
            start: StartSet::Condition(self.start(&variables)),
            start_count: u128::try_from(n).ok().map(|n| (1..=n).product()),
            variables,
            labels,
            unsafe_condition: all((0..racks)
                .map(|rack| at_least(&End::Front.of_rack(rack), 0))
                .collect()),
            unsafe_text: "there is cargo on every rack".to_owned(),
            goal: all((0..n).map(delivered).collect()),
            goal_potential: Some(sum((0..n).map(|i| worth(10, delivered(i))).collect())),
            step_reward: None,
            planning: None,
        })
    }

    fn rack(&self, rack: i64) -> i64 {
        self.cargo + rack
    }

    fn on_trailer(&self) -> i64 {
        self.cargo + self.racks
    }

    fn on_truck(&self) -> i64 {
        self.on_trailer() + 1
    }

    fn factory(&self) -> i64 {
        self.on_truck() + 1
    }

    /// The cargo that comes after a piece of cargo on its production line.
    fn after(&self, i: i64) -> i64 {
        if i + self.lines < self.cargo { i + self.lines } else { NONE }
    }

    fn variables(&self) -> Vec<Variable> {
        let n = self.cargo;
        let mut variables: Vec<Variable> =
            (0..n).map(|i| Variable::new(cargo(i), 0, self.factory(), i)).collect();
        for end in [End::Front, End::Back] {
            let empty = |name| Variable::new(name, NONE, n - 1, NONE);
            variables.extend((0..n).map(|i| empty(end.of_cargo(i))));
            variables.extend((0..self.racks).map(|rack| empty(end.of_rack(rack))));
        }
        variables.push(Variable::new(ARRIVING, 0, n, n));
        variables.push(Variable::new(TRAILER, 0, 1, 1));
        variables.push(Variable::new(TRUCK, 0, 1, 1));
        variables.push(Variable::new(REQUEST, NONE, n - 1, 0));
        variables.extend((0..self.lines).map(|k| Variable::new(line(k), NONE, n - 1, k)));
        variables
    }

    /// All orders of arrival, all else as at first.
    fn start(&self, variables: &[Variable]) -> Value {
        let mut conditions = Vec::new();
        for i in 0..self.cargo {
            conditions.push(at_most(&cargo(i), self.cargo - 1));
            conditions.extend((0..i).map(|j| compare(name(&cargo(j)), "≠", name(&cargo(i)))));
        }
        let rest = variables.iter().filter(|variable| !variable.name.starts_with("cargo_"));
        conditions.extend(rest.map(|variable| equal(&variable.name, variable.initial)));
        all(conditions)
    }

    fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for i in 0..self.cargo {
            for rank in 0..self.cargo {
                let guard =
                    vec![at_least(TRAILER, 1), equal(ARRIVING, rank + 1), equal(&cargo(i), rank)];
                let moved =
                    vec![set(TRAILER, 0), set(ARRIVING, rank), set(&cargo(i), self.on_trailer())];
                edges.push(sure("unload_plane", guard, moved));
            }
            self.send(i, &mut edges);
            for rack in 0..self.racks {
                for end in [End::Front, End::Back] {
                    for j in (NONE..self.cargo).filter(|&j| j != i) {
                        edges.push(self.push(i, rack, end, j));
                        edges.push(self.pop(i, rack, end, j));
                    }
                }
            }
            let guard = vec![equal(&cargo(i), self.on_truck()), at_least(TRAILER, 1)];
            let moved = vec![set(TRUCK, 1), set(TRAILER, 0), set(&cargo(i), self.on_trailer())];
            edges.push(sure("unload_truck", guard, moved));
        }
        edges
    }

    /// Adds the edges that deliver what was requested; the lines that miss cargo are equally likely
    /// to be next.
    fn send(&self, i: i64, edges: &mut Vec<Edge>) {
        let (mine, next) = (i % self.lines, self.after(i));
        let others: Vec<i64> = (0..self.lines).filter(|&k| k != mine).collect();
        // With two lines the other one waits for some of its cargo, or for none.
        let waits: Vec<Option<i64>> = match others.first() {
            None => vec![None],
            Some(&other) => {
                let pieces = (0..self.cargo).filter(|j| j % self.lines == other);
                pieces.chain([NONE]).map(Some).collect()
            }
        };
        for wait in waits {
            let mut guard = vec![equal(&cargo(i), self.on_truck()), equal(REQUEST, i)];
            guard.extend(others.iter().zip(wait).map(|(&k, j)| equal(&line(k), j)));
            let outcome = |request| {
                vec![
                    set(TRUCK, 1),
                    set(&cargo(i), self.factory()),
                    set(&line(mine), next),
                    set(REQUEST, request),
                ]
            };
            let requests: Vec<i64> =
                [Some(next), wait].into_iter().flatten().filter(|&j| j != NONE).collect();
            let destinations = match requests[..] {
                [] => vec![Destination::sure(outcome(NONE))],
                [one] => vec![Destination::sure(outcome(one))],
                _ => {
                    let drawn = |&j: &i64| Destination {
                        probability: Some(json!(0.5)),
                        assignments: outcome(j),
                    };
                    requests.iter().map(drawn).collect()
                }
            };
            let label = Some("send_to_factory".to_owned());
            edges.push(Edge { label, guard: all(guard), destinations });
        }
    }

    /// Cargo `i` goes from the trailer to an end of a rack, where `j` was so far.
    fn push(&self, i: i64, rack: i64, end: End, j: i64) -> Edge {
        let guard = vec![equal(&cargo(i), self.on_trailer()), equal(&end.of_rack(rack), j)];
        let mut moved =
            vec![set(TRAILER, 1), set(&cargo(i), self.rack(rack)), set(&end.of_rack(rack), i)];
        if j == NONE {
            moved.push(set(&end.other().of_rack(rack), i));
        } else {
            moved.extend([set(&end.other().of_cargo(i), j), set(&end.of_cargo(j), i)]);
        }
        sure(&label("push", end, rack), guard, moved)
    }

    /// Cargo `i` goes from an end of a rack to the truck; `j` is there from now on.
    fn pop(&self, i: i64, rack: i64, end: End, j: i64) -> Edge {
        let guard = vec![
            at_least(TRUCK, 1),
            equal(&end.of_rack(rack), i),
            equal(&end.other().of_cargo(i), j),
        ];
        let mut moved =
            vec![set(TRUCK, 0), set(&cargo(i), self.on_truck()), set(&end.of_rack(rack), j)];
        if j == NONE {
            moved.push(set(&end.other().of_rack(rack), NONE));
        } else {
            moved.extend([set(&end.other().of_cargo(i), NONE), set(&end.of_cargo(j), NONE)]);
        }
        sure(&label("pop", end, rack), guard, moved)
    }
}

fn label(verb: &str, end: End, rack: i64) -> String {
    format!("{verb}_{}_rack_{rack}", end.word())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_arrives_in_every_order() {
        for (n, orders) in [(2, 2), (4, 24), (6, 720)] {
            let instance = Beluga::new(n, 2).instance().expect("in range");
            assert_eq!(instance.sizes().start_states, Some(orders));
        }
    }

    #[test]
    fn the_size_of_the_published_instance() {
        // 25 variables there; it counts the room of both racks and moves, which ours does not.
        let sizes = Beluga::new(4, 2).instance().expect("in range").sizes();
        assert_eq!((sizes.variables, sizes.labels), (22, 11));
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert!(Beluga::new(1, 2).instance().is_err());
        assert!(Beluga::new(4, 1).instance().is_err());
        assert!(Beluga { lines: 3, ..Beluga::new(4, 2) }.instance().is_err());
    }
}
