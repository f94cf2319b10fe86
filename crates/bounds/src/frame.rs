//! What stays the same for all boxes inside one region: inputs that are fixed, folded into the
//! biases of the first layers, and the constants of the rounding-error model.
//!
//! # The rounding-error model
//!
//! Bounds are computed in double precision, rounded to nearest, in any order of summation, with
//! or without fused multiply-adds; the error of the whole computation is bounded afterwards and
//! subtracted.
//!
//! Let Y bound the magnitude of every element of every node over the region (kept here for each
//! slot as `magnitude`). A lower bound starts as a linear form Σ aᵢ·yᵢ + c of one node and is
//! carried back node by node:
//!
//! - *affine*, y = W·x + b: the new coefficients a′ⱼ = Σ aᵢ·Wᵢⱼ are computed with a relative error
//!   of at most γ of Σ |aᵢ|·|Wᵢⱼ|. Replacing the exact ones by the computed ones changes the form
//!   by at most γ·Σ |aᵢ|·Σⱼ |Wᵢⱼ|·Yⱼ, so by γ·Σ |aᵢ|·Fᵢ with the *flow* Fᵢ = |bᵢ| + Σⱼ |Wᵢⱼ|·Yⱼ;
//! - *pointwise*, y = f(x), with lines s·x + t on the right side of f (in real arithmetic, for
//!   the doubles s and t): a′ = a·s errs by at most γ·|a|·|s|·Y, and F = |s|·Y + |t|;
//! - *scale*, *sum*, *maximum*, *concatenation* and *input* likewise.
//!
//! The sign of the computed coefficient chooses the line, and the computed coefficient is exact
//! from then on, so errors of different nodes only add up. The constant c is a sum of terms whose
//! magnitudes are at most |aᵢ|·Fᵢ as well. With T = Σ |aᵢ|·Fᵢ over all nodes passed, the whole
//! error is at most γ·T + ω: γ = γₖ for k above the number of roundings of any one term on its
//! way, and ω for products that underflow, each of which loses at most 2⁻¹⁰⁷⁵ and is multiplied by
//! at most 1 + Σ Y later. T is computed in double precision too; a factor of 1 + 10⁻⁶ covers that.
//!
//! Anything that overflows makes T infinite or not a number, and the bound −∞.

use policert_numeric::round::{add_up, gamma, mul_up};
use policert_policy::{NodeId, Op};

use crate::interval::SlotBounds;
use crate::program::{LANES, Panels, Program, factor};

/// The constants of one region.
#[derive(Debug)]
pub(crate) struct RegionFrame {
    /// Bounds of the network's inputs.
    pub lo: Vec<f64>,
    pub hi: Vec<f64>,
    /// The inputs that are not fixed.
    pub free: Vec<usize>,
    /// Bounds of each slot.
    pub least: Vec<f64>,
    pub greatest: Vec<f64>,
    /// Bound of the magnitude of each slot.
    pub magnitude: Vec<f64>,
    /// F of each slot.
    pub flow: Vec<f64>,
    /// The error bound of an interval computation whose terms are those of F, for each slot.
    pub errors: Vec<f64>,
    /// By node: the affine nodes that read the input, with fixed inputs folded in.
    pub first: Vec<Option<FirstLayer>>,
    /// γ.
    pub gamma: f64,
    /// ω.
    pub floor: f64,
}

/// An affine node of the free inputs alone.
#[derive(Debug)]
pub(crate) struct FirstLayer {
    pub bias: Vec<f64>,
    pub panels: Panels,
}

/// Parts whose inputs are smaller than those of the region by this factor get constants of their own:
/// errors grow with the inputs.
const SMALL_PART: f64 = 1024.0;

/// Covers the rounding of the error terms themselves.
const INFLATION: f64 = 1.0 + 1e-6;

impl RegionFrame {
    /// The constants for the inputs between `lo` and `hi` (finite).
    pub fn new(program: &Program, lo: Vec<f64>, hi: Vec<f64>) -> Self {
        let mut frame = Self {
            free: free(&lo, &hi),
            lo,
            hi,
            least: vec![0.0; program.slots],
            greatest: vec![0.0; program.slots],
            magnitude: vec![0.0; program.slots],
            flow: vec![0.0; program.slots],
            errors: vec![0.0; program.slots],
            first: Vec::new(),
            gamma: gamma(roundings(program)),
            floor: f64::MIN_POSITIVE,
        };
        let mut bounds = SlotBounds::new(program);
        let mut total = 1.0;
        for node in 0..program.nodes.len() {
            let first = frame.folded(program, node);
            frame.first.push(first);
            frame.set_flow(program, node);
            for slot in program.range(node) {
                frame.errors[slot] = frame.error(frame.flow[slot]);
            }
            bounds.set_node(program, &frame, node);
            for slot in program.range(node) {
                frame.least[slot] = bounds.lo[slot];
                frame.greatest[slot] = bounds.hi[slot];
                frame.magnitude[slot] = bounds.lo[slot].abs().max(bounds.hi[slot].abs());
                total = add_up(total, frame.magnitude[slot]);
            }
            frame.floor = mul_up(f64::MIN_POSITIVE, total);
        }
        frame
    }

