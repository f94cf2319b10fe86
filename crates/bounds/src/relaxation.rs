//! Linear relaxations of functions of one variable over an interval.
//!
//! Slopes are any doubles; offsets are rounded so that the lines are on the right side of the
//! function for real arithmetic. ReLU and its leaky form: the chord on one side, on the other the
//! line through the origin that leaves the smaller area (DeepPoly; CROWN's adaptive choice).

use policert_numeric::Interval;
use policert_numeric::round::{add_up, mul_down, mul_up, sub_down, sub_up};

/// A function of one variable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Function {
    /// x for x ≥ 0, alpha · x below; ReLU for alpha = 0.
    Leaky {
        alpha: f64,
    },
    /// min(max(x, lo), hi); the bounds may be infinite.
    Clip {
        lo: f64,
        hi: f64,
    },
    Tanh,
    Sigmoid,
}

/// Two lines, one below and one above a function over an interval.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Lines {
    pub lower_slope: f64,
    pub lower_offset: f64,
    pub upper_slope: f64,
    pub upper_offset: f64,
}

impl Lines {
    /// The line `slope · x`, twice.
    const fn through_origin(slope: f64) -> Self {
        Self { lower_slope: slope, lower_offset: 0.0, upper_slope: slope, upper_offset: 0.0 }
    }

    /// Two constants.
    const fn constants(lower: f64, upper: f64) -> Self {
        Self { lower_slope: 0.0, lower_offset: lower, upper_slope: 0.0, upper_offset: upper }
    }
}

impl Function {
    /// Bounds of the values over [lo, hi], as a pair.
    pub fn image(self, lo: f64, hi: f64) -> (f64, f64) {
        match self {
            Self::Leaky { alpha: 0.0 } => (lo.max(0.0), hi.max(0.0)),
            Self::Leaky { alpha } => {
                let below = lo.min(0.0);
                let at_lo = if lo >= 0.0 { (lo, lo) } else { scaled(below, alpha) };
                let at_hi = if hi >= 0.0 { (hi, hi) } else { scaled(hi, alpha) };
                let (mut least, mut greatest) = (at_lo.0.min(at_hi.0), at_lo.1.max(at_hi.1));
                if lo < 0.0 && hi > 0.0 {
                    // With a negative slope the least value is that at 0.
                    (least, greatest) = (least.min(0.0), greatest.max(0.0));
                }
                (least, greatest)
            }
            Self::Clip { lo: least, hi: greatest } => {
                (lo.max(least).min(greatest), hi.max(least).min(greatest))
            }
            Self::Tanh | Self::Sigmoid => (self.at(lo).lo(), self.at(hi).hi()),
        }
    }

    /// A bound of the slopes of the lines.
    pub fn steepness(self) -> f64 {
        match self {
            Self::Leaky { alpha } => alpha.abs().max(1.0),
            Self::Clip { .. } | Self::Tanh | Self::Sigmoid => 1.0,
        }
    }

    /// Whether it is linear over [lo, hi], so that tighter bounds are of no use.
    pub fn is_linear(self, lo: f64, hi: f64) -> bool {
        match self {
            Self::Leaky { .. } => lo >= 0.0 || hi <= 0.0,
            Self::Clip { lo: least, hi: greatest } => {
                (lo >= least && hi <= greatest) || hi <= least || lo >= greatest
            }
            Self::Tanh | Self::Sigmoid => false,
        }
    }

    /// A bend inside [lo, hi], for a function of linear pieces.
    pub fn bend(self, lo: f64, hi: f64) -> Option<f64> {
        self.bends().find(|at| lo < *at && *at < hi)
    }

    /// Where it bends, for a function of linear pieces.
    pub fn bends(self) -> impl Iterator<Item = f64> {
        let places = match self {
            Self::Leaky { .. } => [Some(0.0), None],
            Self::Clip { lo, hi } => [Some(lo), Some(hi)],
            Self::Tanh | Self::Sigmoid => [None, None],
        };
        places.into_iter().flatten().filter(|at| at.is_finite())
    }

    /// Lines below and above it over [lo, hi].
    pub fn lines(self, lo: f64, hi: f64) -> Lines {
        match self {
            Self::Leaky { alpha } => leaky(alpha, lo, hi),
            Self::Clip { lo: least, hi: greatest } => self.clip(least, greatest, lo, hi),
            Self::Tanh | Self::Sigmoid => self.smooth(lo, hi),
        }
    }

    /// Enclosure of the value of tanh or sigmoid at a point (±∞ included).
    fn at(self, x: f64) -> Interval {
        let x = Interval::new(x, x).unwrap_or_else(|| {
            // An infinite argument: beyond every double.
            let edge = if x > 0.0 { f64::MAX } else { -f64::MAX };
            Interval::point(edge)
        });
        match self {
            Self::Tanh => x.tanh(),
            _ => x.sigmoid(),
        }
    }

    /// Enclosure of the slope of tanh or sigmoid at a point.
    fn slope_at(self, x: f64) -> Interval {
        let one = Interval::point(1.0);
        let value = self.at(x);
        let slope = match self {
            Self::Tanh => (one - value) * (one + value),
            _ => value * (one - value),
        };
        slope.max(Interval::ZERO).min(one)
    }

