//! A policy prepared for queries: what judges points and bounds scores.

use std::cell::OnceCell;
use std::sync::Arc;

use policert_model::{Condition, State, Truth};
use policert_numeric::{IntBox, IntInterval};
use policert_policy::{Choice, Chooser, Evaluator, Filter, Policy, Scoring};

use crate::bound::Bounder;
use crate::frame::RegionFrame;
use crate::inputs::Inputs;
use crate::memory::Memory;
use crate::program::Program;
use crate::real::RealOracle;
use crate::statistics::OracleStatistics;
use crate::tree_bounds::TreeBounds;

/// A policy prepared for queries.
#[derive(Debug)]
pub(crate) struct PreparedPolicy<'p> {
    pub policy: &'p Policy,
    chooser: Chooser<'p>,
    pub function: ScoreBounds<'p>,
    /// By output: the condition of its being applicable; all `True` without a filter.
    pub applicable: Arc<[Condition]>,
    pub axes: Axes,
    pub memory: Memory,
    pub statistics: OracleStatistics,
    /// Answers relaxed queries; built when the first one is asked.
    pub real: Option<RealOracle>,
    /// Network inputs and applicability of points that are judged.
    inputs: Vec<i64>,
    mask: Vec<bool>,
    state: State,
}

/// The bounds of the scores, by the kind of policy.
#[derive(Debug)]
pub(crate) enum ScoreBounds<'p> {
    Network(Box<NetworkBounds>),
    Trees(TreeBounds<'p>),
}

/// A network prepared for bounds.
#[derive(Debug)]
pub(crate) struct NetworkBounds {
    pub evaluator: Evaluator,
    pub bounder: Bounder,
    /// The ranges that the inputs have in the model.
    domain: Inputs,
    /// The constants for all of them; computed when bounds are needed first.
    whole: OnceCell<RegionFrame>,
}

impl NetworkBounds {
    /// The constants of bounds for some inputs.
    pub fn frame(&self, inputs: &Inputs) -> RegionFrame {
        let (program, domain) = (self.bounder.program(), &self.domain);
        let whole = || RegionFrame::new(program, domain.lo.clone(), domain.hi.clone());
        self.whole.get_or_init(whole).within(program, inputs.lo.clone(), inputs.hi.clone())
    }
}

impl<'p> ScoreBounds<'p> {
    fn of(policy: &'p Policy) -> Self {
        match policy.scoring() {
            Scoring::Network(network) => Self::Network(Box::new(NetworkBounds {
                evaluator: Evaluator::new(network),
                bounder: Bounder::new(Program::new(network)),
                domain: Inputs::of(policy.input_ranges().iter().copied()),
                whole: OnceCell::new(),
            })),
            Scoring::Trees(trees) => Self::Trees(TreeBounds::new(trees)),
        }
    }
}

/// The variables that a policy's choice depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Axes {
    /// The variables, ascending.
    pub variables: Vec<usize>,
    /// For each network input the position of its variable among them.
    pub reads: Vec<usize>,
    /// Number of variables that a state needs at least.
    pub least_dimensions: usize,
}

impl Axes {
    fn new(policy: &Policy, applicable: &[Condition]) -> Self {
        let mut variables: Vec<usize> = policy.inputs().iter().map(|v| v.index()).collect();
        for condition in applicable {
            condition.for_each_var(&mut |v| variables.push(v.index()));
        }
        variables.sort_unstable();
        variables.dedup();
        let place = |variable: usize| variables.partition_point(|&v| v < variable);
        let reads = policy.inputs().iter().map(|v| place(v.index())).collect();
        let least_dimensions = variables.last().map_or(0, |&last| last + 1);
        Self { variables, reads, least_dimensions }
    }

    /// The sides of a box of states along the axes.
    pub fn project(&self, sides: &IntBox) -> IntBox {
        IntBox::new(self.variables.iter().map(|&v| sides[v]).collect())
    }
}

impl<'p> PreparedPolicy<'p> {
    /// Outputs that `applicable` lacks are never applicable; it is read with a filter only.
    pub fn new(policy: &'p Policy, mut applicable: Vec<Condition>) -> Self {
        let outputs = policy.outputs().len();
        let filtered = policy.semantics().filter == Filter::Applicable;
        let missing = if filtered { Condition::False } else { Condition::True };
        if !filtered {
            applicable.clear();
        }
        applicable.resize(outputs, missing);
        let axes = Axes::new(policy, &applicable);
        Self {
            policy,
            chooser: policy.chooser(),
            function: ScoreBounds::of(policy),
            applicable: applicable.into(),
            memory: Memory::new(outputs),
            statistics: OracleStatistics::default(),
            real: None,
            inputs: Vec::new(),
            mask: Vec::new(),
            state: vec![0; axes.least_dimensions],
            axes,
        }
    }

    /// A box of states with these sides along the axes.
    pub fn states(&self, sides: &IntBox) -> IntBox {
        let mut states = IntBox::new(vec![IntInterval::ALL; self.axes.least_dimensions]);
        for (&variable, &side) in self.axes.variables.iter().zip(sides.sides()) {
            states[variable] = side;
        }
        states
    }

    /// The ranges of the inputs in a box along the axes.
    pub fn input_ranges(&self, sides: &IntBox) -> Vec<IntInterval> {
        self.axes.reads.iter().map(|&axis| sides[axis]).collect()
    }

    /// Returns whether choices depend on which outputs are applicable.
    pub fn is_filtered(&self) -> bool {
        self.policy.semantics().filter == Filter::Applicable
    }

    /// The choices at points, given by their coordinates along the axes, row by row. `truths`
    /// says what is known of each output's applicability there; it may be empty without filter.
    pub fn judge(&mut self, points: &[i64], truths: &[Truth], choices: &mut Vec<Choice>) {
        let width = self.axes.variables.len();
        choices.clear();
        if width == 0 || points.is_empty() {
            return;
        }
        self.inputs.clear();
        self.mask.clear();
        for point in points.chunks_exact(width) {
            self.inputs.extend(self.axes.reads.iter().map(|&axis| point[axis]));
            if !truths.is_empty() {
                for (&variable, &value) in self.axes.variables.iter().zip(point) {
                    self.state[variable] = value;
                }
                let state = &self.state;
                self.mask.extend(truths.iter().zip(&*self.applicable).map(|(truth, condition)| {
                    match truth {
                        Truth::True => true,
                        Truth::False => false,
                        Truth::Maybe => condition.holds(state) == Ok(true),
                    }
                }));
            }
        }
        self.statistics.points += (points.len() / width) as u64;
        self.chooser.choose_batch(&self.inputs, &self.mask, choices);
    }

    /// Returns whether the policy chooses an output in a state; `None` if that is undecided.
    pub fn chooses(&mut self, state: &[i64], output: usize) -> Option<bool> {
        self.inputs.clear();
        self.policy.read_inputs(state, &mut self.inputs);
        let holds = |condition: &Condition| condition.holds(state) == Ok(true);
        self.mask.clear();
        if self.is_filtered() {
            self.mask.extend(self.applicable.iter().map(holds));
        }
        self.chooser.choose(&self.inputs, &self.mask).contains(output)
    }
}
