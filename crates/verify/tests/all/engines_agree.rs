//! Engines agree on random tiny models with random tiny policies: explicit search with the
//! brute-force oracle, predicate abstraction with both, with each of its solvers, and transition
//! by transition with the projection of all concrete states.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use policert_certify::replay;
use policert_engine_api::{
    Budget, EngineError, Id, Question, SideTable, Silent, UnknownReason, Verdict,
};
use policert_explore::{BmcConfig, BmcSolver, ExplicitConfig, bmc, explicit, guided};
use policert_policy::{Filter, Policy, Semantics, Ties};
#[cfg(feature = "z3")]
use policert_ppa::RelaxedSolver;
use policert_ppa::{
    AbstractStateId, Abstraction, BrokenRequirements, CegarConfig, Config, Fragment, Origin, Scope,
    SearchOrder, SplitConfig, SplitPoint, SplitUntil, SplitVariable, Splits, StateInfo, Test,
    cegar,
};
use policert_testkit::oracle::{AbstractState, NoAnswer, Oracle, Reachable};
use policert_testkit::{Case, Profile, Random, case_numbers, with_trees};

/// Presets that need no Z3 and decide transitions exactly, beside the default.
const EXACT: [&str; 6] = [
    "bnb-mar",
    "no-sel-no-app",
    "no-sel-rel-app",
    "rel-sel-no-app",
    "rel-sel-rel-app",
    "ex-sel-ex-app",
];

/// What came of a case.
#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    safe: usize,
    bad: usize,
    proved: usize,
    refuted: usize,
    open: usize,
    projected: usize,
    broken: usize,
    unsupported: usize,
    /// Iterations of cegar.
    iterations: u64,
    /// Its refinements.
    refinements: BTreeMap<Origin, u64>,
    /// Answers of bmc, by solver and verdict.
    unrolled: BTreeMap<(&'static str, &'static str), u64>,
    /// Labels that are refuted over the reals.
    refuted_over_reals: u64,
}

impl Tally {
    /// Refinements of this kind.
    fn refined(&self, origin: Origin) -> u64 {
        self.refinements.get(&origin).copied().unwrap_or(0)
    }
}

/// A case with the meaning that its number gives it.
struct Setting {
    case: Case,
    semantics: Semantics,
    with_policy: bool,
    terminal: bool,
    #[cfg(feature = "z3")]
    profile: Profile,
    number: u64,
    place: String,
}

impl Setting {
    fn new(profile: Profile, number: u64) -> Self {
        let mut random = Random::new(number ^ 0x9e37);
        let semantics = Semantics {
            ties: *random.pick(&[Ties::First, Ties::Any, Ties::Strict]),
            filter: *random.pick(&[Filter::None, Filter::Applicable]),
            ..Semantics::default()
        };
        let mut case = Case::numbered(profile, number);
        if number % 5 == 4 {
            case.policy = with_trees(&mut random, &case.model, &case.policy);
        }
        Self {
            case,
            semantics,
            with_policy: random.percent(90),
            terminal: random.percent(30),
            #[cfg(feature = "z3")]
            profile,
            number,
            place: format!("{profile:?} {number}"),
        }
    }

    /// The same with predicates by binary search, some or all of them.
    fn with_splits(mut self, number: u64) -> (Self, Splits) {
        let mut random = Random::new(number ^ 0x5917);
        let mut splits = Splits { percent: *random.pick(&[0, 15, 40, 70, 100]), last: Vec::new() };
        if random.percent(50) {
            splits.last.push(random.pick(&self.case.model.variables).name.clone());
        }
        self.case.property.predicates =
            splits.predicates(&self.case.model).expect("all variables are bounded");
        self.place += &format!(" {splits:?}");
        (self, splits)
    }

    fn question(&self) -> Question<'_> {
        let terminal = self.case.property.goal.clone().filter(|_| self.terminal);
        Question { terminal, ..Question::new(&self.case.model, &self.case.property) }
    }

    fn policy(&self) -> Option<Policy> {
        let policy = self.case.policy.policy(&self.case.model, self.semantics).expect("it fits");
        self.with_policy.then_some(policy)
    }

    fn oracle<'a>(&'a self, question: &Question<'a>) -> Oracle<'a> {
        let policy = self.with_policy.then_some((&self.case.policy, self.semantics));
        Oracle::new(question.clone(), policy)
    }
}

