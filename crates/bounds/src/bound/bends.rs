//! The bends of the functions in the part that was entered last: where they are, which of them
//! matter, and which lines are below them.

use policert_policy::{Activation, NodeId, Op};

use super::Bounder;
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
                let (lo, hi) = self.range(self.program.nodes[input.index()].at + element);
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
                        let (lo, hi) = self.range(of(input));
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

    /// The slot of the argument of an element of a function's node.
    pub fn argument(&self, node: usize, element: usize) -> Option<usize> {
        let Op::Pointwise { input, .. } = self.program.op(node) else { return None };
        Some(self.program.nodes[input.index()].at + element)
    }

    /// The argument at which an element of a function's node bends in the part that was entered
    /// last.
    pub fn bend(&self, node: usize, element: usize) -> Option<f64> {
        let Op::Pointwise { input, activation } = self.program.op(node) else { return None };
        let (lo, hi) = self.range(self.program.nodes[input.index()].at + element);
        activation.bends().find(|at| lo < *at && *at < hi)
    }
}
