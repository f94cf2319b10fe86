//! Reachable sets of loops whose network reads the state: Taylor models.
//!
//! The state is a polynomial in symbols between −1 and 1, with an interval for the rest: symbols stand for
//! the place in the initial box, and for errors made on the way. The network is abstracted over the
//! polynomials (`taylor/network.rs`), so that the action is one in the same symbols; the flow of
//! differential equations is followed with time as one more variable (`taylor/flow.rs`), difference
//! equations are evaluated. So everything keeps how it depends on the initial state.
//!
//! Sources and deviations: `docs/algorithms/taylor-models.md`.

mod algebra;
mod evaluation;
mod flow;
mod model;
mod monomial;
mod network;
mod quadratic;
mod series;
mod symbols;

use policert_control_loop::{
    ActionMap, BoxEdge, ClosedRange, Disturbance, Dynamics, DynamicsKind, Observation, ReachError,
};
use policert_engine_api::{Budget, StopReason};
use policert_numeric::{Interval, Rational};

use crate::policy::{Line, StateController, Taken, greatest};
use algebra::{Algebra, Order};
use evaluation::Program;
use flow::{Stretch, TaylorFlow};
use model::Model;
use monomial::SYMBOLS;
use symbols::{Symbols, take_rest};

/// Terms that are kept.
const ORDER: Order = Order { degree: 2, time: 4, cutoff: 1e-5 };

/// A stretch of time is short enough if the errors that it adds are at most this part of the radius …
const TOLERANCE: f64 = 1e-3;
/// … and this part of the greatest magnitude of a variable so far …
const FLOOR: f64 = 1e-6;
/// … or if half of it does not have this many times less.
const WORTH: f64 = 4.0;
/// Ranges that are narrower than this part of their magnitude count as numbers.
const POINT: f64 = 1e-12;
/// After a stretch that adds less than this part of what it may, the next one may be twice as long.
const DOUBLE: f64 = 0.03;
/// Steps are halved at most so often.
const MOST_HALVINGS: u32 = 8;

/// The reachable set of one part, step by step.
#[derive(Clone, Debug)]
pub(crate) struct TaylorSets {
    motion: Motion,
    clamp: Option<Vec<(BoxEdge, BoxEdge)>>,
    inputs: usize,
    disturbances: Vec<Disturbance>,
    /// Variables that take over an action after each step.
    remembered: Vec<(usize, usize)>,
    algebra: Algebra,
    symbols: Symbols,
    state: Vec<Model>,
    hull: Vec<Interval>,
    /// The greatest magnitude of each variable so far.
    reach: Vec<f64>,
    /// By symbol of the initial state: the variable that it stands for, and how much of what the
    /// abstraction of the network loses is due to its width.
    origins: Vec<usize>,
    blame: Vec<f64>,
    /// What the network gives over the set.
    outputs: Vec<Model>,
}

#[derive(Clone, Debug)]
enum Motion {
    Update {
        program: Program,
        substeps: u32,
    },
    Flow {
        flow: Box<TaylorFlow>,
        /// Halvings of the step that the last one needed.
        halvings: u32,
    },
}

impl TaylorSets {
    /// Returns whether there are enough symbols for all errors.
    pub(crate) fn fits(dimension: usize, inputs: usize) -> bool {
        3 * dimension + inputs <= SYMBOLS
    }

    /// Compiles the dynamics of a loop with `inputs` actions.
    ///
    /// # Errors
    /// If differential equations cannot be differentiated, or there are too many variables.
    pub(crate) fn new(dynamics: &Dynamics, inputs: usize) -> Result<Self, ReachError> {
        let dimension = dynamics.components.len();
        let symbols = Symbols::new(dimension, dimension, inputs).ok_or_else(|| {
            ReachError::Unsupported(format!(
                "Taylor models for {dimension} variables and {inputs} actions: three times the \
                 variables and the actions may be {SYMBOLS} together; zonotopes have no such bound"
            ))
        })?;
        let motion = match dynamics.kind {
            DynamicsKind::Difference => Motion::Update {
                program: Program::new(&dynamics.graph, &dynamics.components),
                substeps: dynamics.substeps,
            },
            DynamicsKind::Ode => {
                Motion::Flow { flow: Box::new(TaylorFlow::new(dynamics, inputs)?), halvings: 0 }
            }
        };
        Ok(Self {
            motion,
            clamp: dynamics.clamp.clone(),
            inputs,
            disturbances: dynamics.disturbances.clone(),
            remembered: dynamics.remembered.clone(),
            algebra: Algebra::new(ORDER),
            symbols,
            state: Vec::new(),
            hull: Vec::new(),
            reach: Vec::new(),
            origins: Vec::new(),
            blame: Vec::new(),
            outputs: Vec::new(),
        })
    }

