//! The transitions of an MDP backwards.

use crate::Mdp;

/// By state: the choices that may lead to it.
#[derive(Debug)]
pub(crate) struct Predecessors {
    starts: Vec<u32>,
    choices: Vec<u32>,
    /// By choice: its state.
    state_of: Vec<u32>,
}

impl Predecessors {
    pub(crate) fn new(mdp: &Mdp) -> Self {
        let mut starts = vec![0u32; mdp.states() + 1];
        let mut state_of = vec![0u32; mdp.choices()];
        for state in mdp.state_range() {
            for &successor in mdp.all_successors(state) {
                starts[successor as usize] += 1;
            }
            for choice in mdp.choices_of(state) {
                state_of[choice as usize] = state;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        // Filled from the end, so that the starts come out right.
        let mut choices = vec![0u32; mdp.transitions()];
        for choice in (0..mdp.choice_count()).rev() {
            for &successor in mdp.successors(choice) {
                let at = &mut starts[successor as usize];
                *at -= 1;
                choices[*at as usize] = choice;
            }
        }
        Self { starts, choices, state_of }
    }

    /// The choices that may lead to `state`, in ascending order.
    #[inline]
    pub(crate) fn choices(&self, state: u32) -> &[u32] {
        let state = state as usize;
        &self.choices[self.starts[state] as usize..self.starts[state + 1] as usize]
    }

    /// The state of a choice.
    #[inline]
    pub(crate) fn state_of(&self, choice: u32) -> u32 {
        self.state_of[choice as usize]
    }
}
