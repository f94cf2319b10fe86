//! Zonotopes: affine images of cubes, {c + Σₖ εₖ·gₖ : −1 ≤ εₖ ≤ 1}.
//!
//! Linear maps keep the dependencies between variables, which boxes lose at every step (the
//! wrapping effect). Every rounding error of an operation becomes a part of the result's error box,
//! whose sides are generators of their own (Girard, *Reachability of uncertain linear systems using
//! zonotopes*, HSCC 2005).

use policert_numeric::Interval;
use policert_numeric::round::{add_up, dot_error, mul_up};

/// A zonotope in a space of some number of variables.
#[derive(Clone, Debug)]
pub(crate) struct Zonotope {
    /// One number for each variable.
    centre: Vec<f64>,
    /// The generators, one after the other.
    generators: Vec<f64>,
}

/// A linear map with a remainder: the variables `i` of the image are in
/// `baseᵢ + Σⱼ slopesᵢⱼ·(xⱼ − cⱼ)`, where c is the centre.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearMap<'a> {
    /// Row by row.
    pub slopes: &'a [Interval],
    /// The image of the centre and what is added anyhow.
    pub base: &'a [Interval],
}

impl Zonotope {
    /// The zonotope that is a box.
    pub(crate) fn of_box(sides: &[Interval]) -> Self {
        let centre: Vec<f64> = sides.iter().map(|side| side.midpoint()).collect();
        let radii = sides.iter().zip(&centre);
        let radii: Vec<f64> =
            radii.map(|(side, &centre)| (*side - Interval::point(centre)).magnitude()).collect();
        let mut zonotope = Self { centre, generators: Vec::new() };
        zonotope.widen(&radii);
        zonotope
    }

    /// The number of variables.
    pub(crate) fn dimension(&self) -> usize {
        self.centre.len()
    }

    /// The middle.
    pub(crate) fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The least box around it, outwards rounded.
    pub(crate) fn hull(&self) -> Vec<Interval> {
        let radii = self.radii();
        self.centre
            .iter()
            .zip(radii)
            .map(|(&centre, radius)| Interval::ball(centre, radius))
            .collect()
    }

    /// For each variable the greatest distance from the centre, rounded up.
    fn radii(&self) -> Vec<f64> {
        let mut radii = vec![0.0; self.dimension()];
        for generator in self.generators.chunks_exact(self.dimension().max(1)) {
            for (radius, side) in radii.iter_mut().zip(generator) {
                *radius = add_up(*radius, side.abs());
            }
        }
        radii
    }

    /// Adds a box around 0.
    fn widen(&mut self, radii: &[f64]) {
        for (i, &radius) in radii.iter().enumerate() {
            if radius > 0.0 {
                let from = self.generators.len();
                self.generators.resize(from + radii.len(), 0.0);
                self.generators[from + i] = radius;
            }
        }
    }

    /// A zonotope around the image under a linear map of its points that lie at `offsets` from the
    /// centre. `None` if something is not finite.
    pub(crate) fn image(&self, map: LinearMap<'_>, offsets: &[Interval]) -> Option<Self> {
        let (rows, columns) = (map.base.len(), self.dimension());
        let radii = self.radii();
        let middles: Vec<f64> = map.slopes.iter().map(|slope| slope.midpoint()).collect();
        let centre: Vec<f64> = map.base.iter().map(|base| base.midpoint()).collect();
        let count = self.generators.len() / columns.max(1);
        let mut generators = Vec::with_capacity((count + rows) * rows);
        for generator in self.generators.chunks_exact(columns.max(1)) {
            for row in middles.chunks_exact(columns.max(1)) {
                generators.push(row.iter().zip(generator).map(|(a, b)| a * b).sum());
            }
        }
        let mut errors = Vec::with_capacity(rows);
        for (i, base) in map.base.iter().enumerate() {
            let mut error = (*base - Interval::point(centre[i])).magnitude();
            let mut size = 0.0;
            for j in 0..columns {
                let (slope, middle) = (map.slopes[i * columns + j], middles[i * columns + j]);
                let radius = (slope - Interval::point(middle)).magnitude();
                error = add_up(error, mul_up(radius, offsets[j].magnitude()));
                size = add_up(size, mul_up(middle.abs(), radii[j]));
            }
            // The rounding of all new generators, with the underflow of each.
            #[expect(clippy::cast_precision_loss, reason = "far below 2⁵³")]
            let underflow = mul_up(count as f64, dot_error(columns + 1, 0.0));
            error = add_up(error, add_up(dot_error(columns + 1, size), underflow));
            errors.push(error);
        }
        let mut image = Self { centre, generators };
        image.widen(&errors);
        image.centre.iter().chain(&image.generators).all(|x| x.is_finite()).then_some(image)
    }

    /// Replaces the least generators by a box around them until there are at most `most`.
    pub(crate) fn reduce(&mut self, most: usize) {
        let n = self.dimension().max(1);
        let count = self.generators.len() / n;
        if count <= most.max(n) {
            return;
        }
        // Those come first that a box replaces best: ‖g‖₁ − ‖g‖∞ is small.
        let waste = |generator: &[f64]| {
            let sum: f64 = generator.iter().map(|x| x.abs()).sum();
            sum - generator.iter().map(|x| x.abs()).fold(0.0, f64::max)
        };
        let mut order: Vec<usize> = (0..count).collect();
        let generator = |k: usize| &self.generators[k * n..(k + 1) * n];
        order.sort_by(|&a, &b| waste(generator(a)).total_cmp(&waste(generator(b))));
        let (boxed, kept) = order.split_at(count - (most.max(n) - n));
        let mut radii = vec![0.0; n];
        for &k in boxed {
            for (radius, side) in radii.iter_mut().zip(generator(k)) {
                *radius = add_up(*radius, side.abs());
            }
        }
        self.generators = kept.iter().flat_map(|&k| generator(k)).copied().collect();
        self.widen(&radii);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_by_a_right_angle_keeps_the_box() {
        let sides = [Interval::ball(1.0, 0.5), Interval::ball(0.0, 0.25)];
        let mut turned = Zonotope::of_box(&sides);
        let point = Interval::point;
        // By 45 degrees eight times, with the factor √2 each time, then scaled back by 1/16.
        for _ in 0..8 {
            let slopes = [point(1.0), point(-1.0), point(1.0), point(1.0)];
            let centre = turned.centre().to_vec();
            let base = [point(centre[0] - centre[1]), point(centre[0] + centre[1])];
            let offsets: Vec<Interval> =
                turned.hull().iter().zip(&centre).map(|(h, &c)| *h - point(c)).collect();
            let map = LinearMap { slopes: &slopes, base: &base };
            turned = turned.image(map, &offsets).expect("finite");
            turned.reduce(8);
        }
        for (side, hull) in sides.iter().zip(turned.hull()) {
            let scaled = hull * point(1.0 / 16.0);
            assert!(scaled.includes(*side), "{scaled:?}");
            assert!(scaled.width() < side.width() * (1.0 + 1e-12), "{scaled:?}");
        }
    }

    #[test]
    fn fewer_generators_cover_more() {
        let mut zonotope = Zonotope {
            centre: vec![0.0, 0.0],
            generators: vec![1.0, 0.0, 0.25, 0.25, 0.5, -0.125, 0.0, 1.0, 0.125, 0.0],
        };
        let hull = zonotope.hull();
        zonotope.reduce(4);
        assert_eq!(zonotope.generators.len(), 8);
        assert_eq!(zonotope.hull(), hull);
    }
}
