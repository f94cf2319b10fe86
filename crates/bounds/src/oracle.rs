//! The oracle: the only entrance to the stages.

use std::sync::Arc;
use std::time::Instant;

use policert_engine_api::{Answer, Budget, StopReason};
use policert_model::{Condition, State};
use policert_numeric::{IntBox, IntInterval, Rational};
use policert_policy::Policy;

use crate::config::OracleConfig;
use crate::contract;
use crate::decision_map::{DecisionMap, Sharing};
use crate::prepared::PreparedPolicy;
use crate::query::SelectionQuery;
use crate::refutations::{Refutations, widen};
use crate::relaxed::RelaxedSearch;
use crate::search::{QuerySearch, SearchLimits};
use crate::statistics::{OracleStatistics, Stage};
use crate::tighten::Restriction;

/// Answers queries about one policy. One for each thread.
#[derive(Debug)]
pub struct Oracle<'p> {
    prepared: PreparedPolicy<'p>,
    limits: SearchLimits,
    refutations: Refutations,
}

impl<'p> Oracle<'p> {
    /// Prepares a policy. `applicable` says for each output where it is applicable: the
    /// disjunction of the guards of its label. It is read only with
    /// [`Filter::Applicable`](policert_policy::Filter::Applicable); outputs that it lacks are never
    /// applicable then.
    #[must_use]
    pub fn new(policy: &'p Policy, applicable: Vec<Condition>) -> Self {
        Self::with_config(policy, applicable, OracleConfig::default())
    }

    /// As [`Oracle::new`], with other settings than the default ones.
    #[must_use]
    pub fn with_config(
        policy: &'p Policy,
        applicable: Vec<Condition>,
        config: OracleConfig,
    ) -> Self {
        Self {
            prepared: PreparedPolicy::new(policy, applicable),
            limits: SearchLimits { points: config.enumerated_points.max(1), boxes: None },
            refutations: Refutations::new(policy.outputs().len()),
        }
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &'p Policy {
        self.prepared.policy
    }

    /// Counters and times of the work so far.
    #[must_use]
    pub fn statistics(&self) -> &OracleStatistics {
        &self.prepared.statistics
    }

    /// Gives up queries after so many boxes that bounds leave open; `None` for never. The answer
    /// to a query that is given up is possible, without a witness.
    pub fn limit_boxes(&mut self, limit: Option<u64>) {
        self.limits.boxes = limit;
    }

    /// Decides a single query. Several queries about one region are decided faster by one
    /// [`DecisionMap`].
    ///
    /// `Refuted` is a proof. A witness has a value for each dimension of the region (and for
    /// further variables that conditions mention) and is verified exactly. There is no witness
    /// and no refutation only where a score of a network with tanh or sigmoid cannot be told
    /// apart from another one with growing precision, and beyond [`Oracle::limit_boxes`].
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn decide(
        &mut self,
        query: &SelectionQuery<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, StopReason> {
        DecisionMap::of_sides(&self.prepared, None, Sharing::OneOutput).decide(self, query, budget)
    }

    /// Decides a query whose variables range over the reals: the relaxed tests of PPA 2022,
    /// Section 6. `Refuted` is a proof, for integers too. A witness is a point of the reals,
    /// verified exactly. There is neither where a side of the region is unbounded, where
    /// conditions that are not linear were left out, or where the network is not made of linear
    /// pieces and its bounds do not tell after a while.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn decide_relaxed(
        &mut self,
        query: &SelectionQuery<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<Vec<Rational>>, StopReason> {
        let mut search = RelaxedSearch::new(&mut self.prepared, query, budget)?;
        loop {
            if let Some(answer) = search.advance(&mut self.prepared, u64::MAX, budget)? {
                return Ok(answer);
            }
        }
    }

    /// A box between `region` and `within` in which the policy chooses the output nowhere; `None`
    /// if it chooses it somewhere in `region`, or if that cannot be told. Sides of variables that
    /// the choice does not depend on are those of `within`. Later queries inside the box are
    /// refuted by it.
    ///
    /// The box is as wide as one bound allows: sides are widened as far as it refutes, those first
    /// that it depends on least.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn refute_widened(
        &mut self,
        output: usize,
        region: &IntBox,
        within: &IntBox,
        budget: &mut Budget,
    ) -> Result<Option<IntBox>, StopReason> {
        let query = SelectionQuery { region, conditions: &[], output };
        if !matches!(self.decide(&query, budget)?, Answer::Refuted) {
            return Ok(None);
        }
        let whole = |sides: &IntBox| {
            let mut sides = sides.clone();
            while sides.dimensions() < self.prepared.axes.least_dimensions {
                sides.push(IntInterval::ALL);
            }
            sides
        };
        let (region, within) = (whole(region), whole(within));
        let (inner, outer) =
            (self.prepared.axes.project(&region), self.prepared.axes.project(&within));
        let along_axes = match self.refutations.around(output, &inner) {
            Some(known) => {
                let mut common = known.intersect(&outer);
                common.hull_with(&inner);
                common
            }
            None => match widen(&mut self.prepared, output, &inner, &outer, budget)? {
                Some(wide) => {
                    self.refutations.keep(output, &wide);
                    wide
                }
                None => inner,
            },
        };
        let mut widened = within;
        for (&variable, &side) in self.prepared.axes.variables.iter().zip(along_axes.sides()) {
            widened[variable] = side;
        }
        Ok(Some(widened))
    }
}

