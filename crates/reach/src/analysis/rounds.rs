//! Rounds: all open parts are worked on, then those that are not verified are halved.

use std::collections::BTreeSet;
use std::time::Instant;

use policert_control_loop::{ClosedRange, ExactRange, GoalRule, Gusts, ReachError, Task, middle};
use policert_engine_api::{Budget, Event, Observer, StopReason};
use policert_numeric::Rational;

use super::parts::{Finished, OpenPart, halves, is_point, parallel, parts};
use super::{
    Counterexample, LoopAnalysis, ReachConfig, ReachStatistics, ReachVerdict, RefinementEnd,
    ReportedTrajectory, StateBox, UnknownCause, described, has_exact_points,
};
use crate::approximate::ApproximateLoop;
use crate::journal::ReachJournal;
use crate::outcome::PartOutcome;
use crate::policy::Controls;
use crate::post::Post;
use crate::reachable_sets::{Part, ReachableSets};
use crate::trajectory::{Simulator, Trajectory, Violation, random_state, start_states};

/// Trajectories that are tried before anything else.
const FIRST_STARTS: usize = 3;
/// So many parts that are not verified are searched for counterexamples in each round, …
const SEARCHED_PARTS: usize = 24;
/// … with this many random trajectories each.
const RANDOM_STARTS: usize = 12;

/// Parts that are halved this often, and single states in them are not decided either, are given up.
const HALVED_ANYWAY: u32 = 4;
/// Parts are never halved more often.
const MAX_HALVINGS: u32 = 64;

pub(super) struct Rounds<'a, R> {
    task: &'a Task,
    config: &'a ReachConfig,
    sets: ReachableSets<'a, R>,
    approximate: ApproximateLoop,
    budget: Budget,
    statistics: ReachStatistics,
    /// Results that count: parts that were not halved.
    finished: Vec<Finished<R>>,
}

impl<'a, R: ClosedRange> Rounds<'a, R> {
    pub(super) fn new(
        task: &'a Task,
        config: &'a ReachConfig,
        sets: ReachableSets<'a, R>,
        budget: Budget,
    ) -> Self {
        let statistics = ReachStatistics::default();
        let approximate = ApproximateLoop::new(&task.dynamics, task.inputs.len());
        Self { task, config, sets, approximate, budget, statistics, finished: Vec::new() }
    }

    pub(super) fn answer(
        mut self,
        journal: Option<&mut ReachJournal>,
        observer: &mut dyn Observer,
    ) -> LoopAnalysis {
        let begin = Instant::now();
        let verdict = match self.rounds(journal, observer) {
            Ok(verdict) => verdict,
            Err(reason) => ReachVerdict::Unknown(UnknownCause::Stopped(reason)),
        };
        self.statistics.time = begin.elapsed();
        self.conclude(verdict)
    }

    fn rounds(
        &mut self,
        mut journal: Option<&mut ReachJournal>,
        observer: &mut dyn Observer,
    ) -> Result<ReachVerdict, StopReason> {
        self.budget.poll_clock()?;
        observer.event(Event::Phase("trajectories"));
        let mut first = start_states(self.task, &self.task.initial, RANDOM_STARTS);
        // Those of networks that read the state are followed roughly first, which costs little.
        if self.sets.controls.state_controller().is_none() || !self.task.counts_each() {
            first.truncate(FIRST_STARTS);
        }
        // Boxes that are wanted are computed, whatever a trajectory shows.
        if !self.config.record
            && let Some(violation) = self.simulator().violation(&first)?
        {
            return Ok(unsafe_verdict(violation));
        }
        let mut open = parts(&self.task.partition, &mut self.budget)?;
        loop {
            observer.event(Event::Phase("reachable boxes"));
            let outcomes = self.run_all(&open, journal.as_deref_mut(), observer)?;
            let mut failed = Vec::new();
            for (open, outcome) in open.drain(..).zip(outcomes) {
                let done = Finished { open, outcome };
                if done.outcome.obstacle.is_some() {
                    failed.push(done);
                } else {
                    self.finished.push(done);
                }
            }
            if failed.is_empty() {
                match self.common_step() {
                    Ok(goal_step) => return Ok(ReachVerdict::Safe { goal_step }),
                    Err(misses) => failed = misses,
                }
            }
            observer.event(Event::Phase("counterexamples"));
            if let Some(verdict) = self.verdict_on(&failed)? {
                self.finished.append(&mut failed);
                return Ok(verdict);
            }
            self.statistics.parts_refined += failed.len() as u64;
            for Finished { open: OpenPart { part, depth }, outcome } in failed {
                self.budget.poll()?;
                let halves = halves(self.task, &part, outcome.decisive);
                open.extend(halves.map(|part| OpenPart { part, depth: depth + 1 }));
            }
        }
    }

