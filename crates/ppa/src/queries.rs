//! The tests of PPA 2022, Section 6, on one region each, with statistics.
//!
//! | paper | here |
//! |---|---|
//! | IsSelect^π_ℝ, IsSelect^π | [`Queries::is_select_pi_relaxed`], [`Queries::is_select_pi`] |
//! | isApp | [`Queries::is_app`] |
//! | isApp^π_ℝ, isApp^π | [`Queries::is_app_pi_relaxed`], [`Queries::is_app_pi`] |
//! | TSat | [`Queries::t_sat`] |
//! | TSat^π_ℝ, TSat^π | [`Queries::t_sat_pi_relaxed`], [`Queries::t_sat_pi`] |
//!
//! The caller describes the region: s_𝒫 for selection tests, with the guard for applicability
//! tests, with the update and s'_𝒫 for transition tests. An answer is a refutation (a proof) or
//! a possibility; a solver's *unknown* is an error, so it can never be read as a refutation.

use std::time::{Duration, Instant};

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::{Conjunction, State};
use policert_numeric::IntBox;

use crate::config::PpaConfig;
use crate::region::Region;

/// Answers tests about the environment: is there a point in the region?
pub trait EnvironmentTests {
    /// # Requires
    /// The box of the region is bounded.
    /// # Ensures
    /// `Refuted` only if the region is empty; a witness lies in the region.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that the solver cannot take.
    fn is_satisfiable(
        &mut self,
        region: &Region<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError>;

    /// As [`is_satisfiable`](Self::is_satisfiable), for a conjunction narrowed along with its box.
    ///
    /// # Errors
    /// As [`is_satisfiable`](Self::is_satisfiable).
    fn inhabitant(
        &mut self,
        conjunction: &Conjunction,
        sides: &IntBox,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        let conditions = conjunction.conditions().collect();
        self.is_satisfiable(&Region { sides: sides.clone(), conditions }, budget)
    }
}

/// Answers tests about the policy: is there a point in the region at which the policy chooses
/// the output?
pub trait Selection {
    /// Tests about parts of this region follow: those about one abstract state.
    fn enter(&mut self, states: &Region<'_>);

    /// Gives up exact tests after this many boxes that bounds leave open, where the solver works
    /// with boxes; `None` for never. A test that is given up is possible, without a witness.
    fn limit_boxes(&mut self, limit: Option<u64>);

    /// The exact test.
    ///
    /// # Ensures
    /// `Refuted` only if there is no such point; a witness is one.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that the solver cannot take.
    fn is_selected(
        &mut self,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError>;

    /// The relaxed test: variables range over the reals. Never refutes what the exact test
    /// finds possible.
    ///
    /// # Errors
    /// As the exact test.
    fn is_selected_relaxed(
        &mut self,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        let _ = (region, output, budget);
        Ok(Answer::Possible(None))
    }
}

/// Exact tests by one solver, relaxed ones by another.
pub struct TwoSolvers<'a> {
    /// Answers the exact tests.
    pub exact: Box<dyn Selection + 'a>,
    /// Answers the relaxed tests.
    pub relaxed: Box<dyn Selection + 'a>,
}

impl Selection for TwoSolvers<'_> {
    fn enter(&mut self, states: &Region<'_>) {
        self.exact.enter(states);
        self.relaxed.enter(states);
    }

    fn limit_boxes(&mut self, limit: Option<u64>) {
        self.exact.limit_boxes(limit);
        self.relaxed.limit_boxes(limit);
    }

    fn is_selected(
        &mut self,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        self.exact.is_selected(region, output, budget)
    }

    fn is_selected_relaxed(
        &mut self,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        self.relaxed.is_selected_relaxed(region, output, budget)
    }
}

/// Number, refutations and time of one kind of test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TestStats {
    /// Tests asked.
    pub asked: u64,
    /// Tests refuted.
    pub refuted: u64,
    /// Time spent.
    pub time: Duration,
}

