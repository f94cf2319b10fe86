//! Networks: the scores of a policy over symbolic inputs, and what a choice requires of them.
//!
//! Weights are exact rationals. Every neuron has a symbol that a definition ties to the neurons
//! before it, as in the paper; ReLU and the other piecewise linear functions are case
//! distinctions. Where bounds of the inputs are known, outward-rounded intervals are propagated
//! through the network: they bound the symbols, and fix the cases that they decide (Section 6.3 of
//! the paper, with intervals in place of Marabou's bounds).

use policert_numeric::{Interval, Rational};
use policert_policy::semantics::{ChoiceRule, Filter, Numbers, PolicySemantics, ScoreComparison};
use policert_policy::{Activation, Elements, Network};

use crate::{Formula, SmtError, Solver, Sort, Term};

/// The outputs of a network.
#[derive(Clone, Debug)]
pub struct ScoreTerms {
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
) -> Result<ScoreTerms, SmtError> {
    scores_within(solver, network, inputs, &vec![Interval::EVERYTHING; inputs.len()])
}

/// As [`scores`], for inputs that are known to lie within `bounds`: wherever they do not, the
/// encoding may have no solution.
///
/// # Errors
/// As [`scores`], and for a wrong number of bounds.
pub fn scores_within(
    solver: &mut dyn Solver,
    network: &Network,
    inputs: &[Term],
    bounds: &[Interval],
) -> Result<ScoreTerms, SmtError> {
    if inputs.len() != network.input_width() || bounds.len() != inputs.len() {
        let message =
            format!("{} inputs for a network with {}", inputs.len(), network.input_width());
        return Err(SmtError::Unsupported(message));
    }
    let network = network.without_final_squashing();
    let mut encoding = Encoding { solver, constraints: Vec::new() };
    let neuron = |(term, &range): (&Term, &Interval)| Neuron { term: term.clone(), range };
    let inputs = inputs.iter().zip(bounds).map(neuron).collect();
    let mut values = network.fold(&mut encoding, inputs)?;
    let outputs = values.swap_remove(network.output().index());
    Ok(ScoreTerms {
        outputs: outputs.into_iter().map(|neuron| neuron.term).collect(),
        constraint: Formula::and(encoding.constraints),
    })
}

/// The value of a neuron.
#[derive(Clone)]
struct Neuron {
    term: Term,
    /// Contains all its values.
    range: Interval,
}

impl Neuron {
    fn constant(value: f64) -> Result<Self, SmtError> {
        Ok(Self { term: Term::Constant(exact(value)?), range: Interval::point(value) })
    }

    /// Multiplied by an exact factor that lies within `range`.
    fn scaled(&self, factor: &Rational, range: Interval) -> Self {
        Self { term: self.term.clone().scaled(factor), range: self.range * range }
    }

    fn max(self, other: Self) -> Self {
        if self.range.lo() >= other.range.hi() {
            return self;
        }
        if other.range.lo() >= self.range.hi() {
            return other;
        }
        Self { term: self.term.max(other.term), range: self.range.max(other.range) }
    }

    fn min(self, other: Self) -> Self {
        if self.range.hi() <= other.range.lo() {
            return self;
        }
        if other.range.hi() <= self.range.lo() {
            return other;
        }
        Self { term: self.term.min(other.term), range: self.range.min(other.range) }
    }
}

struct Encoding<'a> {
    solver: &'a mut dyn Solver,
    constraints: Vec<Formula>,
}

impl Elements for Encoding<'_> {
    type Element = Neuron;
    type Error = SmtError;

    fn row(&mut self, weights: &[f64], bias: f64, x: &[Neuron]) -> Result<Neuron, SmtError> {
        let mut parts = vec![Neuron::constant(bias)?];
        for (&weight, input) in weights.iter().zip(x) {
            parts.push(input.scaled(&exact(weight)?, Interval::point(weight)));
        }
        Ok(self.define(sum(parts)))
    }

    fn scale(&mut self, x: &Neuron, mul: f64, div: f64, add: f64) -> Result<Neuron, SmtError> {
        let factor = exact(mul)?
            .checked_div(&exact(div)?)
            .ok_or_else(|| SmtError::Unsupported("a divisor of 0".to_owned()))?;
        let scaled = x.scaled(&factor, Interval::enclosing(&factor));
        Ok(self.define(sum([scaled, Neuron::constant(add)?])))
    }

    fn apply(&mut self, activation: Activation, x: &Neuron) -> Result<Neuron, SmtError> {
        match activation {
            Activation::Leaky { alpha } => self.leaky_relu(x, alpha),
            Activation::Clip { lo, hi } => {
                let mut clipped = x.clone();
                if lo.is_finite() {
                    clipped = clipped.max(Neuron::constant(lo)?);
                }
                if hi.is_finite() {
                    clipped = clipped.min(Neuron::constant(hi)?);
                }
                Ok(self.define(clipped))
            }
            Activation::Staircase(_) | Activation::Smooth(_) => {
                let (operator, _) = activation.operator();
                let message = format!("a network with {operator} before its last layer");
                Err(SmtError::Unsupported(message))
            }
        }
    }

    fn sum(&mut self, terms: &[Neuron]) -> Result<Neuron, SmtError> {
        Ok(self.define(sum(terms.iter().cloned())))
    }

    fn max(&mut self, terms: &[Neuron]) -> Result<Neuron, SmtError> {
        let greatest = terms[1..].iter().cloned().fold(terms[0].clone(), Neuron::max);
        Ok(self.define(greatest))
    }
}

