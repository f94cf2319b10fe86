//! Abstract states: truth values of the predicates and the locations, packed, with ids.

use policert_engine_api::Id;
use policert_model::{Model, VarId};
use rustc_hash::FxHashMap;

/// Position of a predicate in the predicate set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PredId(pub u32);

impl PredId {
    /// The index into the predicate set.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An abstract state that was met, in the order of meeting.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AbstractStateId(pub u32);

impl Id for AbstractStateId {
    fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
    fn to_index(self) -> usize {
        self.0 as usize
    }
}

/// How abstract states are laid out: one bit per predicate, then one word per location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    predicate_words: usize,
    locations: Vec<VarId>,
}

impl Layout {
    /// The layout for a number of predicates over a model. Locations that never change are
    /// left out.
    #[must_use]
    pub fn new(model: &Model, predicates: usize) -> Self {
        let locations = model
            .instances
            .iter()
            .map(|i| i.location)
            .filter(|l| !model.variables[l.index()].domain.is_point())
            .collect();
        Self { predicate_words: predicates.div_ceil(64), locations }
    }

    /// The location variables that abstract states track, in the order of the instances.
    #[must_use]
    pub fn locations(&self) -> &[VarId] {
        &self.locations
    }

    /// The state in which every predicate is false and every location 0.
    #[must_use]
    pub fn blank(&self) -> AbstractState {
        AbstractState(vec![0; self.predicate_words + self.locations.len()].into_boxed_slice())
    }

    /// The location that tracked location variable number `k` has in `state`.
    #[must_use]
    pub fn location(&self, state: &AbstractState, k: usize) -> i64 {
        state.0[self.predicate_words + k].cast_signed()
    }

    /// Sets the location of tracked location variable number `k`.
    pub fn set_location(&self, state: &mut AbstractState, k: usize, value: i64) {
        state.0[self.predicate_words + k] = value.cast_unsigned();
    }
}

/// Truth values of the predicates and the locations.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct AbstractState(Box<[u64]>);

impl AbstractState {
    /// The truth value of a predicate.
    #[must_use]
    pub fn get(&self, predicate: PredId) -> bool {
        self.0[predicate.index() / 64] >> (predicate.index() % 64) & 1 == 1
    }

    /// Sets the truth value of a predicate.
    pub fn set(&mut self, predicate: PredId, value: bool) {
        let bit = 1u64 << (predicate.index() % 64);
        let word = &mut self.0[predicate.index() / 64];
        if value {
            *word |= bit;
        } else {
            *word &= !bit;
        }
    }
}

/// All abstract states that were met.
#[derive(Debug, Default)]
pub struct StateTable {
    states: Vec<AbstractState>,
    ids: FxHashMap<AbstractState, AbstractStateId>,
}

impl StateTable {
    /// The id of `state`, if it was met.
    #[must_use]
    pub fn find(&self, state: &AbstractState) -> Option<AbstractStateId> {
        self.ids.get(state).copied()
    }

    /// The id of `state`, and whether it is met for the first time.
    pub fn intern(&mut self, state: &AbstractState) -> (AbstractStateId, bool) {
        if let Some(&id) = self.ids.get(state) {
            return (id, false);
        }
        let id = AbstractStateId::from_index(self.states.len());
        self.states.push(state.clone());
        self.ids.insert(state.clone(), id);
        (id, true)
    }

    /// The state of an id.
    #[must_use]
    pub fn state(&self, id: AbstractStateId) -> &AbstractState {
        &self.states[id.to_index()]
    }

    /// Number of states met.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether none was met.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }
}
