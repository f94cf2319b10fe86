//! Bounds of every element of every node over a box, by interval arithmetic.
//!
//! Affine nodes are computed as centre and radius in plain double precision, and widened by the
//! error bound of the [frame](crate::frame).

use std::ops::Range;

use policert_numeric::round::{add_down, add_up, at_least, at_most, mul_down, mul_up};
use policert_policy::{NodeId, Op};
use pulp::{Arch, Simd};

use crate::frame::RegionFrame;
use crate::kernel::{Kernel, load, magnitude, run, store, vectors};
use crate::program::{LANES, Lanes, Program, factor};

/// Bounds of all slots.
#[derive(Debug)]
pub(crate) struct SlotBounds {
    pub lo: Vec<f64>,
    pub hi: Vec<f64>,
    centre: Vec<f64>,
    radius: Vec<f64>,
    centres: Vec<Lanes>,
    radii: Vec<Lanes>,
    arch: Arch,
}

impl SlotBounds {
    pub fn new(program: &Program) -> Self {
        let unknown = |value| vec![value; program.slots];
        Self {
            lo: unknown(f64::NEG_INFINITY),
            hi: unknown(f64::INFINITY),
            centre: Vec::new(),
            radius: Vec::new(),
            centres: Vec::new(),
            radii: Vec::new(),
            arch: Arch::new(),
        }
    }

    /// Sets the bounds of the input.
    pub fn set_input(&mut self, lo: &[f64], hi: &[f64]) {
        self.lo[..lo.len()].copy_from_slice(lo);
        self.hi[..hi.len()].copy_from_slice(hi);
    }

    /// Shrinks the bounds of a slot; bounds that are no numbers are ignored.
    #[inline]
    pub fn intersect(&mut self, slot: usize, lo: f64, hi: f64) {
        if lo > self.lo[slot] {
            self.lo[slot] = lo;
        }
        if hi < self.hi[slot] {
            self.hi[slot] = hi;
        }
    }

    /// Shrinks the bounds of some slots to those of the region.
    pub fn limit(&mut self, slots: Range<usize>, frame: &RegionFrame) {
        let bounds = self.lo[slots.clone()].iter_mut().zip(&mut self.hi[slots.clone()]);
        let region = frame.least[slots.clone()].iter().zip(&frame.greatest[slots]);
        for ((lo, hi), (&least, &greatest)) in bounds.zip(region) {
            *lo = lo.max(least);
            *hi = hi.min(greatest);
        }
    }

    /// Computes the bounds of a node from those of its sources (for the input: from the frame).
    pub fn set_node(&mut self, program: &Program, frame: &RegionFrame, node: usize) {
        let width = program.nodes[node].width;
        let at = program.nodes[node].at;
        match program.op(node) {
            Op::Input => {
                self.lo[..width].copy_from_slice(&frame.lo);
                self.hi[..width].copy_from_slice(&frame.hi);
            }
            Op::Affine { input, bias, .. } => {
                self.set_affine(program, frame, node, input.index(), bias);
            }
            Op::Scale { input, mul, div, add } => {
                let source = program.nodes[input.index()].at;
                for i in 0..width {
                    let factor = factor(mul[i], div[i]);
                    let (lo, hi) = (self.lo[source + i], self.hi[source + i]);
                    let (a, b) = if factor < 0.0 { (hi, lo) } else { (lo, hi) };
                    let lo = add_down(mul_down(factor, a), add[i]);
                    let hi = add_up(mul_up(factor, b), add[i]);
                    // The factor itself is rounded.
                    let error = frame.errors[at + i];
                    self.lo[at + i] = add_down(lo, -error);
                    self.hi[at + i] = add_up(hi, error);
                }
            }
            Op::Pointwise { input, activation } => {
                let source = program.nodes[input.index()].at;
                let (below, lo) = self.lo.split_at_mut(at);
                let (above, hi) = self.hi.split_at_mut(at);
                let sources = below[source..source + width].iter().zip(&above[source..]);
                for ((lo, hi), (below, above)) in lo.iter_mut().zip(hi).zip(sources) {
                    (*lo, *hi) = activation.image(*below, *above);
                }
            }
            Op::Add { inputs } => {
                for i in 0..width {
                    let at_source = |s: &NodeId| program.nodes[s.index()].at + i;
                    let lo = inputs.iter().map(|s| self.lo[at_source(s)]);
                    let hi = inputs.iter().map(|s| self.hi[at_source(s)]);
                    let (lo, hi) = (lo.reduce(add_down), hi.reduce(add_up));
                    self.lo[at + i] = lo.unwrap_or(f64::NEG_INFINITY);
                    self.hi[at + i] = hi.unwrap_or(f64::INFINITY);
                }
            }
            Op::Max { inputs } => {
                for i in 0..width {
                    let at_source = |s: &NodeId| program.nodes[s.index()].at + i;
                    let lo = inputs.iter().map(|s| self.lo[at_source(s)]);
                    let hi = inputs.iter().map(|s| self.hi[at_source(s)]);
                    let (lo, hi) = (lo.reduce(f64::max), hi.reduce(f64::max));
                    self.lo[at + i] = lo.unwrap_or(f64::NEG_INFINITY);
                    self.hi[at + i] = hi.unwrap_or(f64::INFINITY);
                }
            }
            Op::Concat { inputs } => {
                let mut at = at;
                for input in inputs {
                    let range = program.range(input.index());
                    self.lo.copy_within(range.clone(), at);
                    self.hi.copy_within(range.clone(), at);
                    at += range.len();
                }
            }
        }
    }

