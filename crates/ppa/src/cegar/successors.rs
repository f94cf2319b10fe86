//! The successors of an abstract state: lines 1 to 15 of Algorithm 1, as far as they were not
//! answered before and lead to abstract states that were not reached yet.

use std::sync::Arc;

use policert_engine_api::{Answer, EngineError};
use policert_model::State;

use super::cell::Literals;
use super::preconditions::Preconditions;
use super::predicate_id::PredicateId;
use super::reachability::{LeafSearch, Reachability};
use super::state_tree::{Arrival, Candidate, Found, TreeNodeId};
use crate::expansion::{Chosen, Expansion, Targets, enumerate_states, is_in};
use crate::region::Region;

/// The transitions of one abstract state by one outcome.
struct Outgoing {
    source: TreeNodeId,
    operator: u32,
    destination: u32,
    output: Option<usize>,
    /// The candidates that remain.
    kept: Vec<Candidate>,
    /// True if the policy is known to choose the label somewhere, or may do so.
    is_selected: bool,
    /// A source state in which it does.
    selected_in: Option<Arc<[i64]>>,
    /// True if the policy is known to choose the label nowhere.
    is_refuted: bool,
    preconditions: Preconditions,
}

impl LeafSearch<'_, '_, '_> {
    /// Reaches the successors of an abstract state.
    pub fn visit(&mut self, source: TreeNodeId) -> Result<(), EngineError> {
        let cell = self.reachability.tree.cell(source);
        let states = cell.region().restrict([self.abstraction.not_terminal()]);
        self.queries.enter(&states);
        let candidates = match self.reachability.tree.node_mut(source).take_candidates(&cell) {
            Some(candidates) => candidates,
            None => self.all_candidates(&states)?,
        };
        let mut kept = Vec::with_capacity(candidates.len());
        let mut refuted: Option<usize> = None;
        let mut selected: Option<usize> = None;
        let mut selected_in: Option<Arc<[i64]>> = None;
        let mut rest = &candidates[..];
        while let Some(first) = rest.first() {
            let same =
                |c: &&Candidate| (c.operator, c.destination) == (first.operator, first.destination);
            let count = rest.iter().take_while(same).count();
            let (group, after) = rest.split_at(count);
            rest = after;
            let output = self.abstraction.operators.output_of(first.operator as usize);
            if output.is_some() && refuted == output {
                continue;
            }
            let is_selected = output.is_none()
                || selected == output
                || group.iter().any(|c| c.found != Found::Nothing);
            let mut outgoing = Outgoing {
                source,
                operator: first.operator,
                destination: first.destination,
                output,
                kept: Vec::new(),
                is_selected,
                selected_in: if selected == output { selected_in.take() } else { None },
                is_refuted: false,
                preconditions: self
                    .reachability
                    .preconditions
                    .remove(&(first.operator, first.destination))
                    .unwrap_or_default(),
            };
            self.follow(group, &states, &mut outgoing)?;
            self.reachability.preconditions.insert(
                (outgoing.operator, outgoing.destination),
                std::mem::take(&mut outgoing.preconditions),
            );
            if outgoing.is_refuted {
                refuted = output;
                kept.retain(|c: &Candidate| {
                    self.abstraction.operators.output_of(c.operator as usize) != output
                });
                continue;
            }
            if outgoing.is_selected {
                selected = output;
                selected_in = outgoing.selected_in.take();
            }
            self.reachability.counts.transitions +=
                outgoing.kept.iter().filter(|c| c.found != Found::Nothing).count() as u64;
            kept.append(&mut outgoing.kept);
        }
        self.reachability.tree.node_mut(source).set_candidates(kept);
        self.reachability.visited.push(source);
        Ok(())
    }

    /// Every outcome that may exist in these states, leading anywhere.
    fn all_candidates(&mut self, states: &Region<'_>) -> Result<Vec<Candidate>, EngineError> {
        let mut all = Vec::new();
        if states.is_empty() {
            return Ok(all);
        }
        let (abstraction, Reachability { tree, may_drop, .. }) =
            (self.abstraction, &mut *self.reachability);
        let mut expansion =
            Expansion { abstraction, queries: &mut *self.queries, budget: &mut *self.budget };
        for group in abstraction.operators.groups() {
            let mut chosen = Chosen::default();
            for o in expansion.selected(states, group, &mut chosen)? {
                let operator = (o, group.output);
                let applicable = expansion.applicable(states, operator, &mut chosen)?;
                let Some(applicable) = applicable else { continue };
                for d in 0..abstraction.operators.all()[o].destinations.len() {
                    if abstraction.may_drop(&applicable, o, d) {
                        may_drop.insert((o, d));
                    }
                    if expansion.outcome(operator, d, &applicable)?.is_none() {
                        continue;
                    }
                    let target = tree.root_after(abstraction, &states.sides, o, d);
                    let (Ok(operator), Ok(destination)) = (u32::try_from(o), u32::try_from(d))
                    else {
                        return Err(EngineError::Unsupported("too many operators".to_owned()));
                    };
                    let found = Found::Nothing;
                    all.push(Candidate { operator, destination, target, found });
                }
            }
        }
        Ok(all)
    }

    /// Follows the candidates of one outcome to the abstract states that they lead to.
    fn follow(
        &mut self,
        group: &[Candidate],
        states: &Region<'_>,
        outgoing: &mut Outgoing,
    ) -> Result<(), EngineError> {
        let abstraction = self.abstraction;
        let mut region: Option<Region<'_>> = None;
        for candidate in group {
            self.budget.poll()?;
            let target = candidate.target;
            if self.first_unsafe.is_some() {
                outgoing.kept.push(candidate.clone());
                continue;
            }
            if self.reachability.tree.open(target).is_none() {
                if self.is_reached(target) {
                    outgoing.kept.push(candidate.clone());
                    continue;
                }
                if candidate.found != Found::Nothing {
                    outgoing.kept.push(candidate.clone());
                    self.reach(target, Some(outgoing.arrival()))?;
                    continue;
                }
            }
            let valid = match &region {
                Some(region) => region,
                None => {
                    let (o, d) = (outgoing.operator as usize, outgoing.destination as usize);
                    let operator = &abstraction.operators.all()[o];
                    let applicable = states.restrict([&operator.guard]);
                    region.insert(abstraction.valid_region(&applicable, o, d))
                }
            };
            if valid.is_empty() {
                return Ok(());
            }
            let literals = self.reachability.tree.path_literals(target);
            let effects: Vec<Literals> = literals
                .iter()
                .map(|(predicate, _)| self.precondition(outgoing, *predicate))
                .collect();
            let conditions = effects
                .iter()
                .zip(&literals)
                .map(|(effect, (_, literal))| &effect[usize::from(literal.value)]);
            let part = valid.restrict(conditions);
            let witness = match &candidate.found {
                Found::Witness(state) => Some(state),
                Found::Nothing | Found::Possible => None,
            };
            let mut targets = LeafTargets { search: &mut *self, witness, outgoing: &mut *outgoing };
            if targets.enters(&target, &part)? {
                enumerate_states(&mut targets, target, &part)?;
            }
            if outgoing.is_refuted {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The literals of a predicate before the outcome.
    fn precondition(&self, outgoing: &mut Outgoing, predicate: PredicateId) -> Literals {
        let operator = &self.abstraction.operators.all()[outgoing.operator as usize];
        let destination = &operator.destinations[outgoing.destination as usize];
        let tree = &self.reachability.tree;
        outgoing.preconditions.of(tree, destination, predicate, |before| before)
    }

    /// The transition tests, for an abstract state that was not reached yet.
    fn test(
        &mut self,
        leaf: TreeNodeId,
        region: &Region<'_>,
        witness: Option<&Arc<[i64]>>,
        outgoing: &mut Outgoing,
    ) -> Result<(), EngineError> {
        if let Some(witness) = witness {
            outgoing.keep(leaf, Found::Witness(Arc::clone(witness)));
            if !self.is_reached(leaf) {
                self.reach(leaf, Some(outgoing.arrival()))?;
            }
            return Ok(());
        }
        if self.is_reached(leaf) {
            outgoing.keep(leaf, Found::Nothing);
            return Ok(());
        }
        let mut answer = self.queries.t_sat(region, outgoing.output.is_none(), self.budget)?;
        if let Some(output) = outgoing.output
            && !answer.refuted()
        {
            if !outgoing.is_selected {
                let cell = self.reachability.tree.cell(outgoing.source);
                let states = cell.region().restrict([self.abstraction.not_terminal()]);
                match self.queries.is_select_pi(&states, output, self.budget)? {
                    Answer::Refuted => {
                        outgoing.is_refuted = true;
                        return Ok(());
                    }
                    Answer::Possible(state) => outgoing.selected_in = state.map(Arc::from),
                }
                outgoing.is_selected = true;
            }
            if let Some(state) = &outgoing.selected_in
                && is_in(region, state)
            {
                outgoing.keep(leaf, Found::Witness(Arc::clone(state)));
                return self.reach(leaf, Some(outgoing.arrival()));
            }
            answer = self.queries.t_sat_pi(region, output, self.budget)?;
        }
        let found = match answer {
            Answer::Refuted => return Ok(()),
            Answer::Possible(Some(witness)) => {
                let variables = self.abstraction.predicates.domains().dimensions();
                let state: State = witness[..variables].to_vec();
                Found::Witness(state.into())
            }
            Answer::Possible(None) => Found::Possible,
        };
        outgoing.keep(leaf, found);
        self.reach(leaf, Some(outgoing.arrival()))
    }
}

/// The targets of one outcome.
struct LeafTargets<'t, 'o, 'r, 's, 'q> {
    search: &'t mut LeafSearch<'r, 's, 'q>,
    /// A source state in which the policy chooses the label, where one is known.
    witness: Option<&'o Arc<[i64]>>,
    outgoing: &'t mut Outgoing,
}

impl Targets for LeafTargets<'_, '_, '_, '_, '_> {
    type Place = TreeNodeId;
    type Literals = Literals;

    fn open(&mut self, node: &TreeNodeId) -> Result<Option<Literals>, EngineError> {
        let opened = self.search.reachability.tree.open(*node);
        Ok(opened.map(|(predicate, _)| self.search.precondition(self.outgoing, predicate)))
    }

    fn part(&mut self, node: TreeNodeId, value: bool) -> TreeNodeId {
        self.search.reachability.tree.part(node, value)
    }

    fn enters(&mut self, node: &TreeNodeId, region: &Region<'_>) -> Result<bool, EngineError> {
        self.search.budget.poll()?;
        if region.is_empty() || self.outgoing.is_refuted {
            return Ok(false);
        }
        if self.search.first_unsafe.is_some() {
            self.outgoing.keep(*node, Found::Nothing);
            return Ok(false);
        }
        Ok(true)
    }

    fn reach(&mut self, leaf: TreeNodeId, region: &Region<'_>) -> Result<(), EngineError> {
        let witness = self.witness.filter(|state| is_in(region, state));
        self.search.test(leaf, region, witness, self.outgoing)
    }
}

impl Outgoing {
    fn arrival(&self) -> Arrival {
        Arrival { source: self.source, operator: self.operator, destination: self.destination }
    }

    fn keep(&mut self, target: TreeNodeId, found: Found) {
        let (operator, destination) = (self.operator, self.destination);
        self.kept.push(Candidate { operator, destination, target, found });
    }
}
