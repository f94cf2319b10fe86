//! Options about a question that would change nothing, given what the property names, are refused.

use policert_model::SafetyProperty;
use policert_outcome::Failure;
use policert_policy::ChoiceRule;

use crate::{
    InitialStates, PolicySource, ProblemOptions, QuestionAim, StuckStates, TerminalChoice,
};

/// Refuses the first option that has no effect.
///
/// # Errors
/// Such an option: why it has no effect, and what would work.
pub(crate) fn refuse(
    options: &ProblemOptions,
    property: &SafetyProperty,
    has_policy: bool,
) -> Result<(), Failure> {
    let name = &property.name;
    let no_policy = match &options.policy {
        _ if has_policy => None,
        PolicySource::None => Some("there is no policy".to_owned()),
        PolicySource::Given { .. } => Some(format!(
            "property `{name}` names no policy; name one with --interface or --policy"
        )),
    };
    let no_start = property.start.is_none().then(|| {
        format!(
            "property `{name}` names no start states, so that the model's are all; a property with \
             `start` would"
        )
    });
    let no_goal = !asks_for_goal(options);
    let no_goal = no_goal.then(|| {
        "no goal is asked for; it goes with --reach-goal, --stuck unsafe or --terminal goal"
            .to_owned()
    });
    let draws = options.choice == Some(ChoiceRule::Sample);
    let no_draw = (!draws).then(|| {
        "the policy takes a label of greatest score; it goes with --choice sample".to_owned()
    });
    let no_tie = draws.then(|| "a policy that draws has no ties (--choice sample)".to_owned());
    let leaves_out = options.initial_states == InitialStates::LeftOut;
    let rules = [
        (options.scores.is_some(), "--scores", &no_policy),
        (options.filter.is_some(), "--filter", &no_policy),
        (options.ties.is_some(), "--ties", &no_policy),
        (options.numbers.is_some(), "--numbers", &no_policy),
        (options.choice.is_some(), "--choice", &no_policy),
        (options.at_least.is_some(), "--at-least", &no_policy),
        (options.at_least.is_some(), "--at-least", &no_draw),
        (options.ties.is_some(), "--ties", &no_tie),
        (leaves_out, "--no-initial", &no_start),
        (options.goal.is_some(), "--goal", &no_goal),
    ];
    for (given, option, reason) in rules {
        if let Some(reason) = reason.as_ref().filter(|_| given) {
            return Err(Failure::Usage(format!("{option} has no effect: {reason}")));
        }
    }
    Ok(())
}

/// Returns whether goal states make a difference to a verdict.
fn asks_for_goal(options: &ProblemOptions) -> bool {
    options.aim == QuestionAim::ReachGoal
        || options.stuck == StuckStates::Unsafe
        || options.terminal == TerminalChoice::Goal
}
