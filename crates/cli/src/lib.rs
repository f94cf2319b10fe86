//! `policert`: is my learned action policy safe in this environment?
//!
//! Arguments and printing; everything else is in `policert-verify`. A program that has engines of its
//! own besides calls [`main`] with them; `examples/glance.rs` is one.

#![warn(missing_docs)]

mod args;
mod commands;
mod interrupt;
mod limits;
mod progress;
mod refused_memory;
mod render;
mod screen;
mod style;

use std::ffi::OsString;
use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use clap::error::ContextValue;
use policert_outcome::ExitStatus;
use policert_verify::Registry;

use args::CommandLine;

/// Conditions and formulas may be deeply nested; the pages are only used if they are.
const STACK: usize = 512 << 20;
/// Less than this is not tried where the system limits the memory.
const LEAST_STACK: usize = 16 << 20;

/// The whole program, for the arguments of this process. These engines answer.
#[must_use]
pub fn main(engines: Registry) -> ExitCode {
    ExitCode::from(run(std::env::args_os(), engines).code())
}

/// Runs a command line, the program's name first, to its end.
pub fn run(arguments: impl IntoIterator<Item = OsString>, engines: Registry) -> ExitStatus {
    let command_line = match CommandLine::read(arguments, &engines) {
        Ok(command_line) => command_line,
        Err(mut error) => {
            // Help and version are no errors; they go to standard output.
            print_error(&mut error);
            return if error.use_stderr() { ExitStatus::Usage } else { ExitStatus::Safe };
        }
    };
    without_panic(move || commands::run(command_line, engines))
}

/// Prints help; or what is wrong with the arguments, which a shell may have made of names of files:
/// without colours then.
fn print_error(error: &mut clap::Error) {
    // Nothing can be done if nobody listens.
    let _ = if error.use_stderr() {
        let given: Vec<_> = error
            .context()
            .filter_map(|(kind, value)| match value {
                ContextValue::String(text) => Some((kind, policert_files::name(text).to_string())),
                _ => None,
            })
            .collect();
        for (kind, text) in given {
            error.insert(kind, ContextValue::String(text));
        }
        let text = screen::guarded(&error.render().to_string());
        std::io::stderr().write_all(text.as_bytes())
    } else {
        error.print()
    };
}

/// A thread on the deepest stack that the system gives.
fn spawned<T: Send + 'static>(
    action: impl FnOnce() -> Option<T> + Send + 'static,
) -> std::io::Result<thread::JoinHandle<Option<T>>> {
    let action = Arc::new(Mutex::new(Some(action)));
    let mut stack = STACK;
    loop {
        let action = Arc::clone(&action);
        let run = move || action.lock().ok().and_then(|mut action| action.take())?();
        match thread::Builder::new().name("policert".to_owned()).stack_size(stack).spawn(run) {
            Err(_) if stack > LEAST_STACK => stack /= 2,
            result => return result,
        }
    }
}

/// Runs `action` on a deep stack. A panic is our own mistake: it becomes a message and an exit
/// status, whatever was about to be said.
fn without_panic(action: impl FnOnce() -> ExitStatus + Send + 'static) -> ExitStatus {
    let message: Arc<Mutex<Option<String>>> = Arc::default();
    let slot = Arc::clone(&message);
    let no_panic = Arc::new(AtomicBool::new(true));
    // Without the handler such an end is an abort, which says nothing wrong either.
    let _ = refused_memory::end_as_memory_limit(Arc::clone(&no_panic));
    let usual_hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        no_panic.store(false, Ordering::SeqCst);
        if let Ok(mut slot) = slot.lock() {
            slot.get_or_insert_with(|| info.to_string());
        }
    }));
    let guarded = move || panic::catch_unwind(AssertUnwindSafe(action)).ok();
    let worker = match spawned(guarded) {
        Ok(worker) => worker,
        Err(error) => {
            let message = "the system does not give the memory to start a thread";
            let _ = writeln!(std::io::stderr(), "{message}: {error}");
            return ExitStatus::Memory;
        }
    };
    let status = worker.join().ok().flatten();
    panic::set_hook(usual_hook);
    status.unwrap_or_else(|| {
        let message = message.lock().ok().and_then(|mut message| message.take());
        let message = message.unwrap_or_else(|| "a thread ended without result".to_owned());
        let _ = writeln!(
            std::io::stderr(),
            "internal error: {message}\nThis is a mistake of policert; nothing is said about the \
             policy."
        );
        ExitStatus::Internal
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_internal_error() {
        let number: Result<u8, _> = "x".parse();
        let status = without_panic(move || {
            number.expect("meant to fail");
            ExitStatus::Safe
        });
        assert_eq!(status, ExitStatus::Internal);
        assert_eq!(without_panic(|| ExitStatus::Unsafe), ExitStatus::Unsafe);
    }
}
