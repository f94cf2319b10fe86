//! What in the inputs alone makes a verdict *safe* say less than it seems to: found without a search of
//! the reachable states.

use std::fmt;
use std::ops::ControlFlow;

use policert_engine_api::{Budget, StopReason};
use policert_model::{Model, Satisfiable};
use serde::Serialize;

use crate::{InitialStates, Problem};

/// Steps of all searches for one fact; a question that takes more stays open, and nothing is claimed.
const STEPS: u32 = 100_000;
/// Names that a text lists.
const SHOWN: usize = 5;

/// A reason in the inputs for which a verdict *safe* may say little.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "fact")]
pub enum HollowFact {
    /// There is no start state.
    NoStartState,
    /// No state of the domains is unsafe.
    NothingUnsafe,
    /// The composed model has no operator.
    NoOperator,
    /// Edges that never fire, because their actions synchronise with nothing.
    NeverSynchronised {
        /// Action and instance.
        actions: Vec<String>,
    },
    /// Labels whose guards no state of the domains satisfies.
    NeverApplicable {
        /// The labels.
        labels: Vec<String>,
    },
    /// Keys of a file that are ignored, where one of nearly the same name is missing.
    IgnoredKeys {
        /// A remark on each.
        keys: Vec<String>,
    },
}

impl HollowFact {
    /// Returns whether it alone makes the verdict hold, whatever the policy does. Other facts are
    /// faults of the inputs that may be the reason of the verdict.
    #[must_use]
    pub fn decides(&self) -> bool {
        match self {
            Self::NoStartState | Self::NothingUnsafe | Self::NoOperator => true,
            Self::NeverSynchronised { .. }
            | Self::NeverApplicable { .. }
            | Self::IgnoredKeys { .. } => false,
        }
    }
}

impl fmt::Display for HollowFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStartState => f.write_str("no state satisfies the start condition"),
            Self::NothingUnsafe => {
                f.write_str("no state of the variables' domains satisfies the unsafe condition")
            }
            Self::NoOperator => f.write_str("no edge of the model can ever fire"),
            Self::NeverSynchronised { actions } => {
                write!(f, "edges that never fire, for lack of a partner: {}", some_of(actions))
            }
            Self::NeverApplicable { labels } => {
                write!(f, "labels that are applicable in no state: {}", some_of(labels))
            }
            Self::IgnoredKeys { keys } => f.write_str(&some_of(keys)),
        }
    }
}

fn some_of(names: &[String]) -> String {
    let mut text = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

impl Problem {
    /// The facts of the inputs that make a verdict *safe* say little. What is not decided in some
    /// steps is not claimed.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn hollow_facts(&self, budget: &mut Budget) -> Result<Vec<HollowFact>, StopReason> {
        let model = &self.model;
        let mut facts = Vec::new();
        let initial = self.options.initial_states == InitialStates::Included;
        let start = self.property.start.as_ref();
        let found = limited(budget, |step| model.has_start_state(start, initial, step))?;
        if found == Satisfiable::No {
            facts.push(HollowFact::NoStartState);
        }
        let condition = &self.property.unsafe_condition;
        if limited(budget, |step| model.satisfiable(condition, step))? == Satisfiable::No {
            facts.push(HollowFact::NothingUnsafe);
        }
        if model.operator_count() == 0 {
            facts.push(HollowFact::NoOperator);
        }
        let actions = never_synchronised(model);
        if !actions.is_empty() {
            facts.push(HollowFact::NeverSynchronised { actions });
        }
        let labels = limited(budget, |step| model.labels_never_applicable(step))?;
        if !labels.is_empty() {
            let name = |&label| model.label_name(Some(label)).to_owned();
            facts.push(HollowFact::NeverApplicable { labels: labels.iter().map(name).collect() });
        }
        if !self.ignored_keys.is_empty() {
            facts.push(HollowFact::IgnoredKeys { keys: self.ignored_keys.clone() });
        }
        Ok(facts)
    }
}

fn never_synchronised(model: &Model) -> Vec<String> {
    let text = |(instance, action)| {
        let automaton = &model.instance(instance).automaton;
        format!("`{}` of `{automaton}`", model.label_name(Some(action)))
    };
    model.never_synchronised().into_iter().map(text).collect()
}

/// Runs a search that ends after a number of steps, or with the budget.
fn limited<T>(
    budget: &mut Budget,
    search: impl FnOnce(&mut dyn FnMut() -> ControlFlow<()>) -> T,
) -> Result<T, StopReason> {
    let (mut steps, mut stopped) = (0, Ok(()));
    let found = search(&mut || {
        steps += 1;
        stopped = budget.poll();
        if steps > STEPS || stopped.is_err() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    stopped.map(|()| found)
}

#[cfg(test)]
mod tests;
