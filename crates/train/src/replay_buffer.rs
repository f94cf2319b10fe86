//! The most recent transitions, to learn from in random order.

use crate::Random;

/// Says what happened in one step.
#[derive(Clone, Copy, Debug)]
pub struct StoredTransition<'a> {
    /// The state before.
    pub state: &'a [f64],
    /// The action, in units of half its range from its middle.
    pub action: &'a [f64],
    pub reward: f64,
    /// The state after.
    pub next: &'a [f64],
    /// True if nothing follows.
    pub is_terminal: bool,
}

/// A ring of transitions.
#[derive(Clone, Debug)]
pub struct ReplayBuffer {
    capacity: usize,
    dimension: usize,
    /// State, next state, action, reward, 1 if something follows: one row for each transition.
    rows: Vec<f64>,
    width: usize,
    oldest: usize,
}

impl ReplayBuffer {
    /// An empty buffer for at least one transition.
    #[must_use]
    pub fn new(capacity: usize, dimension: usize, actions: usize) -> Self {
        let width = 2 * dimension + actions + 2;
        Self { capacity: capacity.max(1), dimension, rows: Vec::new(), width, oldest: 0 }
    }

    /// Number of transitions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len() / self.width
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a transition, in place of the oldest one if it is full.
    pub fn push(&mut self, transition: &StoredTransition<'_>) {
        let follows = if transition.is_terminal { 0.0 } else { 1.0 };
        let parts = [transition.state, transition.next, transition.action];
        let values = parts.into_iter().flatten().copied().chain([transition.reward, follows]);
        if self.len() < self.capacity {
            self.rows.extend(values);
        } else {
            let start = self.oldest * self.width;
            let row = &mut self.rows[start..start + self.width];
            row.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
            self.oldest = (self.oldest + 1) % self.capacity;
        }
    }

    /// A random transition; none if it is empty.
    pub fn sample(&self, random: &mut Random) -> Option<StoredTransition<'_>> {
        if self.is_empty() {
            return None;
        }
        let start = random.below(self.len()) * self.width;
        let row = &self.rows[start..start + self.width];
        let (state, row) = row.split_at(self.dimension);
        let (next, row) = row.split_at(self.dimension);
        let (action, row) = row.split_at(row.len() - 2);
        Some(StoredTransition { state, action, reward: row[0], next, is_terminal: row[1] < 0.5 })
    }

    /// All states before a step.
    pub fn states(&self) -> impl Iterator<Item = &[f64]> {
        self.rows.chunks_exact(self.width).map(|row| &row[..self.dimension])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_leave_first() {
        let mut buffer = ReplayBuffer::new(3, 1, 1);
        let mut random = Random::new(1);
        assert!(buffer.sample(&mut random).is_none());
        for k in 0..5 {
            let x = f64::from(k);
            buffer.push(&StoredTransition {
                state: &[x],
                action: &[-x],
                reward: 2.0 * x,
                next: &[x + 1.0],
                is_terminal: k == 4,
            });
        }
        let mut states: Vec<f64> = buffer.states().map(|state| state[0]).collect();
        states.sort_by(f64::total_cmp);
        assert_eq!(states, [2.0, 3.0, 4.0]);
        for _ in 0..50 {
            let sample = buffer.sample(&mut random).expect("not empty");
            let x = sample.state[0];
            assert_eq!((sample.action, sample.next), (&[-x][..], &[x + 1.0][..]));
            assert!((sample.reward - 2.0 * x).abs() < 1e-12);
            assert_eq!(sample.is_terminal, x > 3.5);
        }
    }
}
