//! The choices of a state in which the policy draws its label.
//!
//! Each label has a lower bound of its probability, and what these lack to 1 belongs to the labels in
//! shares that are not known. So there are two processes. In the one *from below* a choice has the
//! outcomes of every label, with the lower bounds: what they lack is lost. In the one *from above*
//! there is such a choice for each label that may have all of the rest. The true choice is a mixture
//! of these, and a scheduler may mix: the greatest probability is at least that of the first process
//! and at most that of the second, and the least one at least that of the second. Both have the graph
//! of the true process.
//!
//! Where several operators have the label that is drawn, the scheduler knows it.

use policert_engine_api::EngineError;
use policert_mdp::{MdpBuilder, ProbabilityId};
use policert_model::LabelId;
use policert_numeric::Rational;

use super::choices::{MOST_CHOICES, PendingChoices};
use super::store::Pending;
use crate::policy_labels::DrawnLabels;

/// The choices that the operators of a state make, before a label is drawn.
#[derive(Debug, Default)]
pub(super) struct Undrawn {
    /// Those of operators of the policy's labels.
    pub choices: PendingChoices,
    /// The label of each.
    labels: Vec<LabelId>,
}

/// Positions of successors, with their probabilities.
type Outcomes = Vec<(u32, Rational)>;

/// The choices of one label, with the lower bound of its probability.
struct Part<'a> {
    least: &'a Rational,
    choices: Vec<Outcomes>,
}

impl Undrawn {
    pub(super) fn clear(&mut self) {
        self.choices.clear();
        self.labels.clear();
    }

    /// Notes the label of the choices that were added last.
    pub(super) fn label_last(&mut self, label: LabelId) {
        self.labels.resize(self.choices.len(), label);
    }

    /// Adds what the scheduler may choose where a label is drawn: from below and from above.
    pub(super) fn draw(
        &self,
        drawn: &DrawnLabels,
        below: &mut MdpBuilder,
        above: Option<&mut MdpBuilder>,
        pending: &mut Pending,
    ) -> Result<(), EngineError> {
        if drawn.labels.is_empty() {
            return Ok(());
        }
        let parts: Vec<Part<'_>> =
            drawn.labels.iter().map(|(label, least)| self.part(*label, least, below)).collect();
        mix(&parts, None, below, &mut pending.choices)?;
        // Without it, the lower bounds are the probabilities.
        let Some(above) = above else { return Ok(()) };
        let receivers = if drawn.rest.is_zero() { 1 } else { parts.len() };
        (0..receivers)
            .try_for_each(|at| mix(&parts, Some((at, &drawn.rest)), above, &mut pending.above))
    }

    fn part<'a>(&self, label: LabelId, least: &'a Rational, builder: &MdpBuilder) -> Part<'a> {
        let of_label = (0..self.labels.len()).filter(|&choice| self.labels[choice] == label);
        let exact = |choice: usize| {
            let (_, outcomes) = self.choices.get(choice);
            outcomes.iter().map(|&(to, p)| (to, builder.value(p).clone())).collect()
        };
        Part { least, choices: of_label.map(exact).collect() }
    }
}

/// Adds the choices of every combination of operators. The label at a position may have a rest
/// besides its lower bound; one that leads nowhere loses what it has.
fn mix(
    parts: &[Part<'_>],
    rest: Option<(usize, &Rational)>,
    builder: &mut MdpBuilder,
    mixed: &mut PendingChoices,
) -> Result<(), EngineError> {
    let shares: Vec<(Rational, &[Outcomes])> = parts
        .iter()
        .enumerate()
        .map(|(at, part)| {
            let rest = rest.filter(|(receiver, _)| *receiver == at);
            let share = rest.map_or(part.least.clone(), |(_, rest)| part.least + rest);
            (share, part.choices.as_slice())
        })
        .filter(|(_, choices)| !choices.is_empty())
        .collect();
    let count = shares.iter().try_fold(1usize, |n, (_, choices)| n.checked_mul(choices.len()));
    if count.is_none_or(|count| count > MOST_CHOICES) {
        let message = "a policy that draws among labels with several operators each, in too many \
                       combinations";
        return Err(EngineError::Unsupported(message.to_owned()));
    }
    let mut picked = vec![0usize; shares.len()];
    loop {
        let mut outcomes: Vec<(u32, ProbabilityId)> = Vec::new();
        for ((share, choices), &pick) in shares.iter().zip(&picked) {
            for (to, p) in &choices[pick] {
                outcomes.push((*to, builder.probability(&(share * p))));
            }
        }
        mixed.push_outcomes(outcomes);
        let Some(next) = (0..shares.len()).find(|&i| picked[i] + 1 < shares[i].1.len()) else {
            return Ok(());
        };
        picked[next] += 1;
        picked[..next].fill(0);
    }
}
