//! The contract of the sub-procedures, Assertions 1 to 5, by brute force: one check for every
//! instance. Each call that the algorithm makes is compared with all states of tiny models.

use std::collections::BTreeSet;

use policert_engine_api::Configuration as _;
use policert_engine_api::{Budget, EngineError, Question, Silent, Verdict};
use policert_ic3::{
    FOREVER, Frames, Generalized, Ic3Config, Ic3Outcome, PolicySystem, SearchSettings,
    SearchStatistics, SubProcedures, Succession, ic3, run,
};
use policert_model::{
    AssignedValue, Assignment, AutomatonInstance, BinaryOp, Condition, Edge, EdgeDestination,
    EdgePlace, Expr, InitialValue, InstanceId, Model, Probability, SafetyProperty, State, Target,
    VarId, Variable, VariableKind,
};
use policert_numeric::{IntBox, IntInterval};
use policert_testkit::oracle::{NoAnswer, Oracle};
use policert_testkit::{Case, Profile, Random, case_numbers, semantics};

/// All states of a system with their successors, by brute force.
struct Explicit {
    states: Vec<(State, BTreeSet<State>)>,
    start: BTreeSet<State>,
    targets: BTreeSet<State>,
}

/// A system whose every answer is checked.
struct Checked<'e, P> {
    inner: P,
    truth: &'e Explicit,
    /// The number of times that each assertion was checked where it says something.
    checked: [u64; 5],
    /// The number of times that several reasons were found together.
    together: u64,
    place: String,
}

/// The number of checks of each assertion, and of times that several reasons were found together.
#[derive(Default, Debug)]
struct Sums {
    checked: [u64; 5],
    together: u64,
}

impl Explicit {
    fn is_in(&self, frames: &Frames, frame: usize, state: &State) -> bool {
        match frame {
            0 => self.targets.contains(state),
            n => frames.blocking(n, state).is_none(),
        }
    }

    fn successors(&self, state: &State) -> &BTreeSet<State> {
        let found = self.states.iter().find(|(known, _)| known == state);
        &found.expect("a state of the model").1
    }

    /// A state of some boxes that is a target, or has a transition into a frame and out of them.
    fn obstacle(&self, boxes: &[IntBox], frames: &Frames, frame: usize) -> Option<&State> {
        let among = |state: &State| boxes.iter().any(|sides| sides.contains(state));
        let mut inside = self.states.iter().filter(|(state, _)| among(state));
        let found = inside.find(|(state, successors)| {
            self.targets.contains(state)
                || successors.iter().any(|next| self.is_in(frames, frame, next) && !among(next))
        });
        found.map(|(state, _)| state)
    }
}

