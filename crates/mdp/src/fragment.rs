//! The part of an implicit MDP that was built so far, with bounds of its values.

use policert_engine_api::{Budget, EngineError};
use policert_numeric::round::{div_down, div_up, sub_down, sub_up};

use crate::distribution::{DistributionId, Distributions};
use crate::implicit::{Choices, ImplicitMdp, Standing};
use crate::mdp::{Mdp, MdpBuilder};
use crate::options::SolveOptions;
use crate::problem::{Direction, Reachability};
use crate::solve::{Solution, solve};
use crate::{MdpError, StateSet};

/// States, choices and bounds; end components that were found are one block each.
#[derive(Debug, Default)]
pub(crate) struct Fragment {
    /// By state: the state that stands for its block, by way of others.
    leader: Vec<u32>,
    standing: Vec<Option<Standing>>,
    expanded: StateSet,
    /// By leader: the choices of its block that may leave it.
    choices: Vec<Vec<u32>>,
    /// By choice, and one more: its first successor.
    starts: Vec<usize>,
    distribution: Vec<DistributionId>,
    successors: Vec<u32>,
    distributions: Distributions,
    /// By leader.
    values: Vec<[f64; 2]>,
    buffer: Choices,
    /// Number of states that were expanded.
    pub expansions: u64,
    /// Number of backups.
    pub backups: u64,
}

impl Fragment {
    /// Makes room for a state, and asks how it stands.
    pub(crate) fn register(
        &mut self,
        mdp: &mut impl ImplicitMdp,
        state: u32,
        budget: &mut Budget,
    ) -> Result<Standing, EngineError> {
        let at = state as usize;
        while self.leader.len() <= at {
            self.leader.push(u32::try_from(self.leader.len()).map_err(|_| MdpError::TooLarge)?);
            self.standing.push(None);
            self.choices.push(Vec::new());
            self.values.push([0.0, 1.0]);
        }
        if let Some(standing) = self.standing[at] {
            return Ok(standing);
        }
        let standing = mdp.standing(state, budget)?;
        self.standing[at] = Some(standing);
        self.values[at] = match standing {
            Standing::Target => [1.0, 1.0],
            Standing::Failed => [0.0, 0.0],
            Standing::Open => [0.0, mdp.upper_bound(state).clamp(0.0, 1.0)],
        };
        Ok(standing)
    }

