//! Where the dynamics of a control loop lead from a box while an action is held.
//!
//! Differential equations x′ = f(x, u) are followed in parts of a step of length h. Over a part a box B with
//! x + [0, h]·f(B) ⊆ B contains all solutions (Picard), and x + h·f(x) + h²/2·(f′·f)(B) their ends (Taylor's
//! formula with Lagrange's rest); the first two terms are bounded by the mean-value form.

use policert_control_loop::{BoxEdge, Dynamics, DynamicsKind};
use policert_numeric::{Interval, Rational};

use super::formulas::Formula;

/// Attempts at a box that Picard's operator maps into itself.
const ATTEMPTS: u32 = 24;

#[derive(Debug)]
pub(super) struct Motion {
    kind: DynamicsKind,
    components: Vec<Formula>,
    substeps: u32,
    /// The length of a part of a step.
    part: Interval,
    clamp: Vec<(BoxEdge, BoxEdge)>,
    remembered: Vec<(usize, usize)>,
}

impl Motion {
    /// With a step in so many parts.
    pub fn new(dynamics: &Dynamics, inputs: usize, parts: u32) -> Option<Self> {
        let Dynamics { kind, graph, components, period, .. } = dynamics;
        let variables = components.len() + inputs;
        let formula = |&root| Formula::new(graph, root, variables);
        let part = period.checked_div(&Rational::from(i64::from(parts)))?;
        Some(Self {
            kind: *kind,
            components: components.iter().map(formula).collect(),
            substeps: parts,
            part: Interval::enclosing(&part),
            clamp: dynamics.clamp.clone().unwrap_or_default(),
            remembered: dynamics.remembered.clone(),
        })
    }

    /// The box that contains all states at the end of a step; boxes that contain those on the way are
    /// appended to `between`. `None` if there are no bounds, or no values, somewhere.
    pub fn step(
        &self,
        state: &[Interval],
        inputs: &[Interval],
        between: &mut Vec<Vec<Interval>>,
    ) -> Option<Vec<Interval>> {
        let n = self.components.len();
        let mut at: Vec<Interval> = state.iter().chain(inputs).copied().collect();
        for substep in 0..self.substeps {
            let next = match self.kind {
                DynamicsKind::Difference => {
                    if substep > 0 {
                        between.push(at[..n].to_vec());
                    }
                    self.components.iter().map(|f| f.range(&at)).collect::<Option<Vec<_>>>()?
                }
                DynamicsKind::Ode => {
                    let enclosure = self.enclosure(&at)?;
                    let next = self.end(&at, &enclosure)?;
                    between.push(enclosure[..n].to_vec());
                    next
                }
            };
            at[..n].copy_from_slice(&next);
        }
        for &(variable, input) in &self.remembered {
            at[variable] = inputs[input];
        }
        for (range, (lower, upper)) in at.iter_mut().zip(&self.clamp) {
            let [lower, upper] = [lower, upper].map(|edge| Interval::enclosing(edge.exact()));
            *range = range.max(lower).min(upper);
        }
        at.truncate(n);
        at.iter().all(|x| x.lo().is_finite() && x.hi().is_finite()).then_some(at)
    }

    /// A box, with the inputs, that contains all solutions over a part of the step.
    pub fn enclosure(&self, at: &[Interval]) -> Option<Vec<Interval>> {
        let duration = Interval::ZERO.hull(self.part);
        let image = |over: &[Interval]| -> Option<Vec<Interval>> {
            let moved =
                self.components.iter().zip(at).map(|(f, &x)| Some(x + duration * f.value(over)?));
            moved.collect()
        };
        let wider = |x: Interval| {
            let more = 0.1 * x.width() + 1e-12 * x.magnitude().max(1e-6);
            x + Interval::ball(0.0, more)
        };
        let mut candidate = at.to_vec();
        for (side, image) in candidate.iter_mut().zip(image(at)?) {
            *side = wider(image);
        }
        for _ in 0..ATTEMPTS {
            let mut is_enclosed = true;
            let images = image(&candidate)?;
            for (side, image) in candidate.iter_mut().zip(images) {
                if !image.lo().is_finite() || !image.hi().is_finite() {
                    return None;
                }
                // Strictly, so that no solution gets out, be there several of them.
                if side.lo() >= image.lo() || image.hi() >= side.hi() {
                    is_enclosed = false;
                    *side = wider(side.hull(image));
                }
            }
            if is_enclosed {
                return Some(candidate);
            }
        }
        None
    }

