//! Work in a thread of its own: the interpreter goes on meanwhile, hears of progress, and can
//! interrupt it.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use policert_engine_api::{CancelFlag, Event, Observer};
use policert_outcome::{Failure, Outcome};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;

use crate::failure::failed;

/// Time between two looks at the signals of the interpreter.
const PATIENCE: Duration = Duration::from_millis(50);
/// The least time between two reports of progress.
const PAUSE: Duration = Duration::from_millis(100);

/// Sends events to the interpreter: all of them but reports of progress, which come in too great a
/// number.
struct Sender {
    events: mpsc::Sender<Event>,
    /// False if nobody is told; the interpreter is not woken then.
    is_heard: bool,
    last: Option<Instant>,
}

impl Observer for Sender {
    fn event(&mut self, event: Event) {
        if !self.is_heard {
            return;
        }
        if matches!(event, Event::Progress { .. } | Event::Interval { .. }) {
            if self.last.is_some_and(|last| last.elapsed() < PAUSE) {
                return;
            }
            self.last = Some(Instant::now());
        }
        // Nobody listens any more after an interruption.
        let _ = self.events.send(event);
    }
}

/// Does work that ends with an outcome, and returns that.
///
/// # Errors
/// A failure that is no stop, an exception of `progress`, or one of a signal such as Ctrl-C: the work is
/// stopped first.
pub fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&CancelFlag, &mut dyn Observer) -> Outcome<T> + Send,
) -> PyResult<Outcome<T>> {
    let cancel = CancelFlag::default();
    let (events, mut received) = mpsc::channel();
    let outcome = std::thread::scope(|scope| {
        let (flag, is_heard) = (&cancel, progress.is_some());
        let mut sender = Sender { events, is_heard, last: None };
        let worker = scope.spawn(move || work(flag, &mut sender));
        let mut interrupted = None;
        loop {
            let message;
            (received, message) = py.detach(move || {
                let message = received.recv_timeout(PATIENCE);
                (received, message)
            });
            let looked = match message {
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => py.check_signals(),
                Ok(event) => match progress {
                    Some(progress) => tell(py, progress, &event),
                    None => Ok(()),
                },
            };
            if let Err(error) = looked {
                cancel.raise();
                interrupted.get_or_insert(error);
            }
        }
        let result = py.detach(|| worker.join());
        match (interrupted, result) {
            (Some(error), _) => Err(error),
            (None, Ok(outcome)) => Ok(outcome),
            (None, Err(_)) => {
                Err(failed(&Failure::Internal("the work ended with a panic".to_owned())))
            }
        }
    })?;
    match &outcome.failure {
        Some(Failure::Stopped(_) | Failure::Rejected(_)) | None => Ok(outcome),
        Some(failure) => Err(failed(failure)),
    }
}

/// An outcome as JSON.
///
/// # Errors
/// An internal one.
pub fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value)
        .map_err(|error| failed(&Failure::Internal(format!("no JSON: {error}"))))
}

fn tell(py: Python<'_>, progress: &Bound<'_, PyAny>, event: &Event) -> PyResult<()> {
    let told = PyDict::new(py);
    match event {
        Event::Phase(name) => {
            told.set_item("event", "phase")?;
            told.set_item("phase", name)?;
        }
        Event::Progress { expanded, reached, waiting, transitions } => {
            told.set_item("event", "progress")?;
            told.set_item("expanded", expanded)?;
            told.set_item("reached", reached)?;
            told.set_item("waiting", waiting)?;
            told.set_item("transitions", transitions)?;
        }
        Event::Interval { lower, upper } => {
            told.set_item("event", "interval")?;
            told.set_item("lower", lower)?;
            told.set_item("upper", upper)?;
        }
        Event::Note(text) => {
            told.set_item("event", "note")?;
            told.set_item("text", text)?;
        }
        // The work of training is not asked for here.
        _ => return Ok(()),
    }
    progress.call1((told,))?;
    Ok(())
}
