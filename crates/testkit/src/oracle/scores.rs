//! The scores of a network in exact rationals; functions that are not made of linear pieces as
//! intervals of rationals.

use policert_numeric::Rational;
use policert_policy::activation::{Curve, Elu, Staircase};
use policert_policy::trees::{Ensemble, TreeNode};
use policert_policy::{Activation, Network, Op, Smooth};

/// A number that lies between two rationals; exact where they are equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Score {
    /// At least this.
    pub lo: Rational,
    /// At most this.
    pub hi: Rational,
}

impl Score {
    fn exact(value: Rational) -> Self {
        Self { lo: value.clone(), hi: value }
    }

    fn plus(&self, other: &Self) -> Self {
        Self { lo: &self.lo + &other.lo, hi: &self.hi + &other.hi }
    }

    fn times(&self, factor: &Rational) -> Self {
        let (a, b) = (&self.lo * factor, &self.hi * factor);
        if factor.signum() < 0 { Self { lo: b, hi: a } } else { Self { lo: a, hi: b } }
    }

    /// The image under a function that never decreases.
    fn map(&self, f: impl Fn(&Rational) -> Rational) -> Self {
        Self { lo: f(&self.lo), hi: f(&self.hi) }
    }
}

/// The scores for these inputs.
///
/// # Panics
/// If the inputs are not as many as the network has.
#[must_use]
pub fn scores(network: &Network, inputs: &[i64]) -> Vec<Score> {
    assert_eq!(inputs.len(), network.input_width());
    let number = |value: f64| Rational::from_f64(value).expect("a finite number");
    let mut values: Vec<Vec<Score>> = Vec::new();
    for node in network.nodes() {
        let of = |id: &policert_policy::NodeId| &values[id.index()];
        let each = |id, f: &dyn Fn(&Score) -> Score| of(id).iter().map(f).collect::<Vec<_>>();
        let value = match &node.op {
            Op::Input => inputs.iter().map(|&x| Score::exact(x.into())).collect(),
            Op::Affine { input, weights, bias } => weights
                .row_iter()
                .zip(bias)
                .map(|(row, &bias)| {
                    let terms = row.iter().zip(of(input)).map(|(&w, x)| x.times(&number(w)));
                    terms.fold(Score::exact(number(bias)), |sum, term| sum.plus(&term))
                })
                .collect(),
            Op::Scale { input, mul, div, add } => of(input)
                .iter()
                .enumerate()
                .map(|(i, x)| {
                    let factor = number(mul[i]).checked_div(&number(div[i])).expect("not 0");
                    x.times(&factor).plus(&Score::exact(number(add[i])))
                })
                .collect(),
            Op::Pointwise { input, activation } => each(input, &|x| match *activation {
                Activation::Leaky { alpha } => leaky(x, &number(alpha)),
                Activation::Clip { lo, hi } => x.map(|x| {
                    let lo = Rational::from_f64(lo).map_or(x.clone(), |lo| lo.max(x.clone()));
                    Rational::from_f64(hi).map_or(lo.clone(), |hi| hi.min(lo))
                }),
                Activation::Staircase(Staircase::Floor) => x.map(Rational::floor),
                Activation::Staircase(Staircase::Round) => x.map(nearest),
                Activation::Staircase(Staircase::Sign) => {
                    x.map(|x| Rational::integer(x.signum().into()))
                }
                Activation::Smooth(Smooth::Tanh) => tanh(x),
                Activation::Smooth(Smooth::Sigmoid) => sigmoid(x),
                Activation::Smooth(Smooth::Elu(Elu { alpha })) => elu(x, &number(alpha)),
                Activation::Smooth(Smooth::Softplus) => between(x, softplus),
                Activation::Smooth(Smooth::Silu) => product(x, &sigmoid(x)),
                Activation::Smooth(Smooth::ErfGate) => {
                    let half = Rational::new(1, 2).expect("not 0");
                    let erf = between(x, error_function);
                    product(x, &erf.plus(&Score::exact(Rational::ONE)).times(&half))
                }
                Activation::Smooth(Smooth::TanhGate(gate)) => {
                    let (outer, cubic) = gate.constants();
                    let cube = product(x, &product(x, x)).times(&number(cubic));
                    let twice = Rational::from(2);
                    let argument = x.plus(&cube).times(&number(outer)).times(&twice);
                    product(x, &sigmoid(&argument))
                }
                Activation::Smooth(Smooth::Square) => square(x),
                Activation::Smooth(Smooth::Exponential) => between(x, exponential),
                Activation::Smooth(Smooth::Logarithm(function)) => {
                    between(&at_least(x, function.least()), logarithm)
                }
                Activation::Smooth(Smooth::Root(function)) => {
                    between(&at_least(x, function.least()), root)
                }
                Activation::Smooth(Smooth::Reciprocal(function)) => {
                    let x = at_least(x, function.least());
                    let one_over = |x: &Rational| x.recip().expect("positive");
                    Score { lo: one_over(&x.hi), hi: one_over(&x.lo) }
                }
                Activation::Smooth(Smooth::Mish) => product(x, &tanh(&between(x, softplus))),
                Activation::Smooth(Smooth::HardGate) => {
                    let half = Rational::new(1, 2).expect("not 0");
                    let gate = x.map(|x| (x + &half).max(Rational::ZERO).min(Rational::ONE));
                    product(x, &gate)
                }
            }),
            Op::Add { inputs } => combined(inputs.iter().map(of), Score::plus),
            Op::Concat { inputs } => inputs.iter().flat_map(of).cloned().collect(),
            Op::Max { inputs } => combined(inputs.iter().map(of), |a, b| Score {
                lo: a.lo.clone().max(b.lo.clone()),
                hi: a.hi.clone().max(b.hi.clone()),
            }),
        };
        values.push(value);
    }
    values[network.output().index()].clone()
}

