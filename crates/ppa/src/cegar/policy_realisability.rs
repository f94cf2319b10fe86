//! Realisability of an abstract path under the policy (spuriousness i-b): is there a run that
//! follows it and in which the policy chooses every label?
//!
//! Best-first branch and bound over start states and free choices. A box is refuted where the
//! policy chooses the label of some step nowhere in the box's image there; a point is followed
//! exactly. Where the search ends without an answer, the run that came furthest is refined on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::{Condition, VarId};
use policert_numeric::{IntBox, IntInterval};

use super::realisability::{StartPart, solution};
use super::run::{End, Follower, PathRun};
use crate::queries::Queries;
use crate::region::Region;

/// Boxes that are looked at for each path.
const BOX_LIMIT: usize = 64;

/// The number of further runs that are looked for in a box before it is split.
const TRIES: usize = 4;

/// Holds what the search works on.
#[derive(Debug)]
pub(crate) struct PolicyRealisability<'r, 'p, 'f, 's, 'q> {
    pub follower: &'f mut Follower<'r, 'p>,
    /// The variables that the policy's choice depends on.
    pub choice_variables: &'f [usize],
    pub queries: &'q mut Queries<'s>,
    pub budget: &'q mut Budget,
}

/// The boxes that wait, the furthest run first, then the oldest.
type Waiting = BTreeMap<(Reverse<usize>, usize), (PathRun, IntBox)>;

impl PolicyRealisability<'_, '_, '_, '_, '_> {
    /// The run that comes furthest along the path of those that were tried, from start states of
    /// these parts; `None` if no run exists in the environment.
    ///
    /// # Errors
    /// A stop of the budget, a query that is not decided, or a modelling error.
    pub fn furthest_run(&mut self, parts: &[StartPart]) -> Result<Option<PathRun>, EngineError> {
        let mut best: Option<PathRun> = None;
        for part in parts {
            self.search(part, &mut best)?;
            if best.as_ref().is_some_and(|run| matches!(run.end, End::Unsafe)) {
                break;
            }
        }
        Ok(best)
    }

    fn search(&mut self, part: &StartPart, best: &mut Option<PathRun>) -> Result<(), EngineError> {
        let conditions: Vec<&Condition> =
            self.follower.encoding.requirements.iter().map(|r| &r.initially).collect();
        let whole = part.region().restrict(conditions);
        let mut waiting = Waiting::new();
        let mut boxes = 0;
        self.consider(&whole, &mut boxes, &mut waiting, best)?;
        while let Some((_, (run, sides))) = waiting.pop_first() {
            if matches!(run.end, End::Unsafe) || boxes >= BOX_LIMIT {
                return Ok(());
            }
            let Some((d, at)) = self.cut(&run, &sides) else { continue };
            for high in [false, true] {
                let mut part = whole.clone();
                part.sides = sides.clone();
                let side = &mut part.sides[d];
                *side = if high {
                    IntInterval::new(at + 1, side.hi)
                } else {
                    IntInterval::new(side.lo, at)
                };
                let part = Region::new(part.sides, part.conditions);
                self.consider(&part, &mut boxes, &mut waiting, best)?;
            }
        }
        Ok(())
    }

    /// Tries runs from a box, and puts it among the waiting ones if it may hold others.
    fn consider(
        &mut self,
        part: &Region<'_>,
        boxes: &mut usize,
        waiting: &mut Waiting,
        best: &mut Option<PathRun>,
    ) -> Result<(), EngineError> {
        *boxes += 1;
        let Some(mut point) = solution(part, self.queries, self.budget)? else { return Ok(()) };
        let mut furthest: Option<PathRun> = None;
        for _ in 0..TRIES {
            let run = self.follower.follow(&point, self.queries, self.budget)?;
            let further = furthest.as_ref().is_none_or(|known| known.steps() < run.steps());
            if best.as_ref().is_none_or(|known| is_better(&run, known)) {
                *best = Some(run.clone());
            }
            if further || matches!(run.end, End::Unsafe) {
                furthest = Some(run.clone());
            }
            let End::Choice(output) = run.end else { break };
            match self.other_start(part, &run, output)? {
                Elsewhere::Nowhere => return Ok(()),
                Elsewhere::At(next) if further => point = next,
                _ => break,
            }
        }
        if let Some(run) = furthest {
            let key = (Reverse(run.steps()), *boxes);
            waiting.insert(key, (run, part.sides.clone()));
        }
        Ok(())
    }

    /// Returns where in a box the policy may choose the label at which a run ended.
    fn other_start(
        &mut self,
        part: &Region<'_>,
        run: &PathRun,
        output: usize,
    ) -> Result<Elsewhere, EngineError> {
        let step = run.steps();
        let Some(moment) = self.follower.encoding.moments.get(step) else {
            return Ok(Elsewhere::Unknown);
        };
        let requirements = self.follower.path.requirements(self.follower.abstraction, step);
        let mut image = self.follower.path.region(self.follower.abstraction, step, &requirements);
        for (side, &bound) in
            image.sides.sides_mut().iter_mut().zip(moment.image(&part.sides).sides())
        {
            *side = side.intersect(bound);
        }
        if image.is_empty() {
            return Ok(Elsewhere::Nowhere);
        }
        let image = Region::new(image.sides, image.conditions);
        let witness = match self.queries.t_sat_pi(&image, output, self.budget)? {
            Answer::Refuted => return Ok(Elsewhere::Nowhere),
            Answer::Possible(None) => return Ok(Elsewhere::Unknown),
            Answer::Possible(Some(witness)) => witness,
        };
        let equalities: Vec<Condition> = self
            .choice_variables
            .iter()
            .map(|&v| moment.equals(VarId::new(v), witness[v]))
            .collect();
        let back = part.restrict(&equalities);
        Ok(match solution(&back, self.queries, self.budget)? {
            Some(point) => Elsewhere::At(point),
            None => Elsewhere::Unknown,
        })
    }

    /// Returns where to split a box: the widest dimension that the choice at the end of the run
    /// depends on, or that of the steps before; `None` if all of them are points.
    fn cut(&self, run: &PathRun, sides: &IntBox) -> Option<(usize, i64)> {
        let mut reads = Vec::new();
        for moment in self.follower.encoding.moments.iter().take(run.steps() + 1) {
            for &v in self.choice_variables {
                moment.reads(v, &mut reads);
            }
        }
        let reads: BTreeSet<usize> = reads.into_iter().collect();
        let widest = reads
            .into_iter()
            .filter(|&d| !sides[d].is_point())
            .max_by_key(|&d| (sides[d].count(), Reverse(d)))?;
        Some((widest, sides[widest].midpoint()))
    }
}

/// Says where else a label may be chosen.
#[derive(Debug)]
enum Elsewhere {
    /// Nowhere in the box.
    Nowhere,
    /// At a run from this point.
    At(Vec<i64>),
    /// Not known.
    Unknown,
}

/// Returns whether a run is better to refine on than another: it comes further, and its end is
/// decided.
fn is_better(run: &PathRun, known: &PathRun) -> bool {
    let rank = |run: &PathRun| match run.end {
        End::Unsafe => (2, 0),
        End::Undecided => (0, run.steps()),
        _ => (1, run.steps()),
    };
    rank(run) > rank(known)
}
