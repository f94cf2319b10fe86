//! Probabilistic abstract state expansion (Algorithm 3 of the appendix).
//!
//! Input: an abstract state s_𝒫. Output: its transitions in the abstract MDP under the policy.
//!
//! | paper | here |
//! |---|---|
//! | s_𝒫, μ_𝒫 | `source`, `reached` |
//! | EnumPaDist (lines 7 and 13) | [`Distributions::distributions`] |
//! | EnumPaSuc (lines 22 and 28) | [`enumerate_states`] |
//! | lines 15 and 30, line 5 | [`Distributions::test`] |
//!
//! Deviations:
//! - D1: the sets S'_𝒫(u) are not built before their product. The source states that lead the
//!   outcomes before into their abstract states are a region, and the abstract states of the next
//!   outcome are looked for in it, so most of what the product would hold is never looked at.
//! - D2: predicates are told apart in the order of the tree of abstract states. Operator entailment
//!   and predicate entailment are the same step: the weakest precondition of a predicate is
//!   evaluated over the box of the region, which the literals before have tightened.
//! - D3: before line 3 the policy is asked whether it chooses the label in s_𝒫 at all, and then
//!   whether it does where the operator is applicable, as in Algorithm 1 of PPA 2022.
//! - D4: operators of the environment (silent, or with a label that the policy does not output)
//!   have no policy test.
//! - D5: an outcome that leaves a domain in some of the states leads nowhere there: its
//!   probability is lost.
//! - D6: what was refuted for the abstract state that this one is a part of is not tested again,
//!   and a known source state proves a transition.

use std::collections::BTreeSet;
use std::sync::Arc;

use policert_engine_api::{Answer, EngineError};

use super::distribution::{JointOperators, Target, Transition};
use crate::cegar::cell::Literals;
use crate::cegar::predicate_id::PredicateId;
use crate::cegar::state_tree::{StateTree, TreeNodeId};
use crate::expansion::{Chosen, Expansion, Targets, enumerate_states};
use crate::region::Region;

/// Holds what the expansion of states of the abstract MDP works with.
pub(crate) struct MdpExpansion<'r, 's, 'q> {
    pub expansion: Expansion<'r, 's, 'q>,
    pub tree: &'q mut StateTree,
    pub operators: &'q mut JointOperators,
    /// Outcomes that may leave a domain.
    pub may_drop: &'q mut BTreeSet<(u32, usize)>,
}

impl MdpExpansion<'_, '_, '_> {
    /// The transitions of `source`, a leaf; `known` are those of a node that it is a part of.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that cannot be decided.
    pub fn expand(
        &mut self,
        source: TreeNodeId,
        known: Option<&[Transition]>,
    ) -> Result<Vec<Transition>, EngineError> {
        let abstraction = self.expansion.abstraction;
        let cell = self.tree.cell(source);
        let states = cell.region().restrict([abstraction.not_terminal()]);
        let mut all = Vec::new();
        if states.is_empty() {
            return Ok(all);
        }
        self.expansion.queries.enter(&states);
        let variables = abstraction.predicates.domains().dimensions();
        for group in abstraction.operators.groups() {
            let of_group = |t: &&Transition| group.operators.contains(&(t.operator as usize));
            let candidates: Option<Vec<&Transition>> =
                known.map(|known| known.iter().filter(of_group).collect());
            if candidates.as_ref().is_some_and(Vec::is_empty) {
                continue;
            }
            let witnesses = candidates.iter().flatten().filter_map(|t| t.witness.as_ref());
            let inside = witnesses.filter(|witness| cell.contains(&witness[..variables]));
            let mut chosen = Chosen(inside.map(Arc::clone).collect());
            for o in self.expansion.selected(&states, group, &mut chosen)? {
                self.expand_operator(
                    &states,
                    (o, group.output),
                    candidates.as_deref(),
                    &mut chosen,
                    &mut all,
                )?;
            }
        }
        Ok(all)
    }

    /// Lines 2 to 6 for one operator.
    fn expand_operator(
        &mut self,
        states: &Region<'_>,
        (o, output): (usize, Option<usize>),
        candidates: Option<&[&Transition]>,
        chosen: &mut Chosen,
        all: &mut Vec<Transition>,
    ) -> Result<(), EngineError> {
        let abstraction = self.expansion.abstraction;
        let operator = u32::try_from(o)
            .map_err(|_| EngineError::Unsupported("too many operators".to_owned()))?;
        let count = abstraction.operators.all()[o].destinations.len();
        let anywhere = vec![Target::Any; count];
        let starts: Vec<&[Target]> = match candidates {
            None => vec![&anywhere],
            Some(known) => {
                known.iter().filter(|t| t.operator == operator).map(|t| &*t.targets).collect()
            }
        };
        // l.2
        if starts.is_empty() {
            return Ok(());
        }
        let applicable = self.expansion.applicable(states, (o, output), chosen)?;
        let Some(applicable) = applicable else { return Ok(()) };
        if candidates.is_none() {
            for d in 0..count {
                self.expansion.refuse_conflict((o, output), d, &applicable)?;
            }
        }
        let joint = self.operators.get(abstraction, operator)?;
        let sides = joint.choice_sides(abstraction, operator, &applicable.sides);
        let region = applicable.extend(sides);
        for candidate in starts {
            // l.3
            let mut distributions = Distributions {
                expansion: &mut self.expansion,
                tree: self.tree,
                operators: self.operators,
                may_drop: self.may_drop,
                operator,
                output,
                candidate,
                chosen,
                reached: Vec::with_capacity(count),
                found: all,
            };
            distributions.distributions(&region)?;
        }
        Ok(())
    }
}

