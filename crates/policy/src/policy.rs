//! A policy: a network or tree ensemble whose inputs are state variables and whose outputs are
//! labels.

use std::sync::OnceLock;

use policert_model::{LabelId, VarId};
use policert_numeric::round::{add_up, mul_up, sub_down, sub_up};
use policert_numeric::{IntBox, IntInterval};

use crate::activation::{Activation, Smooth};
use crate::choice::LAST_BITS;
use crate::error::PolicyError;
use crate::evaluate::{ErrorBound, Evaluator};
use crate::exact::ExactEvaluator;
use crate::meter::Meter;
use crate::network::{Network, Op};
use crate::precise::precise_scores;
use crate::requirement::Slack;
use crate::sampling::Law;
use crate::semantics::{ChoiceRule, Filter, Numbers, PolicySemantics};
use crate::single::{
    RoundedScores, SingleErrors, SinglePrecision, SingleTrees, unsupported as refused_single,
};
use crate::trees::{IntegerTrees, Link, Summation};

/// The reason for which probabilities of the applicable labels alone are not compared in single precision.
const FILTERED_SOFTMAX: &str = "the library compares probabilities, and those of all applicable labels may be \
                                0 in single precision; use filter none, or export the scores before the \
                                softmax";

/// Where scores are not further apart, the least of their probabilities is a normal number in single precision.
const GREATEST_SPREAD: f64 = 64.0;

/// Unbounded or wider inputs count as this wide for the common error bound; what lies outside is
/// decided exactly.
const WIDEST_INPUT: IntInterval = IntInterval::new(-(1 << 20), 1 << 20);

/// A policy with everything that its decisions need.
#[derive(Clone, Debug)]
pub struct Policy {
    function: Function,
    inputs: Vec<VarId>,
    outputs: Vec<LabelId>,
    semantics: PolicySemantics,
    law: Law,
    /// Of one that draws.
    slack: Option<Slack>,
    single: Option<Box<(RoundedScores, SingleErrors)>>,
}

/// The function that computes the scores.
#[derive(Clone, Debug)]
pub(crate) enum Function {
    Network(Box<NetworkFunction>),
    Trees(IntegerTrees),
}

