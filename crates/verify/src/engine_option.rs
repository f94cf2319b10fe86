//! Options that only some engines use.

/// An option of `verify` that some engine does not use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineOption {
    /// `--predicates`
    Predicates,
    /// `--last`
    Last,
    /// `--exact`
    Exact,
    /// `--precision`
    Precision,
    /// `--bound`
    Bound,
    /// `--keep-going`
    KeepGoing,
    /// `--stop-at-first-unsafe`
    StopAtFirstUnsafe,
    /// `--build-all`
    BuildAll,
    /// `--start-states`
    StartStates,
    /// `--record-queries`
    RecordQueries,
    /// `--state-limit`
    StateLimit,
    /// `--threads`, with more than one.
    Threads,
}

impl EngineOption {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Predicates,
        Self::Last,
        Self::Exact,
        Self::Precision,
        Self::Bound,
        Self::KeepGoing,
        Self::StopAtFirstUnsafe,
        Self::BuildAll,
        Self::StartStates,
        Self::RecordQueries,
        Self::StateLimit,
        Self::Threads,
    ];

    /// Returns how it is written, without the dashes before it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Predicates => "predicates",
            Self::Last => "last",
            Self::Exact => "exact",
            Self::Precision => "precision",
            Self::Bound => "bound",
            Self::KeepGoing => "keep-going",
            Self::StopAtFirstUnsafe => "stop-at-first-unsafe",
            Self::BuildAll => "build-all",
            Self::StartStates => "start-states",
            Self::RecordQueries => "record-queries",
            Self::StateLimit => "state-limit",
            Self::Threads => "threads",
        }
    }
}