    fn set_affine(
        &mut self,
        program: &Program,
        frame: &RegionFrame,
        node: usize,
        source: usize,
        bias: &[f64],
    ) {
        let source = program.range(source);
        self.centre.clear();
        self.radius.clear();
        let (bias, panels) = if let Some(first) = &frame.first[node] {
            for &k in &frame.free {
                self.push_ball(source.start + k);
            }
            (&first.bias[..], &first.panels.forward)
        } else {
            source.for_each(|slot| self.push_ball(slot));
            (bias, &program.nodes[node].panels.forward)
        };
        let count = bias.len().div_ceil(LANES);
        for sums in [&mut self.centres, &mut self.radii] {
            sums.clear();
            sums.resize(count, [0.0; LANES]);
        }
        let product = BallProduct {
            panels,
            centre: &self.centre,
            radius: &self.radius,
            centres: &mut self.centres,
            radii: &mut self.radii,
        };
        run(self.arch, product);
        let range = program.range(node);
        let bounds = self.lo[range.clone()].iter_mut().zip(&mut self.hi[range.clone()]);
        let balls = self.centres.as_flattened().iter().zip(self.radii.as_flattened());
        let constants = bias.iter().zip(&frame.errors[range]);
        for (((lo, hi), (centre, radius)), (bias, error)) in bounds.zip(balls).zip(constants) {
            // The roundings of these sums are within the error bound too.
            let (centre, radius) = (centre + bias, radius + error);
            *lo = at_least(centre - radius);
            *hi = at_most(centre + radius);
        }
    }

    /// Centre and radius of a ball around a slot.
    #[inline]
    fn push_ball(&mut self, slot: usize) {
        let (lo, hi) = (self.lo[slot], self.hi[slot]);
        let centre = lo / 2.0 + hi / 2.0;
        let radius = (hi - centre).max(centre - lo) * (1.0 + 4.0 * f64::EPSILON);
        self.centre.push(centre);
        self.radius.push(radius);
    }
}

/// For each neuron Σ w · centre and Σ |w| · radius.
struct BallProduct<'a> {
    panels: &'a [Lanes],
    centre: &'a [f64],
    radius: &'a [f64],
    centres: &'a mut [Lanes],
    radii: &'a mut [Lanes],
}

impl Kernel for BallProduct<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        if self.centre.is_empty() {
            return;
        }
        let panels = self.panels.chunks_exact(self.centre.len());
        for ((panel, centres), radii) in panels.zip(self.centres).zip(self.radii) {
            let (mut c, mut r) = (load::<S, N>(simd, centres), load::<S, N>(simd, radii));
            let columns = vectors::<S>(panel).chunks_exact(N).zip(self.centre).zip(self.radius);
            for ((weights, &centre), &radius) in columns {
                let (centre, radius) = (simd.splat_f64s(centre), simd.splat_f64s(radius));
                for v in 0..N {
                    c[v] = simd.mul_add_e_f64s(weights[v], centre, c[v]);
                    r[v] = simd.mul_add_e_f64s(magnitude(simd, weights[v]), radius, r[v]);
                }
            }
            store::<S, N>(centres, c);
            store::<S, N>(radii, r);
        }
    }
}
