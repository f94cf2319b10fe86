//! Traps: end components of best choices that the target cannot be reached from by such choices.

use policert_engine_api::{Budget, StopReason};

use crate::components::{Graph, components};
use crate::fragment::Fragment;

/// The traps that best choices lead to from these states, each as the leaders of its blocks.
pub(crate) fn traps(
    fragment: &Fragment,
    initial: &[u32],
    budget: &mut Budget,
) -> Result<Vec<Vec<u32>>, StopReason> {
    let greedy = Greedy { fragment, best: (0..fragment.states()).map(|_| None).collect() };
    let graph = greedy.explored(initial, budget)?;
    let roots = initial.iter().map(|&state| fragment.find(state));
    let parts = components(&graph, roots, budget)?;
    let mut found = Vec::new();
    let mut part_of = vec![u32::MAX; fragment.states()];
    for (i, part) in (0u32..).zip(parts.iter()) {
        for &leader in part {
            part_of[leader as usize] = i;
        }
    }
    for (i, part) in (0u32..).zip(parts.iter()) {
        let inside = |state: u32| part_of[fragment.find(state) as usize] == i;
        let is_trap = part.len() > 1
            && part.iter().all(|&leader| match graph.best[leader as usize] {
                Some(choice) => {
                    fragment.is_complete(choice)
                        && fragment.successors(choice).iter().all(|&to| inside(to))
                }
                None => false,
            });
        if is_trap {
            found.push(part.to_vec());
        }
    }
    Ok(found)
}

/// The graph of the best choices of expanded blocks.
struct Greedy<'f> {
    fragment: &'f Fragment,
    /// By leader.
    best: Vec<Option<u32>>,
}

impl Greedy<'_> {
    /// With the best choices of all blocks that they lead to.
    fn explored(mut self, initial: &[u32], budget: &mut Budget) -> Result<Self, StopReason> {
        let mut seen = crate::StateSet::empty(self.fragment.states());
        let mut stack: Vec<u32> = initial.iter().map(|&state| self.fragment.find(state)).collect();
        while let Some(leader) = stack.pop() {
            budget.poll()?;
            let [_, hi] = self.fragment.value(leader);
            if !seen.insert(leader) || hi <= 0.0 {
                continue;
            }
            let best = self.fragment.best_choice(leader);
            self.best[leader as usize] = best;
            for &to in best.iter().flat_map(|&choice| self.fragment.successors(choice)) {
                stack.push(self.fragment.find(to));
            }
        }
        Ok(self)
    }
}

impl Graph for Greedy<'_> {
    fn nodes(&self) -> usize {
        self.best.len()
    }

    fn edge(&self, node: u32, k: u32) -> Option<Option<u32>> {
        let choice = self.best[node as usize]?;
        let to = *self.fragment.successors(choice).get(k as usize)?;
        Some(Some(self.fragment.find(to)))
    }
}
