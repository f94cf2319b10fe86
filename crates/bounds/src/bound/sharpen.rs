//! Bounds of all functions of a network in a part: node by node, from interval arithmetic and from forms that
//! are carried back from those elements that are worth it.

use policert_engine_api::{Budget, StopReason};
use policert_policy::{Activation, Op};
use smallvec::{SmallVec, smallvec};

use super::{Bend, Bounder, Refined};
use crate::frame::RegionFrame;
use crate::program::LANES;
use crate::relaxation;
use crate::symbolic::{Form, FormTerm, Greatest};

impl Bounder {
    /// Bounds all functions, as sharp as is worth it.
    pub(super) fn sharpen(
        &mut self,
        frame: &RegionFrame,
        (lo, hi): (&[f64], &[f64]),
        bends: &[Bend],
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        self.bounds.set_input(lo, hi);
        self.refined.clear();
        self.reaches.clear();
        self.open_sides.clear();
        self.open_sides.extend(bends.iter().filter(|bend| bend.strict));
        if !self.is_inhabited(bends, 0) {
            return Ok(false);
        }
        for node in 1..self.program.nodes.len() {
            if node == self.program.output && matches!(self.program.op(node), Op::Affine { .. }) {
                continue;
            }
            self.bounds.set_node(&self.program, frame, node);
            // Forms that are carried back from the node itself need it.
            self.note_greatest(node);
            self.sharpen_steps(node);
            let range = self.program.range(node);
            self.bounds.limit(range.clone(), frame);
            for &(slot, (lo, hi)) in self.sharpened.within(range.clone()) {
                self.bounds.intersect(slot, lo, hi);
            }
            for bend in bends.iter().filter(|bend| range.contains(&bend.slot)) {
                let (lo, hi) = if bend.above {
                    (bend.at, f64::INFINITY)
                } else {
                    (f64::NEG_INFINITY, bend.at)
                };
                self.bounds.intersect(bend.slot, lo, hi);
            }
            if self.program.nodes[node].refined && self.touched.nodes[node] {
                self.refine(frame, node, budget)?;
            }
            if !self.is_inhabited(bends, node) {
                return Ok(false);
            }
            if let Op::Pointwise { input, activation } = *self.program.op(node) {
                self.relax(node, input.index(), activation);
            }
        }
        Ok(true)
    }

    /// Notes the greatest sources of a maximum, by the bounds as they are.
    pub(super) fn note_greatest(&mut self, node: usize) {
        if let Op::Max { inputs } = self.program.op(node) {
            for (element, slot) in self.program.range(node).enumerate() {
                self.greatest[slot] = Greatest::of(&self.program, &self.bounds, inputs, element);
            }
        }
    }

    /// Draws the lines of a function over the bounds of its argument.
    pub(super) fn relax(&mut self, node: usize, source: usize, activation: Activation) {
        let (range, sources) = (self.program.range(node), self.program.range(source));
        // What only this function reads has coefficient 0 where both lines are constant.
        let sole = self.program.nodes[source].readers == 1;
        let has_steps = matches!(activation, Activation::Staircase(_));
        let open = self.open_sides.iter().filter(|_| has_steps);
        let open = open.filter(|bend| sources.contains(&bend.slot));
        let open: SmallVec<[(usize, (f64, f64)); 4]> = open
            .map(|bend| (bend.slot - sources.start, self.arguments(activation, bend.slot)))
            .collect();
        let active = &mut self.active[source];
        active.clear();
        let bounds = self.bounds.lo[sources.clone()].iter().zip(&self.bounds.hi[sources]);
        for (element, (lines, (&lo, &hi))) in self.lines[range].iter_mut().zip(bounds).enumerate() {
            let inner = open.iter().find(|(place, _)| *place == element);
            let (lo, hi) = inner.map_or((lo, hi), |(_, inner)| *inner);
            *lines = relaxation::lines(activation, lo, hi);
            if !sole || lines.lower_slope != 0.0 || lines.upper_slope != 0.0 {
                active.push(element);
            }
        }
    }

    /// Sharpens the bounds of the elements of a node whose readers are not linear between them.
    fn refine(
        &mut self,
        frame: &RegionFrame,
        node: usize,
        budget: &mut Budget,
    ) -> Result<(), StopReason> {
        let mut wanted = [0usize; LANES / 2];
        let mut count = 0;
        for element in 0..self.program.nodes[node].width {
            if self.is_worth_it(frame, node, element) {
                wanted[count] = element;
                count += 1;
            }
            if count == wanted.len() {
                self.refine_elements(frame, node, &wanted, budget)?;
                count = 0;
            }
        }
        if count > 0 {
            self.refine_elements(frame, node, &wanted[..count], budget)?;
        }
        Ok(())
    }

    fn refine_elements(
        &mut self,
        frame: &RegionFrame,
        node: usize,
        elements: &[usize],
        budget: &mut Budget,
    ) -> Result<(), StopReason> {
        let form = |element, factor| -> Form { smallvec![FormTerm { element, factor }] };
        let forms: SmallVec<[Form; LANES]> =
            elements.iter().flat_map(|&e| [form(e, 1.0), form(e, -1.0)]).collect();
        let lower = self.lower_bounds(frame, node, &forms, budget)?;
        let at = self.program.nodes[node].at;
        for (i, &element) in elements.iter().enumerate() {
            self.bounds.intersect(at + element, lower[2 * i], -lower[2 * i + 1]);
            self.refined.push(Refined { node, element, place: self.reaches.len() });
            self.reaches.extend(frame.free.iter().map(|&input| {
                let plane = |lane| self.forms.coefficient(&self.program, 0, input, lane);
                plane(2 * i).abs().max(plane(2 * i + 1).abs())
            }));
        }
        Ok(())
    }
}
