//! Diagrams from points and boxes.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::{DiagramEdge, DiagramNode, InnerNode, IntervalDiagram};
use crate::{IntBox, IntInterval};

/// Makes a diagram, each node of which stands for another set: what goes on alike is one node.
#[derive(Debug)]
pub struct DiagramBuilder {
    diagram: IntervalDiagram,
    known: FxHashMap<(u32, Box<[DiagramEdge]>), DiagramNode>,
    /// By level: the edges behind the last point's way so far.
    open: Vec<Vec<DiagramEdge>>,
    /// The last point, in the order of the levels.
    last: Vec<i64>,
    most_edges: usize,
}

/// Says that a diagram has more edges than are allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyEdges;

impl DiagramBuilder {
    /// A builder for points of a bounded space that is not empty. `order` has each dimension once.
    #[must_use]
    pub fn new(space: IntBox, order: Vec<usize>, most_edges: usize) -> Self {
        let open = vec![Vec::new(); order.len()];
        let diagram = IntervalDiagram { space, order, nodes: Vec::new(), edges: Vec::new() };
        Self { diagram, known: FxHashMap::default(), open, last: Vec::new(), most_edges }
    }

    /// Adds a point, whose values stand in the order of the levels: greater than the last one, value by value.
    ///
    /// # Errors
    /// Too many edges.
    pub fn push(&mut self, point: &[i64]) -> Result<(), TooManyEdges> {
        debug_assert!(self.last.is_empty() || self.last.as_slice() < point);
        let same = self.last.iter().zip(point).take_while(|(a, b)| a == b).count();
        self.close(same)?;
        self.last.clear();
        self.last.extend_from_slice(point);
        Ok(())
    }

    /// The diagram; `None` if it has no points, or all points of the space.
    ///
    /// # Errors
    /// Too many edges.
    pub fn finish(mut self) -> Result<Option<IntervalDiagram>, TooManyEdges> {
        self.close(0)?;
        let Some(edges) = self.open.first_mut().map(std::mem::take) else { return Ok(None) };
        if edges.is_empty() {
            return Ok(None);
        }
        let root = self.node(0, edges)?;
        Ok(self.rooted(root))
    }