fn tally(profile: Profile) -> Tally {
    let mut tally = Tally::default();
    for number in case_numbers(700) {
        check(&Setting::new(profile, number), &mut tally);
    }
    tell(&format!("{profile:?}: {tally:?}"));
    tally
}

/// Says what came of the cases: shown where a test fails, and by `--no-capture`.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[test]
fn engines_agree_on_unary_models() {
    let tally = tally(Profile::Unary);
    assert!(tally.safe > 150 && tally.bad > 150 && tally.proved > 80, "{tally:?}");
    assert!(tally.refuted > 100 && tally.projected > 1000, "{tally:?}");
    assert!(tally.unsupported * 70 < tally.cases, "{tally:?}");
    assert_unrolled(&tally, "native", 150);
    #[cfg(feature = "z3")]
    assert_unrolled(&tally, "z3", 10);
    assert!(tally.refined(Origin::Guard) > 100 && tally.refined(Origin::Choice) > 15, "{tally:?}");
    assert!(tally.refined(Origin::Target) > 300, "{tally:?}");
}

/// With tanh behind ReLU the search over the reals once cut sides for ever.
#[test]
fn refinement_ends_for_a_network_with_relu_and_tanh() {
    let mut tally = Tally::default();
    check(&Setting::new(Profile::Unary, 2_465_130_697), &mut tally);
    assert!(tally.refinements.values().sum::<u64>() > 0, "{tally:?}");
}

#[test]
fn engines_agree_on_linear_models() {
    let tally = tally(Profile::Linear);
    assert!(tally.safe > 150 && tally.bad > 150 && tally.proved > 50, "{tally:?}");
    assert!(tally.refuted > 100 && tally.open > 5 && tally.projected > 1000, "{tally:?}");
    assert!(tally.refuted_over_reals > 500, "{tally:?}");
    assert_unrolled(&tally, "native", 150);
    #[cfg(feature = "z3")]
    assert_unrolled(&tally, "z3", 10);
    assert!(tally.refined(Origin::Guard) > 80 && tally.refined(Origin::Choice) > 10, "{tally:?}");
    assert!(tally.refined(Origin::Outcome) > 100, "{tally:?}");
}

#[test]
fn engines_agree_on_general_models() {
    let tally = tally(Profile::General);
    assert!(tally.safe > 100 && tally.bad > 100 && tally.proved > 20, "{tally:?}");
    assert!((tally.broken + tally.unsupported) * 7 < tally.cases * 4, "{tally:?}");
    assert_unrolled(&tally, "native", 100);
    #[cfg(feature = "z3")]
    assert_unrolled(&tally, "z3", 1);
    assert!(tally.refined(Origin::Separation) > 15 && tally.iterations > 2500, "{tally:?}");
}

#[test]
fn engines_agree_with_predicates_by_binary_search() {
    let mut all = Tally::default();
    for profile in [Profile::Unary, Profile::Linear] {
        for number in case_numbers(250) {
            let (setting, splits) = Setting::new(profile, number).with_splits(number);
            let open = all.open;
            check(&setting, &mut all);
            // All states are told apart: no path is spurious.
            assert!(splits.percent < 100 || all.open == open, "{}", setting.place);
        }
    }
    assert!(all.proved > 80 && all.refuted > 80 && all.open > 5, "{all:?}");
    assert!(all.projected > 1000, "{all:?}");
}

