//! Stage *bound*: linear relaxation of score differences over a box of inputs.

mod bends;
mod chosen;
mod sharpen;
mod touched;
mod twins;

use policert_engine_api::{Budget, StopReason};
use policert_numeric::round::sub_down;
use policert_policy::Op;
use smallvec::{SmallVec, smallvec};

use crate::frame::RegionFrame;
use crate::interval::SlotBounds;
use crate::program::{LANES, Lanes, Program};
use crate::relaxation::Lines;
use crate::symbolic::{Form, FormBlock, FormTerm, Greatest, Relaxations};
pub(crate) use bends::Convex;
use chosen::Sharpened;
use touched::Touched;

/// Computes bounds of score differences of one network.
#[derive(Debug)]
pub(crate) struct Bounder {
    program: Program,
    bounds: SlotBounds,
    /// By slot, for functions of one variable.
    lines: Vec<Lines>,
    /// By slot, for maxima.
    greatest: Vec<Greatest>,
    /// For each affine node the neurons whose coefficients may differ from 0.
    active: Vec<Vec<usize>>,
    /// Sides of bends without the bends themselves.
    open_sides: Vec<Bend>,
    refined: Vec<Refined>,
    /// What may be worth refining.
    touched: Touched,
    /// What was sharpened in earlier rounds.
    sharpened: Sharpened,
    /// Parts in a row that sharpening chosen elements did not decide.
    fruitless: u32,
    /// For each such element and free input the magnitude of the coefficient in its planes.
    reaches: Vec<f64>,
    forms: FormBlock,
    /// Linear forms carried back so far.
    pub forms_done: u64,
    /// True if a block of forms takes so long that the clock is read for each.
    is_large: bool,
    /// With more elements that are worth sharpening only some of them are sharpened, where there are
    /// maxima.
    many: usize,
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

/// The score differences (greater, lesser) that bounds of a part are wanted for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compared<'a> {
    pub pairs: &'a [(usize, usize)],
    /// How many of the first ones refute the lesser output if they are above 0.
    pub certain: usize,
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
/// More elements take longer than cutting the part instead: from measurements.
const MANY: usize = 256;

impl Bounder {
    pub fn new(program: Program) -> Self {
        Self {
            bounds: SlotBounds::new(&program),
            lines: vec![Lines::default(); program.slots],
            greatest: vec![Greatest::default(); if program.has_maxima { program.slots } else { 0 }],
            active: program.nodes.iter().map(|node| (0..node.width).collect()).collect(),
            open_sides: Vec::new(),
            refined: Vec::new(),
            touched: Touched::all(&program),
            sharpened: Sharpened::default(),
            fruitless: 0,
            reaches: Vec::new(),
            forms: FormBlock::new(&program),
            is_large: program.weights() >= LARGE,
            many: MANY,
            program,
            forms_done: 0,
        }
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns whether splitting functions at their bends may decide more than cutting the inputs: not
    /// where maxima choose between many modules.
    pub fn is_split_at_bends(&self) -> bool {
        !(self.program.has_maxima && self.is_large)
    }

    /// Bounds the functions that are not linear over the inputs between `lo` and `hi`, a part of
    /// the frame's region, for some score differences. Other forms may have bounds that are less
    /// sharp.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn enter(
        &mut self,
        frame: &RegionFrame,
        (lo, hi): (&[f64], &[f64]),
        compared: Compared<'_>,
        budget: &mut Budget,
    ) -> Result<(), StopReason> {
        self.touch(frame, (lo, hi), compared.pairs, budget)?;
        if self.program.has_maxima && self.worth_it(frame) > self.many {
            return self.sharpen_chosen(frame, (lo, hi), compared, budget);
        }
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
        let relaxations = Relaxations {
            lines: &self.lines,
            greatest: &self.greatest,
            bounds: &self.bounds,
            active: &self.active,
        };
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
            let forms: SmallVec<[Form; LANES]> = pairs.iter().map(difference).collect();
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

/// score(greater) − score(lesser).
fn difference(&(greater, lesser): &(usize, usize)) -> Form {
    let term = |element, factor| FormTerm { element, factor };
    smallvec![term(greater, 1.0), term(lesser, -1.0)]
}

#[cfg(test)]
mod tests;
