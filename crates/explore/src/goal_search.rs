//! Does every run reach a goal state? Enumeration of the states that runs meet before.
//!
//! Input: a question, perhaps a policy. Output: *safe*: every run reaches a goal state; or a run that
//! never does. It ends in a state without successors, in a terminal one, or in a loop without chance.
//! Runs go on in unsafe states: whether these are reached is another question.
//!
//! The states that are met before the goal are a graph. A state in it without successors ends a run.
//! If there is none, a run misses the goal for ever if and only if there is a cycle. One that depends on
//! chance has probability 0, perhaps, and decides nothing; neither do choices that are undecided.

mod graph;

use std::collections::BTreeMap;

use policert_engine_api::{
    Budget, Counts, EngineError, Event, Observer, Question, StopReason, Trace, UnknownReason,
    Verdict,
};
use policert_model::State;
use policert_numeric::IntBox;
use policert_policy::Policy;

use crate::covering::{check_boxes, check_states, few_boxes};
use crate::packing::StatePacking;
use crate::policy_successors::{PolicySuccessors, Stuck};
use crate::state_table::{StateId, StateTable};
use graph::{Edge, Graph, Lasso};

/// Holds what the search found.
#[derive(Clone, PartialEq, Debug)]
pub struct GoalSearched {
    /// The answer.
    pub verdict: Verdict,
    /// Counts: `unsafe_states` stays 0. Goal states are not expanded.
    pub counts: Counts,
    /// Goal states among the reached ones.
    pub goal_states: u64,
    /// Of *safe*, if evidence is wanted: disjoint boxes of the states that runs meet, each with the greatest number
    /// of steps from its states to a goal state; or why there are none.
    pub ranked: Option<Result<Vec<(IntBox, u32)>, String>>,
}

/// Searches all states that are met before a goal state.
///
/// # Errors
/// A modelling error in a reachable state, or a feature that is not supported. A stop of the budget is
/// no error: the verdict is unknown then, unless a run that never reaches the goal was found before.
pub fn reach_goal(
    question: &Question<'_>,
    policy: Option<&Policy>,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<GoalSearched, EngineError> {
    let packing = StatePacking::new(&question.model.domains());
    let mut search = GoalSearch {
        question,
        successors: PolicySuccessors::new(question, policy),
        table: StateTable::new(packing.words()),
        packed: vec![0; packing.words()],
        packing,
        graph: Graph::default(),
        dead_end: None,
        counts: Counts::default(),
        goal_states: 0,
    };
    observer.event(Event::Phase("start states"));
    let stopped = match search.run(budget, observer) {
        Ok(()) => None,
        Err(EngineError::Stop(reason)) => Some(reason),
        Err(error) => return Err(error),
    };
    let verdict = search.verdict(stopped)?;
    let is_wanted = question.evidence && matches!(verdict, Verdict::Safe { .. });
    let ranked = is_wanted.then(|| search.ranked(budget));
    search.counts.reachable_states = search.table.len() as u64;
    Ok(GoalSearched { verdict, counts: search.counts, goal_states: search.goal_states, ranked })
}

/// Progress is told after this many states.
const REPORT_EVERY: u64 = 1024;

/// New states of an expansion, roughly, for the memory limit.
const GROWTH: usize = 64;

struct GoalSearch<'q> {
    question: &'q Question<'q>,
    successors: PolicySuccessors<'q>,
    table: StateTable,
    packing: StatePacking,
    packed: Vec<u64>,
    graph: Graph,
    /// A state that ends a run, reached by decided choices.
    dead_end: Option<u32>,
    counts: Counts,
    goal_states: u64,
}

