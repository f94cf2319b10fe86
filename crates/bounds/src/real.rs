//! The decision oracle over the reals: is there an input that satisfies linear inequalities over
//! the inputs and the scores?
//!
//! Branch and bound over parts of the region: a part is a box of the variables, and for some
//! functions the side of a bend on which their argument lies. A part is refuted by the
//! [planes](crate::planes) of the inequalities, each alone or jointly; a likely point is checked
//! exactly; otherwise the part is [split](split), and where no function bends or jumps in it, it is a
//! [polytope] and decided exactly. A jump belongs to one of the two sides of it. Points at
//! [random](sample) find witnesses that are not rare. For networks of pieces that are linear the search
//! is complete, with tolerance zero.

mod ascent;
mod check;
mod contradiction;
mod descend;
mod mixed_row;
mod polytope;
mod problem;
mod queue;
mod record;
mod rows;
mod sample;
mod search;
mod split;
mod statistics;
mod trim;

use std::fmt;
use std::sync::OnceLock;

use policert_engine_api::{Budget, StopReason};
use policert_numeric::{LinearInequality, Rational};
use policert_policy::{Activation, Evaluator, ExactEvaluator, Network, Op, PolicyError};
use thiserror::Error;

use crate::bound::Bounder;
use crate::program::Program;
pub use contradiction::contradict;
use problem::{RealProblem, RealStart};
pub use record::{RecordedMultipliers, RecordedStep};
use search::RealSearch;
pub use statistics::RealStatistics;

/// Decides questions over the reals about one network. One for each thread.
#[derive(Debug)]
pub struct RealOracle {
    network: Network,
    /// Exact scores, if these are rational; once they are asked for.
    exact: OnceLock<Option<ExactEvaluator>>,
    evaluator: Evaluator,
    bounder: Bounder,
    /// For each network input the variable that it reads.
    reads: Vec<usize>,
    dimensions: usize,
    statistics: RealStatistics,
    /// The steps of searches that found nothing, by position of the question; where they are wanted.
    records: Option<Vec<(usize, Vec<RecordedStep>)>>,
}

/// The reason for which a network was not prepared.
#[derive(Debug, Error)]
pub enum PrepareError {
    /// It cannot be written without maxima; no network that was read or built before.
    #[error(transparent)]
    Network(#[from] PolicyError),
    /// The budget ended.
    #[error(transparent)]
    Stopped(#[from] StopReason),
}

/// The answer of a [`RealOracle`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RealAnswer {
    /// No point satisfies the inequalities; this is proved.
    Unsat,
    /// These values of the variables satisfy them; verified exactly.
    Sat(Vec<Rational>),
    /// Neither was found, for this reason.
    Undecided(UndecidedReason),
}

/// The reason for which a question over the reals stays open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum UndecidedReason {
    /// A variable is not bounded on both sides (by finite doubles).
    Unbounded {
        /// The index of that variable.
        variable: usize,
    },
    /// The network has smooth functions, or numbers beyond all reason, and what is left of the region is too
    /// small to be split.
    NotPiecewiseLinear,
}

impl fmt::Display for UndecidedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbounded { variable } => write!(f, "variable {variable} is not bounded"),
            Self::NotPiecewiseLinear => write!(
                f,
                "the network is not made of linear pieces, and in a part of the region that is \
                 too small to be split its bounds do not decide"
            ),
        }
    }
}

impl RealOracle {
    /// Prepares a network whose input k reads the variable `reads[k]` of 0 to `dimensions` − 1.
    ///
    /// # Errors
    /// A stop of the budget: large networks take a while, and memory.
    ///
    /// # Panics
    /// If it does not have as many inputs.
    pub fn new(
        network: &Network,
        reads: Vec<usize>,
        dimensions: usize,
        budget: &mut Budget,
    ) -> Result<Self, PrepareError> {
        assert_eq!(reads.len(), network.input_width(), "one variable for each input");
        budget.check_memory(memory_needed(network))?;
        let network = network.without_maxima()?;
        let program = Program::within(&network, budget)?;
        budget.poll_clock()?;
        let evaluator = Evaluator::new(&network);
        budget.poll_clock()?;
        Ok(Self {
            exact: OnceLock::new(),
            evaluator,
            bounder: Bounder::new(program),
            network,
            reads,
            dimensions,
            statistics: RealStatistics::default(),
            records: None,
        })
    }

    /// The network without maxima, whose nodes recorded steps name.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Exact scores, if these are rational.
    fn exact(&self) -> Option<&ExactEvaluator> {
        self.exact.get_or_init(|| ExactEvaluator::new(&self.network)).as_ref()
    }

    /// Returns whether the network is made of pieces that are linear, with or without jumps between them.
    fn has_pieces(&self) -> bool {
        let is_smooth =
            |op: &Op| matches!(op, Op::Pointwise { activation: Activation::Smooth(_), .. });
        !self.network.nodes().iter().any(|node| is_smooth(&node.op))
    }

    /// Returns whether the network is continuous and made of linear pieces.
    pub(crate) fn is_piecewise_linear(&self) -> bool {
        self.network.is_piecewise_linear()
    }

    /// Goes on with states of so many variables, those that the network reads among them.
    pub(crate) fn set_dimensions(&mut self, dimensions: usize) {
        self.dimensions = dimensions;
    }

    /// Counters of the work so far.
    #[must_use]
    pub fn statistics(&self) -> &RealStatistics {
        &self.statistics
    }

