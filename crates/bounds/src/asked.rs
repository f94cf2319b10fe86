//! A query on its way through the stages.

use std::time::Instant;

use policert_engine_api::Budget;

use crate::prepared::PreparedPolicy;
use crate::statistics::Stage;

/// The query and the resources that every stage gets, besides the node that it works on.
pub(crate) struct Asked<'a, 'p> {
    pub prepared: &'a mut PreparedPolicy<'p>,
    pub budget: &'a mut Budget,
    pub output: usize,
    /// True if the conditions are about the axes only.
    pub closed: bool,
    /// The most expensive stage so far.
    pub stage: Stage,
}

impl Asked<'_, '_> {
    /// Books the time of a stage.
    pub fn finish(&mut self, stage: Stage, started: Instant) {
        self.stage = self.stage.max(stage);
        self.prepared.statistics.stage_mut(stage).time += started.elapsed();
    }
}
