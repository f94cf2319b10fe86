//! From the lists of nodes that files have to trees whose parents stand before their children.

use super::ensemble::TreeNode;
use super::rule::Rule;
use crate::error::PolicyError;

/// What a file says about a node.
pub(super) enum ListedNode {
    /// A question, and the places of the two children in the file's lists.
    Split { input: usize, rule: Rule, children: [usize; 2] },
    /// The values of a leaf.
    Leaf(Vec<(usize, f64)>),
}

/// A tree in which each node occurs once.
pub(super) struct Assembled {
    /// Parents first.
    pub nodes: Vec<TreeNode>,
    /// The place of each node in the file's lists.
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
        parent: Option<(usize, usize, bool)>,
    }
    let mut tree = Assembled { nodes: Vec::new(), places: Vec::new(), reached: vec![false; count] };
    let mut waiting = vec![Waiting { place: root, parent: None }];
    while let Some(Waiting { place, parent }) = waiting.pop() {
        match tree.reached.get_mut(place) {
            Some(reached @ false) => *reached = true,
            Some(true) => return Err(twice(place)),
            None => return Err(missing(place)),
        }
        let node = read(place, parent.map(|(place, _, _)| place))?;
        let own = tree.nodes.len();
        if let Some((_, parent, is_left)) = parent
            && let TreeNode::Split { left, right, .. } = &mut tree.nodes[parent]
        {
            *(if is_left { left } else { right }) = own;
        }
        tree.places.push(place);
        tree.nodes.push(match node {
            ListedNode::Leaf(values) => TreeNode::Leaf(values),
            ListedNode::Split { input, rule, children: [left, right] } => {
                for (child, is_left) in [(right, false), (left, true)] {
                    let parent = Some((place, own, is_left));
                    waiting.push(Waiting { place: child, parent });
                }
                TreeNode::Split { input, rule, left: own, right: own }
            }
        });
    }
    Ok(tree)
}