    /// The diagram of the points of boxes; `None` if there are none, or all points of the space. `poll` is asked now and then.
    ///
    /// # Errors
    /// Too many edges within, or those of `poll`.
    pub fn of_boxes<E>(
        mut self,
        boxes: &[IntBox],
        poll: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<Result<Option<IntervalDiagram>, TooManyEdges>, E> {
        let all: Vec<u32> = (0..boxes.len()).filter_map(|at| u32::try_from(at).ok()).collect();
        let mut union = Union { boxes, known: FxHashMap::default(), poll };
        Ok(union.node(&mut self, 0, all)?.map(|root| root.and_then(|root| self.rooted(root))))
    }

    /// The diagram from its root; `None` if this is everything.
    fn rooted(self, root: DiagramNode) -> Option<IntervalDiagram> {
        // Each node has an edge that leads to it, but for the root, which is made last.
        debug_assert!(root == DiagramNode::EVERYTHING || root == self.diagram.root());
        (root != DiagramNode::EVERYTHING).then_some(self.diagram)
    }

    /// Closes the nodes on the way of the last point below a level.
    fn close(&mut self, level: usize) -> Result<(), TooManyEdges> {
        if self.last.is_empty() {
            return Ok(());
        }
        let mut to = DiagramNode::EVERYTHING;
        for below in (level..self.open.len()).rev() {
            let values = IntInterval::point(self.last[below]);
            join(&mut self.open[below], DiagramEdge { values, to });
            if below > level {
                let edges = std::mem::take(&mut self.open[below]);
                to = self.node(below, edges)?;
            }
        }
        Ok(())
    }

    /// The node with these edges; the one after them where they are the same for all values.
    fn node(&mut self, level: usize, edges: Vec<DiagramEdge>) -> Result<DiagramNode, TooManyEdges> {
        let diagram = &mut self.diagram;
        if let [only] = edges[..]
            && only.values == diagram.space[diagram.order[level]]
        {
            return Ok(only.to);
        }
        let level = u32::try_from(level).map_err(|_| TooManyEdges)?;
        let key = (level, edges.into_boxed_slice());
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        if diagram.edges.len() + key.1.len() > self.most_edges {
            return Err(TooManyEdges);
        }
        diagram.edges.extend_from_slice(&key.1);
        let end = u32::try_from(diagram.edges.len()).map_err(|_| TooManyEdges)?;
        diagram.nodes.push(InnerNode { level, end });
        let node = diagram.root();
        self.known.insert(key, node);
        Ok(node)
    }
}

/// Adds an edge to those of lower values.
fn join(edges: &mut Vec<DiagramEdge>, edge: DiagramEdge) {
    match edges.last_mut() {
        Some(last)
            if last.to == edge.to && last.values.hi.checked_add(1) == Some(edge.values.lo) =>
        {
            last.values.hi = edge.values.hi;
        }
        _ => edges.push(edge),
    }
}

/// The union of boxes, level by level.
struct Union<'b, 'p, E> {
    boxes: &'b [IntBox],
    /// By level and boxes.
    known: FxHashMap<(usize, Vec<u32>), Option<DiagramNode>>,
    poll: &'p mut dyn FnMut() -> Result<(), E>,
}

impl<E> Union<'_, '_, E> {
    /// The node of the union of some boxes from a level on.
    fn node(
        &mut self,
        builder: &mut DiagramBuilder,
        level: usize,
        mut some: Vec<u32>,
    ) -> Result<Result<Option<DiagramNode>, TooManyEdges>, E> {
        (self.poll)()?;
        let rest: Vec<usize> = builder.diagram.order[level..].to_vec();
        let sides = |at: u32| {
            let sides = &self.boxes[at as usize];
            rest.iter().map(move |&d| (sides[d].lo, sides[d].hi))
        };
        // Boxes that are alike from here on are one.
        some.sort_by(|&a, &b| sides(a).cmp(sides(b)).then(a.cmp(&b)));
        some.dedup_by(|a, b| sides(*a).eq(sides(*b)));
        if some.is_empty() {
            return Ok(Ok(None));
        }
        let is_all =
            |at: u32| rest.iter().all(|&d| self.boxes[at as usize][d] == builder.diagram.space[d]);
        if some.iter().any(|&at| is_all(at)) {
            return Ok(Ok(Some(DiagramNode::EVERYTHING)));
        }
        let key = (level, some);
        if let Some(&known) = self.known.get(&key) {
            return Ok(Ok(known));
        }
        let side = |at: u32| self.boxes[at as usize][rest[0]];
        // Where boxes begin and end.
        let mut changes: BTreeSet<i64> = BTreeSet::new();
        for &at in &key.1 {
            changes.insert(side(at).lo);
            if let Some(after) = side(at).hi.checked_add(1) {
                changes.insert(after);
            }
        }
        let begins: Vec<i64> = changes.into_iter().collect();
        let mut edges = Vec::new();
        for (k, &lo) in begins.iter().enumerate() {
            let hi = begins.get(k + 1).map_or(i64::MAX, |next| next - 1);
            let there = key.1.iter().copied().filter(|&at| side(at).lo <= lo && lo <= side(at).hi);
            let there: Vec<u32> = there.collect();
            match self.node(builder, level + 1, there)? {
                Err(error) => return Ok(Err(error)),
                Ok(None) => {}
                Ok(Some(to)) => {
                    join(&mut edges, DiagramEdge { values: IntInterval::new(lo, hi), to });
                }
            }
        }
        let node = match builder.node(level, edges) {
            Err(error) => return Ok(Err(error)),
            Ok(node) => Some(node),
        };
        self.known.insert(key, node);
        Ok(Ok(node))
    }
}
