//! The successors of an abstract state: lines 1 to 15 of Algorithm 1, as far as they were not
//! answered before and lead to abstract states that were not reached yet.

use std::sync::Arc;

use policert_engine_api::{Answer, EngineError};
use policert_model::{State, Truth};

use super::cell::Literals;
use super::preconditions::Preconditions;
use super::predicate_id::PredicateId;
use super::reachability::LeafSearch;
use super::state_tree::{Arrival, Candidate, Found, TreeNodeId};
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
            let is_selected = self.abstraction.policy.is_none()
                || output.is_none()
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
        let abstraction = self.abstraction;
        for group in abstraction.operators.groups() {
            if let Some(output) = group.output
                && !group.operators.is_empty()
                && self.queries.is_select_pi(states, output, self.budget)?.refuted()
            {
                continue;
            }
            for &o in &group.operators {
                let operator = &abstraction.operators.all()[o];
                let applicable = self.queries.applicable(states, operator, self.budget)?;
                let Some(applicable) = applicable else { continue };
                for d in 0..operator.destinations.len() {
                    if abstraction.may_drop(&applicable, o, d) {
                        self.reachability.may_drop.insert((o, d));
                    }
                    self.queries.refuse_conflict(
                        abstraction.question.model,
                        (operator, d),
                        &applicable,
                        group.output,
                        self.budget,
                    )?;
                    if abstraction.valid_region(&applicable, o, d).is_empty() {
                        continue;
                    }
                    let target =
                        self.reachability.tree.root_after(abstraction, &states.sides, o, d);
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
                Found::Witness(state) if valid.sides.dimensions() == state.len() => Some(state),
                _ => None,
            };
            self.descend(target, &part, witness, outgoing)?;
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

    /// The abstract states under a node that the source states of `region` lead to; `witness` is
    /// one of them in which the policy chooses the label.
    fn descend(
        &mut self,
        id: TreeNodeId,
        region: &Region<'_>,
        witness: Option<&Arc<[i64]>>,
        outgoing: &mut Outgoing,
    ) -> Result<(), EngineError> {
        self.budget.poll()?;
        if region.is_empty() || outgoing.is_refuted {
            return Ok(());
        }
        if self.first_unsafe.is_some() {
            outgoing.keep(id, Found::Nothing);
            return Ok(());
        }
        let Some((predicate, parts)) = self.reachability.tree.open(id) else {
            return self.test(id, region, witness, outgoing);
        };
        let literals = self.precondition(outgoing, predicate);
        let decided = match literals[1].truth(&region.sides) {
            Truth::True => Some(1),
            Truth::False => Some(0),
            Truth::Maybe => None,
        };
        if let Some(value) = decided {
            return self.descend(parts[value], region, witness, outgoing);
        }
        for value in [1, 0] {
            let part = region.restrict([&literals[value]]);
            let witness = witness.filter(|state| literals[value].holds(state) == Ok(true));
            self.descend(parts[value], &part, witness, outgoing)?;
        }
        Ok(())
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
        let output = outgoing.output.filter(|_| self.abstraction.policy.is_some());
        let mut answer = self.queries.t_sat(region, output.is_none(), self.budget)?;
        if let Some(output) = output
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

impl Outgoing {
    fn arrival(&self) -> Arrival {
        Arrival { source: self.source, operator: self.operator, destination: self.destination }
    }

    fn keep(&mut self, target: TreeNodeId, found: Found) {
        let (operator, destination) = (self.operator, self.destination);
        self.kept.push(Candidate { operator, destination, target, found });
    }
}

/// Returns whether a state without free choices belongs to a region.
pub(crate) fn is_in(region: &Region<'_>, state: &[i64]) -> bool {
    region.sides.dimensions() == state.len()
        && region.sides.contains(state)
        && region.conditions.iter().all(|condition| condition.holds(state) == Ok(true))
}
