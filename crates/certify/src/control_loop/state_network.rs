//! Networks that read the state, over affine forms.

use policert_control_loop::{ActionMap, Task};
use policert_numeric::round::{add_up, mul_down, mul_up, sub_down, sub_up};
use policert_numeric::{Interval, Rational};
use policert_policy::{Activation, Network, Op, Smooth};

use super::affine::Affine;
use super::formulas::Formula;
use crate::interval_scores::evaluate;

/// The controller of a task.
#[derive(Debug)]
pub(super) struct StateNetwork<'t> {
    network: Network,
    /// What it is shown, if not the state.
    observed: Option<Vec<Formula>>,
    map: &'t ActionMap,
}

/// What a network gives over a set of states: forms, and ranges that may be narrower than theirs.
#[derive(Debug)]
pub(super) struct Outputs {
    pub forms: Vec<Affine>,
    pub ranges: Vec<Interval>,
}

impl<'t> StateNetwork<'t> {
    /// The network of a task, or the reason why there is none.
    pub fn new(task: &'t Task, network: Network) -> Result<Self, String> {
        let n = task.dimension();
        let observed: Option<Vec<Formula>> = task.observation.as_ref().map(|observation| {
            let (graph, roots) = observation.expressions();
            roots.iter().map(|&root| Formula::new(graph, root, n)).collect()
        });
        let seen = observed.as_ref().map_or(n, Vec::len);
        let choices = task.action.choices.as_ref();
        let outputs = choices.map_or(task.actions().len(), Vec::len);
        if network.input_width() != seen || network.output_width() != outputs {
            return Err("a network of another width".to_owned());
        }
        Ok(Self { network, observed, map: &task.action })
    }

    /// The table of actions, if it chooses among some.
    pub fn table(&self) -> Option<&'t [Vec<Rational>]> {
        self.map.choices.as_deref()
    }

    /// The outputs over a set of states; `None` if there are none, or no bounds, somewhere.
    pub fn outputs(&self, state: &[Affine]) -> Option<Outputs> {
        let shown: Vec<Affine> = match &self.observed {
            None => state.to_vec(),
            Some(formulas) => {
                let formulas = formulas.iter();
                formulas.map(|formula| Affine::of_formula(formula, state)).collect::<Option<_>>()?
            }
        };
        let ranges: Vec<Interval> = shown.iter().map(Affine::range).collect();
        let (mut forms, mut bounds) = (Vec::new(), Vec::new());
        for node in self.network.nodes() {
            let mut range = evaluate(&node.op, &bounds, &ranges);
            let form = form(&node.op, &forms, &bounds, &range, &shown);
            for (range, form) in range.iter_mut().zip(&form) {
                // Both contain all values.
                *range = range.intersection(form.range())?;
                if !range.magnitude().is_finite() {
                    return None;
                }
            }
            forms.push(form);
            bounds.push(range);
        }
        Some(Outputs { forms: forms.pop()?, ranges: bounds.pop()? })
    }

    /// The actions of a network that does not choose among some.
    pub fn actions(&self, Outputs { forms, ranges }: &Outputs) -> Vec<Affine> {
        let ActionMap { scale, offset, clamp, .. } = self.map;
        let (scale, offset) = (Interval::enclosing(scale), Interval::enclosing(offset));
        let mapped = forms.iter().zip(ranges).map(|(output, range)| {
            let action = Affine::sum(-(offset * scale), &[(scale, output)]);
            let range = (*range - offset) * scale;
            match clamp {
                Some((lower, upper)) => {
                    let [lower, upper] =
                        [lower, upper].map(|edge| Interval::enclosing(edge.exact()));
                    let clamped = range.max(lower).min(upper);
                    let is_inside = lower.hi() <= range.lo() && range.hi() <= upper.lo();
                    if is_inside { action } else { Affine::constant(clamped) }
                }
                None => action,
            }
        });
        mapped.collect()
    }
}

