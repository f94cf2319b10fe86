//! The states of a control loop whose network reads the state, followed as affine forms.
//!
//! A step is cut into stretches of length h. Over a stretch a box B contains all solutions (Picard), and
//! x + h·f(x) + h²/2·f′(x) + h³/6·f″(B) their ends (Taylor's formula with Lagrange's rest, derivatives along the
//! flow). All but the rest is taken by mean values, so that affine forms keep what the variables have in common.

use policert_control_loop::{BoxEdge, Dynamics, DynamicsKind, ExpressionGraph, ExpressionId, Task};
use policert_numeric::round::add_up;
use policert_numeric::{Interval, Rational};
use policert_policy::Network;

use super::affine::Affine;
use super::cells::range;
use super::formulas::Formula;
use super::motion::Motion;
use super::state_network::StateNetwork;

/// Symbols beyond this number are made errors at the end of a step, the least ones first.
const MOST_SYMBOLS: usize = 48;

/// A loop made ready for stretches of one length.
#[derive(Debug)]
pub(super) struct StateLoop<'t> {
    network: StateNetwork<'t>,
    stretches: u32,
    /// Finds the boxes B; difference equations have none.
    motion: Option<Motion>,
    /// x + h·f(x) + h²/2·f′(x), or the next state.
    sums: Vec<Formula>,
    /// h³/6·f″.
    rests: Vec<Formula>,
    disturbances: Vec<Interval>,
    clamp: Vec<(BoxEdge, BoxEdge)>,
    remembered: Vec<(usize, usize)>,
}

impl<'t> StateLoop<'t> {
    /// The loop of a task, or the reason why there is none.
    pub fn new(task: &'t Task, network: Network, stretches: u32) -> Result<Self, String> {
        let dynamics = &task.dynamics;
        let variables = task.dimension() + task.inputs.len();
        let (stretches, motion) = match dynamics.kind {
            DynamicsKind::Difference => (dynamics.substeps, None),
            DynamicsKind::Ode => {
                let motion = Motion::new(dynamics, task.inputs.len(), stretches);
                (stretches, Some(motion.ok_or("stretches of no length")?))
            }
        };
        let (graph, sums, rests) = series(dynamics, stretches)
            .ok_or("dynamics that have no derivatives everywhere (if, min, max, abs, sqrt)")?;
        let formulas = |roots: &[ExpressionId]| {
            roots.iter().map(|&root| Formula::new(&graph, root, variables)).collect()
        };
        let disturbances = dynamics.disturbances.iter();
        Ok(Self {
            network: StateNetwork::new(task, network)?,
            stretches,
            motion,
            sums: formulas(&sums),
            rests: formulas(&rests),
            disturbances: disturbances.map(|one| range(&one.lower, &one.upper)).collect(),
            clamp: dynamics.clamp.clone().unwrap_or_default(),
            remembered: dynamics.remembered.clone(),
        })
    }

    /// The states of a part of the initial box.
    pub fn initial(part: &[(Rational, Rational)]) -> Vec<Affine> {
        let sides = part.iter().enumerate();
        sides.map(|(i, (lo, hi))| Affine::constant(range(lo, hi)).with_symbol(i)).collect()
    }

