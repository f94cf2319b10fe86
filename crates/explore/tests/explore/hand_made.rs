//! Models made by hand, with known answers.

use std::num::NonZeroUsize;
use std::time::Duration;

use policert_engine_api::{
    Budget, CancelFlag, EngineError, Event, Limits, Observer, Question, Silent, StopReason,
    UnknownReason, Verdict,
};
use policert_explore::{ExplicitConfig, Explored, explicit, guided};
use policert_model::{
    AssignedValue, Assignment, AutomatonInstance, BinaryOp, Condition, DomainRule, Edge,
    EdgeDestination, Expr, InitialValue, InstanceId, LabelId, Model, Probability, Start,
    SyncVector, Target, VarId, Variable, VariableKind,
};
use policert_numeric::IntInterval;
use policert_policy::{
    Activation, ElementType, Filter, Matrix, NetworkBuilder, Policy, PolicySemantics, Smooth,
};

use crate::automaton::{edge, equals, model, property, set, var};

fn run(question: &Question<'_>, policy: Option<&Policy>) -> Explored {
    let config = ExplicitConfig::default();
    explicit(question, policy, &config, &mut Budget::unlimited(), &mut Silent).expect("no error")
}

fn run_within(question: &Question<'_>, limits: Limits) -> Explored {
    let mut budget = Budget::new(limits, CancelFlag::default());
    explicit(question, None, &ExplicitConfig::default(), &mut budget, &mut Silent)
        .expect("no error")
}

fn plus(variable: VarId, add: i64) -> Expr {
    Expr::binary(BinaryOp::Add, Expr::Var(variable), Expr::int(add))
}

/// `x0` counts from 0 to `last`, by the label a0.
fn counter(last: i64) -> Model {
    let step = edge(Some(0), Condition::True, vec![set(var(0), plus(var(0), 1))]);
    model(&[(0, last)], 1, vec![step])
}

fn length(verdict: &Verdict) -> Option<usize> {
    match verdict {
        Verdict::Unsafe(trace) => Some(trace.steps.len()),
        _ => None,
    }
}

#[test]
fn the_counterexample_is_as_long_as_the_distance() {
    let model = counter(10);
    for distance in 0..=10 {
        let property = property(equals(var(0), distance));
        let found = run(&Question::new(&model, &property), None);
        let steps = usize::try_from(distance).expect("positive");
        assert_eq!(length(&found.verdict), Some(steps));
        assert_eq!(found.counts.reachable_states, steps as u64 + 1);
        assert_eq!(found.counts.expanded_states, steps as u64);
    }
}

#[test]
fn outcomes_outside_a_domain_are_dropped_and_named_or_errors() {
    let model = counter(3);
    let property = property(Condition::False);
    let mut question = Question::new(&model, &property);
    let found = run(&question, None);
    assert_eq!(found.verdict, Verdict::Safe { vacuous: false });
    assert_eq!((found.counts.reachable_states, found.counts.transitions), (4, 3));
    assert_eq!(found.counts.dropped_outcomes, 1);
    assert_eq!(found.dropped.len(), 1);
    assert_eq!(found.dropped[0].state, [0, 3]);
    let text = found.dropped[0].problem.to_string();
    assert!(text.contains("x0 would become 4"), "{text}");
    question.domain_rule = DomainRule::Error;
    let config = ExplicitConfig::default();
    let error = explicit(&question, None, &config, &mut Budget::unlimited(), &mut Silent);
    assert!(matches!(error, Err(EngineError::Modelling(e)) if e.to_string().contains("x0=3")));
}

