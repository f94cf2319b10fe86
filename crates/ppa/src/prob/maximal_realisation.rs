//! The start state from which most of a set of abstract unsafe paths can be followed
//! (maxPr of a set of paths, spuriousness ii-a).
//!
//! Few start states are tried one by one. Of many, boxes are: a box is worth the paths that bounds
//! do not refute in it, the best one is tried at a point and halved.

use std::collections::BinaryHeap;

use policert_engine_api::{Budget, EngineError};
use policert_model::{Condition, State};
use policert_numeric::{IntBox, IntInterval, Rational};

use super::concrete_runs::Weight;
use crate::abstraction::Abstraction;
use crate::cegar::path::AbstractPath;
use crate::cegar::path_condition::PathCondition;
use crate::cegar::policy_choice::PolicyChoice;
use crate::cegar::realisability::{StartPart, solution};
use crate::cegar::run::{End, Follower};
use crate::queries::Queries;
use crate::region::Region;

/// An abstract unsafe path that can be followed in the environment.
pub(crate) struct CollectedPath {
    pub path: AbstractPath,
    pub encoding: PathCondition,
    pub parts: Vec<StartPart>,
    /// Its probability under the adversary.
    pub probability: Rational,
    /// A start state, with free choices, from which it can be followed.
    pub point: State,
}

/// The best start state that was found.
pub(crate) struct MaximalRealisation {
    pub start: State,
    /// The paths that can be followed from there, and their probability.
    pub followed: Vec<usize>,
    pub probability: Rational,
}

/// Holds what start states are compared with.
pub(crate) struct Realiser<'r, 's, 'q> {
    pub abstraction: &'r Abstraction<'r>,
    pub paths: &'q [CollectedPath],
    pub queries: &'q mut Queries<'s>,
    pub budget: &'q mut Budget,
}

/// The most boxes that are looked at.
const BOX_LIMIT: usize = 256;

impl Realiser<'_, '_, '_> {
    /// The start state from which the paths that can be followed weigh most.
    ///
    /// # Errors
    /// A stop of the budget, or a query that is not decided.
    pub fn maximal(&mut self, starts: Option<&[State]>) -> Result<MaximalRealisation, EngineError> {
        let points: Vec<State> = self.paths.iter().map(|path| self.state_of(&path.point)).collect();
        let mut best = self.best_of(points)?;
        match starts {
            Some(starts) => {
                let other = self.best_of(starts.to_vec())?;
                if other.probability > best.probability {
                    best = other;
                }
            }
            None => self.search(&mut best)?,
        }
        Ok(best)
    }

    fn state_of(&self, point: &[i64]) -> State {
        point[..self.abstraction.predicates.domains().dimensions()].to_vec()
    }

    fn best_of(
        &mut self,
        starts: impl IntoIterator<Item = State>,
    ) -> Result<MaximalRealisation, EngineError> {
        let starts: Vec<State> = starts.into_iter().collect();
        let mut best = MaximalRealisation {
            start: State::new(),
            followed: Vec::new(),
            probability: Rational::ZERO,
        };
        for start in starts {
            let (followed, probability) = self.follow_all(&start, None)?;
            if best.start.is_empty() || probability > best.probability {
                best = MaximalRealisation { start, followed, probability };
            }
        }
        Ok(best)
    }

    /// The paths that can be followed from a start state, under the policy if it is given.
    ///
    /// # Errors
    /// As [`Realiser::maximal`].
    pub fn follow_all(
        &mut self,
        start: &State,
        mut policy: Option<&mut PolicyChoice<'_>>,
    ) -> Result<(Vec<usize>, Rational), EngineError> {
        let mut followed = Vec::new();
        let mut sum = Rational::ZERO;
        for (i, path) in self.paths.iter().enumerate() {
            self.budget.poll()?;
            let mut sides = path.encoding.sides.clone();
            for (side, &value) in sides.sides_mut().iter_mut().zip(start) {
                *side = IntInterval::point(value);
            }
            // Free choices by which the requirements are met, if there are some.
            let point = if sides.dimensions() == start.len() {
                start.clone()
            } else {
                let conditions = path.encoding.requirements.iter().map(|r| &r.initially);
                let region = Region::new(sides, conditions);
                match solution(&region, self.queries, self.budget)? {
                    Some(point) => point,
                    None => continue,
                }
            };
            let mut follower = Follower {
                abstraction: self.abstraction,
                path: &path.path,
                encoding: &path.encoding,
                policy: policy.as_deref_mut(),
            };
            let run = follower.follow(&point, self.queries, self.budget)?;
            if matches!(run.end, End::Unsafe) {
                followed.push(i);
                sum = &sum + &path.probability;
            }
        }
        Ok((followed, sum))
    }

    /// Improves the best start state by boxes of start states.
    fn search(&mut self, best: &mut MaximalRealisation) -> Result<(), EngineError> {
        let Some(first) = self.paths.first() else { return Ok(()) };
        let dimensions = self.abstraction.predicates.domains().dimensions();
        let mut waiting: BinaryHeap<(Weight, std::cmp::Reverse<usize>)> = BinaryHeap::new();
        let mut boxes: Vec<(IntBox, Rational)> = Vec::new();
        let paths = self.paths;
        let add =
            |sides: IntBox, waiting: &mut BinaryHeap<_>, boxes: &mut Vec<(IntBox, Rational)>| {
                let at_most = self.at_most(paths, &sides);
                waiting.push((Weight(at_most.to_f64_interval().1), std::cmp::Reverse(boxes.len())));
                boxes.push((sides, at_most));
            };
        for part in &first.parts {
            let mut sides = part.region().sides;
            if !sides.is_empty() {
                sides = IntBox::new(sides.sides()[..dimensions].to_vec());
                add(sides, &mut waiting, &mut boxes);
            }
        }
        let mut tried = Vec::new();
        while let Some((_, std::cmp::Reverse(at))) = waiting.pop() {
            let (sides, at_most) = boxes[at].clone();
            if at_most <= best.probability || boxes.len() >= BOX_LIMIT {
                break;
            }
            let widest = (0..dimensions)
                .filter(|&d| !sides[d].is_point())
                .max_by_key(|&d| (sides[d].count(), std::cmp::Reverse(d)));
            let Some(d) = widest else {
                tried.push(sides.lower_corner());
                break;
            };
            let middle = sides[d].midpoint();
            for half in
                [IntInterval::new(sides[d].lo, middle), IntInterval::new(middle + 1, sides[d].hi)]
            {
                let mut part = sides.clone();
                part[d] = half;
                add(part, &mut waiting, &mut boxes);
            }
        }
        // The points of the paths were tried before.
        let other = self.best_of(tried)?;
        if other.probability > best.probability {
            *best = other;
        }
        Ok(())
    }

    /// The probability of the paths that bounds do not refute in a box of start states.
    fn at_most(&self, paths: &[CollectedPath], sides: &IntBox) -> Rational {
        let mut sum = Rational::ZERO;
        for path in paths {
            let possible = path.parts.iter().any(|part| {
                let mut region = part.region();
                let mut all = region.sides.clone();
                for (side, &bound) in all.sides_mut().iter_mut().zip(sides.sides()) {
                    *side = side.intersect(bound);
                }
                if all.is_empty() {
                    return false;
                }
                region.sides = all;
                let conditions: Vec<&Condition> = std::mem::take(&mut region.conditions);
                let initially = path.encoding.requirements.iter().map(|r| &r.initially);
                !Region::new(region.sides, conditions.into_iter().chain(initially)).is_empty()
            });
            if possible {
                sum = &sum + &path.probability;
            }
        }
        sum
    }
}
