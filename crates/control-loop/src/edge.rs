//! Exact numbers that boxes are compared with: cell edges and borders of regions.

use std::cmp::Ordering;

use policert_numeric::Rational;

/// An exact number together with the doubles next to it, so that doubles compare with it exactly.
#[derive(Clone, PartialEq, Debug)]
pub struct BoxEdge {
    exact: Rational,
    /// The greatest double that is at most the number.
    floor: f64,
    /// The least double that is at least the number.
    ceil: f64,
}

impl BoxEdge {
    /// The edge at a number.
    #[must_use]
    pub fn new(exact: Rational) -> Self {
        let (floor, ceil) = exact.to_f64_interval();
        Self { exact, floor, ceil }
    }

    /// The number.
    #[must_use]
    pub fn exact(&self) -> &Rational {
        &self.exact
    }

    /// The greatest double that is at most the number.
    #[must_use]
    #[inline]
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// The least double that is at least the number.
    #[must_use]
    #[inline]
    pub fn ceil(&self) -> f64 {
        self.ceil
    }

    /// Returns how a double compares with the number; NaN counts as less.
    #[must_use]
    #[inline]
    pub fn compare(&self, value: f64) -> Ordering {
        if value > self.floor {
            Ordering::Greater
        } else if value < self.floor || self.floor < self.ceil || value.is_nan() {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    }

    /// The nearest single-precision number, as a double; at a tie the one with an even mantissa. It is what networks
    /// are shown of an edge of a cell.
    #[must_use]
    pub fn nearest_f32(&self) -> f64 {
        #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
        let (low, high) = (self.floor as f32, self.ceil as f32);
        // Rounding keeps the order, so equal ones are that of the number between.
        if low.to_bits() == high.to_bits() {
            return f64::from(low);
        }
        let distance = |candidate: f32| {
            Rational::from_f32(candidate).map(|candidate| (candidate - &self.exact).abs())
        };
        let (Some(below), Some(above)) = (distance(low), distance(high)) else {
            return f64::from(low);
        };
        let even_is_low = low.to_bits() & 1 == 0;
        f64::from(if below < above || (below == above && even_is_low) { low } else { high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_compare_exactly() {
        let tenth = BoxEdge::new(Rational::new(1, 10).expect("not 0"));
        // The double 0.1 is above one tenth.
        assert_eq!(tenth.compare(0.1), Ordering::Greater);
        assert_eq!(tenth.compare(0.1f64.next_down()), Ordering::Less);
        assert_eq!(tenth.compare(f64::NEG_INFINITY), Ordering::Less);
        assert_eq!(tenth.compare(1.0), Ordering::Greater);
        let half = BoxEdge::new(Rational::new(1, 2).expect("not 0"));
        assert_eq!(half.compare(0.5), Ordering::Equal);
        assert_eq!(half.compare(0.5f64.next_up()), Ordering::Greater);
        assert_eq!(half.compare(0.5f64.next_down()), Ordering::Less);
    }
}