impl<P: SubProcedures> SubProcedures for Checked<'_, P> {
    type Step = P::Step;

    fn domains(&self) -> IntBox {
        self.inner.domains()
    }

    fn is_target(&self, state: &[i64]) -> bool {
        self.inner.is_target(state)
    }

    fn select_start_state(
        &mut self,
        frames: &Frames,
        budget: &mut Budget,
    ) -> Result<Option<State>, EngineError> {
        let found = self.inner.select_start_state(frames, budget)?;
        let mut open = self.truth.start.iter();
        let any = open.any(|state| self.truth.is_in(frames, frames.limit(), state));
        assert_eq!(found.is_some(), any, "{}: Assertion 1", self.place);
        if let Some(state) = &found {
            assert!(self.truth.start.contains(state), "{}: Assertion 1", self.place);
            assert!(self.truth.is_in(frames, frames.limit(), state), "{}: Assertion 1", self.place);
        }
        self.checked[0] += 1;
        Ok(found)
    }

    fn select_successor_state(
        &mut self,
        state: &State,
        frames: &Frames,
        frame: usize,
        budget: &mut Budget,
    ) -> Result<Option<Succession<P::Step>>, EngineError> {
        let found = self.inner.select_successor_state(state, frames, frame, budget)?;
        let successors = self.truth.successors(state);
        let any = successors.iter().any(|next| self.truth.is_in(frames, frame, next));
        assert_eq!(found.is_some(), any, "{}: Assertion 2", self.place);
        if let Some(next) = &found {
            assert!(successors.contains(&next.state), "{}: Assertion 2", self.place);
            assert!(self.truth.is_in(frames, frame, &next.state), "{}: Assertion 2", self.place);
        }
        self.checked[1] += 1;
        Ok(found)
    }

    fn successors(&mut self, state: &State) -> Result<Vec<Succession<P::Step>>, EngineError> {
        let found = self.inner.successors(state)?;
        let states: BTreeSet<State> = found.iter().map(|next| next.state.clone()).collect();
        assert_eq!(states, *self.truth.successors(state), "{}: successors", self.place);
        self.checked[1] += 1;
        Ok(found)
    }

    fn generalize_reason(
        &mut self,
        states: &[State],
        frames: &Frames,
        frame: usize,
        budget: &mut Budget,
    ) -> Result<Generalized, EngineError> {
        let found = self.inner.generalize_reason(states, frames, frame, budget)?;
        let place = format!("{}: {found:?}", self.place);
        assert!(found.frame >= frame, "{place}: Assertion 4");
        for state in states {
            let around = found.reasons.iter().any(|sides| sides.contains(state));
            assert!(around, "{place}: Assertion 4");
            let next = frame.saturating_add(1);
            assert!(frames.blocking(next, state).is_none(), "{place}: Assertion 5");
        }
        let domains = self.domains();
        let inside = found.reasons.iter().all(|sides| domains.includes(sides));
        assert!(inside, "{place}: beyond the domains");
        let obstacle = self.truth.obstacle(&found.reasons, frames, found.frame);
        assert_eq!(obstacle, None, "{place}: Assertion 4");
        self.checked[3] += 1;
        self.checked[4] += 1;
        self.together += u64::from(found.reasons.len() > 1);
        Ok(found)
    }

    fn propagate_clauses(
        &mut self,
        frames: &mut Frames,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        let before = frames.clone();
        self.inner.propagate_clauses(frames, budget)?;
        for reason in frames.reasons() {
            let frame = if reason.last == FOREVER { FOREVER } else { reason.last - 1 };
            let sides = std::slice::from_ref(&reason.sides);
            let obstacle = self.truth.obstacle(sides, frames, frame);
            assert_eq!(obstacle, None, "{}: Assertion 3", self.place);
            let of_old = before.of_frame(1).any(|sides| *sides == reason.sides);
            assert!(of_old, "{}: a clause from nowhere", self.place);
            self.checked[2] += 1;
        }
        Ok(())
    }
}

