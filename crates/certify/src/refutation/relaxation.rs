//! A network over a part of its inputs: bounds of all elements, lines below and above all functions, and
//! what they say about linear forms.

use std::collections::BTreeMap;

use policert_engine_api::{Budget, StopReason};
use policert_numeric::round::{add_down, add_up, mul_down, mul_up, sub_down};
use policert_numeric::{Interval, LinearInequality, Rational};
use policert_policy::activation::{Jump, Staircase};
use policert_policy::{Activation, Network, Op};

use super::carry::{Carried, Coefficient};
use super::lines::Lines;
use super::single_bounds;
use super::{ElementSide, InputPart, MultiplierSum};
use crate::interval_scores::{evaluate, step_at};

/// A network and the inequalities of a disjunct, over the part that was entered last.
#[derive(Debug)]
pub struct Relaxation<'n> {
    pub(super) network: &'n Network,
    inequalities: &'n [LinearInequality],
    /// Bounds of the elements, by node.
    values: Vec<Vec<Interval>>,
    /// Lines of the elements of functions, by node; of other nodes none.
    lines: Vec<Vec<Lines>>,
    /// Of affine nodes: by element the sum of the magnitudes of its products.
    row_sizes: Vec<Vec<f64>>,
    /// By node: whether functions take it as their argument.
    is_argument: Vec<bool>,
    /// By node: whether functions come before it.
    follows_function: Vec<bool>,
}

/// A plane over the inputs: `Σ slope · input + constant` is at most the sum that it belongs to.
#[derive(Clone, PartialEq, Debug)]
pub struct Plane<N> {
    /// By input.
    pub slopes: Vec<N>,
    /// The constant, with what rounding may have lost taken off.
    pub constant: N,
}

impl<'n> Relaxation<'n> {
    /// For a network without maxima.
    #[must_use]
    pub fn new(network: &'n Network, inequalities: &'n [LinearInequality]) -> Self {
        let nodes = network.nodes();
        let mut is_argument = vec![false; nodes.len()];
        let mut follows_function = vec![false; nodes.len()];
        for (id, node) in nodes.iter().enumerate() {
            let is_function = matches!(node.op, Op::Pointwise { .. });
            for input in node.op.inputs() {
                is_argument[input.index()] |= is_function;
            }
            let before = node.op.inputs().iter().any(|input| follows_function[input.index()]);
            follows_function[id] = is_function || before;
        }
        let (values, lines, row_sizes) = (Vec::new(), Vec::new(), Vec::new());
        Self { network, inequalities, values, lines, row_sizes, is_argument, follows_function }
    }

