//! `policert train` on a model.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use policert_lab::{DqnConfig, HiddenActivation, LearnRequest, LearntFiles, Rewards, learn_policy};
use policert_outcome::{ExitStatus, Failure, OutputFiles};
use policert_problem::ProblemOptions;

use super::super::{Showing, fail, initial_states, limits, property_files, run_within};
use crate::args::TrainArgs;
use crate::render;
use crate::style::Style;

/// Returns whether a file is a model: its name ends in `.jani`, or its content begins as JSON does and its
/// name does not end in `.toml`.
pub fn is_model(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "jani" => true,
        "toml" => false,
        _ => begins_as_json(path).unwrap_or(false),
    }
}

fn begins_as_json(path: &Path) -> io::Result<bool> {
    // To open a pipe may take for ever.
    if !path.is_file() {
        return Ok(false);
    }
    let mut bytes = [0; 256];
    let read = File::open(path)?.read(&mut bytes)?;
    let bytes = bytes[..read].strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes[..read]);
    Ok(bytes.trim_ascii_start().first() == Some(&b'{'))
}

/// Runs the command.
pub fn run(arguments: &TrainArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color.when, &io::stderr());
    if let Err(failure) = only_for_models(arguments) {
        return fail(&failure, error_style);
    }
    let request = request(arguments);
    let out = request.out.as_ref();
    let outputs = OutputFiles::new([
        ("--out", out.map(|out| out.nnet.as_path())),
        ("--out", out.map(|out| out.onnx.as_path())),
        ("--out", out.and_then(|out| out.interface.as_deref())),
        ("--out", out.map(|out| out.card.as_path())),
        ("--json", output.json.as_deref()),
    ])
    // The file that training continues from may be replaced by later ones.
    .and_continued("--checkpoint", request.checkpoint.as_deref());
    let mut inputs = vec![arguments.task.as_path()];
    inputs.extend(request.interface.as_deref());
    inputs.extend(property_files(arguments.learning.property.as_deref()));
    if let Err(failure) = outputs.check(inputs) {
        return fail(&failure, error_style);
    }
    run_within(
        output,
        &request.limits,
        |cancel, observer| learn_policy(&request, cancel, observer),
        |outcome, style| Showing::new(output, &outputs).show(&outcome, style, render::learn_report),
    )
}

/// Options that do not go with models.
fn only_for_models(arguments: &TrainArgs) -> Result<(), Failure> {
    let wrong = [
        (arguments.instance.is_some(), "--instance"),
        (!arguments.cells.is_empty(), "--abstract"),
        (arguments.plain, "--plain"),
        (arguments.activation == Some(HiddenActivation::Tanh), "--activation tanh"),
    ];
    match wrong.into_iter().find(|(given, _)| *given) {
        Some((_, option)) => {
            Err(Failure::Usage(format!("{option} is for control loops, not for models")))
        }
        None => Ok(()),
    }
}

fn request(arguments: &TrainArgs) -> LearnRequest {
    let learning = &arguments.learning;
    let constants = learning.constants.iter().flat_map(|constants| constants.0.clone());
    let defaults = DqnConfig::default();
    LearnRequest {
        problem: ProblemOptions {
            property: learning.property.clone(),
            constants: constants.collect(),
            initial_states: initial_states(learning.no_initial),
            ..ProblemOptions::new(&arguments.task)
        },
        interface: learning.interface.clone(),
        filter: learning.filter,
        config: DqnConfig {
            seed: arguments.seed,
            seeds: learning.seeds,
            rewards: Rewards {
                goal: learning.reward_goal,
                unsafe_state: learning.reward_unsafe,
                stuck: learning.reward_stuck,
                step: learning.reward_step,
                ..Rewards::default()
            },
            steps: learning.steps,
            horizon: learning.horizon,
            discount: learning.discount,
            double: !learning.no_double,
            rate: learning.rate,
            batch: learning.batch,
            buffer: learning.buffer,
            warm_up: defaults.warm_up.clamp(learning.batch, learning.buffer.max(learning.batch)),
            learn_every: learning.learn_every,
            target_every: learning.target_every,
            exploration: (defaults.exploration.0, learning.exploration),
            evaluate_every: learning.evaluate_every,
            competent: learning.competent,
            ..defaults
        },
        hidden: (!arguments.hidden.is_empty()).then(|| arguments.hidden.clone()),
        potential: learning.potential,
        step_cost: learning.step_cost,
        limits: limits(arguments.timeout, arguments.memory),
        out: arguments.out.as_deref().map(LearntFiles::of),
        checkpoint: learning.checkpoint.clone(),
        resume: learning.resume.clone(),
    }
}
