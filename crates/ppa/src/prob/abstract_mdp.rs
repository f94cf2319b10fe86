//! The abstract MDP under the policy, expanded where it is needed and kept between iterations.
//!
//! Its states are leaves of a tree of predicates. What was found out about one that was split since
//! is where its parts begin: transitions that were refuted stay refuted, and an upper bound of its
//! value is one for them.

use std::collections::BTreeSet;
use std::sync::Arc;

use policert_engine_api::{Budget, EngineError, Event, Observer};
use policert_mdp::{Choices, ImplicitMdp, Standing};
use rustc_hash::FxHashMap;

use super::distribution::{JointOperators, Target, Transition};
use super::expansion::MdpExpansion;
use crate::abstraction::Abstraction;
use crate::cegar::start_list::StartList;
use crate::cegar::start_states::StartSearch;
use crate::cegar::state_tree::{StateTree, TreeNodeId};
use crate::expansion::Expansion;
use crate::queries::Queries;

/// The abstract MDP.
#[derive(Debug)]
pub(crate) struct AbstractMdp {
    pub tree: StateTree,
    pub operators: JointOperators,
    pub start_list: Option<StartList>,
    /// Outcomes that may leave a domain.
    pub may_drop: BTreeSet<(u32, usize)>,
    /// Expansions in all iterations, without those that only confirmed what was known.
    pub expansions: u64,
    expanded: FxHashMap<TreeNodeId, Arc<Vec<Transition>>>,
    /// Proved upper bounds of values.
    upper: FxHashMap<TreeNodeId, f64>,
    /// By state, in this iteration.
    nodes: Vec<TreeNodeId>,
    numbers: FxHashMap<TreeNodeId, u32>,
    /// By state: its transitions, where it was expanded in this iteration.
    choices: Vec<Option<Arc<Vec<Transition>>>>,
    start: Vec<u32>,
    starts_known: bool,
}

impl AbstractMdp {
    /// With no predicates yet.
    pub fn new(abstraction: &Abstraction<'_>) -> Self {
        let predicates = &abstraction.predicates;
        let locations = predicates.layout().locations().to_vec();
        Self {
            tree: StateTree::new(predicates.domains().clone(), locations),
            operators: JointOperators::default(),
            start_list: None,
            may_drop: BTreeSet::new(),
            expansions: 0,
            expanded: FxHashMap::default(),
            upper: FxHashMap::default(),
            nodes: Vec::new(),
            numbers: FxHashMap::default(),
            choices: Vec::new(),
            start: Vec::new(),
            starts_known: false,
        }
    }

    /// Begins an iteration: states are numbered anew.
    pub fn begin(&mut self) {
        self.nodes.clear();
        self.numbers.clear();
        self.choices.clear();
        self.start.clear();
        self.starts_known = false;
    }

    /// Number of states named in this iteration.
    pub fn states(&self) -> usize {
        self.nodes.len()
    }

    /// The abstract start states; `None` where they are not known yet.
    pub fn start(&self) -> Option<&[u32]> {
        self.starts_known.then_some(&self.start)
    }

    /// The leaf that is a state.
    pub fn node(&self, state: u32) -> TreeNodeId {
        self.nodes[state as usize]
    }

    /// The state that a leaf is, if it was named in this iteration.
    pub fn state(&self, node: TreeNodeId) -> Option<u32> {
        self.numbers.get(&node).copied()
    }

    /// The transitions of a state that was expanded in this iteration.
    pub fn transitions(&self, state: u32) -> Option<&[Transition]> {
        self.choices.get(state as usize)?.as_ref().map(|all| &all[..])
    }

    /// Returns whether a state is unsafe, as far as that was asked.
    pub fn is_unsafe(&self, state: u32) -> bool {
        self.tree.node(self.node(state)).is_unsafe == Some(true)
    }

    /// Notes proved upper bounds of the values of this iteration's states.
    pub fn note_upper_bounds(&mut self, bounds: impl IntoIterator<Item = f64>) {
        for (&node, bound) in self.nodes.iter().zip(bounds) {
            let known = self.upper.entry(node).or_insert(1.0);
            *known = known.min(bound);
        }
    }

    /// A proved upper bound of the value of a state.
    pub fn upper(&self, state: u32) -> f64 {
        let mut at = Some(self.node(state));
        let mut least: f64 = 1.0;
        while let Some(node) = at {
            if let Some(&bound) = self.upper.get(&node) {
                least = least.min(bound);
                break;
            }
            at = self.tree.node(node).parent();
        }
        least
    }

    fn number(&mut self, node: TreeNodeId) -> Result<u32, EngineError> {
        if let Some(&state) = self.numbers.get(&node) {
            return Ok(state);
        }
        let state = u32::try_from(self.nodes.len())
            .map_err(|_| EngineError::Unsupported("too many abstract states".to_owned()))?;
        self.nodes.push(node);
        self.choices.push(None);
        self.numbers.insert(node, state);
        Ok(state)
    }
}

