//! From the lists of nodes that files have to trees whose parents stand before their children.

use super::categories::Categories;
use super::ensemble::TreeNode;
use super::rule::Rule;
use crate::error::PolicyError;

/// A node, as a file lists it.
pub(super) enum ListedNode {
    /// A question, and the places of the two children in the file's lists.
    Split { input: usize, rule: Rule, children: [usize; 2] },
    /// Asks whether an input is one of some categories; with the places of the two children, inside
    /// first.
    Categories { input: usize, categories: Categories, children: [usize; 2] },
    /// The values of a leaf.
    Leaf(Vec<(usize, f64)>),
}

impl ListedNode {
    /// The number of nodes that it becomes.
    fn size(&self) -> usize {
        match self {
            Self::Split { .. } | Self::Leaf(_) => 1,
            Self::Categories { categories, .. } => categories.size(),
        }
    }
}

/// A tree in which each node of the file occurs once.
pub(super) struct Assembled {
    /// Parents first.
    pub nodes: Vec<TreeNode>,
    /// The place of each node in the file's lists; a split by categories is several nodes.
    pub places: Vec<usize>,
    /// By place, whether the node was reached.
    pub reached: Vec<bool>,
}

/// Collects what is below the node at place `root`, of `count` nodes. `read` gives what the file
/// says about the node at a place, and is told the place of its parent.
///
/// # Errors
/// Those of `read`; `twice` for a node that is the child of two nodes, of itself or twice of one;
/// `missing` for a place that does not exist.
pub(super) fn assemble(
    (count, root): (usize, usize),
    mut read: impl FnMut(usize, Option<usize>) -> Result<ListedNode, PolicyError>,
    twice: impl Fn(usize) -> PolicyError,
    missing: impl Fn(usize) -> PolicyError,
) -> Result<Assembled, PolicyError> {
    /// A child that waits: its place, its parent's place and number, and on which side it is.
    struct Waiting {
        place: usize,
        parent: Option<(usize, usize, usize)>,
    }
    let mut reached = vec![false; count];
    // The nodes by the file, their places, and the numbers of their children.
    let mut listed: Vec<(ListedNode, usize, [usize; 2])> = Vec::new();
    let mut waiting = vec![Waiting { place: root, parent: None }];
    while let Some(Waiting { place, parent }) = waiting.pop() {
        match reached.get_mut(place) {
            Some(reached @ false) => *reached = true,
            Some(true) => return Err(twice(place)),
            None => return Err(missing(place)),
        }
        let node = read(place, parent.map(|(place, ..)| place))?;
        let own = listed.len();
        if let Some((_, parent, side)) = parent {
            listed[parent].2[side] = own;
        }
        match &node {
            ListedNode::Leaf(_) => {}
            ListedNode::Split { children, .. } | ListedNode::Categories { children, .. } => {
                for side in [1, 0] {
                    let parent = Some((place, own, side));
                    waiting.push(Waiting { place: children[side], parent });
                }
            }
        }
        listed.push((node, place, [own; 2]));
    }
    let mut starts = Vec::with_capacity(listed.len());
    let mut size = 0;
    for (node, ..) in &listed {
        starts.push(size);
        size += node.size();
    }
    let (mut nodes, mut places) = (Vec::with_capacity(size), Vec::with_capacity(size));
    for (node, place, children) in listed {
        let [left, right] = children.map(|child| starts[child]);
        match node {
            ListedNode::Leaf(values) => nodes.push(TreeNode::Leaf(values)),
            ListedNode::Split { input, rule, .. } => {
                nodes.push(TreeNode::Split { input, rule, left, right });
            }
            ListedNode::Categories { input, categories, .. } => {
                let first = nodes.len();
                nodes.extend(categories.nodes(input, first, [left, right]));
            }
        }
        places.resize(nodes.len(), place);
    }
    Ok(Assembled { nodes, places, reached })
}
