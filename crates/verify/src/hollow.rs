//! Whether a good verdict is hollow: it is right, but says nothing about the policy, because there was
//! nothing that the policy could have done wrong (`docs/verdicts.md`).
//!
//! Steps are looked for from the start states on, until the policy takes one that changes the state. In
//! most models that is the first one. After [`MOST_STATES`] states, or a little time, nothing is said.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use policert_engine_api::{Aim, Budget, CancelFlag, EngineError, Limits, Question, StopReason};
use policert_explore::{PolicySuccessors, StateSuccessors};
use policert_model::State;
use policert_policy::Policy;
use policert_problem::{HollowFact, Problem};
use serde::Serialize;

/// States in which steps are looked for at most.
const MOST_STATES: u64 = 20_000;
/// The greatest time that this search may take.
const MOST_TIME: Duration = Duration::from_millis(500);

/// Says why a verdict is hollow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Hollow {
    /// The reason for programs.
    pub code: HollowCode,
    /// The same in words.
    pub text: String,
}

/// Says why a verdict is hollow, for programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HollowCode {
    /// There is no start state.
    NoStartState,
    /// No state whatsoever is unsafe.
    NothingUnsafe,
    /// The model has no operator.
    NoOperator,
    /// No run takes a step.
    NothingMoves,
    /// The environment takes steps, and the policy none.
    PolicyNeverActs,
    /// No step of the policy changes the state; without policy, no step at all.
    NothingChanges,
    /// Each start state is a goal state.
    StartsInGoal,
    /// Edges never fire, because their actions synchronise with nothing.
    NeverSynchronised,
    /// Labels are applicable in no state.
    NeverApplicable,
    /// Keys of a file are ignored, where one of nearly the same name is missing.
    IgnoredKeys,
}

impl Hollow {
    /// The warning that says so.
    #[must_use]
    pub fn warning(&self) -> String {
        format!("the verdict is hollow: {}", self.text)
    }

    fn of_fact(fact: &HollowFact) -> Self {
        let (code, before) = match fact {
            HollowFact::NoStartState => (HollowCode::NoStartState, "it is vacuous: "),
            HollowFact::NothingUnsafe => (HollowCode::NothingUnsafe, ""),
            HollowFact::NoOperator => (HollowCode::NoOperator, ""),
            HollowFact::NeverSynchronised { .. } => (HollowCode::NeverSynchronised, ""),
            HollowFact::NeverApplicable { .. } => (HollowCode::NeverApplicable, ""),
            HollowFact::IgnoredKeys { .. } => (HollowCode::IgnoredKeys, "it may rest on a slip: "),
        };
        Self { code, text: format!("{before}{fact}") }
    }
}

/// Returns why a verdict that no run breaks the property is hollow, if it is. `is_vacuous`: there
/// is no start state; `is_still`: it is known that there is no transition.
pub(crate) fn reasons(
    problem: &Problem,
    is_vacuous: bool,
    is_still: bool,
    left: Option<Duration>,
    cancel: &CancelFlag,
) -> Vec<Hollow> {
    if is_vacuous {
        return vec![Hollow::of_fact(&HollowFact::NoStartState)];
    }
    let question = problem.question();
    let time = left.map_or(MOST_TIME, |left| MOST_TIME.min(left));
    let limits = Limits { time: Some(time), ..Limits::default() };
    let mut probe = Probe::new(&question, problem.policy.as_ref());
    let moves = match probe.run(&mut Budget::new(limits.clone(), cancel.clone())) {
        Ok(Found::Nothing) => probe.hollow(),
        Err(_) if is_still => probe.hollow(),
        // A step, or a limit; an error in a state is no business of this.
        Ok(Found::Step) | Err(_) => None,
    };
    let mut budget = Budget::new(limits, cancel.clone());
    // After a stop, nothing is claimed.
    let facts = problem.hollow_facts(&mut budget).unwrap_or_default();
    let counts = |fact: &&HollowFact| match fact {
        HollowFact::NothingUnsafe => question.aim == Aim::AvoidUnsafe,
        HollowFact::NoStartState | HollowFact::NoOperator | HollowFact::IgnoredKeys { .. } => true,
        // A reason only where nothing happens.
        HollowFact::NeverSynchronised { .. } | HollowFact::NeverApplicable { .. } => {
            moves.is_some()
        }
    };
    let facts: Vec<Hollow> = facts.iter().filter(counts).map(Hollow::of_fact).collect();
    moves.into_iter().chain(facts).collect()
}

/// Says what the search for a step found.
enum Found {
    /// A step of the policy that changes the state; without policy, any step that does.
    Step,
    /// There is none.
    Nothing,
}

struct Probe<'q> {
    question: &'q Question<'q>,
    policy: Option<&'q Policy>,
    /// The first start state in which nothing moves, and why.
    still: Option<String>,
    starts: u64,
    goal_starts: u64,
    /// True if some step was taken.
    moved: bool,
    acted: bool,
}