fn states(domains: &IntBox) -> Vec<State> {
    let mut all = vec![State::new()];
    for side in domains.sides() {
        let longer =
            |state: State| (side.lo..=side.hi).map(move |v| [state.clone(), vec![v]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// Runs the algorithm over a system whose answers are checked.
fn check<P: SubProcedures>(
    inner: P,
    truth: &Explicit,
    settings: SearchSettings,
    place: String,
    sums: &mut Sums,
) {
    let mut system = Checked { inner, truth, checked: [0; 5], together: 0, place };
    let mut statistics = SearchStatistics::default();
    let budget = &mut Budget::unlimited();
    let outcome = ic3(&mut system, settings, &mut statistics, budget, &mut Silent);
    let place = &system.place;
    match outcome.unwrap_or_else(|error| panic!("{place}: {error}")) {
        Ic3Outcome::Path(start, steps) => {
            assert!(truth.start.contains(&start), "{place}");
            let mut at = &start;
            for (_, next) in &steps {
                assert!(truth.successors(at).contains(next), "{place}");
                at = next;
            }
            assert!(truth.targets.contains(at), "{place}");
        }
        Ic3Outcome::Invariant(boxes) => {
            let holds = |state: &State| boxes.iter().any(|b| b.contains(state));
            assert!(truth.start.iter().all(holds), "{place}: start states");
            assert!(!truth.targets.iter().any(holds), "{place}: unsafe states");
            let inside = truth.states.iter().filter(|(state, _)| holds(state));
            for (state, successors) in inside {
                assert!(successors.iter().all(holds), "{place}: {state:?} leaves the invariant");
            }
        }
    }
    for (sum, count) in sums.checked.iter_mut().zip(system.checked) {
        *sum += count;
    }
    sums.together += system.together;
}

#[test]
fn every_instance_keeps_the_contract() {
    let mut sums = Sums::default();
    for (profile, cases) in [(Profile::Unary, 120), (Profile::Linear, 120)] {
        for number in case_numbers(cases) {
            random_case(profile, number, &mut sums);
        }
    }
    assert!(sums.checked.iter().all(|&count| count > 200), "{sums:?}");
    assert!(sums.together > 20, "{sums:?}");
}

fn random_case(profile: Profile, number: u64, sums: &mut Sums) {
    let mut random = Random::new(number ^ 0xc0);
    let case = Case::numbered(profile, number);
    let semantics = semantics(&mut random);
    let terminal = case.property.goal.clone().filter(|_| random.percent(30));
    let question = Question { terminal, ..Question::new(&case.model, &case.property) };
    let policy = case.policy.policy(&case.model, semantics).expect("it fits");
    // Without policy it is the instance for the environment.
    let with_policy = random.percent(80);
    let oracle = Oracle::new(question.clone(), with_policy.then_some((&case.policy, semantics)));
    let mut truth =
        Explicit { states: Vec::new(), start: oracle.start_states(), targets: BTreeSet::new() };
    for state in states(&case.model.domains()) {
        if question.is_unsafe(&state) {
            truth.targets.insert(state.clone());
        }
        let successors = if question.is_terminal(&state) {
            BTreeSet::new()
        } else {
            match oracle.expand(&state) {
                Ok(all) => all.transitions.into_iter().map(|t| t.step.state).collect(),
                Err(NoAnswer::Broken) => return,
                Err(_) => return,
            }
        };
        truth.states.push((state, successors));
    }
    if truth.start.iter().any(|state| truth.targets.contains(state)) {
        return;
    }
    let z3 = if cfg!(feature = "z3") && number.is_multiple_of(10) { "polic3-z3" } else { "polic3" };
    for name in ["native", "assignments", "polic3-nog", z3] {
        let config = Ic3Config::preset(name).expect("it is built in");
        let place = format!("{profile:?} {number}, {name}");
        let policy = with_policy.then_some(&policy);
        // Depth-first search to the end, not at all, or so far that it gives up on the way.
        for open_states in [0, 3, config.depth_first] {
            if open_states > config.depth_first {
                continue;
            }
            let system = PolicySystem::new(&question, policy, &config, 1)
                .unwrap_or_else(|error| panic!("{place}: {error}"));
            let settings = SearchSettings { rescheduling: config.rescheduling, open_states };
            check(system, &truth, settings, format!("{place}, {open_states}"), sums);
        }
    }
}

#[test]
fn states_beyond_the_domains_are_in_no_reason() {
    // x in 0..3: x < 3 → x + 1, x ≥ 4 → bad; start 0. Safe, as x is never 4.
    let model = domain_example();
    let property = SafetyProperty {
        name: "bad".to_owned(),
        start: None,
        unsafe_condition: Condition::var_equals(BAD, 1),
        goal: None,
        predicates: Vec::new(),
        interface: None,
    };
    let question = Question::new(&model, &property);
    for name in ["native", "assignments", "polic3", "polic3-nog"] {
        let config = Ic3Config::preset(name).expect("it is built in");
        let budget = &mut Budget::unlimited();
        let report = run(&question, None, &config, 1, budget, &mut Silent).expect("an answer");
        assert_eq!(report.verdict, Verdict::Safe { vacuous: false }, "{name}");
        let boxes = report.invariant.expect("an invariant");
        assert!(boxes.iter().all(|sides| model.domains().includes(sides)), "{name}: {boxes:?}");
    }
}

const LOCATION: VarId = VarId(0);
const X: VarId = VarId(1);
const BAD: VarId = VarId(2);

/// A counter that goes up to 3, and is bad beyond.
fn domain_example() -> Model {
    let variable = |name: &str, kind, domain| Variable { name: name.to_owned(), kind, domain };
    let one_place = VariableKind::Location { instance: InstanceId(0), names: vec!["l".to_owned()] };
    let edge = |guard: Expr, target, value| Edge {
        source: 0,
        action: None,
        guard: Condition::from_expr(&guard),
        destinations: vec![EdgeDestination {
            location: 0,
            probability: Probability::one(),
            assignments: vec![Assignment {
                target: Target::Var(target),
                value: AssignedValue::Expr(value),
                index: 0,
            }],
        }],
        place: EdgePlace::default(),
    };
    let x = || Expr::Var(X);
    let below = Expr::binary(BinaryOp::Lt, x(), Expr::int(3));
    let beyond = Expr::binary(BinaryOp::Le, Expr::int(4), x());
    Model {
        name: "counter".to_owned(),
        variables: vec![
            variable("l", one_place, IntInterval::point(0)),
            variable("x", VariableKind::Integer, IntInterval::new(0, 3)),
            variable("bad", VariableKind::Boolean, IntInterval::new(0, 1)),
        ],
        transients: Vec::new(),
        labels: Vec::new(),
        instances: vec![AutomatonInstance {
            automaton: "counter".to_owned(),
            location: LOCATION,
            edges: vec![
                edge(below, X, Expr::binary(BinaryOp::Add, x(), Expr::int(1))),
                edge(beyond, BAD, Expr::int(1)),
            ],
        }],
        vectors: Vec::new(),
        initial_values: vec![InitialValue::Fixed(0); 3],
        initial_condition: Condition::True,
    }
}
