//! The policy as an automaton: one layer a step, then the choice.

use std::str::FromStr;

use policert_model::{BinaryOp, Expr, LabelId, UnaryOp, VarId};
use policert_numeric::Rational;
use policert_policy::{ChoiceRule, Filter, Numbers, Policy, ScoreComparison};

use crate::automata::{
    Action, Automaton, Destination, Edge, Variable, VariableKind, WrittenAutomata,
};
use crate::error::{ConvertError, unsupported};
use crate::expression::{balanced, constant};
use crate::identifiers::Identifiers;
use crate::layers::{Clip, Layer, layers};

/// The place of the policy among the automata.
const POLICY: usize = 1;

/// Says how the policy is written.
///
/// The automaton of the policy computes one layer a step and then takes part in every step of the
/// model. Deviations from the paper:
///
/// - D1: a label is chosen if its score beats those of the others, not the other way round, and the
///   flags of applicability are those of the others; ties are as the policy's semantics says.
/// - D2: silent steps, and labels that the policy lacks, wait until the scores are computed: they do not
///   interleave with that, and least probabilities are right, too.
/// - D3: scores are forgotten after each step, so that they do not multiply the states.
/// - D4: with integers there is one rounding a neuron, not one a weight; and none in the first layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyEncoding {
    /// With real-valued variables: exact, for checkers that have them.
    Real,
    /// With integers: numerators for the denominator 10ⁿ, rounded down.
    Discrete(u32),
}

impl FromStr for PolicyEncoding {
    type Err = String;

    /// Reads `real` or `discrete:N`.
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix("discrete:").and_then(|digits| digits.parse().ok());
        match (text, digits) {
            ("real", _) => Ok(Self::Real),
            (_, Some(digits @ 0..=15)) => Ok(Self::Discrete(digits)),
            _ => Err(format!("`{text}` is neither `real` nor `discrete:N` with N from 0 to 15")),
        }
    }
}

/// Adds the automaton of the policy; `labels` are those of the actions.
pub(crate) fn add_policy(
    written: &mut WrittenAutomata,
    policy: &Policy,
    encoding: PolicyEncoding,
    labels: &[LabelId],
    names: &mut Identifiers,
) -> Result<(), ConvertError> {
    let Some(function) = policy.ranking() else {
        return unsupported("tree ensembles as an automaton");
    };
    if policy.semantics().numbers != Numbers::Real {
        return unsupported("scores in single precision (--numbers f32) as an automaton");
    }
    if policy.semantics().choice != ChoiceRule::Argmax {
        return unsupported("a policy that draws (--choice sample) as an automaton");
    }
    let layers = layers(function)?;
    let arithmetic = Arithmetic::new(encoding)?;
    let mut neurons = Neurons::new(written, policy, &layers, &arithmetic)?;
    let place = VarId::new(written.variables.len());
    let last = i64::try_from(layers.len()).unwrap_or(i64::MAX);
    add_variable(written, names, "policy_layer", VariableKind::Integer { lo: 0, hi: last });
    neurons.place(written, names, encoding);
    let flags = match policy.semantics().filter {
        Filter::None => None,
        Filter::Applicable => {
            let first = written.variables.len();
            for output in 0..policy.outputs().len() {
                let kind = VariableKind::Integer { lo: 0, hi: 1 };
                add_variable(written, names, &format!("policy_applicable{output}"), kind);
            }
            Some(first)
        }
    };
    let mut edges = Vec::new();
    for (k, layer) in layers.iter().enumerate() {
        let sources: Vec<Expr> = match k {
            0 => policy.inputs().iter().map(|&input| Expr::Var(input)).collect(),
            k => neurons.variables(k - 1, layer.weights.columns()),
        };
        let step = i64::try_from(k).unwrap_or(i64::MAX);
        let mut updates = vec![(place.index(), Expr::int(step + 1))];
        let rows = layer.weights.row_iter().zip(layer.bias);
        for (neuron, (weights, &bias)) in rows.enumerate() {
            let value = arithmetic.value(k, weights, bias, &sources, &layer.activations)?;
            updates.push((neurons.index(k, neuron), value));
        }
        if let (Some(first), true) = (flags, k + 1 == layers.len()) {
            for (output, &label) in policy.outputs().iter().enumerate() {
                let flag =
                    Expr::ite(applicable(written, labels, label), Expr::int(1), Expr::int(0));
                updates.push((first + output, flag));
            }
        }
        edges.push(edge(None, Expr::var_equals(place, step), updates));
    }
    let ready = Expr::var_equals(place, last);
    let owned = |(_, variable): &(usize, &Variable)| variable.owner == POLICY;
    let forget: Vec<(usize, Expr)> = written
        .variables
        .iter()
        .enumerate()
        .filter(owned)
        .map(|(v, _)| (v, Expr::int(0)))
        .collect();
    let scores = neurons.variables(layers.len() - 1, policy.outputs().len());
    for (action, &label) in labels.iter().enumerate() {
        let guard = match policy.output_of(label) {
            None => ready.clone(),
            Some(output) => Expr::and(ready.clone(), chosen(policy, output, &scores, flags)),
        };
        edges.push(edge(Some(action), guard, forget.clone()));
    }
    // What is silent in the model takes place when the scores are computed.
    if written.automata[0].edges.iter().any(|edge| edge.action.is_none()) {
        let action = written.actions.len();
        written.actions.push(Action { name: names.take("environment_step"), silent: true });
        for edge in &mut written.automata[0].edges {
            edge.action.get_or_insert(action);
        }
        edges.push(edge(Some(action), ready, forget));
    }
    written.automata.push(Automaton { name: "policy".to_owned(), edges });
    Ok(())
}

