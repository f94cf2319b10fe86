//! Replay accepts a trace if and only if it is a run to an unsafe state by a brute-force oracle,
//! on random cases and random mutations of their traces.

use std::collections::{BTreeMap, BTreeSet};

use policert_certify::{ReplayError, StateScores, replay};
use policert_engine_api::{Question, Trace, TraceStep};
use policert_model::{Condition, DomainRule, InstanceId, LabelId, State};
use policert_policy::{Policy, PolicySemantics};
use policert_testkit::oracle::Oracle;
use policert_testkit::{Case, PolicyParts, Profile, Random, case_numbers, semantics};

const PROFILES: [Profile; 3] = [Profile::Unary, Profile::Linear, Profile::General];

/// A case with a question about it, and a meaning of its policy.
struct Setting {
    case: Case,
    semantics: PolicySemantics,
    terminal: Option<Condition>,
    rule: DomainRule,
    random: Random,
}

impl Setting {
    fn new(profile: Profile, number: u64) -> Self {
        let case = Case::numbered(profile, number);
        let mut random = Random::new(number ^ 0x5eed);
        let semantics = semantics(&mut random);
        let terminal = random.percent(30).then(|| {
            let variable = random.below(case.model.variables.len());
            let domain = case.model.variables[variable].domain;
            let value = random.between(domain.lo, domain.hi);
            Condition::var_equals(policert_model::VarId::new(variable), value)
        });
        let rule = if random.percent(75) { DomainRule::Drop } else { DomainRule::Error };
        Self { case, semantics, terminal, rule, random }
    }

    fn question(&self) -> Question<'_> {
        Question {
            domain_rule: self.rule,
            terminal: self.terminal.clone(),
            ..Question::new(&self.case.model, &self.case.property)
        }
    }

    fn policy(&self) -> Policy {
        self.case.policy.policy(&self.case.model, self.semantics).expect("it fits")
    }
}

/// An oracle with its start states.
struct Judge<'a> {
    oracle: Oracle<'a>,
    starts: BTreeSet<State>,
}

impl<'a> Judge<'a> {
    fn new(question: Question<'a>, policy: Option<(&'a PolicyParts, PolicySemantics)>) -> Self {
        let oracle = Oracle::new(question, policy);
        Self { starts: oracle.start_states(), oracle }
    }
}

/// Runs to some of the states that are reachable.
fn runs(Judge { oracle, starts }: &Judge<'_>) -> Vec<Trace> {
    let mut runs: BTreeMap<State, Trace> = BTreeMap::new();
    for start in starts.iter().take(5).cloned() {
        runs.insert(start.clone(), Trace { start, steps: Vec::new() });
    }
    let mut queue: Vec<State> = runs.keys().cloned().collect();
    while let Some(state) = queue.pop() {
        if runs.len() > 60 || oracle.question.is_terminal(&state) {
            continue;
        }
        let Ok(expansion) = oracle.expand(&state) else { continue };
        for transition in expansion.transitions {
            let next = transition.step.state.clone();
            if runs.contains_key(&next) {
                continue;
            }
            let mut run = runs[&state].clone();
            run.steps.push(TraceStep {
                label: transition.label,
                operator: transition.operator,
                destination: transition.step.destination,
                choices: transition.step.choices,
                state: transition.step.state,
            });
            runs.insert(next.clone(), run);
            queue.push(next);
        }
    }
    runs.into_values().collect()
}

/// Returns whether a trace is evidence, by the oracle; `None` where that has no answer.
fn is_evidence(Judge { oracle, starts }: &Judge<'_>, trace: &Trace) -> Option<bool> {
    if !starts.contains(&trace.start) {
        return Some(false);
    }
    let mut state = &trace.start;
    for step in &trace.steps {
        if oracle.question.is_terminal(state) {
            return Some(false);
        }
        let expansion = oracle.expand(state).ok()?;
        let exists = expansion.transitions.iter().any(|t| {
            (t.label, &t.operator) == (step.label, &step.operator)
                && (t.step.destination, &t.step.choices) == (step.destination, &step.choices)
                && t.step.state == step.state
        });
        if !exists {
            return Some(false);
        }
        state = &step.state;
    }
    Some(oracle.question.is_unsafe(state))
}

