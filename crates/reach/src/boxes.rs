//! The boxes of a step, and what they say about the question.

use policert_control_loop::{ClosedRange, GoalRule, Task, TighterOfEach};

use crate::outcome::{Obstacle, ObstacleKind, PartOutcome};

/// A set of boxes.
#[derive(Clone, Debug)]
pub struct Boxes<R> {
    /// The ranges of the boxes, one box after the other.
    pub sides: Vec<R>,
    /// By box: whether all that it stands for was in the goal already; empty if that makes no
    /// difference.
    pub reached: Vec<bool>,
}

impl<R> Default for Boxes<R> {
    fn default() -> Self {
        Self { sides: Vec::new(), reached: Vec::new() }
    }
}

/// Looks at the boxes between samples, unless all that they stand for `reached` the goal and
/// that is the end; empties the list. What stands against *safe*.
pub(crate) fn look_between<R: ClosedRange>(
    task: &Task,
    between: &mut Vec<R>,
    reached: bool,
    step: u32,
) -> Option<Obstacle<R>> {
    let over = reached && task.ends_in_goal();
    let boxes = between.chunks_exact(task.dimension());
    let mut boxes = boxes.filter(|_| !over);
    let met = boxes.find(|state| task.avoided_at(step + 1).any(|set| set.meets(state)));
    let obstacle =
        met.map(|state| Obstacle::new(ObstacleKind::MeetsUnsafeBetween, step + 1, state));
    between.clear();
    obstacle
}

/// What a look at the boxes of a step comes to.
pub(crate) struct Look {
    /// True if there is something to go on with.
    pub goes_on: bool,
    /// The boxes that were left out, by their positions before: all that they stand for is in the goal.
    pub absorbed: Vec<usize>,
}

/// Looks at the boxes of a step: do they meet an unsafe set, are they in the goal? Absorbs or
/// marks those in the goal.
pub(crate) fn look_at<R: ClosedRange>(
    task: &Task,
    current: &mut Boxes<R>,
    (step, tighter): (u32, TighterOfEach<'_>),
    outcome: &mut PartOutcome<R>,
) -> Look {
    let n = task.dimension();
    let mut look = Look { goes_on: true, absorbed: Vec::new() };
    let meets = |(i, state): &(usize, &[R])| {
        task.avoided_at(step).any(|set| set.meets_set(state, &|condition| tighter(*i, condition)))
    };
    if let Some((_, state)) = current.sides.chunks_exact(n).enumerate().find(meets) {
        outcome.end(task, Obstacle::new(ObstacleKind::MeetsUnsafe, step, state));
        look.goes_on = false;
        return look;
    }
    let Some(goal) = &task.goal else { return look };
    let inside =
        |(i, state): (usize, &[R])| goal.contains_set(state, &|condition| tighter(i, condition));
    match (task.question.goal, task.ends_in_goal()) {
        (GoalRule::AllAtOnce, _) => {
            let all = current.sides.chunks_exact(n).enumerate().all(inside);
            outcome.goal_steps.push(all);
        }
        (GoalRule::Each, true) => {
            let mut kept = 0;
            for i in 0..current.sides.len() / n {
                if inside((i, &current.sides[i * n..(i + 1) * n])) {
                    look.absorbed.push(i);
                    continue;
                }
                for k in 0..n {
                    current.sides.swap(kept * n + k, i * n + k);
                }
                kept += 1;
            }
            current.sides.truncate(kept * n);
            if kept == 0 {
                outcome.absorbed_at = Some(step);
                look.goes_on = false;
            }
        }
        (GoalRule::Each, false) => {
            current.reached.resize(current.sides.len() / n, false);
            let states = current.sides.chunks_exact(n).enumerate();
            for (state, reached) in states.zip(&mut current.reached) {
                *reached |= inside(state);
            }
            if outcome.absorbed_at.is_none() && current.reached.iter().all(|&reached| reached) {
                outcome.absorbed_at = Some(step);
            }
        }
    }
    look
}
