//! The states of a control loop whose network reads the state, followed as affine forms.
//!
//! A step is cut into stretches of length h. Over a stretch a box B contains all solutions (Picard), and
//! x + h·f(x) + h²/2·f′(x) + h³/6·f″(B) their ends (Taylor's formula with Lagrange's rest, derivatives along the
//! flow). All but the rest is taken by mean values, so that affine forms keep what the variables have in common. What
//! disturbances that change at any time add to a solution is bounded apart (`motion.rs`).

use policert_control_loop::{
    BoxEdge, Disturbance, Dynamics, DynamicsKind, ExpressionGraph, ExpressionId, Task,
};
use policert_numeric::round::add_up;
use policert_numeric::{Interval, Rational};
use policert_policy::Network;

use super::affine::Affine;
use super::cells::range;
use super::choices::{LoopChoices, chosen, farthest, together};
use super::formulas::Formula;
use super::motion::Motion;
use super::state_network::StateNetwork;

/// Symbols beyond this number are made errors at the end of a step, the least ones first.
const MOST_SYMBOLS: usize = 48;

/// What a disturbance may be.
#[derive(Clone, Copy, Debug)]
struct Disturbed {
    range: Interval,
    /// Whether it is one number for a step.
    is_held: bool,
}

impl Disturbed {
    fn new(disturbance: &Disturbance) -> Self {
        let range = range(&disturbance.lower, &disturbance.upper);
        Self { range, is_held: !disturbance.changes_within_steps() }
    }
}

/// Gives errors of numbers symbols of their own.
#[derive(Clone, Copy, Debug)]
struct Named {
    /// Symbols so far.
    symbols: usize,
}

impl Named {
    /// Those after the symbols of some numbers.
    fn after(numbers: &[Affine]) -> Self {
        Self { symbols: numbers.iter().map(|x| x.slopes.len()).max().unwrap_or(0) }
    }

    fn number(&mut self, x: Affine) -> Affine {
        let named = x.with_symbol(self.symbols);
        self.symbols = self.symbols.max(named.slopes.len());
        named
    }
}

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
    disturbances: Vec<Disturbed>,
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
            disturbances: disturbances.map(Disturbed::new).collect(),
            clamp: dynamics.clamp.clone().unwrap_or_default(),
            remembered: dynamics.remembered.clone(),
        })
    }

    /// The states of a part of the initial box.
    pub fn initial(part: &[(Rational, Rational)]) -> Vec<Affine> {
        let sides = part.iter().enumerate();
        sides.map(|(i, (lo, hi))| Affine::constant(range(lo, hi)).with_symbol(i)).collect()
    }

    /// Sets that together contain the states after a step; boxes that contain those on the way are appended to `between`. `None`
    /// if there are no bounds, or no values, somewhere.
    pub fn step(
        &self,
        state: &[Affine],
        choices: LoopChoices,
        between: &mut Vec<Vec<Interval>>,
    ) -> Option<Vec<Vec<Affine>>> {
        let mut named = Named::after(state);
        let at: Vec<Affine> = state.iter().cloned().map(|x| named.number(x)).collect();
        let outputs = self.network.outputs(&at)?;
        let ways = match self.network.table() {
            None => vec![self.network.actions(&outputs)],
            Some(table) => {
                let possible = outputs.greatest();
                match (choices, farthest(table, &possible)) {
                    (LoopChoices::Together, Some(pair)) => {
                        let response = self.response(&at, table, pair).unwrap_or(0.0);
                        vec![together(table, &possible, pair, &outputs, response)]
                    }
                    (LoopChoices::Together | LoopChoices::Apart, _) => {
                        possible.into_iter().map(|choice| chosen(&table[choice])).collect()
                    }
                }
            }
        };
        let ways = ways.into_iter();
        ways.map(|actions| self.held(at.clone(), actions, named, between)).collect()
    }

    /// From the middle of a set: by how much less, about, the difference of two outputs is after a step with the actions of the
    /// first than after one with those of the second.
    fn response(
        &self,
        state: &[Affine],
        table: &[Vec<Rational>],
        pair: (usize, usize),
    ) -> Option<f64> {
        let middle = state.iter().map(|x| Affine::constant(Interval::point(x.centre)));
        let middle: Vec<Affine> = middle.collect();
        let after = |choice: usize| {
            let named = Named::after(&middle);
            let next = self.held(middle.clone(), chosen(&table[choice]), named, &mut Vec::new())?;
            Some(self.network.outputs(&next)?.difference(pair).1.midpoint())
        };
        Some(after(pair.1)? - after(pair.0)?)
    }

    /// The states after a step in which some actions are taken; boxes that contain those on the way are appended to `between`.
    fn held(
        &self,
        mut at: Vec<Affine>,
        actions: Vec<Affine>,
        mut named: Named,
        between: &mut Vec<Vec<Interval>>,
    ) -> Option<Vec<Affine>> {
        let n = at.len();
        at.extend(actions.into_iter().map(|x| named.number(x)));
        // What may change at any time takes its middle, and what it adds to the solutions is added to them.
        let mut swings = Vec::new();
        for disturbed in &self.disturbances {
            let Disturbed { range, is_held } = *disturbed;
            if is_held {
                at.push(named.number(Affine::constant(range)));
                continue;
            }
            let middle = Interval::point(range.midpoint());
            swings.push((at.len(), range - middle));
            at.push(Affine::constant(middle));
        }
        for stretch in 0..self.stretches {
            let mut ranges: Vec<Interval> = at.iter().map(Affine::range).collect();
            for &(place, swing) in &swings {
                ranges[place] = ranges[place] + swing;
            }
            let enclosure = match &self.motion {
                Some(motion) => Some(motion.enclosure(&ranges)?),
                None => None,
            };
            let deviation = match (&self.motion, &enclosure) {
                (_, _) if swings.is_empty() => None,
                (Some(motion), Some(enclosure)) => Some(motion.deviation(enclosure, &swings)?),
                // Within the steps of difference equations there is no time.
                (_, _) => return None,
            };
            let mut next = Vec::with_capacity(n);
            for (i, sum) in self.sums.iter().enumerate() {
                let moved = Affine::of_formula(sum, &at)?;
                next.push(match &enclosure {
                    Some(enclosure) => {
                        let mut rest = self.rests[i].value(enclosure)?;
                        if let Some(deviation) = &deviation {
                            rest = rest + deviation[i];
                        }
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