#[test]
fn searches_one_after_the_other_find_the_same_states() {
    let model = counter(5);
    for bad in [Condition::False, Condition::var_equals(VarId(1), 4)] {
        let mut property = property(bad);
        property.start = Some(Start::States(vec![vec![0, 2], vec![0, 0], vec![0, 1]]));
        let question = Question { initial_states: false, ..Question::new(&model, &property) };
        let all_first = run(&question, None);
        for batch in 1..5 {
            let config =
                ExplicitConfig { start_batch: NonZeroUsize::new(batch), ..Default::default() };
            let found = explicit(&question, None, &config, &mut Budget::unlimited(), &mut Silent);
            let found = found.expect("an answer");
            match (&all_first.verdict, &found.verdict) {
                (Verdict::Unsafe(_), Verdict::Unsafe(trace)) => {
                    assert_eq!(trace.steps.last().map(|step| step.state[1]), Some(4));
                }
                (expected, verdict) => assert_eq!(expected, verdict),
            }
            let (expected, counts) = (all_first.counts, found.counts);
            if found.verdict == (Verdict::Safe { vacuous: false }) {
                // Also a start state that was reached before it was seen to be one.
                assert_eq!(counts.start_states, expected.start_states);
                assert_eq!(counts.reachable_states, expected.reachable_states);
                assert_eq!(counts.transitions, expected.transitions);
            }
        }
    }
}

#[test]
fn no_start_state_is_safe_but_vacuous() {
    let model = counter(3);
    let mut property = property(Condition::True);
    property.start = Some(Start::Condition(Condition::False));
    let question = Question { initial_states: false, ..Question::new(&model, &property) };
    assert_eq!(run(&question, None).verdict, Verdict::Safe { vacuous: true });
}

#[test]
fn start_states_outside_the_domains_are_refused() {
    let model = counter(3);
    let mut property = property(Condition::False);
    for state in [vec![0, 4], vec![0], vec![0, 1, 1]] {
        property.start = Some(Start::States(vec![state]));
        let question = Question::new(&model, &property);
        let config = ExplicitConfig::default();
        let result = explicit(&question, None, &config, &mut Budget::unlimited(), &mut Silent);
        assert!(matches!(result, Err(EngineError::Unsupported(_))), "{result:?}");
    }
}

#[test]
fn guided_search_begins_at_the_nearest_start_states() {
    let model = counter(1000);
    let mut property = property(equals(var(0), 302));
    property.start = Some(Start::States((0..=300).map(|x| vec![0, x]).collect()));
    let question = Question::new(&model, &property);
    let search = |states| {
        let budget = &mut Budget::unlimited();
        guided(&question, None, states, budget, &mut Silent).expect("no error")
    };
    let found = search(8);
    let trace = found.trace.expect("a run");
    assert_eq!((trace.start[1], trace.steps.len()), (300, 2));
    assert_eq!(found.counts.start_states, 4);
    // Where nothing is found the others are not forgotten.
    let found = search(2);
    assert_eq!((found.trace, found.limit_reached), (None, true));
}

#[test]
fn no_transition_leaves_a_terminal_state() {
    let model = counter(9);
    let property = property(equals(var(0), 7));
    let mut question = Question::new(&model, &property);
    question.terminal = Some(equals(var(0), 5));
    let found = run(&question, None);
    assert_eq!(found.verdict, Verdict::Safe { vacuous: false });
    assert_eq!((found.counts.reachable_states, found.counts.expanded_states), (6, 5));
    // Everything is built, yet the verdict stands.
    question.build_all = true;
    let found = run(&question, None);
    assert_eq!(found.verdict, Verdict::Safe { vacuous: false });
    assert_eq!((found.counts.reachable_states, found.counts.unsafe_states), (10, 1));
    assert_eq!(found.counts.expanded_states, 10);
}

#[test]
fn building_everything_goes_on_after_the_counterexample() {
    let model = counter(9);
    let property = property(equals(var(0), 2));
    let question = Question { build_all: true, ..Question::new(&model, &property) };
    let found = run(&question, None);
    assert_eq!(length(&found.verdict), Some(2));
    assert_eq!((found.counts.reachable_states, found.counts.expanded_states), (10, 10));
    assert_eq!((found.counts.transitions, found.stats.depth), (9, 9));
}

