//! The abstract start states: leaves of the tree that hold start states.

use std::collections::BTreeSet;

use policert_engine_api::{EngineError, StartStates};
use policert_model::State;
use policert_numeric::IntInterval;

use super::cell::Literal;
use super::reachability::Search;
use super::state_tree::NodeId;
use crate::region::Region;

/// Up to how many start states are listed one by one, with repetitions.
const LIST_LIMIT: usize = 1 << 14;

/// The start states one by one, where they are few.
#[derive(Debug)]
pub(super) enum StartList {
    /// All of them, each once.
    All(BTreeSet<State>),
    /// There are too many.
    TooMany,
}

impl Search<'_, '_, '_> {
    /// Reaches the abstract start states.
    pub fn start(&mut self) -> Result<(), EngineError> {
        if self.reachability.start_list.is_none() {
            self.reachability.start_list = Some(self.start_list()?);
        }
        let mut found = BTreeSet::new();
        match &self.reachability.start_list {
            Some(StartList::All(states)) => {
                for state in states {
                    self.budget.poll()?;
                    found.insert(self.reachability.tree.leaf_of(state));
                }
            }
            _ => self.start_leaves_of_sources(&mut found)?,
        }
        for leaf in found {
            self.reachability.counts.start_states += 1;
            self.reach(leaf, None)?;
        }
        Ok(())
    }

    fn start_list(&mut self) -> Result<StartList, EngineError> {
        let question = self.abstraction.question;
        let mut states = BTreeSet::new();
        let mut seen = 0;
        let full = "full";
        let result = question.for_each_start_state(self.budget, &mut |state| {
            seen += 1;
            if seen > LIST_LIMIT {
                return Err(EngineError::Internal(full.to_owned()));
            }
            if !self.abstraction.predicates.domains().contains(state) {
                let state = question.model.display_state(state);
                let message = format!("a start state outside the domains: {state}");
                return Err(EngineError::Unsupported(message));
            }
            states.insert(state.to_vec());
            Ok(())
        });
        match result {
            Ok(()) => Ok(StartList::All(states)),
            Err(EngineError::Internal(text)) if text == full => Ok(StartList::TooMany),
            Err(error) => Err(error),
        }
    }

    /// Collects the leaves that hold start states, source by source.
    fn start_leaves_of_sources(&mut self, found: &mut BTreeSet<NodeId>) -> Result<(), EngineError> {
        let sources = self.abstraction.question.start_states();
        for (number, source) in sources.iter().enumerate() {
            for locations in self.start_locations(source)? {
                let root = self.reachability.tree.root(&locations);
                self.start_leaves(root, number, source, found)?;
            }
        }
        Ok(())
    }

    /// The locations in which there may be start states.
    fn start_locations(&mut self, source: &StartStates<'_>) -> Result<Vec<Vec<i64>>, EngineError> {
        let locations = self.reachability.tree.locations().to_vec();
        match source {
            StartStates::List(states) => {
                let mut all = BTreeSet::new();
                for state in *states {
                    self.budget.poll()?;
                    if !self.abstraction.predicates.domains().contains(state) {
                        let state = self.abstraction.question.model.display_state(state);
                        let message = format!("a start state outside the domains: {state}");
                        return Err(EngineError::Unsupported(message));
                    }
                    all.insert(locations.iter().map(|l| state[l.index()]).collect());
                }
                Ok(all.into_iter().collect())
            }
            StartStates::Region(condition, sides) => {
                let mut parts = vec![(Vec::new(), sides.clone())];
                for location in &locations {
                    let mut next = Vec::new();
                    for (values, sides) in parts {
                        self.budget.poll()?;
                        let side = sides[location.index()];
                        for value in side.lo..=side.hi {
                            let mut part = sides.clone();
                            part[location.index()] = IntInterval::point(value);
                            condition.tighten(&mut part);
                            if !part.is_empty() {
                                let mut values: Vec<i64> = values.clone();
                                values.push(value);
                                next.push((values, part));
                            }
                        }
                    }
                    parts = next;
                }
                Ok(parts.into_iter().map(|(values, _)| values).collect())
            }
        }
    }

    /// Collects the leaves under a node that hold start states of a source.
    fn start_leaves(
        &mut self,
        id: NodeId,
        number: usize,
        source: &StartStates<'_>,
        found: &mut BTreeSet<NodeId>,
    ) -> Result<(), EngineError> {
        self.budget.poll()?;
        let known = self.reachability.tree.node(id).holds_start(number);
        let any = match known {
            Some(any) => any,
            None => {
                let any = self.holds_start(id, source)?;
                self.reachability.tree.node_mut(id).note_start(number, any);
                any
            }
        };
        if !any {
            return Ok(());
        }
        match self.reachability.tree.open(id) {
            None => {
                found.insert(id);
            }
            Some((_, parts)) => {
                for part in parts {
                    self.start_leaves(part, number, source, found)?;
                }
            }
        }
        Ok(())
    }

    fn holds_start(&mut self, id: NodeId, source: &StartStates<'_>) -> Result<bool, EngineError> {
        let cell = self.reachability.tree.cell(id);
        match source {
            StartStates::List(states) => Ok(states.iter().any(|state| cell.contains(state))),
            StartStates::Region(condition, sides) => {
                let sides = sides.intersect(&cell.sides);
                if sides.is_empty() {
                    return Ok(false);
                }
                let conditions = cell.others.iter().map(Literal::condition);
                let region = Region::new(sides, conditions.chain([condition]));
                self.queries.is_inhabited(&region, self.budget)
            }
        }
    }
}