/// The distributions of one operator that are being looked for.
struct Distributions<'d, 'a, 's, 'q> {
    expansion: &'d mut Expansion<'a, 's, 'q>,
    tree: &'d mut StateTree,
    operators: &'d mut JointOperators,
    may_drop: &'d mut BTreeSet<(u32, usize)>,
    operator: u32,
    output: Option<usize>,
    /// The targets that each outcome may lead to.
    candidate: &'d [Target],
    chosen: &'d Chosen,
    /// μ_𝒫 so far.
    reached: Vec<Target>,
    found: &'d mut Vec<Transition>,
}

impl Distributions<'_, '_, '_, '_> {
    /// EnumPaDist: the distributions that agree with what was reached so far; `region` are the
    /// source states, with free choices, from which that was.
    fn distributions(&mut self, region: &Region<'_>) -> Result<(), EngineError> {
        self.expansion.budget.poll()?;
        let d = self.reached.len(); // l.19
        let Some(&start) = self.candidate.get(d) else {
            return self.test(region); // l.14
        };
        let (abstraction, operator) = (self.expansion.abstraction, self.operator);
        let destination = &abstraction.operators.all()[operator as usize].destinations[d];
        let joint = self.operators.get(abstraction, operator)?;
        let outcome = &joint.outcomes[d];
        let (validity, invalidity) = (outcome.validity.clone(), outcome.invalidity.clone());
        let is_certain = outcome.is_certain(destination, &region.sides);
        if start != Target::Lost {
            let valid = region.restrict(&validity);
            match start {
                _ if valid.is_empty() => {}
                Target::Node(node) => {
                    let literals = self.tree.path_literals(node);
                    let mut before = Vec::with_capacity(literals.len());
                    for (predicate, literal) in &literals {
                        before.push((self.precondition(*predicate)?, usize::from(literal.value)));
                    }
                    let part = valid.restrict(before.iter().map(|(both, value)| &both[*value]));
                    self.successors(node, &part)?;
                }
                Target::Any | Target::Lost => {
                    let o = operator as usize;
                    let root = self.tree.root_after(abstraction, &region.sides, o, d);
                    self.successors(root, &valid)?;
                }
            }
        }
        if !is_certain && !matches!(start, Target::Node(_)) {
            let lost = match &invalidity {
                Some(invalidity) => region.restrict([invalidity]),
                None => region.clone(),
            };
            let Expansion { queries, budget, .. } = &mut *self.expansion;
            if !lost.is_empty() && queries.is_inhabited(&lost, budget)? {
                if destination.choices.is_empty() {
                    self.may_drop.insert((operator, d));
                }
                self.reached.push(Target::Lost);
                self.distributions(&lost)?;
                self.reached.pop();
            }
        }
        Ok(())
    }

    /// EnumPaSuc: the abstract states under a node that the next outcome leads to from `region`.
    fn successors(&mut self, node: TreeNodeId, region: &Region<'_>) -> Result<(), EngineError> {
        if self.enters(&node, region)? { enumerate_states(self, node, region) } else { Ok(()) }
    }

    /// The T-transition test (l.15) and the π-transition test (l.5) for a whole distribution.
    fn test(&mut self, region: &Region<'_>) -> Result<(), EngineError> {
        if let Answer::Possible(witness) = self.expansion.leads(region, self.output, self.chosen)? {
            let (operator, targets) = (self.operator, self.reached.clone().into());
            self.found.push(Transition { operator, targets, witness }); // l.6
        }
        Ok(())
    }

    /// The literals of a predicate before the next outcome.
    fn precondition(&mut self, predicate: PredicateId) -> Result<Literals, EngineError> {
        let (abstraction, d) = (self.expansion.abstraction, self.reached.len());
        let destination = &abstraction.operators.all()[self.operator as usize].destinations[d];
        let outcome = &mut self.operators.get(abstraction, self.operator)?.outcomes[d];
        Ok(outcome.precondition(abstraction, destination, self.tree, predicate))
    }
}

impl Targets for Distributions<'_, '_, '_, '_> {
    type Place = TreeNodeId;
    type Literals = Literals;

    fn open(&mut self, node: &TreeNodeId) -> Result<Option<Literals>, EngineError> {
        let predicate = self.tree.open(*node).map(|(predicate, _)| predicate);
        predicate.map(|predicate| self.precondition(predicate)).transpose()
    }

    fn part(&mut self, node: TreeNodeId, value: bool) -> TreeNodeId {
        self.tree.part(node, value)
    }

    fn enters(&mut self, _: &TreeNodeId, region: &Region<'_>) -> Result<bool, EngineError> {
        self.expansion.budget.poll()?;
        Ok(!region.is_empty())
    }

    fn reach(&mut self, node: TreeNodeId, region: &Region<'_>) -> Result<(), EngineError> {
        // l.30; the last outcome's test is that of the whole distribution.
        let is_last = self.reached.len() + 1 == self.candidate.len();
        let Expansion { queries, budget, .. } = &mut *self.expansion;
        if !is_last && !queries.is_inhabited(region, budget)? {
            return Ok(());
        }
        self.reached.push(Target::Node(node)); // l.21
        self.distributions(region)?; // l.22
        self.reached.pop();
        Ok(())
    }
}
