//! Bounds from both sides by iteration, component by component, with proved rounding.
//!
//! Both bounds of a state are replaced by the best bounds of its choices as long as that improves
//! them. Each step is sound by itself: the value lies between the bounds whenever the iteration
//! ends. That they meet is due to the collapsed end components (Haddad and Monmege, *Interval
//! iteration algorithm for MDPs and IMDPs*; Baier et al., *Ensuring the reliability of your model
//! checker: interval iteration for MDPs*).

use policert_engine_api::{Budget, StopReason};

use crate::Direction;
use crate::backup::backup;
use crate::exact::exact_component_bounds;
use crate::options::{Method, SolveOptions};
use crate::proved_guess::guess_bounds;
use crate::quotient::{GOAL, Quotient};

/// Sweeps after which it is estimated, each time, how many more a component takes.
const PATIENCE: u32 = 500;
/// Sweeps before the first guess of the values; the next ones wait twice as long each.
const FIRST_GUESS: u64 = 60;
/// A guess is tried if more than this number of sweeps would still be needed.
const GUESS_SWEEPS: f64 = 200.0;
/// Greatest number of transitions of a component that is solved exactly when iteration is slow.
const EXACT_TRANSITIONS: u32 = 20_000;
/// Exact solution takes about as long as this many sweeps times the number of transitions to the
/// power of 0.7: measured on random walks and on randomised consensus.
const EXACT_SWEEPS: f64 = 300.0;
/// Values below this are worth a relative precision.
const SMALL: f64 = 1e-2;
/// Precision of one component below which rounding errors would rule.
const FINEST: f64 = 1e-14;

/// Iterates over the blocks of a quotient.
#[derive(Debug)]
pub(crate) struct IntervalIteration<'q> {
    quotient: &'q Quotient,
    direction: Direction,
    method: Method,
    /// Width that each component may add.
    precision: f64,
    /// By block: bounds of its value.
    pub values: Vec<[f64; 2]>,
    /// By block: the choice that reaches its bound, where that is not the one that looks best;
    /// `u32::MAX` or nothing elsewhere.
    pub choices: Vec<u32>,
    /// Number of times that all states of a component were looked at.
    pub sweeps: u64,
    /// Number of components that were solved exactly.
    pub exact_components: u64,
    /// Number of components whose values were guessed, and proved.
    pub guessed_components: u64,
    /// By block: its position in the component at hand; `u32::MAX` outside a guess.
    position: Vec<u32>,
    /// By block: whether it is in the component at hand.
    inside: Vec<bool>,
    /// Upper bounds of its members before a guess.
    known: Vec<f64>,
}

impl<'q> IntervalIteration<'q> {
    pub(crate) fn new(
        quotient: &'q Quotient,
        direction: Direction,
        options: &SolveOptions,
    ) -> Self {
        let mut values = vec![[0.0, 1.0]; quotient.mdp.states()];
        values[GOAL as usize] = [1.0, 1.0];
        let depth = f64::from(depth(quotient)).max(1.0);
        Self {
            quotient,
            direction,
            method: options.method,
            precision: (0.9 * options.precision / depth).max(FINEST),
            values,
            choices: Vec::new(),
            sweeps: 0,
            exact_components: 0,
            guessed_components: 0,
            position: vec![u32::MAX; quotient.mdp.states()],
            inside: vec![false; quotient.mdp.states()],
            known: Vec::new(),
        }
    }

    /// Solves all components. What was found before a stop stands.
    pub(crate) fn run(&mut self, budget: &mut Budget) -> Result<(), StopReason> {
        let quotient = self.quotient;
        for component in quotient.order.iter() {
            budget.poll()?;
            if let [block] = component {
                self.update(*block);
            } else {
                self.component(component, budget)?;
            }
        }
        Ok(())
    }

    /// Improves the bounds of a block; by how much at most.
    #[inline]
    fn update(&mut self, block: u32) -> f64 {
        let new = backup(&self.quotient.mdp, self.direction, block, &self.values);
        let [lo, hi] = &mut self.values[block as usize];
        let change = (new[0] - *lo).max(*hi - new[1]);
        *lo = lo.max(new[0]);
        *hi = hi.min(new[1]);
        change
    }

    fn component(&mut self, members: &[u32], budget: &mut Budget) -> Result<(), StopReason> {
        let goal_width = self.start_from_border(members) + self.precision;
        let mut next_guess = 1;
        let mut extra_until = None;
        let (mut last_width, exact_cost) = (1.0, self.exact_cost(members));
        let (mut next_proved_guess, mut seen_width) = (FIRST_GUESS, 1.0);
        for sweep in 1u64.. {
            self.sweeps += 1;
            let mut change = 0.0f64;
            for &block in members {
                budget.poll()?;
                change = change.max(self.update(block));
            }
            let (width, greatest) = self.width(members);
            if change <= 0.0 || width <= self.precision * greatest {
                return Ok(());
            }
            if width <= goal_width {
                // Small values deserve a few sweeps more.
                let until = *extra_until.get_or_insert(2 * sweep + 50);
                if greatest > SMALL || sweep >= until {
                    return Ok(());
                }
            }
            if self.method == Method::Optimistic && sweep >= next_guess {
                next_guess = 2 * sweep;
                self.guess_upper_bounds(members, 0.95 * goal_width, sweep, budget)?;
            }
            if sweep == next_proved_guess / 2 {
                seen_width = width;
            } else if sweep == next_proved_guess {
                let window = sweep - sweep / 2;
                let more = remaining_sweeps(window, seen_width, width, goal_width);
                next_proved_guess *= 2;
                seen_width = width;
                if more > GUESS_SWEEPS && self.guess(members, budget)? {
                    self.guessed_components += 1;
                    return Ok(());
                }
            }
            if !sweep.is_multiple_of(PATIENCE.into()) {
                continue;
            }
            let more = remaining_sweeps(PATIENCE.into(), last_width, width, goal_width);
            last_width = width;
            if exact_cost.is_some_and(|cost| more > cost) {
                self.exact_components += 1;
                let solved = exact_component_bounds(
                    &self.quotient.mdp,
                    self.direction,
                    members,
                    &self.values,
                    budget,
                )?;
                let Some(solved) = solved else { continue };
                self.choices.resize(self.values.len(), u32::MAX);
                for (&block, ([lo, hi], choice)) in members.iter().zip(solved) {
                    let value = &mut self.values[block as usize];
                    *value = [value[0].max(lo), value[1].min(hi)];
                    self.choices[block as usize] = choice;
                }
                return Ok(());
            }
        }
        Ok(())
    }

