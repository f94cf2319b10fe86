//! Probabilistic abstract state expansion (Algorithm 3 of the appendix).
//!
//! Input: an abstract state s_𝒫. Output: its transitions in the abstract MDP under the policy.
//!
//! | paper | here |
//! |---|---|
//! | s_𝒫, μ_𝒫 | `source`, `reached` |
//! | EnumPaDist (lines 7 and 13) | [`Expansion::distributions`] |
//! | EnumPaSuc (lines 22 and 28) | [`Expansion::successors`] |
//! | lines 15 and 30, line 5 | [`Expansion::test`] |
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
use policert_model::Truth;

use super::distribution::{JointOperators, Target, Transition};
use crate::abstraction::Abstraction;
use crate::cegar::state_tree::{StateTree, TreeNodeId};
use crate::cegar::successors::is_in;
use crate::queries::Queries;
use crate::region::Region;
use policert_engine_api::Budget;
use policert_symbolic::LabelGroup;

/// Holds what the expansion of abstract states works with.
pub(crate) struct Expansion<'r, 's, 'q> {
    pub abstraction: &'r Abstraction<'r>,
    pub tree: &'q mut StateTree,
    pub operators: &'q mut JointOperators,
    pub queries: &'q mut Queries<'s>,
    pub budget: &'q mut Budget,
    /// Outcomes that may leave a domain.
    pub may_drop: &'q mut BTreeSet<(u32, usize)>,
}

/// The distributions of one operator that are being looked for.
struct Enumeration<'c> {
    operator: u32,
    output: Option<usize>,
    /// A candidate for the target of each outcome.
    candidate: &'c [Target],
    /// Source states from which the policy chooses the label.
    chosen: &'c [Arc<[i64]>],
    /// μ_𝒫 so far.
    reached: Vec<Target>,
    found: Vec<Transition>,
}

