//! The abstract start states: leaves of the tree that hold start states.

use std::collections::BTreeSet;

use policert_engine_api::{Budget, EngineError, StartStates};
use policert_model::Condition;
use policert_numeric::{IntBox, IntInterval};

use super::cell::Literal;
use super::reachability::LeafSearch;
use super::start_list::StartList;
use super::state_tree::{StateTree, TreeNodeId};
use crate::abstraction::Abstraction;
use crate::inhabited::Inhabited;
use crate::queries::Queries;

/// Up to how many start states are listed one by one, with repetitions.
const LIST_LIMIT: usize = 1 << 14;

impl LeafSearch<'_, '_, '_> {
    /// Reaches the abstract start states.
    pub fn start(&mut self) -> Result<(), EngineError> {
        let mut search = StartSearch {
            abstraction: self.abstraction,
            tree: &mut self.reachability.tree,
            list: &mut self.reachability.start_list,
            queries: self.queries,
            budget: self.budget,
        };
        for leaf in search.leaves()? {
            self.reachability.counts.start_states += 1;
            self.reach(leaf, None)?;
        }
        Ok(())
    }
}

/// Looks for the leaves that hold start states.
pub(crate) struct StartSearch<'r, 's, 'q> {
    pub abstraction: &'r Abstraction<'r>,
    pub tree: &'q mut StateTree,
    /// The start states, once they were looked at.
    pub list: &'q mut Option<StartList>,
    pub queries: &'q mut Queries<'s>,
    pub budget: &'q mut Budget,
}

impl StartSearch<'_, '_, '_> {
    /// The leaves that hold start states.
    ///
    /// # Errors
    /// A stop of the budget, a start state outside the domains, or a query that is not decided.
    pub fn leaves(&mut self) -> Result<BTreeSet<TreeNodeId>, EngineError> {
        if self.list.is_none() {
            *self.list = Some(self.start_list()?);
        }
        let mut found = BTreeSet::new();
        match &*self.list {
            Some(StartList::All(states)) => {
                for state in states {
                    self.budget.poll()?;
                    found.insert(self.tree.leaf_of(state));
                }
            }
            _ => self.start_leaves_of_sources(&mut found)?,
        }
        Ok(found)
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
            self.abstraction.require_in_domains(state)?;
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
    fn start_leaves_of_sources(
        &mut self,
        found: &mut BTreeSet<TreeNodeId>,
    ) -> Result<(), EngineError> {
        let sources = self.abstraction.question.start_states();
        for (number, source) in sources.iter().enumerate() {
            for locations in self.start_locations(source)? {
                let root = self.tree.root(&locations);
                self.start_leaves(root, number, source, None, found)?;
            }
        }
        Ok(())
    }

    /// The locations in which there may be start states.
    fn start_locations(&mut self, source: &StartStates<'_>) -> Result<Vec<Vec<i64>>, EngineError> {
        let locations = self.tree.locations().to_vec();
        match source {
            StartStates::List(states) => {
                let mut all = BTreeSet::new();
                for state in *states {
                    self.budget.poll()?;
                    self.abstraction.require_in_domains(state)?;
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

    /// Collects the leaves under a node that hold start states of a source. `known` is what is known of
    /// the node's start states if they were looked at on the way to it.
    fn start_leaves(
        &mut self,
        id: TreeNodeId,
        number: usize,
        source: &StartStates<'_>,
        known: Option<&Inhabited>,
        found: &mut BTreeSet<TreeNodeId>,
    ) -> Result<(), EngineError> {
        self.budget.poll()?;
        self.tree.check_memory(self.budget)?;
        let mut inhabited = None;
        let any = match (self.tree.node(id).holds_start(number), source) {
            (Some(any), _) => any,
            (None, StartStates::List(states)) => {
                let cell = self.tree.cell(id);
                states.iter().any(|state| cell.contains(state))
            }
            (None, StartStates::Region(condition, sides)) => {
                inhabited = self.inhabited(id, (condition, sides), known)?;
                inhabited.is_some()
            }
        };
        self.tree.node_mut(id).note_start(number, any);
        if !any {
            return Ok(());
        }
        match self.tree.open(id) {
            None => {
                found.insert(id);
            }
            Some((_, parts)) => {
                for part in parts {
                    self.start_leaves(part, number, source, inhabited.as_ref(), found)?;
                }
            }
        }
        Ok(())
    }

    /// The start states in a node, of a condition and a box; `None` if there are none. `above` are those of
    /// the node that it is a part of.
    fn inhabited(
        &mut self,
        id: TreeNodeId,
        (condition, sides): (&Condition, &IntBox),
        above: Option<&Inhabited>,
    ) -> Result<Option<Inhabited>, EngineError> {
        let mut part = match (above, self.tree.last_literal(id)) {
            (Some(above), Some(literal)) => above.with(literal.condition()),
            _ => {
                let cell = self.tree.cell(id);
                let conditions = cell.others.iter().map(Literal::condition);
                let condition = conditions.chain([condition]).collect();
                Inhabited { sides: sides.intersect(&cell.sides), condition, witness: None }
            }
        };
        Ok(part.narrow(self.queries, self.budget)?.then_some(part))
    }
}
