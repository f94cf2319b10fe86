//! The greatest probability of reaching a target, on the fly: labelled real-time dynamic
//! programming with elimination of traps (LRTDP, Bonet and Geffner 2003; FRET, Kolobov et al. 2011).
//!
//! Trials follow the choice with the best upper bound; states from which all that is followed is
//! consistent are labelled as solved. Then end components among these choices that avoid the target
//! (traps), where upper bounds would stay too high for ever, become one block each, and the search
//! goes on. Lower bounds are kept besides: the result is an interval, whatever stops the search.

use policert_engine_api::{Budget, EngineError, ProbabilityBounds, StopReason};

use crate::fragment::Fragment;
use crate::implicit::{ImplicitMdp, Standing};
use crate::traps::traps;

/// Holds what the search on the fly found.
#[derive(Clone, PartialEq, Debug)]
pub struct OnTheFly {
    /// Bounds of the greatest probability from an initial state; without any, 0.
    pub bounds: ProbabilityBounds,
    /// By state: bounds of its greatest probability.
    pub values: Vec<[f64; 2]>,
    /// The reason why it ended early; the bounds stand nevertheless.
    pub stopped: Option<StopReason>,
    /// States that were named.
    pub states: usize,
    /// States that were expanded.
    pub expanded: u64,
    /// Trials.
    pub trials: u64,
    /// Backups.
    pub backups: u64,
    /// Traps that were eliminated.
    pub traps: u64,
}

/// Bounds the greatest probability of reaching the target, by an interval of width `precision`.
///
/// # Errors
/// Fails if the MDP is invalid. A stop of the budget is not an error.
pub fn max_probability(
    mdp: &mut impl ImplicitMdp,
    precision: f64,
    budget: &mut Budget,
) -> Result<OnTheFly, EngineError> {
    let mut search = LrtdpSearch {
        mdp,
        fragment: Fragment::default(),
        solved: crate::StateSet::default(),
        initial: Vec::new(),
        precision,
        consistent: precision / 10.0,
        trials: 0,
        traps: 0,
        seen: Marks::default(),
    };
    let stopped = match search.run(budget) {
        Ok(()) => None,
        Err(EngineError::Stop(reason)) => Some(reason),
        Err(error) => return Err(error),
    };
    Ok(OnTheFly {
        // Before all initial states are known, nothing is.
        bounds: match (search.initial.is_empty(), stopped) {
            (true, Some(_)) => ProbabilityBounds::unknown(),
            _ => ProbabilityBounds::of_floats(search.value()),
        },
        values: (0..u32::try_from(search.fragment.states()).unwrap_or(u32::MAX))
            .map(|state| search.fragment.value(state))
            .collect(),
        stopped,
        states: search.fragment.states(),
        expanded: search.fragment.expansions,
        trials: search.trials,
        backups: search.fragment.backups,
        traps: search.traps,
    })
}

struct LrtdpSearch<'a, M> {
    mdp: &'a mut M,
    fragment: Fragment,
    /// By leader.
    solved: crate::StateSet,
    initial: Vec<u32>,
    precision: f64,
    /// The greatest amount by which a backup may lower an upper bound that counts as consistent.
    consistent: f64,
    trials: u64,
    traps: u64,
    seen: Marks,
}

/// Marks of states, all wiped out at once.
#[derive(Debug, Default)]
struct Marks {
    round: u32,
    by_state: Vec<u32>,
}

impl Marks {
    fn wipe(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.by_state.clear();
            self.round = 1;
        }
    }

    /// Marks a state; whether it was not.
    fn insert(&mut self, state: u32) -> bool {
        let at = state as usize;
        if self.by_state.len() <= at {
            self.by_state.resize(at + 1, 0);
        }
        std::mem::replace(&mut self.by_state[at], self.round) != self.round
    }

    fn contains(&self, state: u32) -> bool {
        self.by_state.get(state as usize).is_some_and(|&round| round == self.round)
    }
}

/// Below this, consistency is left to rounding errors.
const FINEST: f64 = 1e-14;

