//! A model as it was read.

use std::ops::Deref;

use policert_jani::Loaded;
use policert_model::Model;
use policert_pddl::Task;

/// What was read of a model, and the task that it is if it was written in PDDL: a policy for the problem is
/// made of the task, which need not be grounded again.
#[derive(Debug)]
pub struct ModelSource {
    loaded: Loaded,
    /// The grounded problem.
    pub task: Option<Task>,
}

impl ModelSource {
    /// The model of this text, and its task.
    pub(crate) fn new(loaded: Loaded, task: Option<Task>) -> Self {
        Self { loaded, task }
    }

    /// The model alone.
    pub(crate) fn into_model(self) -> Option<Model> {
        self.loaded.into_model()
    }
}

impl Deref for ModelSource {
    type Target = Loaded;

    fn deref(&self) -> &Loaded {
        &self.loaded
    }
}
