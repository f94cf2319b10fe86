//! Published instances: blocksworld with eight blocks, a race track, transport with its policy.

use std::path::Path;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Throughput};
use policert_engine_api::Question;
use policert_jani::property::Property;
use policert_jani::{LoadOptions, Loaded, load_model};
use policert_policy::{Filter, PolicyOptions, load_policy};

use crate::{nothing_unsafe, search};

/// Measures all of them.
pub fn bench(group: &mut BenchmarkGroup<'_, WallTime>, folder: &Path) {
    for (name, file) in [
        ("blocksworld 8-7", "blocksworld/icaps22/models/cost05/blocksworld_8_7.jani"),
        ("race track", "racetrack/momba/models/barto_small_slippery_tarmac.jani"),
    ] {
        let loaded = load(&folder.join(file));
        let property = nothing_unsafe(None);
        let question = Question::new(loaded.model().expect("loaded"), &property);
        let run = || search(&question, None, 400_000);
        group.throughput(Throughput::Elements(run().counts.expanded_states));
        group.bench_function(format!("{name} without policy"), |b| b.iter(run));
    }
    let folder = folder.join("transport/one_way_line_15_10");
    let loaded = load(&folder.join("icy/one_way_line_15_10.jani"));
    let starts = folder.join("det/pa_one_way_line_15_10_random_starts_1000.jani");
    let Some(Property::Safety(property)) = loaded.property_of_file(&starts, 0).property else {
        panic!("{} has no property for this model", starts.display());
    };
    let model = loaded.model().expect("loaded");
    let question = Question {
        terminal: property.goal.clone(),
        keep_going: true,
        ..Question::new(model, &property)
    };
    for (name, file) in [("relu", "relu_reading.nnet"), ("tanh", "tanh.onnx")] {
        let derived =
            |file| folder.join(format!("derived/icy/one_way_line_15_10_icy_64_64_{file}"));
        let options =
            PolicyOptions { filter: Some(Filter::Applicable), ..PolicyOptions::default() };
        let interface = derived("relu_reading.jani2nnet");
        let policy = load_policy(model, Some(&derived(file)), Some(&interface), &options)
            .expect("it fits")
            .policy;
        let run = || search(&question, Some(&policy), u64::MAX);
        group.throughput(Throughput::Elements(run().stats.policy_evaluations));
        group.bench_function(format!("icy transport with its 64-64 policy, {name}"), |b| {
            b.iter(run);
        });
    }
}

/// Loads a model.
pub fn load(path: &Path) -> Loaded {
    let loaded = load_model(path, &LoadOptions::default());
    assert!(loaded.model().is_some(), "{}: {:?}", path.display(), loaded.diagnostics());
    loaded
}
