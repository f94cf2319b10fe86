//! Backward linear relaxation: lower bounds of linear forms of a node over a box of inputs, as
//! planes over the inputs (CROWN, DeepPoly).
//!
//! A form Σ aᵢ·yᵢ + c is carried from its node back to the input; at a function that is not linear
//! each coefficient takes the line below (a > 0) or above (a < 0). A block of forms runs side by
//! side. Rounding errors: see [frame](crate::frame).

use policert_numeric::round::sub_down;
use policert_policy::{NodeId, Op};
use pulp::{Arch, Simd};
use smallvec::SmallVec;

use crate::frame::RegionFrame;
use crate::interval::SlotBounds;
use crate::kernel::{Kernel, load, magnitude, run, store, vectors, vectors_mut};
use crate::program::{COLUMNS, LANES, Lanes, Program, factor};
use crate::relaxation::Lines;

/// Forms that are carried back side by side.
#[derive(Debug)]
pub(crate) struct FormBlock {
    /// Coefficients of each slot, where `live`.
    coefficients: Vec<Lanes>,
    live: Vec<bool>,
    /// The constants c.
    constant: Lanes,
    /// Those of the planes over the inputs.
    plane: Lanes,
    /// T of the error model.
    terms: Lanes,
    /// The nodes that the forms started at.
    started: SmallVec<[usize; 4]>,
    /// The numbers of all neurons of any layer.
    neurons: Vec<usize>,
    arch: Arch,
}

/// The data about functions that are not linear, as a backward substitution reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relaxations<'a> {
    /// Lines by slot.
    pub lines: &'a [Lines],
    /// The greatest sources of maxima by slot.
    pub greatest: &'a [Greatest],
    /// Bounds by slot; those of the input are the box.
    pub bounds: &'a SlotBounds,
    /// For each affine node the neurons whose coefficients may differ from 0.
    pub active: &'a [Vec<usize>],
}

impl FormBlock {
    pub fn new(program: &Program) -> Self {
        Self {
            coefficients: vec![[0.0; LANES]; program.slots],
            live: vec![false; program.nodes.len()],
            constant: [0.0; LANES],
            plane: [0.0; LANES],
            terms: [0.0; LANES],
            started: SmallVec::new(),
            neurons: (0..program.nodes.iter().map(|node| node.width).max().unwrap_or(0)).collect(),
            arch: Arch::new(),
        }
    }

    /// Starts with these forms. The rows of an affine node are substituted at once if they are few of
    /// its rows.
    pub fn start(&mut self, program: &Program, frame: &RegionFrame, node: usize, forms: &[Form]) {
        self.live.fill(false);
        self.started.clear();
        self.started.push(node);
        self.constant = [0.0; LANES];
        self.terms = [0.0; LANES];
        let at = program.nodes[node].at;
        let rows: usize = forms.iter().map(|form| form.len()).sum();
        if let Op::Affine { input, weights, bias } = program.op(node)
            && frame.first[node].is_none()
            && rows < program.nodes[node].width
        {
            self.live[input.index()] = true;
            let source = &mut self.coefficients[program.range(input.index())];
            source.fill([0.0; LANES]);
            for (lane, form) in forms.iter().enumerate() {
                for term in form {
                    for (block, weight) in source.iter_mut().zip(weights.row(term.element)) {
                        block[lane] += term.factor * weight;
                    }
                    self.constant[lane] += term.factor * bias[term.element];
                    self.terms[lane] += term.factor.abs() * frame.flow[at + term.element];
                }
            }
        } else {
            self.live[node] = true;
            self.coefficients[program.range(node)].fill([0.0; LANES]);
            for (lane, form) in forms.iter().enumerate() {
                for term in form {
                    self.coefficients[at + term.element][lane] += term.factor;
                }
            }
        }
    }

    /// Adds a multiple of an element, by its slot, to the form of the first lane, which starts at a
    /// later node. The others only start anew.
    pub fn add_element(&mut self, program: &Program, frame: &RegionFrame, slot: usize, by: f64) {
        let node = program.node_of(slot);
        if !self.live[node] {
            self.live[node] = true;
            self.coefficients[program.range(node)].fill([0.0; LANES]);
        }
        if !self.started.contains(&node) {
            self.started.push(node);
        }
        self.coefficients[slot][0] += by;
        // What is added to it later is rounded together with it.
        self.terms[0] += by.abs() * frame.flow[slot];
    }

