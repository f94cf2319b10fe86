//! Events that engines send while they work.

/// Something that happened in an engine.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A phase began: a short name such as `start states` or `search`.
    Phase(&'static str),
    /// Progress of the search.
    Progress {
        /// States expanded so far.
        expanded: u64,
        /// States reached so far.
        reached: u64,
        /// States that wait.
        waiting: u64,
        /// Transitions found so far.
        transitions: u64,
    },
    /// Proved bounds of a probability, tighter than those before.
    Interval {
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// The last evaluation of a network that is trained for a control loop.
    Training {
        /// The attempt, from 1.
        attempt: u32,
        /// Runs to learn from, in this attempt.
        episode: u32,
        /// Runs of the last evaluation that did as asked.
        solved: usize,
        /// All runs of that evaluation.
        runs: usize,
    },
    /// The last evaluation of a network that learns to choose labels.
    Learning {
        /// The seed.
        seed: u64,
        /// Steps in the model with this seed.
        step: u64,
        /// Mean sum of rewards in the last evaluation.
        mean_return: f64,
        /// Its runs that reach the goal.
        goal: u32,
        /// Its runs that reach an unsafe state.
        unsafe_runs: u32,
        /// All its runs.
        runs: u32,
    },
    /// Something that the user should know about the answer.
    Note(String),
}

/// Receives the events of an engine.
pub trait Observer {
    /// Called for each event; must be quick.
    fn event(&mut self, event: Event);
}

/// Ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&mut self, _: Event) {}
}