/// Statistics by kind of test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueryStats {
    /// IsSelect^π_ℝ.
    pub is_select_pi_relaxed: TestStats,
    /// IsSelect^π.
    pub is_select_pi: TestStats,
    /// IsApp.
    pub is_app: TestStats,
    /// IsApp^π_ℝ.
    pub is_app_pi_relaxed: TestStats,
    /// IsApp^π.
    pub is_app_pi: TestStats,
    /// TSat.
    pub t_sat: TestStats,
    /// TSat^π_ℝ.
    pub t_sat_pi_relaxed: TestStats,
    /// TSat^π.
    pub t_sat_pi: TestStats,
    /// Entailment of a predicate, and tests whether a partial state is worth completing.
    pub entailment: TestStats,
}

impl QueryStats {
    /// Name and statistics of each kind, in the order of Algorithm 1.
    #[must_use]
    pub fn by_kind(&self) -> [(&'static str, TestStats); 9] {
        [
            ("is_select_pi_relaxed", self.is_select_pi_relaxed),
            ("is_select_pi", self.is_select_pi),
            ("is_app", self.is_app),
            ("is_app_pi_relaxed", self.is_app_pi_relaxed),
            ("is_app_pi", self.is_app_pi),
            ("entailment", self.entailment),
            ("t_sat", self.t_sat),
            ("t_sat_pi_relaxed", self.t_sat_pi_relaxed),
            ("t_sat_pi", self.t_sat_pi),
        ]
    }
}

/// The tests, switched by the configuration.
pub struct Queries<'a> {
    config: &'a PpaConfig,
    environment: Box<dyn EnvironmentTests + 'a>,
    selection: Option<Box<dyn Selection + 'a>>,
    stats: QueryStats,
}

impl std::fmt::Debug for Queries<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queries").field("stats", &self.stats).finish_non_exhaustive()
    }
}

