//! Rounds: all open parts are worked on, then those that are not verified are halved.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use policert_engine_api::{Budget, Event, Limits, Observer, StopReason};
use policert_numeric::Rational;

use super::{
    Analysis, Config, Counterexample, Path, ReachStatistics, ReachVerdict, StateBox, UnknownCause,
    described,
};
use crate::journal::Journal;
use crate::outcome::Outcome;
use crate::range::Range;
use crate::reachable_sets::{Part, ReachableSets};
use crate::task::{AfterGoal, GoalRule, Task};
use crate::trajectory::{Simulator, Trajectory, Violation, random_state, start_states};

/// Trajectories that are tried before anything else.
const FIRST_STARTS: usize = 3;
/// So many parts that are not verified are searched for counterexamples in each round, …
const SEARCHED_PARTS: usize = 24;
/// … with so many random trajectories each.
const RANDOM_STARTS: usize = 12;

pub(super) struct Rounds<'a, R> {
    task: &'a Task,
    config: &'a Config,
    sets: ReachableSets<'a, R>,
    budget: Budget,
    statistics: ReachStatistics,
    /// Results that count: parts that were not halved.
    finished: Vec<(Part, Outcome<R>)>,
}

/// A part with the number of halvings that led to it.
type OpenPart = (Part, u32);

impl<'a, R: Range> Rounds<'a, R> {
    pub(super) fn new(
        task: &'a Task,
        config: &'a Config,
        sets: ReachableSets<'a, R>,
        budget: Budget,
    ) -> Self {
        let statistics = ReachStatistics::default();
        Self { task, config, sets, budget, statistics, finished: Vec::new() }
    }

    pub(super) fn answer(
        mut self,
        journal: Option<&mut Journal>,
        observer: &mut dyn Observer,
    ) -> Analysis {
        let begin = Instant::now();
        let verdict = match self.rounds(journal, observer) {
            Ok(verdict) => verdict,
            Err(reason) => ReachVerdict::Unknown(UnknownCause::Stopped(reason)),
        };
        self.statistics.time = begin.elapsed();
        self.statistics.cells = self.statistics.cells.max(self.sets.controls.cells().len() as u64);
        self.conclude(verdict)
    }

    fn rounds(
        &mut self,
        mut journal: Option<&mut Journal>,
        observer: &mut dyn Observer,
    ) -> Result<ReachVerdict, StopReason> {
        self.budget.poll_clock()?;
        observer.event(Event::Phase("trajectories"));
        let whole = self.task.initial.clone();
        let mut first = start_states(&whole, 0);
        first.truncate(FIRST_STARTS);
        // Boxes that are wanted are computed, whatever a trajectory shows.
        if !self.config.record
            && let Some(violation) = self.violation(&first)?
        {
            return Ok(unsafe_verdict(violation));
        }
        let mut open: Vec<OpenPart> =
            parts(&self.task.partition).into_iter().map(|part| (part, 0)).collect();
        loop {
            observer.event(Event::Phase("reachable boxes"));
            let outcomes = self.run_all(&open, journal.as_deref_mut(), observer)?;
            let mut failed = Vec::new();
            for ((part, depth), outcome) in open.drain(..).zip(outcomes) {
                if outcome.obstacle.is_some() {
                    failed.push((part, depth, outcome));
                } else {
                    self.finished.push((part, outcome));
                }
            }
            if failed.is_empty() {
                match self.common_step() {
                    Ok(goal_step) => return Ok(ReachVerdict::Safe { goal_step }),
                    Err(open) => failed = self.take_finished(&open),
                }
            }
            observer.event(Event::Phase("counterexamples"));
            let mut violation = None;
            for (part, _, _) in failed.iter().take(SEARCHED_PARTS) {
                self.budget.poll_clock()?;
                violation = self.violation(&start_states(part, RANDOM_STARTS))?;
                if violation.is_some() {
                    break;
                }
            }
            if let Some(violation) = violation {
                self.finished.extend(failed.into_iter().map(|(part, _, outcome)| (part, outcome)));
                return Ok(unsafe_verdict(violation));
            }
            let exhausted = failed
                .iter()
                .position(|(part, depth, _)| *depth >= self.config.refinements || is_point(part));
            if let Some(position) = exhausted {
                let cause = unknown_cause(&failed[position].0, &failed[position].2);
                self.finished.extend(failed.into_iter().map(|(part, _, outcome)| (part, outcome)));
                return Ok(ReachVerdict::Unknown(cause));
            }
            self.statistics.parts_refined += failed.len() as u64;
            for (part, depth, _) in failed {
                open.extend(self.halves(&part).map(|half| (half, depth + 1)));
            }
        }
    }

