//! The MDP that was built, and what to know about it.

use policert_engine_api::{Counts, EngineError, StopReason};
use policert_mdp::{Direction, Mdp, Reachability, StateSet};
use policert_model::{Model, State};

use super::InducedSearch;
use crate::dropped_outcome::DroppedOutcome;
use crate::packing::StatePacking;
use crate::state_table::{StateId, StateTable};
use crate::stats::Stats;

/// The MDP of a question.
#[derive(Debug)]
pub struct Induced {
    /// States in the order of discovery, with their choices.
    pub mdp: Mdp,
    /// Under a policy that draws by probabilities that are no fractions, [`mdp`](Self::mdp) has lower
    /// bounds of them, and in this one a scheduler has what they lack to 1: the greatest probability
    /// lies between those of the two, and the least one is not below that of this one.
    pub above: Option<Mdp>,
    /// True if the policy draws its labels.
    pub is_drawn: bool,
    /// The start states.
    pub initial: Vec<u32>,
    /// The states to reach.
    pub target: StateSet,
    /// The states that have failed: what was to hold does not, or they are terminal.
    pub avoid: StateSet,
    /// States that were not expanded although runs go on there; some only after a stop.
    pub unexplored: StateSet,
    /// True if all start states were found.
    pub starts_complete: bool,
    /// The reason why the search ended early.
    pub stopped: Option<StopReason>,
    /// The first state in which the choice of the policy could not be decided; every label that
    /// competes is a choice in such states.
    pub undecided: Option<State>,
    /// Operators that dropped an outcome, in the order in which they first did.
    pub dropped: Vec<DroppedOutcome>,
    /// Counts; transitions are entries of distributions.
    pub counts: Counts,
    /// Counters and times.
    pub stats: Stats,
    table: StateTable,
    packing: StatePacking,
}

impl Induced {
    /// The values of a state.
    #[must_use]
    pub fn state(&self, id: u32) -> State {
        let mut state = vec![0; self.packing.variables()];
        self.packing.unpack(self.table.packed(StateId(id)), &mut state);
        state
    }

    /// Checks that no state has several operators, as of a model that calls itself a Markov chain.
    ///
    /// # Errors
    /// One has: other tools take each of them with the same probability, which is no reading of the
    /// model that a scheduler has.
    pub fn check_chain(&self, model: &Model) -> Result<(), EngineError> {
        let branches = |&state: &u32| {
            let choices = self.mdp.choices_of(state);
            choices.end - choices.start > 1
        };
        match self.mdp.state_range().find(branches) {
            None => Ok(()),
            Some(state) => Err(EngineError::Unsupported(format!(
                "a model of the type dtmc with several operators in a state ({}); if one of them is \
                 to be chosen, the type is mdp",
                model.display_state(&self.state(state))
            ))),
        }
    }

    /// The problem of reaching the target.
    #[must_use]
    pub fn problem(&self, direction: Direction) -> Reachability<'_> {
        let Self { mdp, initial, target, avoid, .. } = self;
        Reachability { mdp, initial, target, avoid, direction }
    }
}

impl InducedSearch<'_> {
    pub(super) fn result(mut self, stopped: Option<StopReason>) -> Result<Induced, EngineError> {
        let built = u32::try_from(self.builder.states()).unwrap_or(u32::MAX);
        let states = self.frontier.table.len();
        let all = u32::try_from(states).unwrap_or(u32::MAX);
        let mut unexplored = StateSet::empty(states);
        for id in (built..all).filter(|&id| !self.target.contains(id) && !self.avoid.contains(id)) {
            unexplored.insert(id);
        }
        self.end_states(all)?;
        self.target.grow(states);
        self.avoid.grow(states);
        self.frontier.count();
        Ok(Induced {
            is_drawn: self.is_drawn,
            starts_complete: self.starts_complete,
            stopped,
            undecided: self.undecided.map(|id| self.frontier.state(id)),
            dropped: self.frontier.dropped(),
            counts: self.frontier.counts,
            stats: self.frontier.stats,
            mdp: self.builder.finish()?,
            above: self.above.map(policert_mdp::MdpBuilder::finish).transpose()?,
            initial: self.initial,
            target: self.target,
            avoid: self.avoid,
            unexplored,
            table: self.frontier.table,
            packing: self.frontier.packing,
        })
    }
}