fn add_variable(
    written: &mut WrittenAutomata,
    names: &mut Identifiers,
    name: &str,
    kind: VariableKind,
) {
    let name = names.take(name);
    written.variables.push(Variable { name, kind, initial: Some(0), owner: POLICY });
}

fn edge(action: Option<usize>, guard: Expr, updates: Vec<(usize, Expr)>) -> Edge {
    let destinations = vec![Destination { probability: Expr::int(1), updates }];
    Edge { action, guard, destinations }
}

/// Returns whether an operator of a label is enabled.
fn applicable(written: &WrittenAutomata, labels: &[LabelId], label: LabelId) -> Expr {
    let action = labels.iter().position(|&known| known == label);
    let edges = written.automata[0].edges.iter();
    let guards = edges.filter(|edge| action.is_some() && edge.action == action);
    let guards = guards.map(|edge| edge.guard.clone()).collect();
    balanced(BinaryOp::Or, guards).unwrap_or_else(|| Expr::bool(false))
}

/// Returns whether an output is chosen: against every other one, it has the better score, or the
/// other does not compete.
fn chosen(policy: &Policy, output: usize, scores: &[Expr], flags: Option<usize>) -> Expr {
    let others = (0..scores.len()).filter(|&other| other != output).map(|other| {
        let (own, rival) = (scores[output].clone(), scores[other].clone());
        let wins = match policy.semantics().requires(output, other) {
            ScoreComparison::Greater => Expr::binary(BinaryOp::Lt, rival, own),
            ScoreComparison::GreaterEqual => Expr::binary(BinaryOp::Le, rival, own),
        };
        match flags {
            None => wins,
            Some(first) => Expr::or(wins, Expr::var_equals(VarId::new(first + other), 0)),
        }
    });
    balanced(BinaryOp::And, others.collect()).unwrap_or_else(|| Expr::bool(true))
}

/// Says how numbers of the network are written.
struct Arithmetic {
    /// The denominator; none for real numbers.
    denominator: Option<Rational>,
}

impl Arithmetic {
    fn new(encoding: PolicyEncoding) -> Result<Self, ConvertError> {
        let denominator = match encoding {
            PolicyEncoding::Real => None,
            PolicyEncoding::Discrete(digits) if digits <= 15 => {
                let ten = Rational::integer(10);
                Some((0..digits).fold(Rational::ONE, |power, _| power * ten.clone()))
            }
            PolicyEncoding::Discrete(digits) => {
                return unsupported(format!("more than 15 digits: {digits}"));
            }
        };
        Ok(Self { denominator })
    }

    /// A stored number, or its numerator.
    fn number(&self, value: f64) -> Result<Rational, ConvertError> {
        let exact = Rational::from_f64(value);
        let Some(exact) = exact else { return unsupported("a weight that is no number") };
        Ok(match &self.denominator {
            None => exact,
            Some(denominator) => (&exact * denominator).floor(),
        })
    }

    /// The value of a neuron of layer `k`.
    fn value(
        &self,
        k: usize,
        weights: &[f64],
        bias: f64,
        sources: &[Expr],
        activations: &[Clip],
    ) -> Result<Expr, ConvertError> {
        let mut terms = Vec::with_capacity(weights.len() + 1);
        for (&weight, source) in weights.iter().zip(sources) {
            let weight = self.number(weight)?;
            if !weight.is_zero() {
                terms.push(Expr::binary(BinaryOp::Mul, constant(&weight), source.clone()));
            }
        }
        let bias = constant(&self.number(bias)?);
        let mut value = match (&self.denominator, k) {
            // States are integers: products with numerators are numerators.
            (None, _) | (_, 0) => {
                terms.push(bias);
                balanced(BinaryOp::Add, terms).unwrap_or_else(|| Expr::int(0))
            }
            (Some(denominator), _) => {
                let sum = balanced(BinaryOp::Add, terms).unwrap_or_else(|| Expr::int(0));
                let quotient = Expr::binary(BinaryOp::Div, sum, constant(denominator));
                let rounded = Expr::unary(UnaryOp::Floor, quotient);
                Expr::binary(BinaryOp::Add, rounded, bias)
            }
        };
        for activation in activations {
            let (lo, hi) = self.limits(*activation)?;
            if let Some(lo) = lo {
                value = Expr::binary(BinaryOp::Max, value, constant(&lo));
            }
            if let Some(hi) = hi {
                value = Expr::binary(BinaryOp::Min, value, constant(&hi));
            }
        }
        Ok(value)
    }

