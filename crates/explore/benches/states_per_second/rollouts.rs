//! Steps per second of random runs, with random applicable labels.

use std::path::Path;

use criterion::{Criterion, Throughput};
use policert_engine_api::{Budget, Question};
use policert_explore::{Random, Rollout, RunStep, StartSampler};
use policert_model::Model;
use policert_testkit::shared_folder;

use crate::published::load;
use crate::{nothing_unsafe, transport::transport};

/// Steps of one measurement.
const STEPS: u64 = 100_000;

/// Measures hand-made and published models.
pub fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("rollout");
    group.sample_size(10).throughput(Throughput::Elements(STEPS));
    group.bench_function("transport 10-15", |b| b.iter(|| run(&transport(10, 15))));
    if let Some(folder) = shared_folder("benchmarks") {
        for (name, file) in [
            ("blocksworld 6-5", "blocksworld/icaps22/models/cost05/blocksworld_6_5.jani"),
            ("blocksworld 8-7", "blocksworld/icaps22/models/cost05/blocksworld_8_7.jani"),
            ("race track", "racetrack/momba/models/barto_small_slippery_tarmac.jani"),
            ("icy transport", "transport/one_way_line_15_10/icy/one_way_line_15_10.jani"),
        ] {
            let loaded = load(Path::new(&folder.join(file)));
            let model = loaded.model().expect("loaded");
            group.bench_function(name, |b| b.iter(|| run(model)));
        }
    }
    group.finish();
}

/// Runs of at most 100 steps from the initial state; a number that depends on all of them.
fn run(model: &Model) -> i64 {
    let property = nothing_unsafe(None);
    let question = Question::new(model, &property);
    let starts = StartSampler::new(&question, 1, &mut Budget::unlimited()).expect("a start");
    let outputs = model.operator_labels();
    let mut rollout = Rollout::new(&question, &outputs);
    let (mut random, mut start, mut sum) = (Random::new(1), Vec::new(), 0i64);
    let mut left = 0;
    for _ in 0..STEPS {
        if left == 0 {
            starts.draw(&mut start, &mut random).expect("a start");
            rollout.enter(&start).expect("a sound model");
            left = 100;
        }
        left -= 1;
        let applicable = rollout.applicable();
        let count = applicable.iter().filter(|&&may| may).count();
        let chosen = random.below(count);
        let output = (0..applicable.len()).filter(|&k| applicable[k]).nth(chosen);
        match rollout.step(output, &mut random).expect("a sound model") {
            RunStep::Moved { .. } => sum = sum.wrapping_add(rollout.state().iter().sum::<i64>()),
            RunStep::Dropped { .. } | RunStep::Stuck => left = 0,
        }
    }
    sum
}
