//! Bounds of a slow component by a guess: policy iteration in doubles, and a proof by one step.
//!
//! The values of a policy solve x = P x + b. A guess of them is moved outwards by δ t, where t is about the
//! expected number of steps until the component is left: then every choice that counts loses at least δ in a step, which
//! outweighs the errors of the guess. That bounds do not get worse in a step is checked with outward
//! rounding; every scheduler of a quotient ends, so this proves them.

mod krylov;

use policert_engine_api::{Budget, StopReason};

use crate::backup::backup;
use crate::{Direction, Mdp};
use krylov::{Accuracy, Rows};

/// Rounds of policy iteration before it counts as failed.
const MOST_ROUNDS: u32 = 100;
/// Improvements below this are rounding errors.
const SLIGHTEST: f64 = 1e-15;
/// Sweeps of value iteration between two evaluations, so that better choices spread.
const SWEEPS: u32 = 10;
/// The least amount by which every choice must lower the number of steps.
const PART: f64 = 0.2;

/// Raises lower bounds and lowers upper bounds of the members of a component; what is not proved
/// stays as it was. `position` is `u32::MAX` everywhere, and is left so. Whether the bounds are at most
/// `added` wider than those of what the component leads to.
pub(crate) fn guess_bounds(
    mdp: &Mdp,
    direction: Direction,
    members: &[u32],
    values: &mut [[f64; 2]],
    position: &mut [u32],
    added: f64,
    budget: &mut Budget,
) -> Result<bool, StopReason> {
    for (i, &block) in (0u32..).zip(members) {
        position[block as usize] = i;
    }
    let component = Component::new(mdp, members, values, position);
    for &block in members {
        position[block as usize] = u32::MAX;
    }
    let mut proved = true;
    for side in [0, 1] {
        // One scheduler has to reach a lower bound of the greatest value; the other bound holds
        // for all of them.
        let one_suffices = (side == 0) == (direction == Direction::Max);
        let Some(guess) = component.guess(direction, side, one_suffices, values, added, budget)?
        else {
            return Ok(false);
        };
        let mut tries = guess.distances(added / 2.0);
        proved &= tries.any(|distance| {
            let bounds = guess.moved(distance, side);
            prove(mdp, direction, members, values, &bounds, side)
        });
    }
    Ok(proved)
}

/// Takes bounds over if a step shows that they are ones.
fn prove(
    mdp: &Mdp,
    direction: Direction,
    members: &[u32],
    values: &mut [[f64; 2]],
    bounds: &[f64],
    side: usize,
) -> bool {
    let known: Vec<f64> = members.iter().map(|&block| values[block as usize][side]).collect();
    for (&block, &bound) in members.iter().zip(bounds) {
        values[block as usize][side] = bound;
    }
    let is_proved = members.iter().zip(bounds).all(|(&block, &bound)| {
        let after = backup(mdp, direction, block, values)[side];
        if side == 0 { after >= bound } else { after <= bound }
    });
    for (&block, &before) in members.iter().zip(&known) {
        let value = &mut values[block as usize][side];
        *value = match (is_proved, side) {
            (false, _) => before,
            (true, 0) => value.max(before),
            (true, _) => value.min(before),
        };
    }
    is_proved
}

/// The choices of a component over positions of its members.
struct Component<'a> {
    mdp: &'a Mdp,
    members: &'a [u32],
    /// By member, and one more: its first choice.
    starts: Vec<usize>,
    /// By choice: where it leads inside.
    rows: Rows,
    /// By choice: what it gets from outside, by the lower and the upper bounds there.
    constants: Vec<[f64; 2]>,
}

/// A guess: values, steps until the end, and how far the values are from a solution.
struct Guess {
    values: Vec<f64>,
    steps: Vec<f64>,
    error: f64,
}

impl Guess {
    /// Distances that may suffice for a proof, the least first.
    fn distances(&self, added: f64) -> impl Iterator<Item = f64> + use<> {
        let longest = self.steps.iter().fold(1.0f64, |a, &b| a.max(b));
        let first = (4.0 * self.error).max(1e-16);
        let next = |distance: &f64| Some(8.0 * distance);
        std::iter::successors(Some(first), next).take_while(move |d| d * longest <= added)
    }

    fn moved(&self, distance: f64, side: usize) -> Vec<f64> {
        let pairs = self.values.iter().zip(&self.steps);
        if side == 0 {
            pairs.map(|(x, t)| (x - distance * t).clamp(0.0, 1.0)).collect()
        } else {
            pairs.map(|(x, t)| (x + distance * t).clamp(0.0, 1.0)).collect()
        }
    }
}

impl<'a> Component<'a> {
    fn new(mdp: &'a Mdp, members: &'a [u32], values: &[[f64; 2]], position: &[u32]) -> Self {
        let (mut starts, mut rows) = (vec![0], Rows::default());
        let mut constants = Vec::new();
        for &block in members {
            for choice in mdp.choices_of(block) {
                let mut constant = [0.0, 0.0];
                let bounds = mdp.distributions().bounds(mdp.distribution(choice));
                for (&to, p) in mdp.successors(choice).iter().zip(bounds) {
                    match position[to as usize] {
                        u32::MAX => {
                            let [lo, hi] = values[to as usize];
                            constant[0] += p[0] * lo;
                            constant[1] += p[1] * hi;
                        }
                        at => rows.entries.push((at, p[0])),
                    }
                }
                rows.ends.push(rows.entries.len());
                constants.push(constant);
            }
            starts.push(constants.len());
        }
        Self { mdp, members, starts, rows, constants }
    }

