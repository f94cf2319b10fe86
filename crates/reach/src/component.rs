//! Bounds of one component of f over a box.
//!
//! The paper minimises and maximises each component of f by a local optimiser. Here every bound is
//! proved: by monotonicity where the slopes' signs over the box are known (then the extremes are at
//! known corners), else by the natural extension, the mean-value form and bisection to a wanted
//! tightness, all in outward-rounded or exact arithmetic.

use policert_control_loop::{ClosedRange, ExpressionGraph, ExpressionId, Tape};

/// A component is bisected until its bounds are at most this part of their width too wide, …
const TIGHTNESS: f64 = 0.01;

/// … but at most so often along a branch.
const MAX_BISECTIONS: u32 = 5;

/// One expression with its slopes.
#[derive(Clone, Debug)]
pub struct Component<R> {
    value: Tape<R>,
    registers: Vec<R>,
    /// The variables that are read more than once, for which the natural extension is too wide.
    repeated: Vec<usize>,
    /// Slopes by those variables, if the expression has some.
    slopes: Option<(Tape<R>, Vec<R>)>,
    variables: usize,
}

impl<R: ClosedRange> Component<R> {
    /// Compiles one expression over `variables` variables.
    pub fn new(graph: &mut ExpressionGraph, root: ExpressionId, variables: usize) -> Self {
        let root = graph.expanded(root, variables);
        let value = Tape::new(graph, &[root], variables);
        let repeated: Vec<usize> =
            (0..variables).filter(|&variable| graph.occurrences(root, variable) > 1).collect();
        let derivatives: Option<Vec<ExpressionId>> =
            repeated.iter().map(|&variable| graph.derivative(root, variable)).collect();
        let slopes = derivatives.filter(|_| !repeated.is_empty()).map(|mut roots| {
            for root in &mut roots {
                *root = graph.expanded(*root, variables);
            }
            let tape = Tape::new(graph, &roots, variables);
            let registers = tape.registers();
            (tape, registers)
        });
        let registers = value.registers();
        Self { value, registers, repeated, slopes, variables }
    }

    /// Returns whether the natural extension of the expression may be too wide, so that its slopes
    /// are used.
    pub(crate) fn has_slopes(&self) -> bool {
        self.slopes.is_some()
    }

    /// Bounds of the expression over a box; `None` if it has no value somewhere in it.
    #[inline]
    pub fn range(&mut self, arguments: &[R]) -> Option<R> {
        let exact = self.slopes.is_none()
            || self.repeated.iter().all(|&variable| arguments[variable].is_point());
        if exact { self.natural(arguments) } else { self.tight(arguments, MAX_BISECTIONS) }
    }

    /// The natural extension.
    #[inline]
    pub fn natural(&mut self, arguments: &[R]) -> Option<R> {
        self.registers[..self.variables].clone_from_slice(arguments);
        self.value.run(&mut self.registers)?;
        Some(self.value.output(&self.registers, 0).clone())
    }

    fn tight(&mut self, arguments: &[R], bisections: u32) -> Option<R> {
        let Some((slopes, registers)) = &mut self.slopes else { return self.natural(arguments) };
        registers[..self.variables].clone_from_slice(arguments);
        if slopes.run(registers).is_none() {
            return self.natural(arguments);
        }
        // Corners for the lower and the upper bound; what is left is not monotone.
        let (slopes, slope_registers) = (&*slopes, &*registers);
        let mut wavering = smallvec::SmallVec::<[(usize, R); 4]>::new();
        self.registers[..self.variables].clone_from_slice(arguments);
        for (i, &variable) in self.repeated.iter().enumerate() {
            let slope = slopes.output(slope_registers, i);
            if slope.is_nonnegative() {
                self.registers[variable] = arguments[variable].at_lower();
            } else if slope.is_nonpositive() {
                self.registers[variable] = arguments[variable].at_upper();
            } else if !arguments[variable].is_point() {
                wavering.push((variable, slope.clone()));
            }
        }
        self.value.run(&mut self.registers)?;
        let lower = self.value.output(&self.registers, 0).clone();
        self.registers[..self.variables].clone_from_slice(arguments);
        for (i, &variable) in self.repeated.iter().enumerate() {
            let slope = slopes.output(slope_registers, i);
            if slope.is_nonnegative() {
                self.registers[variable] = arguments[variable].at_upper();
            } else if slope.is_nonpositive() {
                self.registers[variable] = arguments[variable].at_lower();
            }
        }
        self.value.run(&mut self.registers)?;
        let upper = self.value.output(&self.registers, 0).clone();
        let range = R::from_to(&lower, &upper);
        if wavering.is_empty() {
            return Some(range);
        }
        self.refine(arguments, range, &wavering, bisections)
    }

    /// Tightens bounds where slopes of either sign occur.
    fn refine(
        &mut self,
        arguments: &[R],
        range: R,
        wavering: &[(usize, R)],
        bisections: u32,
    ) -> Option<R> {
        // f(x) ∈ f(c) + Σ slopeᵢ·(xᵢ − cᵢ), where c is the middle of the wavering variables and
        // the others keep their ranges.
        let mut middle = arguments.to_vec();
        for (variable, _) in wavering {
            middle[*variable] = arguments[*variable].at_middle();
        }
        let mut mean = self.natural(&middle)?;
        let (mut excess, mut widest) = (0.0, (0.0, None));
        for (variable, slope) in wavering {
            let distance = arguments[*variable].sub(&middle[*variable]);
            mean = mean.add(&slope.mul(&distance));
            let (slope, width) = (slope.to_interval(), arguments[*variable].to_interval().width());
            excess += slope.width() * width;
            let influence = slope.magnitude() * width;
            if influence > widest.0 {
                widest = (influence, Some(*variable));
            }
        }
        let range = range.tightened(&mean);
        let width = range.to_interval().width();
        let Some(variable) = widest.1.filter(|_| bisections > 0 && excess > TIGHTNESS * width)
        else {
            return Some(range);
        };
        let (whole, cut) = (&arguments[variable], &middle[variable]);
        let halves = [R::from_to(whole, cut), R::from_to(cut, whole)];
        let mut hull: Option<R> = None;
        for half in halves {
            let mut part = arguments.to_vec();
            part[variable] = half;
            let image = self.tight(&part, bisections - 1)?;
            hull = Some(hull.map_or_else(|| image.clone(), |hull| hull.hull(&image)));
        }
        hull.map(|hull| range.tightened(&hull))
    }
}

#[cfg(test)]
mod tests;