impl<'q> Probe<'q> {
    fn new(question: &'q Question<'q>, policy: Option<&'q Policy>) -> Self {
        let (starts, goal_starts) = (0, 0);
        Self { question, policy, still: None, starts, goal_starts, moved: false, acted: false }
    }

    fn run(&mut self, budget: &mut Budget) -> Result<Found, EngineError> {
        let question = self.question;
        let mut known: BTreeSet<State> = BTreeSet::new();
        let mut waiting: VecDeque<State> = VecDeque::new();
        let mut successors = PolicySuccessors::new(question, self.policy);
        let mut is_step = false;
        let starts = question.for_each_start_state(budget, &mut |state| {
            if !known.insert(state.to_vec()) {
                return Ok(());
            }
            self.starts += 1;
            let next = self.look(state, true, &mut successors)?;
            // Ends the enumeration.
            match next {
                None => {
                    is_step = true;
                    Err(StopReason::Interrupted.into())
                }
                Some(_) if self.starts > MOST_STATES => Err(StopReason::States(MOST_STATES).into()),
                Some(next) => {
                    waiting.extend(next);
                    Ok(())
                }
            }
        });
        if is_step {
            return Ok(Found::Step);
        }
        starts?;
        while let Some(state) = waiting.pop_front() {
            budget.poll_clock()?;
            if !known.insert(state.clone()) {
                continue;
            }
            if known.len() as u64 > MOST_STATES {
                return Err(StopReason::States(MOST_STATES).into());
            }
            match self.look(&state, false, &mut successors)? {
                None => return Ok(Found::Step),
                Some(next) => waiting.extend(next),
            }
        }
        Ok(Found::Nothing)
    }

    /// The successors of a state; `None` if there is a step that shows that the verdict is not hollow.
    fn look(
        &mut self,
        state: &[i64],
        is_start: bool,
        successors: &mut PolicySuccessors<'_>,
    ) -> Result<Option<Vec<State>>, EngineError> {
        if self.question.aim == Aim::ReachGoal && self.question.is_goal(state) {
            self.goal_starts += u64::from(is_start);
            return Ok(Some(Vec::new()));
        }
        let found = successors.of(state)?;
        if found.list.is_empty() && is_start && self.still.is_none() {
            self.still = Some(self.why_still(state, &found));
        }
        for successor in &found.list {
            let by_policy = match (&found.choice, successor.label) {
                (None, _) => true,
                (Some(choice), Some(label)) => choice.labels.contains(&label),
                (Some(_), None) => false,
            };
            self.moved = true;
            self.acted |= by_policy;
            if by_policy && successor.state != state {
                return Ok(None);
            }
        }
        Ok(Some(found.list.into_iter().map(|successor| successor.state).collect()))
    }

    fn why_still(&self, state: &[i64], found: &StateSuccessors) -> String {
        let model = self.question.model;
        let place = format!("in state {}", model.display_state(state));
        if self.question.is_terminal(state) {
            return format!("the start state {} is terminal", model.display_state(state));
        }
        let leaves = if found.dropped > 0 { ": its updates leave a domain" } else { "" };
        match &found.choice {
            None if found.dropped > 0 => {
                format!("every update leaves a domain {place}")
            }
            None => format!("no action is applicable {place}"),
            Some(choice) if choice.labels.is_empty() => {
                format!("the policy chooses nothing {place}, and the environment does nothing")
            }
            Some(choice) => {
                let names = choice.labels.iter().map(|&label| model.label_name(Some(label)));
                let names = names.collect::<Vec<_>>().join(" or ");
                match leaves {
                    "" => format!(
                        "{place} the policy chooses {names}, which is not applicable, and stops"
                    ),
                    leaves => {
                        format!("{place} the policy chooses {names}, which does nothing{leaves}")
                    }
                }
            }
        }
    }

    /// Returns what it means that there is no step.
    fn hollow(self) -> Option<Hollow> {
        let start = if self.starts == 1 { "the only start state" } else { "every start state" };
        let (code, text) = if self.starts == 0 {
            return None;
        } else if self.goal_starts == self.starts {
            (HollowCode::StartsInGoal, format!("{start} is a goal state"))
        } else if !self.moved {
            let why = self.still.unwrap_or_default();
            let text = match self.starts {
                1 => format!("no run takes a step: {why}"),
                n => {
                    format!("no run takes a step from any of {n} start states; for example, {why}")
                }
            };
            (HollowCode::NothingMoves, text)
        } else if !self.acted {
            let text = "the environment takes steps, but the policy never acts: where it chooses, \
                        nothing that it chooses can be done";
            let example = self.still.map_or(String::new(), |why| format!("; for example, {why}"));
            (HollowCode::PolicyNeverActs, format!("{text}{example}"))
        } else {
            let whose = if self.policy.is_some() { "of the policy " } else { "" };
            let text =
                format!("no step {whose}changes the state: each leads back to where it began");
            (HollowCode::NothingChanges, text)
        };
        Some(Hollow { code, text })
    }
}
