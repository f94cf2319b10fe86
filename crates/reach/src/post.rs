//! `post`: the image of a box under one action (BBReach, Section 4.2).

use policert_control_loop::{BoxEdge, ClosedRange, Dynamics, DynamicsKind, ReachError, Tape};

use crate::component::Component;
use crate::flow::Flow;

/// Computes images; has its own work space, so each thread needs its own.
#[derive(Clone, Debug)]
pub struct Post<R> {
    motion: Motion<R>,
    clamp: Option<Vec<(BoxEdge, BoxEdge)>>,
    /// Variables that take over an action after each step.
    remembered: Vec<(usize, usize)>,
    /// State and inputs of the substep at hand.
    arguments: Vec<R>,
    dimension: usize,
}

#[derive(Clone, Debug)]
enum Motion<R> {
    Update { update: Update<R>, substeps: u32 },
    Flow(Box<Flow<R>>),
}

impl<R: ClosedRange> Post<R> {
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
        let (clamp, remembered) = (dynamics.clamp.clone(), dynamics.remembered.clone());
        Ok(Self { motion, clamp, remembered, arguments: Vec::new(), dimension })
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
        for &(variable, input) in &self.remembered {
            images[start + variable] = action[input].clone();
        }
        if let Some(clamp) = &self.clamp {
            for (range, (lower, upper)) in images[start..].iter_mut().zip(clamp) {
                *range = range.clamped(lower, upper);
            }
        }
        if images[start..].iter().all(ClosedRange::is_bounded) {
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

impl<R: ClosedRange> Update<R> {
    pub(crate) fn new(dynamics: &Dynamics, variables: usize) -> Self {
        let mut graph = dynamics.graph.clone();
        let (mut roots, mut components) = (Vec::new(), Vec::new());
        let mut sources = Vec::new();
        for &root in &dynamics.components {
            let root = graph.expanded(root, variables);
            let component = Component::new(&mut graph, root, variables);
            if !component.has_slopes() {
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
