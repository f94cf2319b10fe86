//! Expressions of control loops over boxes: their values, their slopes, and bounds by both.
//!
//! Slopes are computed forwards, node by node. At kinks (abs, min, max) they are those of both sides, for
//! which the mean-value theorem holds; where an expression may jump they are everything.

use std::cell::RefCell;

use policert_control_loop::{ExpressionFunction, ExpressionGraph, ExpressionId, ExpressionNode};
use policert_numeric::Interval;

/// An expression, as the list of what it needs.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    graph: ExpressionGraph,
    /// The expression; one.
    roots: Vec<ExpressionId>,
    root: usize,
    variables: usize,
    /// By node: the value of a constant.
    constants: Vec<Interval>,
    /// The variables that are read more than once, whose slopes make a difference.
    repeated: Vec<usize>,
    /// Room for the values of all nodes, and for their slopes.
    room: RefCell<(Vec<Interval>, Vec<Interval>)>,
}

impl Formula {
    pub fn new(graph: &ExpressionGraph, root: ExpressionId, variables: usize) -> Self {
        let repeated = (0..variables).filter(|&i| graph.occurrences(root, i) > 1).collect();
        let (graph, roots) = graph.needed_part(&[root]);
        let constants = graph.nodes().iter().map(|node| match node {
            ExpressionNode::Constant(value) => Interval::enclosing(value),
            _ => Interval::EVERYTHING,
        });
        let constants = constants.collect();
        let root = roots.first().map_or(0, |root| root.index());
        Self { graph, roots, root, variables, constants, repeated, room: RefCell::default() }
    }

    /// The expression, alone in a list.
    pub fn expression(&self) -> (&ExpressionGraph, &[ExpressionId]) {
        (&self.graph, &self.roots)
    }

    /// Its values over a box; `None` if it has none somewhere.
    pub fn value(&self, at: &[Interval]) -> Option<Interval> {
        let mut room = self.room.borrow_mut();
        self.fill(at, &mut room.0)?;
        room.0.get(self.root).copied()
    }

    /// The values of all nodes.
    fn fill(&self, at: &[Interval], values: &mut Vec<Interval>) -> Option<()> {
        values.clear();
        for (node, &constant) in self.graph.nodes().iter().zip(&self.constants) {
            let of = |a: &ExpressionId| values[a.index()];
            let value = match node {
                ExpressionNode::Constant(_) => constant,
                ExpressionNode::Variable(i) => *at.get(*i)?,
                ExpressionNode::Neg(a) => -of(a),
                ExpressionNode::Add(a, b) => of(a) + of(b),
                ExpressionNode::Sub(a, b) => of(a) - of(b),
                ExpressionNode::Mul(a, b) => of(a) * of(b),
                ExpressionNode::Div(a, b) => of(a).checked_div(of(b))?,
                ExpressionNode::Power(a, exponent) => of(a).powi(*exponent)?,
                ExpressionNode::Apply(function, a) => apply(*function, of(a))?,
                ExpressionNode::Min(a, b) => of(a).min(of(b)),
                ExpressionNode::Max(a, b) => of(a).max(of(b)),
                ExpressionNode::Choose { strict, a, b, then, otherwise } => {
                    match is_less(*strict, of(a), of(b)) {
                        Some(true) => of(then),
                        Some(false) => of(otherwise),
                        None => of(then).hull(of(otherwise)),
                    }
                }
            };
            values.push(value);
        }
        Some(())
    }

    /// Its slopes by all variables over a box.
    pub fn slopes(&self, at: &[Interval]) -> Option<Vec<Interval>> {
        let all: Vec<usize> = (0..self.variables).collect();
        self.slopes_by(&all, at)
    }

    fn slopes_by(&self, by: &[usize], at: &[Interval]) -> Option<Vec<Interval>> {
        let n = by.len();
        let mut room = self.room.borrow_mut();
        let (values, slopes) = &mut *room;
        self.fill(at, values)?;
        slopes.clear();
        slopes.resize(n * values.len(), Interval::ZERO);
        for (id, node) in self.graph.nodes().iter().enumerate() {
            let (known, own) = slopes.split_at_mut(id * n);
            let value = |a: &ExpressionId| values[a.index()];
            let of = |a: &ExpressionId, i: usize| known[a.index() * n + i];
            for ((i, own), variable) in own[..n].iter_mut().enumerate().zip(by) {
                *own = match node {
                    ExpressionNode::Constant(_) => Interval::ZERO,
                    ExpressionNode::Variable(at) => {
                        Interval::point(if at == variable { 1.0 } else { 0.0 })
                    }
                    ExpressionNode::Neg(a) => -of(a, i),
                    ExpressionNode::Add(a, b) => of(a, i) + of(b, i),
                    ExpressionNode::Sub(a, b) => of(a, i) - of(b, i),
                    ExpressionNode::Mul(a, b) => {
                        product(of(a, i), value(b)) + product(value(a), of(b, i))
                    }
                    ExpressionNode::Div(a, b) => {
                        let top = of(a, i) - product(values[id], of(b, i));
                        if is_zero(top) { top } else { top.checked_div(value(b))? }
                    }
                    ExpressionNode::Power(a, exponent) => {
                        let outer = value(a).powi(exponent.checked_sub(1)?)?;
                        product(Interval::point(f64::from(*exponent)) * outer, of(a, i))
                    }
                    ExpressionNode::Apply(function, a) if !is_zero(of(a, i)) => {
                        product(outer_slope(*function, value(a), values[id]), of(a, i))
                    }
                    ExpressionNode::Apply(..) => Interval::ZERO,
                    ExpressionNode::Min(a, b) => match is_less(false, value(a), value(b)) {
                        Some(true) => of(a, i),
                        Some(false) => of(b, i),
                        None => of(a, i).hull(of(b, i)),
                    },
                    ExpressionNode::Max(a, b) => match is_less(false, value(a), value(b)) {
                        Some(true) => of(b, i),
                        Some(false) => of(a, i),
                        None => of(a, i).hull(of(b, i)),
                    },
                    ExpressionNode::Choose { strict, a, b, then, otherwise } => {
                        match is_less(*strict, value(a), value(b)) {
                            Some(true) => of(then, i),
                            Some(false) => of(otherwise, i),
                            None => Interval::EVERYTHING,
                        }
                    }
                };
            }
        }
        Some(slopes[self.root * n..(self.root + 1) * n].to_vec())
    }

