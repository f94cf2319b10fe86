//! Tests about the policy that are recorded as they are answered.

use std::time::Instant;

use policert_bounds::{AskedQuery, Recorder, SelectionQuery, Values};
use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::State;

use crate::queries::Selection;
use crate::region::Region;

/// Answers as another one does, and tells a recorder.
pub struct RecordingSelection<'a> {
    selection: Box<dyn Selection + 'a>,
    recorder: &'a mut dyn Recorder,
}

impl<'a> RecordingSelection<'a> {
    /// Passes all tests on to `selection`.
    #[must_use]
    pub fn new(selection: Box<dyn Selection + 'a>, recorder: &'a mut dyn Recorder) -> Self {
        Self { selection, recorder }
    }

    fn record(
        &mut self,
        region: &Region<'_>,
        output: usize,
        values: Values,
        begin: Instant,
        answer: &Result<Answer<State>, EngineError>,
    ) {
        let time = begin.elapsed();
        let Ok(answer) = answer else { return };
        if region.is_empty() {
            return;
        }
        let query =
            SelectionQuery { region: &region.sides, conditions: &region.conditions, output };
        self.recorder.record(&AskedQuery { query, values, answer, time });
    }
}

impl Selection for RecordingSelection<'_> {
    fn enter(&mut self, states: &Region<'_>) {
        self.recorder.enter();
        self.selection.enter(states);
    }

    fn limit_boxes(&mut self, limit: Option<u64>) {
        self.selection.limit_boxes(limit);
    }

    fn is_selected(
        &mut self,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        let begin = Instant::now();
        let answer = self.selection.is_selected(region, output, budget);
        self.record(region, output, Values::Integers, begin, &answer);
        answer
    }

    fn is_selected_relaxed(
        &mut self,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        let begin = Instant::now();
        let answer = self.selection.is_selected_relaxed(region, output, budget);
        self.record(region, output, Values::Reals, begin, &answer);
        answer
    }
}
