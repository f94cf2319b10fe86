//! Probabilistic policy predicate abstraction on random tiny models with random tiny policies: the
//! exact values of a brute-force oracle lie in every interval, and every claim is true.

use std::io::Write as _;

use policert_engine_api::Configuration as _;
use policert_engine_api::{
    Budget, CancelFlag, EngineError, Event, Limits, Observer, Question, Silent, StopReason,
    UnknownReason,
};
use policert_numeric::Rational;
use policert_policy::Policy;
use policert_ppa::{
    CegarConfig, CounterexampleAnalysis, MaxProbMethod, PpaConfig, ProbConfig, ProbReport, Scope,
    prob_cegar, prob_ppa,
};
use policert_testkit::{Profile, Random, Setting, case_numbers, semantics};

/// States up to which the oracle is asked.
pub(crate) const MOST_STATES: usize = 40;

/// Presets that need no Z3 and decide transitions exactly.
const PRESETS: [&str; 4] = ["native", "bnb-mar", "no-sel-rel-app", "ex-sel-ex-app"];

/// The results of the cases.
#[derive(Debug, Default)]
struct Tally {
    compared: usize,
    between: usize,
    dropped: usize,
    choices: usize,
    exact_ppa: usize,
    refined: usize,
    real: usize,
    safe: usize,
    violated: usize,
    unsupported: usize,
    stopped: usize,
}

/// Raises a flag at an event, as an impatient user does.
struct Impatient {
    flag: CancelFlag,
    events: usize,
}

impl Observer for Impatient {
    fn event(&mut self, _: Event) {
        match self.events.checked_sub(1) {
            Some(left) => self.events = left,
            None => self.flag.raise(),
        }
    }
}

/// A case with the configuration that its number gives it.
pub(crate) struct Configured {
    pub setting: Setting,
    pub config: ProbConfig,
    /// Who answers the tests.
    pub tests: PpaConfig,
}

impl Configured {
    pub fn new(profile: Profile, number: u64) -> Self {
        let mut random = Random::new(number ^ 0x9a0b);
        let semantics = semantics(&mut random);
        let config = ProbConfig {
            method: *random.pick(&[MaxProbMethod::OnTheFly, MaxProbMethod::Complete]),
            analysis: *random.pick(&[CounterexampleAnalysis::Paths, CounterexampleAnalysis::Runs]),
            cegar: CegarConfig {
                scope: *random.pick(&[Scope::Local, Scope::Global]),
                box_limit: *random.pick(&[None, Some(1), Some(8)]),
                ..CegarConfig::default()
            },
            path_step_limit: *random.pick(&[30, 300]),
            run_limit: *random.pick(&[3, 1000]),
            ..ProbConfig::default()
        };
        let trees = number % 5 == 3;
        let setting = Setting::new(profile, number, semantics, trees, 80, &mut random);
        let preset = random.pick::<&str>(&PRESETS);
        Self { setting, config, tests: PpaConfig::preset(preset).expect("it is built in") }
    }
}

#[test]
fn brute_force_lies_in_every_interval() {
    let mut tally = Tally::default();
    for profile in [Profile::Unary, Profile::Linear, Profile::General] {
        for number in case_numbers(300) {
            check(&Configured::new(profile, number), &mut tally);
        }
    }
    let _ = writeln!(std::io::stderr(), "{tally:?}");
    assert!(tally.compared > 500 && tally.between > 30, "{tally:?}");
    assert!(tally.dropped > 20 && tally.choices > 100, "{tally:?}");
    assert!(tally.exact_ppa > 100 && tally.refined > 60 && tally.real > 15, "{tally:?}");
    assert!(tally.stopped > 100, "{tally:?}");
    assert!(tally.safe > 100 && tally.violated > 100, "{tally:?}");
    assert!(tally.unsupported * 5 < tally.compared, "{tally:?}");
}

