//! Copies of the system for further threads.
//!
//! What comes out depends on the number of threads, and not on their speed: each piece of work has
//! its copy, and results are put together in the order of the work.

use std::panic::resume_unwind;
use std::thread;

use crate::policy_system::{Helper, PolicySystem};

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
