//! A linear form over elements of a network, carried back to its inputs: a form over the inputs that is
//! below it everywhere in a part.
//!
//! The same code computes with doubles and with rational numbers. With doubles the constant is rounded
//! down; coefficients are rounded to nearest, and what that loses is bounded for elements of at most
//! the magnitudes that they have in the part.

use policert_numeric::Rational;
use policert_numeric::round::{add_down, add_up, dot_error, mul_down, mul_up, sub_down};
use policert_policy::Op;

use super::relaxation::Relaxation;

/// Numbers that forms are made of.
pub(super) trait Coefficient: Clone {
    const ZERO: Self;
    /// True if nothing is rounded.
    const EXACT: bool;
    /// Compares it with 0: −1, 0 or 1; 2 if it is no number.
    fn sign(&self) -> i32;
    /// Its magnitude, rounded up; needed where something is rounded.
    fn magnitude(&self) -> f64;
    /// `self + factor · number`, rounded to nearest.
    fn add_product(&mut self, factor: &Self, number: f64);
    /// The same, rounded down.
    fn add_product_down(&mut self, factor: &Self, number: f64);
    /// `self · mul / div`, rounded to nearest.
    fn scaled(&self, mul: f64, div: f64) -> Self;
    /// The number nearest to it, and how far that may be off.
    fn of(number: &Rational) -> (Self, f64);
    /// The greatest number that is not greater.
    fn of_down(number: &Rational) -> Self;
    /// It less what rounding may have lost, rounded down.
    fn lowered(self, loss: f64) -> Self;
}

impl Coefficient for f64 {
    const ZERO: Self = 0.0;
    const EXACT: bool = false;

    fn sign(&self) -> i32 {
        match self {
            x if *x > 0.0 => 1,
            x if *x < 0.0 => -1,
            x if x.is_nan() => 2,
            _ => 0,
        }
    }

    fn magnitude(&self) -> f64 {
        self.abs()
    }

    #[inline]
    fn add_product(&mut self, factor: &Self, number: f64) {
        *self += factor * number;
    }

    fn add_product_down(&mut self, factor: &Self, number: f64) {
        *self = add_down(*self, mul_down(*factor, number));
    }

    fn scaled(&self, mul: f64, div: f64) -> Self {
        let ratio = mul / div;
        // Below the normal numbers a relative error has no bound.
        let is_exact_enough = ratio.is_normal() || mul == 0.0;
        if is_exact_enough { self * ratio } else { f64::NAN }
    }

    fn of(number: &Rational) -> (Self, f64) {
        let (below, above) = number.to_f64_interval();
        (below, add_up(above, -below))
    }

    fn of_down(number: &Rational) -> Self {
        number.to_f64_interval().0
    }

    fn lowered(self, loss: f64) -> Self {
        sub_down(self, loss)
    }
}

impl Coefficient for Rational {
    const ZERO: Self = Rational::ZERO;
    const EXACT: bool = true;

    fn sign(&self) -> i32 {
        self.signum()
    }

    fn magnitude(&self) -> f64 {
        0.0
    }

    fn add_product(&mut self, factor: &Self, number: f64) {
        *self = &*self + &(factor * &exactly(number));
    }

    fn add_product_down(&mut self, factor: &Self, number: f64) {
        self.add_product(factor, number);
    }

    fn scaled(&self, mul: f64, div: f64) -> Self {
        (self * &exactly(mul)).checked_div(&exactly(div)).unwrap_or(Self::ZERO)
    }

    fn of(number: &Rational) -> (Self, f64) {
        (number.clone(), 0.0)
    }

    fn of_down(number: &Rational) -> Self {
        number.clone()
    }

    /// Nothing was rounded.
    fn lowered(self, _: f64) -> Self {
        self
    }
}

/// A number of the network, or of a line. None of those that are used is infinite: see
/// [`Carried::add_line`].
fn exactly(number: f64) -> Rational {
    Rational::from_f64(number).unwrap_or(Rational::ZERO)
}

/// More than the relative error of a product of three rounded numbers.
const RELATIVE: f64 = 4.0 * f64::EPSILON;

/// A form on its way back: coefficients by node, a constant, and what rounding may have lost.
pub(super) struct Carried<'r, N> {
    relaxation: &'r Relaxation<'r>,
    by_node: Vec<Vec<N>>,
    pub constant: N,
    pub loss: f64,
}

impl<'r, N: Coefficient> Carried<'r, N> {
    pub fn new(relaxation: &'r Relaxation<'r>, constant: N) -> Self {
        let nodes = relaxation.network.nodes().len();
        Self { relaxation, by_node: vec![Vec::new(); nodes], constant, loss: 0.0 }
    }

    /// Adds a multiple of an element.
    pub fn add(&mut self, node: usize, element: usize, factor: &Rational) {
        let (factor, off) = N::of(factor);
        let mut form = vec![N::ZERO; self.relaxation.network.nodes()[node].width];
        self.lose(mul_up(off, self.relaxation.magnitude(node, element)));
        form[element] = factor;
        self.merge(node, form);
    }

    fn lose(&mut self, loss: f64) {
        self.loss = add_up(self.loss, loss);
    }

