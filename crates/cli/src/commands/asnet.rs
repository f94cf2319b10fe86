//! `policert asnet`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use policert_engine_api::{Budget, CancelFlag, Observer};
use policert_lab::{
    Architecture, AsnetConfig, AsnetTrainRequest, Nonlinearity, draw_asnet, export_asnet,
    train_asnet,
};
use policert_outcome::{ExitStatus, Failure, OutputFiles};

use super::{fail, limits, run_showing, say};
use crate::args::{ActivationArg, AsnetArgs, AsnetCommand, AsnetProblemArgs, AsnetTrainArgs};
use crate::progress::ProgressLine;
use crate::screen::Screen;
use crate::style::Style;

/// Runs the command: what was written goes to standard output, progress to standard error.
pub fn run(arguments: &AsnetArgs) -> ExitStatus {
    let (asked, color) = match &arguments.command {
        AsnetCommand::Train(train) => (&train.limits, &train.color),
        AsnetCommand::Show(one) | AsnetCommand::Export(one) => (&one.limits, &one.color),
    };
    let limits = limits(asked.timeout, asked.memory);
    let work = |cancel: &CancelFlag, _: &mut dyn Observer| {
        let budget = Budget::new(limits.clone(), cancel.clone());
        match &arguments.command {
            AsnetCommand::Train(train) => trained(train, &budget),
            AsnetCommand::Show(show) => shown(show, &budget).map(whole),
            AsnetCommand::Export(export) => exported(export, &budget).map(whole),
        }
    };
    let show = |done: Result<(String, ExitStatus), Failure>, error_style: Style| {
        let told = done.and_then(|(line, status)| {
            say(line)?;
            Ok(status)
        });
        told.unwrap_or_else(|failure| fail(&failure, error_style))
    };
    let error_style = Style::new(color.when, &io::stderr());
    run_showing(ProgressLine::new(false), error_style, &limits, work, show)
}

/// What is told of work that was done to its end.
fn whole(line: String) -> (String, ExitStatus) {
    (line, ExitStatus::Safe)
}

fn check<'p>(output: &Path, inputs: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), Failure> {
    let outputs = OutputFiles::new([("--output", Some(output))]);
    outputs.check(inputs.into_iter().map(PathBuf::as_path))
}

fn trained(arguments: &AsnetTrainArgs, budget: &Budget) -> Result<(String, ExitStatus), Failure> {
    let AsnetTrainArgs { domain, problems, unseen, output, checkpoint, resume, .. } = arguments;
    let inputs = std::iter::once(domain).chain(problems).chain(unseen);
    check(output, inputs.clone().chain(resume))?;
    // The file that training continues from may be replaced by later ones.
    OutputFiles::new([("--output", Some(output.as_path()))])
        .and_continued("--checkpoint", checkpoint.as_deref())
        .check(inputs.map(PathBuf::as_path))?;
    let architecture = Architecture {
        layers: arguments.layers.into(),
        dimension: arguments.dimension.into(),
        nonlinearity: match arguments.activation {
            ActivationArg::Relu => Nonlinearity::Relu,
            ActivationArg::Elu => Nonlinearity::Elu,
        },
        skip: !arguments.no_skip,
    };
    let request = AsnetTrainRequest {
        domain: domain.clone(),
        problems: problems.clone(),
        unseen: unseen.clone(),
        config: AsnetConfig {
            seed: arguments.seed,
            rounds: arguments.rounds.into(),
            batches: arguments.batches.into(),
            batch: arguments.batch.into(),
            rate: arguments.rate,
            weight_decay: arguments.weight_decay,
            l1: arguments.l1,
            dropout: arguments.dropout,
            any_way: arguments.any_way,
            horizon: arguments.horizon as usize,
            exact_states: arguments.exact_states as usize,
            ..AsnetConfig::new(architecture)
        },
        output: output.clone(),
        checkpoint: checkpoint.clone(),
        resume: resume.clone(),
    };
    let mut errors = Screen::new(io::stderr());
    let report = train_asnet(&request, budget, &mut |progress| {
        // Progress that nobody can read is no reason to fail.
        let _ = writeln!(
            errors,
            "round {}: loss {:.4}, {} states, solves {} of {}",
            progress.round, progress.loss, progress.states, progress.solved, progress.problems
        );
    })?;
    let mut line = format!(
        "TRAINED: {} solves {} of {} problems",
        policert_files::path(output),
        report.best.solved,
        report.best.problems
    );
    if let Some((solved, tried)) = report.unseen {
        line += &format!(", and {solved} of {tried} unseen ones");
    }
    if let Some(reason) = report.stopped {
        line += &format!("; {reason}");
    }
    Ok((line + "; no proof", report.stopped.map_or(ExitStatus::Safe, ExitStatus::of_stop)))
}

fn shown(arguments: &AsnetProblemArgs, budget: &Budget) -> Result<String, Failure> {
    let AsnetProblemArgs { domain, problem, policy, output, .. } = arguments;
    check(output, [domain, problem, policy])?;
    draw_asnet(domain, problem, policy, output, budget)?;
    Ok(format!("{} is written", policert_files::path(output)))
}

fn exported(arguments: &AsnetProblemArgs, budget: &Budget) -> Result<String, Failure> {
    let AsnetProblemArgs { domain, problem, policy, output, .. } = arguments;
    check(output, [domain, problem, policy])?;
    let sizes = export_asnet(domain, problem, policy, output, budget)?;
    Ok(format!(
        "{} is written: {} inputs, {} outputs, {} neurons",
        policert_files::path(output),
        sizes.inputs,
        sizes.outputs,
        sizes.neurons
    ))
}
