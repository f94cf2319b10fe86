//! What a function looks like over a range: lines and parabolas near it, with proved distances.

use policert_numeric::Interval;
use policert_policy::Activation;
use policert_policy::activation::Curve;

/// Into so many pieces a range is cut to bound distances.
const PIECES: u32 = 16;

/// Parts of the curvature through ends and middle that are tried for a parabola.
const PARTS: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// A function over a range, piece by piece.
#[derive(Debug)]
pub(super) struct Shape {
    image: Interval,
    pieces: Vec<Piece>,
    /// Where it bends most, between the ends.
    middle: f64,
}

/// A piece of the range, with the values at its ends and the slopes between them.
#[derive(Debug)]
struct Piece {
    ends: [f64; 2],
    values: [Interval; 2],
    slopes: Interval,
}

/// `bend·(x − c)² + slope·x` and what is added to it to get the function.
#[derive(Debug)]
pub(super) struct Fit {
    pub(super) bend: f64,
    pub(super) slope: f64,
    pub(super) rest: Interval,
}

impl Shape {
    /// A function of linear pieces, with the arguments where it bends.
    pub(super) fn of_pieces(activation: Activation, range: Interval, bends: &[f64]) -> Self {
        let value = |x: f64| activation.of_interval(Interval::point(x));
        let slopes = |from: f64, to: f64| {
            // No bend lies between the two.
            Interval::point(match activation {
                Activation::Leaky { alpha } if to <= 0.0 => alpha,
                Activation::Leaky { .. } => 1.0,
                Activation::Clip { lo, hi } if to <= lo || from >= hi => 0.0,
                Activation::Clip { .. } => 1.0,
                // Where it jumps, slopes have no bound.
                Activation::Staircase(_) => return Interval::EVERYTHING,
                Activation::Smooth(function) => return function.curve().slopes(from, to),
            })
        };
        Self::new(activation.of_interval(range), range, bends, value, slopes)
    }

    /// Another function.
    pub(super) fn of_curve(curve: &dyn Curve, range: Interval) -> Self {
        let image = curve.image(range.lo(), range.hi());
        Self::new(image, range, &[], |x| curve.at(x), |from, to| curve.slopes(from, to))
    }

    fn new(
        image: Interval,
        range: Interval,
        bends: &[f64],
        value: impl Fn(f64) -> Interval,
        slopes: impl Fn(f64, f64) -> Interval,
    ) -> Self {
        let (lo, hi) = (range.lo(), range.hi());
        if !(lo.is_finite() && hi.is_finite() && lo < hi) {
            return Self { image, pieces: Vec::new(), middle: lo };
        }
        let part = |k: u32| lo + (hi - lo) * (f64::from(k) / f64::from(PIECES));
        let inside = |x: &f64| lo < *x && *x < hi;
        let mut ends: Vec<f64> = (1..PIECES).map(part).chain(bends.iter().copied()).collect();
        ends.retain(inside);
        ends.extend([lo, hi]);
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        let pieces = ends.windows(2).map(|pair| Piece {
            ends: [pair[0], pair[1]],
            values: [value(pair[0]), value(pair[1])],
            slopes: slopes(pair[0], pair[1]),
        });
        let middle = bends.iter().copied().find(inside).unwrap_or(lo / 2.0 + hi / 2.0);
        Self { image, pieces: pieces.collect(), middle }
    }

    /// All values.
    pub(super) fn image(&self) -> Interval {
        self.image
    }

    /// The line through the ends; `None` if the range has none.
    pub(super) fn line(&self) -> Option<Fit> {
        let fit = self.fit(0.0, 0.0)?;
        let finite = fit.rest.lo().is_finite() && fit.rest.hi().is_finite();
        finite.then_some(fit)
    }

    /// The best of some parabolas around c; `None` if the function does not bend.
    pub(super) fn parabola(&self, c: f64) -> Option<Fit> {
        let (first, last) = (self.pieces.first()?, self.pieces.last()?);
        let (lo, hi) = (first.ends[0], last.ends[1]);
        let nearest = |x: f64| {
            let gap = |piece: &&Piece| (piece.ends[0] - x).abs();
            self.pieces.iter().min_by(|a, b| gap(a).total_cmp(&gap(b)))
        };
        let at = nearest(self.middle)?;
        let (middle, value) = (at.ends[0], at.values[0].midpoint());
        let before = (value - first.values[0].midpoint()) / (middle - lo);
        let after = (last.values[1].midpoint() - value) / (hi - middle);
        let curvature = (after - before) / (hi - lo);
        if !curvature.is_finite() || curvature == 0.0 {
            return None;
        }
        let fits = PARTS.iter().filter_map(|part| self.fit(part * curvature, c));
        fits.min_by(|a, b| a.rest.width().total_cmp(&b.rest.width()))
    }

    /// The parabola with a bend around c that is as far from the function at both ends of the range.
    fn fit(&self, bend: f64, c: f64) -> Option<Fit> {
        let (first, last) = (self.pieces.first()?, self.pieces.last()?);
        let (lo, hi) = (first.ends[0], last.ends[1]);
        let chord = (last.values[1] - first.values[0]).midpoint() / (hi - lo);
        let slope = chord - bend * ((hi - c) + (lo - c));
        if !slope.is_finite() {
            return None;
        }
        let point = Interval::point;
        let left = |x: f64, value: Interval| {
            value - point(bend) * (point(x) - point(c)).square() - point(slope) * point(x)
        };
        let mut rest: Option<Interval> = None;
        for Piece { ends: [from, to], values, slopes } in &self.pieces {
            // From each end of a piece the slope says how far the function gets from the parabola.
            let between = point(*from).hull(point(*to));
            let steepness = *slopes - point(slope) - point(2.0 * bend) * (between - point(c));
            let width = Interval::ZERO.hull(point(*to) - point(*from));
            let ahead = left(*from, values[0]) + steepness * width;
            let back = left(*to, values[1]) - steepness * width;
            let both = ahead.intersection(back).unwrap_or(ahead);
            rest = Some(rest.map_or(both, |rest| rest.hull(both)));
        }
        Some(Fit { bend, slope, rest: rest? })
    }
}