fn check(configured: &Configured, tally: &mut Tally) {
    let Configured { setting, config: prob, tests } = configured;
    let place = &setting.place;
    let question = setting.question();
    let policy = setting.policy();
    let oracle = setting.oracle(&question);
    let Ok(Some(process)) = oracle.decision_process(MOST_STATES) else { return };
    let values = process.greatest();
    let starts = process.start.iter().map(|&state| values[state].clone());
    let value = starts.fold(Rational::ZERO, Rational::max);
    let budget = &mut Budget::unlimited();
    let abstracted = prob_ppa(&question, policy.as_ref(), tests, prob, budget, &mut Silent);
    let abstracted = match abstracted {
        Err(EngineError::Unsupported(_)) => {
            tally.unsupported += 1;
            return;
        }
        other => other.unwrap_or_else(|error| panic!("{place}: {error}")),
    };
    inside(&abstracted, &value, place);
    assert_eq!(abstracted.unknown, None, "{place}");
    tally.compared += 1;
    tally.dropped += usize::from(process.dropped);
    tally.choices += usize::from(process.choices.iter().any(|choices| choices.len() > 1));
    tally.between += usize::from(!value.is_zero() && value != Rational::ONE);
    tally.exact_ppa += usize::from(abstracted.bounds.width() <= decimal("0.05"));
    refined(configured, &question, policy.as_ref(), &value, tally);
    interrupted(configured, &question, policy.as_ref(), &value, tally);
}

/// Whatever stops the search, the interval stands.
fn interrupted(
    configured: &Configured,
    question: &Question<'_>,
    policy: Option<&Policy>,
    value: &Rational,
    tally: &mut Tally,
) {
    let Configured { setting, config, tests } = configured;
    let mut random = Random::new(setting.case.number ^ 0x3c3c);
    for ask in [prob_ppa, prob_cegar] {
        let flag = CancelFlag::default();
        let mut observer = Impatient { flag: flag.clone(), events: random.below(12) };
        let states = random.percent(30).then(|| 1 + random.below(6) as u64);
        let limits = Limits { states, ..Limits::default() };
        let budget = &mut Budget::new(limits, flag);
        let found = ask(question, policy, tests, config, budget, &mut observer);
        let found = match found {
            Err(EngineError::Unsupported(_)) => continue,
            found => found.unwrap_or_else(|error| panic!("{}: {error}", setting.place)),
        };
        inside(&found, value, &setting.place);
        if let Some(reason) = &found.unknown {
            use StopReason::{Interrupted, States};
            let is_stop = matches!(reason, UnknownReason::Stopped(Interrupted | States(_)));
            assert!(is_stop, "{}: {reason}", setting.place);
            tally.stopped += 1;
        }
    }
}

fn refined(
    configured: &Configured,
    question: &Question<'_>,
    policy: Option<&Policy>,
    value: &Rational,
    tally: &mut Tally,
) {
    let Configured { setting, config, tests } = configured;
    let place = &setting.place;
    let ask = |prob: &ProbConfig| {
        let budget = &mut Budget::unlimited();
        prob_cegar(question, policy, tests, prob, budget, &mut Silent)
    };
    let found = match ask(config) {
        // The abstraction is too coarse to rule out that an outcome assigns two values at once.
        Err(EngineError::Unsupported(_)) => {
            tally.unsupported += 1;
            return;
        }
        found => found.unwrap_or_else(|error| panic!("{place}: {error}")),
    };
    inside(&found, value, place);
    if found.unknown.is_none() {
        assert!(found.bounds.width() <= decimal("0.05"), "{place}: {:?}", found.bounds);
    } else {
        panic!("{place}: {:?}", found.unknown);
    }
    tally.refined += usize::from(found.iterations > 1);
    tally.real += usize::from(found.spurious.real > 0);
    // Bounds around the value, and the value itself: that is decided too.
    let tenth = decimal("0.1");
    for bound in [value.clone(), value - &tenth, value + &tenth, Rational::ZERO] {
        if bound < Rational::ZERO || bound > Rational::ONE {
            continue;
        }
        let prob = ProbConfig { bound: Some(bound.clone()), ..config.clone() };
        let found = match ask(&prob) {
            Err(EngineError::Unsupported(_)) => {
                tally.unsupported += 1;
                continue;
            }
            found => found.unwrap_or_else(|error| panic!("{place}, {bound}: {error}")),
        };
        inside(&found, value, place);
        assert_eq!(found.unknown, None, "{place}, {bound}");
        if *value <= bound {
            tally.safe += 1;
            assert!(found.bounds.hi <= bound, "{place}, {bound}: {:?}", found.bounds);
        } else {
            tally.violated += 1;
            assert!(found.bounds.lo > bound, "{place}, {bound}: {:?}", found.bounds);
        }
    }
}

fn inside(report: &ProbReport, value: &Rational, place: &str) {
    let bounds = &report.bounds;
    assert!(bounds.lo <= *value && *value <= bounds.hi, "{place}: {bounds:?}, {value}");
}

fn decimal(text: &str) -> Rational {
    text.parse().expect("a number")
}
