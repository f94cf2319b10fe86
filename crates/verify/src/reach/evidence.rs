//! The evidence of a verdict: of *unsafe* where trajectories begin, of *safe* boxes of each step, made by the arithmetic of
//! the check that they have to pass.
//!
//! The engine says which parts of the initial box are to be looked at. Boxes are moved as `policert-certify`
//! moves them, merged as the engine merges them, and rounded outwards to few decimals, so that files stay small.

mod stretched;
mod violation;

use std::time::Duration;

use policert_certify::{LoopBox, LoopCheck, LoopChoices, LoopClaim, LoopError, LoopPart};
use policert_engine_api::{Budget, StopReason};
use policert_evidence::{LoopEvaluation, LoopEvidence, LoopTask, certify_loop, loop_check};
use policert_numeric::{Interval, Rational};
use policert_outcome::{Certified, Failure, Input, Outcome};
use policert_reach::{
    Adjacency, Aggregation, Controller, Evaluation, GoalRule, LoopAnalysis, ReachVerdict,
    Relations, Rounding, Task, aggregate,
};

use super::{ReachReport, ReachRequest};

/// Evidence with more boxes is not written.
const MOST_BOXES: usize = 500_000;

/// Evidence is searched for as many times as long as the verdict took, and for some time more.
const PATIENCE: u32 = 8;
const LEAST_SEARCH: Duration = Duration::from_secs(10);

/// The parts of the width of a cell to which bounds are rounded, until one does; at last they are not.
const ROUNDED_TO: [Option<f64>; 3] = [Some(1e-3), Some(1e-5), None];

/// Writes down the evidence of a verdict, and checks it if that is asked for.
///
/// # Errors
/// Evidence that does not show what it claims: our own mistake. An input that has changed.
pub(super) fn write_down(
    request: &ReachRequest,
    task: &Task,
    analysis: &LoopAnalysis,
    mut budget: Budget,
    outcome: &mut Outcome<ReachReport>,
) -> Result<(), Failure> {
    let inputs = outcome.remarks.inputs.clone();
    let searched = PATIENCE * analysis.statistics.time + LEAST_SEARCH;
    let searched = budget.remaining().map_or(searched, |left| left.min(searched));
    let mut search = budget.within(Some(searched));
    let evidence = match evidence(request, task, analysis, inputs, &mut search) {
        // The verdict stands without evidence.
        Err(Failure::Stopped(StopReason::Time)) => {
            Err(format!("none was found in {:.1} s", searched.as_secs_f64()))
        }
        Err(Failure::Stopped(reason)) if reason != StopReason::Interrupted => {
            Err(format!("it was not made in time: {reason}"))
        }
        evidence => evidence?,
    };
    let report = &mut outcome.report;
    let evidence = match evidence {
        Ok(evidence) => evidence,
        Err(why) => {
            report.certified = request.certify.then(|| Certified::not(&why));
            report.no_evidence = why;
            return Ok(());
        }
    };
    if request.certify {
        report.certified = Some(Certified::by(|| certify_loop(&evidence, &mut budget))?);
    }
    report.evidence = Some(evidence);
    Ok(())
}

/// The evidence of a verdict, or the reason why there is none.
fn evidence(
    request: &ReachRequest,
    task: &Task,
    analysis: &LoopAnalysis,
    inputs: Vec<Input>,
    budget: &mut Budget,
) -> Result<Result<LoopEvidence, String>, Failure> {
    let mut evaluation = LoopEvaluation::F64;
    if matches!(task.controller, Controller::CellNetwork(_)) {
        if request.arithmetic.evaluation == Evaluation::F32 {
            evaluation = LoopEvaluation::F32;
            if matches!(analysis.verdict, ReachVerdict::Unsafe(_)) {
                let what = "trajectories under networks in single precision";
                return Ok(Err(format!("there is none of {what}")));
            }
        }
        if request.arithmetic.rounding != Rounding::AsComputed {
            return Ok(Err("there is none of every order of summation".to_owned()));
        }
    }
    let asked = LoopTask {
        file: request.task.clone(),
        instance: request.instance.clone(),
        initial: request.initial.iter().map(written).collect(),
        goal: request.goal,
        after_goal: request.after_goal,
        granularity: request
            .granularity
            .as_ref()
            .map(|widths| widths.iter().map(Rational::to_string).collect()),
        between_samples: request.between_samples,
        evaluation,
    };
    Ok(match &analysis.verdict {
        ReachVerdict::Safe { goal_step } => {
            let looked = (request.between_samples, evaluation);
            claim(looked, task, (analysis, *goal_step), budget)?
                .map(|claim| LoopEvidence::safe(asked, inputs, claim))
        }
        ReachVerdict::Unsafe(counterexample) => violation::claim(task, counterexample, budget)?
            .map(|claim| LoopEvidence::violated(asked, inputs, &task.controller, &claim)),
        ReachVerdict::Unknown(_) => Err("there is none but for *safe* and *unsafe*".to_owned()),
    })
}

/// A range as the command line takes it.
fn written(range: &policert_reach::InitialRange) -> String {
    format!("{}={}..{}", range.variable, range.lower, range.upper)
}