    /// Begins with a box.
    pub(crate) fn begin(&mut self, sides: Vec<Interval>) {
        // A number that is no double is no range to be split.
        let is_wide = |side: &Interval| side.width() > POINT * side.magnitude();
        self.origins = (0..sides.len()).filter(|&i| is_wide(&sides[i])).collect();
        self.blame = vec![0.0; self.origins.len()];
        self.symbols.fixed = self.origins.len();
        let model = |(i, side): (usize, &Interval)| {
            let centre = side.midpoint();
            let radius = (*side - Interval::point(centre)).magnitude();
            match self.origins.binary_search(&i) {
                Ok(symbol) => Model::symbol(centre, radius, symbol),
                Err(_) => Model::constant(*side),
            }
        };
        self.state = sides.iter().enumerate().map(model).collect();
        self.reach = sides.iter().map(|side| side.magnitude()).collect();
        self.hull = sides;
        if let Motion::Flow { halvings, .. } = &mut self.motion {
            *halvings = 0;
        }
    }

    /// The box around the set.
    pub(crate) fn hull(&self) -> &[Interval] {
        &self.hull
    }

    /// Bounds of some expressions over the set.
    pub(crate) fn values(&self, asked: &Observation) -> Option<Vec<Interval>> {
        let values = self.models(asked, &mut self.algebra.clone())?;
        Some(values.iter().map(Model::range).collect())
    }

    /// Models of some expressions over the set.
    fn models(&self, asked: &Observation, algebra: &mut Algebra) -> Option<Vec<Model>> {
        let (graph, roots) = asked.expressions();
        let state: Vec<&Model> = self.state.iter().collect();
        Program::new(graph, roots).run(algebra, &state)
    }