#[test]
fn going_on_leaves_unsafe_states_alone() {
    let model = counter(9);
    let property = property(Condition::from_expr(&Expr::binary(
        BinaryOp::Le,
        Expr::int(4),
        Expr::Var(var(0)),
    )));
    let mut question = Question { keep_going: true, ..Question::new(&model, &property) };
    let found = run(&question, None);
    assert_eq!(length(&found.verdict), Some(4));
    assert_eq!((found.counts.reachable_states, found.counts.unsafe_states), (5, 1));
    question.build_all = true;
    let found = run(&question, None);
    assert_eq!(length(&found.verdict), Some(4));
    assert_eq!((found.counts.reachable_states, found.counts.unsafe_states), (10, 6));
}

#[test]
fn limits_end_the_search_with_partial_counts() {
    let model = counter(1_000_000);
    let property = property(equals(var(0), 900_000));
    let question = Question::new(&model, &property);
    let found = run_within(&question, Limits { states: Some(1000), ..Limits::default() });
    let stopped = |reason| Verdict::Unknown(UnknownReason::Stopped(reason));
    assert_eq!(found.verdict, stopped(StopReason::States(1000)));
    assert_eq!(found.stopped, Some(StopReason::States(1000)));
    assert_eq!(found.counts.reachable_states, 1001);
    let found = run_within(&question, Limits { time: Some(Duration::ZERO), ..Limits::default() });
    assert_eq!(found.verdict, stopped(StopReason::Time));
    assert!(found.counts.reachable_states < 1000);
}

#[test]
fn a_counterexample_survives_a_stop() {
    let model = counter(1_000_000);
    let property = property(equals(var(0), 10));
    let question = Question { build_all: true, ..Question::new(&model, &property) };
    let found = run_within(&question, Limits { states: Some(1000), ..Limits::default() });
    assert_eq!(length(&found.verdict), Some(10));
    assert_eq!(found.stopped, Some(StopReason::States(1000)));
}

/// Raises a flag at the first progress.
struct Impatient(CancelFlag);

impl Observer for Impatient {
    fn event(&mut self, event: Event) {
        if matches!(event, Event::Progress { .. }) {
            self.0.raise();
        }
    }
}

#[test]
fn interruption_ends_the_search() {
    let model = counter(1_000_000);
    let property = property(Condition::False);
    let question = Question::new(&model, &property);
    let flag = CancelFlag::default();
    let mut budget = Budget::new(Limits::default(), flag.clone());
    let config = ExplicitConfig::default();
    let found = explicit(&question, None, &config, &mut budget, &mut Impatient(flag));
    let found = found.expect("no error");
    assert_eq!(found.stopped, Some(StopReason::Interrupted));
    assert_eq!(found.counts.expanded_states, 1);
}

/// `instances` automata that walk round `places` locations together: places^instances operators.
fn round_walk(instances: usize, places: i64) -> Model {
    let variable = |i| Variable {
        name: format!("A{i}"),
        kind: VariableKind::Location {
            instance: InstanceId::new(i),
            names: (0..places).map(|p| p.to_string()).collect(),
        },
        domain: IntInterval::new(0, places - 1),
    };
    let step = |place: i64| Edge {
        source: place,
        destinations: vec![EdgeDestination {
            location: (place + 1) % places,
            probability: Probability::one(),
            assignments: Vec::new(),
        }],
        ..edge(Some(0), Condition::True, Vec::new())
    };
    let instance = |i| AutomatonInstance {
        automaton: "A".to_owned(),
        location: VarId::new(i),
        edges: (0..places).map(step).collect(),
    };
    Model {
        name: "round walk".to_owned(),
        variables: (0..instances).map(variable).collect(),
        transients: Vec::new(),
        labels: vec!["go".to_owned()],
        instances: (0..instances).map(instance).collect(),
        vectors: vec![SyncVector {
            participants: (0..instances).map(|i| (InstanceId::new(i), LabelId(0))).collect(),
            result: Some(LabelId(0)),
        }],
        initial_values: vec![InitialValue::Fixed(0); instances],
        initial_condition: Condition::True,
    }
}

