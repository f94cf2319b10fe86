//! Transport on a straight road: all packages to its end, which lies behind a bridge.
//!
//! Without velocity the truck drives one place a step, and it must not drive onto or off the
//! bridge, between the last place but one and the last, with more than the limit. With velocity
//! it has inertia, and it must not drive beyond the end. Two places may be icy: there acceleration
//! may fail, and driving on may accelerate. Packages may drop from the truck while it drives.

use serde_json::Value;

use crate::error::in_range;
use crate::instance::{Destination, DomainInstance, Edge, StartSet};
use crate::jani::{
    all, any, at_least, at_most, choose, compare, equal, minus, name, plus, sum, times,
};
use crate::racetrack::MAX_STARTS;
use crate::random::Random;
use crate::variable::Variable;
use crate::{DecimalProbability, GenerateError};

/// Most places of the road.
pub const MAX_LOCATIONS: i64 = 50;
/// Most packages.
pub const MAX_PACKAGES: i64 = 100;

const TRUCK: &str = "truck_0";
const LOAD: &str = "truck_load_0";
const VELOCITY: &str = "truck_vel_0";
const UNSAFE: &str = "crossed-overloaded";
const AUX: &str = "aux_vel";
const FASTEST: i64 = 3;
const DROPPING: &str = "dropping_probability";
const ICE: &str = "icy_probability";

/// Options of Transport.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transport {
    /// Number of places of the road, 2 to [`MAX_LOCATIONS`].
    pub locations: i64,
    /// Number of packages, 1 to [`MAX_PACKAGES`].
    pub packages: i64,
    /// Most packages on the truck on the bridge, 1 to `packages`.
    pub load_limit: i64,
    /// True if the truck has inertia.
    pub velocity: bool,
    /// Probability that the velocity changes when it should not, or not when it should, on icy
    /// places, the middle one and the last but two; only with velocity.
    pub ice: Option<DecimalProbability>,
    /// Probability that a package drops at the next place when the truck drives; only with velocity.
    /// With ice both must not be greater than 1 together.
    pub dropping: Option<DecimalProbability>,
    /// Number of start states that are drawn, 0 to [`MAX_STARTS`]; 0: all.
    pub random_starts: i64,
    /// Seed of what is drawn.
    pub seed: u64,
}

fn load(k: i64) -> String {
    format!("location_load_{k}")
}

impl Transport {
    /// A road of that size, all else by default.
    #[must_use]
    pub fn new(locations: i64, packages: i64) -> Self {
        Self {
            locations,
            packages,
            load_limit: 1,
            velocity: false,
            ice: None,
            dropping: None,
            random_starts: 0,
            seed: 1,
        }
    }

