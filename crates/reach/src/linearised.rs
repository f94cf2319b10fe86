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

use policert_numeric::Interval;

use crate::condition::StateCondition;
use crate::error::ReachError;
use crate::expression::Tape;
use crate::flow::{Flow, polynomials};
use crate::policy::StateController;
use crate::post::Update;
use crate::range::ClosedRange;
use crate::task::{Dynamics, DynamicsKind};
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

    /// Bounds of the expressions of a condition over the set, by the mean-value form around the centre.
    pub(crate) fn values(&self, condition: &StateCondition) -> Option<Vec<Interval>> {
        let centre: Vec<Interval> =
            self.zonotope.centre().iter().map(|&c| Interval::point(c)).collect();
        let slopes = condition.slopes(&self.around_centre())?;
        let base = condition.ranges(&centre)?;
        if !slopes.iter().chain(&base).all(ClosedRange::is_bounded) {
            return None;
        }
        let map = LinearMap { slopes: &slopes, base: &base };
        Some(self.zonotope.image(map, &self.offsets())?.hull())
    }

    /// The box around the set and its centre, on whose lines to the centre slopes count.
    fn around_centre(&self) -> Vec<Interval> {
        let sides = self.hull.iter().zip(self.zonotope.centre());
        sides.map(|(&side, &c)| Interval::hull(side, Interval::point(c))).collect()
    }

    /// One step of the loop; the boxes after all substeps but the last, or those met all the way of
    /// differential equations, are appended to `between`. `None` if the dynamics have no value, or no
    /// bounds, somewhere.
    pub(crate) fn advance(
        &mut self,
        controller: &StateController,
        mut between: Option<&mut Vec<Interval>>,
    ) -> Option<()> {
        let n = self.dynamics.components.len();
        self.take_actions(controller)?;
        for substep in 1..=self.dynamics.substeps {
            let last = substep == self.dynamics.substeps;
            let kept = if last { 0 } else { self.hull.len() - n };
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
        self.clamp();
        self.hull.iter().all(ClosedRange::is_bounded).then_some(())
    }

    /// The ranges around the centre.
    fn offsets(&self) -> Vec<Interval> {
        let centre = self.zonotope.centre().iter();
        self.hull.iter().zip(centre).map(|(&side, &c)| side - Interval::point(c)).collect()
    }

    /// Adds the actions as further variables.
    fn take_actions(&mut self, controller: &StateController) -> Option<()> {
        let n = self.hull.len();
        let offsets = self.offsets();
        let centre = self.zonotope.centre();
        let actions = controller.actions(&self.hull, centre, &offsets);
        let mut slopes: Vec<Interval> = unit_rows(0..n, n).collect();
        let mut base: Vec<Interval> = centre.iter().map(|&c| Interval::point(c)).collect();
        for action in &actions {
            slopes.extend(action.slopes().iter().map(|&slope| Interval::point(slope)));
            base.push(action.rest());
        }
        let map = LinearMap { slopes: &slopes, base: &base };
        let image = self.zonotope.image(map, &offsets);
        self.hull.extend(actions.iter().map(|action| action.range(&offsets)));
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
        let sides = self.hull.iter().zip(clamp);
        let sides: Vec<Interval> =
            sides.map(|(side, (lower, upper))| side.clamped(lower, upper)).collect();
        if sides != self.hull {
            self.begin(sides);
        }
    }
}

/// Rows of the identity matrix of `columns` columns.
fn unit_rows(rows: std::ops::Range<usize>, columns: usize) -> impl Iterator<Item = Interval> {
    let entry = |i: usize, j: usize| if i == j { Interval::point(1.0) } else { Interval::ZERO };
    rows.flat_map(move |i| (0..columns).map(move |j| entry(i, j)))
}

#[cfg(test)]
mod tests;