/// The abstract MDP with what expands it.
pub(crate) struct Expanding<'r, 's, 'q> {
    pub mdp: &'q mut AbstractMdp,
    pub abstraction: &'r Abstraction<'r>,
    pub queries: &'q mut Queries<'s>,
    pub observer: &'q mut dyn Observer,
    /// States expanded in this iteration.
    pub expanded: u64,
    /// Transitions of these, each outcome once.
    pub transitions: u64,
}

impl Expanding<'_, '_, '_> {
    /// The transitions of a leaf.
    fn find_transitions(
        &mut self,
        node: TreeNodeId,
        budget: &mut Budget,
    ) -> Result<Arc<Vec<Transition>>, EngineError> {
        let mut known = self.mdp.expanded.get(&node).map(Arc::clone);
        if let Some(all) = &known
            && all.iter().all(|t| self.is_current(t))
        {
            return Ok(Arc::clone(all));
        }
        let mut at = self.mdp.tree.node(node).parent();
        while let (None, Some(whole)) = (&known, at) {
            known = self.mdp.expanded.get(&whole).map(Arc::clone);
            at = self.mdp.tree.node(whole).parent();
        }
        let (abstraction, queries) = (self.abstraction, &mut *self.queries);
        let mut expansion = MdpExpansion {
            expansion: Expansion { abstraction, queries, budget },
            tree: &mut self.mdp.tree,
            operators: &mut self.mdp.operators,
            may_drop: &mut self.mdp.may_drop,
        };
        let all = Arc::new(expansion.expand(node, known.as_ref().map(|all| &all[..]))?);
        self.mdp.expansions += 1;
        self.mdp.expanded.insert(node, Arc::clone(&all));
        Ok(all)
    }

    /// Returns whether no target was split since.
    fn is_current(&mut self, transition: &Transition) -> bool {
        transition.targets.iter().all(|target| match target {
            Target::Node(node) => self.mdp.tree.open(*node).is_none(),
            _ => true,
        })
    }

    fn find_unsafe(&mut self, node: TreeNodeId, budget: &mut Budget) -> Result<bool, EngineError> {
        if let Some(known) = self.mdp.tree.node(node).is_unsafe {
            return Ok(known);
        }
        let cell = self.mdp.tree.cell(node);
        let condition = &self.abstraction.question.property.unsafe_condition;
        let region = cell.region().restrict([condition]);
        let any = self.queries.is_inhabited(&region, budget)?;
        self.mdp.tree.node_mut(node).is_unsafe = Some(any);
        Ok(any)
    }
}

impl ImplicitMdp for Expanding<'_, '_, '_> {
    fn initial_states(&mut self, budget: &mut Budget) -> Result<Vec<u32>, EngineError> {
        let mut search = StartSearch {
            abstraction: self.abstraction,
            tree: &mut self.mdp.tree,
            list: &mut self.mdp.start_list,
            queries: &mut *self.queries,
            budget,
        };
        let leaves = search.leaves()?;
        let mut states = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            states.push(self.mdp.number(leaf)?);
        }
        self.mdp.start.clone_from(&states);
        self.mdp.starts_known = true;
        Ok(states)
    }

    fn standing(&mut self, state: u32, budget: &mut Budget) -> Result<Standing, EngineError> {
        let is_unsafe = self.find_unsafe(self.mdp.node(state), budget)?;
        Ok(if is_unsafe { Standing::Target } else { Standing::Open })
    }

    fn expand(
        &mut self,
        state: u32,
        choices: &mut Choices,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        budget.poll_clock()?;
        let all = self.find_transitions(self.mdp.node(state), budget)?;
        let mut outcomes = Vec::new();
        for transition in all.iter() {
            outcomes.clear();
            for (d, target) in transition.targets.iter().enumerate() {
                let Target::Node(node) = *target else { continue };
                let to = self.mdp.number(node)?;
                let joint = self.mdp.operators.get(self.abstraction, transition.operator)?;
                outcomes.push((to, joint.outcomes[d].probability.clone()));
            }
            self.transitions += outcomes.len() as u64;
            choices.add(outcomes.iter().cloned());
        }
        self.mdp.choices[state as usize] = Some(all);
        self.expanded += 1;
        self.observer.event(Event::Progress {
            expanded: self.expanded,
            reached: self.mdp.states() as u64,
            waiting: (self.mdp.states() as u64).saturating_sub(self.expanded),
            transitions: self.transitions,
        });
        Ok(())
    }

    fn upper_bound(&self, state: u32) -> f64 {
        self.mdp.upper(state)
    }
}
