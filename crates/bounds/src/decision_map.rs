//! Decision maps: what is known about a policy's choices inside one region, as a tree of boxes
//! that is refined as queries need it.
//!
//! All queries about the region share the tree, whatever their output, conditions and part of the
//! region: a box in which an output was refuted is refuted for all of them, and points at which
//! the choice is known are known to all of them.

use policert_model::Truth;
use policert_numeric::{IntBox, IntInterval};
use policert_policy::Choice;

use crate::enumerate;
use crate::frame::RegionFrame;
use crate::inputs::Inputs;
use crate::output_set::OutputSet;
use crate::prepared::{NetworkBounds, PreparedPolicy};
use crate::split::Cut;

/// The outputs that a map gathers knowledge about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sharing {
    /// The one that is asked for.
    OneOutput,
    /// All that may matter to later queries.
    AllOutputs,
}

/// The knowledge about a policy's choices inside one region.
#[derive(Debug)]
pub struct DecisionMap {
    /// The first is the root; there is none until a query gives the region.
    pub(crate) nodes: Vec<MapNode>,
    /// The constants of bounds in the whole region; made when they are needed first.
    frame: Option<RegionFrame>,
    pub(crate) sharing: Sharing,
}

/// A box of the tree.
#[derive(Debug)]
pub(crate) struct MapNode {
    /// Its sides along the axes.
    pub sides: IntBox,
    /// The outputs that are chosen nowhere in it.
    pub refuted: OutputSet,
    /// Number of outputs of the policy.
    pub outputs: usize,
    /// With a filter: for each output those whose score beats it everywhere in the box.
    pub beaten_by: Vec<OutputSet>,
    /// With a filter: what is known of the applicability of each output.
    pub truths: Vec<Truth>,
    /// Points at which the choice is known, as coordinates along the axes, row by row; none once
    /// the box is enumerated.
    pub points: Vec<i64>,
    /// The choices at these points, or at all points of the box in the order of enumeration.
    pub choices: Vec<Choice>,
    /// For outputs that its bounds did not refute: what came closest.
    pub leads: Vec<Lead>,
    pub progress: NodeProgress,
}

/// The score difference that came closest to the refutation of an output.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Lead {
    pub output: usize,
    /// The lower bound of the difference; positive ones would refute.
    pub lower: f64,
    /// For each axis the slope of its plane, and how much a cut is expected to help.
    pub axes: Vec<(f64, f64)>,
}

impl Lead {
    /// The slope of its plane along an axis.
    pub fn slope(&self, axis: usize) -> f64 {
        self.axes[axis].0
    }

    /// An estimate of how much a cut of an axis helps.
    pub fn influence(&self, axis: usize) -> f64 {
        self.axes[axis].1
    }
}

/// The progress of the work on a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeProgress {
    /// Nothing was done.
    Fresh,
    /// Its scores were bounded.
    Bounded,
    /// All its points are known.
    Enumerated,
    /// It was cut in two, `low` and `low + 1`.
    Cut(Cut, usize),
}

impl DecisionMap {
    /// A map of a box along the axes; without one, of what the first query asks about.
    pub(crate) fn of_sides(
        prepared: &PreparedPolicy<'_>,
        sides: Option<IntBox>,
        sharing: Sharing,
    ) -> Self {
        let nodes = sides.map(|sides| MapNode::root(prepared, sides)).into_iter().collect();
        Self { nodes, frame: None, sharing }
    }

    /// Returns whether the map is about a box that does not include this one.
    pub(crate) fn is_without(&self, sides: &IntBox) -> bool {
        self.nodes.first().is_some_and(|root| !root.sides.includes(sides))
    }

    /// Makes the map one of a box, if it is not about one yet.
    pub(crate) fn root_at(&mut self, prepared: &PreparedPolicy<'_>, sides: IntBox) {
        if self.nodes.is_empty() {
            self.nodes.push(MapNode::root(prepared, sides));
        }
    }

    /// A box, with the constants of bounds in the whole region.
    pub(crate) fn bounded(
        &mut self,
        network: &NetworkBounds,
        reads: &[usize],
        node: usize,
    ) -> (&mut MapNode, &RegionFrame) {
        let Self { nodes, frame, .. } = self;
        let frame =
            frame.get_or_insert_with(|| network.frame(&Inputs::new(reads, &nodes[0].sides)));
        (&mut nodes[node], frame)
    }

    /// Number of boxes that the tree has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether the tree has no box yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Cuts a leaf in two and returns the lower part; the upper one follows it.
    pub(crate) fn cut(&mut self, prepared: &PreparedPolicy<'_>, node: usize, cut: Cut) -> usize {
        let low = self.nodes.len();
        let parent = &mut self.nodes[node];
        let side = parent.sides[cut.axis];
        let mut parts = [parent.child(), parent.child()];
        parts[0].sides[cut.axis] = IntInterval::new(side.lo, cut.at);
        parts[1].sides[cut.axis] = IntInterval::new(cut.at + 1, side.hi);
        let points = std::mem::take(&mut parent.points);
        let choices = std::mem::take(&mut parent.choices);
        let width = parent.sides.dimensions();
        for (point, choice) in points.chunks_exact(width).zip(choices) {
            let part = &mut parts[usize::from(point[cut.axis] > cut.at)];
            part.points.extend_from_slice(point);
            part.choices.push(choice);
        }
        for part in &mut parts {
            part.update_truths(prepared);
        }
        parent.progress = NodeProgress::Cut(cut, low);
        // What tells which half is better is all that is needed from now on.
        parent.leads.truncate(1);
        parent.leads.shrink_to_fit();
        self.nodes.extend(parts);
        low
    }
}