impl Encoding<'_> {
    /// x for x ≥ 0, `alpha` · x below; `alpha` 0 is ReLU.
    fn leaky_relu(&mut self, input: &Neuron, alpha: f64) -> Result<Neuron, SmtError> {
        let below = input.scaled(&exact(alpha)?, Interval::point(alpha));
        if input.range.lo() >= 0.0 {
            return Ok(input.clone());
        }
        if input.range.hi() <= 0.0 {
            return Ok(self.define(below));
        }
        let positive = Term::int(0).le(input.term.clone());
        Ok(self.define(Neuron {
            range: input.range.relu().hull(below.range),
            term: Term::ite(positive, input.term.clone(), below.term),
        }))
    }

    /// A symbol for a compound term, so that it is written once however often it is used.
    fn define(&mut self, neuron: Neuron) -> Neuron {
        if matches!(neuron.term, Term::Constant(_) | Term::Symbol(_)) {
            return neuron;
        }
        let symbol = Term::from(self.solver.declare(Sort::Real));
        self.constraints.push(symbol.clone().equals(neuron.term));
        // Infinite bounds are no constraints.
        if let Some(lo) = Rational::from_f64(neuron.range.lo()) {
            self.constraints.push(Term::Constant(lo).le(symbol.clone()));
        }
        if let Some(hi) = Rational::from_f64(neuron.range.hi()) {
            self.constraints.push(symbol.clone().le(Term::Constant(hi)));
        }
        Neuron { term: symbol, range: neuron.range }
    }
}

fn sum(parts: impl IntoIterator<Item = Neuron>) -> Neuron {
    let (mut terms, mut range) = (Vec::new(), Interval::ZERO);
    for part in parts {
        terms.push(part.term);
        range = range + part.range;
    }
    Neuron { term: Term::sum(terms), range }
}

fn exact(weight: f64) -> Result<Rational, SmtError> {
    Rational::from_f64(weight).ok_or_else(|| SmtError::Unsupported(format!("{weight} as a weight")))
}

/// (e): the policy chooses `output`.
///
/// `applicable[k]` says where the label of output `k` is applicable; it is read only under
/// [`Filter::Applicable`]. It must be a formula that is false, not without value, where guards
/// have no value: [`StateFrame::condition`](super::StateFrame::condition) gives such formulas.
///
/// # Errors
/// [`SmtError::Unsupported`] for scores in single precision, and where `output` or a formula of
/// applicability is missing.
pub fn chooses(
    outputs: &[Term],
    output: usize,
    semantics: &PolicySemantics,
    applicable: &[Formula],
) -> Result<Formula, SmtError> {
    if semantics.numbers != Numbers::Real {
        return Err(SmtError::Unsupported(format!("{}", semantics.numbers)));
    }
    if semantics.at_least.is_some() {
        let message = "labels of at least a probability (--at-least)".to_owned();
        return Err(SmtError::Unsupported(message));
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
    let rivals = match semantics.choice {
        ChoiceRule::Argmax => outputs,
        // Whatever the scores are, it may be drawn.
        ChoiceRule::Sample => &[],
    };
    for (other, score) in rivals.iter().enumerate().filter(|(other, _)| *other != output) {
        let better = match semantics.requires(output, other) {
            ScoreComparison::Greater => score.clone().lt(chosen.clone()),
            ScoreComparison::GreaterEqual => score.clone().le(chosen.clone()),
        };
        requirements.push(if filtered {
            Formula::or([applicable[other].clone().negate(), better])
        } else {
            better
        });
    }
    Ok(Formula::and(requirements))
}
