//! Stage *bound* on a leaf of a decision map: which outputs lose everywhere in it.

use std::time::Instant;

use policert_engine_api::{Budget, StopReason};
use policert_model::Truth;
use policert_numeric::IntBox;
use smallvec::{SmallVec, smallvec};

use crate::bound::Difference;
use crate::decision_map::{Lead, Progress, Sharing};
use crate::frame::Frame;
use crate::oracle::{Axes, Function};
use crate::output_set::OutputSet;
use crate::search::Search;
use crate::statistics::Stage;
use crate::tighten::Restriction;

/// Boxes whose inputs are smaller than those of the region by this factor get a frame of their
/// own.
const SMALL_PART: f64 = 1024.0;

/// Bounds of network inputs.
pub(crate) struct Inputs {
    pub lo: Vec<f64>,
    pub hi: Vec<f64>,
}

impl Inputs {
    pub fn new(reads: &[usize], sides: &IntBox) -> Self {
        let lo = reads.iter().map(|&axis| float_below(sides[axis].lo)).collect();
        let hi = reads.iter().map(|&axis| float_above(sides[axis].hi)).collect();
        Self { lo, hi }
    }
}

/// Integers of at most this magnitude are doubles.
const EXACT: u64 = 1 << 53;

/// A double that is not above; values are 64-bit integers, so there always is one.
#[expect(clippy::cast_precision_loss, reason = "rounded outwards")]
pub(crate) fn float_below(value: i64) -> f64 {
    let near = value as f64;
    if value.unsigned_abs() <= EXACT { near } else { near.next_down() }
}

/// A double that is not below.
#[expect(clippy::cast_precision_loss, reason = "rounded outwards")]
pub(crate) fn float_above(value: i64) -> f64 {
    let near = value as f64;
    if value.unsigned_abs() <= EXACT { near } else { near.next_up() }
}

impl<'q> Search<'_, '_, 'q> {
    /// Bounds the score differences over a leaf and notes which outputs lose. Returns whether the
    /// bounds contradict the conditions of the query.
    pub(crate) fn bound(
        &mut self,
        node: usize,
        restriction: &Restriction<'q>,
    ) -> Result<bool, StopReason> {
        if let Function::Trees(_) = self.oracle.function {
            self.bound_trees(node)?;
            return Ok(false);
        }
        let started = Instant::now();
        self.budget.poll()?;
        let inputs = Inputs::new(&self.oracle.axes.reads, &self.map.nodes[node].sides);
        let own = self.frame(&inputs);
        let outputs = self.oracle.applicable.len();
        let mut winners = OutputSet::none(outputs);
        for choice in &self.map.nodes[node].choices {
            choice.outputs().iter().for_each(|&output| winners.insert(output));
        }
        let leaf = &self.map.nodes[node];
        let wanted = |output: usize| {
            output == self.output
                || (self.map.sharing == Sharing::AllOutputs
                    && !winners.contains(output)
                    && !leaf.refuted.contains(output))
        };
        let targets: Vec<usize> = (0..outputs).filter(|&output| wanted(output)).collect();
        let pairs: Vec<(usize, usize)> = winners
            .iter()
            .flat_map(|winner| targets.iter().map(move |&target| (winner, target)))
            .filter(|(winner, target)| winner != target)
            .collect();
        self.oracle.statistics.bounds += 1;
        self.rivals.clear();
        let frame = own.as_ref().or(self.map.frame.as_ref());
        if let (Some(frame), Function::Network(network)) = (frame, &mut self.oracle.function) {
            network.bounder.enter(frame, &inputs.lo, &inputs.hi, self.budget)?;
        }
        self.differences(node, own.as_ref(), &pairs)?;
        if !self.map.nodes[node].refuted.contains(self.output) {
            let others = (0..outputs).filter(|&other| other != self.output);
            let pairs: Vec<(usize, usize)> = others
                .filter(|&other| !winners.contains(other))
                .map(|other| (other, self.output))
                .collect();
            self.differences(node, own.as_ref(), &pairs)?;
        }
        if !self.map.nodes[node].refuted.contains(self.output) {
            self.mixture(node, own.as_ref())?;
        }
        let refuted = self.map.nodes[node].refuted.contains(self.output);
        let contradictory = !refuted && self.is_contradictory(node, own.as_ref(), restriction)?;
        if let Function::Network(network) = &self.oracle.function {
            self.oracle.statistics.forms = network.bounder.forms_done;
        }
        self.map.nodes[node].progress = Progress::Bounded;
        self.finish(Stage::Bound, started);
        Ok(contradictory)
    }

    /// A frame for these inputs where that of the map is of no use, or much too wide.
    fn frame(&mut self, inputs: &Inputs) -> Option<Frame> {
        let Function::Network(network) = &self.oracle.function else { return None };
        let program = network.bounder.program();
        let map = &mut *self.map;
        let root = &map.nodes[0].sides;
        let frame = map.frame.get_or_insert_with(|| {
            let all = Inputs::new(&self.oracle.axes.reads, root);
            Frame::new(program, all.lo, all.hi)
        });
        let size = |lo: &[f64], hi: &[f64]| {
            lo.iter().chain(hi).fold(1.0, |size: f64, x| size.max(x.abs()))
        };
        // Errors grow with the inputs of the whole region.
        let part = size(&inputs.lo, &inputs.hi) * SMALL_PART < size(&frame.lo, &frame.hi);
        if frame.floor.is_finite() && !part {
            return None;
        }
        Some(Frame::new(program, inputs.lo.clone(), inputs.hi.clone()))
    }

