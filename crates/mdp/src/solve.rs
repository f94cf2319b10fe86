//! From a problem to bounds of its values: graph, quotient, numbers.

use policert_engine_api::{Budget, EngineError, ProbabilityBounds, StopReason};
use policert_numeric::Rational;

use crate::Reachability;
use crate::exact::exact_values;
use crate::interval_iteration::IntervalIteration;
use crate::options::SolveOptions;
use crate::qualitative::{Qualitative, qualitative};
use crate::quotient::Quotient;

/// Holds what was found about a problem.
#[derive(Debug)]
pub struct Solution {
    /// Bounds of the values of the initial states, in their order.
    pub initial: Vec<ProbabilityBounds>,
    /// The reason why it ended early; the bounds stand nevertheless.
    pub stopped: Option<StopReason>,
    /// Counters of the work.
    pub statistics: SolveStatistics,
    pub(crate) known: Option<Qualitative>,
    pub(crate) quotient: Option<Quotient>,
    pub(crate) floats: Vec<[f64; 2]>,
    /// By block: the choice that reaches its bound, where it was computed; else none, or nothing.
    pub(crate) taken: Vec<u32>,
    pub(crate) exact: Option<Vec<Rational>>,
}

/// Says what solving took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SolveStatistics {
    /// States with value 0 by the graph.
    pub zero_states: usize,
    /// States with value 1 by the graph.
    pub one_states: usize,
    /// Blocks whose value numbers had to decide: states, or end components.
    pub blocks: usize,
    /// End components that were collapsed.
    pub end_components: usize,
    /// Components of blocks.
    pub components: usize,
    /// Sweeps over components.
    pub sweeps: u64,
    /// Components that were solved exactly because iteration was slow.
    pub exact_components: u64,
    /// Components whose bounds were guessed by policy iteration, and proved, because iteration was
    /// slow.
    pub guessed_components: u64,
}

/// Solves a problem.
///
/// # Errors
/// A contradiction inside, or an MDP that is too large. A stop of the budget is not an error.
pub fn solve(
    problem: &Reachability<'_>,
    options: &SolveOptions,
    budget: &mut Budget,
) -> Result<Solution, EngineError> {
    let mut solution = Solution {
        initial: vec![ProbabilityBounds::unknown(); problem.initial.len()],
        stopped: None,
        statistics: SolveStatistics::default(),
        known: None,
        quotient: None,
        floats: Vec::new(),
        taken: Vec::new(),
        exact: None,
    };
    match solution.run(problem, options, budget) {
        Ok(()) => {}
        Err(EngineError::Stop(reason)) => solution.stopped = Some(reason),
        Err(error) => return Err(error),
    }
    solution.initial = problem.initial.iter().map(|&state| solution.bounds(state)).collect();
    Ok(solution)
}

impl Solution {
    fn run(
        &mut self,
        problem: &Reachability<'_>,
        options: &SolveOptions,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        let known = qualitative(problem, budget)?;
        self.statistics.zero_states = known.zero.count();
        self.statistics.one_states = known.one.count();
        let known = self.known.insert(known);
        let quotient = Quotient::new(problem, known, budget)?;
        self.statistics.blocks = quotient.mdp.states() - 1;
        self.statistics.end_components = quotient.collapsed().len();
        self.statistics.components = quotient.order.iter().count();
        let quotient = self.quotient.insert(quotient);
        let mut iteration = IntervalIteration::new(quotient, problem.direction, options);
        let ran = iteration.run(budget);
        self.statistics.sweeps = iteration.sweeps;
        self.statistics.exact_components = iteration.exact_components;
        self.statistics.guessed_components = iteration.guessed_components;
        self.floats = iteration.values;
        self.taken = iteration.choices;
        ran?;
        if options.exact {
            let exact = exact_values(quotient, problem.direction, &self.floats, budget)?;
            self.exact = Some(exact.values);
            self.taken = exact.choices;
        }
        Ok(())
    }

    /// As [`Solution::bounds`], from iteration alone: they satisfy Bellman's inequalities together, those
    /// below as those above.
    #[must_use]
    pub fn float_bounds(&self, state: u32) -> [f64; 2] {
        let Some(known) = &self.known else { return [0.0, 1.0] };
        if known.one.contains(state) {
            return [1.0, 1.0];
        }
        if known.zero.contains(state) {
            return [0.0, 0.0];
        }
        let block = self.quotient.as_ref().and_then(|quotient| quotient.block_of(state));
        let bounds = block.and_then(|block| self.floats.get(block as usize).copied());
        bounds.unwrap_or([0.0, 1.0])
    }

    /// Bounds of the value of a state. Of states that the initial ones do not reach through
    /// states between 0 and 1, nothing is known.
    #[must_use]
    pub fn bounds(&self, state: u32) -> ProbabilityBounds {
        let Some(known) = &self.known else { return ProbabilityBounds::unknown() };
        if known.one.contains(state) {
            return ProbabilityBounds::exact(Rational::ONE);
        }
        if known.zero.contains(state) {
            return ProbabilityBounds::exact(Rational::ZERO);
        }
        let block = self.quotient.as_ref().and_then(|quotient| quotient.block_of(state));
        let Some(block) = block.map(|block| block as usize) else {
            return ProbabilityBounds::unknown();
        };
        match (&self.exact, self.floats.get(block)) {
            (Some(exact), _) => ProbabilityBounds::exact(exact[block].clone()),
            (None, Some(&bounds)) => ProbabilityBounds::of_floats(bounds),
            (None, None) => ProbabilityBounds::unknown(),
        }
    }
}