    /// The verdict if parts that are not verified show one: *unsafe* by a trajectory, or unknown
    /// where halving them ends.
    fn verdict_on(&mut self, failed: &[Finished<R>]) -> Result<Option<ReachVerdict>, StopReason> {
        for done in failed.iter().take(SEARCHED_PARTS) {
            self.budget.poll_clock()?;
            let starts = start_states(self.task, &done.open.part, RANDOM_STARTS);
            if let Some(violation) = self.simulator().violation(&starts)? {
                return Ok(Some(unsafe_verdict(violation)));
            }
        }
        // It takes longer than a look, so that it is rarer the more often parts were halved.
        let is_descended =
            |done: &&Finished<R>| done.open.depth < 2 || done.open.depth.is_power_of_two();
        if let Some(done) = failed.iter().find(is_descended)
            && let Some(violation) = self.simulator().descent(&done.open.part)?
        {
            return Ok(Some(unsafe_verdict(violation)));
        }
        let most = self.config.refinements.unwrap_or(MAX_HALVINGS);
        for (i, done) in failed.iter().enumerate() {
            let OpenPart { part, depth } = &done.open;
            let end = if is_point(part) {
                RefinementEnd::SingleState(middle(part))
            } else if *depth >= most {
                match self.config.refinements {
                    Some(most) => RefinementEnd::Refinements(most),
                    None => RefinementEnd::Depth(*depth),
                }
            } else if i < SEARCHED_PARTS
                && *depth >= HALVED_ANYWAY
                && self.config.refinements.is_none()
                && let Some(state) = self.undecided_state(part)?
            {
                RefinementEnd::SingleState(state)
            } else {
                continue;
            };
            if let RefinementEnd::SingleState(state) = &end
                && let Some(verdict) = self.exact_verdict(state)?
            {
                return Ok(Some(verdict));
            }
            return Ok(Some(ReachVerdict::Unknown(unknown_cause(part, &done.outcome, end))));
        }
        Ok(None)
    }

    /// The middle of a part if it is not decided even by itself, as where an expression has no
    /// value: then no part that contains it ever is.
    fn undecided_state(&mut self, part: &Part) -> Result<Option<Vec<Rational>>, StopReason> {
        let state = middle(part);
        let point: Part = state.iter().map(|x| (x.clone(), x.clone())).collect();
        let outcome = self.sets.run(&point, &mut self.budget)?;
        let never_in_goal = !outcome.goal_steps.contains(&true);
        let undecided = outcome.obstacle.is_some() || (outcome.cut_off.is_some() && never_in_goal);
        Ok(undecided.then_some(state))
    }

    /// The verdict if the trajectory from a state shows *unsafe* in exact arithmetic, where rounded
    /// bounds are not certain: a state on the border of a cell or of the unsafe set.
    fn exact_verdict(&mut self, state: &[Rational]) -> Result<Option<ReachVerdict>, StopReason> {
        if R::EXACT || !has_exact_points(self.task) {
            return Ok(None);
        }
        let controls = Controls::<ExactRange>::new(self.task, self.config.arithmetic, &self.budget);
        let post = Post::new(&self.task.dynamics, self.task.inputs.len());
        if let Err(ReachError::Stop(reason)) = controls {
            return Err(reason);
        }
        // They were read before; if a file is gone now, there is no such verdict.
        let (Ok(mut controls), Ok(mut post)) = (controls, post) else { return Ok(None) };
        let mut simulator = Simulator {
            task: self.task,
            controls: &mut controls,
            post: &mut post,
            approximate: &mut self.approximate,
            budget: &mut self.budget,
        };
        Ok(simulator.violation(&[state.to_vec()])?.map(unsafe_verdict))
    }