/// The function that orders the labels of a policy, see [`Policy::scoring`].
#[derive(Clone, Copy, Debug)]
pub enum Scoring<'a> {
    /// A network.
    Network(&'a Network),
    /// A tree ensemble.
    Trees(&'a IntegerTrees),
}

/// A network and its evaluators.
#[derive(Clone, Debug)]
pub(crate) struct NetworkFunction {
    network: Network,
    /// The network as far as the order of the scores needs it.
    pub ranking: Network,
    pub evaluator: Evaluator,
    /// Of rounding errors in double precision, over the domains of the inputs.
    pub bound: ErrorBound,
    /// Made when it is needed for the first time.
    exact: OnceLock<Option<ExactEvaluator>>,
}

impl NetworkFunction {
    /// Exact scores, if the network is piecewise linear.
    pub(crate) fn exact(&self) -> Option<&ExactEvaluator> {
        self.exact.get_or_init(|| ExactEvaluator::new(&self.ranking)).as_ref()
    }
}

impl Policy {
    /// The policy that chooses among `outputs` by the scores of `network` for the values of
    /// `inputs`. `domains` are the domains of all variables of the model, by id.
    ///
    /// # Errors
    /// If the numbers of inputs and outputs do not fit the network, an output occurs twice, an
    /// input is no variable of the model, or the semantics is not supported.
    pub fn new(
        network: Network,
        inputs: Vec<VarId>,
        outputs: Vec<LabelId>,
        semantics: PolicySemantics,
        domains: &IntBox,
    ) -> Result<Self, PolicyError> {
        let single = match semantics.numbers {
            Numbers::Real => None,
            Numbers::F32 => Some(SinglePrecision::new(&network)?),
        };
        Self::within(network, inputs, outputs, semantics, domains, single, &mut Meter::default())
    }

    /// As [`Policy::new`], within limits. Where the numbers are in single precision, `single` says how
    /// the network is evaluated.
    pub(crate) fn within(
        network: Network,
        inputs: Vec<VarId>,
        outputs: Vec<LabelId>,
        semantics: PolicySemantics,
        domains: &IntBox,
        single: Option<SinglePrecision>,
        meter: &mut Meter,
    ) -> Result<Self, PolicyError> {
        let widths = (network.input_width(), network.output_width());
        check(widths, "network", (&inputs, &outputs), semantics, domains)?;
        let sides = inputs.iter().map(|input| domains.sides()[input.index()]);
        let single = match single {
            Some(single) => {
                let errors = single.errors_over(&IntBox::new(sides.clone().collect()), meter)?;
                Some(Box::new((RoundedScores::Network(single), errors)))
            }
            None => None,
        };
        let narrowed = |side: IntInterval| {
            let narrow = side.intersect(WIDEST_INPUT);
            if narrow.is_empty() { side } else { narrow }
        };
        let is_whole = sides.clone().all(|side| narrowed(side) == side);
        let sides = sides.map(narrowed).collect();
        let ranking = network.without_final_squashing();
        let sides = IntBox::new(sides);
        let bound = ErrorBound::over_while(&ranking, &sides, &mut || meter.before(0))?;
        let weights = ranking.nodes().iter().map(|node| match &node.op {
            Op::Affine { weights, .. } => weights.entries().len(),
            _ => node.width,
        });
        meter.before_doubles(weights.sum())?;
        if let Some((RoundedScores::Network(single), errors)) = single.as_deref()
            && (single.normalisations() > 0 && !single.is_masked())
            && semantics.filter == Filter::Applicable
        {
            let [lowest, highest] = extremes(&bound);
            let spread = add_up(sub_up(highest, lowest), mul_up(2.0, errors.greatest()));
            let is_narrow = spread <= GREATEST_SPREAD && is_whole;
            if !is_narrow {
                return Err(refused_single(FILTERED_SOFTMAX));
            }
        }
        let evaluator = Evaluator::new(&ranking);
        let exact = OnceLock::new();
        let function = NetworkFunction { evaluator, bound, exact, network, ranking };
        let function = Function::Network(Box::new(function));
        Ok(Self { single, ..Self::of_function(function, inputs, outputs, semantics) })
    }

    /// The policy that chooses among `outputs` by the scores of a tree ensemble. `domains` are the
    /// domains of all variables of the model, by id.
    ///
    /// # Errors
    /// As [`Policy::new`]; and for numbers in single precision.
    pub fn of_trees(
        trees: IntegerTrees,
        inputs: Vec<VarId>,
        outputs: Vec<LabelId>,
        semantics: PolicySemantics,
        domains: &IntBox,
    ) -> Result<Self, PolicyError> {
        let unknown = Err("it is not known how a library adds up the leaves");
        Self::of_summed_trees(trees, unknown, inputs, outputs, semantics, domains)
    }

    /// As [`Policy::of_trees`]; `summation` says how the library adds up the leaves, or why that is not known.
    ///
    /// # Errors
    /// As [`Policy::new`]; and for numbers in single precision if that is not known.
    pub fn of_summed_trees(
        trees: IntegerTrees,
        summation: Result<Summation, &'static str>,
        inputs: Vec<VarId>,
        outputs: Vec<LabelId>,
        semantics: PolicySemantics,
        domains: &IntBox,
    ) -> Result<Self, PolicyError> {
        let widths = (trees.inputs(), trees.outputs());
        check(widths, "tree ensemble", (&inputs, &outputs), semantics, domains)?;
        let single = match semantics.numbers {
            Numbers::Real => None,
            Numbers::F32 => {
                let summation = summation.map_err(refused_single)?;
                if (semantics.filter, summation.link) == (Filter::Applicable, Link::Softmax) {
                    return Err(refused_single(FILTERED_SOFTMAX));
                }
                let (single, errors) = SingleTrees::new(&trees, summation);
                Some(Box::new((RoundedScores::Trees(single), errors)))
            }
        };
        let function = Function::Trees(trees);
        Ok(Self { single, ..Self::of_function(function, inputs, outputs, semantics) })
    }

    fn of_function(
        function: Function,
        inputs: Vec<VarId>,
        outputs: Vec<LabelId>,
        semantics: PolicySemantics,
    ) -> Self {
        let law = Law::default();
        let policy = Self { function, inputs, outputs, semantics, law, slack: None, single: None };
        policy.with_law(law)
    }

    /// The policy whose scores become probabilities by this law; softmax otherwise.
    #[must_use]
    pub fn with_law(mut self, law: Law) -> Self {
        self.law = law;
        let unit = self.trees().map(IntegerTrees::unit);
        self.slack = Slack::drawn(self.semantics, law, unit.as_ref());
        self
    }

    /// The network, if it is one.
    #[must_use]
    pub fn network(&self) -> Option<&Network> {
        match &self.function {
            Function::Network(function) => Some(&function.network),
            Function::Trees(_) => None,
        }
    }

    /// The function to use where scores are only compared: the trees, or a network whose outputs
    /// have the same order as those of [`network`](Self::network), ties included, but without tanh
    /// and sigmoid at the end.
    #[must_use]
    pub fn scoring(&self) -> Scoring<'_> {
        match &self.function {
            Function::Network(function) => Scoring::Network(&function.ranking),
            Function::Trees(trees) => Scoring::Trees(trees),
        }
    }

    /// The network of [`scoring`](Self::scoring), if it is one.
    #[must_use]
    pub fn ranking(&self) -> Option<&Network> {
        match self.scoring() {
            Scoring::Network(network) => Some(network),
            Scoring::Trees(_) => None,
        }
    }

    /// The tree ensemble, if it is one.
    #[must_use]
    pub fn trees(&self) -> Option<&IntegerTrees> {
        match &self.function {
            Function::Network(_) => None,
            Function::Trees(trees) => Some(trees),
        }
    }

    /// The variables that the policy reads, in the order of its inputs.
    #[must_use]
    pub fn inputs(&self) -> &[VarId] {
        &self.inputs
    }

    /// The ranges that a network's inputs have in the model, narrowed where they are very wide; none for a
    /// tree ensemble.
    #[must_use]
    pub fn input_ranges(&self) -> &[IntInterval] {
        match &self.function {
            Function::Network(function) => function.bound.inputs().sides(),
            Function::Trees(_) => &[],
        }
    }

    /// The labels that the policy chooses among, in the order of the outputs. All other labels
    /// belong to the environment.
    #[must_use]
    pub fn outputs(&self) -> &[LabelId] {
        &self.outputs
    }

    /// The output of a label, if the policy has one.
    #[must_use]
    pub fn output_of(&self, label: LabelId) -> Option<usize> {
        self.outputs.iter().position(|&output| output == label)
    }

    /// The rules by which scores become choices.
    #[must_use]
    pub fn semantics(&self) -> PolicySemantics {
        self.semantics
    }

    /// Returns the law by which its scores become probabilities, where it draws.
    #[must_use]
    pub fn law(&self) -> Law {
        self.law
    }

    pub(crate) fn slack(&self) -> Option<Slack> {
        self.slack
    }

    /// Returns how its scores are evaluated, and bounds of the errors over all states, where its numbers
    /// are in single precision.
    #[must_use]
    pub fn single(&self) -> Option<(&RoundedScores, &SingleErrors)> {
        self.single.as_deref().map(|(single, errors)| (single, errors))
    }

    /// Appends the network inputs of a state.
    ///
    /// # Panics
    /// If the state has fewer values than the model has variables.
    pub fn read_inputs(&self, state: &[i64], inputs: &mut Vec<i64>) {
        inputs.extend(self.inputs.iter().map(|variable| state[variable.index()]));
    }

    /// Returns whether the scores have values in a state: an exponential function of too great an argument
    /// has none.
    ///
    /// # Panics
    /// If there are fewer inputs than the policy has.
    #[must_use]
    pub fn has_scores(&self, inputs: &[i64]) -> bool {
        match &self.function {
            Function::Network(function) => {
                let exponential = Activation::Smooth(Smooth::Exponential);
                let is_exponential = |op: &Op| match op {
                    Op::Pointwise { activation, .. } => *activation == exponential,
                    Op::Input
                    | Op::Affine { .. }
                    | Op::Scale { .. }
                    | Op::Add { .. }
                    | Op::Concat { .. }
                    | Op::Max { .. } => false,
                };
                !function.ranking.nodes().iter().any(|node| is_exponential(&node.op))
                    || precise_scores(&function.ranking, inputs, LAST_BITS).is_some()
            }
            Function::Trees(_) => true,
        }
    }

    /// Returns whether all scores are above a number in every state, also when the logarithm of the
    /// sum of their exponentials is subtracted from them.
    pub(crate) fn scores_exceed(&self, least: f64) -> bool {
        let Function::Network(function) = &self.function else { return false };
        // The bounds are those of the network without what squashes its scores at the end.
        if function.ranking.nodes().len() != function.network.nodes().len() {
            return false;
        }
        let [lowest, highest] = extremes(&function.bound);
        // The logarithm is at most the greatest score and that of the number of scores, which is
        // below 64.
        let lowest = sub_down(sub_down(lowest, highest.max(0.0)), 64.0);
        // What is computed may be lower, and is compared after a softmax.
        let errors = self.single().map_or(0.0, |(_, errors)| mul_up(4.0, errors.greatest()));
        sub_down(lowest, errors) > least
    }

    pub(crate) fn function(&self) -> &Function {
        &self.function
    }
}

