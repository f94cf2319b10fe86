//! The inner loops: every node for a few inputs side by side.
//!
//! Values are stored by element, with one lane for each input, so that a weight is loaded once for
//! all lanes and sums stay in registers. Rows of weights are stored in panels of four. The loops
//! are compiled for the processor at hand (`pulp` dispatches), with fused multiply-adds where it
//! has them; the error bounds hold either way.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use pulp::{Arch, NullaryFnOnce};

use crate::activation::Activation;
use crate::network::{Network, Op};

/// Inputs that are evaluated side by side.
pub(crate) const LANES: usize = 8;
/// One number for each input of a block.
pub(crate) type Lanes = [f64; LANES];

/// Rows of weights that are worked on at a time.
const PANEL: usize = 4;

/// A network laid out for evaluation.
#[derive(Debug)]
pub(crate) struct Program {
    steps: Vec<Step>,
    input_width: usize,
    output: Range<usize>,
    slots: usize,
}

/// Computes one node: from slots of `values` into the slots that start at `target`.
#[derive(Debug)]
struct Step {
    action: Action,
    target: usize,
    width: usize,
}

#[derive(Debug)]
enum Action {
    /// Panels of weights, and the biases padded to whole panels.
    Affine {
        source: Range<usize>,
        panels: Arc<[[f64; PANEL]]>,
        bias: Vec<[f64; PANEL]>,
    },
    Scale {
        source: usize,
        factors: Vec<[f64; 3]>,
    },
    Pointwise {
        source: usize,
        activation: Activation,
    },
    Add {
        sources: Vec<usize>,
    },
    Max {
        sources: Vec<usize>,
    },
    Concat {
        sources: Vec<Range<usize>>,
    },
}

impl Program {
    /// Lays a network out.
    pub(crate) fn new(network: &Network) -> Self {
        let mut slots = 0;
        let mut places: Vec<Range<usize>> = Vec::with_capacity(network.nodes().len());
        let mut steps = Vec::new();
        // Nodes that share their weights share the panels.
        let mut shared = BTreeMap::new();
        for node in network.nodes() {
            let target = slots;
            places.push(target..target + node.width);
            // Whole panels: the rows that fill up the last one are written, and never read.
            slots += node.width.next_multiple_of(PANEL);
            let start = |input: &crate::network::NodeId| places[input.index()].start;
            let starts = || node.op.inputs().iter().map(start).collect();
            let action = match &node.op {
                Op::Input => continue,
                Op::Affine { input, weights, bias } => Action::Affine {
                    source: places[input.index()].clone(),
                    panels: {
                        let known = shared.entry(weights.place());
                        Arc::clone(known.or_insert_with(|| panels(weights)))
                    },
                    bias: bias.chunks(PANEL).map(padded).collect(),
                },
                Op::Scale { input, mul, div, add } => {
                    let factors = mul.iter().zip(div).zip(add);
                    let factors = factors.map(|((&mul, &div), &add)| [mul, div, add]).collect();
                    Action::Scale { source: start(input), factors }
                }
                Op::Pointwise { input, activation } => {
                    Action::Pointwise { source: start(input), activation: *activation }
                }
                Op::Add { .. } => Action::Add { sources: starts() },
                Op::Max { .. } => Action::Max { sources: starts() },
                Op::Concat { inputs } => Action::Concat {
                    sources: inputs.iter().map(|input| places[input.index()].clone()).collect(),
                },
            };
            steps.push(Step { action, target, width: node.width });
        }
        let output = places[network.output().index()].clone();
        Self { steps, input_width: network.input_width(), output, slots }
    }

    pub(crate) fn input_width(&self) -> usize {
        self.input_width
    }

    pub(crate) fn output_width(&self) -> usize {
        self.output.len()
    }

    pub(crate) fn output_slots(&self) -> Range<usize> {
        self.output.clone()
    }

