//! Networks: the scores of a policy over symbolic inputs, and what a choice requires of them.
//!
//! Weights are exact rationals. Every neuron has a symbol that a definition ties to the neurons
//! before it, as in the paper; ReLU and the other piecewise linear functions are case
//! distinctions.

use policert_numeric::Rational;
use policert_policy::semantics::{Comparison, Filter, Numbers, Semantics};
use policert_policy::{Network, Op};

use crate::{Formula, SmtError, Solver, Sort, Term};

/// The outputs of a network.
#[derive(Clone, Debug)]
pub struct Scores {
    /// The score of every output.
    pub outputs: Vec<Term>,
    /// (c) and (d): ties the outputs to the inputs. Given the inputs, exactly one assignment of
    /// the neurons satisfies it.
    pub constraint: Formula,
}

/// Encodes the outputs of `network` for `inputs`, up to strictly increasing functions at its end:
/// the order of the scores is that of the outputs.
///
/// # Errors
/// [`SmtError::Unsupported`] for functions inside that are not piecewise linear, and for a wrong
/// number of inputs.
pub fn scores(
    solver: &mut dyn Solver,
    network: &Network,
    inputs: &[Term],
) -> Result<Scores, SmtError> {
    if inputs.len() != network.input_width() {
        let message =
            format!("{} inputs for a network with {}", inputs.len(), network.input_width());
        return Err(SmtError::Unsupported(message));
    }
    let network = network.without_final_squashing();
    let mut encoding = Encoding { solver, definitions: Vec::new() };
    let mut values: Vec<Vec<Term>> = Vec::with_capacity(network.nodes().len());
    for node in network.nodes() {
        let operands: Vec<&[Term]> =
            node.op.inputs().iter().map(|id| values[id.index()].as_slice()).collect();
        let value = match node.op {
            Op::Input => inputs.to_vec(),
            _ => encoding.apply(&node.op, &operands)?,
        };
        values.push(value);
    }
    let outputs = values.swap_remove(network.output().index());
    Ok(Scores { outputs, constraint: Formula::and(encoding.definitions) })
}

struct Encoding<'a> {
    solver: &'a mut dyn Solver,
    definitions: Vec<Formula>,
}

impl Encoding<'_> {
    fn apply(&mut self, op: &Op, operands: &[&[Term]]) -> Result<Vec<Term>, SmtError> {
        let first = operands.first().copied().unwrap_or_default();
        let zero = || Term::int(0);
        Ok(match op {
            Op::Affine { weights, bias, .. } => {
                let mut rows = Vec::with_capacity(bias.len());
                for (row, &bias) in weights.row_iter().zip(bias) {
                    let mut sum = vec![Term::Constant(exact(bias)?)];
                    for (&weight, input) in row.iter().zip(first) {
                        sum.push(input.clone().scaled(&exact(weight)?));
                    }
                    rows.push(self.define(Term::sum(sum)));
                }
                rows
            }
            Op::Scale { mul, div, add, .. } => {
                let mut scaled = Vec::with_capacity(first.len());
                for (i, input) in first.iter().enumerate() {
                    let factor = exact(mul[i])?
                        .checked_div(&exact(div[i])?)
                        .ok_or_else(|| SmtError::Unsupported("a divisor of 0".to_owned()))?;
                    let sum = [input.clone().scaled(&factor), Term::Constant(exact(add[i])?)];
                    scaled.push(self.define(Term::sum(sum)));
                }
                scaled
            }
            Op::Relu { .. } => self.each(first, |x| Term::ite(zero().le(x.clone()), x, zero())),
            Op::LeakyRelu { alpha, .. } => {
                let alpha = exact(*alpha)?;
                self.each(first, |x| Term::ite(zero().le(x.clone()), x.clone(), x.scaled(&alpha)))
            }
            Op::Clip { lo, hi, .. } => {
                let (lo, hi) = (lo.map(exact).transpose()?, hi.map(exact).transpose()?);
                self.each(first, |x| {
                    let above = match &lo {
                        Some(lo) => x.max(Term::Constant(lo.clone())),
                        None => x,
                    };
                    match &hi {
                        Some(hi) => above.min(Term::Constant(hi.clone())),
                        None => above,
                    }
                })
            }
            Op::Add { .. } => (0..first.len())
                .map(|i| self.define(Term::sum(operands.iter().map(|operand| operand[i].clone()))))
                .collect(),
            Op::Max { .. } => (0..first.len())
                .map(|i| {
                    let elements = operands.iter().map(|operand| operand[i].clone());
                    self.define(elements.reduce(Term::max).unwrap_or_else(zero))
                })
                .collect(),
            Op::Concat { .. } => operands.concat(),
            Op::Tanh { .. } | Op::Sigmoid { .. } | Op::Input => {
                let message = "a network with tanh or sigmoid before its last layer";
                return Err(SmtError::Unsupported(message.to_owned()));
            }
        })
    }

    fn each(&mut self, inputs: &[Term], f: impl Fn(Term) -> Term) -> Vec<Term> {
        inputs.iter().map(|input| self.define(f(input.clone()))).collect()
    }

    /// A symbol for a compound term, so that it is written once however often it is used.
    fn define(&mut self, term: Term) -> Term {
        if matches!(term, Term::Constant(_) | Term::Symbol(_)) {
            return term;
        }
        let symbol = Term::from(self.solver.declare(Sort::Real));
        self.definitions.push(symbol.clone().equals(term));
        symbol
    }
}

fn exact(weight: f64) -> Result<Rational, SmtError> {
    Rational::from_f64(weight).ok_or_else(|| SmtError::Unsupported(format!("{weight} as a weight")))
}

/// (e): the policy chooses `output`.
///
/// `applicable[k]` says where the label of output `k` is applicable; it is read only under
/// [`Filter::Applicable`]. It must be a formula that is false, not without value, where guards
/// have no value: [`Frame::condition`](super::Frame::condition) gives such formulas.
///
/// # Errors
/// [`SmtError::Unsupported`] for scores in single precision, and where `output` or a formula of
/// applicability is missing.
pub fn chooses(
    outputs: &[Term],
    output: usize,
    semantics: &Semantics,
    applicable: &[Formula],
) -> Result<Formula, SmtError> {
    if semantics.numbers != Numbers::Real {
        return Err(SmtError::Unsupported(format!("{}", semantics.numbers)));
    }
    let filtered = semantics.filter == Filter::Applicable;
    let missing = || SmtError::Unsupported(format!("no output {output}, or not its applicability"));
    let chosen = outputs.get(output).ok_or_else(missing)?;
    if filtered && applicable.len() != outputs.len() {
        return Err(missing());
    }
    let mut requirements = Vec::with_capacity(outputs.len());
    if filtered {
        requirements.push(applicable[output].clone());
    }
    for (other, score) in outputs.iter().enumerate().filter(|(other, _)| *other != output) {
        let better = match semantics.requires(output, other) {
            Comparison::Greater => score.clone().lt(chosen.clone()),
            Comparison::GreaterEqual => score.clone().le(chosen.clone()),
        };
        requirements.push(if filtered {
            Formula::or([applicable[other].clone().negate(), better])
        } else {
            better
        });
    }
    Ok(Formula::and(requirements))
}
