//! A part in which no function bends or jumps: the scores are affine in the variables, and the part is a
//! polytope that is decided exactly.

use std::iter::zip;

use policert_numeric::simplex::{Feasibility, SimplexRow, feasible_point};
use policert_numeric::{LinearInequality, Rational};
use policert_policy::{Activation, ExactEvaluator, Op};

use super::queue::RealPart;
use crate::bound::{Bend, Bounder};
use crate::program::Program;

/// Affine functions of the network inputs, one for each element of a node.
struct AffineNode {
    /// Values at the origin.
    origin: Vec<Rational>,
    /// For each network input what its unit adds.
    units: Vec<Vec<Rational>>,
}

/// The affine functions that the nodes of a network are in a part.
struct AffineNodes<'a> {
    exact: &'a ExactEvaluator,
    bounder: &'a Bounder,
    inputs: usize,
}

impl AffineNodes<'_> {
    /// Those of some nodes; none if `go_on` denies.
    fn of(&self, nodes: &[usize], go_on: &mut impl FnMut() -> bool) -> Option<Vec<AffineNode>> {
        let program = self.bounder.program();
        let piece = |node: usize, element: usize| piece(program, self.bounder, node, element);
        let mut at = vec![Rational::ZERO; self.inputs];
        let at_origin = self.exact.values_on_pieces(&at, &piece);
        let mut affine: Vec<AffineNode> = nodes
            .iter()
            .map(|&node| AffineNode { origin: at_origin[node].clone(), units: Vec::new() })
            .collect();
        for input in 0..self.inputs {
            if !go_on() {
                return None;
            }
            at[input] = Rational::ONE;
            let values = self.exact.values_on_pieces(&at, &piece);
            at[input] = Rational::ZERO;
            for (affine, &node) in zip(&mut affine, nodes) {
                let differences =
                    zip(&values[node], &affine.origin).map(|(at, origin)| at - origin);
                affine.units.push(differences.collect());
            }
        }
        Some(affine)
    }
}

/// The linear piece of a function on which it is in the part that was entered last.
fn piece(program: &Program, bounder: &Bounder, node: usize, element: usize) -> i64 {
    let Op::Pointwise { input, activation } = *program.op(node) else { return 0 };
    let slot = program.nodes[input.index()].at + element;
    let (lo, hi) = bounder.arguments(activation, slot);
    match activation {
        Activation::Leaky { .. } => i64::from(lo >= 0.0),
        Activation::Clip { lo: least, hi: greatest } => {
            let has_lo = i64::from(least > f64::NEG_INFINITY);
            if least >= greatest || (lo >= greatest && greatest < f64::INFINITY) {
                has_lo + 1
            } else if hi <= least {
                0
            } else {
                has_lo
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "looked at before")]
        Activation::Staircase(staircase) => staircase.value(lo) as i64,
        Activation::Smooth(_) => 0,
    }
}

/// All integers up to this magnitude are doubles.
const GREATEST_STEP: f64 = 9_007_199_254_740_992.0;

/// A polytope, and the network and inequalities to decide about it.
pub(super) struct Polytope<'a> {
    pub exact: &'a ExactEvaluator,
    /// Has entered the part.
    pub bounder: &'a Bounder,
    pub reads: &'a [usize],
    /// Exact bounds of the variables in the whole region.
    pub lo: &'a [Rational],
    pub hi: &'a [Rational],
    pub inequalities: &'a [LinearInequality],
}

impl Polytope<'_> {
    /// Returns whether the values of all steps are integers of a machine.
    pub fn has_small_steps(&self) -> bool {
        let program = self.bounder.program();
        (0..program.nodes.len()).all(|node| match program.op(node) {
            Op::Pointwise { activation: Activation::Staircase(_), .. } => {
                program.range(node).all(|slot| {
                    let (lo, hi) = self.bounder.range(slot);
                    lo.abs() <= GREATEST_STEP && hi.abs() <= GREATEST_STEP
                })
            }
            Op::Pointwise { .. }
            | Op::Input
            | Op::Affine { .. }
            | Op::Scale { .. }
            | Op::Add { .. }
            | Op::Concat { .. }
            | Op::Max { .. } => true,
        })
    }

    /// A point of the part that satisfies all inequalities, if there is one.
    pub fn decide(
        &self,
        part: &RealPart,
        mut go_on: impl FnMut() -> bool,
    ) -> Feasibility<Rational> {
        let dimensions = self.lo.len();
        let exactly = |value: f64| Rational::from_f64(value).unwrap_or(Rational::ZERO);
        let lo: Vec<Rational> =
            zip(self.lo, &part.lo).map(|(lo, &own)| lo.clone().max(exactly(own))).collect();
        let hi: Vec<Rational> =
            zip(self.hi, &part.hi).map(|(hi, &own)| hi.clone().min(exactly(own))).collect();
        let program = self.bounder.program();
        let has_scores =
            self.inequalities.iter().flat_map(|i| &i.terms).any(|&(v, _)| v >= dimensions);
        let mut nodes: Vec<usize> = if has_scores { vec![program.output] } else { Vec::new() };
        let bends = || part.bends.iter().filter(|bend| !bend.implied);
        nodes.extend(bends().map(|bend| program.node_of(bend.slot)));
        let affine = if nodes.is_empty() {
            Vec::new()
        } else {
            let inputs = self.reads.len();
            let nodes_of = AffineNodes { exact: self.exact, bounder: self.bounder, inputs };
            match nodes_of.of(&nodes, &mut go_on) {
                Some(affine) => affine,
                None => return Feasibility::Open,
            }
        };
        let mut rows: Vec<SimplexRow<Rational>> = Vec::new();
        for inequality in self.inequalities {
            let mut row = SimplexRow {
                coefficients: vec![Rational::ZERO; dimensions],
                upper: inequality.upper.clone(),
                strict: inequality.strict,
            };
            for (variable, coefficient) in &inequality.terms {
                match variable.checked_sub(dimensions) {
                    None => {
                        let old = &row.coefficients[*variable];
                        row.coefficients[*variable] = old + coefficient;
                    }
                    Some(element) => self.add(&mut row, &affine[0], element, coefficient),
                }
            }
            rows.push(row);
        }
        for (bend, affine) in zip(bends(), &affine[usize::from(has_scores)..]) {
            rows.push(self.side(bend, affine, dimensions));
        }
        feasible_point(&lo, &hi, &rows, go_on)
    }

    /// The side of a bend as a row.
    fn side(&self, bend: &Bend, affine: &AffineNode, dimensions: usize) -> SimplexRow<Rational> {
        let sign = if bend.above { -Rational::ONE } else { Rational::ONE };
        let at = Rational::from_f64(bend.at).unwrap_or(Rational::ZERO);
        let mut row = SimplexRow {
            coefficients: vec![Rational::ZERO; dimensions],
            upper: &sign * &at,
            strict: bend.strict,
        };
        let program = self.bounder.program();
        let element = bend.slot - program.nodes[program.node_of(bend.slot)].at;
        self.add(&mut row, affine, element, &sign);
        row
    }

    /// Adds a multiple of an element to the left side of a row.
    fn add(
        &self,
        row: &mut SimplexRow<Rational>,
        affine: &AffineNode,
        element: usize,
        by: &Rational,
    ) {
        for (&variable, units) in zip(self.reads, &affine.units) {
            row.coefficients[variable] = &row.coefficients[variable] + &(by * &units[element]);
        }
        row.upper = &row.upper - &(by * &affine.origin[element]);
    }
}
