//! Witnesses of earlier queries.

use std::collections::VecDeque;

/// Witnesses kept for each output.
const KEPT: usize = 8;

/// The latest witnesses of all queries, by output, as coordinates along the axes.
#[derive(Debug)]
pub(crate) struct Memory {
    witnesses: Vec<VecDeque<Box<[i64]>>>,
}

impl Memory {
    pub fn new(outputs: usize) -> Self {
        Self { witnesses: vec![VecDeque::new(); outputs] }
    }

    /// Keeps a witness, and forgets the oldest.
    pub fn keep(&mut self, output: usize, point: Box<[i64]>) {
        let kept = &mut self.witnesses[output];
        if kept.contains(&point) {
            return;
        }
        if kept.len() == KEPT {
            kept.pop_back();
        }
        kept.push_front(point);
    }

    /// The witnesses of an output, the latest first.
    pub fn of(&self, output: usize) -> impl Iterator<Item = &[i64]> {
        self.witnesses[output].iter().map(|point| &**point)
    }
}
