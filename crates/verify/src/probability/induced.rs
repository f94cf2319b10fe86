//! Building and solving: bounds for every start state.

use std::time::{Duration, Instant};

use policert_certify::ValuedState;
use policert_engine_api::{Budget, Counts, EngineError, Event, Limits, Observer, StopReason};
use policert_explore::{DroppedOutcome, ExplicitConfig, Induced, Stats, induced_mdp};
use policert_mdp::{
    Bounds, Direction, Reachability, Solution, SolveOptions, SolveStatistics, StateSet, solve,
};
use policert_model::State;
use policert_problem::{ProbabilityQuestion, Problem};

use super::path::ProbablePath;
use super::{Run, path, valued_states};

/// What was found out about the start states.
#[derive(Debug)]
pub(super) struct Found {
    /// Bounds of the probability of reaching the target, by start state.
    pub reached: Vec<Bounds>,
    /// Whether these are all start states.
    pub starts_complete: bool,
    /// Why it ended early.
    pub stopped: Option<StopReason>,
    /// A state in which the policy's choice is not decided.
    pub undecided: Option<State>,
    /// Operators that dropped an outcome.
    pub dropped: Vec<DroppedOutcome>,
    /// Counts of the states.
    pub counts: Counts,
    /// States with bounds, for evidence; or why there are none.
    pub values: Result<Vec<ValuedState>, &'static str>,
    /// The most probable path to the target, if one was looked for.
    pub path: Option<ProbablePath>,
    /// What building took.
    pub building: Stats,
    /// Number of choices.
    pub choices: usize,
    /// What solving took.
    pub solving: SolveStatistics,
    /// Time of building and of solving.
    pub times: [Duration; 2],
}

/// Share of the time for building; the rest is for bounds from what was built.
const BUILDING: f64 = 0.8;
/// Blocks up to which a comparison that bounds leave open is decided exactly.
const EXACT_BLOCKS: usize = 20_000;

pub(super) fn find(
    problem: &Problem,
    asked: &ProbabilityQuestion<'_>,
    run: &Run<'_>,
    observer: &mut dyn Observer,
) -> Result<Found, EngineError> {
    let begin = Instant::now();
    let limits = run.limits;
    let left = limits.time.map(|limit| limit.saturating_sub(run.begin.elapsed()));
    let share = Limits { time: left.map(|left| left.mul_f64(BUILDING)), ..limits.clone() };
    let mut budget = Budget::new(share, run.cancel.clone());
    let config = ExplicitConfig::default();
    let induced =
        induced_mdp(&asked.reach, problem.policy.as_ref(), &config, &mut budget, observer)?;
    problem.check_chain(&induced)?;
    let built = begin.elapsed();
    observer.event(Event::Phase("probability"));
    let rest = Limits { time: left.map(|left| left.saturating_sub(built)), ..limits.clone() };
    let mut budget = Budget::new(rest, run.cancel.clone());
    let solved = solve_bounds(&induced, asked, run, &mut budget)?;
    let reached = match &induced.undecided {
        None => solved.reached,
        // Every label that competes was a choice: of the bounds one is too good.
        Some(_) => solved.reached.into_iter().map(|b| one_sided(b, asked.direction)).collect(),
    };
    Ok(Found {
        values: solved.values.ok_or_else(|| {
            valued_states::refusal(asked, &induced).unwrap_or("the states were not solved")
        }),
        path: solved.path,
        reached,
        starts_complete: induced.starts_complete,
        stopped: induced.stopped.or(solved.stopped),
        undecided: induced.undecided.clone(),
        choices: induced.mdp.choices(),
        counts: induced.counts,
        building: induced.stats,
        dropped: induced.dropped,
        solving: solved.statistics,
        times: [built, begin.elapsed().saturating_sub(built)],
    })
}

fn one_sided(bounds: Bounds, direction: Direction) -> Bounds {
    let unknown = Bounds::unknown();
    match direction {
        Direction::Max => Bounds { lo: unknown.lo, ..bounds },
        Direction::Min => Bounds { hi: unknown.hi, ..bounds },
    }
}

struct Solved {
    path: Option<ProbablePath>,
    values: Option<Vec<ValuedState>>,
    reached: Vec<Bounds>,
    stopped: Option<StopReason>,
    statistics: SolveStatistics,
}

fn solve_bounds(
    induced: &Induced,
    asked: &ProbabilityQuestion<'_>,
    run: &Run<'_>,
    budget: &mut Budget,
) -> Result<Solved, EngineError> {
    let options = SolveOptions {
        precision: run.width(),
        method: run.options.method,
        exact: run.options.exact,
    };
    let reachability = induced.problem(asked.direction);
    if !induced.unexplored.is_empty() {
        return partial(induced, &reachability, &options, budget);
    }
    let mut solution = solve(&reachability, &options, budget)?;
    if solution.stopped.is_none()
        && solution.statistics.blocks <= EXACT_BLOCKS
        && is_open(asked, &solution)
    {
        let exact = solve(&reachability, &SolveOptions { exact: true, ..options }, budget)?;
        // After a stop the bounds found before are the better ones.
        if exact.stopped.is_none() {
            solution = exact;
        }
    }
    let values = (run.evidence && valued_states::refusal(asked, induced).is_none())
        .then(|| valued_states::values(induced, &solution));
    let path = match asked.direction {
        // After a limit, the bounds are what matters.
        Direction::Max if induced.undecided.is_none() => {
            path::most_probable(induced, &solution, budget).unwrap_or(None)
        }
        _ => None,
    };
    let Solution { initial, stopped, statistics, .. } = solution;
    Ok(Solved { path, values, reached: initial, stopped, statistics })
}

/// Whether the bounds of some start state leave open what is compared.
fn is_open(asked: &ProbabilityQuestion<'_>, solution: &Solution) -> bool {
    asked.comparison.as_ref().is_some_and(|comparison| {
        solution.initial.iter().any(|reached| {
            let bounds = asked.asked_for(reached);
            bounds.lo != bounds.hi && bounds.lo <= comparison.bound && comparison.bound <= bounds.hi
        })
    })
}

/// Bounds where some states were not expanded: they count as failed for the lower bounds, and as
/// in the target for the upper ones.
fn partial(
    induced: &Induced,
    reachability: &Reachability<'_>,
    options: &SolveOptions,
    budget: &mut Budget,
) -> Result<Solved, EngineError> {
    let with = |set: &StateSet| {
        let mut set = set.clone();
        for state in induced.unexplored.iter() {
            set.insert(state);
        }
        set
    };
    let options = SolveOptions { exact: false, ..*options };
    let target = with(&induced.target);
    let upper = solve(&Reachability { target: &target, ..*reachability }, &options, budget)?;
    let avoid = with(&induced.avoid);
    let lower = solve(&Reachability { avoid: &avoid, ..*reachability }, &options, budget)?;
    let both = lower.initial.into_iter().zip(upper.initial);
    Ok(Solved {
        path: None,
        values: None,
        reached: both.map(|(lower, upper)| Bounds { lo: lower.lo, hi: upper.hi }).collect(),
        stopped: upper.stopped.or(lower.stopped),
        statistics: lower.statistics,
    })
}
