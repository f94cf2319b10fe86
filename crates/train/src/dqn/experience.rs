//! The most recent steps, to learn from in random order.

use super::masks::Masks;

/// Holds what is kept of a step besides states and masks.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct StepOutcome {
    pub output: u32,
    pub reward: f64,
    /// Weight of the value of the state after it: 0 where nothing follows.
    pub weight: f64,
}

/// A ring of steps. States are kept as the network reads them.
#[derive(Clone, Debug)]
pub(crate) struct Experience {
    capacity: usize,
    width: usize,
    /// State before and after, one row for each step.
    states: Vec<f32>,
    outcomes: Vec<StepOutcome>,
    /// Labels applicable before and after.
    masks: Masks,
    next: usize,
}

impl Experience {
    pub(crate) fn new(capacity: usize, inputs: usize, outputs: usize) -> Self {
        let masks = Masks::new(outputs);
        Self { capacity, width: inputs, states: Vec::new(), outcomes: Vec::new(), masks, next: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Adds a step, in place of the oldest one if it is full.
    pub(crate) fn push(&mut self, states: [&[f64]; 2], masks: [&[bool]; 2], outcome: StepOutcome) {
        let at = self.next;
        if at == self.outcomes.len() {
            self.states.resize((at + 1) * 2 * self.width, 0.0);
            self.outcomes.push(outcome);
        }
        self.outcomes[at] = outcome;
        let row = &mut self.states[at * 2 * self.width..][..2 * self.width];
        #[expect(clippy::cast_possible_truncation, reason = "values of variables are small")]
        row.iter_mut().zip(states.into_iter().flatten()).for_each(|(to, &from)| *to = from as f32);
        for (k, mask) in masks.into_iter().enumerate() {
            self.masks.set(2 * at + k, mask);
        }
        self.next = (at + 1) % self.capacity;
    }

    /// The states before and after a step.
    pub(crate) fn states(&self, at: usize) -> (&[f32], &[f32]) {
        self.states[at * 2 * self.width..][..2 * self.width].split_at(self.width)
    }

    pub(crate) fn outcome(&self, at: usize) -> StepOutcome {
        self.outcomes[at]
    }

    /// Returns whether a label was applicable before the step.
    pub(crate) fn applicable(&self, at: usize, output: usize) -> bool {
        self.masks.get(2 * at, output)
    }

    /// Returns whether a label is applicable after the step.
    pub(crate) fn applicable_next(&self, at: usize, output: usize) -> bool {
        self.masks.get(2 * at + 1, output)
    }

    /// Its parts, for a checkpoint.
    pub(crate) fn parts(
        &mut self,
    ) -> (&mut Vec<f32>, &mut Vec<StepOutcome>, &mut Vec<u64>, &mut usize) {
        (&mut self.states, &mut self.outcomes, self.masks.words(), &mut self.next)
    }

    /// Returns whether the parts fit together.
    pub(crate) fn is_consistent(&mut self) -> bool {
        let count = self.outcomes.len();
        let words = 2 * count * self.masks.row_words();
        self.states.len() == 2 * count * self.width
            && self.masks.words().len() == words
            && count <= self.capacity
            && (self.next == count % self.capacity || count == self.capacity)
            && self.next < self.capacity
            && self.outcomes.iter().all(|o| (o.output as usize) < self.masks.outputs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_leave_first() {
        let mut experience = Experience::new(3, 1, 70);
        for k in 0..5u32 {
            let x = f64::from(k);
            let mut mask = vec![false; 70];
            mask[k as usize] = true;
            let mut after = vec![false; 70];
            after[65 + k as usize] = true;
            let outcome = StepOutcome { output: k, reward: x, weight: 0.5 };
            experience.push([&[x], &[x + 1.0]], [&mask, &after], outcome);
        }
        assert_eq!(experience.len(), 3);
        assert!(experience.is_consistent());
        for (at, k) in [(0, 3u32), (1, 4), (2, 2)] {
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let x = k as f32;
            assert_eq!(experience.states(at), (&[x][..], &[x + 1.0][..]));
            assert_eq!(experience.outcome(at).output, k);
            let before: Vec<usize> = (0..70).filter(|&o| experience.applicable(at, o)).collect();
            let after: Vec<usize> =
                (0..70).filter(|&o| experience.applicable_next(at, o)).collect();
            assert_eq!((before, after), (vec![k as usize], vec![65 + k as usize]));
        }
    }
}