fn check(setting: &Setting, tally: &mut Tally) {
    tally.cases += 1;
    let place = &setting.place;
    let question = setting.question();
    let policy = setting.policy();
    let truth = setting.oracle(&question).reachable();
    if truth.no_answer.values().any(|&why| why == NoAnswer::Broken) {
        tally.broken += 1;
        return;
    }
    let decided = truth.no_answer.is_empty();
    let budget = &mut Budget::unlimited();

    let config = ExplicitConfig::default();
    let found = explicit(&question, policy.as_ref(), &config, budget, &mut Silent);
    let found = found.unwrap_or_else(|error| panic!("{place}: {error}"));
    match &found.verdict {
        Verdict::Safe { .. } => assert!(truth.is_safe(), "{place}"),
        Verdict::Unsafe(trace) => {
            replay(&question, policy.as_ref(), trace)
                .unwrap_or_else(|error| panic!("{place}: {error}"));
            assert!(
                Some(trace.steps.len()) == truth.shortest || !decided,
                "{place}: {trace:?}, expected {:?}",
                truth.shortest
            );
        }
        Verdict::Unknown(reason) => assert!(!decided, "{place}: {reason}"),
    }
    *(if truth.is_safe() { &mut tally.safe } else { &mut tally.bad }) += 1;
    if let Ok(found) = guided(&question, policy.as_ref(), u32::MAX, budget, &mut Silent) {
        assert!(found.trace.is_some() != truth.is_safe() || !decided, "{place}: guided search");
        if let Some(trace) = &found.trace {
            replay(&question, policy.as_ref(), trace)
                .unwrap_or_else(|error| panic!("{place}: {error}"));
        }
    }

    unroll(setting, &question, policy.as_ref(), &truth, BmcSolver::Native, tally);
    #[cfg(feature = "z3")]
    if setting.number.is_multiple_of(8) {
        unroll(setting, &question, policy.as_ref(), &truth, BmcSolver::Z3, tally);
    }

    let config = Config::default();
    let report = match policert_ppa::run(&question, policy.as_ref(), &config, budget, &mut Silent) {
        Ok(report) => report,
        Err(EngineError::Unsupported(_)) => {
            tally.unsupported += 1;
            return;
        }
        Err(error) => panic!("{place}: {error}"),
    };
    match &report.verdict {
        Verdict::Safe { vacuous } => {
            tally.proved += 1;
            assert!(truth.is_safe() || !decided, "{place}: proved safe");
            assert_eq!(*vacuous, truth.start_states.is_empty(), "{place}");
        }
        Verdict::Unsafe(trace) => {
            tally.refuted += 1;
            assert!(!truth.is_safe() || !decided, "{place}: a run to an unsafe state");
            replay(&question, policy.as_ref(), trace)
                .unwrap_or_else(|error| panic!("{place}: {error}"));
        }
        Verdict::Unknown(UnknownReason::AbstractPath { .. }) => tally.open += 1,
        Verdict::Unknown(reason) => panic!("{place}: {reason}"),
    }
    refine(setting, &question, policy.as_ref(), &truth, tally);
    // Without the atoms of the unsafe condition the abstraction may be too coarse to rule out that
    // an outcome assigns two values at once.
    if let Err(EngineError::Unsupported(_)) = build(&question, policy.as_ref(), &config) {
        tally.unsupported += 1;
        return;
    }
    let graph = fragment(setting, &question, policy.as_ref(), &config);
    compare_with_projection(setting, &question, &graph, tally);
    let relaxed = with_relaxed_tests(&config);
    let (by_relaxed, refuted) = fragment_and_refuted(setting, &question, policy.as_ref(), &relaxed);
    assert_eq!(by_relaxed, graph, "{place}: with relaxed tests");
    tally.refuted_over_reals += refuted;
    if setting.number.is_multiple_of(4) {
        compare_presets(setting, &question, policy.as_ref(), &graph);
    }
    #[cfg(feature = "z3")]
    compare_with_z3(setting, &question, policy.as_ref(), &graph, refuted);
}

/// Unrolling gave each verdict this often at least.
fn assert_unrolled(tally: &Tally, solver: &'static str, least: u64) {
    for verdict in ["safe", "unsafe"] {
        assert!(tally.unrolled.get(&(solver, verdict)) >= Some(&least), "{tally:?}");
    }
}

