//! What the oracle did, stage by stage.

use std::fmt;
use std::time::Duration;

/// A way to decide a query, cheapest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// The conditions alone.
    Tighten,
    /// Looking up the results of earlier queries.
    Recall,
    /// Evaluation of all points of small boxes.
    Enumerate,
    /// Evaluation of likely points.
    Guess,
    /// Linear relaxation of the scores.
    Bound,
    /// Bisection.
    Split,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Self; 6] =
        [Self::Tighten, Self::Recall, Self::Enumerate, Self::Guess, Self::Bound, Self::Split];

    /// Its name, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tighten => "tighten",
            Self::Recall => "recall",
            Self::Enumerate => "enumerate",
            Self::Guess => "guess",
            Self::Bound => "bound",
            Self::Split => "split",
        }
    }
}

/// The work of one stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StageStatistics {
    /// Queries refuted of which this was the most expensive stage that was needed.
    pub refuted: u64,
    /// Queries with a witness of which this was the most expensive stage that was needed.
    pub possible: u64,
    /// Time spent in the stage.
    pub time: Duration,
}

/// Counters of an [`Oracle`](crate::Oracle).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OracleStatistics {
    /// Queries asked.
    pub queries: u64,
    /// Queries that ended without refutation and without witness.
    pub undecided: u64,
    /// Boxes of decision maps that were looked at.
    pub boxes: u64,
    /// Linear relaxations computed.
    pub bounds: u64,
    /// Linear forms carried back through the network.
    pub forms: u64,
    /// Points at which the policy was evaluated.
    pub points: u64,
    /// Splits of boxes.
    pub splits: u64,
    stages: [StageStatistics; Stage::ALL.len()],
}

impl OracleStatistics {
    /// The work of a stage.
    #[must_use]
    pub fn stage(&self, stage: Stage) -> &StageStatistics {
        &self.stages[stage as usize]
    }

    pub(crate) fn stage_mut(&mut self, stage: Stage) -> &mut StageStatistics {
        &mut self.stages[stage as usize]
    }

    /// Queries that were refuted.
    #[must_use]
    pub fn refuted(&self) -> u64 {
        self.stages.iter().map(|stage| stage.refuted).sum()
    }

    /// Queries with a witness.
    #[must_use]
    pub fn possible(&self) -> u64 {
        self.stages.iter().map(|stage| stage.possible).sum()
    }
}

impl fmt::Display for OracleStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} queries: {} refuted, {} possible, {} undecided; \
             {} boxes, {} splits, {} bounds of {} forms, {} points",
            self.queries,
            self.refuted(),
            self.possible(),
            self.undecided,
            self.boxes,
            self.splits,
            self.bounds,
            self.forms,
            self.points,
        )?;
        for stage in Stage::ALL {
            let StageStatistics { refuted, possible, time } = self.stage(stage);
            let name = stage.name();
            writeln!(f, "{name:>10}: {refuted} refuted, {possible} possible, {time:?}")?;
        }
        Ok(())
    }
}
