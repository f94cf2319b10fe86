//! Building and solving: bounds for every start state.

use std::time::{Duration, Instant};

use policert_engine_api::{
    Budget, Context, Counts, Direction, EngineError, Event, ProbabilityAim, ProbabilityBounds,
    Question, StopReason, ValuedState,
};
use policert_explore::{
    DroppedOutcome, ExplicitConfig, Induced, ReachQuestion, Stats, induced_mdp,
};
use policert_mdp::{
    Method, Reachability, Solution, SolveOptions, SolveStatistics, StateSet, solve,
};
use policert_model::State;

use super::path::ProbablePath;
use super::{path, valued_states};

/// Holds what was found out about the start states.
#[derive(Debug)]
pub(super) struct Found {
    /// Bounds of the probability of reaching the target, by start state.
    pub reached: Vec<ProbabilityBounds>,
    /// True if these are all start states.
    pub starts_complete: bool,
    /// The reason why it ended early.
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
    /// The effort of building.
    pub building: Stats,
    /// Number of choices.
    pub choices: usize,
    /// The effort of solving.
    pub solving: SolveStatistics,
    /// Time of building and of solving.
    pub times: [Duration; 2],
}

/// Share of the time for building; the rest is for bounds from what was built.
const BUILDING: f64 = 0.8;
/// Blocks up to which a comparison that bounds leave open is decided exactly.
const EXACT_BLOCKS: usize = 20_000;

/// Says how the process is solved, and for what.
pub(super) struct Solving<'a> {
    /// The probability that is asked for.
    pub aim: &'a ProbabilityAim,
    /// Width of the interval.
    pub precision: f64,
    /// The way in which upper bounds are found.
    pub method: Method,
    /// True if evidence is wanted.
    pub evidence: bool,
}

pub(super) fn find(
    question: &Question<'_>,
    asked: &Solving<'_>,
    context: &mut Context<'_>,
) -> Result<Found, EngineError> {
    let begin = Instant::now();
    let direction = asked.aim.direction;
    let left = context.budget.remaining();
    let mut budget = context.budget.within(left.map(|left| left.mul_f64(BUILDING)));
    let reach = ReachQuestion { question: question.clone(), stay: asked.aim.stay.clone() };
    let config = ExplicitConfig::default();
    let induced =
        induced_mdp(&reach, question.policy, &config, &mut budget, &mut *context.observer)?;
    if asked.aim.is_chain {
        induced.check_chain(question.model)?;
    }
    let built = begin.elapsed();
    context.observer.event(Event::Phase("probability"));
    let mut budget = context.budget.within(left.map(|left| left.saturating_sub(built)));
    let solved = solve_bounds(&induced, asked, &mut budget)?;
    let reached = match &induced.undecided {
        None => solved.reached,
        // Every label that competes was a choice: of the bounds one is too good.
        Some(_) => solved.reached.into_iter().map(|b| one_sided(b, direction)).collect(),
    };
    Ok(Found {
        values: solved.values.ok_or_else(|| {
            valued_states::refusal(asked.aim, &induced).unwrap_or("the states were not solved")
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

fn one_sided(bounds: ProbabilityBounds, direction: Direction) -> ProbabilityBounds {
    let unknown = ProbabilityBounds::unknown();
    match direction {
        Direction::Max => ProbabilityBounds { lo: unknown.lo, ..bounds },
        Direction::Min => ProbabilityBounds { hi: unknown.hi, ..bounds },
    }
}

struct Solved {
    path: Option<ProbablePath>,
    values: Option<Vec<ValuedState>>,
    reached: Vec<ProbabilityBounds>,
    stopped: Option<StopReason>,
    statistics: SolveStatistics,
}

fn solve_bounds(
    induced: &Induced,
    asked: &Solving<'_>,
    budget: &mut Budget,
) -> Result<Solved, EngineError> {
    let options =
        SolveOptions { precision: asked.precision, method: asked.method, exact: asked.aim.exact };
    let reachability = induced.problem(asked.aim.direction);
    if !induced.unexplored.is_empty() || induced.above.is_some() {
        return two_sided(induced, &reachability, asked, &options, budget);
    }
    let mut solution = solve(&reachability, &options, budget)?;
    if solution.stopped.is_none()
        && solution.statistics.blocks <= EXACT_BLOCKS
        && is_open(asked.aim, &solution)
    {
        let exact = solve(&reachability, &SolveOptions { exact: true, ..options }, budget)?;
        // After a stop the bounds found before are the better ones.
        if exact.stopped.is_none() {
            solution = exact;
        }
    }
    let values = (asked.evidence && valued_states::refusal(asked.aim, induced).is_none())
        .then(|| valued_states::values(induced, &solution, &solution));
    let path = match asked.aim.direction {
        // After a limit, the bounds are what matters.
        Direction::Max if induced.undecided.is_none() => {
            path::most_probable(induced, &solution, budget).unwrap_or(None)
        }
        _ => None,
    };
    let Solution { initial, stopped, statistics, .. } = solution;
    Ok(Solved { path, values, reached: initial, stopped, statistics })
}

/// Returns whether the bounds of some start state leave open what is compared.
fn is_open(asked: &ProbabilityAim, solution: &Solution) -> bool {
    asked.comparison.as_ref().is_some_and(|comparison| {
        solution.initial.iter().any(|reached| {
            let bounds = asked.asked_for(reached);
            bounds.lo != bounds.hi && bounds.lo <= comparison.bound && comparison.bound <= bounds.hi
        })
    })
}

/// Bounds where some states were not expanded, or probabilities are no fractions. Such states count as
/// failed for the lower bounds, and as in the target for the upper ones; see [`Induced::above`] for
/// the probabilities.
fn two_sided(
    induced: &Induced,
    reachability: &Reachability<'_>,
    asked: &Solving<'_>,
    options: &SolveOptions,
    budget: &mut Budget,
) -> Result<Solved, EngineError> {
    let (below, above) = match (&induced.above, reachability.direction) {
        (None, _) => (*reachability, *reachability),
        (Some(above), Direction::Max) => {
            (*reachability, Reachability { mdp: above, ..*reachability })
        }
        (Some(above), Direction::Min) => {
            let is_chain = |state| induced.mdp.choices_of(state).len() <= 1;
            if !induced.mdp.state_range().all(is_chain) {
                return Err(EngineError::Unsupported(
                    "a least probability under a policy that draws (--choice sample), where the \
                     environment chooses, too; the greatest one (Pmax) is supported"
                        .to_owned(),
                ));
            }
            let least = Reachability { mdp: above, ..*reachability };
            (least, Reachability { direction: Direction::Max, ..least })
        }
    };
    let with = |set: &StateSet| {
        let mut set = set.clone();
        for state in induced.unexplored.iter() {
            set.insert(state);
        }
        set
    };
    let options = SolveOptions { exact: false, ..*options };
    let target = with(&induced.target);
    let upper = solve(&Reachability { target: &target, ..above }, &options, budget)?;
    let avoid = with(&induced.avoid);
    let lower = solve(&Reachability { avoid: &avoid, ..below }, &options, budget)?;
    let values = (asked.evidence && valued_states::refusal(asked.aim, induced).is_none())
        .then(|| valued_states::values(induced, &lower, &upper));
    let both = lower.initial.into_iter().zip(upper.initial);
    Ok(Solved {
        path: None,
        values,
        reached: both
            .map(|(lower, upper)| ProbabilityBounds { lo: lower.lo, hi: upper.hi })
            .collect(),
        stopped: upper.stopped.or(lower.stopped),
        statistics: lower.statistics,
    })
}
