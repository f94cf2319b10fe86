//! A stack for recursion as deep as the readers allow.

use std::{panic, thread};

/// Bytes of the stack; only what is used takes memory.
const STACK: usize = 256 << 20;

/// Runs `f` where recursion over the deepest expressions does not overflow the stack.
pub(crate) fn with_deep_stack<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    let mut task = Some(f);
    let mut result = None;
    thread::scope(|scope| {
        let run = || result = task.take().map(|f| f());
        if let Ok(handle) = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run)
            && let Err(panic) = handle.join()
        {
            panic::resume_unwind(panic);
        }
    });
    // No thread can be had: the ordinary stack does for all but the deepest.
    match (result, task) {
        (Some(result), _) => result,
        (None, Some(f)) => f(),
        (None, None) => unreachable!("the task ran, or is still there"),
    }
}
