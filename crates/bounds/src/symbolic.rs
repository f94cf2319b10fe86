//! Backward linear relaxation: lower bounds of linear forms of a node over a box of inputs, as
//! planes over the inputs (CROWN, DeepPoly).
//!
//! A form Σ aᵢ·yᵢ + c is carried from its node back to the input; at a function that is not linear
//! each coefficient takes the line below (a > 0) or above (a < 0). A block of forms runs side by
//! side. Rounding errors: see [frame](crate::frame).

use policert_numeric::round::sub_down;
use pulp::Arch;

use crate::frame::Frame;
use crate::interval::Bounds;
use crate::kernel::{Kernel, multiply_add, run};
use crate::program::{COLUMNS, LANES, Lanes, Op, Program};
use crate::relaxation::Lines;

/// Forms that are carried back side by side.
#[derive(Debug)]
pub(crate) struct Forms {
    /// Coefficients of each slot, where `live`.
    coefficients: Vec<Lanes>,
    live: Vec<bool>,
    /// The constants c.
    constant: Lanes,
    /// T of the error model.
    terms: Lanes,
    arch: Arch,
}

/// What a backward substitution reads of the functions that are not linear.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relaxations<'a> {
    /// Lines by slot.
    pub lines: &'a [Lines],
    /// Bounds by slot; those of the input are the box.
    pub bounds: &'a Bounds,
}

impl Forms {
    pub fn new(program: &Program) -> Self {
        Self {
            coefficients: vec![[0.0; LANES]; program.slots],
            live: vec![false; program.nodes.len()],
            constant: [0.0; LANES],
            terms: [0.0; LANES],
            arch: Arch::new(),
        }
    }

    /// Starts with zero forms.
    pub fn clear(&mut self) {
        self.live.fill(false);
        self.constant = [0.0; LANES];
        self.terms = [0.0; LANES];
    }

    /// Adds `factor` times element `i` of `node` to the form in a lane, one node for all lanes.
    /// Substitutes the row of an affine node at once.
    pub fn add(&mut self, program: &Program, frame: &Frame, node: usize, start: &Start) {
        let Start { lane, element, factor } = *start;
        let slot = program.nodes[node].at + element;
        if let Op::Affine(affine) = &program.nodes[node].op
            && frame.first[node].is_none()
        {
            self.enliven(program, affine.source);
            let source = program.range(affine.source);
            for (a, w) in self.coefficients[source].iter_mut().zip(affine.row(element)) {
                a[lane] += factor * w;
            }
            self.constant[lane] += factor * affine.bias[element];
            self.terms[lane] += factor.abs() * frame.flow[slot];
        } else {
            self.enliven(program, node);
            self.coefficients[slot][lane] += factor;
        }
    }

    /// Makes a node's coefficients usable.
    fn enliven(&mut self, program: &Program, node: usize) {
        if !self.live[node] {
            self.live[node] = true;
            self.coefficients[program.range(node)].fill([0.0; LANES]);
        }
    }

    /// Carries the forms back to the input and writes a lower bound of each over the box.
    pub fn lower_bounds(
        &mut self,
        program: &Program,
        frame: &Frame,
        relaxations: Relaxations<'_>,
    ) -> Lanes {
        let arch = self.arch;
        run(arch, Backward { forms: self, program, frame, relaxations });
        std::array::from_fn(|lane| {
            let bound = sub_down(self.constant[lane], frame.error(self.terms[lane]));
            // An infinite bound is one that overflowed.
            if bound < f64::INFINITY { bound } else { f64::NEG_INFINITY }
        })
    }

    /// The coefficient of an element of a node in the form of a lane, as it was when the node was
    /// passed.
    pub fn coefficient(&self, program: &Program, node: usize, element: usize, lane: usize) -> f64 {
        if self.live[node] {
            self.coefficients[program.nodes[node].at + element][lane]
        } else {
            0.0
        }
    }
}

/// A term to start a form with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub lane: usize,
    pub element: usize,
    pub factor: f64,
}

struct Backward<'a> {
    forms: &'a mut Forms,
    program: &'a Program,
    frame: &'a Frame,
    relaxations: Relaxations<'a>,
}

impl Kernel for Backward<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { forms, program, frame, relaxations } = self;
        for node in (0..program.nodes.len()).rev() {
            if forms.live[node] {
                forms.pass_node::<FUSED>(program, frame, relaxations, node);
            }
        }
    }
}