    /// Looks whether some of the closest rivals beat the output between them: where a mixture of
    /// their scores is greater, one of them is.
    fn mixture(&mut self, node: usize, own: Option<&Frame>) -> Result<(), StopReason> {
        let Some(frame) = own.or(self.map.frame.as_ref()) else { return Ok(()) };
        let leaf = &mut self.map.nodes[node];
        let competes = |rival: usize| leaf.truths.get(rival).is_none_or(|t| *t == Truth::True);
        self.rivals.retain(|&(rival, lower)| competes(rival) && lower > f64::NEG_INFINITY);
        self.rivals.sort_by(|a, b| b.1.total_cmp(&a.1));
        let rivals: SmallVec<[usize; 3]> = self.rivals.iter().take(3).map(|r| r.0).collect();
        let Function::Network(network) = &mut self.oracle.function else { return Ok(()) };
        // A positive difference refutes under every tie rule.
        if network.bounder.mixture(frame, &rivals, self.output, self.budget)? > 0.0 {
            leaf.refuted.insert(self.output);
        }
        Ok(())
    }

    /// Bounds score differences (greater, lesser) and notes what they say.
    fn differences(
        &mut self,
        node: usize,
        own: Option<&Frame>,
        pairs: &[(usize, usize)],
    ) -> Result<(), StopReason> {
        let Some(frame) = own.or(self.map.frame.as_ref()) else { return Ok(()) };
        let semantics = self.oracle.policy().semantics();
        let (leaf, axes) = (&mut self.map.nodes[node], &self.oracle.axes);
        let (rivals, output) = (&mut self.rivals, self.output);
        let Function::Network(network) = &mut self.oracle.function else { return Ok(()) };
        let budget = &mut *self.budget;
        network.bounder.differences(frame, pairs, budget, &mut |difference: Difference<'_>| {
            let Difference { greater, lesser, lower, .. } = difference;
            if lesser == output {
                rivals.push((greater, lower));
            }
            if semantics.requires(lesser, greater).is_excluded_by(lower) {
                leaf.note_loss(lesser, greater);
            }
            if leaf.refuted.contains(lesser) {
                return;
            }
            match leaf.leads.iter_mut().find(|lead| lead.output == lesser) {
                Some(known) if known.lower >= lower => {}
                Some(known) => follow(known, &difference, axes, &leaf.sides),
                None => {
                    let unknown = vec![(0.0, 0.0); axes.variables.len()];
                    let mut lead = Lead { output: lesser, lower, axes: unknown };
                    follow(&mut lead, &difference, axes, &leaf.sides);
                    leaf.leads.push(lead);
                }
            }
        })?;
        leaf.leads.retain(|lead| !leaf.refuted.contains(lead.output));
        Ok(())
    }

    /// Whether bounds refute the output at a known point at which the choice is undecided.
    pub(crate) fn refuted_at(&mut self, point: &[i64]) -> Result<bool, StopReason> {
        let state = self.state_of(point);
        let point = IntBox::point(point);
        let inputs = Inputs::new(&self.oracle.axes.reads, &point);
        let outputs = self.oracle.applicable.len();
        let competing = |other: usize| {
            !self.oracle.is_filtered() || self.oracle.applicable[other].holds(&state) == Ok(true)
        };
        let pairs: Vec<(usize, usize)> = (0..outputs)
            .filter(|&other| other != self.output && competing(other))
            .map(|other| (other, self.output))
            .collect();
        let mut lost = false;
        // Choices of trees are always decided.
        let Function::Network(network) = &mut self.oracle.function else { return Ok(false) };
        let frame = Frame::new(network.bounder.program(), inputs.lo, inputs.hi);
        let budget: &mut Budget = self.budget;
        network.bounder.enter(&frame, &frame.lo, &frame.hi, budget)?;
        // A strict comparison refutes under every tie rule.
        let lost_by = &mut |d: Difference<'_>| lost |= d.lower > 0.0;
        network.bounder.differences(&frame, &pairs, budget, lost_by)?;
        Ok(lost)
    }

    /// A state with these coordinates along the axes, 0 elsewhere.
    fn state_of(&self, point: &[i64]) -> Vec<i64> {
        let mut state = vec![0; self.oracle.axes.least_dimensions];
        for (&variable, &value) in self.oracle.axes.variables.iter().zip(point) {
            state[variable] = value;
        }
        state
    }
}

/// Notes what a bound that does not refute says about where to go on.
fn follow(lead: &mut Lead, difference: &Difference<'_>, axes: &Axes, sides: &IntBox) {
    let mut slopes: Numbers = smallvec![0.0; axes.reads.len()];
    let mut influence: Numbers = smallvec![0.0; axes.reads.len()];
    difference.add_plane(&mut slopes, &mut influence);
    lead.lower = difference.lower;
    lead.axes.fill((0.0, 0.0));
    for ((&axis, slope), influence) in axes.reads.iter().zip(slopes).zip(influence) {
        #[expect(clippy::cast_precision_loss, reason = "a heuristic")]
        let width = sides[axis].lo.abs_diff(sides[axis].hi) as f64;
        lead.axes[axis].0 += slope;
        lead.axes[axis].1 += influence * width;
    }
}

/// A number for each network input.
type Numbers = SmallVec<[f64; 32]>;
