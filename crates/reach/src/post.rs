//! `post`: the image of a box under one action (BBReach, Section 4.2).
//!
//! The paper minimises and maximises each component of f by a local optimiser. Here every bound is
//! proved: by monotonicity where the slopes' signs over the box are known (then the extremes are at
//! known corners), else by the natural extension, the mean-value form and bisection to a wanted
//! tightness, all in outward-rounded or exact arithmetic.

use crate::edge::Edge;
use crate::error::ReachError;
use crate::expression::{Expressions, NodeId, Tape};
use crate::flow::Flow;
use crate::range::Range;
use crate::task::{Dynamics, DynamicsKind};

/// A component is bisected until its bounds are at most this part of their width too wide, …
const TIGHTNESS: f64 = 0.01;
/// … but at most so often along a branch.
const MAX_BISECTIONS: u32 = 5;

/// Computes images; has its own work space, so each thread needs its own.
#[derive(Clone, Debug)]
pub struct Post<R> {
    motion: Motion<R>,
    clamp: Option<Vec<(Edge, Edge)>>,
    /// State and inputs of the substep at hand.
    arguments: Vec<R>,
    dimension: usize,
}

#[derive(Clone, Debug)]
enum Motion<R> {
    Update { update: Update<R>, substeps: u32 },
    Flow(Box<Flow<R>>),
}

impl<R: Range> Post<R> {
    /// Compiles the dynamics of a control loop with `inputs` inputs.
    ///
    /// # Errors
    /// If differential equations cannot be differentiated.
    pub fn new(dynamics: &Dynamics, inputs: usize) -> Result<Self, ReachError> {
        let dimension = dynamics.components.len();
        let motion = match dynamics.kind {
            DynamicsKind::Difference => {
                let update = Update::new(dynamics, dimension + inputs);
                Motion::Update { update, substeps: dynamics.substeps }
            }
            DynamicsKind::Ode => Motion::Flow(Box::new(Flow::new(dynamics, inputs)?)),
        };
        Ok(Self { motion, clamp: dynamics.clamp.clone(), arguments: Vec::new(), dimension })
    }

    /// Appends the image of a box under an action to `images`. Boxes met between samples, each of
    /// them for some stretch of time or after some substep, are appended to `between`, if that is
    /// wanted. `None` if an expression has no value, or no bounds, somewhere in the box.
    #[inline]
    pub fn post(
        &mut self,
        state: &[R],
        action: &[R],
        images: &mut Vec<R>,
        mut between: Option<&mut Vec<R>>,
    ) -> Option<()> {
        self.arguments.clear();
        self.arguments.extend_from_slice(state);
        self.arguments.extend_from_slice(action);
        let start = images.len();
        match &mut self.motion {
            Motion::Update { update, substeps } => {
                for substep in 0..*substeps {
                    if substep > 0 {
                        self.arguments[..self.dimension].clone_from_slice(&images[start..]);
                        if let Some(between) = &mut between {
                            between.extend_from_slice(&images[start..]);
                        }
                        images.truncate(start);
                    }
                    if update.append(&self.arguments, images).is_none() {
                        images.truncate(start);
                        return None;
                    }
                }
            }
            Motion::Flow(flow) => flow.advance(&mut self.arguments, images, between)?,
        }
        if let Some(clamp) = &self.clamp {
            for (range, (lower, upper)) in images[start..].iter_mut().zip(clamp) {
                *range = range.clamped(lower, upper);
            }
        }
        if images[start..].iter().all(Range::is_bounded) {
            Some(())
        } else {
            images.truncate(start);
            None
        }
    }
}

/// All expressions of a difference equation. Those that read each variable once share one tape:
/// their natural extensions are as tight as can be.
#[derive(Clone, Debug)]
pub(crate) struct Update<R> {
    shared: Tape<R>,
    registers: Vec<R>,
    /// For each variable its output of the shared tape, or its component.
    sources: Vec<Source>,
    components: Vec<Component<R>>,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Shared(usize),
    Component(usize),
}

impl<R: Range> Update<R> {
    pub(crate) fn new(dynamics: &Dynamics, variables: usize) -> Self {
        let mut graph = dynamics.graph.clone();
        let (mut roots, mut components) = (Vec::new(), Vec::new());
        let mut sources = Vec::new();
        for &root in &dynamics.components {
            let root = graph.expanded(root, variables);
            let component = Component::new(&mut graph, root, variables);
            if component.slopes.is_none() {
                sources.push(Source::Shared(roots.len()));
                roots.push(root);
            } else {
                sources.push(Source::Component(components.len()));
                components.push(component);
            }
        }
        let shared = Tape::new(&graph, &roots, variables);
        let registers = shared.registers();
        Self { shared, registers, sources, components }
    }

    /// Appends the ranges of all components.
    #[inline]
    pub(crate) fn append(&mut self, arguments: &[R], images: &mut Vec<R>) -> Option<()> {
        self.registers[..arguments.len()].clone_from_slice(arguments);
        self.shared.run(&mut self.registers)?;
        for source in &self.sources {
            let range = match *source {
                Source::Shared(i) => self.shared.output(&self.registers, i).clone(),
                Source::Component(i) => self.components[i].range(arguments)?,
            };
            images.push(range.tidied());
        }
        Some(())
    }
}

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

impl<R: Range> Component<R> {
    /// Compiles one expression over `variables` variables.
    pub fn new(graph: &mut Expressions, root: NodeId, variables: usize) -> Self {
        let root = graph.expanded(root, variables);
        let value = Tape::new(graph, &[root], variables);
        let repeated: Vec<usize> =
            (0..variables).filter(|&variable| graph.occurrences(root, variable) > 1).collect();
        let derivatives: Option<Vec<NodeId>> =
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