    /// Guesses the values of a component; whether that gave bounds as narrow as asked for.
    fn guess(&mut self, members: &[u32], budget: &mut Budget) -> Result<bool, StopReason> {
        let (mdp, direction) = (&self.quotient.mdp, self.direction);
        let Self { values, position, precision, .. } = self;
        guess_bounds(mdp, direction, members, values, position, *precision, budget)
    }

    /// The widest bounds, and the greatest upper bound.
    fn width(&self, members: &[u32]) -> (f64, f64) {
        members.iter().fold((0.0f64, 0.0f64), |(width, greatest), &block| {
            let [lo, hi] = self.values[block as usize];
            (width.max(hi - lo), greatest.max(hi))
        })
    }

    /// The values of a component are means of those of the blocks that it leads to, if nothing is
    /// lost: every scheduler leaves it with probability 1. Returns the widest bounds there.
    fn start_from_border(&mut self, members: &[u32]) -> f64 {
        let mdp = &self.quotient.mdp;
        for &block in members {
            self.inside[block as usize] = true;
        }
        let (mut lo, mut hi, mut width) = (1.0f64, 0.0f64, 0.0f64);
        for &block in members {
            for choice in mdp.choices_of(block) {
                if !mdp.distributions().is_complete(mdp.distribution(choice)) {
                    lo = 0.0;
                }
                for &to in mdp.successors(choice) {
                    if !self.inside[to as usize] {
                        let value = self.values[to as usize];
                        (lo, hi) = (lo.min(value[0]), hi.max(value[1]));
                        width = width.max(value[1] - value[0]);
                    }
                }
            }
        }
        for &block in members {
            self.inside[block as usize] = false;
            self.values[block as usize] = [lo.min(hi), hi];
        }
        width
    }

    /// Returns how many sweeps an exact solution is worth; `None` for large components.
    fn exact_cost(&self, members: &[u32]) -> Option<f64> {
        let mdp = &self.quotient.mdp;
        let transitions = members.iter().map(|&block| mdp.all_successors(block).len());
        let transitions = u32::try_from(transitions.sum::<usize>()).ok()?;
        (transitions <= EXACT_TRANSITIONS).then(|| EXACT_SWEEPS * f64::from(transitions).powf(0.7))
    }

    /// Guesses upper bounds this much above the lower ones, and iterates from there for this many
    /// sweeps. If one raises none of them, what it ends with does not grow under Bellman's
    /// operator, and is an upper bound (Hartmanns and Kaminski, *Optimistic value iteration*).
    fn guess_upper_bounds(
        &mut self,
        members: &[u32],
        above: f64,
        sweeps: u64,
        budget: &mut Budget,
    ) -> Result<(), StopReason> {
        self.known.clear();
        for &block in members {
            let [lo, hi] = &mut self.values[block as usize];
            self.known.push(*hi);
            *hi = hi.min(*lo + above);
        }
        for _ in 0..sweeps {
            self.sweeps += 1;
            let mut raised = false;
            for &block in members {
                if let Err(stop) = budget.poll() {
                    self.restore(members);
                    return Err(stop);
                }
                let [_, new] = backup(&self.quotient.mdp, self.direction, block, &self.values);
                let hi = &mut self.values[block as usize][1];
                raised |= new > *hi;
                *hi = new;
            }
            if !raised {
                for (&block, &known) in members.iter().zip(&self.known) {
                    let hi = &mut self.values[block as usize][1];
                    *hi = hi.min(known);
                }
                return Ok(());
            }
        }
        self.restore(members);
        Ok(())
    }

    /// The upper bounds before a guess.
    fn restore(&mut self, members: &[u32]) {
        for (&block, &hi) in members.iter().zip(&self.known) {
            self.values[block as usize][1] = hi;
        }
    }
}

/// Returns how many sweeps it takes until bounds of some width are as narrow as asked for, by their
/// widths before and after some sweeps. Only an estimate.
fn remaining_sweeps(sweeps: u64, before: f64, width: f64, goal: f64) -> f64 {
    let rate = (width / before).ln();
    if rate >= 0.0 {
        return f64::INFINITY;
    }
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let sweeps = sweeps as f64;
    sweeps * (goal / width).ln() / rate
}

/// The greatest number of components of several blocks that follow each other.
fn depth(quotient: &Quotient) -> u32 {
    let mut depths = vec![0u32; quotient.mdp.states()];
    let mut greatest = 0;
    for component in quotient.order.iter() {
        let successors = component.iter().flat_map(|&block| quotient.mdp.all_successors(block));
        let before = successors.map(|&block| depths[block as usize]).max().unwrap_or(0);
        let depth = before + u32::from(component.len() > 1);
        for &block in component {
            depths[block as usize] = depth;
        }
        greatest = greatest.max(depth);
    }
    greatest
}