/// Unrolling finds a shortest path, and ends where there is none; with a limit on the length of
/// paths it says what it knows.
fn unroll(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    truth: &Reachable,
    solver: BmcSolver,
    tally: &mut Tally,
) {
    let place = format!("{}, {solver:?}", setting.place);
    let decided = truth.no_answer.is_empty();
    let name = if solver == BmcSolver::Z3 { "z3" } else { "native" };
    let budget = &mut Budget::unlimited();
    let config = BmcConfig { solver, ..BmcConfig::default() };
    let report = match bmc(question, policy, &config, budget, &mut Silent) {
        Ok(report) => report,
        Err(EngineError::Unsupported(text)) => {
            assert!(solver == BmcSolver::Z3, "{place}: {text}");
            *tally.unrolled.entry((name, "unsupported")).or_default() += 1;
            return;
        }
        Err(error) => panic!("{place}: {error}"),
    };
    let verdict = match &report.verdict {
        Verdict::Safe { vacuous } => {
            assert!(truth.is_safe(), "{place}: proved safe");
            assert_eq!(*vacuous, truth.start_states.is_empty(), "{place}");
            "safe"
        }
        Verdict::Unsafe(trace) => {
            replay(question, policy, trace).unwrap_or_else(|error| panic!("{place}: {error}"));
            let steps = Some(trace.steps.len());
            assert!(steps == truth.shortest || !decided, "{place}: {steps:?}");
            assert_eq!(steps, report.stats.checked.map(|n| n as usize), "{place}");
            "unsafe"
        }
        Verdict::Unknown(reason) => {
            assert!(!decided, "{place}: {reason}");
            "unknown"
        }
    };
    *tally.unrolled.entry((name, verdict)).or_default() += 1;
    if !decided {
        return;
    }
    if solver == BmcSolver::Native && verdict == "safe" {
        assert_eq!(report.counts.reachable_states, truth.distances.len() as u64, "{place}");
    }
    if verdict == "unsafe" {
        unroll_beyond_unsafe(question, policy, truth, &config, &place);
    }
    // One step less is not enough.
    let Some(steps) = report.stats.checked.and_then(|n| n.checked_sub(1)) else { return };
    let config = BmcConfig { steps: Some(steps), loop_free: steps % 2 == 0, ..config };
    let report = bmc(question, policy, &config, budget, &mut Silent);
    let report = report.unwrap_or_else(|error| panic!("{place}: {error}"));
    let expected = Verdict::Unknown(UnknownReason::StepLimit { steps: steps.into() });
    assert_eq!(report.verdict, expected, "{place}");
    assert_eq!(report.stats.checked, Some(steps), "{place}");
}

/// With `keep_going` the first unsafe path is the same, and the search comes to its end.
fn unroll_beyond_unsafe(
    question: &Question<'_>,
    policy: Option<&Policy>,
    truth: &Reachable,
    config: &BmcConfig,
    place: &str,
) {
    let question = Question { keep_going: true, ..question.clone() };
    let report = bmc(&question, policy, config, &mut Budget::unlimited(), &mut Silent);
    // The first unsafe states need no network, those after them do.
    if config.solver != BmcSolver::Native && matches!(report, Err(EngineError::Unsupported(_))) {
        return;
    }
    let report = report.unwrap_or_else(|error| panic!("{place}: {error}"));
    let Verdict::Unsafe(trace) = &report.verdict else { panic!("{place}: {:?}", report.verdict) };
    assert_eq!(Some(trace.steps.len()), truth.shortest, "{place}");
    assert_eq!(report.stopped, None, "{place}");
    if config.solver == BmcSolver::Native {
        let counts = &report.counts;
        assert_eq!(counts.reachable_states, truth.distances.len() as u64, "{place}");
        assert_eq!(counts.unsafe_states, truth.unsafe_states.len() as u64, "{place}");
    }
}

/// Refinement ends with the right verdict, by each way of splitting on the policy's choice.
fn refine(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    truth: &Reachable,
    tally: &mut Tally,
) {
    let mut random = Random::new(setting.number ^ 0xcea6);
    let split = SplitConfig {
        variable: *random.pick(&[
            SplitVariable::Influence,
            SplitVariable::Distance,
            SplitVariable::First,
        ]),
        point: *random.pick(&[
            SplitPoint::Choice,
            SplitPoint::Middle,
            SplitPoint::Concretisation,
            SplitPoint::Witness,
        ]),
        until: *random.pick(&[SplitUntil::Refuted, SplitUntil::Witness]),
    };
    let other = CegarConfig {
        broken: *random.pick(&[BrokenRequirements::First, BrokenRequirements::All]),
        split,
        scope: *random.pick(&[Scope::Local, Scope::Global]),
        order: *random.pick(&[SearchOrder::Guided, SearchOrder::BreadthFirst]),
        box_limit: *random.pick(&[None, Some(1), Some(4)]),
    };
    let mut property = question.property.clone();
    property.predicates.clear();
    let without_predicates = Question { property: &property, ..question.clone() };
    let preset = exact_preset(&mut random, policy, setting.number.is_multiple_of(8));
    for (question, options, config) in [
        (question, CegarConfig::default(), Config::default()),
        (&without_predicates, CegarConfig::default(), Config::default()),
        (&without_predicates, other, preset),
    ] {
        let place = &format!("{}, preset {}", setting.place, config.name);
        let budget = &mut Budget::unlimited();
        let found = cegar(question, policy, &config, options, budget, &mut Silent, None);
        let report = match found {
            Ok(report) => report,
            Err(EngineError::Unsupported(_)) => {
                tally.unsupported += 1;
                return;
            }
            Err(error) => panic!("{place}: {error} ({options:?})"),
        };
        match &report.verdict {
            Verdict::Safe { vacuous } => {
                assert!(truth.is_safe() || !truth.no_answer.is_empty(), "{place}: proved safe");
                assert_eq!(*vacuous, truth.start_states.is_empty(), "{place}");
            }
            Verdict::Unsafe(trace) => {
                assert!(!truth.is_safe() || !truth.no_answer.is_empty(), "{place}");
                replay(question, policy, trace).unwrap_or_else(|error| panic!("{place}: {error}"));
                let shortest = truth.shortest.filter(|_| truth.no_answer.is_empty());
                assert!(shortest.is_none_or(|n| n <= trace.steps.len()), "{place}: too short");
            }
            Verdict::Unknown(reason) => {
                assert!(!truth.no_answer.is_empty(), "{place}: {reason} ({options:?})");
            }
        }
        tally.iterations += report.iterations;
        for (origin, count) in report.refinements {
            *tally.refinements.entry(origin).or_default() += count;
        }
    }
}