    /// Carries the forms back to the input and writes a lower bound of each over the box.
    pub fn lower_bounds(
        &mut self,
        program: &Program,
        frame: &RegionFrame,
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

    /// The constant of the plane of a lane, which is below the form everywhere in the box.
    pub fn plane_constant(&self, frame: &RegionFrame, lane: usize) -> f64 {
        sub_down(self.plane[lane], frame.error(self.terms[lane]))
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

    /// Returns whether the forms came by a node.
    pub fn is_live(&self, node: usize) -> bool {
        self.live[node]
    }

    /// The coefficients of an element in all lanes, as they were when the node was passed.
    pub fn coefficients_of(&self, program: &Program, node: usize, element: usize) -> &Lanes {
        &self.coefficients[program.nodes[node].at + element]
    }

    /// Returns whether no form of the block depends on a node. Coefficients that are no numbers count.
    #[inline(always)]
    fn is_left_out(&self, program: &Program, node: usize) -> bool {
        let is_zero = |block: &Lanes| block.iter().all(|coefficient| *coefficient == 0.0);
        !self.live[node] || self.coefficients[program.range(node)].iter().all(is_zero)
    }
}

/// A multiple of one element of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FormTerm {
    pub element: usize,
    pub factor: f64,
}

/// A form to start with: the sum of some terms, at most one for each element.
pub(crate) type Form = SmallVec<[FormTerm; 3]>;

struct Backward<'a> {
    forms: &'a mut FormBlock,
    program: &'a Program,
    frame: &'a RegionFrame,
    relaxations: Relaxations<'a>,
}

impl Kernel for Backward<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let Self { forms, program, frame, relaxations } = self;
        let last = forms.started.iter().max().copied().unwrap_or(0);
        for node in (1..=last).rev() {
            if !forms.is_left_out(program, node) {
                Pass::<S, N>::of(simd, forms, program, frame, node).run(relaxations);
            }
        }
        // The forms of constants end there, too.
        let input = NodeId::INPUT.index();
        if !forms.live[input] {
            forms.live[input] = true;
            forms.coefficients[program.range(input)].fill([0.0; LANES]);
        }
        Pass::<S, N>::of(simd, forms, program, frame, input).run(relaxations);
    }
}

/// Carries the forms back over one node.
struct Pass<'a, S: Simd, const N: usize> {
    simd: S,
    program: &'a Program,
    frame: &'a RegionFrame,
    node: usize,
    /// Coefficients of the nodes before.
    before: &'a mut [Lanes],
    live: &'a mut [bool],
    /// Coefficients of the node's elements, `N` vectors for each.
    own: &'a [S::f64s],
    constant: &'a mut Lanes,
    plane: &'a mut Lanes,
    /// The neurons that forms which start at the node may be about.
    started: Option<&'a [usize]>,
}

impl<'a, S: Simd, const N: usize> Pass<'a, S, N> {
    #[inline(always)]
    fn of(
        simd: S,
        forms: &'a mut FormBlock,
        program: &'a Program,
        frame: &'a RegionFrame,
        node: usize,
    ) -> Self {
        let range = program.range(node);
        let (before, rest) = forms.coefficients.split_at_mut(range.start);
        let own = vectors::<S>(&rest[..range.len()]);
        // T, from the coefficients as they are: a NaN among them stays a NaN.
        let mut terms = load::<S, N>(simd, &forms.terms);
        for (a, &flow) in own.chunks_exact(N).zip(&frame.flow[range.clone()]) {
            let flow = simd.splat_f64s(flow);
            for v in 0..N {
                terms[v] = simd.mul_add_e_f64s(magnitude(simd, a[v]), flow, terms[v]);
            }
        }
        store::<S, N>(&mut forms.terms, terms);
        let FormBlock { live, constant, plane, neurons, started, .. } = forms;
        let started = started.contains(&node).then_some(&neurons[..range.len()]);
        Self { simd, program, frame, node, before, live, own, constant, plane, started }
    }

    /// The coefficients of a source, zero if nothing was added to them yet.
    #[inline(always)]
    fn target(&mut self, source: usize) -> &mut [Lanes] {
        let target = &mut self.before[self.program.range(source)];
        if !self.live[source] {
            self.live[source] = true;
            target.fill([0.0; LANES]);
        }
        target
    }

