//! Reachable sets of loops whose network reads the state: zonotopes through the linearised loop.
//!
//! The action over a box is an affine form of the state plus an error (`policy/state.rs`), and so is
//! the image: f(x, u) ∈ f(c) + J·((x, u) − c), where c is the centre of the zonotope and J holds
//! the ranges of the slopes over the box around it (the mean-value form). So the dependency of the
//! state on the initial state is kept over all steps. The box around each zonotope is cut by the
//! image of the box before, as `post` computes it.
//!
//! Of differential equations, Taylor's polynomial of a part of the step is such a loop; the rest over
//! an enclosure of all solutions is added to it (`flow.rs`).

use policert_control_loop::{
    ClosedRange, Disturbance, Dynamics, DynamicsKind, Observation, ReachError, Tape,
};
use policert_numeric::Interval;

use crate::flow::{Flow, polynomials};
use crate::policy::{Form, StateController, Taken};
use crate::post::Update;
use crate::zonotope::{LinearMap, Zonotope};

/// A zonotope has at most this many generators for each variable.
const GENERATORS_PER_VARIABLE: usize = 40;

/// The reachable set of one part, step by step.
#[derive(Clone, Debug)]
pub(crate) struct Linearised {
    dynamics: Dynamics,
    /// Of differential equations, what the polynomials leave out.
    flow: Option<Flow<Interval>>,
    update: Update<Interval>,
    value: Tape<Interval>,
    /// Slopes of each component by state and actions, row by row; `None` if one may jump.
    slopes: Option<Tape<Interval>>,
    zonotope: Zonotope,
    /// A box around the set, which may be less than the zonotope's.
    hull: Vec<Interval>,
}

impl Linearised {
    /// Compiles the dynamics of a loop with `inputs` actions.
    ///
    /// # Errors
    /// If differential equations cannot be differentiated.
    pub(crate) fn new(dynamics: &Dynamics, inputs: usize) -> Result<Self, ReachError> {
        let (flow, dynamics) = match dynamics.kind {
            DynamicsKind::Difference => (None, dynamics.clone()),
            DynamicsKind::Ode => (Some(Flow::new(dynamics, inputs)?), polynomials(dynamics)?),
        };
        let variables = dynamics.components.len() + inputs;
        let mut graph = dynamics.graph.clone();
        let components: Vec<_> =
            dynamics.components.iter().map(|&root| graph.expanded(root, variables)).collect();
        let slopes: Option<Vec<_>> = components
            .iter()
            .flat_map(|&root| (0..variables).map(move |variable| (root, variable)))
            .map(|(root, variable)| {
                let slope = graph.derivative(root, variable)?;
                Some(graph.expanded(slope, variables))
            })
            .collect();
        Ok(Self {
            flow,
            update: Update::new(&dynamics, variables),
            value: Tape::new(&graph, &components, variables),
            slopes: slopes.map(|roots| Tape::new(&graph, &roots, variables)),
            dynamics,
            zonotope: Zonotope::of_box(&[]),
            hull: Vec::new(),
        })
    }

    /// Begins with a box.
    pub(crate) fn begin(&mut self, sides: Vec<Interval>) {
        self.zonotope = Zonotope::of_box(&sides);
        self.hull = sides;
    }

    /// The box around the set.
    pub(crate) fn hull(&self) -> &[Interval] {
        &self.hull
    }

    /// Bounds of some expressions over the set.
    pub(crate) fn values(&self, asked: &Observation) -> Option<Vec<Interval>> {
        Some(self.with_values(asked, &[])?.hull())
    }

    /// Some rows of the identity, then the values of expressions by the mean-value form around the centre.
    fn with_values(&self, asked: &Observation, rows: &[usize]) -> Option<Zonotope> {
        let point = |&c: &f64| Interval::point(c);
        let centre: Vec<Interval> = self.zonotope.centre().iter().map(point).collect();
        let mut slopes = unit_rows(rows.iter().copied(), centre.len());
        slopes.extend(asked.slopes(&self.around_centre())?);
        let mut base: Vec<Interval> = rows.iter().map(|&row| centre[row]).collect();
        base.extend(asked.ranges(&centre)?);
        if !slopes.iter().chain(&base).all(ClosedRange::is_bounded) {
            return None;
        }
        let map = LinearMap { slopes: &slopes, base: &base };
        self.zonotope.image(map, &self.offsets())
    }

    /// Adds what the network is shown as further variables.
    fn observe(&mut self, observation: &Observation) -> Option<()> {
        let rows: Vec<usize> = (0..self.hull.len()).collect();
        let mut sides = self.hull.clone();
        sides.extend(observation.ranges(&self.hull)?);
        if !sides.iter().all(ClosedRange::is_bounded) {
            return None;
        }
        match self.with_values(observation, &rows) {
            Some(zonotope) => {
                for (side, hull) in sides.iter_mut().zip(zonotope.hull()) {
                    *side = side.tightened(&hull);
                }
                self.zonotope = zonotope;
                self.hull = sides;
            }
            None => self.begin(sides),
        }
        Some(())
    }

