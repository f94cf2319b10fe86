//! Symbols for what is not known of a state: rests become symbols, and many symbols few.
//!
//! A rest that stays an interval loses what the variables have in common at every step (the wrapping
//! effect); as a symbol it is carried along. When there are too many, the least of them are replaced by a
//! parallelepiped around their sum whose edges are orthogonalised in the order of their lengths (Lohner,
//! *Computation of guaranteed enclosures for the solutions of ordinary initial and boundary value
//! problems*, 1992).

use policert_numeric::Interval;
use policert_numeric::round::add_up;

use super::model::Model;
use super::monomial::{Monomial, SYMBOLS};

/// A rest that is less than this part of the variable's radius stays an interval.
const NEGLIGIBLE: f64 = 1e-7;

/// There are at most this many symbols for errors for each variable.
const SYMBOLS_PER_VARIABLE: usize = 10;

/// The symbols of a vector of models; the first ones stand for the initial state and stay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbols {
    /// How many stay.
    pub(super) fixed: usize,
    /// How many others there may be.
    pub(super) most: usize,
}

impl Symbols {
    /// The number of others for a state and actions of these dimensions; `None` if there are not enough.
    pub(super) fn new(fixed: usize, dimension: usize, inputs: usize) -> Option<Self> {
        let most = SYMBOLS.checked_sub(fixed + inputs)?;
        (most >= 2 * dimension)
            .then_some(Self { fixed, most: most.min(SYMBOLS_PER_VARIABLE * dimension) })
    }

    /// The symbols that occur in none of the models.
    pub(super) fn unused(self, models: &[Model]) -> Vec<usize> {
        let terms = models.iter().flat_map(|model| &model.terms);
        let together = terms.fold(Monomial::ONE, |all, (m, _)| all.joined(*m));
        (self.fixed..SYMBOLS).filter(|&i| !together.has(i)).collect()
    }

    /// Makes symbols of rests that are not negligible, so that `reserve` symbols are free afterwards.
    pub(super) fn absorb(self, models: &mut [Model], reserve: usize) {
        let scales = scales(models);
        let open: Vec<usize> = (0..models.len())
            .filter(|&i| models[i].rest.magnitude() > NEGLIGIBLE * scales[i])
            .collect();
        let unused = self.unused(models);
        let occupied = SYMBOLS - self.fixed - unused.len();
        if occupied + open.len() > self.most || open.len() + reserve > unused.len() {
            self.reduce(models, &scales);
            return;
        }
        for (&i, &symbol) in open.iter().zip(&unused) {
            take_rest(&mut models[i], symbol);
        }
    }

    /// Replaces the least symbols, and all rests, by as many as there are variables.
    fn reduce(self, models: &mut [Model], scales: &[f64]) {
        let n = models.len();
        let unused = self.unused(models);
        let mut used: Vec<(usize, f64)> = (self.fixed..SYMBOLS)
            .filter(|i| !unused.contains(i))
            .map(|i| (i, influence(models, scales, i)))
            .collect();
        used.sort_by(|a, b| b.1.total_cmp(&a.1));
        let kept = (self.most / 2).saturating_sub(n).min(used.len());
        let mut generators: Vec<Vec<f64>> = Vec::new();
        for &(symbol, _) in &used[kept..] {
            let monomial = Monomial::symbol(symbol);
            let coefficient = |model: &Model| {
                let at = model.terms.binary_search_by_key(&monomial, |&(m, _)| m);
                at.map_or(0.0, |at| model.terms[at].1)
            };
            generators.push(models.iter().map(coefficient).collect());
        }
        for model in models.iter_mut() {
            let mut lost = 0.0;
            model.terms.retain(|&(m, c)| {
                let goes = used[kept..].iter().any(|&(symbol, _)| m.has(symbol));
                if goes && !m.is_symbol() {
                    lost = add_up(lost, c.abs());
                }
                !goes
            });
            model.rest = model.rest + Interval::ball(0.0, lost);
        }
        for i in 0..n {
            // The rest of each variable is a generator of its own.
            let middle = models[i].rest.midpoint();
            let radius = (models[i].rest - Interval::point(middle)).magnitude();
            models[i].rest = Interval::ZERO;
            let shifted = models[i].clone().shifted(middle);
            models[i] = shifted;
            let mut generator = vec![0.0; n];
            generator[i] = radius;
            generators.push(generator);
        }
        let edges = edges(&generators, scales);
        let mut lengths = vec![0.0; edges.len()];
        for generator in &generators {
            let parts: Vec<f64> =
                edges.iter().map(|edge| edge.part_of(generator, scales)).collect();
            for (length, part) in lengths.iter_mut().zip(&parts) {
                *length = add_up(*length, part.abs());
            }
            // What the parts do not add up to, for rounding.
            for (i, model) in models.iter_mut().enumerate() {
                let sum = edges.iter().zip(&parts).fold(Interval::ZERO, |sum, (edge, &part)| {
                    sum + Interval::point(edge.vector[i]) * Interval::point(part)
                });
                let missing = (Interval::point(generator[i]) - sum).magnitude();
                model.rest = model.rest + Interval::ball(0.0, missing);
            }
        }
        let unused = self.unused(models);
        for ((edge, &length), &symbol) in edges.iter().zip(&lengths).zip(&unused) {
            for (i, model) in models.iter_mut().enumerate() {
                let exact = Interval::point(edge.vector[i]) * Interval::point(length);
                let coefficient = exact.midpoint();
                let error = (exact - Interval::point(coefficient)).magnitude();
                if coefficient != 0.0 {
                    model.terms.push((Monomial::symbol(symbol), coefficient));
                }
                model.rest = model.rest + Interval::ball(0.0, error);
            }
        }
        for model in models.iter_mut() {
            model.terms.sort_by_key(|&(m, _)| m);
        }
    }
}

