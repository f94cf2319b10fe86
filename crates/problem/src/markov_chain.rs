//! Whether a model that calls itself a Markov chain is one.

use policert_engine_api::EngineError;
use policert_explore::Induced;

use crate::Problem;

impl Problem {
    /// Checks that a model that calls itself a Markov chain is one.
    ///
    /// # Errors
    /// It is not: other tools take each of several operators with the same probability, which is no
    /// reading of the model that a scheduler has.
    pub fn check_chain(&self, induced: &Induced) -> Result<(), EngineError> {
        let branches = |&state: &u32| {
            let choices = induced.mdp.choices_of(state);
            choices.end - choices.start > 1
        };
        match induced.mdp.state_range().find(branches).filter(|_| self.is_markov_chain) {
            None => Ok(()),
            Some(state) => Err(EngineError::Unsupported(format!(
                "a model of the type dtmc with several operators in a state ({}); if one of them is \
                 to be chosen, the type is mdp",
                self.model.display_state(&induced.state(state))
            ))),
        }
    }
}
