//! Stage *bound* on a leaf of a decision map: which outputs lose everywhere in it.

use std::time::Instant;

use policert_engine_api::StopReason;
use policert_numeric::IntBox;
use policert_policy::Comparison;
use smallvec::{SmallVec, smallvec};

use crate::bound::Difference;
use crate::decision_map::{Lead, Progress, Sharing};
use crate::frame::Frame;
use crate::oracle::Axes;
use crate::output_set::OutputSet;
use crate::search::Search;
use crate::statistics::Stage;

/// Bounds of network inputs.
struct Inputs {
    lo: Vec<f64>,
    hi: Vec<f64>,
}

impl Inputs {
    fn new(reads: &[usize], sides: &IntBox) -> Self {
        let lo = reads.iter().map(|&axis| float_below(sides[axis].lo)).collect();
        let hi = reads.iter().map(|&axis| float_above(sides[axis].hi)).collect();
        Self { lo, hi }
    }
}

/// Integers of at most this magnitude are doubles.
const EXACT: u64 = 1 << 53;

#[expect(clippy::cast_precision_loss, reason = "rounded outwards")]
fn float_below(value: i64) -> f64 {
    match value {
        i64::MIN => f64::NEG_INFINITY,
        _ if value.unsigned_abs() <= EXACT => value as f64,
        _ => (value as f64).next_down(),
    }
}

fn float_above(value: i64) -> f64 {
    // The magnitude of `i64::MIN` is no i64; as an upper bound it is an ordinary value.
    if value == i64::MIN { -(2.0f64.powi(63)) } else { -float_below(-value) }
}

impl Search<'_, '_, '_> {
    /// Bounds the score differences over a leaf and notes which outputs lose.
    pub(crate) fn bound(&mut self, node: usize) -> Result<(), StopReason> {
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
        let frame = own.as_ref().or(self.map.frame.as_ref());
        if let Some(frame) = frame {
            self.oracle.bounder.enter(frame, &inputs.lo, &inputs.hi);
        }
        self.differences(node, own.as_ref(), &pairs);
        if !self.map.nodes[node].refuted.contains(self.output) {
            let others = (0..outputs).filter(|&other| other != self.output);
            let pairs: Vec<(usize, usize)> = others
                .filter(|&other| !winners.contains(other))
                .map(|other| (other, self.output))
                .collect();
            self.differences(node, own.as_ref(), &pairs);
        }
        self.oracle.statistics.forms = self.oracle.bounder.forms_done;
        self.map.nodes[node].progress = Progress::Bounded;
        self.finish(Stage::Bound, started);
        Ok(())
    }

    /// A frame for these inputs where that of the map is of no use.
    fn frame(&mut self, inputs: &Inputs) -> Option<Frame> {
        let program = self.oracle.bounder.program();
        let map = &mut *self.map;
        let root = &map.nodes[0].sides;
        let frame = map.frame.get_or_insert_with(|| {
            let all = Inputs::new(&self.oracle.axes.reads, root);
            Frame::new(program, all.lo, all.hi)
        });
        if frame.floor.is_finite() {
            return None;
        }
        Some(Frame::new(program, inputs.lo.clone(), inputs.hi.clone()))
    }

    /// Bounds score differences (greater, lesser) and notes what they say.
    fn differences(&mut self, node: usize, own: Option<&Frame>, pairs: &[(usize, usize)]) {
        let Some(frame) = own.or(self.map.frame.as_ref()) else { return };
        let semantics = self.oracle.policy().semantics();
        let (leaf, axes) = (&mut self.map.nodes[node], &self.oracle.axes);
        self.oracle.bounder.differences(frame, pairs, &mut |difference: Difference<'_>| {
            let Difference { greater, lesser, lower, .. } = difference;
            let lost = match semantics.requires(lesser, greater) {
                Comparison::Greater => lower >= 0.0,
                Comparison::GreaterEqual => lower > 0.0,
            };
            if lost {
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
        });
        leaf.leads.retain(|lead| !leaf.refuted.contains(lead.output));
    }

    /// Whether bounds refute the output at a known point at which the choice is undecided.
    pub(crate) fn refuted_at(&mut self, point: &[i64]) -> bool {
        let state = self.state_of(point);
        let point = IntBox::point(point);
        let inputs = Inputs::new(&self.oracle.axes.reads, &point);
        let frame = Frame::new(self.oracle.bounder.program(), inputs.lo, inputs.hi);
        self.oracle.bounder.enter(&frame, &frame.lo, &frame.hi);
        let outputs = self.oracle.applicable.len();
        let competing = |other: usize| {
            !self.oracle.is_filtered() || self.oracle.applicable[other].holds(&state) == Ok(true)
        };
        let pairs: Vec<(usize, usize)> = (0..outputs)
            .filter(|&other| other != self.output && competing(other))
            .map(|other| (other, self.output))
            .collect();
        let mut lost = false;
        // A strict comparison refutes under every tie rule.
        self.oracle.bounder.differences(&frame, &pairs, &mut |d| lost |= d.lower > 0.0);
        lost
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
    let mut effects: Numbers = smallvec![0.0; axes.reads.len()];
    difference.add_plane(&mut slopes, &mut effects);
    lead.lower = difference.lower;
    lead.axes.fill((0.0, 0.0));
    for ((&axis, slope), effect) in axes.reads.iter().zip(slopes).zip(effects) {
        #[expect(clippy::cast_precision_loss, reason = "a heuristic")]
        let width = sides[axis].lo.abs_diff(sides[axis].hi) as f64;
        lead.axes[axis].0 += slope;
        // Slopes say how much of the box a cut decides at once, effects how much it tightens.
        lead.axes[axis].1 += (slope.abs() + 2.0 * effect) * width;
    }
}

/// A number for each network input.
type Numbers = SmallVec<[f64; 32]>;
