//! What the nodes of a network can be at all: bounds that hold for all real inputs, or all in their ranges.

use std::convert::Infallible;

use policert_numeric::Interval;

use super::domain::value_of;
use super::{Elements, NetworkBuilder, NodeId, Op};
use crate::activation::Activation;

impl NetworkBuilder {
    /// Contains every value of each element of a node, whatever the inputs are within their ranges.
    pub fn ranges(&mut self, node: NodeId) -> &[Interval] {
        for at in self.ranges.len()..=node.0 {
            let next = &self.nodes[at];
            let range = match &next.op {
                Op::Input => vec![Interval::EVERYTHING; next.width],
                op => match value_of(op, &self.ranges, &mut Ranges) {
                    Ok(range) => range,
                    Err(never) => match never {},
                },
            };
            self.ranges.push(range);
        }
        &self.ranges[node.0]
    }
}

/// Intervals, of which most are unbounded.
struct Ranges;

impl Elements for Ranges {
    type Element = Interval;
    type Error = Infallible;

    fn row(&mut self, weights: &[f64], bias: f64, x: &[Interval]) -> Result<Interval, Infallible> {
        let mut sum = Interval::point(bias);
        // A product of 0 and of what is not bounded is 0.
        for (&weight, &x) in weights.iter().zip(x).filter(|(weight, _)| weight.abs() > 0.0) {
            sum = sum + Interval::point(weight) * x;
            if sum == Interval::EVERYTHING {
                break;
            }
        }
        Ok(sum)
    }

    fn scale(
        &mut self,
        &x: &Interval,
        mul: f64,
        div: f64,
        add: f64,
    ) -> Result<Interval, Infallible> {
        if mul.abs() <= 0.0 {
            return Ok(Interval::point(add));
        }
        let scaled = (x * Interval::point(mul)).checked_div(Interval::point(div));
        Ok(scaled.unwrap_or(Interval::EVERYTHING) + Interval::point(add))
    }

    fn apply(&mut self, activation: Activation, &x: &Interval) -> Result<Interval, Infallible> {
        Ok(activation.of_interval(x))
    }

    fn sum(&mut self, terms: &[Interval]) -> Result<Interval, Infallible> {
        Ok(terms[1..].iter().fold(terms[0], |sum, &term| sum + term))
    }

    fn max(&mut self, terms: &[Interval]) -> Result<Interval, Infallible> {
        Ok(terms[1..].iter().fold(terms[0], |greatest, &term| greatest.max(term)))
    }
}