    /// Adds a form over the elements of a node.
    fn merge(&mut self, node: usize, form: Vec<N>) {
        let old = std::mem::take(&mut self.by_node[node]);
        if old.is_empty() {
            self.by_node[node] = form;
            return;
        }
        let mut sum = old;
        for (element, (sum, other)) in sum.iter_mut().zip(&form).enumerate() {
            if other.sign() != 0 {
                sum.add_product(other, 1.0);
                if !N::EXACT {
                    let size = self.relaxation.magnitude(node, element);
                    self.loss = add_up(self.loss, mul_up(mul_up(sum.magnitude(), RELATIVE), size));
                }
            }
        }
        self.by_node[node] = sum;
    }

    /// Carries everything back to the inputs; their coefficients, or `None` if a function has no line or
    /// a number is too great.
    pub fn back(&mut self, slopes: &[(usize, usize, f64)]) -> Option<Vec<N>> {
        let network = self.relaxation.network;
        for node in (1..network.nodes().len()).rev() {
            let form = std::mem::take(&mut self.by_node[node]);
            if form.is_empty() {
                continue;
            }
            match &network.nodes()[node].op {
                Op::Input => return None,
                Op::Affine { input, weights, bias } => {
                    let mut before = vec![N::ZERO; weights.columns()];
                    let (mut size, mut rows) = (0.0, 1);
                    for (element, factor) in form.iter().enumerate() {
                        if factor.sign() == 0 {
                            continue;
                        }
                        rows += 1;
                        self.constant.add_product_down(factor, bias[element]);
                        for (sum, &weight) in before.iter_mut().zip(weights.row(element)) {
                            sum.add_product(factor, weight);
                        }
                        if !N::EXACT {
                            let row = self.relaxation.row_size(node, element);
                            size = add_up(size, mul_up(factor.magnitude(), row));
                        }
                    }
                    if !N::EXACT {
                        self.lose(dot_error(rows, size));
                        self.lose(self.relaxation.underflow(input.index(), rows));
                    }
                    self.merge(input.index(), before);
                }
                Op::Scale { input, mul, div, add } => {
                    let mut before = Vec::with_capacity(form.len());
                    for (element, factor) in form.iter().enumerate() {
                        if factor.sign() == 0 {
                            before.push(N::ZERO);
                            continue;
                        }
                        self.constant.add_product_down(factor, add[element]);
                        let scaled = factor.scaled(mul[element], div[element]);
                        self.lose_product(&scaled, input.index(), element);
                        before.push(scaled);
                    }
                    self.merge(input.index(), before);
                }
                Op::Pointwise { input, .. } => {
                    let mut before = Vec::with_capacity(form.len());
                    for (element, factor) in form.iter().enumerate() {
                        let chosen = slopes.iter().find(|(n, e, _)| (*n, *e) == (node, element));
                        let slope = chosen.map(|(.., slope)| *slope);
                        before.push(self.add_line(node, input.index(), element, factor, slope)?);
                    }
                    self.merge(input.index(), before);
                }
                Op::Add { inputs } => {
                    for input in inputs {
                        self.merge(input.index(), form.clone());
                    }
                }
                Op::Concat { inputs } => {
                    let mut rest = form.as_slice();
                    for input in inputs {
                        let (own, others) = rest.split_at(network.node(*input).width);
                        self.merge(input.index(), own.to_vec());
                        rest = others;
                    }
                }
                // The network is one without maxima.
                Op::Max { .. } => return None,
            }
        }
        let form = std::mem::take(&mut self.by_node[0]);
        let form = if form.is_empty() { vec![N::ZERO; network.input_width()] } else { form };
        let is_number = form.iter().all(|factor| factor.sign() != 2) && self.loss.is_finite();
        is_number.then_some(form)
    }

    /// Replaces a multiple of a function by one of a line; the coefficient of its argument.
    fn add_line(
        &mut self,
        node: usize,
        argument: usize,
        element: usize,
        factor: &N,
        slope: Option<f64>,
    ) -> Option<N> {
        let lines = self.relaxation.lines(node, element);
        let line = match factor.sign() {
            0 => return Some(N::ZERO),
            1 => match (slope, lines.slopes_below) {
                (Some(slope), Some((least, most))) => {
                    super::lines::Line { slope: slope.max(least).min(most), offset: 0.0 }
                }
                (None, _) | (_, None) => lines.below,
            },
            -1 => lines.above,
            _ => return None,
        };
        if !(line.slope.is_finite() && line.offset.is_finite()) {
            return None;
        }
        self.constant.add_product_down(factor, line.offset);
        let mut before = N::ZERO;
        before.add_product(factor, line.slope);
        self.lose_product(&before, argument, element);
        Some(before)
    }

    /// Counts what a rounded product loses as the coefficient of an element.
    fn lose_product(&mut self, product: &N, node: usize, element: usize) {
        if !N::EXACT {
            let relative = mul_up(product.magnitude(), RELATIVE);
            let size = self.relaxation.magnitude(node, element);
            self.lose(add_up(mul_up(relative, size), mul_up(f64::MIN_POSITIVE, size)));
        }
    }
}