    /// How far a solution over a part may be, at its end, from the one with the same start under other inputs, where some inputs differ
    /// by ranges `swings` (which may change all the time) and `over` contains both. `None` if there are no bounds.
    ///
    /// The difference e has e(0) = 0 and e′ ∈ J·e + K·w, J and K the slopes over the box, w the swings. A box E with
    /// [0, h]·(J·E + K·w) inside E contains it all the way, and h·(J·E + K·w) at the end.
    pub fn deviation(
        &self,
        over: &[Interval],
        swings: &[(usize, Interval)],
    ) -> Option<Vec<Interval>> {
        let n = self.components.len();
        let slopes: Vec<Vec<Interval>> =
            self.components.iter().map(|f| f.slopes(over)).collect::<Option<_>>()?;
        let drive = |row: &Vec<Interval>| {
            swings.iter().fold(Interval::ZERO, |sum, &(at, swing)| sum + row[at] * swing)
        };
        let drives: Vec<Interval> = slopes.iter().map(drive).collect();
        let speeds = |errors: &[Interval]| -> Vec<Interval> {
            let speed = |(row, &drive): (&Vec<Interval>, &Interval)| {
                row[..n].iter().zip(errors).fold(drive, |sum, (&slope, &e)| sum + slope * e)
            };
            slopes.iter().zip(&drives).map(speed).collect()
        };
        let duration = Interval::ZERO.hull(self.part);
        let wider = |x: Interval| x + Interval::ball(0.0, 0.1 * x.width() + 1e-15);
        let mut errors: Vec<Interval> = drives.iter().map(|&x| wider(duration * x)).collect();
        for _ in 0..ATTEMPTS {
            let mut is_enclosed = true;
            let images: Vec<Interval> =
                speeds(&errors).into_iter().map(|speed| duration * speed).collect();
            for (side, image) in errors.iter_mut().zip(images) {
                if !image.magnitude().is_finite() {
                    return None;
                }
                // Strictly, so that the difference gets out at no time.
                if side.lo() >= image.lo() || image.hi() >= side.hi() {
                    is_enclosed = false;
                    *side = wider(side.hull(image));
                }
            }
            if is_enclosed {
                return Some(speeds(&errors).into_iter().map(|speed| self.part * speed).collect());
            }
        }
        None
    }

    /// Where solutions are at the end of a part over which `enclosure` contains them.
    fn end(&self, at: &[Interval], enclosure: &[Interval]) -> Option<Vec<Interval>> {
        let h = self.part;
        let speeds: Vec<Interval> =
            self.components.iter().map(|f| f.value(enclosure)).collect::<Option<_>>()?;
        let middle: Vec<Interval> = at.iter().map(|x| Interval::point(x.midpoint())).collect();
        let half_square = h.square() * Interval::point(0.5);
        self.components
            .iter()
            .enumerate()
            .map(|(i, f)| {
                let rest = f
                    .slopes(enclosure)?
                    .iter()
                    .zip(&speeds)
                    .fold(Interval::ZERO, |sum, (&slope, &speed)| sum + slope * speed);
                let slopes = f.slopes(at)?;
                let mut sum = middle[i] + h * f.value(&middle)? + half_square * rest;
                for (j, slope) in slopes.into_iter().enumerate() {
                    let own = Interval::point(if i == j { 1.0 } else { 0.0 });
                    sum = sum + (own + h * slope) * (at[j] - middle[j]);
                }
                sum.intersection(enclosure[i])
            })
            .collect()
    }
}