impl Expansion<'_, '_, '_> {
    /// The transitions of `source`, a leaf; `known` are those of a node that it is a part of.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that cannot be decided.
    pub fn expand(
        &mut self,
        source: TreeNodeId,
        known: Option<&[Transition]>,
    ) -> Result<Vec<Transition>, EngineError> {
        let cell = self.tree.cell(source);
        let states = cell.region().restrict([self.abstraction.not_terminal()]);
        if states.is_empty() {
            return Ok(Vec::new());
        }
        self.queries.enter(&states);
        let variables = self.abstraction.predicates.domains().dimensions();
        let mut all = Vec::new();
        for group in self.abstraction.operators.groups() {
            let of_group = |t: &&Transition| group.operators.contains(&(t.operator as usize));
            let candidates: Option<Vec<&Transition>> =
                known.map(|known| known.iter().filter(of_group).collect());
            if candidates.as_ref().is_some_and(Vec::is_empty) {
                continue;
            }
            let mut chosen: Vec<Arc<[i64]>> = Vec::new();
            for witness in candidates.iter().flatten().filter_map(|t| t.witness.as_ref()) {
                if cell.contains(&witness[..variables]) {
                    chosen.push(Arc::clone(witness));
                }
            }
            if let Some(output) = group.output
                && chosen.is_empty()
                && !group.operators.is_empty()
            {
                match self.queries.selects(&states, output, self.budget)? {
                    Answer::Refuted => continue,
                    Answer::Possible(state) => chosen.extend(state.map(Arc::from)),
                }
            }
            self.expand_label(&states, group, candidates.as_deref(), &mut chosen, &mut all)?;
        }
        Ok(all)
    }

    /// Lines 1 to 6 for the operators of one label.
    fn expand_label(
        &mut self,
        states: &Region<'_>,
        group: &LabelGroup,
        candidates: Option<&[&Transition]>,
        chosen: &mut Vec<Arc<[i64]>>,
        all: &mut Vec<Transition>,
    ) -> Result<(), EngineError> {
        let abstraction = self.abstraction;
        for &o in &group.operators {
            let composed = &abstraction.operators.all()[o];
            let operator = u32::try_from(o)
                .map_err(|_| EngineError::Unsupported("too many operators".to_owned()))?;
            let count = composed.destinations.len();
            let anywhere = vec![Target::Any; count];
            let starts: Vec<&[Target]> = match candidates {
                None => vec![&anywhere],
                Some(known) => {
                    known.iter().filter(|t| t.operator == operator).map(|t| &*t.targets).collect()
                }
            };
            // l.2
            if starts.is_empty() {
                continue;
            }
            let applicable = self.queries.applicable(states, composed, self.budget)?;
            let Some(applicable) = applicable else { continue };
            if let Some(output) = group.output
                && !chosen.iter().any(|state| is_in(&applicable, state))
            {
                match self.queries.selects_applicable(&applicable, output, self.budget)? {
                    Answer::Refuted => continue,
                    Answer::Possible(state) => chosen.extend(state.map(Arc::from)),
                }
            }
            if candidates.is_none() {
                for d in 0..count {
                    self.queries.refuse_conflict(
                        abstraction.question.model,
                        (composed, d),
                        &applicable,
                        group.output,
                        self.budget,
                    )?;
                }
            }
            let sides = self.operators.get(abstraction, operator)?.choice_sides(
                abstraction,
                operator,
                &applicable.sides,
            );
            let region = applicable.extend(sides);
            for candidate in starts {
                // l.3
                let mut enumeration = Enumeration {
                    operator,
                    output: group.output,
                    candidate,
                    chosen,
                    reached: Vec::with_capacity(count),
                    found: Vec::new(),
                };
                self.distributions(&mut enumeration, &region)?;
                all.append(&mut enumeration.found);
            }
        }
        Ok(())
    }

    /// EnumPaDist: the distributions that agree with what was reached so far; `region` are the
    /// source states, with free choices, from which that was.
    fn distributions(
        &mut self,
        enumeration: &mut Enumeration<'_>,
        region: &Region<'_>,
    ) -> Result<(), EngineError> {
        self.budget.poll()?;
        let d = enumeration.reached.len(); // l.19
        let Some(&start) = enumeration.candidate.get(d) else {
            return self.test(enumeration, region); // l.14
        };
        let (abstraction, operator) = (self.abstraction, enumeration.operator);
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
                        let both = self.precondition(operator, d, *predicate)?;
                        before.push((both, usize::from(literal.value)));
                    }
                    let part = valid.restrict(before.iter().map(|(both, value)| &both[*value]));
                    self.successors(enumeration, node, &part)?;
                }
                _ => {
                    let o = operator as usize;
                    let root = self.tree.root_after(abstraction, &region.sides, o, d);
                    self.successors(enumeration, root, &valid)?;
                }
            }
        }
        if !is_certain && !matches!(start, Target::Node(_)) {
            let lost = match &invalidity {
                Some(invalidity) => region.restrict([invalidity]),
                None => region.clone(),
            };
            if !lost.is_empty() && self.queries.is_inhabited(&lost, self.budget)? {
                if destination.choices.is_empty() {
                    self.may_drop.insert((operator, d));
                }
                enumeration.reached.push(Target::Lost);
                self.distributions(enumeration, &lost)?;
                enumeration.reached.pop();
            }
        }
        Ok(())
    }

    /// EnumPaSuc: the abstract states under a node that the next outcome leads to from `region`.
    fn successors(
        &mut self,
        enumeration: &mut Enumeration<'_>,
        node: TreeNodeId,
        region: &Region<'_>,
    ) -> Result<(), EngineError> {
        self.budget.poll()?;
        if region.is_empty() {
            return Ok(());
        }
        let d = enumeration.reached.len();
        let Some((predicate, parts)) = self.tree.open(node) else {
            // l.30; the last outcome's test is that of the whole distribution.
            let is_last = d + 1 == enumeration.candidate.len();
            if !is_last && !self.queries.is_inhabited(region, self.budget)? {
                return Ok(());
            }
            enumeration.reached.push(Target::Node(node)); // l.21
            self.distributions(enumeration, region)?; // l.22
            enumeration.reached.pop();
            return Ok(());
        };
        let literals = self.precondition(enumeration.operator, d, predicate)?;
        match literals[1].truth(&region.sides) {
            Truth::True => self.successors(enumeration, parts[1], region),
            Truth::False => self.successors(enumeration, parts[0], region),
            Truth::Maybe => {
                for value in [1, 0] {
                    let part = region.restrict([&literals[value]]);
                    self.successors(enumeration, parts[value], &part)?;
                }
                Ok(())
            }
        }
    }

    /// The T-transition test (l.15) and the π-transition test (l.5) for a whole distribution.
    fn test(
        &mut self,
        enumeration: &mut Enumeration<'_>,
        region: &Region<'_>,
    ) -> Result<(), EngineError> {
        let mut witness =
            enumeration.chosen.iter().find(|state| is_in(region, state)).map(Arc::clone);
        if witness.is_none() {
            let output = enumeration.output.filter(|_| self.abstraction.policy.is_some());
            match self.queries.leads(region, output, self.budget)? {
                Answer::Refuted => return Ok(()),
                Answer::Possible(state) => witness = state.map(Arc::from),
            }
        }
        enumeration.found.push(Transition {
            operator: enumeration.operator,
            targets: enumeration.reached.clone().into(),
            witness,
        }); // l.6
        Ok(())
    }

    fn precondition(
        &mut self,
        operator: u32,
        d: usize,
        predicate: crate::cegar::predicate_id::PredicateId,
    ) -> Result<crate::cegar::cell::Literals, EngineError> {
        let abstraction = self.abstraction;
        let destination = &abstraction.operators.all()[operator as usize].destinations[d];
        let outcome = &mut self.operators.get(abstraction, operator)?.outcomes[d];
        Ok(outcome.precondition(abstraction, destination, self.tree, predicate))
    }
}
