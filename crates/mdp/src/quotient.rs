//! The part of a problem that numbers have to decide, with end components collapsed.
//!
//! States with value 0 or 1 by the graph are gone, and so are loops: a choice that may come back
//! to where it was taken counts with what happens when it does not. In what is left every
//! scheduler ends with probability 1, so that the value is the only fixpoint of Bellman's equation.

use policert_engine_api::{Budget, EngineError};
use policert_numeric::Rational;
use rustc_hash::FxHashMap;

use crate::components::{Components, Graph, components};
use crate::distribution::{DistributionId, Distributions};
use crate::end_components::end_components;
use crate::mdp::{Mdp, MdpBuilder};
use crate::qualitative::Qualitative;
use crate::{Direction, Reachability, StateSet};

/// The block of all states with value 1.
pub(crate) const GOAL: u32 = 0;
const NO_BLOCK: u32 = u32::MAX;

/// An MDP of blocks. Block [`GOAL`] has value 1; what is lost leads to states with value 0.
#[derive(Debug)]
pub(crate) struct Quotient {
    /// The blocks and their choices.
    pub mdp: Mdp,
    /// By choice of the blocks: the choice that it stands for.
    pub origin: Vec<u32>,
    /// The components of the blocks without the goal, successors first.
    pub order: Components,
    /// By state.
    block_of: Vec<u32>,
    /// End components of several states, by their block.
    collapsed: Vec<(u32, Vec<u32>)>,
}

impl Quotient {
    /// Builds it for what is reachable from the initial states through states that are neither
    /// of value 0 nor of value 1.
    pub(crate) fn new(
        problem: &Reachability<'_>,
        known: &Qualitative,
        budget: &mut Budget,
    ) -> Result<Self, EngineError> {
        let open = reachable(problem, known, budget)?;
        let mut block_of = vec![NO_BLOCK; problem.mdp.states()];
        let (mut collapsed, mut blocks) = (Vec::new(), 1u32);
        if problem.direction == Direction::Max {
            for members in end_components(problem.mdp, &open, budget)? {
                for &state in &members {
                    block_of[state as usize] = blocks;
                }
                collapsed.push((blocks, members));
                blocks += 1;
            }
        }
        let first_single = blocks;
        let mut singles = Vec::new();
        for state in open.iter() {
            let block = &mut block_of[state as usize];
            if *block == NO_BLOCK {
                *block = blocks;
                blocks += 1;
                singles.push(state);
            }
        }
        let mut builder = Builder::new(problem.mdp, known, &block_of);
        builder.mdp.end_state()?;
        for (block, members) in &collapsed {
            budget.poll()?;
            builder.block(*block, members)?;
        }
        for (block, state) in (first_single..).zip(singles) {
            budget.poll()?;
            builder.block(block, &[state])?;
        }
        let (mdp, origin) = (builder.mdp.finish()?, builder.origin);
        let order = components(&Blocks(&mdp), 1..blocks, budget)?;
        Ok(Self { mdp, origin, order, block_of, collapsed })
    }

    /// The block of a state; `None` for states of value 0 and 1, and those that do not matter.
    pub(crate) fn block_of(&self, state: u32) -> Option<u32> {
        Some(self.block_of[state as usize]).filter(|&block| block != NO_BLOCK)
    }

    /// The end components that were collapsed, with their blocks.
    pub(crate) fn collapsed(&self) -> &[(u32, Vec<u32>)] {
        &self.collapsed
    }
}

/// Returns what the initial states reach through states whose value is not known.
fn reachable(
    problem: &Reachability<'_>,
    known: &Qualitative,
    budget: &mut Budget,
) -> Result<StateSet, EngineError> {
    let mdp = problem.mdp;
    let mut found = StateSet::empty(mdp.states());
    let is_known = |state| known.zero.contains(state) || known.one.contains(state);
    let mut stack = Vec::new();
    for &state in problem.initial {
        if !is_known(state) && found.insert(state) {
            stack.push(state);
        }
    }
    while let Some(state) = stack.pop() {
        budget.poll()?;
        for &successor in mdp.all_successors(state) {
            if !is_known(successor) && found.insert(successor) {
                stack.push(successor);
            }
        }
    }
    Ok(found)
}

/// The graph of blocks; the goal has no edges.
struct Blocks<'m>(&'m Mdp);

