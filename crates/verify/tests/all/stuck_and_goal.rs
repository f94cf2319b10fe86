//! Stuck states that are unsafe, and whether every run reaches the goal: engines against brute force on
//! random tiny models, and their runs replayed.

mod ranks;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use policert_certify::{TraceEnd, replay};
use policert_engine_api::{
    Aim, Budget, EngineError, Question, Silent, StuckRule, Trace, UnknownReason, Verdict,
};
use policert_explore::{ExplicitConfig, explicit, guided, reach_goal};
use policert_model::{Condition, DomainRule, State};
use policert_numeric::Rational;
use policert_policy::{Policy, PolicySemantics};
use policert_testkit::oracle::{NoAnswer, Oracle};
use policert_testkit::{Case, PolicyParts, Profile, Random, case_numbers, semantics};

const PROFILES: [Profile; 3] = [Profile::Unary, Profile::Linear, Profile::General];

/// The number of random cases of each profile; there are more where slow tests run.
const CASES: u64 = 250;

/// A case with a question about it, and a meaning of its policy.
struct Setting {
    case: Case,
    policy: Option<(PolicyParts, PolicySemantics)>,
    terminal: Option<Condition>,
    rule: DomainRule,
}

impl Setting {
    fn new(profile: Profile, number: u64) -> Self {
        let mut case = Case::numbered(profile, number);
        let mut random = Random::new(number ^ 0x57ac);
        let semantics = semantics(&mut random);
        let mut point = || {
            let variable = random.below(case.model.variables.len());
            let domain = case.model.variables[variable].domain;
            let value = random.between(domain.lo, domain.hi);
            Condition::var_equals(policert_model::VarId::new(variable), value)
        };
        let (goal, terminal) = (point(), point());
        case.property.goal = random.percent(85).then_some(goal);
        let terminal = random.percent(20).then_some(terminal);
        let policy = random.percent(70).then(|| (case.policy.clone(), semantics));
        let rule = if random.percent(85) { DomainRule::Drop } else { DomainRule::Error };
        Self { case, policy, terminal, rule }
    }

    fn question(&self, aim: Aim, stuck: StuckRule) -> Question<'_> {
        Question {
            domain_rule: self.rule,
            terminal: self.terminal.clone(),
            aim,
            stuck,
            ..Question::new(&self.case.model, &self.case.property)
        }
    }

    fn policy(&self) -> Option<Policy> {
        let (_, semantics) = self.policy.as_ref()?;
        Some(self.case.policy.policy(&self.case.model, *semantics).expect("it fits"))
    }

    fn oracle<'a>(&'a self, question: Question<'a>) -> Oracle<'a> {
        Oracle::new(question, self.policy.as_ref().map(|(parts, semantics)| (parts, *semantics)))
    }
}

/// The number of steps to a nearest unsafe state, stuck ones included.
fn nearest_bad(oracle: &Oracle<'_>) -> Result<Option<usize>, NoAnswer> {
    let question = &oracle.question;
    let mut known: BTreeSet<State> = oracle.start_states();
    let mut queue: VecDeque<(State, usize)> = known.iter().map(|s| (s.clone(), 0)).collect();
    while let Some((state, distance)) = queue.pop_front() {
        if question.is_unsafe(&state) {
            return Ok(Some(distance));
        }
        if question.is_terminal(&state) {
            continue;
        }
        if !question.is_goal(&state) && oracle.may_get_stuck(&state)? {
            return Ok(Some(distance));
        }
        for transition in oracle.expand(&state)?.transitions {
            if known.insert(transition.step.state.clone()) {
                queue.push_back((transition.step.state, distance + 1));
            }
        }
    }
    Ok(None)
}

/// The truth about the runs until they meet the goal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Runs {
    AllReachGoal,
    SomeMiss,
    ByChanceOnly,
}

fn runs(oracle: &Oracle<'_>) -> Result<Runs, NoAnswer> {
    let question = &oracle.question;
    // By state before the goal: its successors, and whether each needs no chance.
    let mut graph: BTreeMap<State, BTreeMap<State, bool>> = BTreeMap::new();
    let mut queue: Vec<State> = oracle.start_states().into_iter().collect();
    while let Some(state) = queue.pop() {
        if question.is_goal(&state) || graph.contains_key(&state) {
            continue;
        }
        if question.is_terminal(&state) || oracle.may_get_stuck(&state)? {
            return Ok(Runs::SomeMiss);
        }
        let transitions = oracle.expand(&state)?.transitions;
        let mut next: BTreeMap<State, bool> = BTreeMap::new();
        for transition in &transitions {
            let target = &transition.step.state;
            let mut leading: BTreeMap<usize, Rational> = BTreeMap::new();
            for other in &transitions {
                if other.operator == transition.operator && other.step.state == *target {
                    leading.insert(other.step.destination, other.step.probability.clone());
                }
            }
            let is_sure = leading.into_values().sum::<Rational>() == Rational::ONE;
            *next.entry(target.clone()).or_default() |= is_sure;
        }
        queue.extend(next.keys().cloned());
        graph.insert(state, next);
    }
    let can_go_on_for_ever = |needs_sure: bool| {
        let mut inside: BTreeSet<&State> = graph.keys().collect();
        loop {
            let before = inside.len();
            let kept = inside.iter().copied().filter(|state| {
                let mut next = graph[*state].iter();
                next.any(|(target, &sure)| inside.contains(target) && (sure || !needs_sure))
            });
            inside = kept.collect();
            if inside.len() == before {
                return !inside.is_empty();
            }
        }
    };
    Ok(if can_go_on_for_ever(true) {
        Runs::SomeMiss
    } else if can_go_on_for_ever(false) {
        Runs::ByChanceOnly
    } else {
        Runs::AllReachGoal
    })
}

