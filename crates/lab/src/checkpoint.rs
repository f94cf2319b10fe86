//! Files from which training is continued.

use std::path::Path;

use policert_outcome::{Failure, write_file};
use policert_train::TrainError;

use crate::train;

/// Where checkpoints are written, one over the other.
pub(crate) struct CheckpointFile<'a> {
    path: Option<&'a Path>,
    /// The reason why the last one is missing, if it is: training goes on without.
    pub unwritten: Option<Failure>,
}

impl<'a> CheckpointFile<'a> {
    pub fn new(path: Option<&'a Path>) -> Self {
        Self { path, unwritten: None }
    }

    pub fn is_wanted(&self) -> bool {
        self.path.is_some()
    }

    pub fn write(&mut self, bytes: &[u8]) {
        let Some(path) = self.path else { return };
        let what = || format!("--checkpoint {}", path.display());
        let written = write_file(path, bytes);
        self.unwritten = written.err().map(|source| Failure::Output { what: what(), source });
    }
}

/// Reads the file from which training is continued.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    policert_files::read(path)
        .map_err(|error| Failure::invalid(format!("--resume {}: {error}", path.display())))
}

/// The failure of a training that was continued from this file.
pub(crate) fn failure(error: TrainError, resume: Option<&Path>) -> Failure {
    match (error, resume) {
        (TrainError::Checkpoint(what), Some(path)) => {
            Failure::invalid(format!("--resume {}: {what}", path.display()))
        }
        (error, _) => train::failure(error),
    }
}
