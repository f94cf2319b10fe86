//! Safe verdicts of every engine carry an invariant that the independent check accepts; damaged ones
//! are accepted only if they claim what is so.

use std::collections::BTreeMap;
use std::io::Write as _;

use policert_bmc::{BmcConfig, bmc};
use policert_certify::{IntervalChoices, InvariantError, NothingRefuted, check_invariant};
use policert_engine_api::{Budget, Invariant, Question, Silent, StuckRule, Verdict};
use policert_explore::{ExplicitConfig, explicit};
use policert_model::{Condition, DomainRule, Region};
use policert_numeric::{DiagramBuilder, IntBox};
use policert_policy::Policy;
use policert_ppa::{CegarConfig, PpaConfig, cegar};
use policert_testkit::oracle::{NoAnswer, Reachable};
use policert_testkit::{Profile, Random, Setting, case_numbers, semantics};

/// Counts what the cases came to.
#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    /// Invariants that were confirmed, by engine.
    confirmed: BTreeMap<&'static str, usize>,
    /// Confirmed ones with conditions besides boxes.
    with_conditions: usize,
    /// Confirmed ones with a diagram.
    diagrams: usize,
    /// Confirmed ones where a run must not get stuck.
    going_on: usize,
    /// Damaged ones that were rejected, and those that still are invariants.
    rejected: usize,
    still_right: usize,
    /// Claims about unsafe models, all rejected.
    false_claims: usize,
}

fn tally(profile: Profile, cases: u64) -> Tally {
    let mut tally = Tally::default();
    for number in case_numbers(cases) {
        let mut random = Random::new(number ^ 0x5afe);
        let semantics = semantics(&mut random);
        let setting = Setting::new(profile, number, semantics, number % 5 == 2, 90, &mut random);
        check(&setting, &mut random, &mut tally);
    }
    let _ = writeln!(std::io::stderr(), "{profile:?}: {tally:?}");
    tally
}

#[test]
fn invariants_of_unary_models() {
    let tally = tally(Profile::Unary, 500);
    assert!(tally.confirmed.values().all(|&count| count > 60), "{tally:?}");
    assert!(tally.confirmed.len() == 4 && tally.going_on > 10, "{tally:?}");
    assert!(tally.rejected > 200 && tally.still_right > 10 && tally.false_claims > 60, "{tally:?}");
}

#[test]
fn invariants_of_linear_models() {
    let tally = tally(Profile::Linear, 500);
    assert!(tally.confirmed.values().all(|&count| count > 60), "{tally:?}");
    assert!(tally.with_conditions > 20 && tally.diagrams > 60, "{tally:?}");
    assert!(tally.rejected > 200 && tally.false_claims > 60, "{tally:?}");
}

#[test]
fn invariants_of_general_models() {
    let tally = tally(Profile::General, 400);
    assert!(tally.confirmed["explicit"] > 50 && tally.rejected > 60, "{tally:?}");
}

fn check(setting: &Setting, random: &mut Random, tally: &mut Tally) {
    tally.cases += 1;
    let mut question = Question { evidence: true, ..setting.question() };
    if random.percent(20) {
        question.stuck = StuckRule::Unsafe;
    } else if random.percent(15) {
        question.domain_rule = DomainRule::Error;
    }
    let policy = setting.policy();
    let policy = policy.as_ref();
    let truth = setting.oracle(&question).reachable();
    if truth.no_answer.values().any(|&why| why == NoAnswer::Broken) {
        return;
    }
    let budget = &mut Budget::unlimited();
    let config = ExplicitConfig::default();
    let found = explicit(&question, policy, &config, budget, &mut Silent);
    if let Ok(found) = found {
        match found.verdict {
            Verdict::Safe { .. } => {
                let reached = found.reached.expect("evidence is wanted").expect("few states");
                look_at("explicit", setting, &question, &truth, reached, random, tally);
            }
            Verdict::Unsafe(_) => lie(setting, &question, policy, &truth, tally),
            Verdict::Unknown(_) => {}
        }
    }
    if question.stuck == StuckRule::Unsafe || question.domain_rule == DomainRule::Error {
        return;
    }
    let config = BmcConfig::default();
    if let Ok(found) = bmc(&question, policy, &config, budget, &mut Silent)
        && let Verdict::Safe { .. } = found.verdict
    {
        let boxes = found.reached.expect("boxes");
        look_at("bmc", setting, &question, &truth, boxes.into(), random, tally);
    }
    let config = PpaConfig::default();
    if let Ok(found) = policert_ppa::run(&question, policy, &config, budget, &mut Silent)
        && let Verdict::Safe { .. } = found.verdict
    {
        let invariant = found.invariant.expect("abstract states");
        look_at("ppa", setting, &question, &truth, invariant, random, tally);
    }
    let refinement = CegarConfig::default();
    let found = cegar(&question, policy, &config, refinement, budget, &mut Silent, None);
    if let Ok(found) = found
        && let Verdict::Safe { .. } = found.verdict
    {
        let invariant = found.invariant.expect("abstract states");
        look_at("cegar", setting, &question, &truth, invariant, random, tally);
    }
}

