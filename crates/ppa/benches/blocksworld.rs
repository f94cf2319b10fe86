//! Abstraction of the published blocksworld instances, from loaded inputs to the verdict.

use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use policert_engine_api::{Budget, Question, Silent};
use policert_jani::property::Property;
use policert_jani::{LoadOptions, load_model};
use policert_policy::{PolicyOptions, load_policy};
use policert_ppa::{PpaConfig, run};
use policert_testkit::shared_folder;

fn instance(c: &mut Criterion, name: &str, model: &Path, property: &Path, index: usize) {
    let loaded = load_model(model, &LoadOptions::default());
    let found = loaded.property_of_file(property, index);
    let (Some(model), Some(Property::Safety(safety))) = (loaded.model(), &found.property) else {
        return;
    };
    let options = PolicyOptions::default();
    let Ok(policy) = load_policy(model, None, safety.interface.as_deref(), &options) else {
        return;
    };
    let (question, config) = (Question::new(model, safety), PpaConfig::default());
    c.bench_function(name, |b| {
        b.iter(|| {
            let budget = &mut Budget::unlimited();
            run(&question, Some(&policy.policy), &config, budget, &mut Silent)
                .map(|report| report.counts)
        });
    });
}

fn instances(c: &mut Criterion) {
    let Some(folder) = shared_folder("benchmarks/blocksworld/icaps22") else { return };
    let properties = folder.join("additional_properties/safety_verification/cost05");
    let six = "blocksworld_6_5/compact_starts_cost_predicates_afterwards/\
               learned_cost05_non_terminal/\
               pa_compact_starts_cost_predicates_afterwards_blocksworld_6_5_32_32.jani";
    let eight = "blocksworld_8_7/compact_starts_cost_predicates_afterwards/learned_no_cost/\
                 pa_compact_starts_cost_predicates_afterwards_blocksworld_8_7_16_16.jani";
    for (name, model, property, index) in [
        ("6_5, 43 predicates", "blocksworld_6_5.jani", six, 0),
        ("6_5, 49 predicates", "blocksworld_6_5.jani", six, 1),
        ("8_7, 81 predicates", "blocksworld_8_7.jani", eight, 0),
    ] {
        let model = folder.join("models/cost05").join(model);
        instance(c, name, &model, &properties.join(property), index);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).measurement_time(Duration::from_secs(5));
    targets = instances
}
criterion_main!(benches);