impl Graph for Blocks<'_> {
    fn nodes(&self) -> usize {
        self.0.states()
    }

    fn edge(&self, node: u32, k: u32) -> Option<Option<u32>> {
        let successor = *self.0.all_successors(node).get(k as usize)?;
        Some((successor != GOAL).then_some(successor))
    }
}

struct Builder<'a> {
    source: &'a Mdp,
    known: &'a Qualitative,
    block_of: &'a [u32],
    mdp: MdpBuilder,
    origin: Vec<u32>,
    /// The distribution in the quotient, by the roles of the entries of the original one.
    remapped: FxHashMap<Box<[u32]>, DistributionId>,
    targets: Vec<u32>,
    key: Vec<u32>,
}

/// Roles of entries: gone, or back to the block itself; later ones are targets by number.
const ZERO: u32 = 0;
const BACK: u32 = 1;
const FIRST_TARGET: u32 = 2;

impl<'a> Builder<'a> {
    fn new(source: &'a Mdp, known: &'a Qualitative, block_of: &'a [u32]) -> Self {
        let mdp = MdpBuilder::with_distributions(source.distributions().clone());
        let (remapped, targets) = (FxHashMap::default(), Vec::new());
        let (origin, key) = (Vec::new(), Vec::new());
        Self { source, known, block_of, mdp, origin, remapped, targets, key }
    }

    /// Adds the choices of a block that can leave it.
    fn block(&mut self, block: u32, members: &[u32]) -> Result<(), EngineError> {
        for &state in members {
            for choice in self.source.choices_of(state) {
                self.choice(block, choice)?;
            }
        }
        self.mdp.end_state()?;
        Ok(())
    }

    fn choice(&mut self, block: u32, choice: u32) -> Result<(), EngineError> {
        let distribution = self.source.distribution(choice);
        self.targets.clear();
        self.key.clear();
        self.key.push(distribution.0);
        let mut unchanged = true;
        for &state in self.source.successors(choice) {
            let role = if self.known.one.contains(state) {
                self.target(GOAL)
            } else if self.known.zero.contains(state) {
                ZERO
            } else {
                match self.block_of[state as usize] {
                    own if own == block => BACK,
                    other => self.target(other),
                }
            };
            unchanged &= role == FIRST_TARGET + index(self.key.len() - 1);
            self.key.push(role);
        }
        let distributions = self.mdp.distributions_mut();
        let distribution = if unchanged {
            distribution
        } else if let Some(&known) = self.remapped.get(&self.key[..]) {
            known
        } else {
            let roles = &self.key[1..];
            let remapped = remap(distributions, distribution, roles, self.targets.len());
            self.remapped.insert(self.key.as_slice().into(), remapped);
            remapped
        };
        // What only comes back can be left out: it is part of an end component.
        if self.targets.is_empty() && self.key[1..].contains(&BACK) {
            let whole = self.source.distributions().is_complete(self.source.distribution(choice));
            if whole && !self.key[1..].contains(&ZERO) {
                return Ok(());
            }
        }
        self.mdp.choice_of(distribution, self.targets.iter().copied())?;
        self.origin.push(choice);
        Ok(())
    }

    /// The role of an entry that leads to another block.
    fn target(&mut self, block: u32) -> u32 {
        let known = self.targets.iter().position(|&target| target == block);
        let at = known.unwrap_or_else(|| {
            self.targets.push(block);
            self.targets.len() - 1
        });
        FIRST_TARGET + index(at)
    }
}

fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The distribution over the targets, given that the choice does not come back.
fn remap(
    distributions: &mut Distributions,
    id: DistributionId,
    roles: &[u32],
    targets: usize,
) -> DistributionId {
    let mut sums = vec![Rational::ZERO; targets];
    let mut back = Rational::ZERO;
    for (&entry, &role) in distributions.entries(id).iter().zip(roles) {
        let p = distributions.value(entry);
        match role {
            ZERO => {}
            BACK => back = &back + p,
            target => {
                let sum = &mut sums[(target - FIRST_TARGET) as usize];
                *sum = &*sum + p;
            }
        }
    }
    let leaves = Rational::ONE - back;
    let entries: Vec<_> = sums
        .iter()
        .map(|sum| {
            // Nothing leaves only where there are no targets.
            let scaled = sum.checked_div(&leaves).unwrap_or(Rational::ZERO);
            distributions.probability(&scaled)
        })
        .collect();
    distributions.distribution(&entries)
}