    /// Replaces variables by those that stand in the places given.
    fn choose(&mut self, places: &[usize]) {
        let point = |&place: &usize| Interval::point(self.zonotope.centre()[place]);
        let base: Vec<Interval> = places.iter().map(point).collect();
        let slopes = unit_rows(places.iter().copied(), self.hull.len());
        let map = LinearMap { slopes: &slopes, base: &base };
        let image = self.zonotope.image(map, &self.offsets());
        let sides: Vec<Interval> = places.iter().map(|&place| self.hull[place]).collect();
        match image {
            Some(image) => {
                self.zonotope = image;
                self.hull = sides;
            }
            None => self.begin(sides),
        }
    }

    /// The box around the set and its centre, on whose lines to the centre slopes count.
    fn around_centre(&self) -> Vec<Interval> {
        let sides = self.hull.iter().zip(self.zonotope.centre());
        sides.map(|(&side, &c)| Interval::hull(side, Interval::point(c))).collect()
    }

    /// The choices of actions that the controller may take somewhere in the set, a single one where it does not
    /// choose. `None` if it has no value somewhere.
    pub(crate) fn choices(&self, controller: &StateController) -> Option<Vec<usize>> {
        if controller.map().choices.is_none() {
            return Some(vec![0]);
        }
        self.shown(controller, StateController::possible_choices)
    }

    /// One output of the network minus another; `None` if it has no value somewhere in the set.
    pub(crate) fn difference(
        &self,
        controller: &StateController,
        pair: (usize, usize),
    ) -> Option<Interval> {
        self.shown(controller, |controller, seen, middle, offsets| {
            controller.difference(pair, seen, middle, offsets).range(offsets)
        })
    }

    /// Asks the controller about what it is shown: ranges, their centre and how far they are from it.
    fn shown<T>(
        &self,
        controller: &StateController,
        ask: impl FnOnce(&StateController, &[Interval], &[f64], &[Interval]) -> T,
    ) -> Option<T> {
        let (mut shown, mut first) = (self.clone(), 0);
        if let Some(observation) = controller.observation() {
            first = self.hull.len();
            shown.observe(observation)?;
        }
        let (centre, offsets) = (shown.zonotope.centre(), shown.offsets());
        Some(ask(controller, &shown.hull[first..], &centre[first..], &offsets[first..]))
    }

    /// One step of the loop after [`Linearised::take_actions`]; the boxes after all substeps but the last, or those met all the way of
    /// differential equations, are appended to `between`. `None` if the dynamics have no value, or no
    /// bounds, somewhere.
    pub(crate) fn advance(&mut self, mut between: Option<&mut Vec<Interval>>) -> Option<()> {
        let n = self.dynamics.components.len();
        for substep in 1..=self.dynamics.substeps {
            let last = substep == self.dynamics.substeps;
            let done = last && self.dynamics.remembered.is_empty();
            let kept = if done { 0 } else { self.hull.len() - n };
            let remainder = match &mut self.flow {
                Some(flow) => Some(flow.remainder(&self.hull)?),
                None => None,
            };
            self.substep(kept, remainder.as_ref())?;
            if let Some(between) = between.as_deref_mut() {
                match &remainder {
                    Some((enclosure, _)) => between.extend_from_slice(&enclosure[..n]),
                    None if last => {}
                    None => between.extend_from_slice(&self.hull[..n]),
                }
            }
        }
        if !self.dynamics.remembered.is_empty() {
            let mut places: Vec<usize> = (0..n).collect();
            for &(variable, action) in &self.dynamics.remembered {
                places[variable] = n + action;
            }
            self.choose(&places);
        }
        self.clamp();
        self.hull.iter().all(ClosedRange::is_bounded).then_some(())
    }

    /// The ranges around the centre.
    fn offsets(&self) -> Vec<Interval> {
        let centre = self.zonotope.centre().iter();
        self.hull.iter().zip(centre).map(|(&side, &c)| side - Interval::point(c)).collect()
    }