    /// Expands an open state, if it was not.
    pub(crate) fn expand(
        &mut self,
        mdp: &mut impl ImplicitMdp,
        state: u32,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        if self.is_expanded(state) {
            return Ok(());
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let expanded = mdp.expand(state, &mut buffer, budget);
        let stored = expanded.and_then(|()| self.store(mdp, state, &buffer, budget));
        self.buffer = buffer;
        stored
    }

    fn store(
        &mut self,
        mdp: &mut impl ImplicitMdp,
        state: u32,
        choices: &Choices,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        for outcomes in choices.iter() {
            for (to, _) in outcomes {
                self.register(mdp, *to, budget)?;
            }
        }
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        for outcomes in choices.iter() {
            let positive = outcomes.iter().filter(|(_, p)| !p.is_zero());
            let entries: Vec<_> =
                positive.clone().map(|(_, p)| self.distributions.probability(p)).collect();
            self.successors.extend(positive.map(|(to, _)| *to));
            self.starts.push(self.successors.len());
            let choice = u32::try_from(self.distribution.len()).map_err(|_| MdpError::TooLarge)?;
            self.distribution.push(self.distributions.distribution(&entries));
            self.choices[state as usize].push(choice);
        }
        self.expanded.insert(state);
        self.expansions += 1;
        budget.check_states(self.leader.len())?;
        Ok(())
    }

    /// Returns whether the choices of a state are known.
    pub(crate) fn is_expanded(&self, state: u32) -> bool {
        self.expanded.contains(state)
    }

    /// Number of states named so far.
    pub(crate) fn states(&self) -> usize {
        self.leader.len()
    }

    /// The state that stands for the block of a state.
    #[inline]
    pub(crate) fn find(&self, state: u32) -> u32 {
        let mut at = state;
        while self.leader[at as usize] != at {
            at = self.leader[at as usize];
        }
        at
    }

    /// Bounds of the value of a state.
    pub(crate) fn value(&self, state: u32) -> [f64; 2] {
        self.values[self.find(state) as usize]
    }

    /// The choices of a block that may leave it.
    pub(crate) fn choices(&self, leader: u32) -> &[u32] {
        &self.choices[leader as usize]
    }

    /// The successors of a choice.
    pub(crate) fn successors(&self, choice: u32) -> &[u32] {
        let choice = choice as usize;
        &self.successors[self.starts[choice]..self.starts[choice + 1]]
    }

    /// Returns whether a choice can neither leave a block nor lose anything.
    pub(crate) fn stays(&self, choice: u32, leader: u32) -> bool {
        self.distributions.is_complete(self.distribution[choice as usize])
            && self.successors(choice).iter().all(|&to| self.find(to) == leader)
    }

    /// Bounds of the value of a choice, given that it does not come back to its block.
    pub(crate) fn mean(&self, choice: u32, leader: u32) -> [f64; 2] {
        let id = self.distribution[choice as usize];
        let mut back = [0.0f64; 2];
        let values = self.successors(choice).iter().zip(self.distributions.bounds(id));
        let values = values.map(|(&to, p)| match self.find(to) {
            own if own == leader => {
                back = [back[0] + p[0], back[1] + p[1]];
                [0.0, 0.0]
            }
            other => self.values[other as usize],
        });
        let values: Vec<[f64; 2]> = values.collect();
        let [lo, hi] = self.distributions.mean_of(id, &values);
        if back[1] <= 0.0 {
            return [lo, hi];
        }
        // More than what the roundings of a sum of so few numbers make.
        let slack = 1e-15 * f64::from(u32::try_from(values.len()).unwrap_or(u32::MAX));
        let leaves = [
            sub_down(1.0, back[1] * (1.0 + slack) + slack),
            sub_up(1.0, (back[0] * (1.0 - slack) - slack).max(0.0)),
        ];
        let hi = if leaves[0] > 0.0 { div_up(hi, leaves[0]).min(1.0) } else { 1.0 };
        [div_down(lo, leaves[1]).clamp(0.0, 1.0), hi]
    }

    /// Returns whether nothing of a choice is lost.
    pub(crate) fn is_complete(&self, choice: u32) -> bool {
        self.distributions.is_complete(self.distribution[choice as usize])
    }

    /// Lower bounds of the probabilities of a choice's outcomes.
    pub(crate) fn probabilities(&self, choice: u32) -> impl Iterator<Item = f64> + '_ {
        self.distributions.bounds(self.distribution[choice as usize]).iter().map(|p| p[0])
    }

