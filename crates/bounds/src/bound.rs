//! Stage *bound*: linear relaxation of score differences over a box of inputs.

mod bends;
mod touched;
mod twins;

use policert_engine_api::{Budget, StopReason};
use policert_numeric::round::sub_down;
use policert_policy::{Activation, Op};
use smallvec::{SmallVec, smallvec};

use crate::frame::RegionFrame;
use crate::interval::SlotBounds;
use crate::program::{LANES, Lanes, Program};
use crate::relaxation::{self, Lines};
use crate::symbolic::{Form, FormBlock, FormTerm, Relaxations};
pub(crate) use bends::Convex;
use touched::Touched;

/// Computes bounds of score differences of one network.
#[derive(Debug)]
pub(crate) struct Bounder {
    program: Program,
    bounds: SlotBounds,
    /// By slot, for functions of one variable.
    lines: Vec<Lines>,
    /// For each affine node the neurons whose coefficients may differ from 0.
    active: Vec<Vec<usize>>,
    /// Sides of bends without the bends themselves.
    open_sides: Vec<Bend>,
    refined: Vec<Refined>,
    /// What may be worth refining.
    touched: Touched,
    /// For each such element and free input the magnitude of the coefficient in its planes.
    reaches: Vec<f64>,
    forms: FormBlock,
    /// Linear forms carried back so far.
    pub forms_done: u64,
    /// True if a block of forms takes so long that the clock is read for each.
    is_large: bool,
}

/// An element whose bounds were refined.
#[derive(Clone, Copy, Debug)]
struct Refined {
    node: usize,
    element: usize,
    /// Where its part of `reaches` begins.
    place: usize,
}

/// A lower bound of the difference of two scores over a box, with its plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoreDifference<'a> {
    /// score(`greater`) − score(`lesser`) is bounded.
    pub greater: usize,
    pub lesser: usize,
    /// The lower bound; −∞ if there is none.
    pub lower: f64,
    plane: Option<Plane<'a>>,
}

/// A plane of a block of forms: below the form everywhere in the part that was entered last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane<'a> {
    bounder: &'a Bounder,
    frame: &'a RegionFrame,
    lane: usize,
}

/// A bound that holds in a part of the region: of the argument of a function at one of its bends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bend {
    /// The slot of the argument.
    pub slot: usize,
    /// The argument at which the function bends.
    pub at: f64,
    /// True if the argument is at least `at`, false if it is at most `at`.
    pub above: bool,
    /// True if the argument is not `at` itself.
    pub strict: bool,
    /// True if another bend of the part says the same.
    pub implied: bool,
}

impl Plane<'_> {
    /// Its constant.
    pub fn constant(&self) -> f64 {
        self.bounder.forms.plane_constant(self.frame, self.lane)
    }

    /// Its coefficient of a network input.
    pub fn slope(&self, input: usize) -> f64 {
        self.bounder.forms.coefficient(&self.bounder.program, 0, input, self.lane)
    }

    /// The coefficient that an element of a function's node had when the form passed it.
    pub fn effect(&self, node: usize, element: usize) -> f64 {
        self.bounder.forms.coefficient(&self.bounder.program, node, element, self.lane)
    }

    /// Adds how much it depends on the width of each input: the slope, and the effects on
    /// functions that had to be relaxed, which a cut makes more linear.
    pub fn add_influence(&self, influence: &mut [f64]) {
        for &input in &self.frame.free {
            influence[input] += self.slope(input).abs();
        }
        self.bounder.add_first_effects(self.frame, self.lane, influence);
        self.bounder.add_deeper_effects(self.frame, self.lane, influence);
    }
}

impl ScoreDifference<'_> {
    /// Adds to `slopes` the coefficients of the network inputs in the plane that gave the bound,
    /// and to `influence` how much the bound depends on the width of each input.
    pub fn add_plane(&self, slopes: &mut [f64], influence: &mut [f64]) {
        let Some(plane) = self.plane else { return };
        for &input in &plane.frame.free {
            slopes[input] += plane.slope(input);
        }
        plane.add_influence(influence);
    }
}

/// The weight of an effect on a relaxed function of the first layer against a slope, and that of
/// one on a function of a deeper layer: from measurements.
const FIRST_EFFECT: f64 = 4.0;
const DEEPER_EFFECT: f64 = 8.0;
/// With so many weights a block of forms takes a tenth of a millisecond.
const LARGE: usize = 1 << 16;