/// A preset whose last transition test is exact; with Z3 now and then, where it takes the policy.
fn exact_preset(random: &mut Random, policy: Option<&Policy>, with_z3: bool) -> Config {
    let is_encoded = policy
        .is_none_or(|policy| policy.ranking().is_none_or(|network| network.is_piecewise_linear()));
    let names: &[&str] = if cfg!(feature = "z3") && with_z3 && is_encoded {
        &["base", "mar-z3", "mar-z3-mar"]
    } else {
        &EXACT
    };
    Config::preset(random.pick::<&str>(names)).expect("it is built in")
}

/// The presets that need no Z3 build the same fragment, but `mar`, which may build more of it.
fn compare_presets(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    native: &Graph,
) {
    let place = &setting.place;
    let preset = |name: &str| Config::preset(name).expect("it is built in");
    let name = Random::new(setting.number ^ 0x9e5e).pick(&EXACT).to_owned();
    let graph = fragment(setting, question, policy, &preset(name));
    assert_eq!(graph, *native, "{place}: preset {name}");
    let more = fragment(setting, question, policy, &preset("mar"));
    assert_eq!(more.start_states, native.start_states, "{place}: preset mar");
    assert!(more.unsafe_states.is_superset(&native.unsafe_states), "{place}: preset mar");
    for (state, targets) in &native.expanded {
        let covered = more.expanded.get(state).is_some_and(|all| all.is_superset(targets));
        assert!(covered, "{place}: preset mar, transitions of {state:?}");
    }
}

fn with_relaxed_tests(config: &Config) -> Config {
    Config {
        is_select_pi_relaxed: Test::On,
        is_app_pi_relaxed: Test::On,
        t_sat_pi_relaxed: Test::On,
        ..config.clone()
    }
}

/// The reachable fragment in terms of the oracle's abstract states.
#[derive(PartialEq, Eq, Debug)]
struct Graph {
    start_states: BTreeSet<AbstractState>,
    unsafe_states: BTreeSet<AbstractState>,
    /// Targets by expanded state.
    expanded: BTreeMap<AbstractState, BTreeSet<AbstractState>>,
}

fn fragment(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &Config,
) -> Graph {
    fragment_and_refuted(setting, question, policy, config).0
}

/// Builds the fragment for the predicates of the property alone.
fn build(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &Config,
) -> Result<(), EngineError> {
    let abstraction = Abstraction::new(question, policy)?;
    let mut queries = abstraction.queries(config)?;
    let mut fragment = Fragment::default();
    abstraction.build(&mut queries, &mut fragment, &mut Budget::unlimited(), &mut Silent)
}

