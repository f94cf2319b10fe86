//! Activation functions: what a network applies to its numbers one by one.
//!
//! Functions of linear pieces are [`Activation::Leaky`] and [`Activation::Clip`], and what is
//! composed of them and of affine nodes; functions that jump are [`Staircase`]s, and what is composed
//! of these. Every other function is [`Smooth`] and has a file of its own with its [`Curve`]: all that
//! evaluators, bounds and encodings know of it.
//!
//! # Adding a function
//!
//! Three files: `activation/NAME.rs` with its curve; this one, where it becomes a variant of
//! [`Smooth`], with its ONNX operator; and `crates/certify/src/interval_scores.rs`, which has its
//! own definition on purpose, as has the oracle of the tests (`crates/testkit/src/oracle/scores.rs`).
//! The compiler names each place that is missing. `OPERATORS` makes it known to reader and writer;
//! the tests of `activation` check each curve against enclosures at high precision.

mod curve;
mod elu;
mod exponential;
mod gate;
mod hard_gate;
mod logarithm;
mod mish;
mod reciprocal;
mod root;
mod sigmoid;
mod softplus;
mod square;
mod staircase;
mod tanh;

#[cfg(test)]
mod tests;

use policert_numeric::round::{mul_down, mul_up};
use policert_numeric::{Enclosure, Interval};

pub use curve::{Curvature, Curve, LEAST_ARGUMENT};
pub use elu::Elu;
use exponential::Exponential;
pub use gate::TanhGate;
use gate::{ErfGate, Silu};
use hard_gate::HardGate;
pub use logarithm::Logarithm;
use mish::Mish;
pub use reciprocal::Reciprocal;
pub use root::Root;
use sigmoid::Sigmoid;
use softplus::Softplus;
use square::Square;
pub use staircase::{Jump, Staircase};
use tanh::Tanh;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// x for x ≥ 0, `alpha` · x below; max(x, 0) for `alpha` 0.
    Leaky {
        /// The slope below 0, of any sign.
        alpha: f64,
    },
    /// min(max(x, `lo`), `hi`) for `lo` ≤ `hi`; infinite bounds are none.
    Clip {
        /// The lower bound.
        lo: f64,
        /// The upper bound.
        hi: f64,
    },
    /// A function that is constant but for jumps.
    Staircase(Staircase),
    /// A function that is not made of linear pieces.
    Smooth(Smooth),
}

/// A function that is not made of linear pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smooth {
    /// The hyperbolic tangent.
    Tanh,
    /// The logistic sigmoid 1 / (1 + e⁻ˣ).
    Sigmoid,
    /// The exponential linear unit.
    Elu(Elu),
    /// ln(1 + eˣ).
    Softplus,
    /// x / (1 + e⁻ˣ).
    Silu,
    /// x · (1 + erf x) / 2.
    ErfGate,
    /// x · (1 + tanh(…)) / 2.
    TanhGate(TanhGate),
    /// x · min(max(x + ½, 0), 1).
    HardGate,
    /// x · tanh(ln(1 + eˣ)).
    Mish,
    /// x².
    Square,
    /// eˣ.
    Exponential,
    /// ln x, for x that are bounded away from 0.
    Logarithm(Logarithm),
    /// √x, for x that are not negative.
    Root(Root),
    /// 1/x, for x that are bounded away from 0.
    Reciprocal(Reciprocal),
}

impl Smooth {
    /// The function as a [`Curve`], which has its values, slopes, limits and curvature.
    #[must_use]
    pub fn curve(&self) -> &dyn Curve {
        match self {
            Self::Tanh => &Tanh,
            Self::Sigmoid => &Sigmoid,
            Self::Elu(elu) => elu,
            Self::Softplus => &Softplus,
            Self::Silu => &Silu,
            Self::ErfGate => &ErfGate,
            Self::TanhGate(gate) => gate,
            Self::HardGate => &HardGate,
            Self::Mish => &Mish,
            Self::Square => &Square,
            Self::Exponential => &Exponential,
            Self::Logarithm(logarithm) => logarithm,
            Self::Root(root) => root,
            Self::Reciprocal(reciprocal) => reciprocal,
        }
    }
}

/// An operator of ONNX that is an activation function.
pub(crate) struct Operator {
    pub name: &'static str,
    /// Attributes and their defaults, which the specification gives in single precision.
    pub attributes: &'static [(&'static str, f32)],
    /// The function for values of the attributes.
    pub function: fn(&[f64]) -> Activation,
}

