//! What a verdict about a problem will mean, from the options and what was loaded.

use policert_model::{Condition, LabelId, Model, SafetyProperty};
use policert_policy::Policy;

use crate::{InitialStates, ProblemOptions, QuestionAim, SemanticsRecord, StartRule, StuckStates};

/// Returns what a verdict about a problem will mean; `never` are labels that the policy never
/// chooses.
pub(crate) fn semantics(
    options: &ProblemOptions,
    model: &Model,
    property: &SafetyProperty,
    policy: Option<&Policy>,
    never: &[LabelId],
    terminal: Option<&Condition>,
) -> SemanticsRecord {
    let names = |labels: &[LabelId]| {
        labels.iter().map(|&label| model.label_name(Some(label)).to_owned()).collect()
    };
    let unlearned = policy.map(|policy| policy.unrestricted_labels(model)).unwrap_or_default();
    let start = match (&property.start, options.initial_states) {
        (None, _) => StartRule::Initial,
        (Some(_), InitialStates::Included) => StartRule::PropertyAndInitial,
        (Some(_), InitialStates::LeftOut) => StartRule::Property,
    };
    let shown = |condition: &Condition| model.display_condition(condition);
    let plain = (QuestionAim::AvoidUnsafe, StuckStates::Allowed);
    let has_goal = (options.aim, options.stuck) != plain;
    SemanticsRecord {
        policy: policy.map(Policy::semantics),
        domain: options.domain,
        start,
        terminal: terminal.map(shown),
        aim: options.aim,
        stuck: options.stuck,
        goal: property.goal.as_ref().filter(|_| has_goal).map(shown),
        unlearned_labels: names(&unlearned),
        never_chosen: names(never),
        text: String::new(),
    }
    .with_text()
}