    fn simulator(&mut self) -> Simulator<'_, 'a, R> {
        Simulator {
            task: self.task,
            controls: &mut self.sets.controls,
            post: &mut self.sets.post,
            approximate: &mut self.approximate,
            budget: &mut self.budget,
        }
    }

    /// The step at which all is well: the common one for the question about all at once, the last
    /// one for that about each. Otherwise the results that stand against it, taken back.
    fn common_step(&mut self) -> Result<Option<u32>, Vec<Finished<R>>> {
        if self.task.goal.is_none() {
            return Ok(None);
        }
        if self.task.question.goal == GoalRule::Each {
            return Ok(self.finished.iter().filter_map(|done| done.outcome.absorbed_at).max());
        }
        let mut counts = vec![0usize; self.task.steps as usize + 1];
        for done in &self.finished {
            for (count, inside) in counts.iter_mut().zip(&done.outcome.goal_steps) {
                *count += usize::from(*inside);
            }
        }
        let mut best = (0, 0);
        for (step, &count) in (0u32..).zip(&counts) {
            if count == self.finished.len() {
                return Ok(Some(step));
            }
            if count > best.0 {
                best = (count, step);
            }
        }
        let all = std::mem::take(&mut self.finished);
        let (fits, misses) = all.into_iter().partition(|done| done.outcome.is_in_goal_at(best.1));
        self.finished = fits;
        Err(misses)
    }