/// The operators of ONNX that are activation functions, without Clip, whose bounds may be arguments.
pub(crate) const OPERATORS: [Operator; 9] = [
    Operator { name: "Relu", attributes: &[], function: |_| Activation::RELU },
    Operator {
        name: "LeakyRelu",
        attributes: &[("alpha", 0.01)],
        function: |values| Activation::Leaky { alpha: values[0] },
    },
    Operator { name: "Tanh", attributes: &[], function: |_| Activation::Smooth(Smooth::Tanh) },
    Operator {
        name: "Sigmoid",
        attributes: &[],
        function: |_| Activation::Smooth(Smooth::Sigmoid),
    },
    Operator {
        name: "Elu",
        attributes: &[("alpha", 1.0)],
        function: |values| Activation::Smooth(Smooth::Elu(Elu { alpha: values[0] })),
    },
    Operator {
        name: "Softplus",
        attributes: &[],
        function: |_| Activation::Smooth(Smooth::Softplus),
    },
    Operator {
        name: "Floor",
        attributes: &[],
        function: |_| Activation::Staircase(Staircase::Floor),
    },
    Operator {
        name: "Round",
        attributes: &[],
        function: |_| Activation::Staircase(Staircase::Round),
    },
    Operator {
        name: "Sign",
        attributes: &[],
        function: |_| Activation::Staircase(Staircase::Sign),
    },
];

impl Activation {
    /// max(x, 0).
    pub const RELU: Self = Self::Leaky { alpha: 0.0 };

    /// min(max(x, lo), hi), where given.
    #[must_use]
    pub fn clip(lo: Option<f64>, hi: Option<f64>) -> Self {
        Self::Clip { lo: lo.unwrap_or(f64::NEG_INFINITY), hi: hi.unwrap_or(f64::INFINITY) }
    }

    /// The name of its operator in ONNX, and the values of the attributes; the gates have none of
    /// their own in the versions that are written.
    #[must_use]
    pub fn operator(&self) -> (&'static str, Vec<f64>) {
        match self {
            Self::Leaky { alpha: 0.0 } => ("Relu", Vec::new()),
            Self::Leaky { alpha } => ("LeakyRelu", vec![*alpha]),
            Self::Clip { .. } => ("Clip", Vec::new()),
            Self::Staircase(staircase) => (staircase.operator(), Vec::new()),
            Self::Smooth(Smooth::Tanh) => ("Tanh", Vec::new()),
            Self::Smooth(Smooth::Sigmoid) => ("Sigmoid", Vec::new()),
            Self::Smooth(Smooth::Elu(Elu { alpha })) => ("Elu", vec![*alpha]),
            Self::Smooth(Smooth::Softplus) => ("Softplus", Vec::new()),
            Self::Smooth(Smooth::Silu) => ("Swish", Vec::new()),
            Self::Smooth(Smooth::ErfGate | Smooth::TanhGate(_)) => ("Gelu", Vec::new()),
            Self::Smooth(Smooth::HardGate) => ("HardSwish", Vec::new()),
            Self::Smooth(Smooth::Mish) => ("Mish", Vec::new()),
            Self::Smooth(Smooth::Square) => ("Pow", Vec::new()),
            Self::Smooth(Smooth::Exponential) => ("Exp", Vec::new()),
            Self::Smooth(Smooth::Logarithm(_)) => ("Log", Vec::new()),
            Self::Smooth(Smooth::Root(_)) => ("Sqrt", Vec::new()),
            Self::Smooth(Smooth::Reciprocal(_)) => ("Reciprocal", Vec::new()),
        }
    }

    /// Applies the function, in double precision, to `width` blocks of numbers.
    #[inline(always)]
    pub(crate) fn apply<const N: usize>(
        self,
        source: &[[f64; N]],
        target: &mut [[f64; N]],
        width: usize,
    ) {
        match self {
            Self::Leaky { alpha: 0.0 } => {
                each(source, target, width, |x| if x > 0.0 { x } else { 0.0 });
            }
            Self::Leaky { alpha } => {
                each(source, target, width, |x| if x < 0.0 { alpha * x } else { x });
            }
            Self::Clip { lo, hi } => each(source, target, width, |x| {
                let x = if x < lo { lo } else { x };
                if x > hi { hi } else { x }
            }),
            Self::Staircase(staircase) => each(source, target, width, |x| staircase.value(x)),
            Self::Smooth(Smooth::Tanh) => each(source, target, width, |x| Tanh.value(x)),
            Self::Smooth(Smooth::Sigmoid) => each(source, target, width, |x| Sigmoid.value(x)),
            Self::Smooth(Smooth::Elu(elu)) => each(source, target, width, |x| elu.value(x)),
            Self::Smooth(Smooth::Softplus) => each(source, target, width, |x| Softplus.value(x)),
            Self::Smooth(Smooth::Silu) => each(source, target, width, |x| Silu.value(x)),
            Self::Smooth(Smooth::ErfGate) => each(source, target, width, |x| ErfGate.value(x)),
            Self::Smooth(Smooth::TanhGate(gate)) => {
                each(source, target, width, |x| gate.value(x));
            }
            Self::Smooth(Smooth::HardGate) => each(source, target, width, |x| HardGate.value(x)),
            Self::Smooth(Smooth::Mish) => each(source, target, width, |x| Mish.value(x)),
            Self::Smooth(
                smooth @ (Smooth::Square
                | Smooth::Exponential
                | Smooth::Logarithm(_)
                | Smooth::Root(_)
                | Smooth::Reciprocal(_)),
            ) => {
                let curve = smooth.curve();
                each(source, target, width, |x| curve.value(x));
            }
        }
    }

