//! A task as a plant for training: its dynamics at points.

use policert_numeric::{Interval, Rational};
use policert_outcome::Failure;
use policert_reach::{DynamicsKind, LoopRegion, Tape, Task, UnsafeSide};
use policert_train::{self as train, Plant, PlantSide};

/// The plant of a task. States are doubles: where training goes is not part of any proof.
pub(super) struct TaskPlant {
    tape: Tape<Interval>,
    registers: Vec<Interval>,
    kind: DynamicsKind,
    substeps: u32,
    /// Length of a substep in time.
    duration: f64,
    clamp: Vec<(f64, f64)>,
    scale: f64,
    offset: f64,
    input_clamp: Option<(f64, f64)>,
    initial: Vec<(f64, f64)>,
    action_ranges: Vec<(f64, f64)>,
    goal: Option<train::PlantRegion>,
    avoid: Option<train::PlantRegion>,
    avoid_from_step: u32,
    steps: u32,
}

impl TaskPlant {
    pub(super) fn new(task: &Task) -> Result<Self, Failure> {
        let dimension = task.dimension();
        let inputs = task.inputs.len();
        let dynamics = &task.dynamics;
        let hidden = !dynamics.disturbances.is_empty() || !dynamics.remembered.is_empty();
        let grid = task.grid.as_ref().is_none_or(|grid| grid.axes().len() == dimension);
        if hidden || task.observation.is_some() || task.action.choices.is_some() || !grid {
            return Err(Failure::unsupported(
                "training with uncertain quantities, remembered actions, observed expressions or choices of actions; a task \
                 without them can be learnt from",
            ));
        }
        let tape = Tape::new(&dynamics.graph, &dynamics.components, dimension + inputs);
        let substeps = dynamics.substeps.max(1);
        let avoid = match task.avoid.as_slice() {
            [] => None,
            [set] if set.side == UnsafeSide::Inside => Some(set),
            [..] => {
                return Err(Failure::unsupported(
                    "training with several unsafe sets, or one that must not be left; a task with one \
                     set in [unsafe] can be learnt from",
                ));
            }
        };
        let everything = (f64::NEG_INFINITY, f64::INFINITY);
        let clamp = match &dynamics.clamp {
            Some(clamp) => clamp.iter().map(|(lo, hi)| (lo.ceil(), hi.floor())).collect(),
            None => vec![everything; dimension],
        };
        let pairs = |bounds: &[(Rational, Rational)]| {
            bounds.iter().map(|(lo, hi)| (lo.to_f64(), hi.to_f64())).collect()
        };
        Ok(Self {
            registers: tape.registers(),
            tape,
            kind: dynamics.kind,
            substeps,
            duration: dynamics.period.to_f64() / f64::from(substeps),
            clamp,
            scale: task.action.scale.to_f64(),
            offset: task.action.offset.to_f64(),
            input_clamp: task.action.clamp.as_ref().map(|(lo, hi)| (lo.ceil(), hi.floor())),
            initial: pairs(&task.initial),
            action_ranges: action_ranges(task)?,
            goal: task.goal.as_ref().map(region).transpose()?,
            avoid: avoid.map(|set| region(&set.region)).transpose()?,
            avoid_from_step: task.first_unsafe_step().unwrap_or(0),
            steps: task.steps,
        })
    }

    /// The components at a state, with the inputs in their registers; NaN where they have no value.
    fn components(&mut self, state: &[f64], values: &mut Vec<f64>) {
        for (register, &x) in self.registers.iter_mut().zip(state) {
            *register = Interval::point(x);
        }
        values.clear();
        let ran = state.iter().all(|x| x.is_finite()).then(|| self.tape.run(&mut self.registers));
        for i in 0..state.len() {
            let range = *self.tape.output(&self.registers, i);
            let known = matches!(ran, Some(Some(()))) && range.magnitude().is_finite();
            values.push(if known { range.midpoint() } else { f64::NAN });
        }
    }

    /// One part of the classical method of Runge and Kutta.
    fn flow(&mut self, state: &mut [f64]) {
        let mut sums = vec![0.0; state.len()];
        let (mut probe, mut slopes) = (state.to_vec(), Vec::new());
        for (ahead, weight) in [(0.5, 1.0), (0.5, 2.0), (1.0, 2.0), (0.0, 1.0)] {
            self.components(&probe, &mut slopes);
            for (i, slope) in slopes.iter().enumerate() {
                sums[i] += weight * slope;
                probe[i] = state[i] + ahead * self.duration * slope;
            }
        }
        for (x, sum) in state.iter_mut().zip(sums) {
            *x += self.duration / 6.0 * sum;
        }
    }
}

impl Plant for TaskPlant {
    fn dimension(&self) -> usize {
        self.initial.len()
    }

    fn initial(&self) -> &[(f64, f64)] {
        &self.initial
    }

    fn action_ranges(&self) -> &[(f64, f64)] {
        &self.action_ranges
    }

    fn horizon(&self) -> u32 {
        self.steps
    }

    fn goal(&self) -> Option<&train::PlantRegion> {
        self.goal.as_ref()
    }

    fn avoid(&self) -> Option<&train::PlantRegion> {
        self.avoid.as_ref()
    }

    fn avoid_from_step(&self) -> u32 {
        self.avoid_from_step
    }

    fn step(&mut self, state: &mut [f64], action: &[f64]) {
        for (i, &output) in action.iter().enumerate() {
            let mut input = self.scale * (output - self.offset);
            if let Some((lo, hi)) = self.input_clamp {
                input = input.max(lo).min(hi);
            }
            self.registers[state.len() + i] = Interval::point(input);
        }
        let mut next = Vec::with_capacity(state.len());
        for _ in 0..self.substeps {
            match self.kind {
                DynamicsKind::Difference => {
                    self.components(state, &mut next);
                    state.copy_from_slice(&next);
                }
                DynamicsKind::Ode => self.flow(state),
            }
        }
        for (x, (lo, hi)) in state.iter_mut().zip(&self.clamp) {
            // Not a number stays so.
            if *x < *lo {
                *x = *lo;
            } else if *x > *hi {
                *x = *hi;
            }
        }
    }
}

fn region(region: &LoopRegion) -> Result<train::PlantRegion, Failure> {
    let sides = region.sides().ok_or_else(|| {
        Failure::unsupported(
            "training with a goal or an unsafe set that is a condition; one with bounds of variables \
             can be learnt from",
        )
    })?;
    let sides = sides.iter().map(|side| PlantSide {
        variable: side.variable,
        lower: side.lower.ceil(),
        upper: side.upper.floor(),
    });
    Ok(train::PlantRegion::new(sides.collect()))
}

/// The outputs that give inputs from one end of their clamp to the other; from −1 to 1 without
/// one.
fn action_ranges(task: &Task) -> Result<Vec<(f64, f64)>, Failure> {
    let map = &task.action;
    let range = match &map.clamp {
        None => (-1.0, 1.0),
        Some((lo, hi)) => {
            let output = |input: &Rational| {
                input
                    .checked_div(&map.scale)
                    .map(|quotient| (quotient + map.offset.clone()).to_f64())
            };
            match (output(lo.exact()), output(hi.exact())) {
                (Some(a), Some(b)) => (a.min(b), a.max(b)),
                _ => {
                    return Err(Failure::invalid("the action's scale is 0: nothing can be learnt"));
                }
            }
        }
    };
    Ok(vec![range; task.inputs.len()])
}