    /// Keeps the steps of searches from now on, so that proofs can be made of answers
    /// [`RealAnswer::Unsat`].
    pub fn keep_records(&mut self) {
        self.records = Some(Vec::new());
    }

    /// The steps of the searches since the last call that found nothing, with the positions of
    /// their questions among those that were asked together.
    pub fn take_records(&mut self) -> Vec<(usize, Vec<RecordedStep>)> {
        self.records.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn record(&mut self, disjunct: usize, steps: Option<Vec<RecordedStep>>) {
        if let (Some(records), Some(steps)) = (&mut self.records, steps) {
            records.push((disjunct, steps));
        }
    }

    /// Looks for values of the variables that satisfy all inequalities. In them the variables
    /// from `dimensions` on are the scores. Every variable that the network reads, or that an
    /// inequality with other variables mentions, needs bounds on both sides.
    ///
    /// # Errors
    /// A stop of the budget.
    ///
    /// # Panics
    /// If an inequality mentions a score that the network does not have.
    pub fn decide(
        &mut self,
        inequalities: &[LinearInequality],
        budget: &mut Budget,
    ) -> Result<RealAnswer, StopReason> {
        self.decide_any(&[inequalities], budget)
    }

    /// As [`RealOracle::decide`] for a disjunction: values that satisfy all inequalities of one
    /// of the disjuncts. They are searched in turns, so that none keeps the others waiting.
    ///
    /// # Errors
    /// A stop of the budget.
    ///
    /// # Panics
    /// If an inequality mentions a score that the network does not have.
    pub fn decide_any(
        &mut self,
        disjuncts: &[impl AsRef<[LinearInequality]>],
        budget: &mut Budget,
    ) -> Result<RealAnswer, StopReason> {
        let mut searches = self.searches(disjuncts, budget)?;
        searches.open.iter_mut().for_each(|search| search.looks_first = true);
        loop {
            if let Some(answer) = searches.advance(self, u64::MAX, budget)? {
                return Ok(answer);
            }
        }
    }

    /// The searches for a disjunction.
    ///
    /// # Errors
    /// A stop of the budget.
    pub(crate) fn searches(
        &mut self,
        disjuncts: &[impl AsRef<[LinearInequality]>],
        budget: &mut Budget,
    ) -> Result<Searches, StopReason> {
        let mut is_read = vec![false; self.dimensions];
        self.reads.iter().for_each(|&variable| is_read[variable] = true);
        let mut searches: Vec<RealSearch> = Vec::with_capacity(disjuncts.len());
        let mut undecided = None;
        for (disjunct, inequalities) in disjuncts.iter().enumerate() {
            budget.poll_clock()?;
            self.statistics.queries += 1;
            let start = RealProblem::read(self.dimensions, &is_read, inequalities.as_ref());
            let search = start.and_then(|start| match start {
                RealStart::Empty => {
                    self.record(disjunct, Some(vec![RecordedStep::Refuted(None)]));
                    Ok(None)
                }
                // Disjuncts mostly share a box, and what is computed for it.
                RealStart::Open(problem) => {
                    RealSearch::new(self, problem, disjunct, searches.last()).map(Some)
                }
            });
            match search {
                Ok(search) => searches.extend(search),
                Err(reason) => undecided = Some(reason),
            }
        }
        Ok(Searches { open: searches, undecided })
    }
}

/// Searches for the disjuncts of one question, which may pause.
#[derive(Debug)]
pub(crate) struct Searches {
    open: Vec<RealSearch>,
    undecided: Option<UndecidedReason>,
}

impl Searches {
    /// Looks at about so many parts more; an answer ends it.
    pub fn advance(
        &mut self,
        oracle: &mut RealOracle,
        parts: u64,
        budget: &mut Budget,
    ) -> Result<Option<RealAnswer>, StopReason> {
        let mut done = 0;
        while !self.open.is_empty() {
            let mut open = Vec::with_capacity(self.open.len());
            for mut search in std::mem::take(&mut self.open) {
                match search.advance(oracle, TURN, budget)? {
                    None => open.push(search),
                    Some(RealAnswer::Unsat) => {}
                    Some(RealAnswer::Undecided(reason)) => self.undecided = Some(reason),
                    Some(sat) => return Ok(Some(sat)),
                }
                done += TURN as u64;
            }
            self.open = open;
            if done >= parts {
                return Ok(None);
            }
        }
        Ok(Some(self.undecided.map_or(RealAnswer::Unsat, RealAnswer::Undecided)))
    }
}

/// A weight is kept in the copy without maxima, as an exact number, for evaluation, and row by row,
/// in forward and in backward panels for bounds: eight bytes each.
const BYTES_OF_WEIGHT: u64 = 6 * 8;

/// Bytes that preparing a network takes, about.
fn memory_needed(network: &Network) -> u64 {
    let weights = |op: &Op| match op {
        Op::Affine { weights, .. } => weights.entries().len(),
        Op::Input
        | Op::Scale { .. }
        | Op::Pointwise { .. }
        | Op::Add { .. }
        | Op::Concat { .. }
        | Op::Max { .. } => 0,
    };
    let weights: usize = network.nodes().iter().map(|node| weights(&node.op)).sum();
    u64::try_from(weights).unwrap_or(u64::MAX).saturating_mul(BYTES_OF_WEIGHT)
}

/// The number of parts that a search looks at before it is the next one's turn.
const TURN: usize = 16;

#[cfg(test)]
mod tests;
