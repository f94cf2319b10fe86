//! The teacher: exact distances to the goal, by search in the whole space of states.

use std::collections::{BTreeMap, VecDeque};

use policert_pddl::Task;

/// Most states of a problem to train on.
pub const MAX_STATES: usize = 400_000;

/// States between two looks at the clock.
const BETWEEN_POLLS: usize = 1024;

/// A state of a problem, and what is best there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lesson {
    /// The truth of the propositions.
    pub state: Vec<bool>,
    /// The applicable actions.
    pub applicable: Vec<usize>,
    /// Those of them that begin a shortest way to the goal.
    pub best: Vec<usize>,
}

/// The distances of all states that are reachable in a problem.
#[derive(Clone, Debug)]
pub struct Lessons {
    states: Vec<Vec<u64>>,
    positions: BTreeMap<Vec<u64>, usize>,
    /// By state the actions and the states that they may lead to.
    steps: Vec<Vec<(usize, Vec<usize>)>>,
    /// Number of actions to the goal, where chance does what is wanted; none if it is out of reach.
    distances: Vec<Option<u32>>,
    propositions: usize,
}

impl Lessons {
    /// Searches the space of states; `None` where it has more than [`MAX_STATES`], or `stop` says so.
    pub fn of(task: &Task, stop: &mut dyn FnMut() -> bool) -> Option<Self> {
        let mut lessons = Self {
            states: Vec::new(),
            positions: BTreeMap::new(),
            steps: Vec::new(),
            distances: Vec::new(),
            propositions: task.propositions.len(),
        };
        lessons.position(&task.initial);
        let mut at = 0;
        while at < lessons.states.len() {
            if lessons.states.len() > MAX_STATES || (at.is_multiple_of(BETWEEN_POLLS) && stop()) {
                return None;
            }
            let state = lessons.state(at);
            let mut steps = Vec::new();
            for (action, ground) in task.actions.iter().enumerate() {
                if ground.is_applicable(&state) {
                    let outcomes = ground.outcomes.iter();
                    let next = outcomes.map(|outcome| lessons.position(&outcome.after(&state)));
                    steps.push((action, next.collect()));
                }
            }
            lessons.steps.push(steps);
            at += 1;
        }
        lessons.measure(task);
        Some(lessons)
    }

    /// The distances, by search backwards from the goal.
    fn measure(&mut self, task: &Task) {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.states.len()];
        for (state, steps) in self.steps.iter().enumerate() {
            for &next in steps.iter().flat_map(|(_, next)| next) {
                before[next].push(state);
            }
        }
        self.distances = (0..self.states.len())
            .map(|position| task.is_goal(&self.state(position)).then_some(0))
            .collect();
        let mut queue: VecDeque<usize> =
            (0..self.states.len()).filter(|&state| self.distances[state].is_some()).collect();
        while let Some(state) = queue.pop_front() {
            let distance = self.distances[state].unwrap_or(0) + 1;
            for &earlier in &before[state] {
                if self.distances[earlier].is_none() {
                    self.distances[earlier] = Some(distance);
                    queue.push_back(earlier);
                }
            }
        }
    }

    fn position(&mut self, state: &[bool]) -> usize {
        let packed = packed(state);
        let new = self.states.len();
        let position = *self.positions.entry(packed.clone()).or_insert(new);
        if position == new {
            self.states.push(packed);
        }
        position
    }

    fn state(&self, position: usize) -> Vec<bool> {
        let words = &self.states[position];
        (0..self.propositions).map(|bit| words[bit / 64] >> (bit % 64) & 1 == 1).collect()
    }

    /// Number of states.
    #[must_use]
    pub fn count(&self) -> usize {
        self.states.len()
    }

    /// The distance of a state; `None` if it is not reachable, or the goal is not from there.
    #[must_use]
    pub fn distance(&self, state: &[bool]) -> Option<u32> {
        self.distances[*self.positions.get(&packed(state))?]
    }

    /// What is to be learnt in a state; `None` in goal states, and where there is no way.
    #[must_use]
    pub fn lesson(&self, state: &[bool]) -> Option<Lesson> {
        let position = *self.positions.get(&packed(state))?;
        let distance = self.distances[position].filter(|&distance| distance > 0)?;
        let steps = &self.steps[position];
        let leads_on = |next: &[usize]| {
            let distances = next.iter().map(|&next| self.distances[next]);
            distances.flatten().min() == Some(distance - 1)
        };
        let best = steps.iter().filter(|(_, next)| leads_on(next)).map(|(action, _)| *action);
        Some(Lesson {
            state: state.to_vec(),
            applicable: steps.iter().map(|(action, _)| *action).collect(),
            best: best.collect(),
        })
    }
}

fn packed(state: &[bool]) -> Vec<u64> {
    let word = |bits: &[bool]| {
        bits.iter().enumerate().fold(0, |word, (i, &bit)| word | u64::from(bit) << i)
    };
    state.chunks(64).map(word).collect()
}