#[test]
fn operators_are_composed_only_where_they_are_enabled() {
    for instances in [1u8, 2, 3, 12, 45] {
        let model = round_walk(instances.into(), 12);
        assert_eq!(model.operator_count(), 12u128.saturating_pow(instances.into()));
        let property = property(Condition::False);
        let found = run(&Question::new(&model, &property), None);
        assert_eq!((found.counts.reachable_states, found.counts.transitions), (12, 12));
        assert_eq!(found.stats.operators, 12);
    }
}

#[test]
fn free_choices_are_tried_inside_the_domain_only() {
    let wide = i64::MAX / 2;
    let choice = Assignment {
        target: Target::Var(var(0)),
        value: AssignedValue::between(Expr::int(-wide), Expr::int(wide)),
        index: 0,
    };
    let model = model(&[(0, 4)], 1, vec![edge(Some(0), Condition::True, vec![choice])]);
    let property = property(equals(var(0), 4));
    let found = run(&Question::new(&model, &property), None);
    let Verdict::Unsafe(trace) = &found.verdict else { panic!("{:?}", found.verdict) };
    assert_eq!((trace.steps.len(), &trace.steps[0].choices), (1, &vec![4]));
}

#[test]
fn unbounded_variables_do_not_wrap() {
    let up = edge(Some(0), Condition::True, vec![set(var(0), plus(var(0), i64::MAX / 2))]);
    let model = model(&[(i64::MIN, i64::MAX)], 1, vec![up]);
    let property = property(Condition::from_expr(&Expr::binary(
        BinaryOp::Lt,
        Expr::Var(var(0)),
        Expr::int(0),
    )));
    let question = Question::new(&model, &property);
    let config = ExplicitConfig::default();
    let result = explicit(&question, None, &config, &mut Budget::unlimited(), &mut Silent);
    assert!(matches!(&result, Err(EngineError::Modelling(e)) if e.to_string().contains("64-bit")));
}

#[test]
fn two_different_writes_are_an_error() {
    let twice = vec![set(var(0), Expr::int(1)), set(var(0), Expr::Var(var(1)))];
    let grow = vec![set(var(1), plus(var(1), 1))];
    let edges = vec![
        edge(Some(0), Condition::True, grow),
        edge(Some(1), Condition::negate(&equals(var(1), 0)), twice),
    ];
    let model = model(&[(0, 3), (0, 3)], 2, edges);
    let property = property(Condition::False);
    let question = Question::new(&model, &property);
    let config = ExplicitConfig::default();
    let result = explicit(&question, None, &config, &mut Budget::unlimited(), &mut Silent);
    // x1 = 1 agrees with the other write; x1 = 2 does not.
    assert!(matches!(&result, Err(EngineError::Modelling(e)) if e.to_string().contains("x1=2")));
}

/// A policy with one score a row of weights over the variables, then a bias.
fn linear_policy(model: &Model, rows: &[&[f64]], filter: Filter) -> Policy {
    let inputs: Vec<VarId> = (0..rows[0].len() - 1).map(var).collect();
    let mut builder = NetworkBuilder::new(inputs.len()).expect("inputs");
    let input = builder.input();
    let weights: Vec<f64> = rows.iter().flat_map(|r| r[..r.len() - 1].to_vec()).collect();
    let weights = Matrix::new(rows.len(), inputs.len(), weights).expect("it fits");
    let bias = rows.iter().map(|r| r[r.len() - 1]).collect();
    let output = builder.affine(input, weights, bias).expect("it fits");
    let network = builder.finish(output, ElementType::F64);
    let outputs = (0..rows.len()).map(LabelId::new).collect();
    let semantics = PolicySemantics { filter, ..PolicySemantics::default() };
    Policy::new(network, inputs, outputs, semantics, &model.domains()).expect("it fits")
}

