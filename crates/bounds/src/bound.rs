//! Stage *bound*: linear relaxation of score differences over a box of inputs.

use policert_numeric::round::sub_down;

use crate::frame::Frame;
use crate::interval::Bounds;
use crate::program::{LANES, Lanes, Op, Program};
use crate::relaxation::{Function, Lines};
use crate::symbolic::{Form, Forms, Relaxations, Term};

/// Computes bounds of score differences of one network.
#[derive(Debug)]
pub(crate) struct Bounder {
    program: Program,
    bounds: Bounds,
    /// By slot, for functions of one variable.
    lines: Vec<Lines>,
    /// For each affine node the neurons whose coefficients may differ from 0.
    active: Vec<Vec<usize>>,
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
    /// Adds to `slopes` the coefficients of the network inputs in the plane that gave the bound,
    /// and to `effects` the sums of the magnitudes of their effects on functions of the first
    /// layers that the plane had to relax: Σ |aᵢ|·|Wᵢₖ| over such neurons i.
    pub fn add_plane(&self, slopes: &mut [f64], effects: &mut [f64]) {
        let Some(Plane { bounder, frame, lane }) = self.plane else { return };
        let Bounder { program, forms, bounds, .. } = bounder;
        for &input in &frame.free {
            slopes[input] += forms.coefficient(program, 0, input, lane);
        }
        for (node, first) in frame.first.iter().enumerate() {
            let Op::Affine(affine) = &program.nodes[node].op else { continue };
            let (Some(function), Some(_)) = (program.nodes[node].reader, first) else { continue };
            for (neuron, slot) in program.range(node).enumerate() {
                if function.is_linear(bounds.lo[slot], bounds.hi[slot]) {
                    continue;
                }
                let effect = forms.coefficient(program, node, neuron, lane).abs();
                let row = affine.row(neuron);
                for &input in &frame.free {
                    effects[input] += effect * row[input].abs();
                }
            }
        }
    }
}

impl Bounder {
    pub fn new(program: Program) -> Self {
        Self {
            bounds: Bounds::new(&program),
            lines: vec![Lines::default(); program.slots],
            active: program.nodes.iter().map(|node| (0..node.width).collect()).collect(),
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
            self.bounds.limit(self.program.range(node), &frame.magnitude);
            if self.program.nodes[node].refined {
                self.refine(frame, node);
            }
            if let Op::Pointwise { source, function } = self.program.nodes[node].op {
                self.relax(node, source, function);
            }
        }
    }

    /// Draws the lines of a function over the bounds of its argument.
    fn relax(&mut self, node: usize, source: usize, function: Function) {
        let (range, sources) = (self.program.range(node), self.program.range(source));
        // What only this function reads has coefficient 0 where both lines are constant.
        let sole = self.program.nodes[source].readers == 1;
        let active = &mut self.active[source];
        active.clear();
        let bounds = self.bounds.lo[sources.clone()].iter().zip(&self.bounds.hi[sources]);
        for (element, (lines, (&lo, &hi))) in self.lines[range].iter_mut().zip(bounds).enumerate() {
            *lines = function.lines(lo, hi);
            if !sole || lines.lower_slope != 0.0 || lines.upper_slope != 0.0 {
                active.push(element);
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
        let none = Term { element: 0, factor: 0.0 };
        let mut forms = [[none; 2]; LANES];
        for (forms, &element) in forms.chunks_exact_mut(2).zip(elements) {
            forms[0][0] = Term { element, factor: 1.0 };
            forms[1][0] = Term { element, factor: -1.0 };
        }
        let lower = self.lower_bounds(frame, node, &forms[..2 * elements.len()]);
        let at = self.program.nodes[node].at;
        for (i, &element) in elements.iter().enumerate() {
            self.bounds.intersect(at + element, lower[2 * i], -lower[2 * i + 1]);
        }
    }

    fn lower_bounds(&mut self, frame: &Frame, node: usize, forms: &[Form]) -> Lanes {
        self.forms_done += forms.len() as u64;
        self.forms.start(&self.program, frame, node, forms);
        let relaxations =
            Relaxations { lines: &self.lines, bounds: &self.bounds, active: &self.active };
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
            let mut forms = [[Term { element: 0, factor: 0.0 }; 2]; LANES];
            for (form, &(greater, lesser)) in forms.iter_mut().zip(pairs) {
                *form = [
                    Term { element: greater, factor: 1.0 },
                    Term { element: lesser, factor: -1.0 },
                ];
            }
            let lower = self.lower_bounds(frame, output, &forms[..pairs.len()]);
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