fn combined<'a>(
    mut vectors: impl Iterator<Item = &'a Vec<Score>>,
    f: impl Fn(&Score, &Score) -> Score,
) -> Vec<Score> {
    let first = vectors.next().expect("at least one vector").clone();
    vectors.fold(first, |all, more| all.iter().zip(more).map(|(a, b)| f(a, b)).collect())
}

/// The nearest integer; of two that are as near the one that 2 divides.
fn nearest(x: &Rational) -> Rational {
    let half = Rational::new(1, 2).expect("not 0");
    let (below, above) = ((x - &half).ceil(), (x + &half).floor());
    let is_even = (&below * &half).is_integer();
    if is_even { below } else { above }
}

fn leaky(x: &Score, alpha: &Rational) -> Score {
    let apply = |x: &Rational| if x.signum() < 0 { x * alpha } else { x.clone() };
    if alpha.signum() >= 0 {
        return x.map(apply);
    }
    // Decreasing below 0 and increasing above.
    let (a, b) = (apply(&x.lo), apply(&x.hi));
    let lo = if x.lo.signum() <= 0 && x.hi.signum() >= 0 {
        Rational::ZERO
    } else {
        a.clone().min(b.clone())
    };
    Score { lo, hi: a.max(b) }
}

/// (e²ˣ − 1) / (e²ˣ + 1) = 1 − 2 / (e²ˣ + 1)
fn tanh(x: &Score) -> Score {
    let two = Rational::from(2);
    let at = |x: &Rational| {
        let Score { lo, hi } = exponential(&(x * &two));
        let value = |e: Rational| {
            &Rational::ONE - &two.checked_div(&(&e + &Rational::ONE)).expect("more than 1")
        };
        Score { lo: value(lo), hi: value(hi) }
    };
    between(x, at)
}

/// 1 / (1 + e⁻ˣ) = 1 − 1 / (eˣ + 1)
fn sigmoid(x: &Score) -> Score {
    let at = |x: &Rational| {
        let Score { lo, hi } = exponential(x);
        let value = |e: Rational| &Rational::ONE - &(&e + &Rational::ONE).recip().expect("not 0");
        Score { lo: value(lo), hi: value(hi) }
    };
    between(x, at)
}

/// α · (e^min(x, 0) − 1) + max(x, 0)
fn elu(x: &Score, alpha: &Rational) -> Score {
    if x.lo.signum() >= 0 {
        return x.clone();
    }
    let below = between(&x.map(|x| x.clone().min(Rational::ZERO)), exponential);
    let below = below.plus(&Score::exact(-Rational::ONE)).times(alpha);
    outward(&below.plus(&x.map(|x| x.clone().max(Rational::ZERO))))
}

/// The numbers that are no less than a bound.
fn at_least(x: &Score, least: f64) -> Score {
    let least = Rational::from_f64(least).expect("finite");
    x.map(|x| x.clone().max(least.clone()))
}

/// x², exact for an exact number.
fn square(x: &Score) -> Score {
    if x.lo == x.hi {
        return Score::exact(&x.lo * &x.lo);
    }
    let least = x.lo.clone().max(Rational::ZERO).max(-&x.hi);
    let greatest = x.lo.abs().max(x.hi.abs());
    outward(&Score { lo: &least * &least, hi: &greatest * &greatest })
}