impl<M: ImplicitMdp> LrtdpSearch<'_, M> {
    fn run(&mut self, budget: &mut Budget) -> Result<(), EngineError> {
        let initial = self.mdp.initial_states(budget)?;
        for &state in &initial {
            self.fragment.register(self.mdp, state, budget)?;
        }
        self.initial = initial;
        loop {
            for at in 0..self.initial.len() {
                self.solve(self.initial[at], budget)?;
            }
            let found = traps(&self.fragment, &self.initial, budget)?;
            if !found.is_empty() {
                self.traps += found.len() as u64;
                for trap in &found {
                    self.fragment.collapse(trap);
                }
                self.solved = crate::StateSet::empty(self.fragment.states());
                continue;
            }
            if self.is_narrow() {
                return Ok(());
            }
            // Consistent upper bounds, and lower ones still far: solve what was built.
            let before = self.fragment.expansions;
            let initial = self.initial.clone();
            self.fragment.solve(&initial, self.precision / 2.0, budget)?;
            if self.is_narrow() {
                return Ok(());
            }
            self.solved = crate::StateSet::empty(self.fragment.states());
            self.consistent = (self.consistent / 10.0).max(FINEST);
            for at in 0..self.initial.len() {
                self.solve(self.initial[at], budget)?;
            }
            if self.fragment.expansions == before && self.consistent <= FINEST {
                return Ok(());
            }
        }
    }

    /// Bounds of the best initial state.
    fn value(&self) -> [f64; 2] {
        self.initial.iter().fold([0.0, 0.0], |best, &state| {
            let [lo, hi] = self.fragment.value(state);
            [f64::max(best[0], lo), f64::max(best[1], hi)]
        })
    }

    fn is_narrow(&self) -> bool {
        let [lo, hi] = self.value();
        hi - lo <= self.precision
    }

    /// Trials from a state until it is solved.
    fn solve(&mut self, state: u32, budget: &mut Budget) -> Result<(), EngineError> {
        while !self.is_solved(state) {
            budget.poll_clock()?;
            self.trial(state, budget)?;
        }
        Ok(())
    }

    /// Returns whether nothing more is to be done in a state.
    fn is_solved(&self, state: u32) -> bool {
        let leader = self.fragment.find(state);
        let [lo, hi] = self.fragment.value(leader);
        self.solved.contains(leader) || lo >= hi
    }

    /// Expands a block's leader and improves its bounds; the best choice, and how much the upper
    /// bound fell.
    fn visit(
        &mut self,
        leader: u32,
        budget: &mut Budget,
    ) -> Result<(Option<u32>, f64), EngineError> {
        budget.poll()?;
        if self.fragment.register(self.mdp, leader, budget)? == Standing::Open {
            self.fragment.expand(self.mdp, leader, budget)?;
            return Ok(self.fragment.backup(leader));
        }
        Ok((None, 0.0))
    }

    /// Follows the best choice, and of its outcomes the one that leaves most open; then improves
    /// backwards.
    fn trial(&mut self, start: u32, budget: &mut Budget) -> Result<(), EngineError> {
        self.trials += 1;
        let mut path: Vec<u32> = Vec::new();
        self.seen.wipe();
        let mut at = self.fragment.find(start);
        while !self.is_solved(at) && self.seen.insert(at) {
            path.push(at);
            let (greedy, _) = self.visit(at, budget)?;
            let next = greedy.and_then(|choice| self.most_open(choice, at));
            let Some(next) = next else { break };
            at = next;
        }
        while let Some(leader) = path.pop() {
            if !self.check_solved(leader, budget)? {
                break;
            }
        }
        for &leader in path.iter().rev() {
            self.visit(leader, budget)?;
        }
        Ok(())
    }

    /// The outcome of a choice that leaves most open, among those that are new to the trial.
    fn most_open(&self, choice: u32, leader: u32) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for (&to, p) in
            self.fragment.successors(choice).iter().zip(self.fragment.probabilities(choice))
        {
            let to = self.fragment.find(to);
            let [lo, hi] = self.fragment.value(to);
            let open = p * (hi - lo);
            let is_new = to != leader && !self.seen.contains(to) && !self.is_solved(to);
            if is_new && best.is_none_or(|(most, _)| open > most) {
                best = Some((open, to));
            }
        }
        best.map(|(_, to)| to)
    }

    /// Returns whether all that best choices lead to is consistent; labels it as solved if so, and
    /// improves it if not.
    fn check_solved(&mut self, start: u32, budget: &mut Budget) -> Result<bool, EngineError> {
        let mut consistent = true;
        let mut closed: Vec<u32> = Vec::new();
        self.seen.wipe();
        self.seen.insert(start);
        let mut stack = vec![start];
        while let Some(leader) = stack.pop() {
            if self.is_solved(leader) {
                continue;
            }
            closed.push(leader);
            let (greedy, fell) = self.visit(leader, budget)?;
            if fell > self.consistent {
                consistent = false;
                continue;
            }
            for &to in greedy.iter().flat_map(|&choice| self.fragment.successors(choice)) {
                let to = self.fragment.find(to);
                if self.seen.insert(to) {
                    stack.push(to);
                }
            }
        }
        if consistent {
            for leader in closed {
                self.solved.insert(leader);
            }
        } else {
            for &leader in closed.iter().rev() {
                self.visit(leader, budget)?;
            }
        }
        Ok(consistent)
    }
}
