//! Differential equations: enclosures of the flow over one step under a constant action.
//!
//! A step is divided into parts of length h. Over each part a box B that contains all solutions
//! is found by Picard's operator, x + [0, h]·f(B) ⊆ B. Taylor's formula with Lagrange's rest then
//! gives the end of the part: x + Σₖ hᵏ/k!·f⁽ᵏ⁻¹⁾(x) + hᵖ/p!·f⁽ᵖ⁻¹⁾(B), where the dots are
//! derivatives along the flow. The polynomial part is bounded as one expression, so that its
//! slopes keep what x and f(x) have in common. p is 3; where f has kinks (abs, min, max) it is 2,
//! for which absolute continuity of f along solutions suffices.

use policert_control_loop::{
    ClosedRange, Dynamics, DynamicsKind, ExpressionGraph, ExpressionId, ReachError, Tape,
};
use policert_numeric::Rational;

use crate::component::Component;

/// Attempts at a box that Picard's operator maps into itself.
const ATTEMPTS: u32 = 24;

/// The flow of one system of equations.
#[derive(Clone, Debug)]
pub struct Flow<R> {
    dimension: usize,
    parts: u32,
    /// x + Σ hᵏ/k!·f⁽ᵏ⁻¹⁾(x), by variable.
    polynomials: Vec<Component<R>>,
    /// f, and f⁽ᵖ⁻¹⁾·hᵖ/p!.
    derivative: (Tape<R>, Vec<R>),
    rest: (Tape<R>, Vec<R>),
    /// [0, h].
    duration: R,
    /// 1/10.
    tenth: R,
}

impl<R: ClosedRange> Flow<R> {
    /// Compiles equations with `inputs` inputs.
    ///
    /// # Errors
    /// If an equation has a conditional, so that it need not have solutions.
    pub fn new(dynamics: &Dynamics, inputs: usize) -> Result<Self, ReachError> {
        let Series { mut graph, sums, rests, part } = Series::new(dynamics)?;
        let dimension = dynamics.components.len();
        let variables = dimension + inputs;
        let polynomials =
            sums.iter().map(|&sum| Component::new(&mut graph, sum, variables)).collect();
        let tape = |roots: &[ExpressionId]| {
            let tape = Tape::new(&graph, roots, variables);
            let registers = tape.registers();
            (tape, registers)
        };
        Ok(Self {
            dimension,
            parts: dynamics.substeps.max(1),
            polynomials,
            derivative: tape(&dynamics.components),
            rest: tape(&rests),
            duration: R::between(&Rational::ZERO, &part),
            tenth: R::enclosing(&Rational::new(1, 10).unwrap_or_default()),
        })
    }

    /// Over one part of the step from the box in `arguments` (state, then inputs): a box, with the
    /// inputs, that contains all solutions, and what is to be added to the polynomial of each
    /// variable. `None` if no enclosure was found.
    pub(crate) fn remainder(&mut self, arguments: &[R]) -> Option<(Vec<R>, Vec<R>)> {
        let enclosure = self.enclose(arguments)?;
        let (tape, registers) = &mut self.rest;
        registers[..enclosure.len()].clone_from_slice(&enclosure);
        tape.run(registers)?;
        let rests = (0..self.dimension).map(|i| tape.output(registers, i).clone()).collect();
        Some((enclosure, rests))
    }

    /// Follows the flow for one step from the box in `arguments` (state, then inputs), appends the
    /// box at its end to `images`, and those on the way to `between`. `None` if no enclosure was
    /// found.
    pub fn advance(
        &mut self,
        arguments: &mut [R],
        images: &mut Vec<R>,
        mut between: Option<&mut Vec<R>>,
    ) -> Option<()> {
        let n = self.dimension;
        for _ in 0..self.parts {
            let (enclosure, rests) = self.remainder(arguments)?;
            if let Some(between) = &mut between {
                between.extend_from_slice(&enclosure[..n]);
            }
            let mut next = Vec::with_capacity(n);
            for (i, polynomial) in self.polynomials.iter_mut().enumerate() {
                let end = polynomial.range(arguments)?.add(&rests[i]);
                next.push(end.tightened(&enclosure[i]).tidied());
            }
            arguments[..n].clone_from_slice(&next);
        }
        images.extend_from_slice(&arguments[..n]);
        Some(())
    }

    /// A box, with the inputs, that contains all solutions over one part of the step.
    fn enclose(&mut self, arguments: &[R]) -> Option<Vec<R>> {
        let mut candidate = arguments.to_vec();
        self.picard(arguments, &mut candidate)?;
        for range in &mut candidate[..self.dimension] {
            *range = self.widened(range);
        }
        for _ in 0..ATTEMPTS {
            let mut image = candidate.clone();
            self.picard(arguments, &mut image)?;
            let mut enclosed = true;
            for (range, image) in candidate.iter_mut().zip(&image).take(self.dimension) {
                // Variables that are enclosed stay: if all grew each time, one might chase what
                // another has just grown by.
                if !range.includes(image) {
                    enclosed = false;
                    *range = self.widened(&range.hull(image));
                }
            }
            if enclosed {
                // What Picard's operator makes of an enclosure is one again.
                return Some(image);
            }
        }
        None
    }