    /// The choice of a block with the best upper bound.
    pub(crate) fn best_choice(&self, leader: u32) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for &choice in self.choices(leader) {
            let [_, hi] = self.mean(choice, leader);
            if !self.stays(choice, leader) && best.is_none_or(|(most, _)| hi > most) {
                best = Some((hi, choice));
            }
        }
        best.map(|(_, choice)| choice)
    }

    /// Improves the bounds of a block; the choice that looks best and how much the upper bound fell.
    pub(crate) fn backup(&mut self, leader: u32) -> (Option<u32>, f64) {
        self.backups += 1;
        let mut best = [0.0f64, 0.0];
        let mut greedy = None;
        for &choice in self.choices(leader) {
            if self.stays(choice, leader) {
                continue;
            }
            let [lo, hi] = self.mean(choice, leader);
            best[0] = best[0].max(lo);
            if greedy.is_none() || hi > best[1] {
                best[1] = hi;
                greedy = Some(choice);
            }
        }
        let value = &mut self.values[leader as usize];
        let fell = value[1] - best[1];
        *value = [value[0].max(best[0]), value[1].min(best[1])];
        (greedy, fell)
    }

    /// Makes one block of an end component, given by the leaders of its blocks.
    pub(crate) fn collapse(&mut self, leaders: &[u32]) {
        let Some((&first, rest)) = leaders.split_first() else { return };
        for &leader in rest {
            self.leader[leader as usize] = first;
            let choices = std::mem::take(&mut self.choices[leader as usize]);
            self.choices[first as usize].extend(choices);
            let [lo, hi] = self.values[leader as usize];
            let value = &mut self.values[first as usize];
            // All have one value: each bound of one is a bound of all.
            *value = [value[0].max(lo), value[1].min(hi)];
        }
        let mut choices = std::mem::take(&mut self.choices[first as usize]);
        choices.retain(|&choice| !self.stays(choice, first));
        self.choices[first as usize] = choices;
    }

    /// Bounds of all values of what was built, where states that were not expanded count as failed
    /// for the lower bounds and as in the target for the upper ones; they improve the bounds here.
    pub(crate) fn solve(
        &mut self,
        initial: &[u32],
        precision: f64,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        let mdp = self.explicit()?;
        let states = self.states();
        let all = || 0..u32::try_from(states).unwrap_or(u32::MAX);
        let stands = |state: &u32, standing| self.standing[*state as usize] == Some(standing);
        let target = StateSet::of(states, all().filter(|s| stands(s, Standing::Target)));
        let avoid = StateSet::of(states, all().filter(|s| stands(s, Standing::Failed)));
        let mut optimistic = target.clone();
        let mut pessimistic = avoid.clone();
        for state in all().filter(|&s| !target.contains(s) && !avoid.contains(s)) {
            if !self.is_expanded(state) {
                optimistic.insert(state);
                pessimistic.insert(state);
            }
        }
        let options = SolveOptions { precision, ..SolveOptions::default() };
        let direction = Direction::Max;
        let problem =
            Reachability { mdp: &mdp, initial, target: &optimistic, avoid: &avoid, direction };
        let upper = solve(&problem, &options, budget)?;
        let problem = Reachability { target: &target, avoid: &pessimistic, ..problem };
        let lower = solve(&problem, &options, budget)?;
        for state in all() {
            self.improve(state, &lower, &upper);
        }
        upper.stopped.or(lower.stopped).map_or(Ok(()), |reason| Err(reason.into()))
    }

    fn improve(&mut self, state: u32, lower: &Solution, upper: &Solution) {
        let leader = self.find(state) as usize;
        let lo = lower.bounds(state).lo.to_f64_interval().0;
        let hi = upper.bounds(state).hi.to_f64_interval().1;
        let value = &mut self.values[leader];
        *value = [value[0].max(lo), value[1].min(hi)];
    }

    /// Returns what was built as an explicit MDP, without blocks.
    fn explicit(&self) -> Result<Mdp, MdpError> {
        let mut owned: Vec<Vec<u32>> = vec![Vec::new(); self.states()];
        for (leader, choices) in self.choices.iter().enumerate() {
            owned[leader].extend(choices);
        }
        let mut builder = MdpBuilder::with_distributions(self.distributions.clone());
        for (state, choices) in (0u32..).zip(&owned) {
            let leader = self.find(state);
            if leader != state {
                // A member of a block is as good as its leader.
                let one = builder.probability(&policert_numeric::Rational::ONE);
                builder.choice(&[(leader, one)])?;
            }
            for &choice in choices {
                let entries = self.distributions.entries(self.distribution[choice as usize]);
                let outcomes: Vec<_> =
                    self.successors(choice).iter().copied().zip(entries.iter().copied()).collect();
                builder.choice(&outcomes)?;
            }
            builder.end_state()?;
        }
        builder.finish()
    }
}
