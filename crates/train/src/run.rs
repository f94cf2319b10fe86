//! Runs of a plant: rewards for learning, and how a network does from many start states.

use policert_engine_api::{Budget, StopReason};

use crate::Random;
use crate::actor::Actor;
use crate::plant::{Plant, PlantRegion, PlantSide};

/// Reward of the step into the goal.
const GOAL_REWARD: f64 = 5.0;
/// Cost of a step into the unsafe set. The run goes on, so that no run is better off there.
const UNSAFE_COST: f64 = 1.0;
/// Cost of a step to a state that is one unit from the goal in one variable.
const DISTANCE_COST: f64 = 0.1;
/// The limit of counted distances, in units, so that one variable never hides the others.
const MAX_DISTANCE: f64 = 5.0;

/// Says what a step leads to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Arrival {
    pub(crate) reward: f64,
    pub(crate) in_goal: bool,
    pub(crate) is_unsafe: bool,
    /// True if the numbers are not a state, because one is not finite.
    pub(crate) is_lost: bool,
}

/// Holds what is wanted of runs: the regions of a plant with a margin.
#[derive(Clone, Debug)]
pub(crate) struct RunAim {
    goal: Option<PlantRegion>,
    avoid: Option<PlantRegion>,
    avoid_from_step: u32,
    /// For each side of the goal: the farthest that an initial state is from it in this variable,
    /// or the goal's width, if that is more. Variables have units of their own because a run may
    /// have to come a long way in one and to keep within a narrow range in another.
    units: Vec<f64>,
    /// The last step at which a run may get to the goal. The margin leaves some, because what is to
    /// be proved of all states may take longer than runs from some.
    last_step: u32,
}

impl RunAim {
    pub(crate) fn new(plant: &dyn Plant, margin: f64) -> Self {
        let goal = plant.goal().map(|goal| goal.widened(-margin));
        let unit = |side: &PlantSide| {
            let (lo, hi) = plant.initial()[side.variable];
            let unit = side.distance(lo).max(side.distance(hi)).max(side.width());
            if unit > 0.0 { unit } else { 1.0 }
        };
        let sides = plant.goal().map_or(&[][..], PlantRegion::sides);
        let horizon = plant.horizon();
        Self {
            last_step: if goal.is_some() { horizon - spared(horizon, margin) } else { horizon },
            goal,
            avoid: plant.avoid().map(|avoid| widened_avoid(avoid, plant.goal(), margin)),
            avoid_from_step: plant.avoid_from_step(),
            units: sides.iter().map(unit).collect(),
        }
    }

    /// Judges the state of a step.
    pub(crate) fn arrival(&self, step: u32, state: &[f64]) -> Arrival {
        if !state.iter().all(|x| x.is_finite()) {
            let reward = -UNSAFE_COST - MAX_DISTANCE;
            return Arrival { reward, in_goal: false, is_unsafe: true, is_lost: true };
        }
        let counts = step >= self.avoid_from_step;
        let is_unsafe = counts && self.avoid.as_ref().is_some_and(|avoid| avoid.contains(state));
        let mut reward = if is_unsafe { -UNSAFE_COST } else { 0.0 };
        let mut in_goal = false;
        if let Some(goal) = &self.goal {
            for (side, unit) in goal.sides().iter().zip(&self.units) {
                let distance = side.distance(state[side.variable]) / unit;
                reward -= DISTANCE_COST * MAX_DISTANCE / (1.0 + MAX_DISTANCE / distance);
            }
            in_goal = goal.contains(state);
            if in_goal {
                reward += GOAL_REWARD;
            }
        }
        Arrival { reward, in_goal, is_unsafe, is_lost: false }
    }
}

/// Steps that half the margin, as a share of the horizon, leaves.
fn spared(horizon: u32, margin: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the horizon")]
    let steps = (f64::from(horizon) * margin / 2.0) as u32;
    steps
}

/// The unsafe set with a margin of this share of its own or the goal's widths, whichever is less;
/// without one where it would reach into the goal.
fn widened_avoid(avoid: &PlantRegion, goal: Option<&PlantRegion>, margin: f64) -> PlantRegion {
    let Some(goal) = goal else { return avoid.widened(margin) };
    let room = |side: &PlantSide| {
        let of_goal = goal.sides().iter().find(|other| other.variable == side.variable);
        of_goal.map_or(f64::INFINITY, PlantSide::width).min(side.width()) * margin
    };
    let widened = avoid.sides().iter().map(|side| {
        let room = room(side);
        PlantSide { lower: side.lower - room, upper: side.upper + room, ..*side }
    });
    let widened = PlantRegion::new(widened.collect());
    if widened.meets(goal) { avoid.clone() } else { widened }
}

/// Says how a network does.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TrainingEvaluation {
    /// Runs that reach the goal and avoid the unsafe set up to then, both with what is left of the
    /// margin.
    pub solved: usize,
    pub runs: usize,
    /// Mean sum of rewards.
    pub mean_return: f64,
}

impl TrainingEvaluation {
    /// Returns whether every run is as wanted, and there is one.
    #[must_use]
    pub fn is_solved(&self) -> bool {
        self.solved == self.runs && self.runs > 0
    }

    pub(crate) fn is_better_than(&self, other: &Self) -> bool {
        (self.solved, self.mean_return) > (other.solved, other.mean_return)
    }
}

