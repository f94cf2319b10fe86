//! The states that transitions of a reason may not lead into.

use crate::Frames;

/// Says what transitions of a reason's states may not lead into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'f> {
    pub frames: &'f Frames,
    /// n: the states of ℱₙ.
    pub frame: usize,
}