impl Forms {
    #[inline(always)]
    fn pass_node<const FUSED: bool>(
        &mut self,
        program: &Program,
        frame: &Frame,
        relaxations: Relaxations<'_>,
        node: usize,
    ) {
        let range = program.range(node);
        let (before, rest) = self.coefficients.split_at_mut(range.start);
        let own = &mut rest[..range.len()];
        let flow = &frame.flow[range.clone()];
        // T, from the coefficients as they are: a NaN among them stays a NaN.
        for (a, &flow) in own.iter().zip(flow) {
            for (terms, a) in self.terms.iter_mut().zip(a) {
                *terms = multiply_add::<FUSED>(a.abs(), flow, *terms);
            }
        }
        let live = &mut self.live;
        let mut target = |source: usize, before: &mut [Lanes]| {
            let fresh = !live[source];
            live[source] = true;
            if fresh {
                before[program.range(source)].fill([0.0; LANES]);
            }
        };
        match &program.nodes[node].op {
            Op::Input => {
                let bounds = relaxations.bounds;
                for ((a, &lo), &hi) in own.iter().zip(&bounds.lo).zip(&bounds.hi) {
                    for (sum, &a) in self.constant.iter_mut().zip(a) {
                        let end = if a >= 0.0 { lo } else { hi };
                        *sum = multiply_add::<FUSED>(a, end, *sum);
                    }
                }
            }
            Op::Affine(affine) => {
                target(affine.source, before);
                let source = &mut before[program.range(affine.source)];
                if let Some(first) = &frame.first[node] {
                    add_constants::<FUSED>(own, &first.bias, &mut self.constant);
                    let columns = frame.free.chunks(COLUMNS);
                    for (panel, columns) in
                        first.panels.backward.chunks_exact(own.len()).zip(columns)
                    {
                        let sums = column_sums::<FUSED>(panel, own);
                        for (&column, sums) in columns.iter().zip(&sums) {
                            add_lanes(&mut source[column], sums);
                        }
                    }
                } else {
                    add_constants::<FUSED>(own, &affine.bias, &mut self.constant);
                    let panels = affine.panels.backward.chunks_exact(own.len());
                    for (panel, columns) in panels.zip(source.chunks_mut(COLUMNS)) {
                        let sums = column_sums::<FUSED>(panel, own);
                        for (column, sums) in columns.iter_mut().zip(&sums) {
                            add_lanes(column, sums);
                        }
                    }
                }
            }
            Op::Scale { source, factors, summands } => {
                target(*source, before);
                add_constants::<FUSED>(own, summands, &mut self.constant);
                let source = &mut before[program.range(*source)];
                for ((out, a), factor) in source.iter_mut().zip(own).zip(factors) {
                    for (out, a) in out.iter_mut().zip(a) {
                        *out = multiply_add::<FUSED>(*a, *factor, *out);
                    }
                }
            }
            Op::Pointwise { source, .. } => {
                target(*source, before);
                let source = &mut before[program.range(*source)];
                let lines = &relaxations.lines[range];
                for ((out, a), lines) in source.iter_mut().zip(own).zip(lines) {
                    for lane in 0..LANES {
                        let positive = if a[lane] > 0.0 { a[lane] } else { 0.0 };
                        let negative = if a[lane] < 0.0 { a[lane] } else { 0.0 };
                        let slope = multiply_add::<FUSED>(
                            positive,
                            lines.lower_slope,
                            negative * lines.upper_slope,
                        );
                        out[lane] += slope;
                        let offset = multiply_add::<FUSED>(
                            negative,
                            lines.upper_offset,
                            self.constant[lane],
                        );
                        self.constant[lane] =
                            multiply_add::<FUSED>(positive, lines.lower_offset, offset);
                    }
                }
            }
            Op::Add { sources } => {
                for &source in sources {
                    target(source, before);
                    for (out, a) in before[program.range(source)].iter_mut().zip(&*own) {
                        add_lanes(out, a);
                    }
                }
            }
            Op::Concat { sources } => {
                let mut rest = &*own;
                for &source in sources {
                    target(source, before);
                    let (part, others) = rest.split_at(program.nodes[source].width);
                    for (out, a) in before[program.range(source)].iter_mut().zip(part) {
                        add_lanes(out, a);
                    }
                    rest = others;
                }
            }
            Op::Max { sources } => {
                for &source in sources {
                    target(source, before);
                }
                for (i, a) in own.iter().enumerate() {
                    let greatest = Greatest::of(program, relaxations.bounds, sources, i);
                    let out = &mut before[greatest.slot];
                    for lane in 0..LANES {
                        if a[lane] > 0.0 || greatest.dominates {
                            out[lane] += a[lane];
                        } else {
                            self.constant[lane] += a[lane] * greatest.upper;
                        }
                    }
                }
            }
        }
    }
}

/// The source of an element-wise maximum that has the greatest lower bound.
struct Greatest {
    slot: usize,
    /// Whether it is the maximum everywhere.
    dominates: bool,
    /// Upper bound of the maximum.
    upper: f64,
}

impl Greatest {
    fn of(program: &Program, bounds: &Bounds, sources: &[usize], element: usize) -> Self {
        let mut slots = sources.iter().map(|&source| program.nodes[source].at + element);
        let first = slots.clone().next().unwrap_or(0);
        let slot = slots
            .clone()
            .fold(first, |best, slot| if bounds.lo[slot] > bounds.lo[best] { slot } else { best });
        let dominates =
            slots.clone().all(|other| other == slot || bounds.hi[other] <= bounds.lo[slot]);
        let upper = slots.by_ref().fold(f64::NEG_INFINITY, |hi, slot| hi.max(bounds.hi[slot]));
        Self { slot, dominates, upper }
    }
}

/// Σᵢ aᵢ · constants ᵢ, added to the constants of the forms.
#[inline(always)]
fn add_constants<const FUSED: bool>(own: &[Lanes], constants: &[f64], sums: &mut Lanes) {
    for (a, &constant) in own.iter().zip(constants) {
        for (sum, &a) in sums.iter_mut().zip(a) {
            *sum = multiply_add::<FUSED>(a, constant, *sum);
        }
    }
}

/// Σᵢ weightᵢ · aᵢ for a few columns of weights.
#[inline(always)]
fn column_sums<const FUSED: bool>(panel: &[[f64; COLUMNS]], own: &[Lanes]) -> [Lanes; COLUMNS] {
    let mut sums = [[0.0; LANES]; COLUMNS];
    for (weights, a) in panel.iter().zip(own) {
        for (sum, &weight) in sums.iter_mut().zip(weights) {
            for (sum, &a) in sum.iter_mut().zip(a) {
                *sum = multiply_add::<FUSED>(weight, a, *sum);
            }
        }
    }
    sums
}

#[inline(always)]
fn add_lanes(out: &mut Lanes, a: &Lanes) {
    for (out, a) in out.iter_mut().zip(a) {
        *out += a;
    }
}