impl GoalSearch<'_> {
    fn run(&mut self, budget: &mut Budget, observer: &mut dyn Observer) -> Result<(), EngineError> {
        let question = self.question;
        question.for_each_start_state(budget, &mut |state| {
            let id = self.store(state)?;
            if self.graph.add_start(id) {
                self.counts.start_states += 1;
            }
            Ok(())
        })?;
        observer.event(Event::Phase("search"));
        let mut next = 0u32;
        while (next as usize) < self.table.len() && self.dead_end.is_none() {
            budget.poll_clock()?;
            budget.check_states(self.table.len())?;
            self.table.check_growth(GROWTH, budget)?;
            self.expand(next)?;
            next += 1;
            if u64::from(next).is_multiple_of(REPORT_EVERY) {
                observer.event(Event::Progress {
                    expanded: self.counts.expanded_states,
                    reached: self.table.len() as u64,
                    waiting: self.table.len() as u64 - u64::from(next),
                    transitions: self.counts.transitions,
                });
            }
        }
        Ok(())
    }

    /// Finds the successors of a state, unless a run has ended there.
    fn expand(&mut self, id: u32) -> Result<(), EngineError> {
        let state = self.state(id);
        if self.question.is_goal(&state) {
            self.goal_states += 1;
            self.graph.finish(&[]);
            return Ok(());
        }
        self.counts.expanded_states += 1;
        let found = self.successors.of(&state)?;
        self.counts.dropped_outcomes += found.dropped;
        let is_sure = self.successors.without_chance(&state, &found);
        let mut edges = Vec::with_capacity(found.list.len());
        let stuck = found.stuck();
        for (successor, is_sure) in found.list.into_iter().zip(is_sure) {
            let target = self.store(&successor.state)?;
            edges.push(Edge { target, is_decided: successor.decided, is_sure });
        }
        self.counts.transitions += self.graph.finish(&edges);
        match stuck {
            Stuck::No => {}
            Stuck::Yes if self.graph.is_certain(id) => self.dead_end = Some(id),
            Stuck::Yes => self.graph.open_end(id, true),
            Stuck::Undecided => self.graph.open_end(id, false),
        }
        Ok(())
    }

    fn store(&mut self, state: &[i64]) -> Result<u32, EngineError> {
        let variables = &self.question.model.variables;
        let fits = state.len() == variables.len()
            && variables.iter().zip(state).all(|(v, &value)| v.domain.contains(value));
        if !fits {
            let state = self.question.model.display_state(state);
            let message = format!("a state outside the variables' domains: {state}");
            return Err(EngineError::Unsupported(message));
        }
        self.packing.pack(state, &mut self.packed);
        let hash = StateTable::hash(&self.packed);
        let (id, _) = self.table.insert(&self.packed, hash)?;
        Ok(id.0)
    }

    fn state(&self, id: u32) -> State {
        let mut state = vec![0; self.packing.variables()];
        self.packing.unpack(self.table.packed(StateId(id)), &mut state);
        state
    }

    fn verdict(&mut self, stopped: Option<StopReason>) -> Result<Verdict, EngineError> {
        let lasso = match self.dead_end {
            Some(id) => Some(self.graph.path_to(id)),
            None => self.graph.sure_miss(),
        };
        if let Some(lasso) = lasso {
            return self.trace(&lasso).map(Verdict::Unsafe);
        }
        if let Some(reason) = stopped {
            return Ok(Verdict::Unknown(UnknownReason::Stopped(reason)));
        }
        if let Some(open) = self.graph.open_miss() {
            let state = self.state(open.state);
            return Ok(Verdict::Unknown(match open.is_chance {
                true => UnknownReason::ChanceForEver {
                    state: self.question.model.display_state(&state),
                },
                false => self.question.undecided_choice(&state),
            }));
        }
        Ok(Verdict::Safe { vacuous: self.counts.start_states == 0 })
    }

    /// The states as boxes, with their ranks.
    fn ranked(&self, budget: &mut Budget) -> Result<Vec<(IntBox, u32)>, String> {
        check_states("engine explicit", self.table.len())?;
        let ranks = self.graph.ranks();
        let mut by_rank: BTreeMap<u32, Vec<IntBox>> = BTreeMap::new();
        for (id, rank) in (0u32..).zip(ranks) {
            by_rank.entry(rank).or_default().push(IntBox::point(&self.state(id)));
        }
        let mut ranked = Vec::new();
        for (rank, points) in by_rank {
            let boxes = few_boxes(points, budget)?;
            ranked.extend(boxes.into_iter().map(|sides| (sides, rank)));
            check_boxes(ranked.len())?;
        }
        Ok(ranked)
    }

    /// The run along a path, by the reference semantics.
    fn trace(&mut self, lasso: &Lasso) -> Result<Trace, EngineError> {
        let states: Vec<State> = lasso.states.iter().map(|&id| self.state(id)).collect();
        let mut steps = Vec::new();
        for (at, pair) in states.windows(2).enumerate() {
            let is_loop = lasso.loop_from.is_some_and(|from| at >= from);
            let step = match is_loop {
                true => self.successors.sure_step(&pair[0], &pair[1])?,
                false => self.successors.step(&pair[0], &pair[1])?,
            };
            steps.push(step.ok_or_else(|| {
                EngineError::Internal("a stored transition is none by the semantics".to_owned())
            })?);
        }
        Ok(Trace { start: states[0].clone(), steps })
    }
}