    /// The instance.
    ///
    /// # Errors
    /// A size out of its range.
    pub fn instance(&self) -> Result<DomainInstance, GenerateError> {
        let places = in_range("the number of locations", self.locations, 2, MAX_LOCATIONS)?;
        let packages = in_range("the number of packages", self.packages, 1, MAX_PACKAGES)?;
        let last = places - 1;
        if !self.velocity {
            // With a limit of 0 the goal could not be reached.
            in_range("the load limit", self.load_limit, 1, packages)?;
        }
        in_range("the number of start states", self.random_starts, 0, MAX_STARTS)?;
        if (self.ice.is_some() || self.dropping.is_some()) && !self.velocity {
            let what = "ice and dropping need a truck with velocity";
            return Err(GenerateError::Conflict(what.to_owned()));
        }
        let rates = [&self.ice, &self.dropping]
            .map(|rate| rate.as_ref().map_or(0, DecimalProbability::parts));
        if rates.iter().sum::<i64>() > DecimalProbability::PARTS {
            let what = "the probabilities of ice and dropping are greater than 1 together";
            return Err(GenerateError::Conflict(what.to_owned()));
        }
        let mut variables: Vec<Variable> = (0..places)
            .map(|k| Variable::new(load(k), 0, packages, if k == 0 { packages } else { 0 }))
            .collect();
        variables.push(Variable::new(TRUCK, 0, last, 0));
        variables.push(Variable::new(LOAD, 0, packages, 0));
        let loads = (0..places).map(|k| name(&load(k))).chain([name(LOAD)]);
        let mut start = vec![
            compare(sum(loads.collect()), "=", packages.into()),
            equal(&load(last), 0),
            if self.velocity { equal(TRUCK, 0) } else { at_most(TRUCK, last - 1) },
        ];
        let labels: &[&str] = if self.velocity {
            variables.push(Variable::new(VELOCITY, 0, FASTEST, 0));
            variables.push(Variable::hidden(AUX, -1, 0, 0));
            start.extend([equal(VELOCITY, 0), equal(AUX, 0)]);
            &["pick_up", "drop", "acc", "dec", "move"]
        } else {
            variables.push(Variable::hidden(UNSAFE, 0, 1, 0));
            start.push(equal(UNSAFE, 0));
            &["drive_forward", "drive_backward", "pick_up", "drop"]
        };
        let (unsafe_condition, unsafe_text) = if self.velocity {
            (at_most(AUX, -1), "the truck drives beyond the end of the road".to_owned())
        } else {
            let text =
                format!("the truck crosses the bridge with more than {} packages", self.load_limit);
            (at_least(UNSAFE, 1), text)
        };
        let mut goal = vec![equal(&load(last), packages)];
        if self.velocity {
            goal.extend([equal(TRUCK, last), at_least(AUX, 0)]);
        }
        let rates = [(ICE, &self.ice), (DROPPING, &self.dropping)];
        let rate = |(name, rate): (&str, &Option<DecimalProbability>)| {
            let rate = rate.as_ref().filter(|rate| !rate.is_zero())?;
            Some((name.to_owned(), "real", rate.value()))
        };
        let drawn = (self.random_starts > 0).then(|| self.drawn());
        Ok(DomainInstance {
            name: self.name(),
            comment: format!("Transport: {places} places, {packages} packages"),
            constants: rates.into_iter().filter_map(rate).collect(),
            variables,
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
            edges: if self.velocity { self.inertial() } else { self.plain() },
            start_count: match &drawn {
                Some(_) => u128::try_from(self.random_starts).ok(),
                None => start_count(places, packages, if self.velocity { 1 } else { last }),
            },
            start: drawn.unwrap_or_else(|| StartSet::Condition(all(start))),
            unsafe_condition,
            unsafe_text,
            goal: all(goal),
            goal_potential: Some(self.potential(last)),
            step_reward: None,
            planning: None,
        })
    }

    /// With velocity, what was picked up and delivered. Without, minus the steps that are wanted, up to
    /// a constant, if every package goes alone.
    fn potential(&self, last: i64) -> Value {
        let delivered = times(10.into(), name(&load(last)));
        if self.velocity {
            return sum(vec![delivered, times(2.into(), name(LOAD))]);
        }
        // Driving there and back, picking up, dropping.
        let waiting = (0..last).map(|k| times((2 * (k - last) - 2).into(), name(&load(k))));
        // A truck with packages goes on; an empty one goes back first, to the next package behind it,
        // else to the first one before it.
        let ahead = |k: i64| minus((last - 2 * k).into(), minus(0.into(), name(TRUCK)));
        let behind = |k: i64| all(vec![at_least(&load(k), 1), at_least(TRUCK, k)]);
        let to_package =
            (0..last).rev().fold(0.into(), |rest, k| choose(at_least(&load(k), 1), ahead(k), rest));
        let empty = choose(
            any((0..last).map(behind).collect()),
            minus(last.into(), name(TRUCK)),
            to_package,
        );
        let way = |factor: i64, more: i64| {
            sum(vec![times(factor.into(), name(TRUCK)), (-factor * last - more).into()])
        };
        let limit = self.load_limit;
        // What is too much has to be dropped first.
        let heavy = sum(vec![times(limit.into(), way(1, 1)), times(plus(LOAD, -limit), way(2, 3))]);
        let light = times(name(LOAD), way(1, 1));
        let loaded = choose(at_most(LOAD, limit), light, heavy);
        let mut terms: Vec<Value> = waiting.collect();
        terms.push(choose(at_least(LOAD, 1), loaded, empty));
        sum(terms)
    }

