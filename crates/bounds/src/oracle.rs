//! The oracle: a policy prepared for queries.

use std::sync::Arc;

use policert_engine_api::{Answer, Budget, StopReason};
use policert_model::{Condition, State, Truth};
use policert_numeric::IntBox;
use policert_policy::{Choice, Chooser, Evaluator, Filter, Policy, Scoring};

use crate::bound::Bounder;
use crate::config::Config;
use crate::decision_map::{DecisionMap, Sharing};
use crate::guess::Memory;
use crate::program::Program;
use crate::query::SelectionQuery;
use crate::real::RealOracle;
use crate::refutations::Refutations;
use crate::statistics::Statistics;
use crate::tree_bounds::TreeBounds;

/// Answers queries about one policy. One for each thread.
#[derive(Debug)]
pub struct Oracle<'p> {
    policy: &'p Policy,
    pub(crate) config: Config,
    pub(crate) chooser: Chooser<'p>,
    pub(crate) function: Function<'p>,
    /// Where each output is applicable; all `True` without a filter.
    pub(crate) applicable: Arc<[Condition]>,
    pub(crate) axes: Axes,
    pub(crate) memory: Memory,
    pub(crate) statistics: Statistics,
    pub(crate) refutations: Refutations,
    /// Answers relaxed queries; built when the first one is asked.
    pub(crate) real: Option<RealOracle>,
    /// After how many boxes that bounds leave open a query is given up.
    pub(crate) box_limit: Option<u64>,
    /// Network inputs and applicability of points that are judged.
    inputs: Vec<i64>,
    mask: Vec<bool>,
    state: State,
}

/// What bounds the scores.
#[derive(Debug)]
pub(crate) enum Function<'p> {
    Network(Box<NetworkBounds>),
    Trees(TreeBounds<'p>),
}

/// A network prepared for bounds.
#[derive(Debug)]
pub(crate) struct NetworkBounds {
    pub evaluator: Evaluator,
    pub bounder: Bounder,
}

impl<'p> Function<'p> {
    fn of(policy: &'p Policy) -> Self {
        match policy.scoring() {
            Scoring::Network(network) => Self::Network(Box::new(NetworkBounds {
                evaluator: Evaluator::new(network),
                bounder: Bounder::new(Program::new(network)),
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

impl<'p> Oracle<'p> {
    /// Prepares a policy. `applicable` says for each output where it is applicable: the
    /// disjunction of the guards of its label. It is read only with [`Filter::Applicable`];
    /// outputs that it lacks are never applicable then.
    #[must_use]
    pub fn new(policy: &'p Policy, applicable: Vec<Condition>) -> Self {
        Self::with_config(policy, applicable, Config::default())
    }

    /// As [`Oracle::new`], with other settings than the default ones.
    #[must_use]
    pub fn with_config(policy: &'p Policy, mut applicable: Vec<Condition>, config: Config) -> Self {
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
            config: Config { enumerated_points: config.enumerated_points.max(1) },
            chooser: policy.chooser(),
            function: Function::of(policy),
            applicable: applicable.into(),
            memory: Memory::new(outputs),
            statistics: Statistics::default(),
            refutations: Refutations::new(outputs),
            real: None,
            box_limit: None,
            inputs: Vec::new(),
            mask: Vec::new(),
            state: vec![0; axes.least_dimensions],
            axes,
        }
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &'p Policy {
        self.policy
    }

    /// What it did so far.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Gives up queries after so many boxes that bounds leave open; `None` for never. The answer
    /// to a query that is given up is possible, without a witness.
    pub fn limit_boxes(&mut self, limit: Option<u64>) {
        self.box_limit = limit;
    }

    /// Decides a single query. Several queries about one region are decided faster by one
    /// [`DecisionMap`].
    ///
    /// `Refuted` is a proof. A witness has a value for each dimension of the region (and for
    /// further variables that conditions mention) and is verified exactly. There is no witness
    /// and no refutation only where a score of a network with tanh or sigmoid cannot be told
    /// apart from another one with growing precision, and beyond [`Oracle::limit_boxes`].
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn decide(
        &mut self,
        query: &SelectionQuery<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, StopReason> {
        DecisionMap::of_sides(self, None, Sharing::OneOutput).decide(self, query, budget)
    }

    /// Whether choices depend on which outputs are applicable.
    pub(crate) fn is_filtered(&self) -> bool {
        self.policy.semantics().filter == Filter::Applicable
    }

    /// The choices at points, given by their coordinates along the axes, row by row. `truths`
    /// says what is known of each output's applicability there; it may be empty without filter.
    pub(crate) fn judge(&mut self, points: &[i64], truths: &[Truth], choices: &mut Vec<Choice>) {
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
}
