//! IC3 agrees with the brute-force oracle on random tiny models with random tiny policies, with
//! every preset, and its invariants are accepted by the independent check.

use std::io::Write as _;

use policert_certify::{IntervalChoices, InvariantError, NothingRefuted, check_invariant, replay};
use policert_engine_api::{Budget, Configuration as _, EngineError, Question, Silent, Verdict};
use policert_ic3::{EnvironmentSolver, Ic3Config, Ic3Report, VariableOrder, run};
use policert_numeric::IntBox;
use policert_policy::Policy;
use policert_testkit::oracle::{NoAnswer, Reachable};
use policert_testkit::{Profile, Random, Setting, case_numbers, semantics};

/// The results of the cases.
#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    safe: usize,
    bad: usize,
    unsupported: usize,
    broken: usize,
    /// Boxes of invariants.
    boxes: usize,
    /// Invariants that were damaged and rejected.
    rejected: usize,
}

/// The case of a number with the meaning that the number gives it.
fn setting(profile: Profile, number: u64) -> Setting {
    let mut random = Random::new(number ^ 0x1c3);
    let semantics = semantics(&mut random);
    Setting::new(profile, number, semantics, number % 5 == 2, 90, &mut random)
}

fn tally(profile: Profile, cases: u64) -> Tally {
    let mut tally = Tally::default();
    for number in case_numbers(cases) {
        check(&setting(profile, number), number, &mut tally);
    }
    let _ = writeln!(std::io::stderr(), "{profile:?}: {tally:?}");
    tally
}

#[test]
fn ic3_agrees_on_unary_models() {
    let tally = tally(Profile::Unary, 900);
    assert!(tally.safe > 300 && tally.bad > 300 && tally.boxes > 300, "{tally:?}");
    assert!(tally.unsupported * 180 < tally.cases && tally.rejected > 100, "{tally:?}");
}

#[test]
fn ic3_agrees_on_linear_models() {
    let tally = tally(Profile::Linear, 900);
    assert!(tally.safe > 300 && tally.bad > 300 && tally.boxes > 300, "{tally:?}");
    assert!(tally.unsupported * 180 < tally.cases && tally.rejected > 100, "{tally:?}");
}

#[test]
fn ic3_agrees_on_general_models() {
    let tally = tally(Profile::General, 600);
    assert!(tally.safe > 100 && tally.bad > 100 && tally.rejected > 30, "{tally:?}");
    assert!((tally.broken + tally.unsupported) * 3 < tally.cases * 2, "{tally:?}");
}

/// The preset of a name, and further settings by the number.
fn configs(number: u64) -> Vec<Ic3Config> {
    let mut configs: Vec<Ic3Config> = ["native", "polic3", "assignments"]
        .iter()
        .map(|name| Ic3Config::preset(name).expect("it is built in"))
        .collect();
    if number.is_multiple_of(3) {
        configs.push(Ic3Config::preset("polic3-nog").expect("it is built in"));
    }
    let orders = [VariableOrder::Influence, VariableOrder::Dependency, VariableOrder::Model];
    let mut random = Random::new(number);
    let mut other = configs[0].clone();
    other.order = *random.pick(&orders);
    let polic3 = configs[1].clone();
    if random.percent(50) {
        other.frame_transition = polic3.frame_transition;
    }
    if random.percent(50) {
        other.box_limit = *random.pick(&[0, 1, 3]);
    }
    if random.percent(50) {
        (other.rescheduling, other.pushing) = (polic3.rescheduling, polic3.pushing);
        other.induction = polic3.induction;
    }
    configs.push(other);
    if cfg!(feature = "z3") && number.is_multiple_of(10) {
        configs.push(Ic3Config::preset("polic3-z3").expect("it is built in"));
    }
    configs
}

fn check(setting: &Setting, number: u64, tally: &mut Tally) {
    tally.cases += 1;
    let question = setting.question();
    let policy = setting.policy();
    let truth = setting.oracle(&question).reachable();
    if truth.no_answer.values().any(|&why| why == NoAnswer::Broken) {
        tally.broken += 1;
        return;
    }
    *(if truth.is_safe() { &mut tally.safe } else { &mut tally.bad }) += 1;
    for config in configs(number) {
        let place = format!("{}, {config:?}", setting.place);
        let budget = &mut Budget::unlimited();
        let threads =
            if number % 4 == 3 && config.environment == EnvironmentSolver::Native { 3 } else { 1 };
        let report = match run(&question, policy.as_ref(), &config, threads, budget, &mut Silent) {
            Ok(report) => report,
            Err(EngineError::Unsupported(text)) => {
                let z3 = config.environment == EnvironmentSolver::Z3;
                assert!(setting.case.profile == Profile::General || z3, "{place}: {text}");
                tally.unsupported += 1;
                continue;
            }
            Err(error) => panic!("{place}: {error}"),
        };
        compare(setting, &question, policy.as_ref(), &truth, &report, &place, tally);
    }
}

fn compare(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    truth: &Reachable,
    report: &Ic3Report,
    place: &str,
    tally: &mut Tally,
) {
    let decided = truth.no_answer.is_empty();
    match &report.verdict {
        Verdict::Safe { vacuous } => {
            assert!(truth.is_safe(), "{place}: proved safe");
            assert_eq!(*vacuous, truth.start_states.is_empty(), "{place}");
            let boxes = report.invariant.as_ref().expect("an invariant");
            tally.boxes += boxes.len();
            for state in truth.distances.keys() {
                assert!(boxes.iter().any(|b| b.contains(state)), "{place}: {state:?} is reached");
            }
            certified(question, policy, boxes)
                .unwrap_or_else(|error| panic!("{place}: {error} ({boxes:?})"));
            tally.rejected +=
                usize::from(damaged_is_rejected(setting, question, policy, truth, boxes));
        }
        Verdict::Unsafe(trace) => {
            replay(question, policy, trace).unwrap_or_else(|error| panic!("{place}: {error}"));
            // Beyond a state whose choice the oracle cannot tell there may be more.
            let missing = &truth.no_answer;
            assert!(!truth.is_safe() || !decided, "{place}: {trace:?}, no answer: {missing:?}");
        }
        Verdict::Unknown(reason) => assert!(!decided, "{place}: {reason}"),
    }
}

fn certified(
    question: &Question<'_>,
    policy: Option<&Policy>,
    boxes: &[IntBox],
) -> Result<(), InvariantError> {
    let (invariant, budget) = (boxes.to_vec().into(), &mut Budget::unlimited());
    match policy {
        Some(policy) => {
            let mut choices = IntervalChoices::new(policy);
            check_invariant(question, Some(policy), &invariant, &mut choices, budget)
        }
        None => check_invariant(question, None, &invariant, &mut NothingRefuted, budget),
    }
}

/// Without a box that holds a reachable state that no other box holds, there is no invariant.
fn damaged_is_rejected(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    truth: &Reachable,
    boxes: &[IntBox],
) -> bool {
    let alone = boxes.iter().position(|own| {
        truth.distances.keys().any(|state| {
            own.contains(state) && boxes.iter().filter(|b| b.contains(state)).count() == 1
        })
    });
    let Some(alone) = alone else { return false };
    let mut fewer = boxes.to_vec();
    fewer.remove(alone);
    let wrong = certified(question, policy, &fewer);
    assert!(
        matches!(wrong, Err(InvariantError::Start(_) | InvariantError::Leaves { .. })),
        "{}: {wrong:?}",
        setting.place
    );
    true
}