/// A question, what is true of it, and what an engine says.
struct Answered<'a, T> {
    question: &'a Question<'a>,
    policy: Option<&'a Policy>,
    place: &'a str,
    truth: T,
    verdict: Verdict,
}

/// Asks the engine about all cases. With a truth that is bad it may meet an error of the model first.
fn ask<T: std::fmt::Debug>(
    (aim, stuck): (Aim, StuckRule),
    truth: impl Fn(&Oracle<'_>) -> Result<T, NoAnswer>,
    is_bad: impl Fn(&T) -> bool,
    engine: impl Fn(&Question<'_>, Option<&Policy>) -> Result<Verdict, EngineError>,
    mut judge: impl FnMut(Answered<'_, T>),
) {
    for profile in PROFILES {
        for number in case_numbers(CASES) {
            let place = &format!("{profile:?} {number}");
            let setting = Setting::new(profile, number);
            let question = &setting.question(aim.clone(), stuck);
            let policy = setting.policy();
            let policy = policy.as_ref();
            match (truth(&setting.oracle(question.clone())), engine(question, policy)) {
                (Ok(truth), Ok(verdict)) => {
                    judge(Answered { question, policy, place, truth, verdict });
                }
                (Err(_), Err(EngineError::Modelling(_))) => {}
                // Another order meets the unsafe state, or the error, first.
                (Err(_), Ok(verdict)) => {
                    check(question, policy, &verdict, place);
                }
                (Ok(truth), Err(EngineError::Modelling(_))) if is_bad(&truth) => {}
                (truth, found) => panic!("{place}: {truth:?}, {found:?}"),
            }
        }
    }
}

#[test]
fn a_stuck_state_is_unsafe_where_the_question_says_so() {
    let (mut safe, mut stuck, mut reached) = (0, 0, 0);
    let engine = |question: &Question<'_>, policy: Option<&Policy>| {
        let (config, budget) = (ExplicitConfig::default(), &mut Budget::unlimited());
        explicit(question, policy, &config, budget, &mut Silent).map(|found| found.verdict)
    };
    let rules = (Aim::AvoidUnsafe, StuckRule::Unsafe);
    ask(rules, nearest_bad, Option::is_some, engine, |answered| {
        let Answered { question, policy, place, truth, verdict } = answered;
        match (truth, &verdict) {
            (None, Verdict::Safe { .. }) => safe += 1,
            (Some(steps), Verdict::Unsafe(trace)) => {
                assert_eq!(trace.steps.len(), steps, "{place}");
                match check(question, policy, &verdict, place) {
                    Some(TraceEnd::Stuck) => stuck += 1,
                    _ => reached += 1,
                }
            }
            (truth, verdict) => panic!("{place}: {truth:?}, {verdict:?}"),
        }
        let budget = &mut Budget::unlimited();
        if let Ok(found) = guided(question, policy, 10_000, budget, &mut Silent) {
            assert_eq!(found.trace.is_some(), truth.is_some(), "{place}: guided");
            if let Some(trace) = found.trace {
                check(question, policy, &Verdict::Unsafe(trace), place);
            }
        }
    });
    assert!(
        safe > 30 && stuck > 30 && reached > 30,
        "{safe} safe, {stuck} stuck, {reached} reached"
    );
}

#[test]
fn every_run_reaches_the_goal_or_one_shows_that_it_does_not() {
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    let engine = |question: &Question<'_>, policy: Option<&Policy>| {
        let budget = &mut Budget::unlimited();
        reach_goal(question, policy, budget, &mut Silent).map(|found| found.verdict)
    };
    let rules = (Aim::ReachGoal, StuckRule::Allowed);
    ask(
        rules,
        runs,
        |truth| *truth == Runs::SomeMiss,
        engine,
        |answered| {
            let Answered { question, policy, place, truth, verdict } = answered;
            let end = match (truth, &verdict) {
                (Runs::AllReachGoal, Verdict::Safe { .. }) => "safe".to_owned(),
                (Runs::SomeMiss, Verdict::Unsafe(_)) => {
                    match check(question, policy, &verdict, place) {
                        Some(TraceEnd::Loop { .. }) => "loop".to_owned(),
                        end => format!("{end:?}"),
                    }
                }
                (Runs::ByChanceOnly, Verdict::Unknown(UnknownReason::ChanceForEver { .. })) => {
                    "chance".to_owned()
                }
                (truth, verdict) => panic!("{place}: {truth:?}, {verdict:?}"),
            };
            *ends.entry(end).or_default() += 1;
        },
    );
    for end in ["safe", "loop", "Some(Stuck)", "Some(Terminal)", "chance"] {
        assert!(ends.get(end).is_some_and(|&count| count > 5), "{end}: {ends:?}");
    }
}

/// Replays a run, and that a spoilt one does not replay.
fn check(
    question: &Question<'_>,
    policy: Option<&Policy>,
    verdict: &Verdict,
    place: &str,
) -> Option<TraceEnd> {
    let Verdict::Unsafe(trace) = verdict else { return None };
    let replayed = replay(question, policy, trace);
    let replayed = replayed.unwrap_or_else(|error| panic!("{place}: {error}: {trace:?}"));
    let mut shorter: Trace = trace.clone();
    if shorter.steps.pop().is_some() && replayed.end != TraceEnd::Unsafe {
        let end = replay(question, policy, &shorter).map(|replayed| replayed.end);
        // A part may be evidence only where a run gets stuck, ends or comes back on the way.
        assert!(end.is_err() || question.aim == Aim::ReachGoal, "{place}: {end:?}");
    }
    Some(replayed.end)
}