    fn name(&self) -> String {
        let kind = match (self.velocity, self.ice.as_ref().or(self.dropping.as_ref())) {
            (false, _) => format!("transport_limit_{}", self.load_limit),
            (true, None) => "transport_velocity".to_owned(),
            (true, Some(_)) => "transport_ice".to_owned(),
        };
        format!("{kind}_{}_{}", self.locations, self.packages)
    }

    /// Start states: every package on a place before the last or on the truck.
    fn drawn(&self) -> StartSet {
        let last = self.locations - 1;
        let mut random = Random::new(self.seed);
        let draw = |_| {
            let mut parts = vec![0; usize::try_from(self.locations).unwrap_or(0)];
            for _ in 0..self.packages {
                let part = random.index(parts.len());
                parts[part] += 1;
            }
            // The last part is what is on the truck.
            parts.push(if self.velocity { 0 } else { random.within(0, last - 1) });
            parts
        };
        let variables = (0..last).map(load).chain([LOAD.to_owned(), TRUCK.to_owned()]).collect();
        let states: Vec<Vec<i64>> = (0..self.random_starts).map(draw).collect();
        StartSet::States { variables, states }
    }

    /// Picking up, and dropping where that is allowed.
    fn loading(&self, drop_from: i64) -> Vec<Edge> {
        let stands = |k| {
            let mut guard = vec![equal(TRUCK, k)];
            guard.extend(self.velocity.then(|| at_most(VELOCITY, 0)));
            guard
        };
        let edge = |label: &str, guard, from: &str, to: &str| Edge {
            label: Some(label.to_owned()),
            guard: all(guard),
            destinations: vec![Destination::sure(vec![
                (from.to_owned(), plus(from, -1)),
                (to.to_owned(), plus(to, 1)),
            ])],
        };
        let last = self.locations - 1;
        let mut edges = Vec::new();
        for k in 0..=last {
            let here = load(k);
            if k < last || !self.velocity {
                let mut guard = stands(k);
                guard.extend([at_least(&here, 1), at_most(LOAD, self.packages - 1)]);
                edges.push(edge("pick_up", guard, &here, LOAD));
            }
            if k >= drop_from {
                let mut guard = stands(k);
                guard.extend([at_least(LOAD, 1), at_most(&here, self.packages - 1)]);
                edges.push(edge("drop", guard, LOAD, &here));
            }
        }
        edges
    }

    fn plain(&self) -> Vec<Edge> {
        let last = self.locations - 1;
        let mut edges = Vec::new();
        let mut drive = |label: &str, mut guard: Vec<Value>, offset, is_unsafe: bool| {
            guard.push(equal(UNSAFE, 0));
            let mut assignments = vec![(TRUCK.to_owned(), plus(TRUCK, offset))];
            assignments.extend(is_unsafe.then(|| (UNSAFE.to_owned(), 1.into())));
            let destinations = vec![Destination::sure(assignments)];
            edges.push(Edge { label: Some(label.to_owned()), guard: all(guard), destinations });
        };
        let ends = [("drive_forward", 1, last - 1), ("drive_backward", -1, last)];
        for (label, offset, bridge) in ends {
            for k in 0..=last {
                if k == bridge {
                    drive(
                        label,
                        vec![equal(TRUCK, k), at_most(LOAD, self.load_limit)],
                        offset,
                        false,
                    );
                    let over = at_least(LOAD, self.load_limit + 1);
                    drive(label, vec![equal(TRUCK, k), over], offset, true);
                } else if (0..=last).contains(&(k + offset)) {
                    drive(label, vec![equal(TRUCK, k)], offset, false);
                }
            }
        }
        edges.extend(self.loading(0));
        edges
    }

    fn inertial(&self) -> Vec<Edge> {
        let last = self.locations - 1;
        let mut edges = self.loading(last);
        for k in 0..=last {
            for velocity in 0..=FASTEST {
                for (label, change) in [("acc", 1), ("dec", -1), ("move", 0)] {
                    let next = velocity + change;
                    if !(0..=FASTEST).contains(&next) || label == "move" && velocity == 0 {
                        continue;
                    }
                    let guard = vec![equal(TRUCK, k), equal(VELOCITY, velocity), equal(AUX, 0)];
                    self.drive(label, guard, (k, velocity, next), &mut edges);
                }
            }
        }
        edges
    }

