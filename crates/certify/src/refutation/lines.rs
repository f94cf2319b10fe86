//! Lines below and above a function of one number over an interval, with outward rounding.

use policert_numeric::Interval;
use policert_numeric::round::{mul_down, mul_up, sub_down, sub_up};
use policert_policy::Activation;

/// `slope · x + offset`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Line {
    pub slope: f64,
    pub offset: f64,
}

/// A line below a function and one above it, and the slopes that a line below through the bend may have.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Lines {
    pub below: Line,
    pub above: Line,
    /// The least and the greatest slope of lines `slope · x` below the function.
    pub slopes_below: Option<(f64, f64)>,
}

const IDENTITY: Line = Line { slope: 1.0, offset: 0.0 };

impl Lines {
    fn both(line: Line) -> Self {
        Self { below: line, above: line, slopes_below: None }
    }

    /// Lines of a function over `x`, where it has values in `image`.
    pub fn of(activation: Activation, x: Interval, image: Interval) -> Self {
        let flat = Self {
            below: Line { slope: 0.0, offset: image.lo() },
            above: Line { slope: 0.0, offset: image.hi() },
            slopes_below: None,
        };
        let (lo, hi) = (x.lo(), x.hi());
        match activation {
            Activation::Leaky { .. } if lo >= 0.0 => Self::both(IDENTITY),
            Activation::Leaky { alpha } if hi <= 0.0 => {
                Self::both(Line { slope: alpha, offset: 0.0 })
            }
            Activation::Leaky { .. } if !x.width().is_finite() => flat,
            Activation::Leaky { alpha } => {
                // Through the bend with one of the slopes beside it, whichever leaves less.
                let near = Line { slope: if hi > -lo { 1.0 } else { alpha }, offset: 0.0 };
                let slope = (hi - alpha * lo) / (hi - lo);
                if alpha <= 1.0 {
                    let above = upper_line(slope, [(lo, mul_up(alpha, lo)), (hi, hi)]);
                    Self { below: near, above, slopes_below: Some((alpha, 1.0)) }
                } else {
                    let below = lower_line(slope, [(lo, mul_down(alpha, lo)), (hi, hi)]);
                    Self { below, above: near, slopes_below: None }
                }
            }
            Activation::Clip { lo: least, hi: greatest } => {
                clipped(x, least, greatest).unwrap_or(flat)
            }
            Activation::Staircase(_) | Activation::Smooth(_) => flat,
        }
    }
}

/// Lines of min(max(x, `least`), `greatest`); `None` if constants are to serve.
fn clipped(x: Interval, least: f64, greatest: f64) -> Option<Lines> {
    let (lo, hi) = (x.lo(), x.hi());
    let constant = |offset: f64| Lines::both(Line { slope: 0.0, offset });
    if lo >= greatest || hi <= least {
        return Some(constant(if hi <= least { least } else { greatest }));
    }
    if lo >= least && hi <= greatest {
        return Some(Lines::both(IDENTITY));
    }
    if !x.width().is_finite() {
        return None;
    }
    // Below: convex up to the greatest value, then through its two ends; above: likewise.
    let below = if hi <= greatest {
        let rises = hi - least > least - lo;
        if rises { IDENTITY } else { Line { slope: 0.0, offset: least } }
    } else {
        let from = lo.max(least);
        lower_line((greatest - from) / (hi - from), [(from, from), (hi, greatest)])
    };
    let above = if lo >= least {
        let rises = greatest - lo > hi - greatest;
        if rises { IDENTITY } else { Line { slope: 0.0, offset: greatest } }
    } else {
        let to = hi.min(greatest);
        upper_line((to - least) / (to - lo), [(lo, least), (to, to)])
    };
    Some(Lines { below, above, slopes_below: None })
}

/// The lowest line with this slope above two points.
fn upper_line(slope: f64, points: [(f64, f64); 2]) -> Line {
    let offsets = points.map(|(x, y)| sub_up(y, mul_down(slope, x)));
    Line { slope, offset: offsets[0].max(offsets[1]) }
}

/// The highest line with this slope below two points.
fn lower_line(slope: f64, points: [(f64, f64); 2]) -> Line {
    let offsets = points.map(|(x, y)| sub_down(y, mul_up(slope, x)));
    Line { slope, offset: offsets[0].min(offsets[1]) }
}
