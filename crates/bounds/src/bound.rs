//! Stage *bound*: linear relaxation of score differences over a box of inputs.

use policert_numeric::round::sub_down;

use crate::frame::Frame;
use crate::interval::Bounds;
use crate::program::{LANES, Lanes, Op, Program};
use crate::relaxation::Lines;
use crate::symbolic::{Forms, Relaxations, Start};

/// Computes bounds of score differences of one network.
#[derive(Debug)]
pub(crate) struct Bounder {
    program: Program,
    bounds: Bounds,
    /// By slot, for functions of one variable.
    lines: Vec<Lines>,
    forms: Forms,
    /// Linear forms carried back so far.
    pub forms_done: u64,
}

/// A lower bound of the difference of two scores over a box, with its plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Difference<'a> {
    /// score(`greater`) − score(`lesser`) is bounded.
    pub greater: usize,
    pub lesser: usize,
    /// The lower bound; −∞ if there is none.
    pub lower: f64,
    plane: Option<Plane<'a>>,
}

/// A plane of a block of forms.
#[derive(Clone, Copy, Debug)]
struct Plane<'a> {
    bounder: &'a Bounder,
    frame: &'a Frame,
    lane: usize,
}

impl Difference<'_> {
    /// Calls `f` for each network input that is not fixed, with its coefficient in the plane that
    /// gave the bound, and with the sum of the magnitudes of its effects on functions that the
    /// plane had to relax.
    pub fn for_each_input(&self, f: &mut impl FnMut(usize, f64, f64)) {
        let Some(Plane { bounder, frame, lane }) = self.plane else { return };
        for &input in &frame.free {
            let coefficient = bounder.forms.coefficient(&bounder.program, 0, input, lane);
            f(input, coefficient, bounder.relaxed_effect(frame, input, lane));
        }
    }
}

impl Bounder {
    pub fn new(program: Program) -> Self {
        Self {
            bounds: Bounds::new(&program),
            lines: vec![Lines::default(); program.slots],
            forms: Forms::new(&program),
            program,
            forms_done: 0,
        }
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Bounds all functions that are not linear over the inputs between `lo` and `hi`, a part of
    /// the frame's region.
    pub fn enter(&mut self, frame: &Frame, lo: &[f64], hi: &[f64]) {
        self.bounds.set_input(lo, hi);
        for node in 1..self.program.nodes.len() {
            if node == self.program.output && matches!(self.program.nodes[node].op, Op::Affine(_)) {
                continue;
            }
            self.bounds.set_node(&self.program, frame, node);
            for slot in self.program.range(node) {
                let size = frame.magnitude[slot];
                self.bounds.intersect(slot, -size, size);
            }
            if self.program.nodes[node].refined {
                self.refine(frame, node);
            }
            if let Op::Pointwise { source, function } = self.program.nodes[node].op {
                let source = self.program.nodes[source].at;
                let at = self.program.nodes[node].at;
                for i in 0..self.program.nodes[node].width {
                    let (lo, hi) = (self.bounds.lo[source + i], self.bounds.hi[source + i]);
                    self.lines[at + i] = function.lines(lo, hi);
                }
            }
        }
    }

    /// Sharpens the bounds of the elements of a node whose readers are not linear between them.
    fn refine(&mut self, frame: &Frame, node: usize) {
        let at = self.program.nodes[node].at;
        let mut wanted = [0usize; LANES / 2];
        let mut count = 0;
        for element in 0..self.program.nodes[node].width {
            let (lo, hi) = (self.bounds.lo[at + element], self.bounds.hi[at + element]);
            let linear = match self.program.nodes[node].reader {
                Some(function) => function.is_linear(lo, hi),
                None => lo >= hi,
            };
            if !linear {
                wanted[count] = element;
                count += 1;
            }
            if count == wanted.len() {
                self.refine_elements(frame, node, &wanted);
                count = 0;
            }
        }
        if count > 0 {
            self.refine_elements(frame, node, &wanted[..count]);
        }
    }

    fn refine_elements(&mut self, frame: &Frame, node: usize, elements: &[usize]) {
        self.forms.clear();
        for (i, &element) in elements.iter().enumerate() {
            for (lane, factor) in [(2 * i, 1.0), (2 * i + 1, -1.0)] {
                let start = Start { lane, element, factor };
                self.forms.add(&self.program, frame, node, &start);
            }
        }
        let lower = self.lower_bounds(frame, 2 * elements.len());
        let at = self.program.nodes[node].at;
        for (i, &element) in elements.iter().enumerate() {
            self.bounds.intersect(at + element, lower[2 * i], -lower[2 * i + 1]);
        }
    }

    fn lower_bounds(&mut self, frame: &Frame, count: usize) -> Lanes {
        self.forms_done += count as u64;
        let relaxations = Relaxations { lines: &self.lines, bounds: &self.bounds };
        self.forms.lower_bounds(&self.program, frame, relaxations)
    }

    /// Lower bounds of score differences over the box that was entered last: for each pair
    /// (greater, lesser) of score(greater) − score(lesser).
    pub fn differences(
        &mut self,
        frame: &Frame,
        pairs: &[(usize, usize)],
        visit: &mut impl FnMut(Difference<'_>),
    ) {
        let output = self.program.output;
        for pairs in pairs.chunks(LANES) {
            self.forms.clear();
            for (lane, &(greater, lesser)) in pairs.iter().enumerate() {
                for (element, factor) in [(greater, 1.0), (lesser, -1.0)] {
                    let start = Start { lane, element, factor };
                    self.forms.add(&self.program, frame, output, &start);
                }
            }
            let lower = self.lower_bounds(frame, pairs.len());
            for (lane, &(greater, lesser)) in pairs.iter().enumerate() {
                visit(match self.constant_difference(greater, lesser) {
                    Some(lower) => Difference { greater, lesser, lower, plane: None },
                    None => {
                        let plane = Some(Plane { bounder: &*self, frame, lane });
                        Difference { greater, lesser, lower: lower[lane], plane }
                    }
                });
            }
        }
    }

    /// Σ |aᵢ|·|Wᵢₖ| over the neurons i of the first layers that are not linear in the box, where a
    /// are the coefficients of a form.
    fn relaxed_effect(&self, frame: &Frame, input: usize, lane: usize) -> f64 {
        let mut sum = 0.0;
        for (node, first) in frame.first.iter().enumerate() {
            let Op::Affine(affine) = &self.program.nodes[node].op else { continue };
            let (Some(function), Some(_)) = (self.program.nodes[node].reader, first) else {
                continue;
            };
            let at = self.program.nodes[node].at;
            for neuron in 0..self.program.nodes[node].width {
                if !function.is_linear(self.bounds.lo[at + neuron], self.bounds.hi[at + neuron]) {
                    let effect = self.forms.coefficient(&self.program, node, neuron, lane);
                    sum += (effect * affine.row(neuron)[input]).abs();
                }
            }
        }
        sum
    }

    /// The difference of two scores that have the same weights: a tie of such scores is no
    /// matter of rounding.
    fn constant_difference(&self, greater: usize, lesser: usize) -> Option<f64> {
        let Op::Affine(affine) = &self.program.nodes[self.program.output].op else { return None };
        let same = affine.row(greater) == affine.row(lesser);
        same.then(|| sub_down(affine.bias[greater], affine.bias[lesser]))
    }
}

#[cfg(test)]
mod tests;