    /// A range with some room around it.
    fn widened(&self, range: &R) -> R {
        // So that points grow as well.
        let margin = range.to_interval().magnitude().max(1e-6) * 1e-12;
        let margin = R::from_interval(policert_numeric::Interval::ball(0.0, margin));
        let width = range.sub(range);
        range.add(&width.mul(&self.tenth)).add(&margin)
    }

    /// Replaces a box B by x + [0, h]·f(B).
    fn picard(&mut self, arguments: &[R], candidate: &mut [R]) -> Option<()> {
        let (tape, registers) = &mut self.derivative;
        registers[..candidate.len()].clone_from_slice(candidate);
        tape.run(registers)?;
        for i in 0..self.dimension {
            candidate[i] = arguments[i].add(&self.duration.mul(tape.output(registers, i)));
        }
        candidate[..self.dimension].iter().all(ClosedRange::is_bounded).then_some(())
    }
}

/// Taylor's formula for one part of the step.
struct Series {
    graph: ExpressionGraph,
    /// x + Σ hᵏ/k!·f⁽ᵏ⁻¹⁾(x), by variable.
    sums: Vec<ExpressionId>,
    /// f⁽ᵖ⁻¹⁾·hᵖ/p!.
    rests: Vec<ExpressionId>,
    /// h.
    part: Rational,
}

impl Series {
    fn new(dynamics: &Dynamics) -> Result<Self, ReachError> {
        let mut graph = dynamics.graph.clone();
        let unsupported = || {
            ReachError::Unsupported(
                "differential equations with a conditional (`if`) may have no solutions".to_owned(),
            )
        };
        let h = dynamics
            .period
            .checked_div(&Rational::from(i64::from(dynamics.substeps.max(1))))
            .ok_or_else(unsupported)?;
        let f = dynamics.components.clone();
        let smooth = f.iter().all(|&root| graph.is_smooth(root));
        let order = if smooth { 3 } else { 2 };
        let mut along = f.clone();
        let mut sums: Vec<ExpressionId> = (0..f.len()).map(|i| graph.variable(i)).collect();
        let mut factor = h.clone();
        for k in 1..order {
            let weight = graph.constant(factor.clone());
            for (sum, &term) in sums.iter_mut().zip(&along) {
                let term = graph.mul(weight, term);
                *sum = graph.add(*sum, term);
            }
            along = lie_derivatives(&mut graph, &along, &f).ok_or_else(unsupported)?;
            factor = (&factor * &h)
                .checked_div(&Rational::from(i64::from(k) + 1))
                .ok_or_else(unsupported)?;
        }
        let weight = graph.constant(factor);
        let rests = along.iter().map(|&term| graph.mul(weight, term)).collect();
        Ok(Self { graph, sums, rests, part: h })
    }
}

/// The difference equation of the polynomials, to which [`Flow::remainder`] is to be added in each
/// part.
///
/// # Errors
/// If the equations cannot be differentiated.
pub(crate) fn polynomials(dynamics: &Dynamics) -> Result<Dynamics, ReachError> {
    let Series { graph, sums, .. } = Series::new(dynamics)?;
    Ok(Dynamics { kind: DynamicsKind::Difference, graph, components: sums, ..dynamics.clone() })
}

/// Derivatives of functions along the flow of f.
fn lie_derivatives(
    graph: &mut ExpressionGraph,
    functions: &[ExpressionId],
    f: &[ExpressionId],
) -> Option<Vec<ExpressionId>> {
    let mut results = Vec::with_capacity(functions.len());
    for &function in functions {
        let mut sum = graph.constant(Rational::ZERO);
        for (variable, &speed) in f.iter().enumerate() {
            let slope = graph.derivative(function, variable)?;
            let term = graph.mul(slope, speed);
            sum = graph.add(sum, term);
        }
        results.push(sum);
    }
    Some(results)
}

#[cfg(test)]
mod tests {
    use policert_numeric::Interval;

    use super::*;

    /// x′ = y·x, y′ = −1 from one state: y grows by its margin, and x by what that makes of it.
    #[test]
    fn components_without_width_are_enclosed() {
        let mut graph = ExpressionGraph::new();
        let (x, y) = (graph.variable(0), graph.variable(1));
        let components = vec![graph.mul(y, x), graph.constant(Rational::integer(-1))];
        let dynamics = Dynamics {
            kind: DynamicsKind::Ode,
            graph,
            components,
            substeps: 5,
            period: Rational::new(1, 10).expect("not 0"),
            clamp: None,
            disturbances: Vec::new(),
            remembered: Vec::new(),
        };
        let mut flow: Flow<Interval> = Flow::new(&dynamics, 0).expect("smooth");
        for y in [0.0, 1e-9, 0.1] {
            let mut state = [Interval::point(1.0), Interval::point(y)];
            let mut images = Vec::new();
            flow.advance(&mut state, &mut images, None).expect("an enclosure");
            // x = e^(y·t − t²/2)
            let exact = Interval::point(0.1 * y - 0.005).exp();
            assert!(images[0].width() < 1e-6, "{:?}", images[0]);
            assert!((images[0] - exact).contains(0.0), "{:?} {exact:?}", images[0]);
        }
    }
}