    /// Values by the bounds of one side outside; and the expected numbers of steps, those of the
    /// same policy or the greatest ones.
    fn guess(
        &self,
        direction: Direction,
        side: usize,
        one_suffices: bool,
        values: &[[f64; 2]],
        added: f64,
        budget: &mut Budget,
    ) -> Result<Option<Guess>, StopReason> {
        let mut policy: Vec<usize> = self.first_policy(direction, values);
        let mut x: Vec<f64> = self.members.iter().map(|&b| values[b as usize][side]).collect();
        let reward = |choice: usize| self.constants[choice][side];
        let mut steps = vec![1.0; x.len()];
        if !self.evaluate(&policy, &mut steps, &|_| 1.0, Accuracy::Rough, budget)? {
            return Ok(None);
        }
        let longest = steps.iter().fold(1.0f64, |a, &b| a.max(b));
        let slight = (added / (100.0 * longest)).max(SLIGHTEST);
        if !self.improve(direction, &mut policy, &mut x, &reward, slight, budget)? {
            return Ok(None);
        }
        let counted = if one_suffices {
            self.evaluate(&policy, &mut steps, &|_| 1.0, Accuracy::Fine, budget)?
        } else {
            self.count_steps(&mut policy.clone(), &mut steps, budget)?
        };
        if !counted || steps.iter().chain(&x).any(|value| !value.is_finite()) {
            return Ok(None);
        }
        let error = self.error(direction, &policy, &x, &reward);
        Ok(Some(Guess { values: x, steps, error }))
    }

    /// The choices that look best by bounds.
    fn first_policy(&self, direction: Direction, values: &[[f64; 2]]) -> Vec<usize> {
        let mut policy = Vec::with_capacity(self.members.len());
        for (&block, pair) in self.members.iter().zip(self.starts.windows(2)) {
            let mut best: Option<(f64, usize)> = None;
            for (choice, at) in self.mdp.choices_of(block).zip(pair[0]..pair[1]) {
                let [lo, hi] = self.mdp.mean(choice, values);
                let middle = lo / 2.0 + hi / 2.0;
                if best.is_none_or(|(value, _)| direction.is_better(&middle, &value)) {
                    best = Some((middle, at));
                }
            }
            policy.push(best.map_or(pair[0], |(_, at)| at));
        }
        policy
    }

    /// Policy iteration; whether it ended with choices that no other improves by more than
    /// `slight`.
    fn improve(
        &self,
        direction: Direction,
        policy: &mut [usize],
        x: &mut [f64],
        reward: &dyn Fn(usize) -> f64,
        slight: f64,
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        let mut accuracy = Accuracy::Rough;
        for _ in 0..MOST_ROUNDS {
            if !self.evaluate(policy, x, reward, accuracy, budget)? {
                return Ok(false);
            }
            let gain = self.better_choices(direction, policy, x, reward);
            if gain <= slight && accuracy == Accuracy::Fine {
                return Ok(true);
            }
            accuracy = if gain > slight { Accuracy::Rough } else { Accuracy::Fine };
            for _ in 0..SWEEPS {
                self.better_choices(direction, policy, x, reward);
            }
        }
        Ok(false)
    }

    /// Takes the best choices and their values, one state after the other; by how much a value
    /// changed at most.
    fn better_choices(
        &self,
        direction: Direction,
        policy: &mut [usize],
        x: &mut [f64],
        reward: &dyn Fn(usize) -> f64,
    ) -> f64 {
        let mut greatest = 0.0f64;
        for (i, own) in policy.iter_mut().enumerate() {
            let before = x[i];
            let taken = *own;
            let mut best = self.rows.mean(taken, x) + reward(taken);
            for choice in (self.starts[i]..self.starts[i + 1]).filter(|&choice| choice != taken) {
                let value = self.rows.mean(choice, x) + reward(choice);
                if direction.is_better(&value, &best) {
                    (best, *own) = (value, choice);
                }
            }
            x[i] = best;
            greatest = greatest.max((best - before).abs());
        }
        greatest
    }

    /// Returns how much a step changes the values: one of the policy, or a better one.
    fn error(
        &self,
        direction: Direction,
        policy: &[usize],
        x: &[f64],
        reward: &dyn Fn(usize) -> f64,
    ) -> f64 {
        let mut greatest = 0.0f64;
        for (i, &own) in policy.iter().enumerate() {
            for choice in self.starts[i]..self.starts[i + 1] {
                let value = self.rows.mean(choice, x) + reward(choice);
                if choice == own || direction.is_better(&value, &x[i]) {
                    greatest = greatest.max((value - x[i]).abs());
                }
            }
        }
        greatest
    }

    /// Numbers of steps that every choice lowers by a part of a step at least; whether they were
    /// found.
    fn count_steps(
        &self,
        policy: &mut [usize],
        steps: &mut [f64],
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        for _ in 0..MOST_ROUNDS {
            if !self.evaluate(policy, steps, &|_| 1.0, Accuracy::Rough, budget)? {
                return Ok(false);
            }
            let mut pairs = steps.iter().zip(self.starts.windows(2));
            if pairs.all(|(now, pair)| {
                (pair[0]..pair[1]).all(|choice| now - self.rows.mean(choice, steps) >= PART)
            }) {
                return Ok(true);
            }
            self.better_choices(Direction::Max, policy, steps, &|_| 1.0);
        }
        Ok(false)
    }

    /// The values of a policy, from a guess of them; whether they are about a solution.
    fn evaluate(
        &self,
        policy: &[usize],
        x: &mut [f64],
        reward: &dyn Fn(usize) -> f64,
        accuracy: Accuracy,
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        let constants: Vec<f64> = policy.iter().map(|&choice| reward(choice)).collect();
        krylov::solve(&self.rows.of(policy), &constants, x, accuracy, budget)
    }
}