/// a0 counts x0 up to 5, a1 (from 3 on) marks x1, a2 is the environment's.
fn three_labels() -> Model {
    let up = edge(Some(0), Condition::True, vec![set(var(0), plus(var(0), 1))]);
    let at_least_3 = Expr::binary(BinaryOp::Le, Expr::int(3), Expr::Var(var(0)));
    let at_least_3 = Condition::from_expr(&at_least_3);
    let mark = edge(Some(1), at_least_3, vec![set(var(1), Expr::int(1))]);
    let free = edge(Some(2), equals(var(0), 0), vec![set(var(2), Expr::int(1))]);
    model(&[(0, 5), (0, 1), (0, 1)], 3, vec![up, mark, free])
}

#[test]
fn the_filter_decides_whether_the_policy_may_get_stuck() {
    let model = three_labels();
    let property = property(equals(var(1), 1));
    let question = Question::new(&model, &property);
    // a1 is always best; it becomes applicable at x0 = 3.
    let rows: [&[f64]; 2] = [&[0.0, 0.0], &[0.0, 1.0]];
    let stuck = run(&question, Some(&linear_policy(&model, &rows, Filter::None)));
    assert_eq!(stuck.verdict, Verdict::Safe { vacuous: false });
    // The start state and what the environment makes of it.
    assert_eq!((stuck.counts.reachable_states, stuck.counts.transitions), (2, 2));
    assert_eq!(stuck.stats.policy_evaluations, 2);
    let masked = run(&question, Some(&linear_policy(&model, &rows, Filter::Applicable)));
    assert_eq!(length(&masked.verdict), Some(4));
    let free = run(&question, None);
    assert_eq!(length(&free.verdict), Some(4));
}

/// A policy whose two scores are tanh(x0) and tanh(x1): where these are equal, no precision
/// tells the scores apart.
fn undecidable_policy(model: &Model) -> Policy {
    let mut builder = NetworkBuilder::new(2).expect("inputs");
    let input = builder.input();
    let hidden = builder.tanh(input);
    let weights = Matrix::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).expect("it fits");
    let output = builder.affine(hidden, weights, vec![0.0, 0.0]).expect("it fits");
    let network = builder.finish(output, ElementType::F64);
    let outputs = vec![LabelId(0), LabelId(1)];
    let semantics = PolicySemantics::default();
    Policy::new(network, vec![var(0), var(1)], outputs, semantics, &model.domains())
        .expect("it fits")
}

/// From x0 = x1 = 1, where the policy is undecided: a0 to x2 = 1, a1 to x2 = 2. The silent move
/// `x0 := 2` makes the choice decided: a0, then on to x2 = 4.
fn open_choice() -> Model {
    let edges = vec![
        edge(Some(0), equals(var(2), 0), vec![set(var(2), Expr::int(1))]),
        edge(Some(1), equals(var(2), 0), vec![set(var(2), Expr::int(2))]),
        edge(None, equals(var(2), 2), vec![set(var(2), Expr::int(3))]),
        edge(None, equals(var(2), 0), vec![set(var(0), Expr::int(2))]),
        edge(
            None,
            Condition::and([equals(var(2), 1), equals(var(0), 2)]),
            vec![set(var(2), Expr::int(4))],
        ),
    ];
    model(&[(1, 2), (1, 2), (0, 4)], 2, edges)
}

#[test]
fn undecided_choices_never_refute() {
    let model = open_choice();
    let policy = undecidable_policy(&model);
    for bad in [1, 2, 3] {
        let property = property(Condition::and([equals(var(2), bad), equals(var(0), 1)]));
        let found = run(&Question::new(&model, &property), Some(&policy));
        let reason = UnknownReason::UndecidedChoice { state: "x0=1, x1=1, x2=0".to_owned() };
        assert_eq!(found.verdict, Verdict::Unknown(reason), "{bad}");
    }
}

