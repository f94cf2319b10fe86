//! The bends of the functions in the part that was entered last: where they are, which of them
//! matter, and planes that touch them.

use super::Bounder;
use crate::program::{Node, Op};
use crate::relaxation::Function;

impl Bounder {
    /// Draws the lower lines of the functions that bend such that they touch at a point: planes
    /// that follow are tighter there.
    pub fn touch(&mut self, inputs: &[f64]) {
        let values = self.program.values(inputs);
        for node in 0..self.program.nodes.len() {
            let Op::Pointwise { source, function: Function::Leaky { alpha } } =
                self.program.nodes[node].op
            else {
                continue;
            };
            let sources = self.program.range(source);
            for (slot, source) in self.program.range(node).zip(sources) {
                let (lo, hi) = self.range(source);
                // Both lines through the origin are below where it is convex.
                if lo < 0.0 && hi > 0.0 && alpha <= 1.0 {
                    self.lines[slot].lower_slope = if values[source] > 0.0 { 1.0 } else { alpha };
                    self.lines[slot].lower_offset = 0.0;
                }
            }
        }
    }

    /// The elements of functions that are not linear in the part that was entered last: node,
    /// element, slot.
    pub fn relaxed(&self) -> Vec<(usize, usize, usize)> {
        let mut relaxed = Vec::new();
        for (node, Node { op, at, width, .. }) in self.program.nodes.iter().enumerate() {
            let Op::Pointwise { source, function } = op else { continue };
            for element in 0..*width {
                let (lo, hi) = self.range(self.program.nodes[*source].at + element);
                if !function.is_linear(lo, hi) {
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
        for Node { op, at, width, .. } in program.nodes.iter().rev() {
            for element in (0..*width).filter(|element| relevant[at + element]).collect::<Vec<_>>()
            {
                match op {
                    Op::Input => {}
                    Op::Affine(affine) => {
                        let sources = &mut relevant[program.range(affine.source)];
                        for (source, weight) in sources.iter_mut().zip(affine.row(element)) {
                            *source |= *weight != 0.0;
                        }
                    }
                    Op::Scale { source, .. } => {
                        relevant[program.nodes[*source].at + element] = true
                    }
                    Op::Pointwise { source, function } => {
                        let source = program.nodes[*source].at + element;
                        let (lo, hi) = self.range(source);
                        let lines = &self.lines[at + element];
                        let constant = lines.lower_slope == 0.0 && lines.upper_slope == 0.0;
                        relevant[source] |= !(constant && function.is_linear(lo, hi));
                    }
                    Op::Add { sources } | Op::Max { sources } => {
                        for &source in sources {
                            relevant[program.nodes[source].at + element] = true;
                        }
                    }
                    Op::Concat { .. } => {}
                }
            }
            if let Op::Concat { sources } = op {
                let mut from = *at;
                for &source in sources {
                    for slot in program.range(source) {
                        relevant[slot] |= relevant[from];
                        from += 1;
                    }
                }
            }
        }
        relevant
    }

    /// The slot of the argument of an element of a function's node.
    pub fn argument(&self, node: usize, element: usize) -> Option<usize> {
        match self.program.nodes[node].op {
            Op::Pointwise { source, .. } => Some(self.program.nodes[source].at + element),
            _ => None,
        }
    }

    /// Where an element of a function's node bends in the part that was entered last.
    pub fn bend(&self, node: usize, element: usize) -> Option<f64> {
        let Op::Pointwise { source, function } = self.program.nodes[node].op else { return None };
        let (lo, hi) = self.range(self.program.nodes[source].at + element);
        function.bend(lo, hi)
    }
}
