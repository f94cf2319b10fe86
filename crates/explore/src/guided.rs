//! Policy-guided search for an unsafe state, or a stuck one where these are unsafe: greedy best-first, by
//! how far states are from the unsafe condition.
//!
//! Input: a question, perhaps a policy. Output: a run to an unsafe state, seldom a shortest one,
//! or nothing, which says nothing. It follows decided choices of the policy only. Of many start states it
//! keeps the nearest ones, half as many as it may store.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use policert_engine_api::{
    Budget, Counts, EngineError, Event, Observer, Question, StopReason, Trace,
};
use policert_model::{Condition, State};
use policert_policy::Policy;
use rustc_hash::FxHashMap;

use crate::policy_successors::{PolicySuccessors, Stuck};

/// Holds what the guided search found.
#[derive(Clone, PartialEq, Debug)]
pub struct GuidedResult {
    /// A run to an unsafe state.
    pub trace: Option<Trace>,
    /// Start states, states met and expanded.
    pub counts: Counts,
    /// True if the limit on states ended the search; if it did not, and there is no run, nothing
    /// was left to look at.
    pub limit_reached: bool,
}

/// States take part in the order of distance, then of meeting.
type Waiting = Reverse<(u64, u32)>;

/// Progress is told after this many states.
const REPORT_EVERY: u64 = 1024;

/// Searches until it meets an unsafe state, or `states` states.
///
/// # Errors
/// A stop of the budget, and what the semantics refuse in a state met.
pub fn guided(
    question: &Question<'_>,
    policy: Option<&Policy>,
    states: u32,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<GuidedResult, EngineError> {
    observer.event(Event::Phase("guided search"));
    let mut search = GuidedSearch {
        question,
        known: FxHashMap::default(),
        states: Vec::new(),
        waiting: BinaryHeap::new(),
    };
    let mut counts = Counts::default();
    let starts = NearestStarts::of(question, (states / 2).max(1) as usize, budget)?;
    let mut limit_reached = starts.others;
    for (_, _, state) in starts.nearest.into_sorted_vec() {
        search.meet(state, None);
    }
    counts.start_states = search.states.len() as u64;
    let mut successors = PolicySuccessors::new(question, policy);
    let mut found = None;
    while let Some(Reverse((distance, id))) = search.waiting.pop() {
        budget.poll_clock()?;
        if distance == 0 && question.is_unsafe(search.state(id)) {
            found = Some(id);
            break;
        }
        if search.states.len() as u64 > u64::from(states) {
            limit_reached = true;
            break;
        }
        let next = successors.of(&search.state(id).clone())?;
        counts.expanded_states += 1;
        if question.must_go_on(search.state(id)) && next.stuck() == Stuck::Yes {
            found = Some(id);
            break;
        }
        for successor in next.list.into_iter().filter(|successor| successor.decided) {
            search.meet(successor.state, Some(id));
        }
        if counts.expanded_states % REPORT_EVERY == 0 {
            observer.event(Event::Progress {
                expanded: counts.expanded_states,
                reached: search.states.len() as u64,
                waiting: search.waiting.len() as u64,
                transitions: 0,
            });
        }
    }
    counts.reachable_states = search.states.len() as u64;
    let trace = found.map(|id| search.trace(id, &mut successors)).transpose()?;
    Ok(GuidedResult { trace, counts, limit_reached })
}

/// Start states that are looked at, for each one that is kept.
const LOOKED_AT: u64 = 100;

/// The start states that are nearest to the unsafe condition.
struct NearestStarts {
    /// Distance, place in the enumeration, state; the farthest one first.
    nearest: BinaryHeap<(u64, u64, State)>,
    /// True if there are others.
    others: bool,
}

impl NearestStarts {
    /// At most so many of them.
    fn of(question: &Question<'_>, most: usize, budget: &mut Budget) -> Result<Self, EngineError> {
        let limit = LOOKED_AT.saturating_mul(most as u64);
        let mut starts = Self { nearest: BinaryHeap::new(), others: false };
        let mut place = 0;
        let enumerated = question.for_each_start_state(budget, &mut |state| {
            // Ends the enumeration.
            if place >= limit {
                return Err(StopReason::States(limit).into());
            }
            let distance = distance(&question.property.unsafe_condition, state);
            starts.meet(distance, place, state, most);
            place += 1;
            Ok(())
        });
        match enumerated {
            Err(EngineError::Stop(StopReason::States(of))) if of == limit => starts.others = true,
            other => other?,
        }
        Ok(starts)
    }

    fn meet(&mut self, distance: u64, place: u64, state: &[i64], most: usize) {
        if self.nearest.len() >= most {
            self.others = true;
            if self.nearest.peek().is_some_and(|(farthest, ..)| *farthest <= distance) {
                return;
            }
            self.nearest.pop();
        }
        self.nearest.push((distance, place, state.to_vec()));
    }
}

struct GuidedSearch<'q> {
    question: &'q Question<'q>,
    known: FxHashMap<State, u32>,
    /// Each state met, and the one before it.
    states: Vec<(State, Option<u32>)>,
    waiting: BinaryHeap<Waiting>,
}

impl GuidedSearch<'_> {
    fn state(&self, id: u32) -> &State {
        &self.states[id as usize].0
    }

    fn meet(&mut self, state: State, parent: Option<u32>) {
        let Ok(id) = u32::try_from(self.states.len()) else { return };
        if self.known.contains_key(&state) {
            return;
        }
        let distance = distance(&self.question.property.unsafe_condition, &state);
        self.known.insert(state.clone(), id);
        self.states.push((state, parent));
        self.waiting.push(Reverse((distance, id)));
    }

    /// The run by which a state was met.
    fn trace(
        &self,
        last: u32,
        successors: &mut PolicySuccessors<'_>,
    ) -> Result<Trace, EngineError> {
        let mut path = vec![last];
        while let Some(parent) = self.states[path[path.len() - 1] as usize].1 {
            path.push(parent);
        }
        path.reverse();
        let mut steps = Vec::with_capacity(path.len() - 1);
        for pair in path.windows(2) {
            let step = successors.step(self.state(pair[0]), self.state(pair[1]))?;
            let lost = || EngineError::Internal("a step of the guided search is lost".to_owned());
            steps.push(step.ok_or_else(lost)?);
        }
        Ok(Trace { start: self.state(path[0]).clone(), steps })
    }
}

/// By how much a state misses a condition: 0 where it holds; summed over conjuncts, the least of
/// disjuncts. What is not linear misses by 1.
fn distance(condition: &Condition, state: &[i64]) -> u64 {
    match condition {
        Condition::True => 0,
        Condition::False => u64::MAX / 2,
        Condition::Linear(constraint) => {
            let terms = constraint.terms.iter();
            let sum: i128 = terms.map(|&(v, c)| i128::from(c) * i128::from(state[v.index()])).sum();
            u64::try_from(sum - i128::from(constraint.upper)).unwrap_or(0).min(u64::MAX / 2)
        }
        Condition::General { .. } => u64::from(condition.holds(state) != Ok(true)),
        Condition::And(parts) => {
            parts.iter().fold(0, |sum, part| sum.saturating_add(distance(part, state)))
        }
        Condition::Or(parts) => {
            parts.iter().map(|part| distance(part, state)).min().unwrap_or(u64::MAX / 2)
        }
    }
}
