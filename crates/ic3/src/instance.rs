//! The instance of the algorithm for a model with a policy (POLIC3, Section 3.3), or without one
//! (Section 3.2): then every label is the environment's.

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::State;
use policert_numeric::IntBox;

use crate::frame_transition::Into;
use crate::generalized::Generalized;
use crate::policy_system::{PolicyStep, PolicySystem};
use crate::sub_procedures::Succession;
use crate::successors::{escapes_into, is_target};
use crate::target::Target;
use crate::{Frames, SubProcedures};

impl SubProcedures for PolicySystem<'_> {
    type Step = PolicyStep;

    fn domains(&self) -> IntBox {
        self.environment.domains.clone()
    }

    fn is_target(&self, state: &[i64]) -> bool {
        self.environment.question.is_unsafe(state)
    }

    fn select_start_state(
        &mut self,
        frames: &Frames,
        budget: &mut Budget,
    ) -> Result<Option<State>, EngineError> {
        self.start.select(frames, budget)
    }

    fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    fn select_start_states(
        &mut self,
        frames: &Frames,
        count: usize,
        budget: &mut Budget,
    ) -> Result<Vec<State>, EngineError> {
        self.start.select_several(frames, count, budget)
    }

    fn side_by_side<T: Send, R: Send>(
        &mut self,
        work: Vec<T>,
        run: impl Fn(&mut Self, T) -> R + Sync,
    ) -> Vec<R> {
        self.on_threads(work, run)
    }

    fn select_successor_state(
        &mut self,
        state: &State,
        frames: &Frames,
        frame: usize,
        _: &mut Budget,
    ) -> Result<Option<Succession<PolicyStep>>, EngineError> {
        let question = self.environment.question;
        let into = Into { frames, frame, but: &[] };
        let mut successors = self.successors(state)?.into_iter();
        Ok(successors.find(|next| is_target(question, into, &next.state)))
    }

    fn successors(&mut self, state: &State) -> Result<Vec<Succession<PolicyStep>>, EngineError> {
        let mut steps = self.steps(state)?;
        // A step that is certain rather than one by an undecided choice.
        steps.sort_by_key(|step| step.undecided.is_some());
        let step = |step: PolicyStep| Succession { state: step.step.state.clone(), step };
        Ok(steps.into_iter().map(step).collect())
    }

    fn generalize_reason(
        &mut self,
        states: &[State],
        frames: &Frames,
        frame: usize,
        budget: &mut Budget,
    ) -> Result<Generalized, EngineError> {
        self.generalized(states, frames, frame, budget)
    }

    fn propagate_clauses(
        &mut self,
        frames: &mut Frames,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        for m in 1..=frames.limit() {
            for i in 0..frames.reasons().len() {
                budget.poll_clock()?;
                let reason = &frames.reasons()[i];
                if reason.last != m {
                    continue;
                }
                let question = self.environment.question;
                let into = Into { frames, frame: m, but: &[] };
                if let Some(escape) = &reason.escape
                    && escapes_into(question, escape, into)
                {
                    continue;
                }
                let sides = reason.sides.clone();
                match self.transition(
                    &sides,
                    std::slice::from_ref(&sides),
                    Target { frames, frame: m },
                    budget,
                )? {
                    Answer::Refuted => {
                        self.statistics.propagated += 1;
                        frames.push(i);
                    }
                    Answer::Possible(_) => {
                        let known = self.escapes.front();
                        let known = known.filter(|escape| sides.contains(&escape.state)).cloned();
                        frames.set_escape(i, known);
                    }
                }
            }
        }
        frames.subsume();
        Ok(())
    }
}