    fn violation(&mut self, starts: &[Vec<Rational>]) -> Result<Option<Violation<R>>, StopReason> {
        self.simulator().violation(starts)
    }

    fn simulator(&mut self) -> Simulator<'_, 'a, R> {
        Simulator {
            task: self.task,
            controls: &mut self.sets.controls,
            post: &mut self.sets.post,
            budget: &mut self.budget,
        }
    }

    /// The step at which all is well: the common one for the question about all at once, the last
    /// one for that about each. Otherwise the positions of the results that stand against it.
    fn common_step(&self) -> Result<Option<u32>, Vec<usize>> {
        if self.task.goal.is_none() {
            return Ok(None);
        }
        if self.task.question.goal == GoalRule::Each {
            return Ok(self.finished.iter().filter_map(|(_, o)| o.absorbed_at).max());
        }
        let stop = self.task.question.after_goal == AfterGoal::Stop;
        let fits = |outcome: &Outcome<R>, step: u32| {
            let inside = outcome.goal_steps.get(step as usize).copied().unwrap_or(false);
            let before = outcome.first_unsafe.as_ref().is_none_or(|found| step < found.step);
            inside && (before || !stop)
        };
        let mut best = (0, 0);
        for step in 0..=self.task.steps {
            let count = self.finished.iter().filter(|(_, outcome)| fits(outcome, step)).count();
            if count == self.finished.len() {
                return Ok(Some(step));
            }
            if count > best.0 {
                best = (count, step);
            }
        }
        let misses = |(_, (_, outcome)): &(usize, &(Part, Outcome<R>))| !fits(outcome, best.1);
        Err(self.finished.iter().enumerate().filter(misses).map(|(i, _)| i).collect())
    }

    /// Takes results back: their parts are open again.
    fn take_finished(&mut self, positions: &[usize]) -> Vec<(Part, u32, Outcome<R>)> {
        let mut taken = Vec::with_capacity(positions.len());
        for &position in positions.iter().rev() {
            let (part, outcome) = self.finished.remove(position);
            let depth = self.depth(&part);
            taken.push((part, depth, outcome));
        }
        taken.reverse();
        taken
    }

    /// How often a part was halved, by its size.
    fn depth(&self, part: &Part) -> u32 {
        let mut depth = 0;
        for ((lo, hi), cuts) in part.iter().zip(&self.task.partition) {
            let inside = cuts.windows(2).find(|pair| pair[0] <= *lo && *hi <= pair[1]);
            let Some(pair) = inside else { continue };
            let mut width = &pair[1] - &pair[0];
            let own = hi - lo;
            while own < width && depth < 64 {
                width *= Rational::new(1, 2).unwrap_or_default();
                depth += 1;
            }
        }
        depth
    }

    /// A part cut in two across the variable in which it is widest, measured in cells.
    fn halves(&self, part: &Part) -> impl Iterator<Item = Part> {
        let width = |i: usize| {
            let (lo, hi) = &part[i];
            let axis = self.task.grid.as_ref().and_then(|grid| grid.axes().get(i));
            let cell = axis.map(|axis| axis.edge(1).exact() - axis.edge(0).exact());
            (hi - lo).checked_div(&cell.unwrap_or(Rational::ONE)).unwrap_or_default()
        };
        let mut widest = 0;
        for i in 1..part.len() {
            if width(i) > width(widest) {
                widest = i;
            }
        }
        let middle = (&part[widest].0 + &part[widest].1) * Rational::new(1, 2).unwrap_or_default();
        let (mut left, mut right) = (part.clone(), part.clone());
        left[widest].1 = middle.clone();
        right[widest].0 = middle;
        [left, right].into_iter()
    }

