//! What the bounds of a search rest on, for evidence.

use policert_engine_api::{Budget, EngineError, Event, Observer};
use policert_mdp::SolveOptions;

use super::{BoundSearch, FINEST};
use crate::prob::abstract_mdp::Expanding;
use crate::prob::max_prob::Adversary;
use crate::prob::reason_of;
use crate::prob::valued_pieces::{self, Shown};
use crate::queries::Queries;

impl BoundSearch<'_> {
    /// What the bounds rest on, if evidence is wanted; or why there is nothing.
    ///
    /// # Errors
    /// A modelling error.
    pub fn shown(
        &mut self,
        queries: &mut Queries<'_>,
        budget: &mut Budget,
        observer: &mut dyn Observer,
    ) -> Result<Result<Shown, String>, EngineError> {
        if !self.abstraction.question.evidence {
            return Ok(Err("evidence was not asked for".to_owned()));
        }
        observer.event(Event::Phase("evidence"));
        match self.find_shown(queries, budget, observer) {
            Ok(found) => Ok(found),
            Err(error) => Ok(Err(reason_of(error)?.to_string())),
        }
    }

    fn find_shown(
        &mut self,
        queries: &mut Queries<'_>,
        budget: &mut Budget,
        observer: &mut dyn Observer,
    ) -> Result<Result<Shown, String>, EngineError> {
        let solving = SolveOptions { precision: FINEST, ..self.solving };
        if self.of_runs.0 < self.lower
            && let Some(adversary) = Adversary::new(&self.mdp, &solving, budget)?
        {
            // Paths have shown it; evidence is made of states.
            self.best_runs(&adversary, queries, budget)?;
        }
        let runs = std::mem::take(&mut self.of_runs.1);
        let mut expanding = Expanding {
            mdp: &mut self.mdp,
            abstraction: self.abstraction,
            queries,
            observer,
            expanded: 0,
            transitions: 0,
        };
        valued_pieces::shown(&mut expanding, runs, &solving, budget)
    }
}
