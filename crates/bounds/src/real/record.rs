//! The parts of a search as a tree, from which a proof of its answer can be made.
//!
//! A part has a number, and for each queue that looked at it what became of it there: two queues may
//! split the same part in different ways.

use std::sync::Arc;

use super::ascent::Multipliers;
use super::problem::RealProblem;
use super::queue::RealPart;
use super::split::Split;
use crate::program::Program;

/// A step of a recorded search, in the order of a walk through the tree of its parts: a split is
/// followed by its lower part, then by its upper one.
#[derive(Clone, PartialEq, Debug)]
pub enum RecordedStep {
    /// A split at a value of a variable.
    Variable {
        /// The variable.
        variable: usize,
        /// The value.
        at: f64,
    },
    /// A split at a value of an element of a node of the network without maxima.
    Element {
        /// The node.
        node: usize,
        /// Its element.
        element: usize,
        /// The value.
        at: f64,
        /// True if the value itself belongs to the lower part, false if to the upper one.
        is_below: bool,
    },
    /// What planes left of the part; its remainder follows.
    Box {
        /// The least values of the variables.
        lo: Vec<f64>,
        /// The greatest ones.
        hi: Vec<f64>,
    },
    /// The part is refuted, by these multipliers if any are known.
    Refuted(Option<RecordedMultipliers>),
}

/// Multipliers of a sum that refutes a part.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedMultipliers {
    /// By position of the inequality.
    pub inequalities: Vec<(usize, f64)>,
    /// By position of the split at an element, among those above the part.
    pub splits: Vec<(usize, f64)>,
    /// Slopes of lines below functions, by node and element.
    pub slopes: Vec<(usize, usize, f64)>,
}

/// What became of a part in a queue.
#[derive(Debug)]
enum Fate {
    Split(Split, [usize; 2]),
    Trimmed(Vec<f64>, Vec<f64>, usize),
    Refuted(Option<Leaf>),
}

/// A refuted part with multipliers, and for each of its bends whether it is a split of its own.
#[derive(Debug)]
struct Leaf {
    multipliers: Arc<Multipliers>,
    is_split: Vec<bool>,
}

/// The number of a queue.
pub(super) type QueueNumber = u32;

/// The parts of a search.
#[derive(Debug)]
pub(super) struct PartTree {
    /// By part and queue.
    fates: Vec<Vec<(QueueNumber, Fate)>>,
}

impl PartTree {
    /// The whole alone, part 0.
    pub fn new() -> Self {
        Self { fates: vec![Vec::new()] }
    }

    fn part(&mut self) -> usize {
        self.fates.push(Vec::new());
        self.fates.len() - 1
    }

    /// The numbers of the lower and the upper part of a split.
    pub fn split(&mut self, part: usize, queue: QueueNumber, split: Split) -> [usize; 2] {
        let parts = [self.part(), self.part()];
        self.fates[part].push((queue, Fate::Split(split, parts)));
        parts
    }

    /// The number of what is left of a part.
    pub fn trim(&mut self, part: usize, queue: QueueNumber, left: &RealPart) -> usize {
        let rest = self.part();
        self.fates[part].push((queue, Fate::Trimmed(left.lo.clone(), left.hi.clone(), rest)));
        rest
    }

    pub fn refute(
        &mut self,
        part: usize,
        queue: QueueNumber,
        known: Option<(Arc<Multipliers>, &RealPart)>,
    ) {
        let leaf = known.map(|(multipliers, part)| {
            let is_split = part.bends.iter().map(|bend| !bend.implied).collect();
            Leaf { multipliers, is_split }
        });
        self.fates[part].push((queue, Fate::Refuted(leaf)));
    }

    /// The steps of the search by a queue, all of whose parts are refuted. A part that it did not look
    /// at was one of the first queue before there was another.
    pub fn steps(
        &self,
        queue: QueueNumber,
        program: &Program,
        problem: &RealProblem,
        scales: &[f64],
    ) -> Vec<RecordedStep> {
        let mut steps = Vec::new();
        let mut open = vec![0];
        while let Some(part) = open.pop() {
            let of = |queue| self.fates[part].iter().find(|(by, _)| *by == queue);
            let Some((_, fate)) = of(queue).or_else(|| of(0)) else {
                // An empty part, which nobody looked at.
                steps.push(RecordedStep::Refuted(None));
                continue;
            };
            match fate {
                Fate::Split(split, [low, high]) => {
                    steps.push(match *split {
                        Split::Side { variable, at } => RecordedStep::Variable { variable, at },
                        Split::Bend { slot, at, is_below } => {
                            let (node, element) = program.element_of(slot);
                            RecordedStep::Element { node, element, at, is_below }
                        }
                    });
                    open.extend([high, low]);
                }
                Fate::Trimmed(lo, hi, rest) => {
                    steps.push(RecordedStep::Box { lo: lo.clone(), hi: hi.clone() });
                    open.push(*rest);
                }
                Fate::Refuted(leaf) => {
                    let recorded =
                        leaf.as_ref().map(|leaf| leaf.recorded(program, problem, scales));
                    steps.push(RecordedStep::Refuted(recorded));
                }
            }
        }
        steps
    }
}

impl Leaf {
    fn recorded(
        &self,
        program: &Program,
        problem: &RealProblem,
        scales: &[f64],
    ) -> RecordedMultipliers {
        let Multipliers { constraints, bends, slopes } = &*self.multipliers;
        let own = bends.iter().zip(&self.is_split).filter(|(_, is_split)| **is_split);
        let slopes = slopes.iter().enumerate().filter(|(_, slope)| !slope.is_nan());
        RecordedMultipliers {
            inequalities: constraints
                .iter()
                .zip(scales)
                .zip(&problem.positions)
                .filter(|((by, _), _)| **by > 0.0)
                .map(|((by, scale), &position)| (position, by / scale))
                .collect(),
            splits: own
                .enumerate()
                .filter(|(_, (by, _))| **by > 0.0)
                .map(|(at, (by, _))| (at, *by))
                .collect(),
            slopes: slopes
                .map(|(slot, &slope)| {
                    let (node, element) = program.element_of(slot);
                    (node, element, f64::from(slope))
                })
                .collect(),
        }
    }
}
