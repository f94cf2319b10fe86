//! Stopping while a file is read: whoever asks for a model may have a limit on time or memory.

use std::{fmt, sync::Arc};

/// Asked now and then while files are read: whether to stop. By default, never.
#[derive(Clone, Default)]
pub struct StopCheck(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl StopCheck {
    /// Stops where `stop` says so. It is asked often, and should look at a clock or a flag only.
    #[must_use]
    pub fn new(stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(stop)))
    }
}

impl fmt::Debug for StopCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "StopCheck(…)" } else { "StopCheck(never)" })
    }
}

/// Asks once in a number of steps; remembers that it was stopped.
#[derive(Clone, Default, Debug)]
pub(crate) struct Watch {
    check: StopCheck,
    steps: u32,
    stopped: bool,
}

/// Steps between two questions: some tenths of a millisecond.
const STEPS: u32 = 1024;

impl Watch {
    pub fn new(check: StopCheck) -> Self {
        Self { check, steps: 0, stopped: false }
    }

    /// One step; whether to stop.
    pub fn step(&mut self) -> bool {
        self.steps += 1;
        if self.steps >= STEPS {
            self.ask();
        }
        self.stopped
    }

    /// Asks at once, where a step takes long.
    pub fn ask(&mut self) -> bool {
        self.steps = 0;
        if let Some(check) = &self.check.0 {
            self.stopped |= check();
        }
        self.stopped
    }

    /// Returns whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }
}
