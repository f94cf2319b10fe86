//! Interval decision diagrams: finite sets of integer points, of which what goes on alike is kept once
//! (Strehl and Thiele, *Symbolic model checking of process networks using interval diagram techniques*, 1998).

mod build;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashSet;

use crate::{IntBox, IntInterval};

pub use build::{DiagramBuilder, TooManyEdges};

/// A node: [`EVERYTHING`](DiagramNode::EVERYTHING), or one that tells apart values of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DiagramNode(u32);

impl DiagramNode {
    /// All that is left: the variables that were not asked have any value of the space.
    pub const EVERYTHING: Self = Self(0);

    /// The position of the node in the list, from 1; 0 of everything.
    #[must_use]
    pub fn position(self) -> usize {
        self.0 as usize
    }

    fn index(self) -> Option<usize> {
        self.position().checked_sub(1)
    }
}

/// Values of a variable, and where they lead to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DiagramEdge {
    /// The values.
    pub values: IntInterval,
    /// The node after them.
    pub to: DiagramNode,
}

/// A set of points of a bounded space, not empty: those on whose way from the root each variable that is asked has a
/// value of the edge that is taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IntervalDiagram {
    space: IntBox,
    /// The dimensions in the order in which they are asked.
    order: Vec<usize>,
    /// Those after a node stand before it. The last one is the root.
    nodes: Vec<InnerNode>,
    edges: Vec<DiagramEdge>,
}

/// Nodes that a search has visited.
type Visits = FxHashSet<DiagramNode>;

/// A node that asks for a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct InnerNode {
    /// The position of its dimension in the order.
    level: u32,
    /// The end of its edges, which begin where those of the node before end.
    end: u32,
}

/// Looks at a part of a diagram, with what it returned for the part before, and returns what the parts below are told, or
/// `None` where they are not visited.
pub type PartVisit<'v, T, E> = dyn FnMut(&IntBox, &T, PartEnd) -> Result<Option<T>, E> + 'v;

/// Where a part of a diagram ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartEnd {
    /// Before a variable is asked.
    Open,
    /// Behind all: the box of the part is in the set.
    Whole,
}

/// Says why nodes are no diagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoDiagram {
    /// The position of the first node that is wrong.
    pub node: usize,
}

impl IntervalDiagram {
    /// A diagram from its nodes, each with the position of its dimension in `order` and its edges; the last one is the root.
    ///
    /// # Errors
    /// The first node that is wrong: edges are disjoint, in order, not empty and within the space, and lead to nodes that
    /// stand before and ask for later dimensions. Nothing is a diagram without nodes, or with an order that is none.
    pub fn new(
        space: IntBox,
        order: Vec<usize>,
        nodes: impl IntoIterator<Item = (usize, Vec<(IntInterval, usize)>)>,
    ) -> Result<Self, NoDiagram> {
        let mut asked: Vec<usize> = order.clone();
        asked.sort_unstable();
        asked.dedup();
        let is_order = asked.len() == order.len() && asked.iter().all(|&d| d < space.dimensions());
        if !is_order || space.is_empty() || !space.is_bounded() {
            return Err(NoDiagram { node: 0 });
        }
        let mut diagram = Self { space, order, nodes: Vec::new(), edges: Vec::new() };
        for (node, (level, edges)) in nodes.into_iter().enumerate() {
            diagram.add(level, &edges).ok_or(NoDiagram { node })?;
        }
        if diagram.nodes.is_empty() { Err(NoDiagram { node: 0 }) } else { Ok(diagram) }
    }

    /// Adds a node; `None` if it is wrong. Edges lead to 0, everything, or to nodes by their position from 1.
    fn add(&mut self, level: usize, edges: &[(IntInterval, usize)]) -> Option<()> {
        let side = self.space[*self.order.get(level)?];
        let mut after = side.lo;
        let mut is_full = false;
        for (values, to) in edges {
            let is_within = after <= values.lo && values.lo <= values.hi && values.hi <= side.hi;
            let is_later = match to.checked_sub(1) {
                None => true,
                Some(at) => level < self.nodes.get(at)?.level as usize,
            };
            if is_full || !is_within || !is_later {
                return None;
            }
            self.edges
                .push(DiagramEdge { values: *values, to: DiagramNode(u32::try_from(*to).ok()?) });
            match values.hi.checked_add(1) {
                Some(next) => after = next,
                None => is_full = true,
            }
        }
        let end = u32::try_from(self.edges.len()).ok()?;
        self.nodes.push(InnerNode { level: u32::try_from(level).ok()?, end });
        (!edges.is_empty()).then_some(())
    }

    /// The space.
    #[must_use]
    pub fn space(&self) -> &IntBox {
        &self.space
    }

