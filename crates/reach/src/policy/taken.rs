//! Actions that a network chooses by its greatest output, where it is not clear which output that is: all of them in
//! one enclosure.
//!
//! The actions follow the difference d of two outputs as a step follows its argument: for each, t ∈ λ·d + R over the set.
//! Any slope λ is right, and the sets stay narrow with one that makes up for what the actions do to d in a step: like a
//! controller without a switch, it leads back to where the switch is.

use policert_numeric::{Interval, Rational};

/// What is taken in a step.
#[derive(Clone, Debug)]
pub(crate) enum Taken {
    /// One of the choices, or what a network without choices says.
    One(usize),
    /// Any of several choices.
    Any(AnyChoice),
}

/// An enclosure of several choices: each action is its slope times the difference of two outputs, and a number of its rest.
#[derive(Clone, Debug)]
pub(crate) struct AnyChoice {
    /// The outputs whose difference counts: the first minus the second.
    pub(crate) outputs: (usize, usize),
    /// By action.
    pub(crate) lines: Vec<Line>,
}

/// An action over the difference of two outputs.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) slope: f64,
    pub(crate) rest: Interval,
    /// All values that the action may have.
    pub(crate) values: Interval,
}

/// The two of some choices whose actions differ most.
pub(crate) fn farthest(table: &[Vec<Rational>], possible: &[usize]) -> Option<(usize, usize)> {
    let pairs = possible.iter().enumerate();
    let pairs = pairs.flat_map(|(i, &a)| possible[..i].iter().map(move |&b| (b, a)));
    let distance = |&(a, b): &(usize, usize)| -> f64 {
        let actions = table[a].iter().zip(&table[b]);
        actions.map(|(x, y)| (x - y).to_f64().abs()).sum()
    };
    // Among equals the first ones.
    pairs.rev().max_by(|a, b| distance(a).total_cmp(&distance(b)))
}

impl AnyChoice {
    /// The enclosure of the possible choices, where the difference of two outputs is in a range and, about, `response` less
    /// after a step with the actions of the first than after one with those of the second.
    pub(crate) fn new(
        table: &[Vec<Rational>],
        possible: &[usize],
        (first, second): (usize, usize),
        difference: Interval,
        response: f64,
    ) -> Self {
        // With more than 2 over the greatest magnitude the rest is wider than without a slope.
        let steepest = 2.0 / difference.magnitude();
        let gain = if response > 0.0 { steepest.min(2.0 / response) } else { 0.0 };
        let line = |action: usize| {
            let value = |choice: usize| Interval::enclosing(&table[choice][action]);
            let half = 0.5 * (value(first).midpoint() - value(second).midpoint());
            let slope = Some(gain * half).filter(|slope| slope.is_finite()).unwrap_or(0.0);
            let rest = |&choice: &usize| {
                // Where an output is the greatest, it is not below the other one.
                let over = if choice == first {
                    difference.max(Interval::ZERO)
                } else if choice == second {
                    difference.min(Interval::ZERO)
                } else {
                    difference
                };
                let moved =
                    if slope == 0.0 { Interval::ZERO } else { Interval::point(slope) * over };
                value(choice) - moved
            };
            let hull = |ranges: &mut dyn Iterator<Item = Interval>| {
                ranges.reduce(Interval::hull).unwrap_or(Interval::EVERYTHING)
            };
            Line {
                slope,
                rest: hull(&mut possible.iter().map(rest)),
                values: hull(&mut possible.iter().map(|&choice| value(choice))),
            }
        };
        let actions = table.first().map_or(0, Vec::len);
        Self { outputs: (first, second), lines: (0..actions).map(line).collect() }
    }
}
