//! Actions that a network chooses by its greatest output, over a set of states in which it may choose in several ways.
//!
//! Which outputs may be the first greatest one follows from their differences. The set goes on under each of their actions, or
//! under all of them at once: then every action is λ·d + R, where d is the difference of two outputs. Whatever λ is, R contains
//! what the action differs by from λ·d, as an output is the greatest only where it is not below the others.

use policert_numeric::{Interval, Rational};

use super::affine::Affine;
use super::state_network::Outputs;

/// Says how a set goes on where a network may choose in several ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LoopChoices {
    /// As several sets, one for each way.
    #[default]
    Apart,
    /// As one set, under an enclosure of all actions.
    Together,
}

impl Outputs {
    /// One output minus another.
    pub fn difference(&self, (a, b): (usize, usize)) -> (Affine, Interval) {
        let one = Interval::point(1.0);
        let form = Affine::sum(Interval::ZERO, &[(one, &self.forms[a]), (-one, &self.forms[b])]);
        let range = self.ranges[a] - self.ranges[b];
        let both = form.range().intersection(range).unwrap_or(range);
        (form, both)
    }

    /// The outputs that may be the first of the greatest ones.
    pub fn greatest(&self) -> Vec<usize> {
        let is_beaten = |at: usize, other: usize| {
            let (_, more) = self.difference((other, at));
            more.lo() > 0.0 || other < at && more.lo() >= 0.0
        };
        let count = self.forms.len();
        let may_be = |at: &usize| !(0..count).any(|other| other != *at && is_beaten(*at, other));
        (0..count).filter(may_be).collect()
    }
}

/// The actions of one choice.
pub(super) fn chosen(actions: &[Rational]) -> Vec<Affine> {
    actions.iter().map(|value| Affine::constant(Interval::enclosing(value))).collect()
}

/// The two of some choices whose actions differ most, the first ones among equals.
pub(super) fn farthest(table: &[Vec<Rational>], possible: &[usize]) -> Option<(usize, usize)> {
    let mut farthest: Option<(f64, (usize, usize))> = None;
    for (i, &a) in possible.iter().enumerate() {
        for &b in &possible[i + 1..] {
            let actions = table[a].iter().zip(&table[b]);
            let distance: f64 = actions.map(|(x, y)| (x - y).to_f64().abs()).sum();
            if farthest.is_none_or(|(most, _)| distance > most) {
                farthest = Some((distance, (a, b)));
            }
        }
    }
    farthest.map(|(_, pair)| pair)
}

/// An enclosure of the actions of all possible choices; the difference of a pair of outputs is, about, `response` less after a
/// step with the actions of the first than after one with those of the second.
pub(super) fn together(
    table: &[Vec<Rational>],
    possible: &[usize],
    pair: (usize, usize),
    outputs: &Outputs,
    response: f64,
) -> Vec<Affine> {
    let (form, range) = outputs.difference(pair);
    // A slope that takes back what the step does to the difference, and leaves no more than the actions' own range.
    let gain = if response > 0.0 { (2.0 / range.magnitude()).min(2.0 / response) } else { 0.0 };
    let actions = table.first().map_or(0, Vec::len);
    let action = |at: usize| {
        let value = |choice: usize| Interval::enclosing(&table[choice][at]);
        let half = 0.5 * (value(pair.0).midpoint() - value(pair.1).midpoint());
        let slope =
            if (gain * half).is_finite() { Interval::point(gain * half) } else { Interval::ZERO };
        let rest = |&choice: &usize| {
            let over = if choice == pair.0 {
                range.max(Interval::ZERO)
            } else if choice == pair.1 {
                range.min(Interval::ZERO)
            } else {
                range
            };
            value(choice) - slope * over
        };
        let rest = possible.iter().map(rest).reduce(Interval::hull);
        Affine::sum(rest.unwrap_or(Interval::EVERYTHING), &[(slope, &form)])
    };
    (0..actions).map(action).collect()
}