/// Follows the network from every start state; after a stop, from as many as were finished before.
pub(crate) fn evaluate(
    plant: &mut dyn Plant,
    actor: &mut Actor,
    aim: &RunAim,
    starts: &[Vec<f64>],
    budget: &mut Budget,
) -> (TrainingEvaluation, Option<StopReason>) {
    let mut evaluation = TrainingEvaluation::default();
    let mut actions = Vec::new();
    let (mut sum, mut stopped) = (0.0, None);
    'starts: for start in starts {
        let mut state = start.clone();
        let mut arrival = aim.arrival(0, &state);
        let mut clean = !arrival.is_unsafe;
        let mut step = 0;
        while step < aim.last_step && !arrival.in_goal && !arrival.is_lost {
            // A step may have many parts.
            if let Err(reason) = budget.poll_clock() {
                stopped = Some(reason);
                break 'starts;
            }
            step += 1;
            actor.act(&state, &mut actions);
            plant.step(&mut state, &actions);
            arrival = aim.arrival(step, &state);
            clean &= !arrival.is_unsafe;
            sum += arrival.reward;
        }
        evaluation.runs += 1;
        let arrived = arrival.in_goal || (aim.goal.is_none() && !arrival.is_lost);
        if arrived && clean {
            evaluation.solved += 1;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a small number of runs")]
    let runs = evaluation.runs.max(1) as f64;
    evaluation.mean_return = sum / runs;
    (evaluation, stopped)
}

/// Corners are start states if there are at most 2 to this power.
const MAX_CORNER_VARIABLES: u32 = 6;

/// The corners of a box, as far as they are few.
fn corners(initial: &[(f64, f64)]) -> Vec<Vec<f64>> {
    let varying = || (0..initial.len()).filter(|&i| initial[i].0 < initial[i].1);
    let count = u32::try_from(varying().count()).unwrap_or(u32::MAX).min(MAX_CORNER_VARIABLES);
    (0..1usize << count)
        .map(|corner| {
            let mut state: Vec<f64> = initial.iter().map(|&(lo, _)| lo).collect();
            for (bit, i) in varying().take(count as usize).enumerate() {
                if corner >> bit & 1 == 1 {
                    state[i] = initial[i].1;
                }
            }
            state
        })
        .collect()
}

/// Start states of evaluations: corners, the middle, then random ones.
pub(crate) fn start_states(
    initial: &[(f64, f64)],
    count: usize,
    random: &mut Random,
) -> Vec<Vec<f64>> {
    let mut starts = corners(initial);
    starts.push(initial.iter().map(|(lo, hi)| lo.midpoint(*hi)).collect());
    starts.truncate(count);
    while starts.len() < count {
        starts.push(initial.iter().map(|&(lo, hi)| random.between(lo, hi)).collect());
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_of_the_unsafe_set_leaves_the_goal_alone() {
        let region =
            |variable, lower, upper| PlantRegion::new(vec![PlantSide { variable, lower, upper }]);
        let goal = region(0, 0.0, 1.0);
        assert_eq!(widened_avoid(&region(0, 2.0, 99.0), Some(&goal), 0.25), region(0, 1.75, 99.25));
        assert_eq!(widened_avoid(&region(0, 2.0, 4.0), None, 0.25), region(0, 1.5, 4.5));
        let near = region(0, 1.125, 3.0);
        assert_eq!(widened_avoid(&near, Some(&goal), 0.25), near);
    }

    struct Still(Vec<(f64, f64)>, PlantRegion);

    impl Plant for Still {
        fn dimension(&self) -> usize {
            self.0.len()
        }

        fn initial(&self) -> &[(f64, f64)] {
            &self.0
        }

        fn action_ranges(&self) -> &[(f64, f64)] {
            &[]
        }

        fn horizon(&self) -> u32 {
            250
        }

        fn goal(&self) -> Option<&PlantRegion> {
            Some(&self.1)
        }

        fn avoid(&self) -> Option<&PlantRegion> {
            None
        }

        fn step(&mut self, _: &mut [f64], _: &[f64]) {}
    }

    #[test]
    fn every_variable_has_its_unit() {
        let side = |variable, lower, upper| PlantSide { variable, lower, upper };
        let goal = PlantRegion::new(vec![side(0, 0.0, 10.0), side(1, 0.0, 0.5)]);
        let still = Still(vec![(50.0, 110.0), (0.5, 0.625)], goal);
        let aim = RunAim::new(&still, 0.0);
        assert_eq!(aim.units, [100.0, 0.5]);
        let reward = |state| aim.arrival(1, state).reward;
        assert!((reward(&[110.0, 0.25]) - reward(&[5.0, 1.0])).abs() < 1e-12);
        assert!(reward(&[110.0, 1.0]) < reward(&[110.0, 0.75]));
        assert!(reward(&[1e9, 1e9]) > -2.0 * DISTANCE_COST * MAX_DISTANCE);
        assert!(reward(&[f64::MAX, 5e-324]).is_finite());
        assert_eq!(
            [0.0, 0.05, 0.1].map(|margin| RunAim::new(&still, margin).last_step),
            [250, 244, 238]
        );
    }

    #[test]
    fn start_states_begin_with_corners() {
        let initial = [(0.0, 1.0), (3.0, 3.0), (-1.0, 0.0)];
        let starts = start_states(&initial, 8, &mut Random::new(1));
        assert_eq!(starts.len(), 8);
        assert_eq!(starts[0], [0.0, 3.0, -1.0]);
        assert_eq!(starts[3], [1.0, 3.0, 0.0]);
        assert_eq!(starts[4], [0.5, 3.0, -0.5]);
        let inside =
            |start: &Vec<f64>| start.iter().zip(initial).all(|(x, (lo, hi))| (lo..=hi).contains(x));
        assert!(starts.iter().all(inside));
    }
}