/// Both scores are e to 2000 times x0: they have no value.
#[test]
fn an_exponential_of_a_great_argument_is_named_as_the_reason() {
    let model = open_choice();
    let mut builder = NetworkBuilder::new(2).expect("two inputs");
    let square = |entries| Matrix::new(2, 2, entries).expect("it fits");
    let great = square(vec![2000.0, 0.0, 2000.0, 0.0]);
    let great = builder.affine(builder.input(), great, vec![0.0; 2]).expect("it fits");
    let exponential = Activation::Smooth(Smooth::Exponential);
    let power = builder.activation(great, exponential).expect("it fits");
    let output = builder.affine(power, square(vec![1.0, 0.0, 0.0, 2.0]), vec![0.0; 2]);
    let network = builder.finish(output.expect("it fits"), ElementType::F64);
    let (inputs, outputs) = (vec![var(0), var(1)], vec![LabelId(0), LabelId(1)]);
    let semantics = PolicySemantics::default();
    let policy = Policy::new(network, inputs, outputs, semantics, &model.domains());
    let (policy, property) = (policy.expect("it fits"), property(equals(var(2), 3)));
    let question = Question { policy: Some(&policy), ..Question::new(&model, &property) };
    let found = run(&question, Some(&policy));
    let Verdict::Unknown(reason) = found.verdict else { panic!("{:?}", found.verdict) };
    assert!(matches!(&reason, UnknownReason::NoScores { state } if state.starts_with("x0=")));
    assert!(reason.to_string().contains("above 1024"), "{reason}");
}

#[test]
fn undecided_choices_do_not_hide_decided_ones() {
    let model = open_choice();
    let policy = undecidable_policy(&model);
    // x2 = 1 after one undecided or two decided steps; x2 = 4 after three.
    for (bad, steps) in [(1, 2), (4, 3)] {
        let property = property(equals(var(2), bad));
        let found = run(&Question::new(&model, &property), Some(&policy));
        assert_eq!(length(&found.verdict), Some(steps));
    }
}

#[test]
fn errors_behind_undecided_choices_leave_the_answer_open() {
    // x2 leaves its domain after the silent step that follows a1.
    let mut model = open_choice();
    model.variables[var(2).index()].domain.hi = 2;
    model.instances[0].edges.retain(|e| e.guard != equals(var(2), 0) || e.action.is_some());
    let policy = undecidable_policy(&model);
    let property = property(Condition::False);
    let mut question = Question::new(&model, &property);
    assert_eq!(run(&question, Some(&policy)).verdict, Verdict::Safe { vacuous: false });
    question.domain_rule = DomainRule::Error;
    let reason = UnknownReason::UndecidedChoice { state: "x0=1, x1=1, x2=0".to_owned() };
    assert_eq!(run(&question, Some(&policy)).verdict, Verdict::Unknown(reason));
}

#[test]
fn safe_covers_every_undecided_choice() {
    let model = open_choice();
    let policy = undecidable_policy(&model);
    let property = property(Condition::and([equals(var(2), 2), equals(var(0), 2)]));
    let found = run(&Question::new(&model, &property), Some(&policy));
    assert_eq!(found.verdict, Verdict::Safe { vacuous: false });
    // By x0 and x2: (1,0) to (1,1), (1,2), (2,0); (1,2) to (1,3); (2,0) to (2,1) and itself;
    // (2,1) to (2,4).
    assert_eq!((found.counts.reachable_states, found.counts.transitions), (7, 7));
    assert_eq!(found.counts.expanded_states, 7);
    assert_eq!(found.stats.undecided_choices, 1);
    assert!(found.stats.exact_decisions > 0);
}