    /// Computes bounds over a part. False if nothing is in it.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn enter(&mut self, part: &InputPart, budget: &mut Budget) -> Result<bool, StopReason> {
        self.values.clear();
        self.lines.clear();
        self.row_sizes.clear();
        if single_bounds::contradict(self.inequalities) {
            return Ok(false);
        }
        let Some(inputs) = intervals(part) else { return Ok(false) };
        for (id, node) in self.network.nodes().iter().enumerate() {
            budget.poll()?;
            self.values.push(evaluate(&node.op, &self.values, &inputs));
            self.step(part, id);
            self.row_sizes.push(match &node.op {
                Op::Affine { input, weights, .. } => weights
                    .row_iter()
                    .map(|row| {
                        let sizes = self.values[input.index()].iter().map(|x| x.magnitude());
                        row.iter().zip(sizes).fold(0.0, |sum, (weight, size)| {
                            add_up(sum, mul_up(weight.abs(), size))
                        })
                    })
                    .collect(),
                Op::Input
                | Op::Scale { .. }
                | Op::Pointwise { .. }
                | Op::Add { .. }
                | Op::Concat { .. }
                | Op::Max { .. } => Vec::new(),
            });
            self.lines.push(match &node.op {
                Op::Pointwise { input, activation } => self.values[input.index()]
                    .iter()
                    .zip(&self.values[id])
                    .map(|(&x, &image)| Lines::of(*activation, x, image))
                    .collect(),
                Op::Input
                | Op::Affine { .. }
                | Op::Scale { .. }
                | Op::Add { .. }
                | Op::Concat { .. }
                | Op::Max { .. } => Vec::new(),
            });
            if !self.clip(part, id) {
                return Ok(false);
            }
            if self.is_argument[id] && self.follows_function[id] && !self.refine(id, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes the bounds of staircases tighter whose arguments are on one side of a jump, without the jump
    /// itself: up to the next double there is no other one.
    fn step(&mut self, part: &InputPart, node: usize) {
        let Op::Pointwise { input, activation: Activation::Staircase(staircase) } =
            self.network.nodes()[node].op
        else {
            return;
        };
        let is_own = |side: &&ElementSide| side.strict && side.node == input.index();
        for side in part.sides.iter().filter(is_own).filter(|side| is_jump(staircase, side.at)) {
            let value = self.values[node][side.element];
            let cut = if side.above {
                Interval::new(value.lo().max(step_at(staircase, side.at.next_up())), value.hi())
            } else {
                Interval::new(value.lo(), value.hi().min(step_at(staircase, side.at.next_down())))
            };
            // No value is left: the argument has none either, which is seen there.
            self.values[node][side.element] = cut.unwrap_or(value);
        }
    }

    /// Cuts the bounds of a node at the sides of splits; false if nothing is left.
    fn clip(&mut self, part: &InputPart, node: usize) -> bool {
        part.sides.iter().filter(|side| side.node == node).all(|side| {
            let value = &mut self.values[node][side.element];
            let (lo, hi) = (value.lo(), value.hi());
            if side.strict && if side.above { hi <= side.at } else { lo >= side.at } {
                return false;
            }
            let cut = match side.above {
                true => Interval::new(lo.max(side.at), hi),
                false => Interval::new(lo, hi.min(side.at)),
            };
            cut.map(|cut| *value = cut).is_some()
        })
    }

    /// Bounds of those elements of a node that functions bend at, by lines of the functions before it;
    /// false if nothing is left.
    fn refine(&mut self, node: usize, budget: &mut Budget) -> Result<bool, StopReason> {
        for element in 0..self.values[node].len() {
            if !self.bends_in(node, element) {
                continue;
            }
            budget.poll()?;
            let least = |factor: Rational| {
                let mut form = Carried::<f64>::new(self, 0.0);
                form.add(node, element, &factor);
                let slopes = form.back(&[])?;
                Some(self.least(&slopes, form.constant, form.loss))
            };
            let (below, above) = (least(Rational::ONE), least(-Rational::ONE).map(|least| -least));
            let value = self.values[node][element];
            let lo = value.lo().max(below.unwrap_or(f64::NEG_INFINITY));
            let hi = value.hi().min(above.unwrap_or(f64::INFINITY));
            match Interval::new(lo, hi) {
                Some(value) => self.values[node][element] = value,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Returns whether a function of an element is not linear between its bounds.
    fn bends_in(&self, node: usize, element: usize) -> bool {
        let value = self.values[node][element];
        self.network.nodes().iter().any(|other| match &other.op {
            Op::Pointwise { input, activation } if input.index() == node => {
                !activation.is_linear(value.lo(), value.hi())
            }
            Op::Pointwise { .. }
            | Op::Input
            | Op::Affine { .. }
            | Op::Scale { .. }
            | Op::Add { .. }
            | Op::Concat { .. }
            | Op::Max { .. } => false,
        })
    }

    /// The least value of a form over the inputs, rounded down.
    fn least(&self, slopes: &[f64], constant: f64, loss: f64) -> f64 {
        let products = slopes.iter().zip(&self.values[0]).filter(|(slope, _)| **slope != 0.0);
        let sum = products.fold(constant, |sum, (&slope, x)| {
            add_down(sum, mul_down(slope, if slope < 0.0 { x.hi() } else { x.lo() }))
        });
        sub_down(sum, loss)
    }

    /// Returns whether a sum has no step that is none of this question. Its multipliers must be at
    /// least 0.
    pub(super) fn has_sum(&self, sum: &MultiplierSum, splits: usize) -> bool {
        let fits = |multipliers: &[(usize, Rational)], count: usize| {
            multipliers.iter().all(|(at, by)| *at < count && by.signum() >= 0)
        };
        fits(&sum.inequalities, self.inequalities.len())
            && fits(&sum.splits, splits)
            && sum.slopes.iter().all(|(node, element, slope)| {
                self.has_element(*node, *element) && slope.is_finite()
            })
    }

    /// Returns whether there is such an element.
    #[must_use]
    pub fn has_element(&self, node: usize, element: usize) -> bool {
        self.network.nodes().get(node).is_some_and(|node| element < node.width)
    }

    /// Returns whether a sum is satisfied nowhere in the part that was entered last, whose multipliers
    /// are at least 0.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn refutes(
        &self,
        part: &InputPart,
        sum: &MultiplierSum,
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        budget.poll()?;
        let is_strict = sum.inequalities.iter().any(|(at, by)| {
            by.signum() > 0 && self.inequalities.get(*at).is_some_and(|one| one.strict)
        }) || sum
            .splits
            .iter()
            .any(|(at, by)| by.signum() > 0 && part.sides.get(*at).is_some_and(|side| side.strict));
        if sum.exact {
            let Some(Plane { slopes, constant }) = self.plane::<Rational>(part, sum) else {
                return Ok(false);
            };
            let (lo, hi) = self.exact_sides(part);
            let mut least = constant;
            for (slope, (lo, hi)) in slopes.iter().zip(lo.iter().zip(&hi)) {
                let end = if slope.signum() < 0 { hi } else { lo };
                match end {
                    _ if slope.is_zero() => {}
                    Some(end) => least = &least + &(slope * end),
                    None => return Ok(false),
                }
            }
            return Ok(least.signum() > 0 || least.is_zero() && is_strict);
        }
        let Some(Plane { slopes, constant }) = self.plane::<f64>(part, sum) else {
            return Ok(false);
        };
        let least = self.least(&slopes, constant, 0.0);
        Ok(least > 0.0 || least >= 0.0 && is_strict)
    }

    /// The plane below a sum, in doubles.
    #[must_use]
    pub fn rounded_plane(&self, part: &InputPart, sum: &MultiplierSum) -> Option<Plane<f64>> {
        self.plane(part, sum)
    }

    /// The plane below a sum, in rational numbers.
    #[must_use]
    pub fn exact_plane(&self, part: &InputPart, sum: &MultiplierSum) -> Option<Plane<Rational>> {
        self.plane(part, sum)
    }

    /// The bounds of the inputs in a part, exactly: where it was not split, those that the inequalities
    /// say.
    #[must_use]
    pub fn exact_sides(&self, part: &InputPart) -> (Vec<Option<Rational>>, Vec<Option<Rational>>) {
        let (lo, hi) = single_bounds::sides(self.inequalities, part.lo.len());
        let exact = |x: &f64| Rational::from_f64(*x);
        let (mut own_lo, mut own_hi) = (part.lo.clone(), part.hi.clone());
        for side in part.sides.iter().filter(|side| side.node == 0) {
            let (lo, hi) = (&mut own_lo[side.element], &mut own_hi[side.element]);
            if side.above { *lo = lo.max(side.at) } else { *hi = hi.min(side.at) }
        }
        let lo = lo.into_iter().zip(own_lo.iter().map(exact)).map(|(a, b)| match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        });
        let hi = hi.into_iter().zip(own_hi.iter().map(exact)).map(|(a, b)| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        });
        (lo.collect(), hi.collect())
    }

    fn plane<N: Coefficient>(&self, part: &InputPart, sum: &MultiplierSum) -> Option<Plane<N>> {
        let inputs = self.network.input_width();
        let output = self.network.output().index();
        let mut constant = Rational::ZERO;
        let mut terms: BTreeMap<(usize, usize), Rational> = BTreeMap::new();
        let mut add = |node: usize, element: usize, factor: Rational| {
            let sum = terms.entry((node, element)).or_default();
            *sum = &*sum + &factor;
        };
        for (at, by) in &sum.inequalities {
            let inequality = self.inequalities.get(*at)?;
            for (variable, factor) in &inequality.terms {
                match variable.checked_sub(inputs) {
                    None => add(0, *variable, by * factor),
                    Some(element) => add(output, element, by * factor),
                }
            }
            constant = &constant - &(by * &inequality.upper);
        }
        for (at, by) in &sum.splits {
            let side = part.sides.get(*at)?;
            let by = if side.above { -by } else { by.clone() };
            constant = &constant - &(&by * &Rational::from_f64(side.at)?);
            add(side.node, side.element, by);
        }
        let mut form = Carried::<N>::new(self, N::of_down(&constant));
        for ((node, element), factor) in terms.iter().filter(|(_, factor)| !factor.is_zero()) {
            form.add(*node, *element, factor);
        }
        let slopes = form.back(&sum.slopes)?;
        Some(Plane { slopes, constant: form.constant.lowered(form.loss) })
    }

    /// The greatest magnitude of an element in the part.
    pub(super) fn magnitude(&self, node: usize, element: usize) -> f64 {
        self.values[node][element].magnitude()
    }

    pub(super) fn row_size(&self, node: usize, element: usize) -> f64 {
        self.row_sizes[node][element]
    }

    pub(super) fn lines(&self, node: usize, element: usize) -> Lines {
        self.lines[node][element]
    }

    /// More than what sums of so many products lose to underflow as coefficients of a node's elements.
    pub(super) fn underflow(&self, node: usize, products: usize) -> f64 {
        let sizes = self.values[node].iter().fold(1.0, |sum, x| add_up(sum, x.magnitude()));
        let products = u32::try_from(products).map_or(f64::INFINITY, f64::from);
        mul_up(mul_up(products, f64::MIN_POSITIVE), sizes)
    }

    /// Where functions bend or jump in the part that was entered last: the node and element of the argument,
    /// and its value there, with whether this belongs to the side below; the one that is farthest from its
    /// bounds first.
    #[must_use]
    pub fn bends(&self, part: &InputPart) -> Vec<(usize, usize, Jump)> {
        let mut bends = Vec::new();
        for node in self.network.nodes() {
            let Op::Pointwise { input, activation } = &node.op else { continue };
            for (element, x) in self.values[input.index()].iter().enumerate() {
                let inner = |at: &f64| x.lo() < *at && *at < x.hi();
                let linear = activation.bends().filter(inner);
                let linear = linear.map(|at| Jump { at, is_below: false });
                let jump = match activation {
                    Activation::Staircase(staircase) => {
                        let mut ends = (x.lo(), x.hi());
                        let is_own = |side: &&ElementSide| {
                            side.strict && (side.node, side.element) == (input.index(), element)
                        };
                        for side in part.sides.iter().filter(is_own) {
                            match side.above {
                                true => ends.0 = ends.0.max(side.at.next_up()),
                                false => ends.1 = ends.1.min(side.at.next_down()),
                            }
                        }
                        staircase.jump(ends.0, ends.1)
                    }
                    Activation::Leaky { .. } | Activation::Clip { .. } | Activation::Smooth(_) => {
                        None
                    }
                };
                for jump in linear.chain(jump) {
                    let depth = (x.hi() - jump.at).min(jump.at - x.lo());
                    bends.push((depth, (input.index(), element, jump)));
                }
            }
        }
        bends.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        bends.into_iter().map(|(_, bend)| bend).collect()
    }

    /// Returns whether every function is a line in the part that was entered last.
    #[must_use]
    pub fn is_affine(&self) -> bool {
        self.lines.iter().flatten().all(|lines| lines.below == lines.above)
    }
}

/// Returns whether a staircase jumps at a value, near enough to 0 for doubles to lie between its jumps.
fn is_jump(staircase: Staircase, at: f64) -> bool {
    const FAR: f64 = 1e15;
    let is_whole = |x: f64| x.fract().abs() <= 0.0;
    let jumps = match staircase {
        Staircase::Floor => is_whole(at),
        // Halves of odd integers.
        Staircase::Round => is_whole(at + at) && !is_whole(at),
        Staircase::Sign => at.abs() <= 0.0,
    };
    at.abs() < FAR && jumps
}

/// The inputs of a part; `None` if nothing is in it.
fn intervals(part: &InputPart) -> Option<Vec<Interval>> {
    part.lo.iter().zip(&part.hi).map(|(&lo, &hi)| Interval::new(lo, hi)).collect()
}
