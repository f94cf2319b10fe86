//! Transport on a straight road: all packages to its end, which lies behind a bridge.
//!
//! Without velocity the truck drives one place a step, and it must not drive onto or off the
//! bridge, between the last place but one and the last, with more than the limit. With velocity
//! it has inertia, and it must not drive beyond the end; on ice a place may fail to change it.

use serde_json::Value;

use crate::error::in_range;
use crate::instance::{Destination, Edge, Instance, StartSet, Variable};
use crate::jani::{all, at_least, at_most, compare, equal, minus, name, plus, sum, times};
use crate::{GenerateError, Probability};

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
    /// Whether the truck has inertia.
    pub velocity: bool,
    /// Probability that the velocity does not change when it should; only with velocity.
    pub ice: Option<Probability>,
}

fn load(k: i64) -> String {
    format!("location_load_{k}")
}

impl Transport {
    /// A road of that size, all else by default.
    #[must_use]
    pub fn new(locations: i64, packages: i64) -> Self {
        Self { locations, packages, load_limit: 1, velocity: false, ice: None }
    }

    /// The instance.
    ///
    /// # Errors
    /// A size out of its range.
    pub fn instance(&self) -> Result<Instance, GenerateError> {
        let places = in_range("the number of locations", self.locations, 2, MAX_LOCATIONS)?;
        let packages = in_range("the number of packages", self.packages, 1, MAX_PACKAGES)?;
        let last = places - 1;
        if !self.velocity {
            // With a limit of 0 the goal could not be reached.
            in_range("the load limit", self.load_limit, 1, packages)?;
        }
        if self.ice.is_some() && !self.velocity {
            return Err(GenerateError::Conflict("ice needs a truck with velocity".to_owned()));
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
            at_most(TRUCK, last - 1),
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
        let delivered = times(10.into(), name(&load(last)));
        let ice = self.ice.as_ref().filter(|ice| !ice.is_zero());
        Ok(Instance {
            name: self.name(),
            comment: format!("Transport: {places} places, {packages} packages"),
            constants: ice.map(|ice| (ICE.to_owned(), "real", ice.value())).into_iter().collect(),
            variables,
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
            edges: if self.velocity { self.inertial(ice.is_some()) } else { self.plain() },
            start: StartSet::Condition(all(start)),
            start_count: start_count(places, packages),
            unsafe_condition,
            unsafe_text,
            goal: equal(&load(last), packages),
            goal_potential: Some(sum(vec![delivered, times(2.into(), name(LOAD))])),
            step_reward: None,
        })
    }

    fn name(&self) -> String {
        let kind = match (self.velocity, &self.ice) {
            (false, _) => format!("transport_limit_{}", self.load_limit),
            (true, None) => "transport_velocity".to_owned(),
            (true, Some(_)) => "transport_ice".to_owned(),
        };
        format!("{kind}_{}_{}", self.locations, self.packages)
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

    fn inertial(&self, icy: bool) -> Vec<Edge> {
        let last = self.locations - 1;
        let mut edges = self.loading(last);
        for k in 0..=last {
            for velocity in 0..=FASTEST {
                for (label, change) in [("acc", 1), ("dec", -1), ("move", 0)] {
                    let next = velocity + change;
                    if !(0..=FASTEST).contains(&next) || label == "move" && velocity == 0 {
                        continue;
                    }
                    let guard =
                        all(vec![equal(TRUCK, k), equal(VELOCITY, velocity), equal(AUX, 0)]);
                    let target = k + velocity;
                    let drives = if target > last {
                        vec![(AUX.to_owned(), (-1).into())]
                    } else {
                        vec![(TRUCK.to_owned(), target.into())]
                    };
                    let set = (VELOCITY.to_owned(), Value::from(next));
                    let changed = [drives.clone(), vec![set]].concat();
                    let destinations = if icy && change != 0 {
                        let outcome = |probability, assignments| Destination {
                            probability: Some(probability),
                            assignments,
                        };
                        let (slips, holds) = (name(ICE), minus(1.into(), name(ICE)));
                        vec![outcome(holds, changed), outcome(slips, drives)]
                    } else {
                        vec![Destination::sure(if change == 0 { drives } else { changed })]
                    };
                    edges.push(Edge { label: Some(label.to_owned()), guard, destinations });
                }
            }
        }
        edges
    }
}

/// Packages on all places but the last and on the truck, the truck on any place but the last.
fn start_count(places: i64, packages: i64) -> Option<u128> {
    // C(packages + places - 1, places - 1): packages into `places` parts, the truck is one.
    let mut ways: u128 = 1;
    for k in 1..places {
        let factor = u128::try_from(packages + k).ok()?;
        ways = ways.checked_mul(factor)? / u128::try_from(k).ok()?;
    }
    ways.checked_mul(u128::try_from(places - 1).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_states_are_those_of_the_paper() {
        let instance = Transport::new(10, 15).instance().expect("in range");
        assert_eq!(instance.sizes().start_states, Some(11_767_536));
    }

    #[test]
    fn ice_needs_velocity() {
        let ice = Some(Probability::read("--ice", "0.1").expect("a probability"));
        let plain = Transport { ice: ice.clone(), ..Transport::new(4, 2) };
        assert!(plain.instance().is_err());
        assert!(Transport { velocity: true, ..plain }.instance().is_ok());
        assert!(Transport::new(1, 2).instance().is_err());
        assert!(Transport::new(2, 0).instance().is_err());
    }
}