macro_rules! selection_test {
    ($(#[$doc:meta])* $name:ident, $switch:expr, $method:ident) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// A stop of the budget, or a construct that the solver cannot take.
        pub fn $name(
            &mut self,
            region: &Region<'_>,
            output: usize,
            budget: &mut Budget,
        ) -> Result<Answer<State>, EngineError> {
            let switch: fn(&PpaConfig) -> bool = $switch;
            match &mut self.selection {
                Some(selection) if switch(self.config) => {
                    let start = Instant::now();
                    let answer = selection.$method(region, output, budget);
                    self.stats.$name.record(start, &answer);
                    answer
                }
                _ => Ok(Answer::Possible(None)),
            }
        }
    };
}

impl<'a> Queries<'a> {
    /// The tests of `config`, answered by these solvers; `selection` is `None` without a policy.
    #[must_use]
    pub fn new(
        config: &'a PpaConfig,
        environment: Box<dyn EnvironmentTests + 'a>,
        selection: Option<Box<dyn Selection + 'a>>,
    ) -> Self {
        Self { config, environment, selection, stats: QueryStats::default() }
    }

    /// Statistics so far.
    #[must_use]
    pub fn stats(&self) -> &QueryStats {
        &self.stats
    }

    /// Tests about parts of this region follow: those about one abstract state.
    pub fn enter(&mut self, states: &Region<'_>) {
        if let Some(selection) = &mut self.selection {
            selection.enter(states);
        }
    }

    /// See [`Selection::limit_boxes`].
    pub fn limit_boxes(&mut self, limit: Option<u64>) {
        if let Some(selection) = &mut self.selection {
            selection.limit_boxes(limit);
        }
    }

    selection_test!(
        /// IsSelect^π_ℝ(s_𝒫, l) (l.2).
        is_select_pi_relaxed, |c| c.is_select_pi_relaxed.is_on(), is_selected_relaxed
    );
    selection_test!(
        /// IsSelect^π(s_𝒫, l) (l.3).
        is_select_pi, |c| c.is_select_pi.is_on(), is_selected
    );
    selection_test!(
        /// isApp^π_ℝ(s_𝒫, o) (l.6).
        is_app_pi_relaxed, |c| c.is_app_pi_relaxed.is_on(), is_selected_relaxed
    );
    selection_test!(
        /// isApp^π(s_𝒫, o) (l.7).
        is_app_pi, |c| c.is_app_pi.is_on(), is_selected
    );
    selection_test!(
        /// TSat^π_ℝ(s_𝒫, o, s'_𝒫) (l.13).
        t_sat_pi_relaxed, |c| c.t_sat_pi_relaxed.is_on(), is_selected_relaxed
    );
    selection_test!(
        /// TSat^π(s_𝒫, o, s'_𝒫) (l.14); without it the abstraction has more transitions.
        t_sat_pi, |c| c.t_sat_pi.is_on(), is_selected
    );

    /// As TSat^π, whatever the configuration: whether the policy chooses the output in some state
    /// of a region in which that would be an error.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that the solver cannot take.
    pub fn is_chosen(
        &mut self,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        let Some(selection) = &mut self.selection else { return Ok(Answer::Possible(None)) };
        let start = Instant::now();
        let answer = selection.is_selected(region, output, budget);
        self.stats.t_sat_pi.record(start, &answer);
        answer
    }

    /// isApp(s_𝒫, o) (l.5).
    ///
    /// # Errors
    /// A stop of the budget, or a construct that the solver cannot take.
    pub fn is_app(
        &mut self,
        region: &Region<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        if !self.config.is_app.is_on() {
            return Ok(Answer::Possible(None));
        }
        let start = Instant::now();
        let answer = self.environment.is_satisfiable(region, budget);
        self.stats.is_app.record(start, &answer);
        answer
    }

    /// TSat(s_𝒫, o, s'_𝒫) (l.12). Without a policy it is the last test and always runs.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that the solver cannot take.
    pub fn t_sat(
        &mut self,
        region: &Region<'_>,
        last: bool,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        if !self.config.t_sat.is_on() && !last {
            return Ok(Answer::Possible(None));
        }
        let start = Instant::now();
        let answer = self.environment.is_satisfiable(region, budget);
        self.stats.t_sat.record(start, &answer);
        answer
    }

    /// Returns whether a region has a point at all: entailment tests, abstract unsafe states.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that the solver cannot take.
    pub fn is_inhabited(
        &mut self,
        region: &Region<'_>,
        budget: &mut Budget,
    ) -> Result<bool, EngineError> {
        if region.is_empty() {
            return Ok(false);
        }
        if region.is_box() {
            return Ok(true);
        }
        Ok(!self.inhabitant(region, budget)?.refuted())
    }

    /// A point of a narrowed conjunction.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that the solver cannot take.
    pub fn narrowed_inhabitant(
        &mut self,
        conjunction: &Conjunction,
        sides: &IntBox,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        let start = Instant::now();
        let answer = self.environment.inhabitant(conjunction, sides, budget);
        self.stats.entailment.record(start, &answer);
        answer
    }

    /// A point of a region.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that the solver cannot take.
    pub fn inhabitant(
        &mut self,
        region: &Region<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        let start = Instant::now();
        let answer = self.environment.is_satisfiable(region, budget);
        self.stats.entailment.record(start, &answer);
        answer
    }
}

impl TestStats {
    fn record(&mut self, start: Instant, answer: &Result<Answer<State>, EngineError>) {
        self.asked += 1;
        self.time += start.elapsed();
        if matches!(answer, Ok(Answer::Refuted)) {
            self.refuted += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    /// Notes the limit that it is given.
    struct Noting(Rc<Cell<Option<u64>>>);

    impl Selection for Noting {
        fn enter(&mut self, _: &Region<'_>) {}

        fn limit_boxes(&mut self, limit: Option<u64>) {
            self.0.set(limit);
        }

        fn is_selected(
            &mut self,
            _: &Region<'_>,
            _: usize,
            _: &mut Budget,
        ) -> Result<Answer<State>, EngineError> {
            Ok(Answer::Refuted)
        }
    }

    #[test]
    fn two_solvers_both_get_the_limit_on_boxes() {
        let limits = [Rc::new(Cell::new(None)), Rc::new(Cell::new(None))];
        let [exact, relaxed] = limits.clone().map(|limit| Box::new(Noting(limit)));
        TwoSolvers { exact, relaxed }.limit_boxes(Some(4));
        assert_eq!(limits.map(|limit| limit.get()), [Some(4), Some(4)]);
    }
}
