//! Random networks for tests, and their exact scores by the plainest possible evaluation.

use std::convert::Infallible;

use policert_numeric::Rational;
use proptest::prelude::*;

use super::*;
use crate::activation::{Curve, Elu, Reciprocal, Smooth, Staircase};

/// Random numbers that a network is built from; shrinking makes the network smaller.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    numbers: std::vec::IntoIter<u32>,
}

impl Tape {
    fn next(&mut self, below: u32) -> u32 {
        self.numbers.next().unwrap_or(0) % below
    }

    fn index(&mut self, below: usize) -> usize {
        self.next(u32::try_from(below).expect("small")) as usize
    }

    /// A constant: of many sizes if the network is `wild`, small integers and halves otherwise.
    fn constant(&mut self, wild: bool) -> f64 {
        let sign = if self.next(2) == 0 { 1.0 } else { -1.0 };
        let raw = self.numbers.next().unwrap_or(0);
        let unit = f64::from(raw) / f64::from(u32::MAX);
        sign * match self.next(if wild { 11 } else { 3 }) {
            0 => f64::from(raw % 5),
            1 => f64::from(raw % 9) / 2.0,
            2 => f64::from(raw % 2),
            3 => f64::from(f32::from_bits(raw & 0x00ff_ffff | 0x3f00_0000)),
            4 => unit * 1e30,
            5 => unit * 1e-30,
            6 => f64::from_bits(u64::from(raw)),
            7 => unit * 1e-150,
            8 => unit * 1e-5,
            _ => unit,
        }
    }

    fn constants(&mut self, count: usize, wild: bool) -> Vec<f64> {
        (0..count).map(|_| self.constant(wild)).collect()
    }
}

pub(crate) fn tape() -> impl Strategy<Value = Tape> {
    prop::collection::vec(any::<u32>(), 0..400)
        .prop_map(|numbers| Tape { numbers: numbers.into_iter() })
}

/// The functions of one number in a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Functions {
    /// Those of linear pieces.
    Linear,
    /// And steps, squares and reciprocals.
    Rational,
    /// And tanh, sigmoid and elu, in place of these.
    Smooth,
}

impl Functions {
    /// Those that have rational values.
    pub(crate) fn rational() -> impl Strategy<Value = Self> {
        prop_oneof![Just(Self::Linear), Just(Self::Rational)]
    }
}

/// The kind of networks to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NetworkKind {
    /// Constants of all sizes.
    pub(crate) wild: bool,
    pub(crate) functions: Functions,
    /// With sums, maxima and concatenations, so not a chain.
    pub(crate) branching: bool,
}

/// A network of `inputs` inputs and at least two outputs.
pub(crate) fn network(tape: &mut Tape, inputs: usize, kind: NetworkKind) -> Network {
    let mut builder = NetworkBuilder::new(inputs).expect("inputs");
    let mut last = builder.input();
    for _ in 0..1 + tape.index(5) {
        last = layer(&mut builder, tape, last, kind);
    }
    let outputs = 2 + tape.index(3);
    last = affine(&mut builder, tape, last, outputs, kind);
    if tape.next(4) == 0 {
        last = activation(&mut builder, tape, last, kind);
    }
    builder.finish(last, ElementType::F64)
}

fn layer(builder: &mut NetworkBuilder, tape: &mut Tape, x: NodeId, kind: NetworkKind) -> NodeId {
    match tape.next(if kind.branching { 8 } else { 5 }) {
        0..=2 => {
            let width = 1 + tape.index(4);
            let y = affine(builder, tape, x, width, kind);
            activation(builder, tape, y, kind)
        }
        3 => scale(builder, tape, x, kind),
        4 => activation(builder, tape, x, kind),
        5 => {
            let y = layer(builder, tape, x, NetworkKind { branching: false, ..kind });
            builder.concat(vec![x, y]).expect("vectors")
        }
        choice => {
            let width = builder.width(x);
            let y = affine(builder, tape, x, width, kind);
            let y = activation(builder, tape, y, kind);
            let inputs = vec![x, y];
            let joined = if choice == 6 { builder.add(inputs) } else { builder.max(inputs) };
            joined.expect("equal widths")
        }
    }
}

fn affine(
    builder: &mut NetworkBuilder,
    tape: &mut Tape,
    x: NodeId,
    rows: usize,
    kind: NetworkKind,
) -> NodeId {
    let columns = builder.width(x);
    let weights = Matrix::new(rows, columns, tape.constants(rows * columns, kind.wild));
    let bias = tape.constants(rows, kind.wild);
    builder.affine(x, weights.expect("size"), bias).expect("finite")
}

