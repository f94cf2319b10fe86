//! Loading times: text to model, and start states of properties.

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, criterion_group, criterion_main};
use policert_jani::{LoadOptions, PropertyKey, Selector, load_bytes, load_model};
use policert_testkit::shared_folder;

fn load(c: &mut Criterion) {
    let Some(folder) = shared_folder("benchmarks") else { return };
    let options = LoadOptions {
        constants: [("failing_probability", "0.5"), ("item_cost_bound", "50")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        ..LoadOptions::default()
    };
    let legacy = "blocksworld/icaps24/blocksworld/cost_terminal/models/legacy_enc";
    for (name, file, options) in [
        ("beluga_4_2", "beluga/beluga_4_2.jani".to_owned(), &LoadOptions::default()),
        ("blocksworld_8_7 legacy", format!("{legacy}/blocksworld_8_7.jani"), &options),
        (
            "race_linetrack_40_25",
            "linetrack/race_linetrack_40_25/model.jani".to_owned(),
            &LoadOptions::default(),
        ),
        (
            "racetrack barto_big",
            "racetrack/momba/models/barto_big_slippery_tarmac.jani".to_owned(),
            &LoadOptions::default(),
        ),
        ("echoring", "qcomp_mdp/other/echoring/echoring.jani".to_owned(), &echoring()),
    ] {
        let path = folder.join(file);
        let Ok(bytes) = std::fs::read(&path) else { continue };
        c.bench_function(&format!("model/{name}"), |b| {
            b.iter(|| load_bytes(&path, black_box(bytes.clone()), options).model().is_some());
        });
    }
}

fn echoring() -> LoadOptions {
    LoadOptions {
        constants: vec![("ITERATIONS".to_owned(), "2".to_owned())],
        ..LoadOptions::default()
    }
}

fn properties(c: &mut Criterion) {
    let Some(folder) = shared_folder("benchmarks") else { return };
    let safety = "blocksworld/icaps22/additional_properties/safety_verification/cost05";
    let line = "transport/one_way_line_15_10/det";
    for (name, model, property) in [
        (
            "blocksworld_8_7 start condition",
            "blocksworld/icaps22/models/cost05/blocksworld_8_7.jani".to_owned(),
            format!(
                "{safety}/blocksworld_8_7/compact_starts_cost_predicates_afterwards/\
                 learned_no_cost/\
                 pa_compact_starts_cost_predicates_afterwards_blocksworld_8_7_16_16.jani"
            ),
        ),
        (
            "one_way_line start states",
            format!("{line}/one_way_line_15_10.jani"),
            format!("{line}/pa_one_way_line_15_10_random_starts_1000.jani"),
        ),
    ] {
        let loaded = load_model(&folder.join(model), &LoadOptions::default());
        let selector = Selector::File(folder.join(property), PropertyKey::Index(0));
        c.bench_function(&format!("property/{name}"), |b| {
            b.iter(|| loaded.property(&selector).property.is_some());
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(3));
    targets = load, properties
}
criterion_main!(benches);