    /// The states after a step; boxes that contain those on the way are appended to `between`. `None` if there
    /// are no bounds, or no values, somewhere.
    pub fn step(&self, state: &[Affine], between: &mut Vec<Vec<Interval>>) -> Option<Vec<Affine>> {
        let n = state.len();
        let mut symbols = state.iter().map(|x| x.slopes.len()).max().unwrap_or(0);
        let mut named = |x: Affine| {
            let named = x.with_symbol(symbols);
            symbols = symbols.max(named.slopes.len());
            named
        };
        let mut at: Vec<Affine> = state.iter().cloned().map(&mut named).collect();
        let actions = self.network.actions(&at)?;
        at.extend(actions.into_iter().map(&mut named));
        // A disturbance is held as long as the action is.
        at.extend(self.disturbances.iter().map(|&range| named(Affine::constant(range))));
        for stretch in 0..self.stretches {
            let ranges: Vec<Interval> = at.iter().map(Affine::range).collect();
            let enclosure = match &self.motion {
                Some(motion) => Some(motion.enclosure(&ranges)?),
                None => None,
            };
            let mut next = Vec::with_capacity(n);
            for (i, sum) in self.sums.iter().enumerate() {
                let moved = Affine::of_formula(sum, &at)?;
                next.push(match &enclosure {
                    Some(enclosure) => {
                        let rest = self.rests[i].value(enclosure)?;
                        Affine::sum(rest, &[(Interval::point(1.0), &moved)])
                    }
                    None => moved,
                });
            }
            match enclosure {
                Some(enclosure) => between.push(enclosure[..n].to_vec()),
                None if stretch > 0 => between.push(ranges[..n].to_vec()),
                None => {}
            }
            for (x, next) in at.iter_mut().zip(next) {
                *x = next;
            }
        }
        for &(variable, input) in &self.remembered {
            at[variable] = at[n + input].clone();
        }
        at.truncate(n);
        for (x, (lower, upper)) in at.iter_mut().zip(&self.clamp) {
            let [lower, upper] = [lower, upper].map(|edge| Interval::enclosing(edge.exact()));
            let range = x.range();
            if range.lo() < lower.hi() || upper.lo() < range.hi() {
                *x = Affine::constant(range.max(lower).min(upper));
            }
        }
        reduce(&mut at);
        at.iter().all(|x| x.radius().is_finite()).then_some(at)
    }
}

/// Makes errors of all but the greatest symbols, measured by the widths of the variables.
fn reduce(state: &mut [Affine]) {
    let symbols = state.iter().map(|x| x.slopes.len()).max().unwrap_or(0);
    if symbols <= MOST_SYMBOLS {
        return;
    }
    let mut sizes = vec![0.0; symbols];
    for x in state.iter() {
        let radius = x.radius().max(f64::MIN_POSITIVE);
        for (size, slope) in sizes.iter_mut().zip(&x.slopes) {
            *size += slope.abs() / radius;
        }
    }
    let mut order: Vec<usize> = (0..symbols).collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]).then(a.cmp(&b)));
    let mut kept = order[..MOST_SYMBOLS / 2].to_vec();
    kept.sort_unstable();
    for x in state.iter_mut() {
        x.slopes.resize(symbols, 0.0);
        for &at in &order[MOST_SYMBOLS / 2..] {
            x.error = add_up(x.error, x.slopes[at].abs());
        }
        x.slopes = kept.iter().map(|&at| x.slopes[at]).collect();
    }
}

/// Taylor's formula for a stretch: a graph, the sums, and what the rests are the values of; of difference equations
/// the update alone. `None` if there is none.
fn series(
    dynamics: &Dynamics,
    stretches: u32,
) -> Option<(ExpressionGraph, Vec<ExpressionId>, Vec<ExpressionId>)> {
    let mut graph = dynamics.graph.clone();
    let f = dynamics.components.clone();
    if dynamics.kind == DynamicsKind::Difference {
        return Some((graph, f, Vec::new()));
    }
    if !f.iter().all(|&root| graph.is_smooth(root)) {
        return None;
    }
    let h = dynamics.period.checked_div(&Rational::from(i64::from(stretches)))?;
    let mut sums: Vec<ExpressionId> = (0..f.len()).map(|i| graph.variable(i)).collect();
    let (mut along, mut factor) = (f.clone(), h.clone());
    for order in 1..3i64 {
        let weight = graph.constant(factor.clone());
        for (sum, &term) in sums.iter_mut().zip(&along) {
            let term = graph.mul(weight, term);
            *sum = graph.add(*sum, term);
        }
        let mut next = Vec::with_capacity(f.len());
        for &function in &along {
            let mut derivative = graph.constant(Rational::ZERO);
            for (variable, &speed) in f.iter().enumerate() {
                let slope = graph.derivative(function, variable)?;
                let term = graph.mul(slope, speed);
                derivative = graph.add(derivative, term);
            }
            next.push(derivative);
        }
        along = next;
        factor = (&factor * &h).checked_div(&Rational::from(order + 1))?;
    }
    let weight = graph.constant(factor);
    let rests = along.iter().map(|&term| graph.mul(weight, term)).collect();
    Some((graph, sums, rests))
}