/// Replaces the rest of a model by a symbol.
pub(super) fn take_rest(model: &mut Model, symbol: usize) {
    let middle = model.rest.midpoint();
    let radius = (model.rest - Interval::point(middle)).magnitude();
    let mut bare = Model { rest: Interval::ZERO, ..model.clone() }.shifted(middle);
    if radius > 0.0 {
        bare.terms.push((Monomial::symbol(symbol), radius));
        bare.terms.sort_by_key(|&(m, _)| m);
    }
    *model = bare;
}

/// The radius of each variable, and a little for its magnitude.
fn scales(models: &[Model]) -> Vec<f64> {
    let scale = |model: &Model| {
        let radius: f64 = model.around_centre().terms.iter().map(|(_, c)| c.abs()).sum();
        radius + model.rest.magnitude() * 1e-3 + model.centre().abs() * 1e-9 + 1e-200
    };
    models.iter().map(scale).collect()
}

/// The greatest part of a variable's radius that a symbol makes.
fn influence(models: &[Model], scales: &[f64], symbol: usize) -> f64 {
    let parts = models.iter().zip(scales).map(|(model, scale)| {
        let terms = model.terms.iter().filter(|(m, _)| m.has(symbol));
        terms.map(|(_, c)| c.abs()).sum::<f64>() / scale
    });
    parts.fold(0.0, f64::max)
}

/// An edge of a parallelepiped: the unit vector of a direction in which variables are measured by their
/// scales, and the same in the variables themselves.
struct Edge {
    direction: Vec<f64>,
    vector: Vec<f64>,
}

impl Edge {
    /// About the part of a vector along the edge.
    fn part_of(&self, vector: &[f64], scales: &[f64]) -> f64 {
        let terms = self.direction.iter().zip(vector).zip(scales);
        terms.map(|((d, x), scale)| d * (x / scale)).sum()
    }
}

/// Orthogonal directions, as many as there are variables: that of the longest generator, of the longest of
/// what is left of the others, and so on.
fn edges(generators: &[Vec<f64>], scales: &[f64]) -> Vec<Edge> {
    let n = scales.len();
    let mut left: Vec<Vec<f64>> = generators
        .iter()
        .map(|generator| generator.iter().zip(scales).map(|(x, scale)| x / scale).collect())
        .collect();
    // Unit vectors complete the basis.
    left.extend((0..n).map(|i| (0..n).map(|k| if i == k { 1e-30 } else { 0.0 }).collect()));
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut edges: Vec<Edge> = Vec::with_capacity(n);
    for _ in 0..n {
        let longest = left.iter().max_by(|a, b| length(a).total_cmp(&length(b)));
        let Some(longest) = longest else { break };
        let norm = length(longest);
        if !(norm > 0.0 && norm.is_finite()) {
            break;
        }
        let direction: Vec<f64> = longest.iter().map(|x| x / norm).collect();
        for other in &mut left {
            let part: f64 = other.iter().zip(&direction).map(|(x, d)| x * d).sum();
            for (x, d) in other.iter_mut().zip(&direction) {
                *x -= part * d;
            }
        }
        let vector = direction.iter().zip(scales).map(|(d, scale)| d * scale).collect();
        edges.push(Edge { direction, vector });
    }
    edges
}