    #[inline(always)]
    fn run(mut self, relaxations: Relaxations<'_>) {
        let program = self.program;
        match program.op(self.node) {
            Op::Input => self.input(relaxations.bounds),
            Op::Affine { input, bias, .. } => {
                // What forms are about counts even where its reader is constant.
                let active = self.started.unwrap_or(&relaxations.active[self.node]);
                self.affine(input.index(), bias, active);
            }
            Op::Scale { input, mul, div, add } => self.scale(input.index(), mul, div, add),
            Op::Pointwise { input, .. } => self.pointwise(input.index(), relaxations.lines),
            Op::Add { inputs } => {
                for input in inputs {
                    let own = self.own;
                    let simd = self.simd;
                    add::<S>(simd, self.target(input.index()), own);
                }
            }
            Op::Concat { inputs } => {
                let (simd, mut rest) = (self.simd, self.own);
                for input in inputs {
                    let source = input.index();
                    let (part, others) = rest.split_at(program.nodes[source].width * N);
                    add::<S>(simd, self.target(source), part);
                    rest = others;
                }
            }
            Op::Max { .. } => self.max(relaxations.greatest),
        }
    }

    /// The least value of each form over the box.
    #[inline(always)]
    fn input(&mut self, bounds: &SlotBounds) {
        let simd = self.simd;
        let zero = simd.splat_f64s(0.0);
        *self.plane = *self.constant;
        let mut sums = load::<S, N>(simd, self.constant);
        for ((a, &lo), &hi) in self.own.chunks_exact(N).zip(&bounds.lo).zip(&bounds.hi) {
            let (lo, hi) = (simd.splat_f64s(lo), simd.splat_f64s(hi));
            for v in 0..N {
                let (positive, negative) = (simd.max_f64s(a[v], zero), simd.min_f64s(a[v], zero));
                let sum = simd.mul_add_e_f64s(positive, lo, sums[v]);
                sums[v] = simd.mul_add_e_f64s(negative, hi, sum);
            }
        }
        store::<S, N>(self.constant, sums);
    }

    #[inline(always)]
    fn affine(&mut self, source: usize, bias: &[f64], active: &[usize]) {
        let (simd, own) = (self.simd, self.own);
        if let Some(first) = &self.frame.first[self.node] {
            self.add_constants(&first.bias);
            let free = &self.frame.free;
            let source = self.target(source);
            let panels = first.panels.backward.chunks_exact(own.len() / N);
            for (panel, columns) in panels.zip(free.chunks(COLUMNS)) {
                let sums = column_sums::<S, N>(simd, panel, own, active);
                for (&column, sums) in columns.iter().zip(&sums) {
                    add::<S>(simd, &mut source[column..=column], sums);
                }
            }
        } else {
            self.add_constants(bias);
            let panels = &self.program.nodes[self.node].panels.backward;
            let source = self.target(source);
            let panels = panels.chunks_exact(own.len() / N);
            for (panel, columns) in panels.zip(source.chunks_mut(COLUMNS)) {
                let sums = column_sums::<S, N>(simd, panel, own, active);
                add::<S>(simd, columns, sums.as_flattened());
            }
        }
    }

    #[inline(always)]
    fn scale(&mut self, source: usize, mul: &[f64], div: &[f64], add: &[f64]) {
        self.add_constants(add);
        let (simd, own) = (self.simd, self.own);
        let source = vectors_mut::<S>(self.target(source));
        let elements = source.chunks_exact_mut(N).zip(own.chunks_exact(N));
        for ((out, a), (&mul, &div)) in elements.zip(mul.iter().zip(div)) {
            let factor = simd.splat_f64s(factor(mul, div));
            for v in 0..N {
                out[v] = simd.mul_add_e_f64s(a[v], factor, out[v]);
            }
        }
    }

    /// Each coefficient takes the line on its side.
    #[inline(always)]
    fn pointwise(&mut self, source: usize, lines: &[Lines]) {
        let (simd, own) = (self.simd, self.own);
        let zero = simd.splat_f64s(0.0);
        let lines = &lines[self.program.range(self.node)];
        let mut sums = load::<S, N>(simd, self.constant);
        let source = vectors_mut::<S>(self.target(source));
        let elements = source.chunks_exact_mut(N).zip(own.chunks_exact(N));
        for ((out, a), lines) in elements.zip(lines) {
            let lower_slope = simd.splat_f64s(lines.lower_slope);
            let upper_slope = simd.splat_f64s(lines.upper_slope);
            let lower_offset = simd.splat_f64s(lines.lower_offset);
            let upper_offset = simd.splat_f64s(lines.upper_offset);
            for v in 0..N {
                let positive = simd.max_f64s(a[v], zero);
                let negative = simd.min_f64s(a[v], zero);
                let slope = simd.mul_add_e_f64s(positive, lower_slope, out[v]);
                out[v] = simd.mul_add_e_f64s(negative, upper_slope, slope);
                let sum = simd.mul_add_e_f64s(positive, lower_offset, sums[v]);
                sums[v] = simd.mul_add_e_f64s(negative, upper_offset, sum);
            }
        }
        store::<S, N>(self.constant, sums);
    }

