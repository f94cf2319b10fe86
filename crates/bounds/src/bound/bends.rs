//! The bends of the functions in the part that was entered last: where they are, which of them
//! matter, and which lines are below them.

use policert_policy::activation::Jump;
use policert_policy::{Activation, NodeId, Op};

use super::{Bend, Bounder};
use crate::linearised::Line;
use crate::program::ProgramNode;

/// An element of a function's node that is convex, with one bend at 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Convex {
    pub slot: usize,
    /// The slot of its argument.
    pub source: usize,
    /// The slope below 0; that above is 1.
    pub alpha: f64,
}

impl Bounder {
    /// The functions that bend in the part that was entered last and are convex: lines of any slope
    /// between `alpha` and 1 through the origin are below.
    pub fn convex(&self) -> Vec<Convex> {
        let mut convex = Vec::new();
        for node in 0..self.program.nodes.len() {
            let Op::Pointwise { input, activation: Activation::Leaky { alpha } } =
                *self.program.op(node)
            else {
                continue;
            };
            let sources = self.program.range(input.index());
            for (slot, source) in self.program.range(node).zip(sources) {
                let (lo, hi) = self.range(source);
                if lo < 0.0 && hi > 0.0 && alpha <= 1.0 {
                    convex.push(Convex { slot, source, alpha });
                }
            }
        }
        convex
    }

    /// Draws the lower line of such a function with another slope: planes that follow have it.
    pub fn slope_below(&mut self, function: &Convex, slope: f64) {
        let line = &mut self.lines[function.slot];
        (line.lower_slope, line.lower_offset) = (slope.clamp(function.alpha, 1.0), 0.0);
    }

    /// The line below an element of a function's node for a coefficient of at least 0, above it
    /// for one below 0, in the part that was entered last.
    pub fn line(&self, slot: usize, coefficient: f64) -> Line {
        let lines = &self.lines[slot];
        if coefficient < 0.0 {
            Line { slope: lines.upper_slope, offset: lines.upper_offset }
        } else {
            Line { slope: lines.lower_slope, offset: lines.lower_offset }
        }
    }

    /// The elements of functions that are not linear in the part that was entered last: node,
    /// element, slot.
    pub fn relaxed(&self) -> Vec<(usize, usize, usize)> {
        let mut relaxed = Vec::new();
        for (node, ProgramNode { at, width, .. }) in self.program.nodes.iter().enumerate() {
            let Op::Pointwise { input, activation } = self.program.op(node) else { continue };
            for element in 0..*width {
                let source = self.program.nodes[input.index()].at + element;
                let (lo, hi) = self.arguments(*activation, source);
                if !activation.is_linear(lo, hi) {
                    relaxed.push((node, element, at + element));
                }
            }
        }
        relaxed
    }

    /// For each slot whether some of these slots depend on it, in the part that was entered last.
    pub fn relevant(&self, slots: impl Iterator<Item = usize>) -> Vec<bool> {
        let program = &self.program;
        let mut relevant = vec![false; program.slots];
        slots.for_each(|slot| relevant[slot] = true);
        for (node, ProgramNode { at, width, .. }) in program.nodes.iter().enumerate().rev() {
            for element in (0..*width).filter(|element| relevant[at + element]).collect::<Vec<_>>()
            {
                let of = |source: &NodeId| program.nodes[source.index()].at + element;
                match program.op(node) {
                    Op::Input => {}
                    Op::Affine { input, weights, .. } => {
                        let sources = &mut relevant[program.range(input.index())];
                        for (source, weight) in sources.iter_mut().zip(weights.row(element)) {
                            *source |= *weight != 0.0;
                        }
                    }
                    Op::Scale { input, .. } => relevant[of(input)] = true,
                    Op::Pointwise { input, activation } => {
                        let (lo, hi) = self.arguments(*activation, of(input));
                        let lines = &self.lines[at + element];
                        let constant = lines.lower_slope == 0.0 && lines.upper_slope == 0.0;
                        relevant[of(input)] |= !(constant && activation.is_linear(lo, hi));
                    }
                    Op::Add { inputs } | Op::Max { inputs } => {
                        inputs.iter().for_each(|input| relevant[of(input)] = true);
                    }
                    Op::Concat { inputs } => {
                        let slots = inputs.iter().flat_map(|input| program.range(input.index()));
                        slots.skip(element).take(1).for_each(|slot| relevant[slot] = true);
                    }
                }
            }
        }
        relevant
    }

