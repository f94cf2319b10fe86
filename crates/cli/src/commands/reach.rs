//! `policert reach`.

use std::io;

use policert_verify::{
    AfterGoal, AggregationChoice, Evaluation, ExitStatus, Failure, GoalRule, Limits,
    NetworkArithmetic, OutputFiles, PlotRequest, ReachRequest, Reached, Rounding, reach,
};

use super::{
    detail, end, fail, is_refused, is_standard_output, output_failed, print, run_within, write_data,
};
use crate::args::{AfterGoalArg, AggregationArg, EvaluationArg, GoalArg, ReachArgs};
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &ReachArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color, &io::stderr());
    let request = request(arguments);
    if let Err(failure) = request.outputs.check([arguments.task.as_path()]) {
        return fail(&failure, error_style);
    }
    run_within(
        output,
        &request.limits,
        |cancel, observer| reach(&request, cancel, observer),
        |reached, error_style| {
            let shown = show(arguments, reached, error_style);
            end(reached.status, reached.unwritten.as_ref(), shown, error_style)
        },
    )
}

fn show(arguments: &ReachArgs, reached: &Reached, error_style: Style) -> Result<(), Failure> {
    let output = &arguments.output;
    if is_refused(reached.failure.as_ref(), error_style) {
        return Ok(());
    }
    let written = write_data(output.json.as_deref(), &reached.report);
    if let Some(failure) = &reached.failure {
        fail(failure, error_style);
        return written;
    }
    let taken = is_standard_output(output.json.as_deref());
    let style = if taken { error_style } else { Style::new(output.color, &io::stdout()) };
    print(taken, |out| render::reach_report(out, &reached.report, detail(output), style))
        .map_err(output_failed)
        .and(written)
}

fn request(arguments: &ReachArgs) -> ReachRequest {
    ReachRequest {
        task: arguments.task.clone(),
        instance: arguments.instance.clone(),
        goal: arguments.goal.map(|goal| match goal {
            GoalArg::Each => GoalRule::Each,
            GoalArg::AllAtOnce => GoalRule::AllAtOnce,
        }),
        after_goal: arguments.after_goal.map(|after_goal| match after_goal {
            AfterGoalArg::Stop => AfterGoal::Stop,
            AfterGoalArg::Continue => AfterGoal::Continue,
        }),
        arithmetic: NetworkArithmetic {
            evaluation: match arguments.evaluation {
                EvaluationArg::F64 => Evaluation::F64,
                EvaluationArg::F32 => Evaluation::F32,
            },
            rounding: if arguments.any_order { Rounding::AnyOrder } else { Rounding::AsComputed },
        },
        between_samples: arguments.between_samples,
        aggregation: match arguments.aggregation {
            AggregationArg::Task => AggregationChoice::OfTask,
            AggregationArg::AsWritten => AggregationChoice::AsWritten,
            AggregationArg::None => AggregationChoice::Nothing,
        },
        refinements: arguments.refinements,
        threads: arguments.threads,
        limits: Limits {
            time: arguments.timeout,
            memory: arguments.memory.map(|size| size.0),
            states: arguments.box_limit,
        },
        journal: arguments.journal.clone(),
        record: arguments.record_boxes,
        outputs: OutputFiles::new([
            ("--json", arguments.output.json.as_deref()),
            ("--plot", arguments.plot.as_deref()),
            ("--plot-boxes", arguments.plot_boxes.as_deref()),
        ])
        .and_continued("--journal", arguments.journal.as_deref()),
        plot: arguments
            .plot
            .clone()
            .map(|file| PlotRequest { file, planes: arguments.plot_dims.clone() }),
        plot_counts: arguments.plot_boxes.clone(),
        granularity: (!arguments.granularity.is_empty()).then(|| arguments.granularity.clone()),
    }
}