impl DecisionMap {
    /// A map of a region: sides of the state's variables.
    #[must_use]
    pub fn new(oracle: &Oracle<'_>, region: &IntBox) -> Self {
        let axes = &oracle.prepared.axes;
        let mut sides = region.clone();
        while sides.dimensions() < axes.least_dimensions {
            sides.push(IntInterval::ALL);
        }
        Self::of_sides(&oracle.prepared, Some(axes.project(&sides)), Sharing::AllOutputs)
    }

    /// Decides a query about the region, as [`Oracle::decide`] does. The map must be one of the
    /// same oracle. A query that reaches beyond the region is decided on its own.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn decide(
        &mut self,
        oracle: &mut Oracle<'_>,
        query: &SelectionQuery<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, StopReason> {
        let answer = self.answer(oracle, query, budget)?;
        contract::check(&mut oracle.prepared, query, &answer);
        Ok(answer)
    }

    fn answer(
        &mut self,
        oracle: &mut Oracle<'_>,
        query: &SelectionQuery<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, StopReason> {
        let Oracle { prepared, limits, refutations } = oracle;
        prepared.statistics.queries += 1;
        let started = Instant::now();
        budget.poll()?;
        let output = query.output;
        if output >= prepared.applicable.len() {
            // There is no such output.
            prepared.statistics.stage_mut(Stage::Tighten).refuted += 1;
            return Ok(Answer::Refuted);
        }
        let applicable = Arc::clone(&prepared.applicable);
        let conditions =
            query.conditions.iter().copied().chain(std::iter::once(&applicable[output]));
        let sides = query.sides(prepared.axes.least_dimensions);
        let restriction = Restriction::new(sides, conditions);
        let tighten = prepared.statistics.stage_mut(Stage::Tighten);
        tighten.time += started.elapsed();
        let Some(restriction) = restriction else {
            tighten.refuted += 1;
            return Ok(Answer::Refuted);
        };
        let needed = prepared.axes.project(&restriction.sides);
        if refutations.around(output, &needed).is_some() {
            prepared.statistics.stage_mut(Stage::Recall).refuted += 1;
            return Ok(Answer::Refuted);
        }
        if self.is_without(&needed) {
            let mut own = Self::of_sides(prepared, Some(needed), Sharing::OneOutput);
            return QuerySearch::decide(&mut own, prepared, *limits, output, restriction, budget);
        }
        self.root_at(prepared, needed);
        QuerySearch::decide(self, prepared, *limits, output, restriction, budget)
    }
}