    /// Returns whether the sides of bends leave values of each element of a node.
    pub(super) fn is_inhabited(&self, bends: &[Bend], node: usize) -> bool {
        let range = self.program.range(node);
        bends.iter().filter(|bend| range.contains(&bend.slot)).all(|bend| {
            let (lo, hi) = self.range(bend.slot);
            let is_beyond = if bend.above { hi <= bend.at } else { lo >= bend.at };
            lo <= hi && !(bend.strict && is_beyond)
        })
    }

    /// The least and the greatest argument of a function that matter in the part that was entered last. A
    /// staircase is constant between a jump and the next double, so it does not reach a jump that is an
    /// open end.
    pub fn arguments(&self, activation: Activation, slot: usize) -> (f64, f64) {
        let (mut lo, mut hi) = self.range(slot);
        if let Activation::Staircase(staircase) = activation {
            let ends = self.open_sides.iter().filter(|bend| bend.slot == slot);
            for bend in ends.filter(|bend| staircase.jumps_at(bend.at)) {
                if bend.above {
                    lo = lo.max(bend.at.next_up());
                } else {
                    hi = hi.min(bend.at.next_down());
                }
            }
        }
        (lo, hi)
    }

    /// Makes the bounds of staircases tighter whose arguments do not reach an open end.
    pub(super) fn sharpen_steps(&mut self, node: usize) {
        let Op::Pointwise { input, activation: activation @ Activation::Staircase(_) } =
            *self.program.op(node)
        else {
            return;
        };
        let (range, sources) = (self.program.range(node), self.program.range(input.index()));
        for place in 0..self.open_sides.len() {
            let slot = self.open_sides[place].slot;
            if sources.contains(&slot) {
                let (lo, hi) = self.arguments(activation, slot);
                let (lo, hi) = activation.image(lo, hi);
                self.bounds.intersect(range.start + slot - sources.start, lo, hi);
            }
        }
    }

    /// The slot of the argument of an element of a function's node.
    pub fn argument(&self, node: usize, element: usize) -> Option<usize> {
        let Op::Pointwise { input, .. } = self.program.op(node) else { return None };
        Some(self.program.nodes[input.index()].at + element)
    }

    /// The argument at which an element of a function's node bends or jumps in the part that was
    /// entered last; bends belong to the side above them.
    pub fn bend(&self, node: usize, element: usize) -> Option<Jump> {
        let Op::Pointwise { input, activation } = self.program.op(node) else { return None };
        let source = self.program.nodes[input.index()].at + element;
        let (lo, hi) = self.arguments(*activation, source);
        if let Activation::Staircase(staircase) = activation {
            return staircase.jump(lo, hi);
        }
        let at = activation.bends().find(|at| lo < *at && *at < hi)?;
        Some(Jump { at, is_below: false })
    }

    /// How far the values of a staircase are apart in the part that was entered last; `None` for other
    /// functions.
    pub fn steps(&self, node: usize, element: usize) -> Option<f64> {
        let Op::Pointwise { input, activation: activation @ Activation::Staircase(staircase) } =
            self.program.op(node)
        else {
            return None;
        };
        let source = self.program.nodes[input.index()].at + element;
        let (lo, hi) = self.arguments(*activation, source);
        Some(staircase.value(hi) - staircase.value(lo))
    }
}
