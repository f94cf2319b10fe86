//! States per second of the explicit search, without and with a policy, and steps per second of
//! random runs.

mod published;
mod rollouts;
mod transport;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use policert_engine_api::{Budget, CancelFlag, Limits, Question, Silent};
use policert_explore::{ExplicitConfig, Explored, explicit};
use policert_model::{Condition, LabelId, Model, SafetyProperty, Start, VarId};
use policert_policy::{ElementType, Filter, Matrix, NetworkBuilder, Policy, PolicySemantics};
use transport::{empty_truck_anywhere, transport};

/// A property that nothing violates.
pub fn nothing_unsafe(start: Option<Start>) -> SafetyProperty {
    SafetyProperty {
        name: "none".to_owned(),
        start,
        unsafe_condition: Condition::False,
        goal: None,
        predicates: Vec::new(),
        interface: None,
    }
}

/// A search up to a number of states.
pub fn search(question: &Question<'_>, policy: Option<&Policy>, states: u64) -> Explored {
    let limits = Limits { states: Some(states), ..Limits::default() };
    let mut budget = Budget::new(limits, CancelFlag::default());
    explicit(question, policy, &ExplicitConfig::default(), &mut budget, &mut Silent)
        .expect("a sound model")
}

/// A network with two hidden layers of 64 and small pseudo-random weights.
fn policy(model: &Model) -> Policy {
    let inputs: Vec<VarId> = (1..model.variables.len()).map(VarId::new).collect();
    let outputs: Vec<LabelId> = (0..model.labels.len()).map(LabelId::new).collect();
    let mut state = 1u64;
    let mut numbers = |n: usize| -> Vec<f64> {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f64::from(u32::try_from(state >> 40).expect("24 bits")) / f64::from(1 << 24) - 0.5
        };
        (0..n).map(|_| next()).collect()
    };
    let mut builder = NetworkBuilder::new(inputs.len()).expect("inputs");
    let mut node = builder.input();
    for (width, last) in [(64, false), (64, false), (outputs.len(), true)] {
        let columns = builder.width(node);
        let weights = Matrix::new(width, columns, numbers(width * columns)).expect("it fits");
        node = builder.affine(node, weights, numbers(width)).expect("it fits");
        if !last {
            node = builder.relu(node);
        }
    }
    let network = builder.finish(node, ElementType::F64);
    let semantics = PolicySemantics { filter: Filter::Applicable, ..PolicySemantics::default() };
    Policy::new(network, inputs, outputs, semantics, &model.domains()).expect("it fits")
}

#[expect(clippy::print_stderr, reason = "says what is not measured")]
fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("explicit");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for (places, packages, states) in [(5, 12, u64::MAX), (10, 15, 1_000_000)] {
        let model = transport(places, packages);
        let run = || search(&Question::new(&model, &nothing_unsafe(None)), None, states);
        group.throughput(Throughput::Elements(run().counts.expanded_states));
        group.bench_function(format!("transport {places}-{packages} without policy"), |b| {
            b.iter(run);
        });
    }
    let model = transport(7, 12);
    let policy = policy(&model);
    let start = Start::Condition(empty_truck_anywhere(&model, 7, 12));
    let property = nothing_unsafe(Some(start));
    let question = Question::new(&model, &property);
    let run = || search(&question, Some(&policy), u64::MAX);
    group.throughput(Throughput::Elements(run().stats.policy_evaluations));
    group.bench_function("transport 7-12 with a 64-64 policy", |b| b.iter(run));
    match policert_testkit::shared_folder("benchmarks") {
        Some(folder) => published::bench(&mut group, &folder),
        None => eprintln!("no published instances beside the repository: they are left out"),
    }
    group.finish();
}

criterion_group!(benches, bench, rollouts::bench);
criterion_main!(benches);