/// Changes one thing.
fn mutate(random: &mut Random, trace: &mut Trace, labels: usize) {
    let nudge = |random: &mut Random, state: &mut State| {
        let at = random.below(state.len());
        state[at] += if random.percent(50) { 1 } else { -1 };
    };
    if trace.steps.is_empty() || random.percent(10) {
        nudge(random, &mut trace.start);
        return;
    }
    let at = random.below(trace.steps.len());
    let step = &mut trace.steps[at];
    match random.below(12) {
        0 | 1 => nudge(random, &mut step.state),
        2 => {
            let label = LabelId::new(random.below(labels));
            step.label =
                if step.label.is_some() && random.percent(50) { None } else { Some(label) };
        }
        3 => {
            step.operator.vector = match step.operator.vector {
                Some(_) if random.percent(30) => None,
                Some(v) => Some(v.wrapping_add(1).wrapping_sub(2 * (v % 2))),
                None => Some(0),
            };
        }
        4 => {
            let edge = random.below(step.operator.edges.len());
            let edge = &mut step.operator.edges[edge];
            edge.1 = edge.1.wrapping_add(1).wrapping_sub(2 * u32::from(random.percent(50)));
        }
        5 => {
            let edge = random.below(step.operator.edges.len());
            step.operator.edges[edge].0 = InstanceId::new(random.below(4));
        }
        6 => step.destination = step.destination.wrapping_add(1).wrapping_sub(2 * random.below(2)),
        7 => match step.choices.first_mut() {
            Some(choice) => *choice += 1,
            None => step.choices.push(0),
        },
        8 => drop(trace.steps.remove(at)),
        9 => {
            let again = step.clone();
            trace.steps.insert(at, again);
        }
        10 => trace.steps.truncate(at),
        _ => {
            let other = random.below(trace.steps.len());
            trace.steps.swap(at, other);
        }
    }
}

#[test]
fn traces_are_accepted_exactly_if_they_are_evidence() {
    let (mut accepted, mut rejected, mut survived) = (0, 0, 0);
    for profile in PROFILES {
        for number in case_numbers(150) {
            let setting = Setting::new(profile, number);
            let (question, policy) = (setting.question(), setting.policy());
            let with_policy = number % 5 != 0;
            let acting = with_policy.then_some((&setting.case.policy, setting.semantics));
            let judge = Judge::new(question.clone(), acting);
            let policy = with_policy.then_some(&policy);
            let mut random = setting.random.clone();
            for run in runs(&judge) {
                let expected = is_evidence(&judge, &run);
                let result = replay(&question, policy, &run);
                assert_eq!(
                    Some(result.is_ok()),
                    expected,
                    "{profile:?} {number}: {result:?} for {run:?}"
                );
                accepted += u64::from(result.is_ok());
                for _ in 0..5 {
                    let mut trace = run.clone();
                    mutate(&mut random, &mut trace, setting.case.model.labels.len());
                    let Some(expected) = is_evidence(&judge, &trace) else { continue };
                    let result = replay(&question, policy, &trace);
                    assert_eq!(
                        result.is_ok(),
                        expected,
                        "{profile:?} {number}: {result:?} for {trace:?}"
                    );
                    rejected += u64::from(result.is_err());
                    survived += u64::from(result.is_ok());
                }
            }
        }
    }
    assert!(
        accepted > 500 && rejected > 10_000 && survived > 300,
        "{accepted} accepted, {rejected} mutants rejected, {survived} accepted"
    );
}