    /// The constants for the inputs between `lo` and `hi`. In a part of the region its magnitudes are
    /// bounds too, which saves most of the work.
    pub fn within(&self, program: &Program, lo: Vec<f64>, hi: Vec<f64>) -> Self {
        if !self.serves(&lo, &hi) {
            return Self::new(program, lo, hi);
        }
        let mut part = Self {
            free: free(&lo, &hi),
            lo,
            hi,
            least: self.least.clone(),
            greatest: self.greatest.clone(),
            magnitude: self.magnitude.clone(),
            flow: self.flow.clone(),
            errors: self.errors.clone(),
            first: Vec::new(),
            gamma: self.gamma,
            floor: self.floor,
        };
        part.first = (0..program.nodes.len()).map(|node| part.folded(program, node)).collect();
        part
    }

    /// Returns whether the inputs between `lo` and `hi` are in the region, and its magnitudes of use for
    /// them: finite, and not much too great.
    pub fn serves(&self, lo: &[f64], hi: &[f64]) -> bool {
        let size = |lo: &[f64], hi: &[f64]| {
            lo.iter().chain(hi).fold(1.0, |size: f64, x| size.max(x.abs()))
        };
        let is_inside = self.lo.iter().zip(lo).all(|(whole, part)| whole <= part)
            && self.hi.iter().zip(hi).all(|(whole, part)| whole >= part);
        is_inside && self.floor.is_finite() && size(lo, hi) * SMALL_PART >= size(&self.lo, &self.hi)
    }

    /// Bounds of the scores for the inputs between `lo` and `hi`, by interval arithmetic.
    pub fn scores(program: &Program, lo: Vec<f64>, hi: Vec<f64>) -> Vec<(f64, f64)> {
        let frame = Self::new(program, lo, hi);
        let mut bounds = SlotBounds::new(program);
        for node in 0..program.nodes.len() {
            bounds.set_node(program, &frame, node);
        }
        let range = program.range(program.output);
        bounds.lo[range.clone()].iter().copied().zip(bounds.hi[range].iter().copied()).collect()
    }

    /// The bound of the error of a computation whose terms have magnitudes that sum to `terms`.
    #[inline]
    pub fn error(&self, terms: f64) -> f64 {
        add_up(mul_up(self.gamma * INFLATION, terms), self.floor)
    }

    fn folded(&self, program: &Program, node: usize) -> Option<FirstLayer> {
        let Op::Affine { input: NodeId::INPUT, weights, bias } = program.op(node) else {
            return None;
        };
        // Free inputs count as 0.
        let fixed: Vec<f64> =
            self.lo.iter().zip(&self.hi).map(|(lo, hi)| if lo < hi { 0.0 } else { *lo }).collect();
        let fold = |(row, bias): (&[f64], &f64)| {
            row.iter().zip(&fixed).fold(*bias, |sum, (weight, value)| sum + weight * value)
        };
        let bias = weights.row_iter().zip(bias).map(fold).collect();
        let panels = Panels::new(weights, &self.free);
        Some(FirstLayer { bias, panels })
    }

    /// F of the elements of a node, from the magnitudes of its sources.
    fn set_flow(&mut self, program: &Program, node: usize) {
        let at = program.nodes[node].at;
        for (i, slot) in program.range(node).enumerate() {
            let of = |source: &NodeId| self.magnitude[program.nodes[source.index()].at + i];
            self.flow[slot] = match program.op(node) {
                Op::Input => {
                    let (lo, hi) = (self.lo[i], self.hi[i]);
                    lo.abs().max(hi.abs())
                }
                Op::Affine { input, weights, bias } => {
                    let sizes = &self.magnitude[program.range(input.index())];
                    let terms = weights.row(i).iter().zip(sizes);
                    terms.fold(bias[i].abs(), |sum, (w, size)| sum + w.abs() * size)
                }
                Op::Scale { input, mul, div, add } => {
                    factor(mul[i], div[i]).abs() * of(input) + add[i].abs()
                }
                Op::Pointwise { input, activation } => {
                    // |f(x)| + 3 · steepness · |x| bounds |slope · x| + |offset|.
                    let source = program.nodes[input.index()].at + i;
                    let (lo, hi) = (self.least[source], self.greatest[source]);
                    let steepness = activation.steepness(lo, hi);
                    let (lo, hi) = activation.image(lo, hi);
                    lo.abs().max(hi.abs()) + 3.0 * steepness * of(input)
                }
                Op::Add { inputs } => inputs.iter().map(of).sum(),
                Op::Max { inputs } => inputs.iter().map(of).fold(0.0, f64::max),
                Op::Concat { inputs } => {
                    let mut i = slot - at;
                    let mut size = 0.0;
                    for input in inputs {
                        let source = &program.nodes[input.index()];
                        let width = source.width;
                        if i < width {
                            size = self.magnitude[source.at + i];
                            break;
                        }
                        i -= width;
                    }
                    size
                }
            } * INFLATION;
        }
    }
}

/// The inputs that are not fixed.
fn free(lo: &[f64], hi: &[f64]) -> Vec<usize> {
    (0..lo.len()).filter(|&k| lo[k] < hi[k]).collect()
}

/// More than the roundings of any one term on its way from a score to the inputs.
fn roundings(program: &Program) -> usize {
    let terms = |node: usize| match program.op(node) {
        Op::Affine { weights, .. } => weights.columns(),
        Op::Add { inputs } | Op::Concat { inputs } | Op::Max { inputs } => inputs.len(),
        Op::Input | Op::Scale { .. } | Op::Pointwise { .. } => 0,
    };
    let nodes = program.nodes.iter().enumerate();
    nodes.map(|(i, node)| node.width + terms(i) + 4 * LANES).sum()
}