    /// Adds the actions as further variables. `None` if they have no bounds.
    pub(crate) fn take_actions(
        &mut self,
        controller: &StateController,
        taken: &Taken,
    ) -> Option<()> {
        let n = self.hull.len();
        let mut shown = 0;
        let chosen: Option<Vec<Interval>> = match (&controller.map().choices, taken) {
            (Some(choices), Taken::One(choice)) => {
                Some(choices.get(*choice)?.iter().map(Interval::enclosing).collect())
            }
            (None, _) | (_, Taken::Any(_)) => None,
        };
        if let Some(observation) = controller.observation().filter(|_| chosen.is_none()) {
            self.observe(observation)?;
            shown = n;
        }
        let offsets = self.offsets();
        let centre = self.zonotope.centre();
        let (hull, columns) = (&self.hull[shown..], self.hull.len());
        let (centre_shown, offsets_shown) = (&centre[shown..], &offsets[shown..]);
        let actions = match (&chosen, taken) {
            (Some(values), _) => {
                values.iter().map(|&value| Form::constant(value, columns)).collect()
            }
            (None, Taken::One(_)) => controller.actions(hull, centre_shown, offsets_shown),
            (None, Taken::Any(any)) => {
                controller.any_actions(any, hull, centre_shown, offsets_shown)
            }
        };
        let mut slopes = unit_rows(0..n, columns);
        let mut base: Vec<Interval> = centre[..n].iter().map(|&c| Interval::point(c)).collect();
        for action in &actions {
            slopes.extend(std::iter::repeat_n(Interval::ZERO, shown));
            slopes.extend(action.slopes().iter().map(|&slope| Interval::point(slope)));
            base.push(action.rest());
        }
        for disturbance in &self.dynamics.disturbances {
            slopes.extend(std::iter::repeat_n(Interval::ZERO, columns));
            base.push(disturbance.range());
        }
        let map = LinearMap { slopes: &slopes, base: &base };
        let image = self.zonotope.image(map, &offsets);
        self.hull.truncate(n);
        let ranges = actions.iter().map(|action| action.range(&offsets[shown..]));
        match taken {
            Taken::Any(any) => {
                let values = any.lines.iter().map(|line| line.values);
                let both = ranges.zip(values).map(|(range, values)| range.tightened(&values));
                self.hull.extend(both);
            }
            Taken::One(_) => self.hull.extend(ranges),
        }
        self.hull.extend(self.dynamics.disturbances.iter().map(Disturbance::range::<Interval>));
        if self.hull.iter().any(|side| !ClosedRange::is_bounded(side)) {
            return None;
        }
        match image {
            Some(image) => self.zonotope = image,
            None => self.begin(self.hull.clone()),
        }
        Some(())
    }

    /// The image under the update of the state, with what is to be added to it and a box that
    /// contains it, of differential equations; the first `kept` actions stay.
    fn substep(
        &mut self,
        kept: usize,
        remainder: Option<&(Vec<Interval>, Vec<Interval>)>,
    ) -> Option<()> {
        let n = self.dynamics.components.len();
        let mut sides = Vec::with_capacity(n + kept);
        self.update.append(&self.hull, &mut sides)?;
        let mut rests: &[Interval] = &[];
        if let Some((enclosure, added)) = remainder {
            rests = added;
            for (side, (&rest, around)) in sides.iter_mut().zip(added.iter().zip(enclosure)) {
                *side = (*side + rest).tightened(around);
            }
        }
        sides.extend_from_slice(&self.hull[n..n + kept]);
        match self.linear_image(kept, rests) {
            Some(mut image) => {
                image.reduce(GENERATORS_PER_VARIABLE * n);
                for (side, hull) in sides.iter_mut().zip(image.hull()) {
                    *side = side.tightened(&hull);
                }
                self.zonotope = image;
                self.hull = sides;
            }
            None => self.begin(sides),
        }
        Some(())
    }

    fn linear_image(&self, kept: usize, rests: &[Interval]) -> Option<Zonotope> {
        let (n, columns) = (self.dynamics.components.len(), self.hull.len());
        let centre: Vec<Interval> =
            self.zonotope.centre().iter().map(|&c| Interval::point(c)).collect();
        let mut slopes = self.slopes.as_ref()?.evaluate(&self.around_centre())?;
        let mut base = self.value.evaluate(&centre)?;
        for (base, &rest) in base.iter_mut().zip(rests) {
            *base = *base + rest;
        }
        slopes.extend(unit_rows(n..n + kept, columns));
        base.extend_from_slice(&centre[n..n + kept]);
        let bounded = slopes.iter().chain(&base).all(ClosedRange::is_bounded);
        let map = LinearMap { slopes: &slopes, base: &base };
        bounded.then(|| self.zonotope.image(map, &self.offsets())).flatten()
    }

    /// Applies the clamp of the state. Where it moves states, only the box remains.
    fn clamp(&mut self) {
        let Some(clamp) = &self.dynamics.clamp else { return };
        let mut sides = self.hull.clone();
        for (side, (lower, upper)) in sides.iter_mut().zip(clamp) {
            *side = side.clamped(lower, upper);
        }
        if sides != self.hull {
            self.begin(sides);
        }
    }
}

/// Rows of the identity matrix of `columns` columns.
fn unit_rows(rows: impl Iterator<Item = usize>, columns: usize) -> Vec<Interval> {
    let entry = |i: usize, j: usize| if i == j { Interval::point(1.0) } else { Interval::ZERO };
    rows.flat_map(move |i| (0..columns).map(move |j| entry(i, j))).collect()
}

#[cfg(test)]
mod tests;
