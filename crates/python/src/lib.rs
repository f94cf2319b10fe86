//! The native half of the Python package `policert`: requests from dictionaries, outcomes as JSON,
//! runs of environments as arrays. What users see, objects with words of their own, is Python:
//! `crates/python/python/policert`.

mod commands;
mod environment;
mod episode;
mod failure;
mod options;
mod run;
mod spaces;
mod vector_environment;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The native half of the package.
#[pymodule]
mod _policert {
    #[pymodule_export]
    use crate::commands::{
        certify, choices, convert, initial_box, interface, query, reach, shape, simulate, verify,
        version,
    };
    #[pymodule_export]
    use crate::environment::Environment;
    #[pymodule_export]
    use crate::failure::Failed;
    #[pymodule_export]
    use crate::options::Kept;
    #[pymodule_export]
    use crate::spaces::widths;
    #[pymodule_export]
    use crate::vector_environment::VectorEnvironment;
}
