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
    /// How a network does that is being trained.
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