/// The fragment, and the number of labels that IsSelect^π_ℝ refuted.
fn fragment_and_refuted(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &Config,
) -> (Graph, u64) {
    let fail = |error: EngineError| -> ! { panic!("{}: {error}", setting.place) };
    let abstraction = Abstraction::new(question, policy).unwrap_or_else(|e| fail(e));
    let mut queries = abstraction.queries(config).unwrap_or_else(|e| fail(e));
    let mut fragment = Fragment::default();
    abstraction
        .build(&mut queries, &mut fragment, &mut Budget::unlimited(), &mut Silent)
        .unwrap_or_else(|e| fail(e));
    let name = |id: AbstractStateId| {
        let state = fragment.states.state(id);
        let layout = abstraction.predicates.layout();
        let mut tracked = layout.locations().iter().enumerate();
        let mut next = tracked.next();
        // Locations that never change are not tracked.
        let locations = setting.case.model.instances.iter().map(|instance| match next {
            Some((k, location)) if *location == instance.location => {
                next = tracked.next();
                layout.location(&state, k)
            }
            _ => setting.case.model.variables[instance.location.index()].domain.lo,
        });
        AbstractState {
            locations: locations.collect(),
            predicates: abstraction.predicates.ids().map(|p| state.get(p)).collect(),
        }
    };
    let info: &SideTable<AbstractStateId, StateInfo> = &fragment.info;
    let is_expanded = |id: AbstractStateId| info[id].is_start || !info[id].is_unsafe;
    let mut graph = Graph {
        start_states: info.iter().filter(|(_, i)| i.is_start).map(|(id, _)| name(id)).collect(),
        unsafe_states: info.iter().filter(|(_, i)| i.is_unsafe).map(|(id, _)| name(id)).collect(),
        expanded: BTreeMap::new(),
    };
    for index in 0..info.len() {
        let id = AbstractStateId::from_index(index);
        if is_expanded(id) {
            graph.expanded.insert(name(id), BTreeSet::new());
        }
    }
    let pairs: BTreeSet<_> = fragment.transitions.iter().collect();
    assert_eq!(pairs.len(), fragment.transitions.len(), "{}: a pair twice", setting.place);
    for &(source, target) in &fragment.transitions {
        graph.expanded.entry(name(source)).or_default().insert(name(target));
    }
    (graph, queries.stats().is_select_pi_relaxed.refuted)
}

/// The transitions of each expanded abstract state are those of its concrete states.
fn compare_with_projection(
    setting: &Setting,
    question: &Question<'_>,
    graph: &Graph,
    tally: &mut Tally,
) {
    let place = &setting.place;
    let oracle = setting.oracle(question);
    let starts: BTreeSet<AbstractState> =
        oracle.start_states().iter().map(|s| oracle.abstraction(s)).collect();
    assert_eq!(graph.start_states, starts, "{place}");
    for (state, targets) in &graph.expanded {
        let mut expected = BTreeSet::new();
        let mut decided = true;
        let mut is_unsafe = false;
        for concrete in oracle.concretizations(state) {
            is_unsafe |= question.is_unsafe(&concrete);
            if question.is_terminal(&concrete) {
                continue;
            }
            match oracle.expand(&concrete) {
                Ok(expansion) => expected.extend(
                    expansion.transitions.iter().map(|t| oracle.abstraction(&t.step.state)),
                ),
                Err(_) => decided = false,
            }
        }
        assert_eq!(graph.unsafe_states.contains(state), is_unsafe, "{place}: {state:?}");
        if decided {
            assert_eq!(*targets, expected, "{place}: transitions of {state:?}");
            tally.projected += 1;
        } else {
            assert!(targets.is_superset(&expected), "{place}: transitions of {state:?}");
        }
    }
}

/// Z3 with the whole network, and Z3 for the environment, build the same fragment.
#[cfg(feature = "z3")]
fn compare_with_z3(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    native: &Graph,
    refuted_over_reals: u64,
) {
    if policy.is_some_and(|policy| {
        policy.ranking().is_some_and(|network| !network.is_piecewise_linear())
    }) {
        return;
    }
    let mut config = Config::preset("base").expect("it is built in");
    // Over the reals every third case, and none with conditions that Z3 may not decide there.
    let has_trees = policy.is_some_and(|policy| policy.trees().is_some());
    let over_reals =
        setting.number.is_multiple_of(3) && setting.profile != Profile::General && !has_trees;
    if over_reals {
        config = Config { relaxed: RelaxedSolver::Z3, ..with_relaxed_tests(&config) };
    } else {
        let name = *Random::new(setting.number).pick(&["base", "mar-z3", "mar-z3-mar"]);
        config = Config::preset(name).expect("it is built in");
    }
    let (by_z3, refuted) = fragment_and_refuted(setting, question, policy, &config);
    assert_eq!(by_z3, *native, "{}: preset {}", setting.place, config.name);
    // Both are complete where conditions are linear. Where an output is not applicable Z3 relaxes
    // what the oracle rounds to integers.
    if over_reals {
        assert!(refuted_over_reals >= refuted, "{}", setting.place);
        if setting.semantics.filter == Filter::None {
            assert_eq!(refuted_over_reals, refuted, "{}: over the reals", setting.place);
        }
    }
}
