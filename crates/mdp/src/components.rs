//! Strongly connected components of a graph, in an order in which successors come first.

use policert_engine_api::{Budget, StopReason};

/// A graph whose nodes are numbered from 0.
pub(crate) trait Graph {
    /// Number of nodes.
    fn nodes(&self) -> usize;

    /// The node that edge `k` of `node` leads to: `None` behind the last edge, `Some(None)` for
    /// an edge that does not count.
    fn edge(&self, node: u32, k: u32) -> Option<Option<u32>>;
}

/// The components of the nodes that were searched: successors come before predecessors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Components {
    /// The nodes, component by component.
    pub nodes: Vec<u32>,
    /// By component, and one more: its first position in `nodes`.
    pub starts: Vec<u32>,
}

impl Components {
    /// The components, in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &[u32]> {
        self.starts.windows(2).map(|pair| &self.nodes[pair[0] as usize..pair[1] as usize])
    }
}

const UNSEEN: u32 = u32::MAX;
/// Of a node whose component is complete.
const DONE: u32 = u32::MAX - 1;

/// Tarjan's algorithm from these roots, without recursion.
pub(crate) fn components(
    graph: &impl Graph,
    roots: impl IntoIterator<Item = u32>,
    budget: &mut Budget,
) -> Result<Components, StopReason> {
    let mut low = vec![UNSEEN; graph.nodes()];
    let mut found = Components { nodes: Vec::new(), starts: vec![0] };
    // Nodes whose component is open, and the nodes on the way: number, next edge.
    let mut open: Vec<u32> = Vec::new();
    let mut path: Vec<(u32, u32, u32)> = Vec::new();
    let mut next = 0u32;
    for root in roots {
        if low[root as usize] != UNSEEN {
            continue;
        }
        low[root as usize] = next;
        path.push((root, next, 0));
        open.push(root);
        next += 1;
        while let Some((node, number, edge)) = path.last_mut() {
            budget.poll()?;
            if let Some(successor) = graph.edge(*node, *edge) {
                *edge += 1;
                let Some(successor) = successor else { continue };
                match low[successor as usize] {
                    UNSEEN => {
                        low[successor as usize] = next;
                        path.push((successor, next, 0));
                        open.push(successor);
                        next += 1;
                    }
                    DONE => {}
                    other => {
                        let own = &mut low[*node as usize];
                        *own = (*own).min(other);
                    }
                }
                continue;
            }
            let (node, number) = (*node, *number);
            path.pop();
            let own = low[node as usize];
            if own == number {
                while let Some(member) = open.pop() {
                    low[member as usize] = DONE;
                    found.nodes.push(member);
                    if member == node {
                        break;
                    }
                }
                found.starts.push(u32::try_from(found.nodes.len()).unwrap_or(u32::MAX));
            } else if let Some((parent, ..)) = path.last() {
                let parent = &mut low[*parent as usize];
                *parent = (*parent).min(own);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Lists(Vec<Vec<u32>>);

    impl Graph for Lists {
        fn nodes(&self) -> usize {
            self.0.len()
        }
        fn edge(&self, node: u32, k: u32) -> Option<Option<u32>> {
            self.0[node as usize].get(k as usize).map(|&to| Some(to))
        }
    }

    proptest! {
        #[test]
        fn components_are_mutually_reachable(
            edges in prop::collection::vec(prop::collection::vec(0u32..8, 0..4), 8),
        ) {
            let mut reach = [[false; 8]; 8];
            for (from, row) in reach.iter_mut().enumerate() {
                row[from] = true;
                for &to in &edges[from] {
                    row[to as usize] = true;
                }
            }
            for via in 0..8 {
                for from in 0..8 {
                    for to in 0..8 {
                        reach[from][to] |= reach[from][via] && reach[via][to];
                    }
                }
            }
            let graph = Lists(edges);
            let found = components(&graph, 0..8, &mut Budget::unlimited()).expect("no limit");
            let mut place = [0; 8];
            for (i, component) in found.iter().enumerate() {
                for &node in component {
                    place[node as usize] = i;
                }
            }
            prop_assert_eq!(found.nodes.len(), 8);
            for from in 0..8 {
                for to in 0..8 {
                    let together = reach[from][to] && reach[to][from];
                    prop_assert_eq!(place[from] == place[to], together);
                    prop_assert!(!reach[from][to] || place[to] <= place[from]);
                }
            }
        }
    }
}
