//! The files that loading a problem reads.

use std::path::PathBuf;

use policert_outcome::InputRole;

/// The files that were read.
pub type Files = Vec<(InputRole, PathBuf)>;
