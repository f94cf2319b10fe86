//! `policert reach`.

use std::io;

use policert_engine_api::Limits;
use policert_outcome::{ExitStatus, Failure, Outcome, OutputFiles};
use policert_plot::{ImageFormat, plot_boxes, plot_counts_of_run};
use policert_verify::reach::{
    Drawable, NetworkArithmetic, ReachReport, ReachRequest, Rounding, reach,
};

use super::{Showing, fail, is_standard_output, run_within};
use crate::args::ReachArgs;
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &ReachArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color.when, &io::stderr());
    if [&output.json, &arguments.evidence].iter().all(|file| is_standard_output(file.as_deref())) {
        let message = "of --json and --evidence one can go to standard output";
        return fail(&Failure::Usage(message.to_owned()), error_style);
    }
    let request = request(arguments);
    // A name that no picture can have is noticed before the work.
    let mut pictures = [&arguments.plot, &arguments.plot_boxes].into_iter().flatten();
    let formats = pictures.try_for_each(|file| ImageFormat::of(file).map(drop));
    let outputs = || request.outputs.check([arguments.task.as_path()]);
    if let Err(failure) = formats.and_then(|()| outputs()) {
        return fail(&failure, error_style);
    }
    run_within(
        output,
        &request.limits,
        |cancel, observer| {
            let mut outcome = reach(&request, cancel, observer);
            draw(arguments, &mut outcome);
            outcome
        },
        |mut outcome, style| {
            let mut showing = Showing::new(output, &request.outputs);
            let mut unwritten = Ok(());
            if let Some(path) = &arguments.evidence
                && showing.refused(&outcome).is_none()
            {
                let report = &mut outcome.report;
                let (record, written) =
                    showing.write_or_remove(path, report.evidence.as_ref(), &report.no_evidence);
                report.evidence_file = Some(record);
                unwritten = written;
            }
            let status = showing.show(&outcome, style, render::reach_report);
            unwritten.map_or_else(|failure| fail(&failure, style), |()| status)
        },
    )
}

/// Draws the pictures that are wanted; one that cannot be written is no reason to lose the verdict.
fn draw(arguments: &ReachArgs, outcome: &mut Outcome<ReachReport>) {
    let Some(Drawable { task, analysis, planes }) = &outcome.report.drawable else { return };
    let boxes = arguments.plot.as_ref().map(|file| plot_boxes(task, analysis, planes, file));
    let counts = &analysis.statistics.boxes_per_step;
    let counts =
        arguments.plot_boxes.as_ref().map(|file| plot_counts_of_run(&task.name, counts, file));
    for written in [boxes, counts].into_iter().flatten() {
        outcome.keep_unwritten(written);
    }
}

fn request(arguments: &ReachArgs) -> ReachRequest {
    ReachRequest {
        task: arguments.task.clone(),
        instance: arguments.instance.clone(),
        initial: arguments.initial.clone(),
        goal: arguments.goal,
        after_goal: arguments.after_goal,
        arithmetic: NetworkArithmetic {
            evaluation: arguments.evaluation,
            rounding: if arguments.any_order { Rounding::AnyOrder } else { Rounding::AsComputed },
        },
        between_samples: arguments.between_samples,
        sets: arguments.sets,
        aggregation: arguments.aggregation,
        refinements: arguments.refinements,
        threads: arguments.threads,
        limits: Limits {
            time: arguments.timeout,
            memory: arguments.memory.map(|size| size.0),
            states: arguments.box_limit,
        },
        journal: arguments.journal.clone(),
        record: arguments.record_boxes,
        evidence: arguments.evidence.is_some(),
        certify: arguments.certify,
        outputs: OutputFiles::new([
            ("--json", arguments.output.json.as_deref()),
            ("--plot", arguments.plot.as_deref()),
            ("--plot-boxes", arguments.plot_boxes.as_deref()),
            ("--evidence", arguments.evidence.as_deref()),
        ])
        .and_continued("--journal", arguments.journal.as_deref()),
        picture: arguments.plot.is_some().then(|| arguments.plot_dims.clone()),
        granularity: (!arguments.granularity.is_empty()).then(|| arguments.granularity.clone()),
    }
}

#[cfg(test)]
mod tests {
    use policert_verify::Registry;

    use super::*;
    use crate::args::{Command, CommandLine};

    #[test]
    fn the_command_line_has_no_defaults_of_its_own() {
        let words = ["policert", "reach", "t.toml"];
        let read = CommandLine::read(words.map(Into::into), &Registry::standard())
            .expect("a command line");
        let Command::Reach(arguments) = read.command else { panic!("reach") };
        let default = ReachRequest::new("t.toml".into());
        assert_eq!(format!("{:?}", request(&arguments)), format!("{default:?}"));
    }
}
