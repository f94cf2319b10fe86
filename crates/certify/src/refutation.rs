//! Checking that no input of a network satisfies linear inequalities over its inputs and outputs.
//!
//! The proof is a tree over parts of the inputs: a part is split at a value of an input, or at one of
//! the argument of a function. At each leaf a sum of the inequalities, and of the sides of the splits at
//! functions, with multipliers of at least 0, is carried back through the network to the inputs: its
//! least value there is above what the sum allows (a refutation as by Farkas' lemma, with functions
//! replaced by lines below and above them). Nothing is searched.

mod carry;
mod lines;
mod relaxation;
mod single_bounds;

use policert_engine_api::{Budget, StopReason};
use policert_numeric::{LinearInequality, Rational};
use policert_policy::{Network, PolicyError};
use thiserror::Error;

pub use relaxation::{Plane, Relaxation};

/// A step of a proof in the order of a walk through its tree: a split, then the proof of its first part,
/// then that of the second.
#[derive(Clone, PartialEq, Debug)]
pub enum RefutationStep {
    /// Splits a part at a value of an input: below it first.
    Input {
        /// The input.
        input: usize,
        /// The value.
        at: f64,
    },
    /// Splits a part at a value of an element of a node of the network without maxima: below it first.
    Element {
        /// The node.
        node: usize,
        /// Its element.
        element: usize,
        /// The value.
        at: f64,
        /// True if the value itself belongs to the part below, false if to the one above.
        is_below: bool,
    },
    /// Nothing is in the part: the inequalities with a single variable contradict each other, or
    /// bounds of an element do.
    Empty,
    /// This sum is satisfied nowhere in the part.
    Sum(MultiplierSum),
}

/// A sum of what holds in a part, with multipliers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MultiplierSum {
    /// Inequalities by position.
    pub inequalities: Vec<(usize, Rational)>,
    /// Splits at elements by position among those above the part.
    pub splits: Vec<(usize, Rational)>,
    /// Slopes of lines below functions, by node and element; others follow a rule.
    pub slopes: Vec<(usize, usize, f64)>,
    /// True if the sum is computed in rational numbers, for bounds that are attained.
    pub exact: bool,
}

impl MultiplierSum {
    /// One inequality alone.
    #[must_use]
    pub fn alone(inequality: usize) -> Self {
        Self { inequalities: vec![(inequality, Rational::ONE)], ..Self::default() }
    }
}

/// A side of a split at an element of a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ElementSide {
    /// The node.
    pub node: usize,
    /// Its element.
    pub element: usize,
    /// The value at which it was split.
    pub at: f64,
    /// True if the element is at least as great, false if it is at most so.
    pub above: bool,
    /// True if it is not the value itself.
    pub strict: bool,
}

/// A part of the inputs.
#[derive(Clone, PartialEq, Debug)]
pub struct InputPart {
    /// The least values of the inputs.
    pub lo: Vec<f64>,
    /// The greatest ones.
    pub hi: Vec<f64>,
    /// The sides of splits at elements.
    pub sides: Vec<ElementSide>,
}

