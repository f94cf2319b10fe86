//! Algorithm 1 with N = ∞: depth-first search for a path, and reasons that hold forever.
//!
//! Frame by frame, much is learnt about few steps that is of no use for more. Where runs end, in a
//! state without transition or in a cycle, reasons can be had at once that hold whatever N: no
//! state of them reaches an unsafe state at all. So the search goes on from a start state until it
//! comes to states that have such reasons, or have no transitions but to each other. Strongly
//! connected components are found as they are closed (Tarjan's algorithm); the states of one only
//! have transitions to each other and to states with reasons. Together they are inductive relative
//! to ℱ_∞, and stay so while each of them is generalised to a box.
//!
//! A search that has too many states open gives up. What it learnt stays in all frames.

use policert_engine_api::{Budget, EngineError, Event, Observer};
use policert_model::State;
use rustc_hash::FxHashMap;

use crate::algorithm::{Outcome, SearchStatistics, note};
use crate::contract;
use crate::frames::FOREVER;
use crate::{Frames, SubProcedures, Succession};

/// A state that the search has reached from the present start state.
struct Visited<S> {
    state: State,
    /// The step into it.
    step: Option<S>,
    /// The earliest state known to be in its component.
    low: usize,
    /// Transitions that are still to be followed, the next one last.
    waiting: Vec<Succession<S>>,
}

/// A search from one start state.
struct Search<S> {
    /// In the order in which they were reached; those of closed components are taken away.
    open: Vec<Visited<S>>,
    /// The present path, as positions in `open`.
    path: Vec<usize>,
    positions: FxHashMap<State, usize>,
}

/// Searches for a path from each start state; `None` if more than `limit` states were open.
pub(crate) fn depth_first<P: SubProcedures>(
    system: &mut P,
    frames: &mut Frames,
    limit: usize,
    statistics: &mut SearchStatistics,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<Option<Outcome<P::Step>>, EngineError> {
    frames.set_limit(FOREVER);
    note(frames, statistics);
    while let Some(start) = system.select_start_state(frames, budget)? {
        contract::check_start(frames, &start);
        statistics.start_states += 1;
        let mut search =
            Search { open: Vec::new(), path: Vec::new(), positions: FxHashMap::default() };
        search.enter(start, None);
        while let Some(&at) = search.path.last() {
            budget.poll_clock()?;
            if search.open.len() > limit {
                frames.set_limit(1);
                return Ok(None);
            }
            if search.is_new(at) {
                statistics.obligations += 1;
                let mut successors = system.successors(&search.open[at].state)?;
                if let Some(i) = successors.iter().position(|next| system.is_target(&next.state)) {
                    return Ok(Some(search.path_to(successors.swap_remove(i))));
                }
                successors.reverse();
                search.open[at].waiting = successors;
            }
            if !search.advance(at, frames) {
                search.path.pop();
                let low = search.open[at].low;
                if let Some(&before) = search.path.last() {
                    search.open[before].low = search.open[before].low.min(low);
                }
                if low == at {
                    let states = search.close(at);
                    block(system, frames, states, budget)?;
                    note(frames, statistics);
                    budget.check_states(frames.reasons().len())?;
                }
            }
        }
        observer.event(Event::Progress {
            expanded: statistics.obligations,
            reached: statistics.reasons,
            waiting: statistics.kept,
            transitions: 0,
        });
    }
    Ok(Some(Outcome::Invariant(frames.of_frame(FOREVER).cloned().collect())))
}

/// Finds reasons for states that have no transitions but to each other and out of ℱ_∞.
fn block<P: SubProcedures>(
    system: &mut P,
    frames: &mut Frames,
    mut states: Vec<State>,
    budget: &mut Budget,
) -> Result<(), EngineError> {
    states.retain(|state| frames.blocking(FOREVER, state).is_none());
    if states.is_empty() {
        return Ok(());
    }
    // Those first that were reached last.
    states.reverse();
    let found = system.generalize_reason(&states, frames, FOREVER, budget)?;
    contract::check_reason(system, frames, FOREVER, &states, &found, budget)?;
    frames.add_all(found);
    Ok(())
}

impl<S: Clone> Search<S> {
    fn enter(&mut self, state: State, step: Option<S>) {
        let at = self.open.len();
        self.positions.insert(state.clone(), at);
        // A position that no state has yet tells that it is new.
        self.open.push(Visited { state, step, low: usize::MAX, waiting: Vec::new() });
        self.path.push(at);
    }

    /// Whether the transitions of a state were not looked at yet; they count as looked at then.
    fn is_new(&mut self, at: usize) -> bool {
        let is_new = self.open[at].low == usize::MAX;
        if is_new {
            self.open[at].low = at;
        }
        is_new
    }

    /// Follows a transition of a state into ℱ_∞. Returns whether there was one to a new state.
    fn advance(&mut self, at: usize, frames: &Frames) -> bool {
        if frames.blocking(FOREVER, &self.open[at].state).is_some() {
            // A reason found meanwhile holds in it.
            self.open[at].waiting.clear();
        }
        while let Some(next) = self.open[at].waiting.pop() {
            if let Some(&known) = self.positions.get(&next.state) {
                self.open[at].low = self.open[at].low.min(known);
            } else if frames.blocking(FOREVER, &next.state).is_none() {
                self.enter(next.state, Some(next.step));
                return true;
            }
        }
        false
    }

    /// Takes away the component that begins with a state, and returns its states.
    fn close(&mut self, first: usize) -> Vec<State> {
        let states: Vec<State> = self.open.drain(first..).map(|visited| visited.state).collect();
        for state in &states {
            self.positions.remove(state);
        }
        states
    }

    /// The present path with one more step, as an outcome.
    fn path_to(&self, last: Succession<S>) -> Outcome<S> {
        let mut start = State::new();
        let mut steps = Vec::new();
        for &at in &self.path {
            let Visited { state, step, .. } = &self.open[at];
            match step {
                None => start.clone_from(state),
                Some(step) => steps.push((step.clone(), state.clone())),
            }
        }
        steps.push((last.step, last.state));
        Outcome::Path(start, steps)
    }
}