    /// A positive coefficient goes to the source with the greatest lower bound, a negative one
    /// to a source that is the maximum everywhere or to an upper bound. The other sources are not
    /// touched.
    #[inline(always)]
    fn max(&mut self, greatest: &[Greatest]) {
        let (own, range) = (self.own, self.program.range(self.node));
        let greatest = &greatest[range];
        for (i, a) in own.chunks_exact(N).enumerate() {
            let mut block = [0.0; LANES];
            for (part, a) in S::as_mut_simd_f64s(&mut block).0.iter_mut().zip(a) {
                *part = *a;
            }
            if block.iter().all(|coefficient| *coefficient == 0.0) {
                continue;
            }
            let greatest = &greatest[i];
            let goes_on = block.map(|coefficient| coefficient > 0.0 || greatest.dominates);
            if goes_on.contains(&true) {
                let out = &mut self.target(greatest.source)[i];
                for lane in (0..LANES).filter(|&lane| goes_on[lane]) {
                    out[lane] += block[lane];
                }
            }
            for lane in (0..LANES).filter(|&lane| !goes_on[lane] && block[lane] != 0.0) {
                self.constant[lane] += block[lane] * greatest.upper;
            }
        }
    }

    /// Adds Σᵢ aᵢ · constantᵢ to the constants of the forms.
    #[inline(always)]
    fn add_constants(&mut self, constants: &[f64]) {
        let simd = self.simd;
        let mut sums = load::<S, N>(simd, self.constant);
        for (a, &constant) in self.own.chunks_exact(N).zip(constants) {
            let constant = simd.splat_f64s(constant);
            for v in 0..N {
                sums[v] = simd.mul_add_e_f64s(a[v], constant, sums[v]);
            }
        }
        store::<S, N>(self.constant, sums);
    }
}

/// The source of an element-wise maximum that has the greatest lower bound.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Greatest {
    pub source: usize,
    /// True if it is the maximum everywhere.
    pub dominates: bool,
    /// Upper bound of the maximum.
    pub upper: f64,
}

impl Greatest {
    pub fn of(program: &Program, bounds: &SlotBounds, sources: &[NodeId], element: usize) -> Self {
        let slot = |source: usize| program.nodes[source].at + element;
        let sources = sources.iter().map(|source| source.index());
        let first = sources.clone().next().unwrap_or(0);
        let source = sources.clone().fold(first, |best, source| {
            if bounds.lo[slot(source)] > bounds.lo[slot(best)] { source } else { best }
        });
        let least = bounds.lo[slot(source)];
        let dominates =
            sources.clone().all(|other| other == source || bounds.hi[slot(other)] <= least);
        let upper = sources.fold(f64::NEG_INFINITY, |hi, source| hi.max(bounds.hi[slot(source)]));
        Self { source, dominates, upper }
    }
}

/// Σᵢ weightᵢ · aᵢ for a few columns of weights.
#[inline(always)]
fn column_sums<S: Simd, const N: usize>(
    simd: S,
    panel: &[[f64; COLUMNS]],
    own: &[S::f64s],
    active: &[usize],
) -> [[S::f64s; N]; COLUMNS] {
    let mut sums = [[simd.splat_f64s(0.0); N]; COLUMNS];
    for &neuron in active {
        let (weights, a) = (&panel[neuron], &own[neuron * N..(neuron + 1) * N]);
        for (sums, &weight) in sums.iter_mut().zip(weights) {
            let weight = simd.splat_f64s(weight);
            for v in 0..N {
                sums[v] = simd.mul_add_e_f64s(weight, a[v], sums[v]);
            }
        }
    }
    sums
}

/// Adds vectors to blocks.
#[inline(always)]
fn add<S: Simd>(simd: S, blocks: &mut [Lanes], vectors: &[S::f64s]) {
    for (out, a) in vectors_mut::<S>(blocks).iter_mut().zip(vectors) {
        *out = simd.add_f64s(*out, *a);
    }
}
