//! Single states: their transitions under the policy by the plain semantics, and which of them
//! answer frame transition problems.

use policert_engine_api::{EngineError, Question};
use policert_model::State;
use policert_numeric::IntBox;
use policert_policy::Choice;
use policert_symbolic::StateStep;

use crate::frame_transition::{Environment, Into};
use crate::frames::Escape;
use crate::policy_system::{PolicyStep, PolicySystem};
use crate::target::Target;

/// States with transitions that are remembered.
const ESCAPES: usize = 256;

impl PolicySystem<'_> {
    /// A state of a box with a transition to a target, if one of a few is.
    pub(crate) fn probed(&mut self, part: &IntBox, into: Into<'_>) -> Option<State> {
        let question = self.environment.question;
        let states = probes(part);
        let points = states.iter().map(Vec::as_slice);
        let choices = self.policy.as_mut().map(|policy| policy.choices(points));
        for (i, state) in states.into_iter().enumerate() {
            let choice = choices.as_ref().and_then(|choices| choices.get(i));
            let steps = self.steps_by(&state, choice).unwrap_or_default();
            let successors = steps.into_iter().map(|step| step.step.state).collect();
            let escape = Escape { state, successors };
            if escapes_into(question, &escape, into) {
                let state = escape.state.clone();
                self.statistics.probed += 1;
                self.remember(escape);
                return Some(state);
            }
        }
        None
    }

    /// The successors of a state; none where it breaks the model's rules.
    pub(crate) fn successor_states(&mut self, state: &State) -> Vec<State> {
        let steps = self.steps(state).unwrap_or_default().into_iter();
        steps.map(|step| step.step.state).collect()
    }

    pub(crate) fn remember(&mut self, escape: Escape) {
        self.escapes.truncate(ESCAPES - 1);
        self.escapes.push_front(escape);
    }

    /// A successor of a state that is in ℱₙ and in none of some boxes; none where the state breaks
    /// the model's rules.
    pub(crate) fn first_into(
        &mut self,
        state: &State,
        target: Target<'_>,
        but: &[IntBox],
    ) -> Option<State> {
        let question = self.environment.question;
        let into = Into { frames: target.frames, frame: target.frame, but };
        if let Some(known) = self.escapes.iter().find(|escape| escape.state == *state) {
            let mut successors = known.successors.iter();
            return successors.find(|next| is_target(question, into, next)).cloned();
        }
        let mut successors = self.successor_states(state).into_iter();
        successors.find(|next| is_target(question, into, next))
    }

    /// The transitions of a state under the policy. Where the policy's choice is undecided all of its
    /// labels count as chosen.
    pub(crate) fn steps(&mut self, state: &State) -> Result<Vec<PolicyStep>, EngineError> {
        let choice = self.policy.as_mut().map(|policy| policy.choice(state));
        self.steps_by(state, choice.as_ref())
    }

    /// The transitions of a state in which the policy chooses this.
    fn steps_by(
        &self,
        state: &State,
        choice: Option<&Choice>,
    ) -> Result<Vec<PolicyStep>, EngineError> {
        let Environment { question, operators, .. } = &self.environment;
        let steps = operators.steps(operators.environment_first(), question, state, choice)?;
        let policy_step = |found: StateStep| PolicyStep {
            step: found.step,
            undecided: (!found.is_certain).then(|| state.clone()),
        };
        Ok(steps.into_iter().map(policy_step).collect())
    }
}

/// A few states of a box: its middle and some of its corners, as many as are evaluated at a time.
fn probes(part: &IntBox) -> Vec<State> {
    /// For each corner one bit for each dimension in turn: its end of that side.
    const ENDS: [u32; 7] =
        [0, u32::MAX, 0x5a69_96c3, 0xa596_693c, 0x33cc_5a5a, 0xcc33_a5a5, 0x9669];
    let middle: State = part.sides().iter().map(|side| side.midpoint()).collect();
    let mut states = vec![middle];
    for ends in ENDS {
        let sides = part.sides().iter().zip((0..32).cycle());
        let corner: State =
            sides.map(|(side, d)| if ends >> d & 1 == 0 { side.lo } else { side.hi }).collect();
        if !states.contains(&corner) {
            states.push(corner);
        }
    }
    states
}

/// Returns whether a successor of a state is a target.
pub(crate) fn escapes_into(question: &Question<'_>, escape: &Escape, into: Into<'_>) -> bool {
    escape.successors.iter().any(|next| is_target(question, into, next))
}

/// Returns whether a state is one that transitions are looked for into.
pub(crate) fn is_target(question: &Question<'_>, into: Into<'_>, state: &[i64]) -> bool {
    match into.frame {
        0 => question.is_unsafe(state),
        _ => into.blocking(state).is_none(),
    }
}
