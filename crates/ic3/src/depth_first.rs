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

use crate::contract;
use crate::frames::FOREVER;
use crate::outcome::Ic3Outcome;
use crate::search_statistics::SearchStatistics;
use crate::{Frames, Generalized, SubProcedures, Succession};

/// A state that the search has reached from the current start state.
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
struct ComponentSearch<S> {
    /// In the order in which they were reached; those of closed components are taken away.
    open: Vec<Visited<S>>,
    /// The present path, as positions in `open`.
    path: Vec<usize>,
    positions: FxHashMap<State, usize>,
}

/// Says how a search from one start state ended.
enum End<S> {
    /// The start state is in a reason now.
    Blocked,
    /// A path from it: the start state, and each step with the state that it reaches.
    Path(State, Vec<(S, State)>),
    /// More states were open than may be.
    TooManyOpen,
}

/// Searches for a path from each start state; `None` if more than `limit` states were open.
///
/// With several threads that many start states are searched from side by side, each with the reasons
/// known before; what they learn is put together.
pub(crate) fn depth_first<P: SubProcedures>(
    system: &mut P,
    frames: &mut Frames,
    limit: usize,
    statistics: &mut SearchStatistics,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<Option<Ic3Outcome<P::Step>>, EngineError> {
    frames.set_limit(FOREVER);
    statistics.note(frames);
    loop {
        let starts = system.select_start_states(frames, system.threads(), budget)?;
        if starts.is_empty() {
            return Ok(Some(Ic3Outcome::Invariant(frames.of_frame(FOREVER).cloned().collect())));
        }
        for start in &starts {
            contract::check_start(frames, start);
        }
        let ends = match <[State; 1]>::try_from(starts) {
            Ok([start]) => {
                let run = SearchFrom { system, frames, limit, learnt: None };
                vec![run.search(start, statistics, budget)?]
            }
            Err(starts) => side_by_side(system, frames, limit, starts, statistics, budget)?,
        };
        let mut gives_up = false;
        for end in ends {
            match end {
                End::Blocked => {}
                End::Path(start, steps) => return Ok(Some(Ic3Outcome::Path(start, steps))),
                End::TooManyOpen => gives_up = true,
            }
        }
        if gives_up {
            frames.set_limit(1);
            return Ok(None);
        }
        statistics.note(frames);
        observer.event(Event::Progress {
            expanded: statistics.obligations,
            reached: statistics.reasons,
            waiting: statistics.kept,
            transitions: 0,
        });
    }
}

/// Searches from several start states at once.
fn side_by_side<P: SubProcedures>(
    system: &mut P,
    frames: &mut Frames,
    limit: usize,
    starts: Vec<State>,
    statistics: &mut SearchStatistics,
    budget: &Budget,
) -> Result<Vec<End<P::Step>>, EngineError> {
    let known = &*frames;
    let work = starts.into_iter().map(|start| (start, budget.fork())).collect();
    let results = system.side_by_side(work, |system, (start, mut budget)| {
        let (mut frames, mut learnt) = (known.clone(), Vec::new());
        let mut statistics = SearchStatistics::default();
        let run = SearchFrom { system, frames: &mut frames, limit, learnt: Some(&mut learnt) };
        let end = run.search(start, &mut statistics, &mut budget);
        (end, learnt, statistics)
    });
    let mut ends = Vec::with_capacity(results.len());
    for (end, learnt, of_run) in results {
        ends.push(end?);
        learnt.into_iter().for_each(|found| frames.add_all(found));
        statistics.start_states += of_run.start_states;
        statistics.obligations += of_run.obligations;
    }
    Ok(ends)
}

/// Holds what a search from one start state works on.
struct SearchFrom<'r, P> {
    system: &'r mut P,
    frames: &'r mut Frames,
    limit: usize,
    /// The reasons that the search adds to the frames, if they are wanted.
    learnt: Option<&'r mut Vec<Generalized>>,
}

impl<P: SubProcedures> SearchFrom<'_, P> {
    fn search(
        mut self,
        start: State,
        statistics: &mut SearchStatistics,
        budget: &mut Budget,
    ) -> Result<End<P::Step>, EngineError> {
        statistics.start_states += 1;
        let mut search =
            ComponentSearch { open: Vec::new(), path: Vec::new(), positions: FxHashMap::default() };
        search.enter(start.clone(), None);
        while let Some(&at) = search.path.last() {
            budget.poll_clock()?;
            if search.open.len() > self.limit {
                return Ok(End::TooManyOpen);
            }
            if search.is_new(at) {
                statistics.obligations += 1;
                let mut successors = self.system.successors(&search.open[at].state)?;
                let target = successors.iter().position(|next| self.system.is_target(&next.state));
                if let Some(i) = target {
                    let steps = search.path_to(successors.swap_remove(i));
                    return Ok(End::Path(start, steps));
                }
                successors.reverse();
                search.open[at].waiting = successors;
            }
            if !search.advance(at, self.frames) {
                search.path.pop();
                let low = search.open[at].low;
                if let Some(&before) = search.path.last() {
                    search.open[before].low = search.open[before].low.min(low);
                }
                if low == at {
                    let states = search.close(at);
                    self.block(states, budget)?;
                    statistics.note(self.frames);
                    budget.check_states(self.frames.reasons().len())?;
                }
            }
        }
        Ok(End::Blocked)
    }

    /// Finds reasons for states that have no transitions but to each other and out of ℱ_∞.
    fn block(&mut self, mut states: Vec<State>, budget: &mut Budget) -> Result<(), EngineError> {
        let Self { system, frames, .. } = self;
        states.retain(|state| frames.blocking(FOREVER, state).is_none());
        if states.is_empty() {
            return Ok(());
        }
        // Those first that were reached last.
        states.reverse();
        let found = system.generalize_reason(&states, frames, FOREVER, budget)?;
        contract::check_reason(*system, frames, FOREVER, &states, &found, budget)?;
        if let Some(learnt) = &mut self.learnt {
            learnt.push(found.clone());
        }
        frames.add_all(found);
        Ok(())
    }
}

impl<S: Clone> ComponentSearch<S> {
    fn enter(&mut self, state: State, step: Option<S>) {
        let at = self.open.len();
        self.positions.insert(state.clone(), at);
        // A position that no state has yet tells that it is new.
        self.open.push(Visited { state, step, low: usize::MAX, waiting: Vec::new() });
        self.path.push(at);
    }

    /// Returns whether the transitions of a state were not looked at yet; they count as looked at
    /// then.
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

    /// The steps of the current path and one more.
    fn path_to(&self, last: Succession<S>) -> Vec<(S, State)> {
        let visited = self.path.iter().map(|&at| &self.open[at]);
        let steps = visited.filter_map(|v| Some((v.step.clone()?, v.state.clone())));
        steps.chain([(last.step, last.state)]).collect()
    }
}