impl MapNode {
    pub(crate) fn root(prepared: &PreparedPolicy<'_>, sides: IntBox) -> Self {
        let outputs = prepared.applicable.len();
        let filtered = prepared.is_filtered();
        let each = if filtered { outputs } else { 0 };
        let mut node = Self {
            sides,
            refuted: OutputSet::none(outputs),
            outputs,
            beaten_by: vec![OutputSet::none(outputs); each],
            truths: vec![Truth::Maybe; each],
            points: Vec::new(),
            choices: Vec::new(),
            leads: Vec::new(),
            progress: NodeProgress::Fresh,
        };
        node.update_truths(prepared);
        node
    }

    /// A part that knows what holds everywhere in this box.
    fn child(&self) -> Self {
        Self {
            sides: self.sides.clone(),
            refuted: self.refuted.clone(),
            outputs: self.outputs,
            beaten_by: self.beaten_by.clone(),
            truths: self.truths.clone(),
            points: Vec::new(),
            choices: Vec::new(),
            leads: Vec::new(),
            progress: NodeProgress::Fresh,
        }
    }

    /// Looks again at where outputs are applicable.
    fn update_truths(&mut self, prepared: &PreparedPolicy<'_>) {
        if self.truths.is_empty() {
            return;
        }
        let states = prepared.states(&self.sides);
        for (truth, condition) in self.truths.iter_mut().zip(&*prepared.applicable) {
            if *truth == Truth::Maybe {
                *truth = condition.truth(&states);
            }
        }
        self.update_refuted();
    }

    /// Notes that output `loser` has a score that loses against that of `winner` everywhere.
    pub(crate) fn note_loss(&mut self, loser: usize, winner: usize) {
        if self.truths.is_empty() {
            self.refuted.insert(loser);
        } else {
            self.beaten_by[loser].insert(winner);
            self.update_refuted();
        }
    }

    /// With a filter, an output loses only against one that surely competes.
    fn update_refuted(&mut self) {
        for (output, truth) in self.truths.iter().enumerate() {
            let applicable = |winner: usize| self.truths[winner] == Truth::True;
            if *truth == Truth::False || self.beaten_by[output].iter().any(applicable) {
                self.refuted.insert(output);
            }
        }
    }

    /// The lead of an output, or else that of any other one.
    pub(crate) fn lead(&self, output: usize) -> Option<&Lead> {
        self.leads.iter().find(|lead| lead.output == output).or(self.leads.first())
    }

    /// Number of points at which the choice is known.
    pub(crate) fn known(&self) -> usize {
        self.choices.len()
    }

    /// A point at which the choice is known.
    pub(crate) fn point(&self, index: usize) -> Box<[i64]> {
        if self.progress == NodeProgress::Enumerated {
            return enumerate::point(&self.sides, index);
        }
        let width = self.sides.dimensions();
        Box::from(&self.points[index * width..(index + 1) * width])
    }

    /// Adds points with their choices; the latest ones with the same choice are kept.
    pub(crate) fn learn(&mut self, points: &[i64], choices: Vec<Choice>) {
        let width = self.sides.dimensions();
        for (point, choice) in points.chunks_exact(width).zip(choices) {
            let mut same = self.choices.iter().enumerate().filter(|(_, known)| **known == choice);
            let oldest = same.next();
            let oldest = oldest.map(|(index, _)| index).filter(|_| same.count() + 1 >= KEPT_POINTS);
            if let Some(index) = oldest {
                self.choices.remove(index);
                self.points.drain(index * width..(index + 1) * width);
            }
            self.points.extend_from_slice(point);
            self.choices.push(choice);
        }
    }

    /// Notes the choices at all points, in the order of enumeration. `always_chooses` says whether a
    /// sole output that is not refuted is chosen everywhere, so that the points say no more.
    pub(crate) fn learn_all(&mut self, choices: Vec<Choice>, always_chooses: bool) {
        self.progress = NodeProgress::Enumerated;
        self.points = Vec::new();
        self.leads = Vec::new();
        for output in 0..self.outputs {
            if choices.iter().all(|choice| choice.contains(output) == Some(false)) {
                self.refuted.insert(output);
            }
        }
        let open = self.outputs - self.refuted.len();
        let settled = open == 0 || (open == 1 && always_chooses);
        self.choices = if settled { Vec::new() } else { choices };
    }
}

/// Points with the same choice that a box remembers.
const KEPT_POINTS: usize = 4;