/// The elements of a node; `image` are their bounds.
fn form(
    op: &Op,
    forms: &[Vec<Affine>],
    bounds: &[Vec<Interval>],
    image: &[Interval],
    shown: &[Affine],
) -> Vec<Affine> {
    let flat = || image.iter().map(|&range| Affine::constant(range)).collect();
    match op {
        Op::Input => shown.to_vec(),
        Op::Affine { input, weights, bias } => {
            let x = &forms[input.index()];
            let row = |(row, &bias): (&[f64], &f64)| {
                let terms: Vec<(Interval, &Affine)> =
                    row.iter().map(|&weight| Interval::point(weight)).zip(x).collect();
                Affine::sum(Interval::point(bias), &terms)
            };
            weights.row_iter().zip(bias).map(row).collect()
        }
        Op::Scale { input, mul, div, add } => {
            let constants = mul.iter().zip(div).zip(add);
            let scaled = |(x, ((&mul, &div), &add)): (&Affine, ((&f64, &f64), &f64))| {
                let weight = Interval::point(mul).checked_div(Interval::point(div));
                let weight = weight.unwrap_or(Interval::EVERYTHING);
                Affine::sum(Interval::point(add), &[(weight, x)])
            };
            forms[input.index()].iter().zip(constants).map(scaled).collect()
        }
        Op::Pointwise { input, activation } => {
            let x = forms[input.index()].iter().zip(&bounds[input.index()]).zip(image);
            x.map(|((x, &over), &image)| match slope_and_rest(*activation, over) {
                Some((slope, rest)) => Affine::sum(rest, &[(Interval::point(slope), x)]),
                None => Affine::constant(image),
            })
            .collect()
        }
        Op::Add { inputs } => {
            let one = Interval::point(1.0);
            let element = |i: usize| {
                let terms: Vec<_> = inputs.iter().map(|id| (one, &forms[id.index()][i])).collect();
                Affine::sum(Interval::ZERO, &terms)
            };
            (0..image.len()).map(element).collect()
        }
        Op::Concat { inputs } => {
            inputs.iter().flat_map(|id| forms[id.index()].iter().cloned()).collect()
        }
        Op::Max { .. } => flat(),
    }
}

/// A slope λ and the range of f(x) − λ·x over a range of x; `None` where constants have to do.
fn slope_and_rest(activation: Activation, x: Interval) -> Option<(f64, Interval)> {
    let (lo, hi) = (x.lo(), x.hi());
    match activation {
        Activation::Leaky { .. } if lo >= 0.0 => Some((1.0, Interval::ZERO)),
        Activation::Leaky { alpha } if hi <= 0.0 => Some((alpha, Interval::ZERO)),
        Activation::Leaky { alpha } => {
            // Linear but for the bend at 0, where the rest is 0: its range has its ends there and at the ends.
            let slope = (hi - alpha * lo) / (hi - lo);
            let at_hi =
                Interval::new(sub_down(hi, mul_up(slope, hi)), sub_up(hi, mul_down(slope, hi)))?;
            let below = Interval::point(alpha) - Interval::point(slope);
            let at_lo = below * Interval::point(lo);
            Some((slope, Interval::ZERO.hull(at_hi).hull(at_lo)))
        }
        Activation::Clip { lo: least, hi: greatest } if least <= lo && hi <= greatest => {
            Some((1.0, Interval::ZERO))
        }
        Activation::Smooth(Smooth::Tanh) => {
            let one = Interval::point(1.0);
            let slope = |x: f64| (one - Interval::point(x).tanh().square()).lo();
            rising(x, slope(lo).min(slope(hi)), Interval::tanh)
        }
        Activation::Smooth(Smooth::Sigmoid) => {
            let one = Interval::point(1.0);
            let slope = |x: f64| {
                let value = Interval::point(x).sigmoid();
                (value * (one - value)).lo()
            };
            rising(x, slope(lo).min(slope(hi)), Interval::sigmoid)
        }
        Activation::Clip { .. } | Activation::Staircase(_) | Activation::Smooth(_) => None,
    }
}

/// With a slope that is at most that of the function everywhere, so that the rest rises. (The slopes of tanh and
/// the sigmoid are least at an end of a range.)
fn rising(x: Interval, slope: f64, f: impl Fn(Interval) -> Interval) -> Option<(f64, Interval)> {
    let slope = slope.max(0.0);
    let [first, last] = [x.lo(), x.hi()]
        .map(|x| f(Interval::point(x)) - Interval::point(slope) * Interval::point(x));
    Some((slope, Interval::new(first.lo(), add_up(last.hi(), 0.0))?))
}