#[test]
fn mutants_of_evidence_are_rejected_for_what_is_wrong() {
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for profile in PROFILES {
        for number in case_numbers(100) {
            let setting = Setting::new(profile, number);
            let (question, policy) = (setting.question(), setting.policy());
            let acting = Some((&setting.case.policy, setting.semantics));
            let judge = Judge::new(question.clone(), acting);
            let mut random = setting.random.clone();
            for run in runs(&judge) {
                if replay(&question, Some(&policy), &run).is_err() {
                    continue;
                }
                for _ in 0..20 {
                    let mut trace = run.clone();
                    mutate(&mut random, &mut trace, setting.case.model.labels.len());
                    let Err(error) = replay(&question, Some(&policy), &trace) else { continue };
                    *kinds.entry(kind(&error)).or_default() += 1;
                }
            }
        }
    }
    for wrong in ["state", "start", "operator", "label", "enabled", "outcome", "unsafe"] {
        assert!(kinds.get(wrong).is_some_and(|&n| n >= 10), "{wrong}: {kinds:?}");
    }
    assert!(kinds.contains_key("terminal"), "{kinds:?}");
}

fn kind(error: &ReplayError) -> &'static str {
    match error {
        ReplayError::NoState(_) => "state",
        ReplayError::NoStart(_) => "start",
        ReplayError::LeavesTerminal { .. } => "terminal",
        ReplayError::NoOperator { .. } => "operator",
        ReplayError::WrongLabel { .. } => "label",
        ReplayError::NotEnabled { .. } => "enabled",
        ReplayError::NotChosen { .. } => "chosen",
        ReplayError::UndecidedChoice { .. } => "undecided",
        ReplayError::NoOutcome { .. } => "outcome",
        ReplayError::NotUnsafe(_) => "unsafe",
        _ => "other",
    }
}

#[test]
fn labels_that_the_policy_does_not_choose_are_rejected() {
    let mut not_chosen = 0;
    for profile in PROFILES {
        for number in case_numbers(100) {
            let setting = Setting::new(profile, number);
            let (question, policy) = (setting.question(), setting.policy());
            // Runs of the model without any policy.
            let free = Judge::new(question.clone(), None);
            let acting = Some((&setting.case.policy, setting.semantics));
            let restricted = Judge::new(question.clone(), acting);
            for run in runs(&free) {
                assert_eq!(
                    replay(&question, None, &run).is_ok(),
                    question.is_unsafe(run.last_state())
                );
                let Some(expected) = is_evidence(&restricted, &run) else { continue };
                let result = replay(&question, Some(&policy), &run);
                assert_eq!(result.is_ok(), expected, "{profile:?} {number}: {result:?}");
                not_chosen += u64::from(matches!(result, Err(ReplayError::NotChosen { .. })));
            }
        }
    }
    assert!(not_chosen > 500, "{not_chosen}");
}

#[test]
fn the_scores_say_why_a_label_is_chosen() {
    let (mut exact, mut enclosed) = (0, 0);
    for number in case_numbers(600) {
        let setting = Setting::new(Profile::Unary, number);
        let (question, policy) = (setting.question(), setting.policy());
        let judge = Judge::new(question.clone(), Some((&setting.case.policy, setting.semantics)));
        for run in runs(&judge) {
            let Ok(replayed) = replay(&question, Some(&policy), &run) else { continue };
            assert_eq!(replayed.steps.len(), run.steps.len());
            for (checked, step) in replayed.steps.iter().zip(&run.steps) {
                let output = step.label.and_then(|label| policy.output_of(label));
                let Some(choice) = &checked.policy else {
                    assert_eq!(output, None, "case {number}");
                    continue;
                };
                assert_eq!(Some(choice.chosen), output, "case {number}");
                assert!(choice.competing.contains(&choice.chosen), "case {number}");
                for &other in choice.competing.iter().filter(|&&o| o != choice.chosen) {
                    match &choice.scores {
                        StateScores::Exact(scores) => {
                            let order = scores[choice.chosen].cmp(&scores[other]);
                            let required = setting.semantics.requires(choice.chosen, other);
                            assert!(required.holds(order), "case {number}");
                            exact += 1;
                        }
                        StateScores::Enclosed(scores) => {
                            assert!(scores.iter().all(|(lo, hi)| lo <= hi), "case {number}");
                            assert!(scores[choice.chosen].1 >= scores[other].0, "case {number}");
                            enclosed += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(exact > 500 && enclosed > 5, "{exact} exact, {enclosed} enclosed");
}
