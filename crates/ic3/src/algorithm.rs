//! The generic algorithm (POLIC3, Algorithm 1): is there a path from a start state to an unsafe
//! state?
//!
//! Input: a transition system behind [`SubProcedures`]. Output: a path, or an inductive invariant.
//!
//! | paper | here |
//! |---|---|
//! | ℱₙ, N | [`Frames`], [`Frames::limit`] |
//! | Q, ⟨s, n⟩ | [`Obligations`] |
//! | r | a box of states, [`Generalized`] |
//! | φ_R | ℱ₀, [`SubProcedures::is_target`] |
//!
//! # Deviations
//! - D1: an obligation ⟨s, n⟩ with s ⊭ ℱₙ is dropped: a reason learnt from another state blocked it
//!   meanwhile.
//! - D2: l.7 looks for any n ≤ N with ℱₙ = ℱ_{n+1}. Start states are not in ℱ_N, so they are not in
//!   ℱₙ ⊆ ℱ_N either.
//! - D3: a reason may come with a later frame than the one asked for; its clause is then added to
//!   all frames up to the next one.
//! - D4: with [`Rescheduling::On`] a state that is blocked in ℱₙ, n < N, is asked about again with
//!   one more step.
//! - D5: states of a reason, or of reasons found together, may have transitions to each other. By induction on m, none of them
//!   reaches an unsafe state within m ≤ n steps: they are not unsafe themselves, and a transition
//!   from them leads out of ℱ_{n−1} ⊇ ℱ_{m−1}, or to one of them.
//! - D6: with a limit on depth-first search, it goes first: N begins as ∞, see `depth_first`.
//!   Where that does not settle the question N goes on from 1; the clauses of ℱ_∞ stay. Before it, a run of
//!   its own may look for paths of few steps, see [`short_path`].
//! - D7: start states that are unsafe are found before, by the caller.

use policert_engine_api::{Budget, EngineError, Event, Observer};

use crate::config::Rescheduling;
use crate::contract;
use crate::depth_first::depth_first;
use crate::obligations::Obligations;
use crate::outcome::Ic3Outcome;
use crate::search_statistics::SearchStatistics;
use crate::{Frames, SubProcedures};

/// Says how to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SearchSettings {
    /// The rule for asking about a blocked state again with one more step.
    pub rescheduling: Rescheduling,
    /// The number of states that depth-first search may have open before it gives up; 0 turns it
    /// off.
    pub open_states: usize,
}

/// Runs Algorithm 1.
///
/// # Errors
/// A stop of the budget, and what the sub-procedures cannot decide.
pub fn ic3<P: SubProcedures>(
    system: &mut P,
    search: SearchSettings,
    statistics: &mut SearchStatistics,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<Ic3Outcome<P::Step>, EngineError> {
    let mut frames = Frames::new(system.domains()); // l.1
    if search.open_states > 0 {
        observer.event(Event::Phase("depth-first search"));
        let limit = search.open_states;
        let settled = depth_first(system, &mut frames, limit, statistics, budget, observer)?;
        if let Some(outcome) = settled {
            return Ok(outcome);
        }
        observer.event(Event::Phase("search for a path"));
    }
    loop {
        let all = Extent { steps: usize::MAX, obligations: u64::MAX };
        let run = Run { system, frames: &mut frames, rescheduling: search.rescheduling };
        if let Some(outcome) = run.within(all, statistics, budget, observer)? {
            return Ok(outcome);
        }
    }
}

/// Looks for a path of few steps by Algorithm 1; `None` if it was given up.
///
/// # Errors
/// A stop of the budget, and what the sub-procedures cannot decide.
pub(crate) fn short_path<P: SubProcedures>(
    system: &mut P,
    extent: Extent,
    statistics: &mut SearchStatistics,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<Option<Ic3Outcome<P::Step>>, EngineError> {
    let mut frames = Frames::new(system.domains());
    observer.event(Event::Phase("search for a short path"));
    let run = Run { system, frames: &mut frames, rescheduling: Rescheduling::Off };
    run.within(extent, statistics, budget, observer)
}

/// How far a run may go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// The greatest N.
    pub steps: usize,
    /// Most obligations that are looked at.
    pub obligations: u64,
}

/// Algorithm 1 from l.2 on.
struct Run<'r, P> {
    system: &'r mut P,
    frames: &'r mut Frames,
    rescheduling: Rescheduling,
}

impl<P: SubProcedures> Run<'_, P> {
    /// Runs to the end, or until it has gone so far.
    fn within(
        self,
        extent: Extent,
        statistics: &mut SearchStatistics,
        budget: &mut Budget,
        observer: &mut dyn Observer,
    ) -> Result<Option<Ic3Outcome<P::Step>>, EngineError> {
        let Self { system, frames, rescheduling } = self;
        let most = statistics.obligations.saturating_add(extent.obligations);
        loop {
            budget.poll_clock()?; // l.2
            budget.check_states(frames.reasons().len())?;
            statistics.note(frames);
            let Some(start) = system.select_start_state(frames, budget)? else {
                observer.event(Event::Phase("propagate clauses"));
                system.propagate_clauses(frames, budget)?; // l.5, l.6
                contract::check_propagation(system, frames, budget)?;
                statistics.note(frames);
                if let Some(n) = frames.fixpoint() {
                    let invariant = frames.of_frame(n).cloned().collect(); // l.7
                    return Ok(Some(Ic3Outcome::Invariant(invariant)));
                }
                if frames.limit() >= extent.steps {
                    return Ok(None);
                }
                frames.advance(); // l.8
                observer.event(Event::Phase("search for a path"));
                continue;
            };
            contract::check_start(frames, &start);
            statistics.start_states += 1;
            let mut queue = Obligations::default();
            queue.insert(start, frames.limit(), None); // l.10
            while let Some(taken) = queue.pop() {
                // l.11, l.12
                budget.poll_clock()?;
                statistics.obligations += 1;
                let n = taken.steps_left;
                if n == 0 {
                    let (start, steps) = queue.path_to(taken.id);
                    return Ok(Some(Ic3Outcome::Path(start, steps))); // l.13
                }
                if statistics.obligations >= most {
                    return Ok(None);
                }
                let state = queue.state(taken.id).clone();
                if frames.blocking(n, &state).is_none() {
                    let next = system.select_successor_state(&state, frames, n - 1, budget)?; // l.14
                    if let Some(next) = next {
                        contract::check_successor(system, frames, n - 1, &next.state);
                        queue.insert_again(taken.id, n); // l.20
                        queue.insert(next.state, n - 1, Some((taken.id, next.step))); // l.21
                        continue;
                    }
                    let states = [state];
                    let found = system.generalize_reason(&states, frames, n - 1, budget)?; // l.17
                    contract::check_reason(system, frames, n - 1, &states, &found, budget)?;
                    frames.add_all(found); // l.18
                    statistics.note(frames);
                }
                if rescheduling == Rescheduling::On && n < frames.limit() {
                    queue.insert_again(taken.id, n + 1);
                }
            }
            observer.event(Event::Progress {
                expanded: statistics.obligations,
                reached: statistics.reasons,
                waiting: statistics.kept,
                transitions: 0,
            });
        }
    }
}
