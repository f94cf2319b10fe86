//! Copies of the system for further threads.
//!
//! What comes out depends on the number of threads, and not on their speed: each piece of work has
//! its copy, and results are put together in the order of the work.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::thread;

use policert_symbolic::PolicyRegion;

use crate::config::Config;
use crate::frame_transition::Environment;
use crate::frames::Escape;
use crate::instance::{PolicySystem, SystemStatistics};
use crate::joint::Joins;
use crate::order::Ordering;
use crate::start_states::StartSelection;

/// A system without what one thread alone may have: a solver.
pub(crate) struct Helper<'a> {
    config: &'a Config,
    environment: Environment<'a>,
    ordering: Ordering,
    statistics: SystemStatistics,
    joins: Joins,
    policy: Option<PolicyRegion<'a>>,
    start: StartSelection,
    escapes: VecDeque<Escape>,
}

impl<'a> From<PolicySystem<'a>> for Helper<'a> {
    fn from(system: PolicySystem<'a>) -> Self {
        Self {
            config: system.config,
            environment: system.environment,
            ordering: system.ordering,
            statistics: system.statistics,
            joins: system.joins,
            policy: system.policy,
            start: system.start,
            escapes: system.escapes,
        }
    }
}

impl<'a> From<Helper<'a>> for PolicySystem<'a> {
    fn from(helper: Helper<'a>) -> Self {
        Self {
            config: helper.config,
            environment: helper.environment,
            ordering: helper.ordering,
            statistics: helper.statistics,
            joins: helper.joins,
            policy: helper.policy,
            start: helper.start,
            escapes: helper.escapes,
            z3: None,
            helpers: Vec::new(),
        }
    }
}

impl Helper<'_> {
    pub fn statistics(&self) -> SystemStatistics {
        self.statistics.with_queries(self.policy.as_ref())
    }
}

impl PolicySystem<'_> {
    /// Does the first piece of work on this thread, and each of the others on one of its own.
    pub(crate) fn on_threads<T: Send, R: Send>(
        &mut self,
        work: Vec<T>,
        run: impl Fn(&mut Self, T) -> R + Sync,
    ) -> Vec<R> {
        let mut work = work.into_iter();
        let Some(first) = work.next() else { return Vec::new() };
        let mut helpers = std::mem::take(&mut self.helpers).into_iter();
        let run = &run;
        let mut results = Vec::new();
        thread::scope(|scope| {
            let running: Vec<_> = helpers
                .by_ref()
                .zip(work.by_ref())
                .map(|(helper, piece)| {
                    scope.spawn(move || {
                        let mut system = PolicySystem::from(helper);
                        let result = run(&mut system, piece);
                        (Helper::from(system), result)
                    })
                })
                .collect();
            results.push(run(self, first));
            for thread in running {
                let (helper, result) = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
                self.helpers.push(helper);
                results.push(result);
            }
        });
        self.helpers.extend(helpers);
        results.extend(work.map(|piece| run(self, piece)));
        results
    }
}