/// By bisection, down to a fraction of the last bit that is kept.
fn inverse_of(
    x: &Rational,
    mut lo: Rational,
    mut hi: Rational,
    at: impl Fn(&Rational) -> Score,
) -> Score {
    let half = Rational::new(1, 2).expect("not 0");
    let unit = Rational::from(2).pow(-100).expect("a small power");
    while &hi - &lo > unit {
        let middle = &(&lo + &hi) * &half;
        let value = at(&middle);
        if value.hi <= *x {
            lo = middle;
        } else if value.lo >= *x {
            hi = middle;
        } else {
            break;
        }
    }
    Score { lo, hi }
}

/// √x.
fn root(x: &Rational) -> Score {
    let most = x.clone().max(Rational::ONE);
    inverse_of(x, Rational::ZERO, most, |root| Score::exact(root * root))
}

/// ln x: less than x, and more than −1/x.
fn logarithm(x: &Rational) -> Score {
    let least = -x.recip().expect("positive");
    inverse_of(x, least, x.clone(), exponential)
}

fn product(a: &Score, b: &Score) -> Score {
    let corners = [&a.lo * &b.lo, &a.lo * &b.hi, &a.hi * &b.lo, &a.hi * &b.hi];
    let least = corners.iter().min().expect("four").clone();
    let greatest = corners.iter().max().expect("four").clone();
    outward(&Score { lo: least, hi: greatest })
}

/// max(x, 0) + 2·artanh(e/(2 + e)) with e = e^−|x|.
fn softplus(x: &Rational) -> Score {
    let power = exponential(&-x.abs());
    let logarithm = |e: Rational| {
        let z = e.checked_div(&(&e + &Rational::from(2))).expect("more than 2");
        let square = &z * &z;
        let (mut term, mut sum) = (z.clone(), z);
        for n in 1..=60i64 {
            term = rounded(&(&term * &square), true);
            sum = &sum + &(&term * &Rational::new(1, 2 * n + 1).expect("not 0"));
        }
        &sum * &Rational::from(2)
    };
    // Each rounding and the rest of the series are far below this.
    let tiny = Rational::from(2).pow(20 - BITS).expect("a small power");
    let positive = x.clone().max(Rational::ZERO);
    Score {
        lo: &(&positive + &logarithm(power.lo)) - &tiny,
        hi: &(&positive + &logarithm(power.hi)) + &tiny,
    }
}

/// 2/√π · Σ (−1)ⁿ x²ⁿ⁺¹ / (n! · (2n + 1)); beyond 8, 1 − e⁻⁶⁴ to 1.
fn error_function(x: &Rational) -> Score {
    let size = x.abs();
    let tiny = Rational::from(2).pow(-90).expect("a small power");
    let at = if size > Rational::from(8) {
        Score { lo: &Rational::ONE - &tiny, hi: Rational::ONE }
    } else {
        let square = &size * &size;
        let (mut term, mut sum) = (size.clone(), size);
        for n in 1..=400i64 {
            let factor = &square * &Rational::new(-1, n).expect("not 0");
            term = rounded(&(&term * &factor), true);
            sum = &sum + &(&term * &Rational::new(1, 2 * n + 1).expect("not 0"));
        }
        // 2/√π to 39 digits; what is rounded is far below 2⁻⁹⁰.
        let digits =
            "112837916709551257389615890312154517169/100000000000000000000000000000000000000";
        let factor: Rational = digits.parse().expect("a fraction");
        let value = &sum * &factor;
        Score { lo: &value - &tiny, hi: &value + &tiny }
    };
    if x.signum() < 0 { at.times(&-Rational::ONE) } else { at }
}

/// The image under an increasing function that is itself known between two numbers.
fn between(x: &Score, at: impl Fn(&Rational) -> Score) -> Score {
    if x.lo == x.hi {
        return outward(&at(&x.lo));
    }
    outward(&Score { lo: at(&x.lo).lo, hi: at(&x.hi).hi })
}

/// Bits behind the point that are kept.
const BITS: i32 = 160;

/// A multiple of 2⁻ᵇⁱᵗˢ, so that fractions stay short.
fn rounded(x: &Rational, up: bool) -> Rational {
    let unit = Rational::from(2).pow(BITS).expect("a small power");
    let scaled = x * &unit;
    let whole = if up { scaled.ceil() } else { scaled.floor() };
    whole.checked_div(&unit).expect("not 0")
}

fn outward(x: &Score) -> Score {
    Score { lo: rounded(&x.lo, false), hi: rounded(&x.hi, true) }
}

