//! Expressions as straight-line code over ranges.

use policert_numeric::Interval;

use super::{ExpressionFunction, ExpressionGraph, ExpressionId, ExpressionNode};
use crate::range::ClosedRange;

/// Code that computes some nodes of a graph from the ranges of the variables.
///
/// Registers are: the variables, the constants, and one for each instruction.
#[derive(Clone, Debug)]
pub struct Tape<R> {
    variables: usize,
    constants: Vec<R>,
    instructions: Vec<Instruction>,
    outputs: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Instruction {
    Neg(u32),
    Add(u32, u32),
    Sub(u32, u32),
    Mul(u32, u32),
    Div(u32, u32),
    Square(u32),
    Power(u32, i32),
    Apply(ExpressionFunction, u32),
    Min(u32, u32),
    Max(u32, u32),
    Choose { strict: bool, a: u32, b: u32, then: u32, otherwise: u32 },
}

impl<R: ClosedRange> Tape<R> {
    /// Compiles nodes over `variables` variables.
    #[must_use]
    pub fn new(graph: &ExpressionGraph, roots: &[ExpressionId], variables: usize) -> Self {
        let needed = graph.needed(roots);
        let mut constants = Vec::new();
        for (node, &needed) in graph.nodes.iter().zip(&needed) {
            if let (ExpressionNode::Constant(value), true) = (node, needed) {
                constants.push(R::enclosing(value));
            }
        }
        let mut registers = vec![0u32; graph.nodes.len()];
        let (mut instructions, mut seen) = (Vec::new(), 0);
        let first = variables + constants.len();
        let number = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
        for (i, node) in graph.nodes.iter().enumerate() {
            if !needed[i] {
                continue;
            }
            let at = |a: &ExpressionId| registers[a.index()];
            let instruction = match node {
                ExpressionNode::Constant(_) => {
                    registers[i] = number(variables + seen);
                    seen += 1;
                    continue;
                }
                ExpressionNode::Variable(position) => {
                    registers[i] = number(*position);
                    continue;
                }
                ExpressionNode::Neg(a) => Instruction::Neg(at(a)),
                ExpressionNode::Add(a, b) => Instruction::Add(at(a), at(b)),
                ExpressionNode::Sub(a, b) => Instruction::Sub(at(a), at(b)),
                ExpressionNode::Mul(a, b) => Instruction::Mul(at(a), at(b)),
                ExpressionNode::Div(a, b) => Instruction::Div(at(a), at(b)),
                ExpressionNode::Power(a, 2) => Instruction::Square(at(a)),
                ExpressionNode::Power(a, exponent) => Instruction::Power(at(a), *exponent),
                ExpressionNode::Apply(function, a) => Instruction::Apply(*function, at(a)),
                ExpressionNode::Min(a, b) => Instruction::Min(at(a), at(b)),
                ExpressionNode::Max(a, b) => Instruction::Max(at(a), at(b)),
                ExpressionNode::Choose { strict, a, b, then, otherwise } => Instruction::Choose {
                    strict: *strict,
                    a: at(a),
                    b: at(b),
                    then: at(then),
                    otherwise: at(otherwise),
                },
            };
            registers[i] = number(first + instructions.len());
            instructions.push(instruction);
        }
        let outputs = roots.iter().map(|root| registers[root.index()] as usize).collect();
        Self { variables, constants, instructions, outputs }
    }

    /// Registers with the constants in place, to be reused for many evaluations of this tape.
    #[must_use]
    pub fn registers(&self) -> Vec<R> {
        let zero = R::enclosing(&policert_numeric::Rational::ZERO);
        let mut registers = vec![zero.clone(); self.variables];
        registers.extend(self.constants.iter().cloned());
        registers.resize(registers.len() + self.instructions.len(), zero);
        registers
    }

    /// Evaluates over the variables' ranges, which stand in the first registers. `None` if a part
    /// has no value somewhere in them, such as a quotient by a range with 0.
    #[inline]
    pub fn run(&self, registers: &mut [R]) -> Option<()> {
        let results = self.variables + self.constants.len()..;
        for (target, instruction) in results.zip(&self.instructions) {
            let at = |register: u32| &registers[register as usize];
            let value = match *instruction {
                Instruction::Neg(a) => at(a).neg(),
                Instruction::Add(a, b) => at(a).add(at(b)),
                Instruction::Sub(a, b) => at(a).sub(at(b)),
                Instruction::Mul(a, b) => at(a).mul(at(b)),
                Instruction::Div(a, b) => at(a).div(at(b))?,
                Instruction::Square(a) => at(a).square(),
                Instruction::Power(a, exponent) => at(a).power(exponent)?,
                Instruction::Apply(function, a) => at(a).apply(function)?,
                Instruction::Min(a, b) => at(a).min(at(b)),
                Instruction::Max(a, b) => at(a).max(at(b)),
                Instruction::Choose { strict, a, b, then, otherwise } => {
                    let less = if strict { at(a).less(at(b)) } else { at(a).at_most(at(b)) };
                    match less {
                        Some(true) => at(then).clone(),
                        Some(false) => at(otherwise).clone(),
                        None => at(then).hull(at(otherwise)),
                    }
                }
            };
            registers[target] = value;
        }
        Some(())
    }

    /// Output `i` of the last run.
    #[must_use]
    #[inline]
    pub fn output<'a>(&self, registers: &'a [R], i: usize) -> &'a R {
        &registers[self.outputs[i]]
    }

    /// Evaluates once: all outputs.
    #[must_use]
    pub fn evaluate(&self, variables: &[R]) -> Option<Vec<R>> {
        let mut registers = self.registers();
        registers[..self.variables].clone_from_slice(variables);
        self.run(&mut registers)?;
        Some(self.outputs.iter().map(|&output| registers[output].clone()).collect())
    }
}

impl Tape<Interval> {
    /// Appends about what the outputs are at a point: in double precision, all rounding errors left out, and no
    /// number where there is no value. `registers` is work space.
    pub fn approximate(&self, variables: &[f64], registers: &mut Vec<f64>, outputs: &mut Vec<f64>) {
        registers.clear();
        registers.extend_from_slice(variables);
        registers.extend(self.constants.iter().map(|constant| constant.midpoint()));
        for instruction in &self.instructions {
            let at = |register: u32| registers[register as usize];
            let value = match *instruction {
                Instruction::Neg(a) => -at(a),
                Instruction::Add(a, b) => at(a) + at(b),
                Instruction::Sub(a, b) => at(a) - at(b),
                Instruction::Mul(a, b) => at(a) * at(b),
                Instruction::Div(a, b) => at(a) / at(b),
                Instruction::Square(a) => at(a) * at(a),
                Instruction::Power(a, exponent) => at(a).powi(exponent),
                Instruction::Apply(function, a) => function.approximate(at(a)),
                Instruction::Min(a, b) => at(a).min(at(b)),
                Instruction::Max(a, b) => at(a).max(at(b)),
                Instruction::Choose { strict, a, b, then, otherwise } => {
                    let less = if strict { at(a) < at(b) } else { at(a) <= at(b) };
                    at(if less { then } else { otherwise })
                }
            };
            registers.push(value);
        }
        outputs.extend(self.outputs.iter().map(|&output| registers[output]));
    }
}
