//! `policert asnet`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use policert_engine_api::{Budget, CancelFlag, Limits};
use policert_lab::{
    Architecture, AsnetConfig, AsnetTrainRequest, Nonlinearity, draw_asnet, export_asnet,
    train_asnet,
};
use policert_outcome::{ExitStatus, Failure, OutputFiles};

use super::{fail, output_failed};
use crate::args::{ActivationArg, AsnetArgs, AsnetCommand, AsnetProblemArgs, AsnetTrainArgs};
use crate::interrupt::stop_on_interrupt;
use crate::screen::Screen;
use crate::style::Style;

/// Runs the command: what was written goes to standard output, progress to standard error.
pub fn run(arguments: &AsnetArgs) -> ExitStatus {
    let (done, color) = match &arguments.command {
        AsnetCommand::Train(train) => (trained(train), &train.color),
        AsnetCommand::Show(show) => (shown(show), &show.color),
        AsnetCommand::Export(export) => (exported(export), &export.color),
    };
    let told = done.and_then(|line| {
        let mut out = Screen::new(io::stdout().lock());
        writeln!(out, "{line}").and_then(|()| out.flush()).map_err(output_failed)
    });
    match told {
        Ok(()) => ExitStatus::Safe,
        Err(failure) => fail(&failure, Style::new(color.when, &io::stderr())),
    }
}

fn check<'p>(output: &Path, inputs: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), Failure> {
    let outputs = OutputFiles::new([("--output", Some(output))]);
    outputs.check(inputs.into_iter().map(PathBuf::as_path))
}

fn trained(arguments: &AsnetTrainArgs) -> Result<String, Failure> {
    let AsnetTrainArgs { domain, problems, unseen, output, .. } = arguments;
    check(output, std::iter::once(domain).chain(problems).chain(unseen))?;
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
            ..AsnetConfig::new(architecture)
        },
        output: output.clone(),
    };
    let cancel = CancelFlag::default();
    stop_on_interrupt(cancel.clone())
        .map_err(|error| Failure::Internal(format!("no interruption: {error}")))?;
    let limits = Limits { time: arguments.timeout, memory: None, states: None };
    let budget = Budget::new(limits, cancel);
    let mut errors = Screen::new(io::stderr());
    let report = train_asnet(&request, &budget, &mut |progress| {
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
    if report.unseen > 0 {
        line += &format!(", and {} of {} unseen ones", report.unseen_solved, report.unseen);
    }
    Ok(line + "; no proof")
}

fn shown(arguments: &AsnetProblemArgs) -> Result<String, Failure> {
    let AsnetProblemArgs { domain, problem, policy, output, .. } = arguments;
    check(output, [domain, problem, policy])?;
    draw_asnet(domain, problem, policy, output)?;
    Ok(format!("{} is written", policert_files::path(output)))
}

fn exported(arguments: &AsnetProblemArgs) -> Result<String, Failure> {
    let AsnetProblemArgs { domain, problem, policy, output, .. } = arguments;
    check(output, [domain, problem, policy])?;
    let sizes = export_asnet(domain, problem, policy, output)?;
    Ok(format!(
        "{} is written: {} inputs, {} outputs, {} neurons",
        policert_files::path(output),
        sizes.inputs,
        sizes.outputs,
        sizes.neurons
    ))
}