/// What is claimed of *safe*, or the reason why nothing is.
fn claim(
    looked: (bool, LoopEvaluation),
    task: &Task,
    (analysis, goal_step): (&LoopAnalysis, Option<u32>),
    budget: &mut Budget,
) -> Result<Result<LoopClaim, String>, Failure> {
    let mut check = match loop_check(task, looked, budget)? {
        Ok(check) => check,
        Err(LoopError::Unsupported(what)) => return Ok(Err(format!("there is none of {what}"))),
        Err(error) => return Ok(Err(error.to_string())),
    };
    let all_at_once = task.goal.is_some() && task.question.goal == GoalRule::AllAtOnce;
    let goal_step = goal_step.filter(|_| all_at_once);
    let mut claim = LoopClaim { goal_step, parts: Vec::with_capacity(analysis.parts.len()) };
    if matches!(task.controller, Controller::StateNetwork(_)) {
        let parts = stretched::parts(task, &mut check, (&analysis.parts, goal_step), budget)?;
        return Ok(parts.map(|parts| LoopClaim { goal_step, parts }));
    }
    let mut boxes = 0;
    // What is too coarse for one part is likely to be so for others.
    let mut rounded_to = 0;
    for part in &analysis.parts {
        let steps = loop {
            let mut chain =
                Chain { task, check: &mut check, rounded_to: ROUNDED_TO[rounded_to], boxes };
            match chain.of(part, goal_step, budget)? {
                Ok(steps) => break steps,
                Err(why) if rounded_to + 1 == ROUNDED_TO.len() => return Ok(Err(why)),
                Err(_) => rounded_to += 1,
            }
        };
        boxes += steps.iter().map(Vec::len).sum::<usize>();
        claim.parts.push(LoopPart {
            initial: part.clone(),
            steps,
            stretches: None,
            choices: LoopChoices::Apart,
        });
    }
    Ok(Ok(claim))
}

/// Makes the boxes of a part.
struct Chain<'a, 't> {
    task: &'t Task,
    check: &'a mut LoopCheck<'t>,
    rounded_to: Option<f64>,
    /// Boxes of other parts.
    boxes: usize,
}

impl Chain<'_, '_> {
    /// The boxes of the steps, or the reason why there are none.
    fn of(
        &mut self,
        part: &[(Rational, Rational)],
        goal_step: Option<u32>,
        budget: &mut Budget,
    ) -> Result<Result<Vec<Vec<LoopBox>>, String>, StopReason> {
        let mut steps: Vec<Vec<LoopBox>> = Vec::new();
        let mut work = Aggregation::default();
        for step in 0..self.task.steps {
            let (mut sides, mut kinds) = (Vec::new(), Vec::new());
            let count = steps.last().map_or(1, Vec::len);
            for at in 0..count {
                budget.poll()?;
                let start = sides.len();
                let current = steps.last().map(|boxes| &boxes[at]);
                let next = match current {
                    None => self.check.successors((part, false), (step, goal_step), budget)?,
                    Some(one) => {
                        let sides = (one.sides.as_slice(), one.reached);
                        self.check.successors(sides, (step, goal_step), budget)?
                    }
                };
                let (images, reached) = match next {
                    Ok(next) => next,
                    Err(flaw) => return Ok(Err(refused(step, &flaw))),
                };
                sides.extend(images.into_iter().flatten());
                self.merge(&mut sides, start, &mut Vec::new(), &mut work, budget)?;
                kinds.resize(sides.len() / self.task.dimension(), reached);
            }
            if sides.is_empty() {
                return Ok(Ok(steps));
            }
            self.merge(&mut sides, 0, &mut kinds, &mut work, budget)?;
            self.round(&mut sides);
            let boxes = sides.chunks_exact(self.task.dimension()).zip(kinds);
            let boxes: Vec<LoopBox> =
                boxes.map(|(sides, reached)| LoopBox { sides: sides.to_vec(), reached }).collect();
            self.boxes += boxes.len();
            if self.boxes > MOST_BOXES {
                return Ok(Err(format!("it would have more than {MOST_BOXES} boxes")));
            }
            steps.push(boxes);
        }
        // The last boxes have no successors, but have to be right.
        for one in steps.last().into_iter().flatten() {
            let sides = (one.sides.as_slice(), one.reached);
            let last = self.task.steps;
            if let Err(flaw) = self.check.successors(sides, (last, goal_step), budget)? {
                return Ok(Err(refused(last, &flaw)));
            }
        }
        Ok(Ok(steps))
    }

    fn merge(
        &self,
        sides: &mut Vec<Interval>,
        start: usize,
        kinds: &mut Vec<bool>,
        work: &mut Aggregation,
        budget: &mut Budget,
    ) -> Result<(), StopReason> {
        let Some(distances) = &self.task.aggregation else { return Ok(()) };
        let adjacency = Adjacency { distances, relations: Relations::Meant };
        aggregate(sides, start, kinds, adjacency, work, budget)
    }

    /// Moves bounds outwards to short decimals.
    fn round(&self, sides: &mut [Interval]) {
        let Some(part) = self.rounded_to else { return };
        let axes = self.task.grid.iter().flat_map(|grid| grid.axes());
        let units: Vec<f64> = axes
            .map(|axis| {
                let width = axis.edge(1).exact() - axis.edge(0).exact();
                10f64.powf(-(width.to_f64() * part).log10().floor())
            })
            .collect();
        for state in sides.chunks_exact_mut(self.task.dimension()) {
            for (side, &unit) in state.iter_mut().zip(&units) {
                let (mut below, mut above) =
                    ((side.lo() * unit).floor(), (side.hi() * unit).ceil());
                // The quotients are rounded, too.
                if below / unit > side.lo() {
                    below -= 1.0;
                }
                if above / unit < side.hi() {
                    above += 1.0;
                }
                if let Some(rounded) = Interval::new(below / unit, above / unit)
                    && rounded.includes(*side)
                {
                    *side = rounded;
                }
            }
        }
    }
}

fn refused(step: u32, flaw: &policert_certify::LoopFlaw) -> String {
    format!("the bounds of the check are not tight enough: at step {step} {flaw}")
}
