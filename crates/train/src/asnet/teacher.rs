//! The teacher: which actions begin a shortest way to the goal.
//!
//! Where the space of states is small all distances are known. Elsewhere shortest ways are looked for from
//! the states that are asked about.

mod landmarks;
mod lengths;
mod packed;
mod search;
mod space;

use std::rc::Rc;

use policert_engine_api::{Budget, StopReason};
use policert_explore::Random;
use policert_pddl::Task;

pub(crate) use self::lengths::{Lengths, lengths};
pub(crate) use self::packed::{packed, unpacked};
use self::search::Search;
pub(crate) use self::space::Space;

/// A state of a problem, and what is best there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lesson {
    /// The truth of the propositions.
    pub state: Vec<bool>,
    /// The applicable actions.
    pub applicable: Vec<usize>,
    /// Those of them that begin a shortest way to the goal.
    pub best: Vec<usize>,
    /// Those that are to be chosen: the best ones, and perhaps others that do.
    pub wanted: Vec<usize>,
}

impl Lesson {
    /// A state in which these actions are the best.
    pub(crate) fn new(task: &Task, state: Vec<bool>, best: Vec<usize>) -> Self {
        let applicable = (0..task.actions.len())
            .filter(|&action| task.actions[action].is_applicable(&state))
            .collect();
        let wanted = best.clone();
        Self { state, applicable, best, wanted }
    }

    /// The best actions and these are to be chosen from now on.
    pub(crate) fn want(&mut self, others: &[usize]) {
        self.wanted.clone_from(&self.best);
        self.wanted.extend(others);
        self.wanted.sort_unstable();
        self.wanted.dedup();
    }
}

/// What knows shortest ways in one problem. Lengths are costs, where those are equal numbers of actions, and
/// chance does what is wanted.
#[derive(Clone, Debug)]
pub(crate) enum Teacher {
    /// All distances.
    Space(Rc<Space>),
    /// Search from each state, with what is known already.
    Search(Box<Search>),
}

impl Teacher {
    /// The teacher of a problem: of one of the earlier problems, where that knows this one too; the whole
    /// space up to this many states.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn of<'a>(
        task: &Task,
        lengths: &Lengths,
        mut earlier: impl Iterator<Item = (&'a Task, &'a Self)>,
        states: usize,
        budget: &mut Budget,
    ) -> Result<Self, StopReason> {
        let known = earlier.find_map(|(other, teacher)| match teacher {
            Self::Space(space) if is_same_space(task, other) && space.knows(&task.initial) => {
                Some(Rc::clone(space))
            }
            Self::Space(_) | Self::Search(_) => None,
        });
        if let Some(space) = known {
            return Ok(Self::Space(space));
        }
        Ok(match Space::of(task, lengths, states, budget)? {
            Some(space) => Self::Space(Rc::new(space)),
            None => Self::Search(Box::new(Search::of(task, Rc::clone(lengths)))),
        })
    }

    /// One of all states, drawn at random; `None` where not all are known.
    pub fn any_state(&self, random: &mut Random) -> Option<Vec<bool>> {
        match self {
            Self::Space(space) => Some(space.state(random.below(space.count()))),
            Self::Search(_) => None,
        }
    }

    /// Forgets what it searched for: what it says depends on the question alone.
    pub fn forget(&mut self) {
        match self {
            Self::Space(_) => {}
            Self::Search(search) => search.forget(),
        }
    }

    /// The length of a shortest way from a state to the goal; `None` if there is no way, or none was found.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn distance(
        &mut self,
        task: &Task,
        state: &[bool],
        budget: &mut Budget,
    ) -> Result<Option<u32>, StopReason> {
        match self {
            Self::Space(space) => Ok(space.distance(state)),
            Self::Search(search) => search.distance(task, state, budget),
        }
    }

    /// What is to be learnt in a state; `None` in goal states, and where no way is known.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn lesson(
        &mut self,
        task: &Task,
        state: &[bool],
        budget: &mut Budget,
    ) -> Result<Option<Lesson>, StopReason> {
        let best = match self {
            Self::Space(space) => space.best(state),
            Self::Search(search) => search.best(task, state, budget)?,
        };
        Ok(best.map(|best| Lesson::new(task, state.to_vec(), best)))
    }

    /// The state that a best action leads to on a shortest way.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn after(
        &mut self,
        task: &Task,
        state: &[bool],
        action: usize,
        budget: &mut Budget,
    ) -> Result<Option<Vec<bool>>, StopReason> {
        if let [outcome] = &task.actions[action].outcomes[..] {
            return Ok(Some(outcome.after(state)));
        }
        let mut nearest: Option<(u32, Vec<bool>)> = None;
        for outcome in &task.actions[action].outcomes {
            let next = outcome.after(state);
            if let Some(distance) = self.distance(task, &next, budget)?
                && nearest.as_ref().is_none_or(|(least, _)| distance < *least)
            {
                nearest = Some((distance, next));
            }
        }
        Ok(nearest.map(|(_, next)| next))
    }
}

/// Returns whether two problems differ in their initial states alone.
fn is_same_space(a: &Task, b: &Task) -> bool {
    a.propositions == b.propositions && a.actions == b.actions && a.goal == b.goal
}