    /// Bounds over a box: of the values as they are, at the corners to which slopes of one sign point, and by
    /// the mean-value form in variables whose slopes have either sign.
    pub fn range(&self, at: &[Interval]) -> Option<Interval> {
        let natural = self.value(at)?;
        if self.repeated.iter().all(|&i| at[i].lo() >= at[i].hi()) {
            return Some(natural);
        }
        let Some(slopes) = self.slopes_by(&self.repeated, at) else { return Some(natural) };
        let (mut low, mut high, mut middle) = (at.to_vec(), at.to_vec(), at.to_vec());
        let mut rest = Interval::ZERO;
        let mut is_monotone = true;
        for (&i, &slope) in self.repeated.iter().zip(&slopes) {
            let x = at[i];
            let ends = [x.lo(), x.hi()].map(Interval::point);
            match (slope.lo() >= 0.0, slope.hi() <= 0.0) {
                (true, _) => [low[i], high[i]] = ends,
                (_, true) => [high[i], low[i]] = ends,
                (false, false) => {
                    is_monotone = false;
                    middle[i] = Interval::point(x.midpoint());
                    rest = rest + product(slope, x - middle[i]);
                }
            }
        }
        let corners = Interval::new(self.value(&low)?.lo(), self.value(&high)?.hi());
        // Each of them contains all values, so that what they have in common does.
        let range = natural.intersection(corners.unwrap_or(natural))?;
        if is_monotone { Some(range) } else { range.intersection(self.value(&middle)? + rest) }
    }
}

/// A product in which 0 makes 0 of anything.
fn product(a: Interval, b: Interval) -> Interval {
    if is_zero(a) || is_zero(b) { Interval::ZERO } else { a * b }
}

fn is_zero(a: Interval) -> bool {
    a.lo() == 0.0 && a.hi() == 0.0
}

/// Returns whether a ≤ b everywhere (a < b if `strict`) or nowhere; `None` if that depends.
pub(super) fn is_less(strict: bool, a: Interval, b: Interval) -> Option<bool> {
    let (always, never) = match strict {
        true => (a.hi() < b.lo(), a.lo() >= b.hi()),
        false => (a.hi() <= b.lo(), a.lo() > b.hi()),
    };
    (always || never).then_some(always)
}

pub(super) fn apply(function: ExpressionFunction, a: Interval) -> Option<Interval> {
    Some(match function {
        ExpressionFunction::Sin => a.sin(),
        ExpressionFunction::Cos => a.cos(),
        ExpressionFunction::Tan => a.tan()?,
        ExpressionFunction::Exp => a.exp(),
        ExpressionFunction::Log => a.log()?,
        ExpressionFunction::Sqrt => a.sqrt()?,
        ExpressionFunction::Tanh => a.tanh(),
        ExpressionFunction::Abs => a.abs(),
    })
}

/// The slope of a function over a range, where it takes `value`.
fn outer_slope(function: ExpressionFunction, a: Interval, value: Interval) -> Interval {
    let one = Interval::point(1.0);
    match function {
        ExpressionFunction::Sin => a.cos(),
        ExpressionFunction::Cos => -a.sin(),
        ExpressionFunction::Tan => one + value.square(),
        ExpressionFunction::Exp => value,
        ExpressionFunction::Log => one.checked_div(a).unwrap_or(Interval::EVERYTHING),
        ExpressionFunction::Sqrt => one.checked_div(value + value).unwrap_or(Interval::EVERYTHING),
        ExpressionFunction::Tanh => one - value.square(),
        ExpressionFunction::Abs if a.lo() >= 0.0 => one,
        ExpressionFunction::Abs if a.hi() <= 0.0 => -one,
        ExpressionFunction::Abs => Interval::ball(0.0, 1.0),
    }
}
