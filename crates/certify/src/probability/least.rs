//! The steps of bounds of the least probability.

use policert_engine_api::{Budget, EngineError};
use policert_numeric::Rational;

use super::moves::{Move, Taken};
use super::{Check, Place, ProbabilityError};

/// A state with a lower bound: for each choice that may be taken there, by outcome the states with lower
/// bounds that may follow.
type Stays = Vec<Vec<Vec<usize>>>;

impl Check<'_> {
    /// Checks all steps; by listed state: what its upper bound rests on.
    pub(super) fn least_steps(
        &self,
        budget: &mut Budget,
    ) -> Result<Vec<Option<Taken>>, ProbabilityError> {
        let mut taken = vec![None; self.values.len()];
        // By state with a lower bound.
        let mut stays: Vec<Option<Stays>> = vec![None; self.values.len()];
        for (at, value) in self.values.iter().enumerate() {
            budget.poll().map_err(EngineError::from)?;
            if !matches!(self.place(&value.state), Place::Listed(_)) {
                continue;
            }
            let [lower, upper] = &self.exact[at];
            if lower.is_zero() && *upper == Rational::ONE {
                continue;
            }
            let moves = self.moves(&value.state)?;
            let keeps = |step: &Move| step.least_mean(self, 1) <= *upper;
            let taken_at = |position: usize| moves[position].taken(position);
            taken[at] = moves.iter().position(|step| step.is_sure && keeps(step)).map(taken_at);
            if taken[at].is_none()
                && let Some(position) = moves.iter().position(|step| !keeps(step))
            {
                return Err(self.no_upper_bound(at, taken_at(position)));
            }
            if !lower.is_zero() {
                // Without a choice that is certain the run may end here.
                let goes_on = moves.iter().any(|step| step.is_sure);
                if !goes_on || moves.iter().any(|step| step.least_mean(self, 0) < *lower) {
                    return Err(self.no_lower_bound(at));
                }
                stays[at] = Some(moves.iter().filter_map(|step| self.staying(step)).collect());
            }
        }
        match self.stays_for_ever(&mut stays, budget)? {
            Some(at) => Err(self.no_lower_bound(at)),
            None => Ok(taken),
        }
    }

    fn no_lower_bound(&self, at: usize) -> ProbabilityError {
        let state = &self.values[at].state;
        ProbabilityError::Lower(self.claim.question.model.display_state(state))
    }

    /// By outcome, the states with lower bounds that a choice may lead to; `None` if some of the
    /// probability leaves them for sure.
    fn staying(&self, step: &Move) -> Option<Vec<Vec<usize>>> {
        let outcomes = step.reached().map(|places| {
            let within = places.filter_map(|place| match place {
                Place::Listed(to) if !self.exact[to][0].is_zero() => Some(to),
                Place::Listed(_)
                | Place::Within(_)
                | Place::Target
                | Place::Failed
                | Place::Elsewhere => None,
            });
            let within: Vec<usize> = within.collect();
            (!within.is_empty()).then_some(within)
        });
        let outcomes: Option<Vec<_>> = outcomes.collect();
        outcomes.filter(|_| !step.loses())
    }

    /// A state from which choices keep the run in states with lower bounds for ever, if there is one:
    /// states without such a choice are taken out until all that are left have one.
    fn stays_for_ever(
        &self,
        stays: &mut [Option<Stays>],
        budget: &mut Budget,
    ) -> Result<Option<usize>, ProbabilityError> {
        let mut sources: Vec<Vec<usize>> = vec![Vec::new(); stays.len()];
        let mut open = Vec::new();
        for (at, choices) in stays.iter().enumerate() {
            let Some(choices) = choices else { continue };
            choices.iter().flatten().flatten().for_each(|&to| sources[to].push(at));
            if choices.is_empty() {
                open.push(at);
            }
        }
        let mut is_out = vec![false; stays.len()];
        while let Some(out) = open.pop() {
            budget.poll().map_err(EngineError::from)?;
            if std::mem::replace(&mut is_out[out], true) {
                continue;
            }
            for &source in &sources[out] {
                let Some(choices) = &mut stays[source] else { continue };
                choices.iter_mut().flatten().for_each(|places| places.retain(|&to| to != out));
                choices.retain(|outcomes| outcomes.iter().all(|places| !places.is_empty()));
                if choices.is_empty() && !is_out[source] {
                    open.push(source);
                }
            }
        }
        Ok((0..stays.len()).find(|&at| stays[at].is_some() && !is_out[at]))
    }
}
