//! The labels that are allowed in each state of a batch: those that the policy chooses, and
//! those that belong to the environment.

use policert_model::{LabelId, Model};
use policert_numeric::Rational;
use policert_policy::{Choice, ChoiceRule, Chooser, Filter, NarrowestLead, Policy};

use crate::enabled_edges::EdgeId;
use crate::label_set::{LabelSet, LabelSets};
use crate::lazy_operators::LazyOperators;

/// Restricts labels to what the policy chooses; without policy, not at all.
#[derive(Debug)]
pub(crate) struct PolicyLabels<'p> {
    learned: Option<Learned<'p>>,
}

#[derive(Debug)]
struct Learned<'p> {
    policy: &'p Policy,
    chooser: Chooser<'p>,
    /// The outputs of the policy, as one set.
    outputs: LabelSets,
    /// All other labels, as one set.
    environment: LabelSets,
    /// By label.
    output_of: Vec<Option<usize>>,
    filtered: bool,
    inputs: Vec<i64>,
    applicable: Vec<bool>,
    choices: Vec<Choice>,
    allowed: LabelSets,
}

/// The labels that a policy draws from in a state.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DrawnLabels {
    /// Each with a lower bound of its probability.
    pub labels: Vec<(LabelId, Rational)>,
    /// The probability that these bounds lack to 1.
    pub rest: Rational,
}

/// Says what becomes of choices that are undecided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Undecided {
    /// Only labels that are certainly chosen are allowed.
    Excluded,
    /// All labels that may be chosen are allowed.
    Included,
}

impl<'p> PolicyLabels<'p> {
    pub(crate) fn new(model: &Model, policy: Option<&'p Policy>) -> Self {
        let labels = model.labels.len();
        let learned = policy.map(|policy| {
            let mut output_of = vec![None; labels];
            let mut outputs = LabelSets::new(labels);
            let mut environment = LabelSets::new(labels);
            outputs.push_empty();
            environment.push_empty();
            for label in (0..labels).map(LabelId::new) {
                output_of[label.index()] = policy.output_of(label);
                match output_of[label.index()] {
                    Some(_) => outputs.insert(0, label),
                    None => environment.insert(0, label),
                }
            }
            Learned {
                policy,
                chooser: policy.chooser(),
                outputs,
                environment,
                output_of,
                filtered: policy.semantics().filter == Filter::Applicable,
                inputs: Vec::new(),
                applicable: Vec::new(),
                choices: Vec::new(),
                allowed: LabelSets::new(labels),
            }
        });
        Self { learned }
    }

    /// Returns whether there is a policy.
    pub(crate) fn restrict(&self) -> bool {
        self.learned.is_some()
    }

    /// Returns whether a label is one of the policy's.
    pub(crate) fn learn(&self, label: LabelId) -> bool {
        self.learned.as_ref().is_some_and(|l| l.output_of[label.index()].is_some())
    }

    /// Forgets the states added.
    pub(crate) fn clear(&mut self) {
        if let Some(learned) = &mut self.learned {
            learned.inputs.clear();
            learned.applicable.clear();
        }
    }

    /// Adds a state with its enabled edges.
    #[inline]
    pub(crate) fn add(
        &mut self,
        state: &[i64],
        enabled: &[EdgeId],
        operators: &mut LazyOperators<'_>,
    ) {
        let Some(learned) = &mut self.learned else { return };
        learned.policy.read_inputs(state, &mut learned.inputs);
        if learned.filtered {
            let row = learned.applicable.len();
            learned.applicable.resize(row + learned.policy.outputs().len(), false);
            let mask = &mut learned.applicable[row..];
            operators.applicable(enabled, learned.outputs.set(0), |label| {
                if let Some(output) = learned.output_of[label.index()] {
                    mask[output] = true;
                }
            });
        }
    }

    /// Decides for all states added.
    pub(crate) fn choose(&mut self, undecided: Undecided) {
        let Some(learned) = &mut self.learned else { return };
        learned.chooser.choose_batch(&learned.inputs, &learned.applicable, &mut learned.choices);
        learned.allowed.clear();
        for (row, choice) in learned.choices.iter().enumerate() {
            learned.allowed.push(learned.environment.set(0));
            let outputs = match undecided {
                Undecided::Excluded => choice.outputs(),
                Undecided::Included => choice.possible(),
            };
            for &output in outputs {
                learned.allowed.insert(row, learned.policy.outputs()[output]);
            }
        }
    }

    /// Returns the labels that the policy draws from in the state of this row, with lower bounds of
    /// their probabilities, and what these lack to 1; `None` for a policy that does not draw.
    pub(crate) fn drawn(&self, row: usize) -> Option<DrawnLabels> {
        let learned = self.learned.as_ref()?;
        if learned.policy.semantics().choice != ChoiceRule::Sample {
            return None;
        }
        let (width, outputs) = (learned.policy.inputs().len(), learned.policy.outputs());
        let competes =
            |&o: &usize| !learned.filtered || learned.applicable[row * outputs.len() + o];
        let competing: Vec<usize> = (0..outputs.len()).filter(competes).collect();
        let inputs = &learned.inputs[row * width..(row + 1) * width];
        let drawn = learned.policy.probabilities(inputs, &competing);
        let labels = drawn.outputs.into_iter().map(|(o, least)| (outputs[o], least)).collect();
        Some(DrawnLabels { labels, rest: drawn.rest })
    }

    /// Number of choices so far that were decided exactly.
    pub(crate) fn exact_decisions(&self) -> u64 {
        self.learned.as_ref().map_or(0, |learned| learned.chooser.exact_decisions())
    }

    /// The narrowest lead of a best score so far, where scores are in single precision.
    pub(crate) fn narrowest_lead(&self) -> Option<NarrowestLead> {
        self.learned.as_ref().and_then(|learned| learned.chooser.narrowest_lead().cloned())
    }

    /// The labels allowed in the state of this row; `None` allows all.
    #[inline]
    pub(crate) fn allowed(&self, row: usize) -> Option<LabelSet<'_>> {
        self.learned.as_ref().map(|learned| learned.allowed.set(row))
    }

    /// The labels of the policy that are allowed in the state of this row; `None` without policy.
    pub(crate) fn choosable(&self, row: usize) -> Option<impl Iterator<Item = LabelId> + '_> {
        self.learned.as_ref().map(|learned| {
            let allowed = learned.allowed.set(row);
            let labels = learned.policy.outputs().iter().copied();
            labels.filter(move |&label| allowed.contains(label))
        })
    }

    /// Returns whether the policy's choice in the state of this row is undecided.
    #[inline]
    pub(crate) fn is_undecided(&self, row: usize) -> bool {
        self.learned.as_ref().is_some_and(|l| l.choices[row].is_undecided())
    }

    /// Returns whether the policy certainly chooses a label in the state of this row.
    pub(crate) fn certainly(&self, row: usize, label: LabelId) -> bool {
        self.learned.as_ref().is_some_and(|l| {
            let output = l.output_of[label.index()];
            output.is_some_and(|output| l.choices[row].contains(output) == Some(true))
        })
    }
}