    /// Number of lanes that [`run`](Self::run) needs.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Computes all nodes from the input, which stands in the first slots.
    #[inline]
    pub(crate) fn run(&self, arch: Arch, values: &mut [Lanes]) {
        match arch {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Arch::V3(simd) => simd.vectorize(Run::<true> { program: self, values }),
            _ => Run::<false> { program: self, values }.call(),
        }
    }
}

/// A row of the last panel may be missing.
fn padded(part: &[f64]) -> [f64; PANEL] {
    std::array::from_fn(|i| part.get(i).copied().unwrap_or(0.0))
}

/// The weights of four rows side by side, column by column.
fn panels(weights: &crate::matrix::Matrix) -> Arc<[[f64; PANEL]]> {
    let (rows, columns) = (weights.rows(), weights.columns());
    let mut panels = Vec::with_capacity(rows.div_ceil(PANEL) * columns);
    for first in (0..rows).step_by(PANEL) {
        for column in 0..columns {
            panels.push(std::array::from_fn(|r| {
                if first + r < rows { weights.row(first + r)[column] } else { 0.0 }
            }));
        }
    }
    panels.into()
}

/// The run of a program, to be compiled for each kind of processor.
struct Run<'a, const FUSED: bool> {
    program: &'a Program,
    values: &'a mut [Lanes],
}

impl<const FUSED: bool> NullaryFnOnce for Run<'_, FUSED> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for step in &self.program.steps {
            let (sources, target) = self.values.split_at_mut(step.target);
            step.action.run::<FUSED>(sources, target, step.width);
        }
    }
}

impl Action {
    /// Computes `width` elements into the start of `target`.
    #[inline(always)]
    fn run<const FUSED: bool>(&self, values: &[Lanes], target: &mut [Lanes], width: usize) {
        match self {
            Action::Affine { source, panels, bias } => {
                affine::<FUSED>(&values[source.clone()], panels, bias, target);
            }
            Action::Scale { source, factors } => {
                let source = values[*source..].iter().zip(factors);
                for (y, (x, &[mul, div, add])) in target.iter_mut().zip(source) {
                    *y = x.map(|x| x * mul / div + add);
                }
            }
            Action::Pointwise { source, activation } => {
                activation.apply(&values[*source..], target, width);
            }
            Action::Add { sources } => combine(sources, values, target, width, |a, b| a + b),
            Action::Max { sources } => {
                combine(sources, values, target, width, |a, b| if a > b { a } else { b });
            }
            Action::Concat { sources } => {
                let mut rest = target;
                for source in sources {
                    let (part, others) = rest.split_at_mut(source.len());
                    part.copy_from_slice(&values[source.clone()]);
                    rest = others;
                }
            }
        }
    }
}

#[inline(always)]
fn affine<const FUSED: bool>(
    source: &[Lanes],
    panels: &[[f64; PANEL]],
    bias: &[[f64; PANEL]],
    target: &mut [Lanes],
) {
    let panels = panels.chunks_exact(source.len());
    for ((panel, bias), y) in panels.zip(bias).zip(target.chunks_exact_mut(PANEL)) {
        let mut sums: [Lanes; PANEL] = bias.map(|bias| [bias; LANES]);
        for (weights, x) in panel.iter().zip(source) {
            for (sum, &weight) in sums.iter_mut().zip(weights) {
                for (sum, &x) in sum.iter_mut().zip(x) {
                    *sum = if FUSED { weight.mul_add(x, *sum) } else { weight * x + *sum };
                }
            }
        }
        y.copy_from_slice(&sums);
    }
}

/// Combines several vectors number by number, from left to right.
#[inline(always)]
fn combine(
    sources: &[usize],
    values: &[Lanes],
    target: &mut [Lanes],
    width: usize,
    function: impl Fn(f64, f64) -> f64,
) {
    let target = &mut target[..width];
    let Some((&first, others)) = sources.split_first() else {
        target.fill([0.0; LANES]);
        return;
    };
    target.copy_from_slice(&values[first..first + width]);
    for &source in others {
        let source = values[source..source + width].as_flattened();
        for (y, &x) in target.as_flattened_mut().iter_mut().zip(source) {
            *y = function(*y, x);
        }
    }
}