fn scale(builder: &mut NetworkBuilder, tape: &mut Tape, x: NodeId, kind: NetworkKind) -> NodeId {
    let width = builder.width(x);
    let mul = tape.constants(width, kind.wild);
    let div = tape.constants(width, kind.wild);
    // The inverse of a tiny divisor is huge: such networks are covered by large factors.
    let div = div.into_iter().map(|d| if d.abs() < 1e-6 { 3.0 } else { d }).collect();
    let add = tape.constants(width, kind.wild);
    builder.scale(x, mul, div, add).expect("finite")
}

fn activation(
    builder: &mut NetworkBuilder,
    tape: &mut Tape,
    x: NodeId,
    kind: NetworkKind,
) -> NodeId {
    if kind.functions == Functions::Rational && tape.next(2) == 0 {
        let function = rational(tape);
        return builder.activation(x, function).expect("finite");
    }
    let activation = match tape.next(if kind.functions == Functions::Smooth { 9 } else { 5 }) {
        0 | 1 => Activation::RELU,
        2 => Activation::Leaky { alpha: tape.constant(kind.wild) },
        3 => {
            let bounds = [tape.constant(kind.wild), tape.constant(kind.wild)];
            let [lo, hi] = bounds.map(|bound| (tape.next(4) > 0).then_some(bound));
            Activation::clip(lo, hi)
        }
        4 => return x,
        5 | 6 => Activation::Smooth(Smooth::Tanh),
        7 => Activation::Smooth(Smooth::Sigmoid),
        _ => Activation::Smooth(Smooth::Elu(Elu { alpha: tape.constant(kind.wild) })),
    };
    builder.activation(x, activation).expect("finite")
}

/// A function that maps rational numbers to such and is not made of linear pieces.
fn rational(tape: &mut Tape) -> Activation {
    match tape.next(6) {
        0 => Activation::Staircase(Staircase::Floor),
        1 => Activation::Staircase(Staircase::Round),
        2 => Activation::Staircase(Staircase::Sign),
        3 => Activation::Smooth(Smooth::Square),
        4 => Activation::Smooth(Smooth::HardGate),
        _ => {
            let reciprocal = Reciprocal::new([0.5, 1.0, 3.0][tape.index(3)]);
            Activation::Smooth(Smooth::Reciprocal(reciprocal.expect("positive")))
        }
    }
}

/// The exact scores, by one rational operation after the other. Not of networks with functions such as tanh.
pub(crate) fn reference_scores(network: &Network, inputs: &[i64]) -> Vec<Rational> {
    let inputs: Vec<Rational> = inputs.iter().map(|&input| Rational::from(input)).collect();
    reference_values(network, &inputs).swap_remove(network.output().index())
}

/// The exact values of all nodes, by one rational operation after the other.
pub(crate) fn reference_values(network: &Network, inputs: &[Rational]) -> Vec<Vec<Rational>> {
    match network.fold(&mut Plain, inputs.to_vec()) {
        Ok(values) => values,
        Err(never) => match never {},
    }
}

/// Rational numbers.
struct Plain;

fn exact(value: f64) -> Rational {
    Rational::from_f64(value).expect("finite")
}

impl Elements for Plain {
    type Element = Rational;
    type Error = Infallible;

    fn row(&mut self, row: &[f64], bias: f64, x: &[Rational]) -> Result<Rational, Infallible> {
        let products = row.iter().zip(x).map(|(&w, x)| exact(w) * x);
        Ok(products.sum::<Rational>() + exact(bias))
    }

    fn scale(
        &mut self,
        x: &Rational,
        mul: f64,
        div: f64,
        add: f64,
    ) -> Result<Rational, Infallible> {
        Ok((x * exact(mul)).checked_div(&exact(div)).expect("not 0") + exact(add))
    }

    fn apply(&mut self, activation: Activation, x: &Rational) -> Result<Rational, Infallible> {
        Ok(match activation {
            Activation::Leaky { alpha } if x.signum() < 0 => x * exact(alpha),
            Activation::Leaky { .. } => x.clone(),
            Activation::Clip { lo, hi } => {
                let lo = Rational::from_f64(lo).map_or(x.clone(), |lo| x.clone().max(lo));
                Rational::from_f64(hi).map_or(lo.clone(), |hi| lo.min(hi))
            }
            Activation::Staircase(staircase) => staircase.of(x),
            Activation::Smooth(Smooth::Square) => x * x,
            Activation::Smooth(Smooth::HardGate) => {
                let half = exact(0.5);
                x * (x + &half).max(Rational::ZERO).min(Rational::ONE)
            }
            Activation::Smooth(Smooth::Reciprocal(reciprocal)) => {
                x.clone().max(exact(reciprocal.least())).recip().expect("positive")
            }
            Activation::Smooth(_) => unreachable!("rational"),
        })
    }

    fn sum(&mut self, terms: &[Rational]) -> Result<Rational, Infallible> {
        Ok(terms.iter().cloned().sum())
    }

    fn max(&mut self, terms: &[Rational]) -> Result<Rational, Infallible> {
        Ok(terms.iter().max().expect("some").clone())
    }
}