    /// The variable whose width in the initial box the abstraction of the network loses most to.
    pub(crate) fn widest_influence(&self) -> Option<usize> {
        let pairs = self.origins.iter().zip(&self.blame);
        let greatest = pairs.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)))?;
        (*greatest.1 > 0.0).then_some(*greatest.0)
    }

    /// Asks the network: the choices of actions that it may take somewhere in the set, a single one where it
    /// does not choose. `None` if it has no value somewhere.
    pub(crate) fn choices(&mut self, controller: &StateController) -> Option<Vec<usize>> {
        self.symbols.absorb(&mut self.state, self.inputs);
        let degree = self.algebra.order.degree;
        let seen = match controller.observation() {
            Some(observation) => &self.models(observation, &mut self.algebra.clone())?,
            None => &self.state,
        };
        self.outputs = network::outputs(controller.network(), seen, degree, &mut self.blame);
        let outputs = &self.outputs;
        Some(match &controller.map().choices {
            Some(_) => greatest(outputs.len(), |a, b| outputs[a].minus(&outputs[b]).range()),
            None => vec![0],
        })
    }

    /// One output of the network minus another, after [`TaylorSets::choices`].
    pub(crate) fn difference(&self, (a, b): (usize, usize)) -> Interval {
        self.outputs[a].minus(&self.outputs[b]).range()
    }

    /// One step of the loop after [`TaylorSets::choices`]; the boxes after all substeps but the last, or those met all the way of
    /// differential equations, are appended to `between`. `false` if the dynamics have no value, or no
    /// bounds, somewhere.
    ///
    /// # Errors
    /// If the budget runs out.
    pub(crate) fn advance(
        &mut self,
        (controller, taken): (&StateController, &Taken),
        mut between: Option<&mut Vec<Interval>>,
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        let Some(actions) = self.actions(controller.map(), taken) else { return Ok(false) };
        let moved = match self.motion {
            Motion::Update { .. } => self.update(&actions, &mut between, budget)?,
            Motion::Flow { .. } => self.follow(&actions, &mut between, budget)?,
        };
        if moved.is_none() {
            return Ok(false);
        }
        for &(variable, action) in &self.remembered {
            self.state[variable] = actions[action].clone();
        }
        self.clamp_state();
        self.symbols.absorb(&mut self.state, self.inputs);
        self.hull = self.state.iter().map(Model::range).collect();
        Ok(self.state.iter().all(Model::is_bounded)
            && self.hull.iter().all(ClosedRange::is_bounded))
    }

    /// The actions; what is not known of each is a symbol.
    fn actions(&mut self, map: &ActionMap, taken: &Taken) -> Option<Vec<Model>> {
        let outputs = std::mem::take(&mut self.outputs);
        let constant = |value: &Rational| Model::constant(Interval::enclosing(value));
        let mut actions: Vec<Model> = match (&map.choices, taken) {
            (_, Taken::Any(any)) => {
                let (a, b) = any.outputs;
                let difference = outputs[a].minus(&outputs[b]);
                let lines = any.lines.iter();
                let action = |line: &Line| difference.scaled(line.slope).shifted_by(line.rest);
                lines.map(|line| self.algebra.swept(action(line))).collect()
            }
            (Some(choices), Taken::One(choice)) => {
                choices.get(*choice)?.iter().map(constant).collect()
            }
            (None, Taken::One(_)) => {
                let mapped = outputs.iter().map(|output| self.mapped(output, map));
                mapped.map(|action| self.algebra.swept(action)).collect()
            }
        };
        let known = actions.len();
        actions.extend(self.disturbances.iter().map(|d| Model::constant(d.range())));
        // What may change at any time is no number for the whole step.
        let at_any_time = |i: usize| {
            let disturbance = i.checked_sub(known).and_then(|i| self.disturbances.get(i));
            disturbance.is_some_and(Disturbance::changes_within_steps)
        };
        let unused = self.symbols.unused(&self.state);
        for (i, (action, symbol)) in actions.iter_mut().zip(unused).enumerate() {
            if !action.is_bounded() {
                return None;
            }
            if !at_any_time(i) {
                take_rest(action, symbol);
            }
        }
        Some(actions)
    }

    /// From an output to an action.
    fn mapped(&self, output: &Model, map: &ActionMap) -> Model {
        let offset = Interval::enclosing(&map.offset);
        let scale = Interval::enclosing(&map.scale);
        let action = output.clone().shifted_by(-offset).scaled_by(scale);
        match &map.clamp {
            Some(bounds) => self.clamped(action, bounds),
            None => action,
        }
    }

    /// A model moved between two bounds.
    fn clamped(&self, model: Model, (lower, upper): &(BoxEdge, BoxEdge)) -> Model {
        let range = model.range();
        if range.clamped(lower, upper) == range {
            return model;
        }
        let bound = |edge: &BoxEdge| Model::constant(Interval::enclosing(edge.exact()));
        self.algebra.min(&self.algebra.max(&model, &bound(lower)), &bound(upper))
    }

    fn clamp_state(&mut self) {
        let Some(clamp) = &self.clamp else { return };
        let clamped: Vec<Model> = self
            .state
            .iter()
            .zip(clamp)
            .map(|(model, bounds)| self.clamped(model.clone(), bounds))
            .collect();
        self.state.splice(..clamped.len(), clamped);
    }

    /// All substeps of a difference equation.
    fn update(
        &mut self,
        actions: &[Model],
        between: &mut Option<&mut Vec<Interval>>,
        budget: &mut Budget,
    ) -> Result<Option<()>, StopReason> {
        let Motion::Update { program, substeps } = &self.motion else { return Ok(None) };
        for substep in 1..=*substeps {
            budget.poll_clock()?;
            let variables: Vec<&Model> = self.state.iter().chain(actions).collect();
            let Some(image) = program.run(&mut self.algebra, &variables) else { return Ok(None) };
            self.state = image;
            if let Some(between) = between
                && substep < *substeps
            {
                between.extend(self.state.iter().map(Model::range));
            }
        }
        Ok(Some(()))
    }

    /// The flow of differential equations for one step, in stretches that are short enough.
    fn follow(
        &mut self,
        actions: &[Model],
        between: &mut Option<&mut Vec<Interval>>,
        budget: &mut Budget,
    ) -> Result<Option<()>, StopReason> {
        let Motion::Flow { flow, halvings } = &mut self.motion else { return Ok(None) };
        // The time that has passed, in the shortest stretches that there are.
        let (mut passed, whole) = (0u32, 1 << MOST_HALVINGS);
        let mut longer: Option<(f64, Stretch)> = None;
        let mut halving_helps = true;
        while passed < whole {
            budget.poll_clock()?;
            let h = flow.length(*halvings);
            let mut stretch = flow.stretch(&mut self.algebra, &self.state, actions, h);
            let mut quality = stretch
                .as_ref()
                .map_or(f64::INFINITY, |stretch| excess(stretch, &self.state, &self.reach));
            match longer.take() {
                Some((before, kept)) if before < WORTH * quality => {
                    // What is lost is due to the degree and not to time.
                    *halvings -= 1;
                    halving_helps = false;
                    (quality, stretch) = (before, Some(kept));
                }
                Some(_) | None
                    if quality > 1.0
                        && *halvings < MOST_HALVINGS
                        && (halving_helps || stretch.is_none()) =>
                {
                    *halvings += 1;
                    longer = stretch.map(|stretch| (quality, stretch));
                    continue;
                }
                Some(_) | None => {}
            }
            let Some(Stretch { end, hull, .. }) = stretch else { return Ok(None) };
            for (reach, side) in self.reach.iter_mut().zip(&hull) {
                *reach = reach.max(side.magnitude());
            }
            self.state = end;
            if let Some(between) = between {
                between.extend(hull);
            }
            let length = whole >> *halvings;
            passed += length;
            if quality < DOUBLE && *halvings > 0 && passed.is_multiple_of(2 * length) {
                *halvings -= 1;
            }
        }
        Ok(Some(()))
    }
}

/// What a stretch adds to the errors, as a part of what it may.
fn excess(stretch: &Stretch, before: &[Model], reach: &[f64]) -> f64 {
    let ends = stretch.end.iter().zip(&stretch.errors);
    let parts = ends.zip(before.iter().zip(reach)).map(|((end, error), (before, reach))| {
        let radius: f64 = end.around_centre().terms.iter().map(|(_, c)| c.abs()).sum();
        let added = error.magnitude() - before.rest.magnitude();
        added / (TOLERANCE * radius + FLOOR * reach + 1e-12)
    });
    parts.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests;