/// Says why a proof is none.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RefutationError {
    /// There is one proof for each disjunct.
    #[error("{claimed} proofs for {needed} disjuncts")]
    Count {
        /// Proofs.
        claimed: usize,
        /// Disjuncts.
        needed: usize,
    },
    /// A step that is no step about this network and property.
    #[error("disjunct {disjunct}, step {step}: no such input, element, inequality or split")]
    NoStep {
        /// The disjunct, from 0.
        disjunct: usize,
        /// The step, from 0.
        step: usize,
    },
    /// A part that is left without proof.
    #[error("disjunct {disjunct}: the proof ends before all parts are refuted")]
    Open {
        /// The disjunct, from 0.
        disjunct: usize,
    },
    /// Steps after the last part.
    #[error("disjunct {disjunct}: the proof goes on after its end, with step {step}")]
    Beyond {
        /// The disjunct, from 0.
        disjunct: usize,
        /// The step, from 0.
        step: usize,
    },
    /// A leaf that does not refute its part.
    #[error("disjunct {disjunct}, step {step}: the part is not refuted")]
    NotRefuted {
        /// The disjunct, from 0.
        disjunct: usize,
        /// The step, from 0.
        step: usize,
    },
    /// The network cannot be written without maxima.
    #[error(transparent)]
    Network(#[from] PolicyError),
    /// It was not decided.
    #[error(transparent)]
    Stopped(#[from] StopReason),
}

/// Checks proofs that no inputs satisfy one of the disjuncts, whose variables are the inputs and then
/// the outputs. Returns the number of parts that were refuted.
///
/// # Errors
/// The fault of a proof, or a stop of the budget.
pub fn check_refutation(
    network: &Network,
    disjuncts: &[Vec<LinearInequality>],
    proofs: &[Vec<RefutationStep>],
    budget: &mut Budget,
) -> Result<usize, RefutationError> {
    if disjuncts.len() != proofs.len() {
        let (claimed, needed) = (proofs.len(), disjuncts.len());
        return Err(RefutationError::Count { claimed, needed });
    }
    let network = network.without_maxima()?;
    let mut parts = 0;
    for (disjunct, (inequalities, steps)) in disjuncts.iter().zip(proofs).enumerate() {
        budget.poll_clock()?;
        let mut walk = Walk {
            disjunct,
            relaxation: Relaxation::new(&network, inequalities),
            part: InputPart::whole(inequalities, network.input_width()),
            frames: Vec::new(),
        };
        parts += walk.run(steps, budget)?;
    }
    Ok(parts)
}

impl InputPart {
    /// All inputs that the inequalities with a single variable allow, rounded outwards.
    #[must_use]
    pub fn whole(inequalities: &[LinearInequality], inputs: usize) -> Self {
        let (lo, hi) = single_bounds::sides(inequalities, inputs);
        let outward = |bound: &Option<Rational>, none: f64, upper: bool| {
            bound.as_ref().map_or(none, |bound| {
                let (below, above) = bound.to_f64_interval();
                if upper { above } else { below }
            })
        };
        Self {
            lo: lo.iter().map(|bound| outward(bound, f64::NEG_INFINITY, false)).collect(),
            hi: hi.iter().map(|bound| outward(bound, f64::INFINITY, true)).collect(),
            sides: Vec::new(),
        }
    }
}

/// A split above the part at hand.
struct Frame {
    /// The input that was split; `None` for an element.
    input: Option<usize>,
    at: f64,
    /// The bound that the split has replaced.
    replaced: f64,
    is_second: bool,
}

/// A walk through a proof, with the part at hand.
struct Walk<'a> {
    disjunct: usize,
    relaxation: Relaxation<'a>,
    part: InputPart,
    frames: Vec<Frame>,
}

impl Walk<'_> {
    fn run(
        &mut self,
        steps: &[RefutationStep],
        budget: &mut Budget,
    ) -> Result<usize, RefutationError> {
        let disjunct = self.disjunct;
        let mut refuted = 0;
        for (step, what) in steps.iter().enumerate() {
            budget.poll()?;
            match what {
                RefutationStep::Input { input, at } => {
                    if *input >= self.part.hi.len() || at.is_nan() {
                        return Err(RefutationError::NoStep { disjunct, step });
                    }
                    let replaced = self.part.hi[*input];
                    self.part.hi[*input] = replaced.min(*at);
                    let input = Some(*input);
                    self.frames.push(Frame { input, at: *at, replaced, is_second: false });
                    continue;
                }
                RefutationStep::Element { node, element, at, is_below } => {
                    if !self.relaxation.has_element(*node, *element) || !at.is_finite() {
                        return Err(RefutationError::NoStep { disjunct, step });
                    }
                    let (node, element, at) = (*node, *element, *at);
                    let (above, strict) = (false, !is_below);
                    self.part.sides.push(ElementSide { node, element, at, above, strict });
                    self.frames.push(Frame { input: None, at, replaced: 0.0, is_second: false });
                    continue;
                }
                RefutationStep::Empty => {
                    if self.relaxation.enter(&self.part, budget)? {
                        return Err(RefutationError::NotRefuted { disjunct, step });
                    }
                }
                RefutationStep::Sum(sum) => {
                    if !self.relaxation.has_sum(sum, self.part.sides.len()) {
                        return Err(RefutationError::NoStep { disjunct, step });
                    }
                    let is_refuted = !self.relaxation.enter(&self.part, budget)?
                        || self.relaxation.refutes(&self.part, sum, budget)?;
                    if !is_refuted {
                        return Err(RefutationError::NotRefuted { disjunct, step });
                    }
                }
            }
            refuted += 1;
            if !self.next_part() {
                return match steps.len() - 1 {
                    last if last == step => Ok(refuted),
                    _ => Err(RefutationError::Beyond { disjunct, step: step + 1 }),
                };
            }
        }
        Err(RefutationError::Open { disjunct })
    }

    /// Goes on to the second part of the last split whose first part is refuted; false if there is
    /// none.
    fn next_part(&mut self) -> bool {
        while let Some(frame) = self.frames.last_mut() {
            match (frame.input, frame.is_second) {
                (Some(input), false) => {
                    self.part.hi[input] = frame.replaced;
                    frame.replaced = self.part.lo[input];
                    self.part.lo[input] = frame.replaced.max(frame.at);
                }
                (Some(input), true) => self.part.lo[input] = frame.replaced,
                (None, false) => {
                    if let Some(side) = self.part.sides.last_mut() {
                        (side.above, side.strict) = (true, !side.strict);
                    }
                }
                (None, true) => _ = self.part.sides.pop(),
            }
            if !frame.is_second {
                frame.is_second = true;
                return true;
            }
            self.frames.pop();
        }
        false
    }
}
