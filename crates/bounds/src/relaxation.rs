//! Linear relaxations of functions of one variable over an interval.
//!
//! Slopes are any doubles; offsets are rounded so that the lines are on the right side of the
//! function for real arithmetic. ReLU and its leaky form: the chord on one side, on the other the
//! line through the origin that leaves the smaller area (DeepPoly; CROWN's adaptive choice).

use policert_numeric::Interval;
use policert_numeric::round::{add_up, mul_down, mul_up, sub_down, sub_up};
use policert_policy::Activation;
use policert_policy::activation::{Curvature, Curve, Staircase};

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

/// Lines below and above a function over [lo, hi].
#[inline]
pub(crate) fn lines(activation: Activation, lo: f64, hi: f64) -> Lines {
    match activation {
        Activation::Leaky { alpha } => leaky(alpha, lo, hi),
        Activation::Clip { lo: least, hi: greatest } => clip(least, greatest, lo, hi),
        Activation::Staircase(staircase) => stairs(staircase, lo, hi),
        Activation::Smooth(function) => smooth(function.curve(), lo, hi),
    }
}

fn clip(least: f64, greatest: f64, lo: f64, hi: f64) -> Lines {
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

/// Parallel lines along several steps, constants beside a single one.
fn stairs(staircase: Staircase, lo: f64, hi: f64) -> Lines {
    let (least, greatest) = (staircase.value(lo), staircase.value(hi));
    match staircase.distances() {
        Some((below, above)) if sub_down(greatest, least) > 1.0 => {
            Lines { lower_slope: 1.0, lower_offset: -below, upper_slope: 1.0, upper_offset: above }
        }
        Some(_) | None => Lines::constants(least, greatest),
    }
}

/// The chord on the side to which the function bends, a tangent on the other one; lines of the least
/// slope where it bends both ways.
fn smooth(curve: &dyn Curve, lo: f64, hi: f64) -> Lines {
    // Below its least argument there is nothing to bound.
    let lo = lo.max(curve.least());
    let hi = hi.max(lo);
    let image = curve.image(lo, hi);
    if !(lo.is_finite() && hi.is_finite()) || lo >= hi {
        return Lines::constants(image.lo(), image.hi());
    }
    let (at_lo, at_hi) = (curve.at(lo), curve.at(hi));
    let curvature = curve.curvature(lo, hi);
    if curvature == Curvature::Mixed {
        // With a slope that it has at least everywhere, it grows against the line.
        let slope = curve.slopes(lo, hi).lo();
        return Lines {
            lower_slope: slope,
            lower_offset: sub_down(at_lo.lo(), mul_up(slope, lo)),
            upper_slope: slope,
            upper_offset: sub_up(at_hi.hi(), mul_down(slope, hi)),
        };
    }
    // Rounding could make it steeper than the function, over a tiny interval without bound.
    let steepest = curve.steepness(lo, hi);
    let chord = (at_hi.midpoint() - at_lo.midpoint()) / (hi - lo);
    let chord = usable(chord).clamp(-steepest, steepest);
    let middle = curve.touching(lo, hi);
    let middle = if lo < middle && middle < hi { middle } else { lo + (hi - lo) / 2.0 };
    let slopes = curve.slope(middle);
    let tangent = slopes.midpoint();
    // Any slope next to that of the tangent is off by that much at the other end.
    let slack = mul_up(sub_up(slopes.hi(), slopes.lo()), sub_up(hi, lo));
    let at_middle = curve.at(middle);
    if curvature == Curvature::Concave {
        let below = |x: f64, value: Interval| sub_down(value.lo(), mul_up(chord, x));
        let above = sub_up(at_middle.hi(), mul_down(tangent, middle));
        Lines {
            lower_slope: chord,
            lower_offset: below(lo, at_lo).min(below(hi, at_hi)),
            upper_slope: tangent,
            upper_offset: add_up(above, slack),
        }
    } else {
        let above = |x: f64, value: Interval| sub_up(value.hi(), mul_down(chord, x));
        let below = sub_down(at_middle.lo(), mul_up(tangent, middle));
        Lines {
            lower_slope: tangent,
            lower_offset: sub_down(below, slack),
            upper_slope: chord,
            upper_offset: above(lo, at_lo).max(above(hi, at_hi)),
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

/// Any finite slope will do; the offsets take care.
#[inline]
fn usable(slope: f64) -> f64 {
    if slope.is_finite() { slope } else { 0.0 }
}

#[cfg(test)]
mod tests;