    /// The results of some parts, in their order.
    fn run_all(
        &mut self,
        open: &[OpenPart],
        mut journal: Option<&mut ReachJournal>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<PartOutcome<R>>, StopReason> {
        let mut results: Vec<Option<PartOutcome<R>>> = Vec::with_capacity(open.len());
        for OpenPart { part, .. } in open {
            // A journal has no boxes.
            let journal = journal.as_deref().filter(|_| !self.config.record);
            let known = journal.and_then(|journal| journal.outcome(part));
            self.statistics.parts_resumed += u64::from(known.is_some());
            results.push(known);
        }
        let waiting: Vec<usize> = (0..open.len()).filter(|&i| results[i].is_none()).collect();
        let mut done = 0u64;
        let mut boxes = 0u64;
        let mut report = |i: usize, outcome: &PartOutcome<R>| {
            done += 1;
            boxes += outcome.boxes.iter().sum::<u64>();
            observer.event(Event::Progress {
                expanded: done,
                reached: boxes,
                waiting: waiting.len() as u64 - done,
                transitions: 0,
            });
            if let Some(journal) = journal.as_deref_mut() {
                journal.add(&open[i].part, outcome);
            }
        };
        let mut stopped = None;
        if self.config.threads <= 1 || waiting.len() <= 1 {
            for &i in &waiting {
                match self.sets.run(&open[i].part, &mut self.budget) {
                    Ok(outcome) => {
                        report(i, &outcome);
                        results[i] = Some(outcome);
                    }
                    Err(reason) => {
                        stopped = Some(reason);
                        break;
                    }
                }
            }
        } else {
            let finished = parallel(
                &self.sets,
                &self.budget,
                self.config.threads.min(waiting.len()),
                &waiting,
                open,
                |i, result| match result {
                    Ok(outcome) => {
                        report(i, &outcome);
                        results[i] = Some(outcome);
                    }
                    Err(reason) => _ = stopped.get_or_insert(reason),
                },
            );
            for (cells, times) in finished {
                self.sets.controls.add_cells(&cells);
                self.sets.times += times;
            }
        }
        if let Some(reason) = stopped {
            // What is finished still counts in the statistics.
            for (open, outcome) in open.iter().zip(results) {
                let done = outcome.map(|outcome| Finished { open: open.clone(), outcome });
                self.finished.extend(done);
            }
            return Err(reason);
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// Puts the result together.
    fn conclude(mut self, verdict: ReachVerdict) -> LoopAnalysis {
        let is_safe = matches!(verdict, ReachVerdict::Safe { .. });
        let statistics = &mut self.statistics;
        statistics.parts = self.finished.len() as u64;
        statistics.times = self.sets.times;
        statistics.cells = self.sets.controls.cells().len() as u64;
        for Finished { outcome, .. } in &self.finished {
            statistics.parts_verified += u64::from(is_safe || !outcome.has_ended());
            for (step, count) in outcome.boxes.iter().enumerate() {
                if statistics.boxes_per_step.len() <= step {
                    statistics.boxes_per_step.push(0);
                }
                statistics.boxes_per_step[step] += count;
                statistics.most_boxes = statistics.most_boxes.max(*count);
            }
        }
        let mut samples = Vec::new();
        let mut random = 0x853c_49e6_748f_ea9bu64;
        for _ in 0..self.config.samples {
            let start = random_state(&self.task.initial, &mut random);
            // After a stop there are none.
            let gusts = Gusts::Random(random);
            let Ok(followed) = self.simulator().follow(&start, gusts) else { break };
            samples.push(path(&followed));
        }
        let (recorded, cells) =
            if self.config.record { self.recorded() } else { (Vec::new(), Vec::new()) };
        let parts = self.finished.iter().map(|done| done.open.part.clone()).collect();
        LoopAnalysis {
            verdict,
            exact: R::EXACT,
            statistics: self.statistics,
            recorded,
            cells,
            parts,
            samples,
        }
    }

    /// The boxes of every step, without repetitions, and the cells met.
    #[expect(clippy::type_complexity, reason = "two results of one loop")]
    fn recorded(&self) -> (Vec<Vec<StateBox>>, Vec<Vec<(Rational, Rational)>>) {
        let n = self.task.dimension();
        let mut steps: Vec<Vec<StateBox>> = Vec::new();
        for Finished { outcome, .. } in &self.finished {
            for (step, sides) in outcome.recorded.iter().enumerate() {
                if steps.len() <= step {
                    steps.push(Vec::new());
                }
                let boxes = sides.chunks_exact(n).map(|b| b.iter().map(described).collect());
                steps[step].extend(boxes);
            }
        }
        for boxes in &mut steps {
            boxes.sort_by(compare_boxes);
            boxes.dedup();
        }
        let mut cells = BTreeSet::new();
        for cell in self.sets.controls.cells() {
            let edges = self.task.grid.iter().flat_map(|grid| grid.edges_of(cell));
            let bounds = edges.map(|(lo, hi)| (lo.exact().clone(), hi.exact().clone()));
            cells.insert(bounds.collect());
        }
        (steps, cells.into_iter().collect())
    }
}

fn compare_boxes(a: &StateBox, b: &StateBox) -> std::cmp::Ordering {
    let keys = |state: &StateBox| -> Vec<(f64, f64)> {
        state.iter().map(|range| (range.outer.lo(), range.outer.hi())).collect()
    };
    let (a, b) = (keys(a), keys(b));
    a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal)
}

fn unsafe_verdict<R: ClosedRange>(violation: Violation<R>) -> ReachVerdict {
    let trajectories = violation.trajectories.iter().map(path).collect();
    ReachVerdict::Unsafe(Counterexample { kind: violation.kind, trajectories })
}

fn path<R: ClosedRange>(trajectory: &Trajectory<R>) -> ReportedTrajectory {
    let described = |states: &[Vec<R>]| -> Vec<StateBox> {
        states.iter().map(|state| state.iter().map(described).collect()).collect()
    };
    ReportedTrajectory {
        start: trajectory.start.clone(),
        states: described(&trajectory.states),
        actions: described(&trajectory.actions),
        disturbances: trajectory.disturbances.clone(),
    }
}

fn unknown_cause<R: ClosedRange>(
    part: &Part,
    outcome: &PartOutcome<R>,
    end: RefinementEnd,
) -> UnknownCause {
    match outcome.obstacle.as_ref().or(outcome.cut_off.as_ref()) {
        Some(found) => UnknownCause::Obstacle {
            kind: found.kind,
            step: found.step,
            state: found.state.iter().map(described).collect(),
            part: part.clone(),
            end,
        },
        None => UnknownCause::NoCommonStep(end),
    }
}
