//! Parts of the initial box: cut by the task, halved, and worked on by several threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use policert_control_loop::{Cell, ClosedRange, Task};
use policert_engine_api::{Budget, StopReason};
use policert_numeric::Rational;

use crate::outcome::PartOutcome;
use crate::phase_times::PhaseTimes;
use crate::reachable_sets::{Part, ReachableSets};

/// A part with the number of halvings that led to it.
#[derive(Clone, Debug)]
pub(super) struct OpenPart {
    pub part: Part,
    pub depth: u32,
}

/// A part with its result.
#[derive(Debug)]
pub(super) struct Finished<R> {
    pub open: OpenPart,
    pub outcome: PartOutcome<R>,
}

/// A part cut in two across the variable that is `decisive`, else the one in which it is widest,
/// measured in cells.
pub(super) fn halves(task: &Task, part: &Part, decisive: Option<usize>) -> [Part; 2] {
    let width = |i: usize| {
        let (lo, hi) = &part[i];
        let axis = task.grid.as_ref().and_then(|grid| grid.axes().get(i));
        let cell = axis.map(|axis| axis.edge(1).exact() - axis.edge(0).exact());
        (hi - lo).checked_div(&cell.unwrap_or(Rational::ONE)).unwrap_or_default()
    };
    let decisive = decisive.filter(|&i| part.get(i).is_some_and(|(lo, hi)| lo < hi));
    let widest = decisive.unwrap_or_else(|| {
        (1..part.len()).fold(0, |widest, i| if width(i) > width(widest) { i } else { widest })
    });
    let middle = (&part[widest].0 + &part[widest].1) * Rational::new(1, 2).unwrap_or_default();
    let (mut left, mut right) = (part.clone(), part.clone());
    left[widest].1 = middle.clone();
    right[widest].0 = middle;
    [left, right]
}

/// Works on parts with several threads; hands results over as they come. Returns for each thread the cells that
/// it met, and the time in each step of the algorithm.
pub(super) fn parallel<R: ClosedRange>(
    sets: &ReachableSets<'_, R>,
    budget: &Budget,
    threads: usize,
    waiting: &[usize],
    open: &[OpenPart],
    mut result: impl FnMut(usize, Result<PartOutcome<R>, StopReason>),
) -> Vec<(Vec<Cell>, PhaseTimes)> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let known = sets.controls.cells().len();
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let mut workers = Vec::with_capacity(threads);
        for _ in 0..threads {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            let mut sets = sets.clone();
            sets.times = PhaseTimes::default();
            let mut budget = budget.fork();
            workers.push(scope.spawn(move || {
                while !stop.load(Ordering::Relaxed)
                    && let Some(&i) = waiting.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let outcome = sets.run(&open[i].part, &mut budget);
                    if outcome.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    if sender.send((i, outcome)).is_err() {
                        break;
                    }
                }
                (sets.controls.cells()[known..].to_vec(), sets.times)
            }));
        }
        drop(sender);
        for (i, outcome) in receiver {
            result(i, outcome);
        }
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    })
}

/// All parts of a partition, the last variable changing fastest.
pub(super) fn parts(
    partition: &[Vec<Rational>],
    budget: &mut Budget,
) -> Result<Vec<OpenPart>, StopReason> {
    let mut parts: Vec<Part> = vec![Vec::new()];
    for cuts in partition {
        let mut longer = Vec::with_capacity(parts.len() * cuts.len().saturating_sub(1));
        for part in &parts {
            for pair in cuts.windows(2) {
                budget.poll()?;
                let mut part = part.clone();
                part.push((pair[0].clone(), pair[1].clone()));
                longer.push(part);
            }
        }
        parts = longer;
    }
    Ok(parts.into_iter().map(|part| OpenPart { part, depth: 0 }).collect())
}

pub(super) fn is_point(part: &Part) -> bool {
    part.iter().all(|(lo, hi)| lo == hi)
}
