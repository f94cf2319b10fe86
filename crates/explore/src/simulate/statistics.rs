//! How many runs end how, and after how many steps.

use super::{Run, RunEnding};

/// Says how many runs ended in one way.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct EndingCount {
    /// Number of runs.
    pub runs: u64,
    /// Sum of their steps.
    pub steps: u64,
}

/// Statistics of runs.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SimulationStatistics {
    endings: [EndingCount; RunEnding::ALL.len()],
    reached_goal: u64,
    shortest: Option<u32>,
    longest: Option<u32>,
}

impl SimulationStatistics {
    pub fn add(&mut self, run: &Run) {
        let count = &mut self.endings[run.ending as usize];
        count.runs += 1;
        count.steps += u64::from(run.steps);
        self.reached_goal += u64::from(run.reached_goal);
        self.shortest = Some(self.shortest.map_or(run.steps, |least| least.min(run.steps)));
        self.longest = self.longest.max(Some(run.steps));
    }

    /// Number of runs.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.endings.iter().map(|count| count.runs).sum()
    }

    /// The runs that ended so.
    #[must_use]
    pub fn ended(&self, ending: RunEnding) -> EndingCount {
        self.endings[ending as usize]
    }

    /// Number of runs with a state of the goal on them.
    #[must_use]
    pub fn reached_goal(&self) -> u64 {
        self.reached_goal
    }

    /// Least number of steps of a run.
    #[must_use]
    pub fn shortest(&self) -> Option<u32> {
        self.shortest
    }

    /// Greatest number of steps of a run.
    #[must_use]
    pub fn longest(&self) -> Option<u32> {
        self.longest
    }

    /// Mean number of steps.
    #[must_use]
    pub fn mean_length(&self) -> Option<f64> {
        let steps: u64 = self.endings.iter().map(|count| count.steps).sum();
        share(steps, self.runs())
    }

    /// Mean number of steps of the runs that ended so.
    #[must_use]
    pub fn mean_length_of(&self, ending: RunEnding) -> Option<f64> {
        let count = self.ended(ending);
        share(count.steps, count.runs)
    }
}

/// `part / whole`; `None` of nothing.
#[expect(clippy::cast_precision_loss, reason = "statistics need no 16 digits")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