    /// Returns whether the function is continuous and made of linear pieces.
    #[must_use]
    pub fn is_piecewise_linear(&self) -> bool {
        match self {
            Self::Leaky { .. } | Self::Clip { .. } => true,
            Self::Staircase(_) | Self::Smooth(_) => false,
        }
    }

    /// Returns whether a greater argument always has a greater value.
    #[must_use]
    pub fn is_strictly_increasing(&self) -> bool {
        match self {
            Self::Leaky { alpha } => *alpha > 0.0,
            Self::Clip { .. } | Self::Staircase(_) => false,
            Self::Smooth(smooth) => smooth.curve().is_strictly_increasing(),
        }
    }

    /// A bound of the magnitudes of the slopes of lines beside it over [lo, hi], which are its own
    /// slopes where it has no jumps.
    #[must_use]
    pub fn steepness(self, lo: f64, hi: f64) -> f64 {
        match self {
            Self::Leaky { alpha } => alpha.abs().max(1.0),
            Self::Clip { .. } | Self::Staircase(_) => 1.0,
            Self::Smooth(smooth) => smooth.curve().steepness(lo, hi),
        }
    }

    /// Bounds of the values over [lo, hi], as a pair.
    #[must_use]
    #[inline]
    pub fn image(self, lo: f64, hi: f64) -> (f64, f64) {
        match self {
            Self::Leaky { alpha: 0.0 } => (lo.max(0.0), hi.max(0.0)),
            Self::Leaky { alpha } => {
                let scaled = |x: f64| (mul_down(x, alpha), mul_up(x, alpha));
                let at_lo = if lo >= 0.0 { (lo, lo) } else { scaled(lo) };
                let at_hi = if hi >= 0.0 { (hi, hi) } else { scaled(hi) };
                let (mut least, mut greatest) = (at_lo.0.min(at_hi.0), at_lo.1.max(at_hi.1));
                if lo < 0.0 && hi > 0.0 {
                    // With a negative slope the least value is that at 0.
                    (least, greatest) = (least.min(0.0), greatest.max(0.0));
                }
                (least, greatest)
            }
            Self::Clip { lo: least, hi: greatest } => {
                (lo.max(least).min(greatest), hi.max(least).min(greatest))
            }
            Self::Staircase(staircase) => (staircase.value(lo), staircase.value(hi)),
            Self::Smooth(smooth) => {
                let image = smooth.curve().image(lo, hi);
                (image.lo(), image.hi())
            }
        }
    }

    /// The values over an interval.
    #[must_use]
    pub fn of_interval(self, x: Interval) -> Interval {
        let (lo, hi) = self.image(x.lo(), x.hi());
        Interval::new(lo, hi).unwrap_or(Interval::EVERYTHING)
    }

    /// The value of a number of any precision; `None` if none is known at that precision.
    #[must_use]
    pub fn of_enclosure(self, x: &Enclosure) -> Option<Enclosure> {
        let exactly = |bound: f64| Enclosure::of_f64(bound, x.bits());
        Some(match self {
            Self::Leaky { alpha: 0.0 } => x.relu(),
            Self::Leaky { alpha } => {
                let zero = Enclosure::integer(0, x.bits());
                &x.max(&zero) + &x.min(&zero).times_f64(alpha)
            }
            Self::Clip { lo, hi } => {
                let x = exactly(lo).map_or_else(|| x.clone(), |lo| x.max(&lo));
                exactly(hi).map_or_else(|| x.clone(), |hi| x.min(&hi))
            }
            Self::Staircase(staircase) => staircase.enclosed(x),
            Self::Smooth(smooth) => return smooth.curve().enclosed(x),
        })
    }

    /// Returns whether the function is linear over [lo, hi].
    #[must_use]
    #[inline]
    pub fn is_linear(self, lo: f64, hi: f64) -> bool {
        match self {
            Self::Leaky { .. } => lo >= 0.0 || hi <= 0.0,
            Self::Clip { lo: least, hi: greatest } => {
                (lo >= least && hi <= greatest) || hi <= least || lo >= greatest
            }
            Self::Staircase(staircase) => staircase.is_constant(lo, hi),
            Self::Smooth(smooth) => smooth.curve().is_linear(lo, hi),
        }
    }

    /// The finite arguments at which the slope changes, for a continuous function made of linear
    /// pieces; others have none.
    pub fn bends(self) -> impl Iterator<Item = f64> {
        let places = match self {
            Self::Leaky { .. } => [0.0, f64::INFINITY],
            Self::Clip { lo, hi } => [lo, hi],
            Self::Staircase(_) | Self::Smooth(_) => [f64::INFINITY; 2],
        };
        places.into_iter().filter(|at| at.is_finite())
    }
}

/// Applies a function to each number.
#[inline(always)]
fn each<const N: usize>(
    source: &[[f64; N]],
    target: &mut [[f64; N]],
    width: usize,
    function: impl Fn(f64) -> f64,
) {
    for (y, x) in target.iter_mut().zip(source).take(width) {
        *y = x.map(&function);
    }
}