    /// The results of some parts, in their order.
    fn run_all(
        &mut self,
        open: &[OpenPart],
        mut journal: Option<&mut Journal>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Outcome<R>>, StopReason> {
        let mut results: Vec<Option<Outcome<R>>> = Vec::with_capacity(open.len());
        for (part, _) in open {
            // A journal has no boxes.
            let journal = journal.as_deref().filter(|_| !self.config.record);
            let known = journal.and_then(|journal| journal.outcome(part));
            self.statistics.parts_resumed += u64::from(known.is_some());
            results.push(known);
        }
        let waiting: Vec<usize> = (0..open.len()).filter(|&i| results[i].is_none()).collect();
        let mut done = 0u64;
        let mut boxes = 0u64;
        let mut report = |i: usize, outcome: &Outcome<R>| {
            done += 1;
            boxes += outcome.boxes.iter().sum::<u64>();
            observer.event(Event::Progress {
                expanded: done,
                reached: boxes,
                waiting: waiting.len() as u64 - done,
                transitions: 0,
            });
            if let Some(journal) = journal.as_deref_mut() {
                journal.add(&open[i].0, outcome);
            }
        };
        let mut stopped = None;
        if self.config.threads <= 1 || waiting.len() <= 1 {
            for &i in &waiting {
                match self.sets.run(&open[i].0, &mut self.budget) {
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
            let cells = parallel(
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
            self.statistics.cells = self.statistics.cells.max(cells);
        }
        if let Some(reason) = stopped {
            // What is finished still counts in the statistics.
            for ((part, _), outcome) in open.iter().zip(results) {
                self.finished.extend(outcome.map(|outcome| (part.clone(), outcome)));
            }
            return Err(reason);
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// Puts the result together.
    fn conclude(mut self, verdict: ReachVerdict) -> Analysis {
        let statistics = &mut self.statistics;
        statistics.parts = self.finished.len() as u64;
        for (_, outcome) in &self.finished {
            statistics.parts_verified += u64::from(outcome.obstacle.is_none());
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
            let Ok(followed) = self.simulator().follow(&start) else { break };
            samples.push(path(&followed));
        }
        let (recorded, cells) =
            if self.config.record { self.recorded() } else { (Vec::new(), Vec::new()) };
        Analysis { verdict, exact: R::EXACT, statistics: self.statistics, recorded, cells, samples }
    }

    /// The boxes of every step, without repetitions, and the cells met.
    #[expect(clippy::type_complexity, reason = "two results of one loop")]
    fn recorded(&self) -> (Vec<Vec<StateBox>>, Vec<Vec<(Rational, Rational)>>) {
        let n = self.task.dimension();
        let mut steps: Vec<Vec<StateBox>> = Vec::new();
        for (_, outcome) in &self.finished {
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

/// Works on parts with several threads; hands results over as they come. Returns the number of
/// cells met by all threads together.
fn parallel<R: Range>(
    sets: &ReachableSets<'_, R>,
    budget: &Budget,
    threads: usize,
    waiting: &[usize],
    open: &[OpenPart],
    mut result: impl FnMut(usize, Result<Outcome<R>, StopReason>),
) -> u64 {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let limits = budget.limits().clone();
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let mut workers = Vec::with_capacity(threads);
        for _ in 0..threads {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            let mut sets = sets.clone();
            let limits = Limits { time: budget.remaining(), ..limits.clone() };
            let mut budget = Budget::new(limits, budget.cancel_flag().clone());
            workers.push(scope.spawn(move || {
                while !stop.load(Ordering::Relaxed)
                    && let Some(&i) = waiting.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let outcome = sets.run(&open[i].0, &mut budget);
                    if outcome.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    if sender.send((i, outcome)).is_err() {
                        break;
                    }
                }
                sets.controls.cells().len() as u64
            }));
        }
        drop(sender);
        for (i, outcome) in receiver {
            result(i, outcome);
        }
        workers.into_iter().filter_map(|worker| worker.join().ok()).max().unwrap_or(0)
    })
}

/// All parts of a partition, the last variable changing fastest.
fn parts(partition: &[Vec<Rational>]) -> Vec<Part> {
    let mut parts: Vec<Part> = vec![Vec::new()];
    for cuts in partition {
        let mut longer = Vec::with_capacity(parts.len() * cuts.len());
        for part in &parts {
            for pair in cuts.windows(2) {
                let mut part = part.clone();
                part.push((pair[0].clone(), pair[1].clone()));
                longer.push(part);
            }
        }
        parts = longer;
    }
    parts
}

fn is_point(part: &Part) -> bool {
    part.iter().all(|(lo, hi)| lo == hi)
}

fn unsafe_verdict<R: Range>(violation: Violation<R>) -> ReachVerdict {
    let trajectories = violation.trajectories.iter().map(path).collect();
    ReachVerdict::Unsafe(Counterexample { kind: violation.kind, trajectories })
}

fn path<R: Range>(trajectory: &Trajectory<R>) -> Path {
    let described = |states: &[Vec<R>]| -> Vec<StateBox> {
        states.iter().map(|state| state.iter().map(described).collect()).collect()
    };
    Path {
        start: trajectory.start.clone(),
        states: described(&trajectory.states),
        actions: described(&trajectory.actions),
    }
}

fn unknown_cause<R: Range>(part: &Part, outcome: &Outcome<R>) -> UnknownCause {
    match outcome.obstacle.as_ref().or(outcome.first_unsafe.as_ref()) {
        Some(found) => UnknownCause::Obstacle {
            kind: found.kind,
            step: found.step,
            state: found.state.iter().map(described).collect(),
            part: part.clone(),
        },
        None => UnknownCause::NoCommonStep,
    }
}
