//! What nobody chooses: inputs of the dynamics that lie somewhere between bounds.

use policert_numeric::Rational;

use crate::random::next_bits;
use crate::range::ClosedRange;
use crate::task::Dynamics;

/// Says how often a disturbance may take another value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changes {
    /// At the beginning of each step; it is held for the step.
    EachStep,
    /// At any time: it is some measurable function of time.
    AnyTime,
}

/// An input that takes any value between its bounds.
#[derive(Clone, PartialEq, Debug)]
pub struct Disturbance {
    /// Its least value.
    pub lower: Rational,
    /// Its greatest value.
    pub upper: Rational,
    /// The times at which it may change.
    pub changes: Changes,
}

impl Disturbance {
    /// Returns whether it may change in the middle of a step.
    pub fn changes_within_steps(&self) -> bool {
        match self.changes {
            Changes::EachStep => false,
            Changes::AnyTime => true,
        }
    }

    /// All of its values.
    pub fn range<R: ClosedRange>(&self) -> R {
        R::between(&self.lower, &self.upper)
    }
}

/// Says which disturbances a trajectory meets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gusts {
    /// The middle of each range, at all times.
    Middle,
    /// Lower bounds, at all times.
    Lower,
    /// Upper bounds, at all times.
    Upper,
    /// One of the bounds or some number between in each step, from random bits.
    Random(u64),
}

impl Gusts {
    /// All that are tried for a start state.
    pub fn tried(dynamics: &Dynamics) -> &'static [Self] {
        const ALL: [Gusts; 5] = [
            Gusts::Middle,
            Gusts::Lower,
            Gusts::Upper,
            Gusts::Random(0x2545_f491_4f6c_dd1d),
            Gusts::Random(0x9e37_79b9_7f4a_7c15),
        ];
        if dynamics.disturbances.is_empty() { &ALL[..1] } else { &ALL }
    }

    /// The disturbances of the next step.
    pub fn next<R: ClosedRange>(&mut self, disturbances: &[Disturbance]) -> Vec<R> {
        self.next_exactly(disturbances).iter().map(R::enclosing).collect()
    }

    /// The disturbances of the next step as exact numbers.
    pub fn next_exactly(&mut self, disturbances: &[Disturbance]) -> Vec<Rational> {
        let mut value = |disturbance: &Disturbance| {
            let Disturbance { lower, upper, .. } = disturbance;
            // Quarters of the way from one bound to the other.
            let quarters = match self {
                Self::Middle => 2,
                Self::Lower => 0,
                Self::Upper => 4,
                Self::Random(bits) => [0, 4, 0, 4, 0, 1, 2, 3][(next_bits(bits) >> 61) as usize],
            };
            let part = Rational::new(quarters, 4).unwrap_or_default();
            lower + (upper - lower) * part
        };
        disturbances.iter().map(&mut value).collect()
    }
}
