//! Limits while a policy is read: whoever asks for it may have one on time or memory.

use std::fmt;

use crate::error::PolicyError;

/// Asked before memory is taken, and now and then besides: whether that many bytes more are allowed.
type Ask<'a> = &'a mut dyn FnMut(u64) -> bool;

/// The limits under which a policy is read. By default there are none.
#[derive(Default)]
pub struct Meter<'a>(Option<Ask<'a>>);

impl<'a> Meter<'a> {
    /// Reading ends with [`PolicyError::Stopped`] where `ask` says no.
    pub fn new(ask: &'a mut dyn FnMut(u64) -> bool) -> Self {
        Self(Some(ask))
    }

    /// Before about this many bytes are taken; 0 looks at the clock alone.
    ///
    /// # Errors
    /// [`PolicyError::Stopped`] if they are not allowed.
    pub(crate) fn before(&mut self, bytes: usize) -> Result<(), PolicyError> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let is_allowed = self.0.as_mut().is_none_or(|ask| ask(bytes));
        if is_allowed { Ok(()) } else { Err(PolicyError::Stopped) }
    }

    /// Before a vector of doubles of this length is made.
    ///
    /// # Errors
    /// [`PolicyError::Stopped`] if that is not allowed.
    pub(crate) fn before_doubles(&mut self, length: usize) -> Result<(), PolicyError> {
        self.before(length.saturating_mul(size_of::<f64>()))
    }
}

impl fmt::Debug for Meter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Meter(…)" } else { "Meter(none)" })
    }
}
