//! Memory that the system refuses, for instance under `ulimit -v`: the run ends as at a memory limit.
//!
//! An allocation that fails aborts the process, after the standard library's message. There is no
//! other way to hear of it in stable Rust than the signal of the abort.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use policert_outcome::ExitStatus;
use signal_hook::consts::SIGABRT;
use signal_hook::flag::register_conditional_shutdown;

/// From now on an abort ends with the status of a memory limit, while `is_meant` holds: an abort after
/// a panic has another reason.
///
/// # Errors
/// If the system does not let us handle the signal.
pub fn end_as_memory_limit(is_meant: Arc<AtomicBool>) -> io::Result<()> {
    register_conditional_shutdown(SIGABRT, i32::from(ExitStatus::Memory.code()), is_meant).map(drop)
}