/// eˣ by its series at x / 2ᵏ, squared k times.
fn exponential(x: &Rational) -> Score {
    let half = Rational::new(1, 2).expect("not 0");
    let mut halvings = 0;
    let mut small = x.clone();
    while small.abs() > half {
        small = &small * &half;
        halvings += 1;
    }
    let (mut sum, mut term) = (Score::exact(Rational::ZERO), Score::exact(Rational::ONE));
    for n in 1..=36i64 {
        sum = sum.plus(&term);
        let factor = &small * &Rational::new(1, n).expect("not 0");
        term = outward(&term.times(&factor));
    }
    // |small| ≤ 1/2: what is left out is at most twice the next term.
    let rest = &term.lo.abs().max(term.hi.abs()) * &Rational::from(2);
    let mut power = Score { lo: &sum.lo - &rest, hi: &sum.hi + &rest };
    for _ in 0..halvings {
        // e to anything is positive
        let lo = power.lo.clone().max(Rational::ZERO);
        power = outward(&Score { lo: &lo * &lo, hi: &power.hi * &power.hi });
    }
    power
}

/// The scores of a tree ensemble, by the rules of its file.
///
/// # Panics
/// If there are fewer inputs than the ensemble reads.
#[must_use]
pub fn tree_scores(ensemble: &Ensemble, inputs: &[i64]) -> Vec<Score> {
    let exact = |value: f64| Rational::from_f64(value).expect("a finite number");
    let mut scores: Vec<Rational> = ensemble.base().iter().map(|&score| exact(score)).collect();
    for tree in ensemble.trees() {
        let mut node = &tree.nodes[0];
        while let TreeNode::Split { input, rule, left, right } = node {
            node = &tree.nodes[if rule.holds_at(inputs[*input]) { *left } else { *right }];
        }
        let TreeNode::Leaf(values) = node else { continue };
        for &(output, value) in values {
            scores[output] = &scores[output] + &exact(value);
        }
    }
    scores.into_iter().map(Score::exact).collect()
}

#[cfg(test)]
mod tests {
    use super::{Score, error_function, exponential, logarithm, root, sigmoid, softplus, tanh};
    use policert_numeric::Rational;

    fn exact(n: i64, d: i64) -> Score {
        Score::exact(Rational::new(n, d).unwrap())
    }

    #[test]
    fn enclosures_are_narrow_and_around_the_value() {
        let tiny = Rational::new(1, 1 << 50).unwrap();
        for n in -40..=40i64 {
            let x = exact(n, 4);
            let f = f64::from(i32::try_from(n).unwrap()) / 4.0;
            let cases = [
                (exponential(&x.lo), f.exp()),
                (tanh(&x), f.tanh()),
                (sigmoid(&x), 1.0 / (1.0 + (-f).exp())),
                (softplus(&x.lo), f.exp().ln_1p()),
            ];
            for (score, float) in cases {
                assert!(score.lo <= score.hi);
                assert!(&score.hi - &score.lo < &tiny * &score.hi.abs().max(Rational::ONE));
                let float = Rational::from_f64(float).unwrap();
                let size = float.abs().max(Rational::ONE);
                assert!((&score.lo - &float).abs() < &(&tiny * &size) * &Rational::from(8));
            }
        }
    }

    #[test]
    fn roots_and_logarithms() {
        let tiny = Rational::new(1, 1 << 60).unwrap();
        for (n, d) in [(1, 1), (2, 1), (1, 3), (25, 4), (1, 1000), (1_000_000, 7)] {
            let x = Rational::new(n, d).unwrap();
            let (root, logarithm) = (root(&x), logarithm(&x));
            assert!(&root.lo * &root.lo <= x && x <= &root.hi * &root.hi);
            assert!(exponential(&logarithm.lo).lo <= x && x <= exponential(&logarithm.hi).hi);
            assert!(&root.hi - &root.lo < tiny && &logarithm.hi - &logarithm.lo < tiny);
        }
    }

    #[test]
    fn the_error_function_at_known_places() {
        for (x, digits) in [
            (exact(1, 2), "5204998778130465/10000000000000000"),
            (exact(1, 1), "8427007929497149/10000000000000000"),
            (exact(-5, 1), "-9999999999984626/10000000000000000"),
        ] {
            let (score, known) = (error_function(&x.lo), digits.parse::<Rational>().unwrap());
            let tiny = Rational::new(1, 1_000_000_000_000_000).unwrap();
            assert!((&score.lo - &known).abs() < tiny && (&score.hi - &known).abs() < tiny);
        }
    }
}