    fn clip(self, least: f64, greatest: f64, lo: f64, hi: f64) -> Lines {
        let at = |x: f64| x.max(least).min(greatest);
        if lo >= least && hi <= greatest {
            return Lines::through_origin(1.0);
        }
        if hi <= least || lo >= greatest || least >= greatest {
            return Lines::constants(at(lo), at(hi));
        }
        let choose = |steep: bool| if steep { 1.0 } else { 0.0 };
        let (lower, upper) = match (lo < least, hi > greatest) {
            // Convex, concave, both bends inside.
            (true, false) => (choose(hi - least > least - lo), (hi - least) / (hi - lo)),
            (false, true) => ((greatest - lo) / (hi - lo), choose(greatest - lo > hi - greatest)),
            _ => ((greatest - least) / (hi - least), (greatest - least) / (greatest - lo)),
        };
        let (lower, upper) = (usable(lower), usable(upper));
        let bends = [lo, hi, least.max(lo).min(hi), greatest.max(lo).min(hi)];
        let below = bends.map(|x| sub_down(at(x), mul_up(lower, x)));
        let above = bends.map(|x| sub_up(at(x), mul_down(upper, x)));
        Lines {
            lower_slope: lower,
            lower_offset: below.into_iter().fold(f64::INFINITY, f64::min),
            upper_slope: upper,
            upper_offset: above.into_iter().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// tanh and sigmoid: convex below 0, concave above, steepest at 0.
    fn smooth(self, lo: f64, hi: f64) -> Lines {
        let (at_lo, at_hi) = (self.at(lo), self.at(hi));
        if !(lo.is_finite() && hi.is_finite()) || lo >= hi {
            return Lines::constants(at_lo.lo(), at_hi.hi());
        }
        if lo < 0.0 && hi > 0.0 {
            // With a slope that it has at least everywhere, it grows against the line.
            let slope = self.slope_at(lo).min(self.slope_at(hi)).lo();
            return Lines {
                lower_slope: slope,
                lower_offset: sub_down(at_lo.lo(), mul_up(slope, lo)),
                upper_slope: slope,
                upper_offset: sub_up(at_hi.hi(), mul_down(slope, hi)),
            };
        }
        let chord = usable((at_hi.midpoint() - at_lo.midpoint()) / (hi - lo));
        let middle = lo + (hi - lo) / 2.0;
        let slopes = self.slope_at(middle);
        let tangent = slopes.midpoint();
        let reach = sub_up(hi, lo);
        let slack = mul_up(sub_up(slopes.hi(), slopes.lo()), reach);
        if lo >= 0.0 {
            let below = |x: f64, value: Interval| sub_down(value.lo(), mul_up(chord, x));
            let above = sub_up(self.at(middle).hi(), mul_down(tangent, middle));
            Lines {
                lower_slope: chord,
                lower_offset: below(lo, at_lo).min(below(hi, at_hi)),
                upper_slope: tangent,
                upper_offset: add_up(above, slack),
            }
        } else {
            let above = |x: f64, value: Interval| sub_up(value.hi(), mul_down(chord, x));
            let below = sub_down(self.at(middle).lo(), mul_up(tangent, middle));
            Lines {
                lower_slope: tangent,
                lower_offset: sub_down(below, slack),
                upper_slope: chord,
                upper_offset: above(lo, at_lo).max(above(hi, at_hi)),
            }
        }
    }
}

#[inline]
fn leaky(alpha: f64, lo: f64, hi: f64) -> Lines {
    if lo >= 0.0 {
        return Lines::through_origin(1.0);
    }
    if hi <= 0.0 {
        return Lines::through_origin(alpha);
    }
    let chord = usable(chord_slope(alpha, lo, hi));
    let steep = if hi > -lo { 1.0 } else { alpha };
    if alpha <= 1.0 {
        // Convex: above is the chord, at both ends: (alpha − s) · lo and (1 − s) · hi.
        let offset = mul_up(lo, sub_down(alpha, chord)).max(mul_up(hi, sub_up(1.0, chord)));
        Lines {
            lower_slope: steep,
            lower_offset: 0.0,
            upper_slope: chord,
            upper_offset: offset.max(0.0),
        }
    } else {
        let offset = mul_down(lo, sub_up(alpha, chord)).min(mul_down(hi, sub_down(1.0, chord)));
        Lines {
            lower_slope: chord,
            lower_offset: offset.min(0.0),
            upper_slope: steep,
            upper_offset: 0.0,
        }
    }
}

/// (hi − alpha · lo) / (hi − lo) for lo < 0 < hi, between alpha and 1.
#[inline]
fn chord_slope(alpha: f64, lo: f64, hi: f64) -> f64 {
    let share = hi / (hi - lo);
    alpha + (1.0 - alpha) * share
}

/// `x · factor`, rounded both ways.
fn scaled(x: f64, factor: f64) -> (f64, f64) {
    (mul_down(x, factor), mul_up(x, factor))
}

/// Any finite slope will do; the offsets take care.
#[inline]
fn usable(slope: f64) -> f64 {
    if slope.is_finite() { slope } else { 0.0 }
}

#[cfg(test)]
mod tests;