    fn limits(
        &self,
        activation: Clip,
    ) -> Result<(Option<Rational>, Option<Rational>), ConvertError> {
        let limit = |limit: f64| limit.is_finite().then(|| self.number(limit)).transpose();
        Ok((limit(activation.lo)?, limit(activation.hi)?))
    }

    /// The values of a neuron of layer `k` by interval arithmetic.
    fn range(
        &self,
        k: usize,
        weights: &[f64],
        bias: f64,
        sources: &[[Rational; 2]],
        activations: &[Clip],
    ) -> Result<[Rational; 2], ConvertError> {
        let mut sums = [Rational::ZERO, Rational::ZERO];
        for (&weight, source) in weights.iter().zip(sources) {
            let weight = self.number(weight)?;
            let ends = if weight.signum() >= 0 { [0, 1] } else { [1, 0] };
            for (sum, end) in sums.iter_mut().zip(ends) {
                *sum = &*sum + &(&weight * &source[end]);
            }
        }
        let bias = self.number(bias)?;
        let finished = sums.map(|sum| {
            let sum = match (&self.denominator, k) {
                (None, _) | (_, 0) => sum,
                (Some(d), _) => sum.checked_div(d).unwrap_or_default().floor(),
            };
            sum + bias.clone()
        });
        let mut range = finished;
        for activation in activations {
            let (lo, hi) = self.limits(*activation)?;
            range = range.map(|mut end| {
                end = lo.clone().map_or(end.clone(), |lo| end.max(lo));
                hi.clone().map_or(end.clone(), |hi| end.min(hi))
            });
        }
        Ok(range)
    }
}

/// Variables for the neurons: those of two layers that follow each other are different.
struct Neurons {
    /// By parity of the layer: the greatest width, and what the values lie between, 0 included.
    sets: [(usize, [Rational; 2]); 2],
    first: [usize; 2],
}

impl Neurons {
    fn new(
        written: &WrittenAutomata,
        policy: &Policy,
        layers: &[Layer<'_>],
        arithmetic: &Arithmetic,
    ) -> Result<Self, ConvertError> {
        let input = |&input: &VarId| match written.variables[input.index()].kind {
            VariableKind::Integer { lo, hi } => [lo, hi].map(Rational::from),
            VariableKind::Real { .. } => [Rational::ZERO, Rational::ZERO],
        };
        let mut sources: Vec<[Rational; 2]> = policy.inputs().iter().map(input).collect();
        let none = || (0, [Rational::ZERO, Rational::ZERO]);
        let mut sets = [none(), none()];
        for (k, layer) in layers.iter().enumerate() {
            let rows = layer.weights.row_iter().zip(layer.bias);
            let ranges = rows
                .map(|(row, &bias)| arithmetic.range(k, row, bias, &sources, &layer.activations));
            sources = ranges.collect::<Result<_, _>>()?;
            let (width, [lo, hi]) = &mut sets[k % 2];
            *width = (*width).max(sources.len());
            for [below, above] in &sources {
                *lo = lo.clone().min(below.clone());
                *hi = hi.clone().max(above.clone());
            }
        }
        for (_, ends) in sets.iter().filter(|_| arithmetic.denominator.is_some()) {
            if ends.iter().any(|end| end.to_i64().is_none()) {
                return unsupported("scores beyond 64 bits: take fewer digits");
            }
        }
        Ok(Self { sets, first: [0, 0] })
    }

    /// Adds the variables.
    fn place(
        &mut self,
        written: &mut WrittenAutomata,
        names: &mut Identifiers,
        encoding: PolicyEncoding,
    ) {
        for (parity, name) in [(0, "policy_x"), (1, "policy_y")] {
            self.first[parity] = written.variables.len();
            let (width, [lo, hi]) = &self.sets[parity];
            let kind = match encoding {
                PolicyEncoding::Discrete(_) => VariableKind::Integer {
                    lo: lo.to_i64().unwrap_or(i64::MIN),
                    hi: hi.to_i64().unwrap_or(i64::MAX),
                },
                PolicyEncoding::Real => {
                    VariableKind::Real { lo: lo.to_f64_interval().0, hi: hi.to_f64_interval().1 }
                }
            };
            for neuron in 0..*width {
                add_variable(written, names, &format!("{name}{neuron}"), kind);
            }
        }
    }

    fn index(&self, layer: usize, neuron: usize) -> usize {
        self.first[layer % 2] + neuron
    }

    fn variables(&self, layer: usize, width: usize) -> Vec<Expr> {
        (0..width).map(|neuron| Expr::Var(VarId::new(self.index(layer, neuron)))).collect()
    }
}
