//! Obligations: states of which it is to be found out whether they reach an unsafe state within
//! a number of steps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use policert_model::State;

/// The queue Q of Algorithm 1. A path to a state is kept as a chain of obligations.
#[derive(Debug)]
pub struct Obligations<S> {
    all: Vec<Obligation<S>>,
    /// Steps that are left, then the youngest first.
    queue: BinaryHeap<(Reverse<usize>, usize)>,
}

/// A state with how it was reached.
#[derive(Debug)]
struct Obligation<S> {
    state: State,
    /// The obligation before and the step from there; start states have none.
    arrival: Option<(usize, S)>,
}

/// An obligation taken from the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TakenObligation {
    /// Its number in the queue.
    pub id: usize,
    /// n: the steps that are left.
    pub steps_left: usize,
}

impl<S: Clone> Default for Obligations<S> {
    fn default() -> Self {
        Self { all: Vec::new(), queue: BinaryHeap::new() }
    }
}

impl<S: Clone> Obligations<S> {
    /// Adds ⟨s, n⟩ with how s was reached.
    pub fn insert(&mut self, state: State, steps_left: usize, arrival: Option<(usize, S)>) {
        let id = self.all.len();
        self.all.push(Obligation { state, arrival });
        self.queue.push((Reverse(steps_left), id));
    }

    /// Adds a state again, with this many steps left.
    pub fn insert_again(&mut self, id: usize, steps_left: usize) {
        self.queue.push((Reverse(steps_left), id));
    }

    /// Takes an obligation with the fewest steps left.
    pub fn pop(&mut self) -> Option<TakenObligation> {
        self.queue.pop().map(|(Reverse(steps_left), id)| TakenObligation { id, steps_left })
    }

    /// The state of an obligation.
    #[must_use]
    pub fn state(&self, id: usize) -> &State {
        &self.all[id].state
    }

    /// The path to an obligation: the start state, and the steps with the states that they reach.
    #[must_use]
    pub fn path_to(&self, id: usize) -> (State, Vec<(S, State)>) {
        let mut steps = Vec::new();
        let mut at = id;
        while let Some((before, step)) = &self.all[at].arrival {
            steps.push((step.clone(), self.all[at].state.clone()));
            at = *before;
        }
        steps.reverse();
        (self.all[at].state.clone(), steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewest_steps_first_and_paths_by_their_chain() {
        let mut queue: Obligations<char> = Obligations::default();
        queue.insert(vec![0], 3, None);
        let start = queue.pop().expect("one");
        queue.insert_again(start.id, 3);
        queue.insert(vec![1], 2, Some((start.id, 'a')));
        let next = queue.pop().expect("two");
        assert_eq!((next.steps_left, queue.state(next.id)), (2, &vec![1]));
        queue.insert(vec![2], 1, Some((next.id, 'b')));
        let last = queue.pop().expect("three");
        assert_eq!(queue.path_to(last.id), (vec![0], vec![('a', vec![1]), ('b', vec![2])]));
        assert_eq!(queue.pop().map(|t| t.steps_left), Some(3));
        assert_eq!(queue.pop(), None);
    }
}
