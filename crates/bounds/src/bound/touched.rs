//! The modules that some scores depend on in a part: of a network with maxima, which choose between many
//! modules, only their bounds are worth sharpening.
//!
//! Where interval arithmetic shows that one source of a maximum is the greatest everywhere, the others do not
//! matter, and nor does what they alone depend on.

use policert_engine_api::{Budget, StopReason};
use policert_policy::Op;

use super::Bounder;
use crate::frame::RegionFrame;
use crate::program::Program;
use crate::symbolic::Greatest;

/// What may be worth sharpening.
#[derive(Debug)]
pub(super) struct Touched {
    /// By node, whether scores depend on it.
    pub nodes: Vec<bool>,
    /// By slot, whether it may be the greatest of a maximum, but need not be.
    pub contested: Vec<bool>,
    /// By slot, whether it is among those that are to be sharpened.
    pub chosen: Vec<bool>,
}

/// Widths up to so many error bounds come from rounding.
const ROUNDING: f64 = 4.0;

impl Touched {
    /// All of a network.
    pub fn all(program: &Program) -> Self {
        Self {
            nodes: vec![true; program.nodes.len()],
            contested: vec![true; program.slots],
            chosen: vec![true; program.slots],
        }
    }

    fn fill(&mut self, is: bool) {
        self.nodes.fill(is);
        self.contested.fill(is);
        self.chosen.fill(true);
    }
}

impl Bounder {
    /// Everything may be worth sharpening.
    pub(super) fn touch_all(&mut self) {
        self.touched.fill(true);
        self.sharpened.clear();
    }

    /// Notes what some outputs depend on over the inputs between `lo` and `hi`, by interval arithmetic.
    ///
    /// # Errors
    /// A stop of the budget.
    pub(super) fn touch(
        &mut self,
        frame: &RegionFrame,
        (lo, hi): (&[f64], &[f64]),
        pairs: &[(usize, usize)],
        budget: &mut Budget,
    ) -> Result<(), StopReason> {
        if !self.program.has_maxima {
            self.touch_all();
            return Ok(());
        }
        self.poll(budget)?;
        self.bounds.set_input(lo, hi);
        for node in 1..self.program.nodes.len() {
            self.bounds.set_node(&self.program, frame, node);
            self.bounds.limit(self.program.range(node), frame);
        }
        self.touched.fill(false);
        self.sharpened.clear();
        self.touch_outputs(pairs);
        for node in (1..self.program.nodes.len()).rev() {
            if self.touched.nodes[node] {
                self.touch_sources(frame, node);
            }
        }
        Ok(())
    }

    fn touch_outputs(&mut self, pairs: &[(usize, usize)]) {
        let Self { program, touched, .. } = self;
        let Op::Concat { inputs } = program.op(program.output) else {
            touched.nodes[program.output] = true;
            return;
        };
        let mut first = 0;
        for input in inputs {
            let part = first..first + program.nodes[input.index()].width;
            touched.nodes[input.index()] |=
                pairs.iter().any(|(a, b)| part.contains(a) || part.contains(b));
            first = part.end;
        }
    }

    fn touch_sources(&mut self, frame: &RegionFrame, node: usize) {
        let Self { program, bounds, touched, .. } = self;
        match program.op(node) {
            Op::Input => {}
            Op::Affine { input, .. } | Op::Scale { input, .. } => {
                touched.nodes[input.index()] = true;
            }
            Op::Pointwise { input, activation } => {
                let is_constant = program.range(input.index()).all(|slot| {
                    let (lo, hi) = (bounds.lo[slot], bounds.hi[slot]);
                    let (least, greatest) = activation.image(lo, hi);
                    activation.is_linear(lo, hi) && least >= greatest
                });
                touched.nodes[input.index()] |= !is_constant;
            }
            Op::Add { inputs } | Op::Concat { inputs } => {
                inputs.iter().for_each(|input| touched.nodes[input.index()] = true);
            }
            Op::Max { inputs } => {
                for element in 0..program.nodes[node].width {
                    let greatest = Greatest::of(program, bounds, inputs, element);
                    touched.nodes[greatest.source] = true;
                    if greatest.dominates {
                        continue;
                    }
                    let slot = |source: usize| program.nodes[source].at + element;
                    let least = bounds.lo[slot(greatest.source)];
                    for source in inputs.iter().map(|input| input.index()) {
                        let slot = slot(source);
                        if bounds.hi[slot] - least > ROUNDING * frame.errors[slot] {
                            touched.nodes[source] = true;
                            touched.contested[slot] = true;
                        }
                    }
                }
            }
        }
    }

    /// The number of elements whose bounds are worth sharpening.
    pub(super) fn worth_it(&self, frame: &RegionFrame) -> usize {
        let nodes = (1..self.program.nodes.len())
            .filter(|&node| self.program.nodes[node].refined && self.touched.nodes[node]);
        let of = |node: usize| {
            let elements = 0..self.program.nodes[node].width;
            elements.filter(|&element| self.is_worth_it(frame, node, element)).count()
        };
        nodes.map(of).sum()
    }

    /// Returns whether the bounds of an element are worth sharpening.
    pub(super) fn is_worth_it(&self, frame: &RegionFrame, node: usize, element: usize) -> bool {
        let node = &self.program.nodes[node];
        let slot = node.at + element;
        let (lo, hi) = (self.bounds.lo[slot], self.bounds.hi[slot]);
        if !self.touched.chosen[slot] {
            return false;
        }
        match node.reader {
            Some(function) => !function.is_linear(lo, hi),
            None if node.only_maxima => {
                self.touched.contested[slot] && hi - lo > ROUNDING * frame.errors[slot]
            }
            None => lo < hi,
        }
    }
}
