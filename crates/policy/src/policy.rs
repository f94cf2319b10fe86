//! A policy: a network whose inputs are state variables and whose outputs are labels.

use policert_model::{LabelId, VarId};
use policert_numeric::{IntBox, IntInterval};

use crate::choice::Chooser;
use crate::error::PolicyError;
use crate::evaluate::{ErrorBound, Evaluator};
use crate::exact::ExactEvaluator;
use crate::network::Network;
use crate::semantics::{Numbers, Semantics};

/// Unbounded or wider inputs count as this wide for the common error bound; what lies outside is
/// decided exactly.
const WIDEST_INPUT: IntInterval = IntInterval::new(-(1 << 20), 1 << 20);

/// A policy with everything that its decisions need.
#[derive(Clone, Debug)]
pub struct Policy {
    network: Network,
    inputs: Vec<VarId>,
    outputs: Vec<LabelId>,
    semantics: Semantics,
    /// The network as far as the order of the scores needs it.
    ranking: Network,
    evaluator: Evaluator,
    bound: ErrorBound,
    exact: Option<ExactEvaluator>,
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
        semantics: Semantics,
        domains: &IntBox,
    ) -> Result<Self, PolicyError> {
        if semantics.numbers == Numbers::F32 {
            let message = "numbers f32 (all single-precision evaluations at once) is not \
                           supported; numbers real is";
            return Err(PolicyError::unsupported("", message));
        }
        let mut problems = Vec::new();
        for (given, width, what) in [
            (inputs.len(), network.input_width(), "inputs"),
            (outputs.len(), network.output_width(), "outputs"),
        ] {
            if given != width {
                problems.push(format!("{given} {what} for a network with {width}"));
            }
        }
        if (1..outputs.len()).any(|i| outputs[..i].contains(&outputs[i])) {
            problems.push("two outputs are the same label".to_owned());
        }
        if inputs.iter().any(|input| input.index() >= domains.dimensions()) {
            problems.push("an input is no variable of the model".to_owned());
        }
        if !problems.is_empty() {
            return Err(PolicyError::Mismatch { file: String::new(), problems });
        }
        let sides = inputs.iter().map(|input| domains.sides()[input.index()]);
        let narrowed = |side: IntInterval| {
            let narrow = side.intersect(WIDEST_INPUT);
            if narrow.is_empty() { side } else { narrow }
        };
        let sides = sides.map(narrowed).collect();
        let ranking = network.without_final_squashing();
        Ok(Self {
            evaluator: Evaluator::new(&ranking),
            bound: ErrorBound::over(&ranking, &IntBox::new(sides)),
            exact: ExactEvaluator::new(&ranking),
            network,
            inputs,
            outputs,
            semantics,
            ranking,
        })
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// A network whose outputs have the same order as those of [`network`](Self::network), ties
    /// included: without tanh and sigmoid at the end. Engines that only compare scores use it.
    #[must_use]
    pub fn ranking(&self) -> &Network {
        &self.ranking
    }

    /// The variables that the network reads, in the order of its inputs.
    #[must_use]
    pub fn inputs(&self) -> &[VarId] {
        &self.inputs
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

    /// What the policy means.
    #[must_use]
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// Bound of the rounding errors of [`ranking`](Self::ranking) in double precision over the
    /// domains of the inputs.
    #[must_use]
    pub fn error_bound(&self) -> &ErrorBound {
        &self.bound
    }

    /// Appends the network inputs of a state.
    ///
    /// # Panics
    /// If the state has fewer values than the model has variables.
    pub fn read_inputs(&self, state: &[i64], inputs: &mut Vec<i64>) {
        inputs.extend(self.inputs.iter().map(|variable| state[variable.index()]));
    }

    /// Decides what the policy chooses; one for each thread.
    #[must_use]
    pub fn chooser(&self) -> Chooser<'_> {
        Chooser::new(self)
    }

    pub(crate) fn evaluator(&self) -> &Evaluator {
        &self.evaluator
    }

    pub(crate) fn exact(&self) -> Option<&ExactEvaluator> {
        self.exact.as_ref()
    }
}
