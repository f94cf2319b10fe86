//! Expressions over Taylor models.

use policert_control_loop::{ExpressionGraph, ExpressionId, ExpressionNode};
use policert_numeric::Interval;

use super::algebra::Algebra;
use super::model::Model;

/// Expressions of a graph, in an order in which they can be computed.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// The nodes that are needed.
    graph: ExpressionGraph,
    roots: Vec<ExpressionId>,
}

impl Program {
    pub(super) fn new(graph: &ExpressionGraph, roots: &[ExpressionId]) -> Self {
        let (graph, roots) = graph.needed_part(roots);
        Self { graph, roots }
    }

    /// The values of all expressions; `None` if one may have none.
    pub(super) fn run(&self, algebra: &mut Algebra, variables: &[&Model]) -> Option<Vec<Model>> {
        let mut values: Vec<Model> = Vec::with_capacity(self.graph.nodes().len());
        for node in self.graph.nodes() {
            let value = value(node, algebra, variables, &values)?;
            values.push(value);
        }
        Some(self.roots.iter().map(|root| values[root.index()].clone()).collect())
    }
}

/// The value of a node, given those of the nodes before it.
fn value(
    node: &ExpressionNode,
    algebra: &mut Algebra,
    variables: &[&Model],
    values: &[Model],
) -> Option<Model> {
    let at = |a: &ExpressionId| &values[a.index()];
    Some(match node {
        ExpressionNode::Constant(value) => Model::constant(Interval::enclosing(value)),
        ExpressionNode::Variable(position) => (*variables.get(*position)?).clone(),
        ExpressionNode::Neg(a) => at(a).negated(),
        ExpressionNode::Add(a, b) => at(a).plus(at(b)),
        ExpressionNode::Sub(a, b) => at(a).minus(at(b)),
        ExpressionNode::Mul(a, b) => algebra.product(at(a), at(b)),
        ExpressionNode::Div(a, b) => {
            let inverse = algebra.reciprocal(at(b))?;
            algebra.product(at(a), &inverse)
        }
        ExpressionNode::Power(a, exponent) => algebra.power(at(a), *exponent)?,
        ExpressionNode::Apply(function, a) => algebra.apply(*function, at(a))?,
        ExpressionNode::Min(a, b) => algebra.min(at(a), at(b)),
        ExpressionNode::Max(a, b) => algebra.max(at(a), at(b)),
        ExpressionNode::Choose { strict, a, b, then, otherwise } => {
            let difference = at(a).minus(at(b)).range();
            let (then, otherwise) = (at(then), at(otherwise));
            let always = difference.hi() < 0.0 || (!strict && difference.hi() <= 0.0);
            let never = difference.lo() > 0.0 || (*strict && difference.lo() >= 0.0);
            if always {
                then.clone()
            } else if never {
                otherwise.clone()
            } else {
                // One of them, each with all of its own rest.
                let apart = otherwise.minus(then).range();
                let mut both = then.clone();
                both.rest = both.rest + apart.hull(Interval::ZERO);
                both
            }
        }
    })
}