    /// The dimensions in the order in which they are asked.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Number of edges.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// The nodes as [`IntervalDiagram::new`] takes them.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (usize, &[DiagramEdge])> {
        (0..self.nodes.len()).map(|at| (self.nodes[at].level as usize, self.edges_of(at)))
    }

    fn edges_of(&self, at: usize) -> &[DiagramEdge] {
        let begin = at.checked_sub(1).map_or(0, |before| self.nodes[before].end as usize);
        &self.edges[begin..self.nodes[at].end as usize]
    }

    fn root(&self) -> DiagramNode {
        DiagramNode(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX))
    }

    /// Returns whether a point lies in the set.
    #[must_use]
    pub fn contains(&self, point: &[i64]) -> bool {
        let mut node = self.root();
        while let Some(at) = node.index() {
            let value = point[self.dimension(at)];
            let edges = self.edges_of(at);
            let next = edges.partition_point(|edge| edge.values.hi < value);
            match edges.get(next).filter(|edge| edge.values.lo <= value) {
                Some(edge) => node = edge.to,
                None => return false,
            }
        }
        self.space.contains(point)
    }

    fn dimension(&self, at: usize) -> usize {
        self.order[self.nodes[at].level as usize]
    }

    /// Returns whether all points of a box lie in the set.
    #[must_use]
    pub fn includes(&self, sides: &IntBox) -> bool {
        let mut visits = Visits::default();
        sides.is_empty()
            || (self.space.includes(sides) && self.includes_after(self.root(), sides, &mut visits))
    }

    fn includes_after(&self, node: DiagramNode, sides: &IntBox, visits: &mut Visits) -> bool {
        let Some(at) = node.index() else { return true };
        let side = sides[self.dimension(at)];
        let edges = self.edges_of(at);
        let first = edges.partition_point(|edge| edge.values.hi < side.lo);
        if side.is_point() {
            // Most boxes are narrow: nothing is noted on the way.
            return edges.get(first).is_some_and(|edge| {
                edge.values.lo <= side.lo && self.includes_after(edge.to, sides, visits)
            });
        }
        if !visits.insert(node) {
            // It was found to be included: where not, the search ends at once.
            return true;
        }
        let mut next = side.lo;
        for edge in &edges[first..] {
            if next < edge.values.lo || !self.includes_after(edge.to, sides, visits) {
                return false;
            }
            if side.hi <= edge.values.hi {
                return true;
            }
            next = edge.values.hi + 1;
        }
        false
    }

    /// A box of points of the set that meets `sides`, and among the values of each variable in turn has the
    /// greatest share of it.
    #[must_use]
    pub fn nearest(&self, sides: &IntBox) -> Option<IntBox> {
        let mut found = self.space.clone();
        let meets = !self.space.intersect(sides).is_empty();
        (meets && self.nearest_after(self.root(), sides, &mut found, &mut Visits::default()))
            .then_some(found)
    }

    fn nearest_after(
        &self,
        node: DiagramNode,
        sides: &IntBox,
        found: &mut IntBox,
        visits: &mut Visits,
    ) -> bool {
        let Some(at) = node.index() else { return true };
        if !visits.insert(node) {
            return false;
        }
        let d = self.dimension(at);
        let common = |edge: &DiagramEdge| edge.values.intersect(sides[d]);
        let mut meeting: Vec<&DiagramEdge> =
            self.edges_of(at).iter().filter(|edge| !common(edge).is_empty()).collect();
        meeting.sort_by_key(|edge| std::cmp::Reverse(common(edge).lo.abs_diff(common(edge).hi)));
        meeting.into_iter().any(|edge| {
            let is_found = self.nearest_after(edge.to, sides, found, visits);
            if is_found {
                found[d] = edge.values;
            }
            is_found
        })
    }

    /// Visits the set as disjoint boxes: one for each way through the diagram.
    ///
    /// # Errors
    /// Those of the visitor.
    pub fn for_each_box<E>(
        &self,
        visit: &mut dyn FnMut(&IntBox) -> Result<(), E>,
    ) -> Result<(), E> {
        self.for_each_part(&(), &mut |sides, (), end| {
            if end == PartEnd::Whole {
                visit(sides)?;
            }
            Ok(Some(()))
        })
    }

    /// Visits parts of the set from the whole space on: for each node on each way the box of the values on the way.
    /// `visit` is told what it returned for the part before; at [`PartEnd::Whole`] all of the box is in the set.
    /// Where it returns `None`, nothing below is visited.
    ///
    /// # Errors
    /// Those of the visitor.
    pub fn for_each_part<T, E>(
        &self,
        before: &T,
        visit: &mut PartVisit<'_, T, E>,
    ) -> Result<(), E> {
        self.parts_after(self.root(), &mut self.space.clone(), before, visit)
    }

    fn parts_after<T, E>(
        &self,
        node: DiagramNode,
        sides: &mut IntBox,
        before: &T,
        visit: &mut PartVisit<'_, T, E>,
    ) -> Result<(), E> {
        let Some(at) = node.index() else {
            return visit(sides, before, PartEnd::Whole).map(|_| ());
        };
        let (d, edges) = (self.dimension(at), self.edges_of(at));
        if let (Some(first), Some(last)) = (edges.first(), edges.last()) {
            sides[d] = first.values.hull(last.values);
        }
        if let Some(found) = visit(sides, before, PartEnd::Open)? {
            for edge in edges {
                sides[d] = edge.values;
                self.parts_after(edge.to, sides, &found, visit)?;
            }
        }
        sides[d] = self.space[d];
        Ok(())
    }

    /// Number of boxes that [`IntervalDiagram::for_each_box`] visits.
    #[must_use]
    pub fn boxes(&self) -> u128 {
        let mut ways = vec![1u128];
        for (_, edges) in self.nodes() {
            let sum =
                edges.iter().fold(0u128, |sum, edge| sum.saturating_add(ways[edge.to.position()]));
            ways.push(sum);
        }
        ways.pop().unwrap_or(0)
    }
}
