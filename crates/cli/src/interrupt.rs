//! Ctrl-C: the first one asks the engines to stop, the second one ends the process.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use policert_engine_api::CancelFlag;
use policert_outcome::ExitStatus;

/// Raises `flag` at the first interrupt or termination signal.
///
/// # Errors
/// If the system does not let us handle signals.
pub fn stop_on_interrupt(flag: CancelFlag) -> anyhow::Result<()> {
    let again = AtomicBool::new(false);
    ctrlc::set_handler(move || {
        if again.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(ExitStatus::Interrupted.code()));
        }
        flag.raise();
        // Nothing can be done if standard error is gone.
        let _ = writeln!(std::io::stderr(), "\ninterrupted: stopping; once more to stop at once");
    })?;
    Ok(())
}
