//! Functions that bend at the same place: where one of them is split, so are the others. Otherwise
//! the thin parts between them, in which bounds refute nothing, are many where neurons cancel.

use std::iter::zip;

use policert_numeric::Rational;
use policert_policy::Op;

use super::{Bend, Bounder};
use crate::program::ProgramNode;

impl Bounder {
    /// The other bends whose arguments are on a known side wherever that of a bend is: those of
    /// multiples of the same affine function.
    pub fn twins(&self, bend: &Bend) -> Vec<Bend> {
        let program = self.program();
        let home = program.node_of(bend.slot);
        let Op::Affine { input, weights, bias } = program.op(home) else { return Vec::new() };
        let element = bend.slot - program.nodes[home].at;
        let mut twins = Vec::new();
        for (node, ProgramNode { at, width, reader, .. }) in program.nodes.iter().enumerate() {
            let (Op::Affine { input: other, weights: rows, bias: sums }, Some(function)) =
                (program.op(node), reader)
            else {
                continue;
            };
            if other != input {
                continue;
            }
            for neuron in (0..*width).filter(|neuron| at + neuron != bend.slot) {
                for place in function.bends() {
                    let own = (weights.row(element), bias[element], bend.at);
                    let argument = (rows.row(neuron), sums[neuron], place);
                    if let Some(same) = same_side(own, argument) {
                        let above = bend.above == same;
                        let slot = at + neuron;
                        twins.push(Bend { slot, at: place, above, implied: true, ..*bend });
                    }
                }
            }
        }
        twins
    }
}

/// The weights and the bias of a neuron, and where a function of it bends.
type Place<'a> = (&'a [f64], f64, f64);

/// Returns whether two arguments bend at the same inputs, exactly: `Some(true)` if they rise
/// together, `Some(false)` if one falls where the other one rises.
fn same_side(one: Place<'_>, other: Place<'_>) -> Option<bool> {
    let (row, other_row) = (one.0, other.0);
    let first = row.iter().position(|&weight| weight != 0.0)?;
    let (a, b) = (row[first], other_row[first]);
    if b == 0.0 || !zip(row, other_row).all(|(&x, &y)| same_product(x, b, y, a)) {
        return None;
    }
    // (at − bias) · b = (other at − other bias) · a
    let exactly = Rational::from_f64;
    let rest = |(_, bias, at): Place<'_>| Some(exactly(at)? - exactly(bias)?);
    let (left, right) = (rest(one)? * exactly(b)?, rest(other)? * exactly(a)?);
    (left == right).then_some((a < 0.0) == (b < 0.0))
}

/// Returns whether x · b = y · a, exactly; false where an underflow or overflow hides it.
#[expect(clippy::float_cmp, reason = "exact products are meant")]
fn same_product(x: f64, b: f64, y: f64, a: f64) -> bool {
    let (left, right) = (x * b, y * a);
    let safe =
        |product: f64, factor: f64| factor == 0.0 || (1e-200..1e200).contains(&product.abs());
    let is_same = left == right && x.mul_add(b, -left) == y.mul_add(a, -right);
    is_same && safe(left, x) && safe(right, y)
}

#[cfg(test)]
mod tests {
    use policert_policy::{ElementType, Matrix, NetworkBuilder};

    use super::*;
    use crate::program::Program;

    #[test]
    fn twins_are_multiples() {
        let mut builder = NetworkBuilder::new(2).expect("inputs");
        // x + 2y − 1, its double, its opposite, another bias, another row, and constants.
        let rows = [[1.0, 2.0], [2.0, 4.0], [-1.0, -2.0], [1.0, 2.0], [1.0, 2.5], [0.0, 0.0]];
        let matrix = Matrix::new(6, 2, rows.concat()).expect("fits");
        let bias = vec![-1.0, -2.0, 1.0, -1.0 - f64::EPSILON, -1.0, 0.0];
        let sums = builder.affine(builder.input(), matrix, bias).expect("finite");
        let hidden = builder.relu(sums);
        let network = builder.finish(hidden, ElementType::F64);
        let bounder = Bounder::new(Program::new(&network));
        let at = bounder.program().nodes[1].at;
        let bend = |slot, above| {
            let slot = at + slot;
            Bend { slot, at: 0.0, above, strict: false, implied: false }
        };
        let implied = |slot, above| Bend { implied: true, ..bend(slot, above) };
        assert_eq!(bounder.twins(&bend(0, true)), [implied(1, true), implied(2, false)]);
        assert_eq!(bounder.twins(&bend(2, true)), [implied(0, false), implied(1, false)]);
        assert_eq!(bounder.twins(&bend(3, true)), []);
        assert_eq!(bounder.twins(&bend(5, true)), []);
    }
}