impl Bounder {
    pub fn new(program: Program) -> Self {
        Self {
            bounds: SlotBounds::new(&program),
            lines: vec![Lines::default(); program.slots],
            active: program.nodes.iter().map(|node| (0..node.width).collect()).collect(),
            open_sides: Vec::new(),
            refined: Vec::new(),
            touched: Touched::all(&program),
            reaches: Vec::new(),
            forms: FormBlock::new(&program),
            is_large: program.weights() >= LARGE,
            program,
            forms_done: 0,
        }
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Bounds the functions that are not linear over the inputs between `lo` and `hi`, a part of
    /// the frame's region. Forms of other outputs than these may have bounds that are less sharp.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn enter(
        &mut self,
        frame: &RegionFrame,
        (lo, hi): (&[f64], &[f64]),
        outputs: &[usize],
        budget: &mut Budget,
    ) -> Result<(), StopReason> {
        self.touch(frame, (lo, hi), outputs, budget)?;
        self.sharpen(frame, (lo, hi), &[], budget).map(|_| ())
    }

    /// As [`Bounder::enter`] for all outputs, where the arguments of some functions are on one side of
    /// a bend. `false` if no input is there.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn enter_part(
        &mut self,
        frame: &RegionFrame,
        lo: &[f64],
        hi: &[f64],
        bends: &[Bend],
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        self.touch_all();
        self.sharpen(frame, (lo, hi), bends, budget)
    }

    /// Bounds all functions, as sharp as is worth it.
    fn sharpen(
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
            self.sharpen_steps(node);
            let range = self.program.range(node);
            self.bounds.limit(range.clone(), frame);
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

    /// The bounds of a slot in the part that was entered last.
    pub fn range(&self, slot: usize) -> (f64, f64) {
        (self.bounds.lo[slot], self.bounds.hi[slot])
    }

    /// Lower bounds of forms of a node over the part that was entered last, with their planes.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn planes(
        &mut self,
        frame: &RegionFrame,
        node: usize,
        forms: &[Form],
        budget: &mut Budget,
        visit: &mut impl FnMut(usize, f64, Plane<'_>),
    ) -> Result<(), StopReason> {
        for (block, forms) in forms.chunks(LANES).enumerate() {
            let lower = self.lower_bounds(frame, node, forms, budget)?;
            for (lane, &lower) in lower.iter().enumerate().take(forms.len()) {
                visit(block * LANES + lane, lower, Plane { bounder: &*self, frame, lane });
            }
        }
        Ok(())
    }

    /// A lower bound of a form of the scores and multiples of other elements, by their slots, over
    /// the part that was entered last, with its plane.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn mixed_plane<T>(
        &mut self,
        frame: &RegionFrame,
        form: &Form,
        elements: &[(usize, f64)],
        budget: &mut Budget,
        visit: impl FnOnce(Plane<'_>) -> T,
    ) -> Result<T, StopReason> {
        self.poll(budget)?;
        self.forms_done += 1;
        let forms = std::slice::from_ref(form);
        self.forms.start(&self.program, frame, self.program.output, forms);
        for &(slot, by) in elements {
            self.forms.add_element(&self.program, frame, slot, by);
        }
        self.carry_back(frame);
        Ok(visit(Plane { bounder: &*self, frame, lane: 0 }))
    }

    /// Draws the lines of a function over the bounds of its argument.
    fn relax(&mut self, node: usize, source: usize, activation: Activation) {
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

    fn lower_bounds(
        &mut self,
        frame: &RegionFrame,
        node: usize,
        forms: &[Form],
        budget: &mut Budget,
    ) -> Result<Lanes, StopReason> {
        self.poll(budget)?;
        self.forms_done += forms.len() as u64;
        self.forms.start(&self.program, frame, node, forms);
        Ok(self.carry_back(frame))
    }

    /// Looks at the budget before a pass through the network.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn poll(&self, budget: &mut Budget) -> Result<(), StopReason> {
        if self.is_large { budget.poll_clock() } else { budget.poll() }
    }

    /// Lower bounds of the forms that were started.
    fn carry_back(&mut self, frame: &RegionFrame) -> Lanes {
        let relaxations =
            Relaxations { lines: &self.lines, bounds: &self.bounds, active: &self.active };
        self.forms.lower_bounds(&self.program, frame, relaxations)
    }

    /// Lower bounds of score differences over the box that was entered last: for each pair
    /// (greater, lesser) of score(greater) − score(lesser).
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn differences(
        &mut self,
        frame: &RegionFrame,
        pairs: &[(usize, usize)],
        budget: &mut Budget,
        visit: &mut impl FnMut(ScoreDifference<'_>),
    ) -> Result<(), StopReason> {
        let output = self.program.output;
        for pairs in pairs.chunks(LANES) {
            let form = |&(greater, lesser): &(usize, usize)| -> Form {
                let term = |element, factor| FormTerm { element, factor };
                smallvec![term(greater, 1.0), term(lesser, -1.0)]
            };
            let forms: SmallVec<[Form; LANES]> = pairs.iter().map(form).collect();
            let lower = self.lower_bounds(frame, output, &forms, budget)?;
            for (lane, &(greater, lesser)) in pairs.iter().enumerate() {
                visit(match self.constant_difference(greater, lesser) {
                    Some(lower) => ScoreDifference { greater, lesser, lower, plane: None },
                    None => {
                        let plane = Some(Plane { bounder: &*self, frame, lane });
                        ScoreDifference { greater, lesser, lower: lower[lane], plane }
                    }
                });
            }
        }
        Ok(())
    }

    /// A lower bound, over the box that was entered last, of the greatest of the differences of
    /// some rivals' scores and the score of `lesser`: that of a mixture of them. At most three
    /// rivals are taken.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn mixture(
        &mut self,
        frame: &RegionFrame,
        rivals: &[usize],
        lesser: usize,
        budget: &mut Budget,
    ) -> Result<f64, StopReason> {
        let mut forms: SmallVec<[Form; LANES]> = SmallVec::new();
        for (i, &a) in rivals.iter().enumerate().take(3) {
            for &b in &rivals[..i] {
                // Shares that sum to 1 exactly; even ones first for the closest rivals.
                let shares: &[f64] = if i == 1 { &[0.5, 0.25, 0.75] } else { &[0.375, 0.625] };
                for share in shares {
                    forms.push(smallvec![
                        FormTerm { element: a, factor: *share },
                        FormTerm { element: b, factor: 1.0 - share },
                        FormTerm { element: lesser, factor: -1.0 },
                    ]);
                }
            }
        }
        if forms.is_empty() {
            return Ok(f64::NEG_INFINITY);
        }
        let lower = self.lower_bounds(frame, self.program.output, &forms, budget)?;
        Ok(lower[..forms.len()].iter().copied().fold(f64::NEG_INFINITY, f64::max))
    }

    /// Adds the effects on neurons of the first layers that are not linear in the box:
    /// Σ |aᵢ|·|Wᵢₖ|.
    fn add_first_effects(&self, frame: &RegionFrame, lane: usize, influence: &mut [f64]) {
        let program = &self.program;
        for (node, first) in frame.first.iter().enumerate() {
            let Op::Affine { weights, .. } = program.op(node) else { continue };
            let (Some(function), Some(_)) = (program.nodes[node].reader, first) else { continue };
            for (neuron, slot) in program.range(node).enumerate() {
                if function.is_linear(self.bounds.lo[slot], self.bounds.hi[slot]) {
                    continue;
                }
                let effect = self.forms.coefficient(program, node, neuron, lane).abs();
                let row = weights.row(neuron);
                for &input in &frame.free {
                    influence[input] += FIRST_EFFECT * effect * row[input].abs();
                }
            }
        }
    }

    /// Adds the effects on refined elements, through their own planes.
    fn add_deeper_effects(&self, frame: &RegionFrame, lane: usize, influence: &mut [f64]) {
        for &Refined { node, element, place } in &self.refined {
            let effect = self.forms.coefficient(&self.program, node, element, lane).abs();
            if effect == 0.0 {
                continue;
            }
            let effect = DEEPER_EFFECT * effect;
            let reaches = &self.reaches[place..place + frame.free.len()];
            for (&input, reach) in frame.free.iter().zip(reaches) {
                influence[input] += effect * reach;
            }
        }
    }

    /// The difference of two scores that have the same weights: a tie of such scores is no
    /// matter of rounding.
    fn constant_difference(&self, greater: usize, lesser: usize) -> Option<f64> {
        let Op::Affine { weights, bias, .. } = self.program.op(self.program.output) else {
            return None;
        };
        let same = weights.row(greater) == weights.row(lesser);
        same.then(|| sub_down(bias[greater], bias[lesser]))
    }
}

#[cfg(test)]
mod tests;