/// Checks an invariant, and damaged ones.
fn look_at(
    engine: &'static str,
    setting: &Setting,
    question: &Question<'_>,
    truth: &Reachable,
    invariant: Invariant,
    random: &mut Random,
    tally: &mut Tally,
) {
    let policy = setting.policy();
    let place = format!("{engine}, {}", setting.place);
    let diagram = in_diagram(&invariant, &question.model.domains());
    for invariant in [&invariant, &diagram] {
        confirmed(question, policy.as_ref(), invariant)
            .unwrap_or_else(|error| panic!("{place}: {error} ({invariant:?})"));
    }
    tally.diagrams += usize::from(diagram.diagram().is_some());
    *tally.confirmed.entry(engine).or_default() += 1;
    tally.with_conditions +=
        usize::from(invariant.pieces().iter().any(|piece| !piece.conditions.is_empty()));
    tally.going_on += usize::from(question.stuck == StuckRule::Unsafe);
    for state in truth.distances.keys() {
        assert!(invariant.contains(state), "{place}: {state:?} is reached");
        assert!(diagram.contains(state), "{place}: {state:?} is reached");
    }
    for _ in 0..3 {
        let Some(mut damaged) = damaged(&invariant, random) else { return };
        if random.percent(50) {
            damaged = in_diagram(&damaged, &question.model.domains());
        }
        match confirmed(question, policy.as_ref(), &damaged) {
            Ok(()) => {
                tally.still_right += 1;
                for state in truth.distances.keys() {
                    assert!(damaged.contains(state), "{place}: {state:?} is left out");
                }
            }
            Err(_) => tally.rejected += 1,
        }
    }
}

/// The same states, those of boxes without conditions in a diagram.
fn in_diagram(invariant: &Invariant, space: &IntBox) -> Invariant {
    let pieces = invariant.pieces().iter().cloned();
    let (boxes, others): (Vec<_>, Vec<_>) = pieces.partition(|piece| piece.conditions.is_empty());
    let boxes: Vec<IntBox> = boxes.into_iter().map(|piece| piece.sides).collect();
    let is_bounded = space.is_bounded() && boxes.iter().all(|sides| space.includes(sides));
    let mut no_stop = || Ok::<_, ()>(());
    let order = (0..space.dimensions()).collect();
    let builder = DiagramBuilder::new(space.clone(), order, usize::MAX);
    match builder.of_boxes(&boxes, &mut no_stop).expect("no stop").expect("no limit") {
        Some(diagram) if is_bounded => Invariant::new(others).with_diagram(Some(diagram)),
        _ => invariant.clone(),
    }
}

/// Changes a piece of an invariant, or leaves it out.
fn damaged(invariant: &Invariant, random: &mut Random) -> Option<Invariant> {
    let mut pieces: Vec<Region<Condition>> = invariant.pieces().to_vec();
    if pieces.is_empty() {
        return None;
    }
    let at = random.below(pieces.len());
    let piece = &mut pieces[at];
    let d = random.below(piece.sides.dimensions());
    match random.below(4) {
        0 => drop(pieces.remove(at)),
        1 => piece.sides[d].hi -= 1,
        2 => piece.sides[d].lo += 1,
        _ if piece.conditions.is_empty() => return None,
        _ => {
            let c = random.below(piece.conditions.len());
            piece.conditions[c] = piece.conditions[c].negate();
        }
    }
    pieces.retain(|piece| !piece.sides.is_empty());
    Some(Invariant::new(pieces))
}

/// The states that are reached but for the unsafe ones are no invariant of an unsafe model, and neither
/// is the whole space.
fn lie(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    truth: &Reachable,
    tally: &mut Tally,
) {
    if truth.is_safe() && question.stuck == StuckRule::Allowed {
        return;
    }
    let unsafe_condition = &question.property.unsafe_condition;
    let harmless = truth.distances.keys().filter(|state| unsafe_condition.holds(state) != Ok(true));
    let boxes: Vec<IntBox> = harmless.map(|state| IntBox::point(state)).collect();
    for claim in [boxes, vec![question.model.domains()]] {
        let claim = Invariant::from(claim);
        for claim in [in_diagram(&claim, &question.model.domains()), claim] {
            let checked = confirmed(question, policy, &claim);
            assert!(checked.is_err(), "{}: a false claim is confirmed", setting.place);
        }
        tally.false_claims += 1;
    }
}

fn confirmed(
    question: &Question<'_>,
    policy: Option<&Policy>,
    invariant: &Invariant,
) -> Result<(), InvariantError> {
    let budget = &mut Budget::unlimited();
    match policy {
        Some(policy) => {
            let mut choices = IntervalChoices::new(policy);
            check_invariant(question, Some(policy), invariant, &mut choices, budget)
        }
        None => check_invariant(question, None, invariant, &mut NothingRefuted, budget),
    }
}
