//! The published Racetrack policy drives on our map as it should: an outsider's network would crash
//! at once if axes, walls or the order of a move were not as published.

use std::path::Path;

use policert_engine_api::Question;
use policert_explore::{Random, Rollout, RunStep};
use policert_generate::{PolicyShape, Racetrack, Track};
use policert_jani::property::Property;
use policert_jani::{LoadOptions, load_model};
use policert_policy::{Choice, PolicyOptions, load_policy};
use policert_testkit::shared_folder;

/// Values of y, x, dy, dx.
fn starts(folder: &Path) -> Vec<[i64; 4]> {
    let file = folder.join(
        "additional_properties/safety_verification/simple/EvaluationMMB/barto-small/\
         random_starts_999/start.jani",
    );
    let text = std::fs::read_to_string(file).expect("start states");
    let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let state = |state: &serde_json::Value| {
        ["car0_y", "car0_x", "car0_dy", "car0_dx"].map(|name| {
            let variables = state["variables"].as_array().expect("variables");
            let variable = variables.iter().find(|v| v["var"] == name).expect("a value");
            variable["value"].as_i64().expect("an integer")
        })
    };
    read["values"].as_array().expect("states").iter().map(state).collect()
}

/// The number of runs of the published network that never crash.
fn runs_that_never_crash(folder: &Path) -> usize {
    let track = Track::built_in("barto-small").expect("built in");
    let race = Racetrack { max_velocity: 13, ..Racetrack::new(track) };
    let instance = race.instance().expect("in range");
    let here = tempfile::tempdir().expect("a folder");
    for file in instance.files(&PolicyShape::default()) {
        let path = here.path().join(&file.path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, file.text).expect("a file");
    }
    let loaded = load_model(&here.path().join(instance.model_path()), &LoadOptions::default());
    let model = loaded.model().expect("a model");
    let read = loaded.property_of_file(&here.path().join(instance.property_path()), 0);
    let Some(Property::Safety(property)) = read.property else { panic!("no safety property") };
    let interface =
        folder.join("networks/simple/barto-small/no_filtering/simple_barto-small_16_16.jani2nnet");
    let policy = load_policy(model, None, Some(&interface), &PolicyOptions::default());
    let policy = policy.expect("the published network").policy;
    let question = Question::new(model, &property);
    let mut rollout = Rollout::new(&question, policy.outputs());
    let mut chooser = policy.chooser();
    let mut random = Random::new(1);
    let starts = starts(folder);
    assert_eq!(starts.len(), 999);
    let never_crashes = |start: &&[i64; 4]| {
        let mut state = vec![0; model.variables.len()];
        for (variable, &value) in policy.inputs().iter().zip(*start) {
            state[variable.index()] = value;
        }
        rollout.enter(&state).expect("a state");
        // Longer than any way to the finish; slow cars that stay on the road do not crash.
        for _ in 0..1000 {
            if rollout.is_unsafe() || rollout.is_goal() {
                break;
            }
            let state = rollout.state();
            let inputs: Vec<i64> = policy.inputs().iter().map(|v| state[v.index()]).collect();
            let output = match chooser.choose(&inputs, rollout.applicable()) {
                Choice::One(output) => Some(output),
                _ => None,
            };
            if !matches!(rollout.step(output, &mut random), Ok(RunStep::Moved { .. })) {
                break;
            }
        }
        !rollout.is_unsafe()
    };
    starts.iter().filter(never_crashes).count()
}

#[test]
fn the_published_network_rarely_crashes() {
    let Some(folder) = shared_folder("benchmarks/racetrack/icaps22_barto-small") else { return };
    assert_eq!(runs_that_never_crash(&folder), 843);
}
