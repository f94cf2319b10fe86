//! The question whether a reason has a transition into a frame: states known before answer it, then a
//! few states at hand, then the frame transition problem.

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::State;
use policert_numeric::IntBox;

use crate::config::Induction;
use crate::frame_transition::{EnvironmentTransition, Into, Solvers};
use crate::frames::Escape;
use crate::policy_system::PolicySystem;
use crate::successors::escapes_into;
use crate::target::Target;

impl PolicySystem<'_> {
    /// Returns whether some state of a box, part of one of some reasons, has a transition into ℱₙ;
    /// with relative induction those into the reasons themselves do not count.
    ///
    /// # Errors
    /// A stop of the budget.
    pub(crate) fn transition(
        &mut self,
        part: &IntBox,
        reasons: &[IntBox],
        target: Target<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        self.statistics.frame_transitions += 1;
        let question = self.environment.question;
        let relative = self.config.induction == Induction::Relative;
        let Target { frames, frame } = target;
        let into = Into { frames, frame, but: if relative { reasons } else { &[] } };
        let known = self
            .escapes
            .iter()
            .find(|escape| part.contains(&escape.state) && escapes_into(question, escape, into));
        if let Some(escape) = known {
            self.statistics.recalled += 1;
            return Ok(Answer::Possible(Some(escape.state.clone())));
        }
        if let Some(state) = self.probed(part, into) {
            return Ok(Answer::Possible(Some(state)));
        }
        let mut solvers = Solvers {
            method: self.config.frame_transition,
            policy: self.policy.as_mut(),
            box_limit: self.config.box_limit,
            environment: self.z3.as_deref_mut().map(|z3| z3 as &mut dyn EnvironmentTransition),
        };
        let answer = self.environment.frame_transition(part, into, &mut solvers, budget)?;
        if let Answer::Possible(Some(state)) = &answer {
            let successors = self.successor_states(state);
            self.remember(Escape { state: state.clone(), successors });
        }
        Ok(answer)
    }
}
