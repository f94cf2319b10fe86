//! Differential equations: Taylor models of the flow over a stretch of time.
//!
//! With time t from 0 to 1 for the stretch and its length h the equation is x′ = h·f(x, u). Picard's
//! operator, applied to polynomials with all errors left out, gives polynomials p with p(0) = x(0). What
//! they are off by is proved afterwards: the error e = x − p has e′ = δ + h·J·e, where δ = h·f(p, u) − p′
//! is the defect, a Taylor model, and J holds slopes of f between p and x (the mean-value theorem).
//! A box E with
//!
//! > e(0) + ∫δ + [0, h]·J(p + E)·E ⊆ E
//!
//! contains e at all times: the operator that integrates the equation maps the functions with values in
//! E to themselves, and so it has a fixed point among them (Schauder), which is the only solution.

use policert_control_loop::{ClosedRange, Dynamics, ReachError, Tape};
use policert_numeric::{Interval, Rational};

use super::algebra::Algebra;
use super::evaluation::Program;
use super::model::Model;

/// Attempts at a box for the error.
const ATTEMPTS: u32 = 12;

/// The right-hand side of a system of equations.
#[derive(Clone, Debug)]
pub(super) struct TaylorFlow {
    program: Program,
    /// Slopes of each component by the state, row by row.
    slopes: Tape<Interval>,
    period: Rational,
}

/// The flow over a stretch of time.
#[derive(Debug)]
pub(super) struct Stretch {
    /// The state at its end.
    pub(super) end: Vec<Model>,
    /// A box that contains the state at all times of it.
    pub(super) hull: Vec<Interval>,
    /// What the polynomials are off by; the rest of the state before included.
    pub(super) errors: Vec<Interval>,
}

impl TaylorFlow {
    /// Compiles equations with `inputs` inputs.
    ///
    /// # Errors
    /// If an equation has a conditional, so that it need not have solutions.
    pub(super) fn new(dynamics: &Dynamics, inputs: usize) -> Result<Self, ReachError> {
        let n = dynamics.components.len();
        let mut graph = dynamics.graph.clone();
        let slopes: Option<Vec<_>> = dynamics
            .components
            .iter()
            .flat_map(|&root| (0..n).map(move |variable| (root, variable)))
            .map(|(root, variable)| graph.derivative(root, variable))
            .collect();
        let slopes = slopes.ok_or_else(|| {
            ReachError::Unsupported(
                "differential equations with a conditional (`if`) may have no solutions".to_owned(),
            )
        })?;
        Ok(Self {
            program: Program::new(&dynamics.graph, &dynamics.components),
            slopes: Tape::new(&graph, &slopes, n + inputs),
            period: dynamics.period.clone(),
        })
    }

    /// A part of the length of a step: 2 to the power of −`halvings`.
    pub(super) fn length(&self, halvings: u32) -> Interval {
        let parts = Rational::from(1i64 << halvings.min(62));
        let length = self.period.checked_div(&parts).unwrap_or_default();
        Interval::enclosing(&length)
    }

    /// Follows the flow for a time `h`; `None` if no enclosure was found. Time occurs in none of the
    /// models given.
    pub(super) fn stretch(
        &self,
        algebra: &mut Algebra,
        state: &[Model],
        actions: &[Model],
        h: Interval,
    ) -> Option<Stretch> {
        let start: Vec<Model> = state.iter().map(Model::polynomial).collect();
        let order = algebra.order.time;
        let mut path = start.clone();
        for power in 0..order {
            algebra.order.time = power;
            let speed = self.speed(algebra, &path, actions);
            algebra.order.time = order;
            path = start
                .iter()
                .zip(&speed?)
                .map(|(start, speed)| {
                    let way = algebra.swept(speed.rough_integral().scaled(h.midpoint()));
                    start.plus(&way).polynomial()
                })
                .collect();
        }
        let speed = self.speed(algebra, &path, actions)?;
        let defects: Vec<Interval> = speed
            .iter()
            .zip(&path)
            .map(|(speed, path)| speed.scaled_by(h).minus(&path.by_time()).integral_range())
            .collect();
        let known: Vec<Interval> =
            state.iter().zip(&defects).map(|(state, &defect)| state.rest + defect).collect();
        let ranges: Vec<Interval> = path.iter().map(Model::polynomial_range).collect();
        let inputs: Vec<Interval> = actions.iter().map(Model::range).collect();
        let errors = self.errors(&known, &ranges, &inputs, h)?;
        let hull = ranges.iter().zip(&errors).map(|(&range, &error)| range + error).collect();
        let end = path.iter().zip(&errors);
        let end: Vec<Model> = end
            .map(|(path, &error)| {
                let mut end = algebra.swept(path.at_end());
                end.rest = end.rest + error;
                end
            })
            .collect();
        end.iter().all(Model::is_bounded).then_some(Stretch { end, hull, errors })
    }

    fn speed(
        &self,
        algebra: &mut Algebra,
        path: &[Model],
        actions: &[Model],
    ) -> Option<Vec<Model>> {
        let variables: Vec<&Model> = path.iter().chain(actions).collect();
        self.program.run(algebra, &variables)
    }

    /// A box E with `known` + [0, h]·J·E ⊆ E, where J holds the slopes over `ranges` + E.
    fn errors(
        &self,
        known: &[Interval],
        ranges: &[Interval],
        inputs: &[Interval],
        h: Interval,
    ) -> Option<Vec<Interval>> {
        let n = known.len();
        let duration = Interval::ZERO.hull(h);
        let mut errors = known.to_vec();
        for _ in 0..ATTEMPTS {
            let mut around: Vec<Interval> =
                ranges.iter().zip(&errors).map(|(&r, &e)| r + e.hull(Interval::ZERO)).collect();
            around.extend_from_slice(inputs);
            let slopes = self.slopes.evaluate(&around)?;
            let mut enclosed = true;
            let mut image = Vec::with_capacity(n);
            for (row, &known) in slopes.chunks_exact(n.max(1)).zip(known) {
                let pairs = row.iter().zip(&errors);
                let growth = pairs.fold(Interval::ZERO, |sum, (&j, &e)| sum + j * e);
                image.push(known + duration * growth);
            }
            if !image.iter().all(ClosedRange::is_bounded) {
                return None;
            }
            for (error, &image) in errors.iter_mut().zip(&image) {
                if !error.includes(image) {
                    enclosed = false;
                    let hull = error.hull(image);
                    let room = hull.width() * 0.1 + hull.magnitude() * 1e-3 + f64::MIN_POSITIVE;
                    *error = hull + Interval::ball(0.0, room);
                }
            }
            if enclosed {
                return Some(image);
            }
        }
        None
    }
}