/// A lower bound of all scores, and an upper one.
fn extremes(bound: &ErrorBound) -> [f64; 2] {
    let scores = bound.scores();
    let lowest = scores.iter().fold(f64::INFINITY, |lowest, score| lowest.min(score.lo()));
    let highest = scores.iter().fold(f64::NEG_INFINITY, |highest, score| highest.max(score.hi()));
    [lowest, highest]
}

/// Checks what all kinds of policies need. `widths` are the numbers of inputs and outputs of the
/// function.
fn check(
    widths: (usize, usize),
    function: &str,
    (inputs, outputs): (&[VarId], &[LabelId]),
    semantics: PolicySemantics,
    domains: &IntBox,
) -> Result<(), PolicyError> {
    if (semantics.numbers, semantics.choice) == (Numbers::F32, ChoiceRule::Sample) {
        let message = "numbers f32 is not supported with choice sample: a probability that is positive \
                       can be 0 in single precision; numbers real is";
        return Err(PolicyError::unsupported("", message));
    }
    let mut problems = Vec::new();
    if semantics.choice == ChoiceRule::Argmax && semantics.at_least.is_some() {
        problems.push("a least probability is given for a policy that does not draw".to_owned());
    }
    for (given, width, what) in
        [(inputs.len(), widths.0, "inputs"), (outputs.len(), widths.1, "outputs")]
    {
        if given != width {
            problems.push(format!("{given} {what} for a {function} with {width}"));
        }
    }
    if (1..outputs.len()).any(|i| outputs[..i].contains(&outputs[i])) {
        problems.push("two outputs are the same label".to_owned());
    }
    if inputs.iter().any(|input| input.index() >= domains.dimensions()) {
        problems.push("an input is no variable of the model".to_owned());
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(PolicyError::Mismatch { file: String::new(), problems })
    }
}