    /// The truck drives from a place with a velocity and has the next velocity then.
    fn drive(
        &self,
        label: &str,
        guard: Vec<Value>,
        (k, velocity, next): (i64, i64, i64),
        edges: &mut Vec<Edge>,
    ) {
        let last = self.locations - 1;
        let set = |name: &str, value: i64| (name.to_owned(), Value::from(value));
        let mut add = |guard: Vec<Value>, destinations| {
            edges.push(Edge { label: Some(label.to_owned()), guard: all(guard), destinations });
        };
        if k + velocity > last {
            add(guard, vec![Destination::sure(vec![set(AUX, -1)])]);
            return;
        }
        let moved = |next| vec![set(TRUCK, k + velocity), set(VELOCITY, next)];
        let is_set =
            |rate: &Option<DecimalProbability>| rate.as_ref().is_some_and(|rate| !rate.is_zero());
        // On ice a change of velocity fails, and driving on without one accelerates.
        let slipped = if next == velocity { velocity + 1 } else { velocity };
        let is_icy = is_set(&self.ice)
            && (k == self.locations / 2 || k == self.locations - 3)
            && velocity > 0
            && slipped <= FASTEST;
        let outcome =
            |probability, assignments| Destination { probability: Some(probability), assignments };
        let slips = is_icy.then(|| outcome(name(ICE), moved(slipped)));
        let below = load((k + 1).min(last));
        let drops = is_set(&self.dropping).then(|| {
            let fallen = vec![(below.clone(), plus(&below, 1)), (LOAD.to_owned(), plus(LOAD, -1))];
            outcome(name(DROPPING), [moved(next), fallen].concat())
        });
        let or_else = |chances: Vec<Destination>| {
            if chances.is_empty() {
                return vec![Destination::sure(moved(next))];
            }
            let rates = chances.iter().filter_map(|chance| chance.probability.clone());
            let rest = rates.fold(Value::from(1), minus);
            [chances, vec![outcome(rest, moved(next))]].concat()
        };
        let without: Vec<Destination> = slips.into_iter().collect();
        match drops {
            None => add(guard, or_else(without)),
            Some(drops) => {
                let loaded = vec![at_least(LOAD, 1), at_most(&below, self.packages - 1)];
                let chances = [without.clone(), vec![drops]].concat();
                add([guard.clone(), loaded].concat(), or_else(chances));
                add([guard, vec![at_most(LOAD, 0)]].concat(), or_else(without));
            }
        }
    }
}

/// Packages on all places but the last and on the truck, the truck on one of some places.
fn start_count(places: i64, packages: i64, trucks: i64) -> Option<u128> {
    // C(packages + places - 1, places - 1): packages into `places` parts, the truck is one.
    let mut ways: u128 = 1;
    for k in 1..places {
        let factor = u128::try_from(packages + k).ok()?;
        ways = ways.checked_mul(factor)? / u128::try_from(k).ok()?;
    }
    ways.checked_mul(u128::try_from(trucks).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_states_are_those_of_the_paper() {
        let instance = Transport::new(10, 15).instance().expect("in range");
        assert_eq!(instance.sizes().start_states, Some(11_767_536));
        // The published model has four values of a variable that does not matter: 5,230,016.
        let velocity = Transport { velocity: true, ..Transport::new(10, 15) };
        let count = velocity.instance().expect("in range").sizes().start_states;
        assert_eq!(count, Some(5_230_016 / 4));
    }

    #[test]
    fn ice_needs_velocity() {
        let ice = Some(DecimalProbability::read("--ice", "0.1").expect("a probability"));
        let plain = Transport { ice: ice.clone(), ..Transport::new(4, 2) };
        assert!(plain.instance().is_err());
        assert!(Transport { velocity: true, ..plain }.instance().is_ok());
        let half = Some(DecimalProbability::read("p", "0.6").expect("a probability"));
        let both =
            Transport { velocity: true, ice: half.clone(), dropping: half, ..Transport::new(4, 2) };
        assert!(both.instance().is_err());
        assert!(Transport::new(1, 2).instance().is_err());
        assert!(Transport::new(2, 0).instance().is_err());
    }
}
