//! The evidence where the network reads the state: parts of the initial box, and stretches of time, from which the
//! check shows by affine forms what was asked.

use policert_certify::{LoopCheck, LoopChoices, LoopError, LoopFlaw, LoopPart};
use policert_engine_api::Budget;
use policert_numeric::Rational;
use policert_outcome::Failure;
use policert_reach::Task;

use super::refused;

/// More parts than this are not tried.
const MOST_PARTS: usize = 4096;

/// Stretches of a step that are tried, the first ones first.
const STRETCHES: [u32; 3] = [4, 12, 36];

type Part = Vec<(Rational, Rational)>;

/// Stretches of a step, and how choices are followed.
type Way = (u32, LoopChoices);

/// How many sets show what was asked, or at which step it is not shown.
type Followed = Result<u32, (u32, LoopFlaw)>;

/// Parts that the check confirms, or the reason why there are none.
pub(super) fn parts(
    task: &Task,
    check: &mut LoopCheck<'_>,
    (verified, goal_step): (&[Part], Option<u32>),
    budget: &mut Budget,
) -> Result<Result<Vec<LoopPart>, String>, Failure> {
    let mut open: Vec<Part> = verified.iter().rev().cloned().collect();
    let mut confirmed = Vec::new();
    // Finer stretches that helped once are tried first from then on.
    let mut finest = 0;
    // So are choices together.
    let chooses = task.action.choices.is_some();
    let mut choices = LoopChoices::Apart;
    let mut tried = 0;
    while let Some(part) = open.pop() {
        tried += 1;
        let mut follow = |part: &Part, way: Way| -> Result<Result<Followed, String>, Failure> {
            match check.follow(part, way, goal_step, budget) {
                Ok(followed) => Ok(Ok(followed)),
                Err(LoopError::Stopped(reason)) => Err(Failure::Stopped(reason)),
                Err(LoopError::Unsupported(what)) => Ok(Err(format!("there is none of {what}"))),
                Err(error) => Ok(Err(error.to_string())),
            }
        };
        let mut try_with = |part: &Part, at: usize| -> Result<_, Failure> {
            let followed = follow(part, (STRETCHES[at], choices))?;
            let (Ok(Err((step, _))), true) = (&followed, choices == LoopChoices::Apart && chooses)
            else {
                return Ok(followed.map(|followed| (followed, choices)));
            };
            let together = follow(part, (STRETCHES[at], LoopChoices::Together))?;
            let is_further = match &together {
                Ok(Err((later, _))) => later >= step,
                Ok(Ok(_)) | Err(_) => true,
            };
            Ok(if is_further {
                choices = LoopChoices::Together;
                together.map(|together| (together, choices))
            } else {
                followed.map(|followed| (followed, choices))
            })
        };
        let mut best: Option<(u32, String)> = None;
        let mut found = None;
        let mut furthest = finest;
        for at in finest..STRETCHES.len() {
            match try_with(&part, at)? {
                Err(why) => return Ok(Err(why)),
                Ok((Ok(_), choices)) => {
                    found = Some((at, choices));
                    break;
                }
                Ok((Err((step, flaw)), _)) => {
                    let is_further = best.as_ref().is_none_or(|(known, _)| step > *known);
                    if !is_further {
                        break;
                    }
                    best = Some((step, refused(step, &flaw)));
                    furthest = at;
                }
            }
        }
        finest = furthest;
        if let Some((at, choices)) = found {
            confirmed.push(LoopPart {
                initial: part,
                steps: Vec::new(),
                stretches: Some(STRETCHES[at]),
                choices,
            });
            continue;
        }
        let why = best.map_or_else(String::new, |(_, why)| why);
        if tried > MOST_PARTS {
            return Ok(Err(why));
        }
        // Across the variable whose halves are followed furthest.
        let mut halves: Option<(u32, [Part; 2])> = None;
        for i in 0..task.dimension() {
            let (lo, hi) = &part[i];
            if lo == hi {
                continue;
            }
            let middle = (lo + hi) * Rational::new(1, 2).unwrap_or_default();
            let (mut below, mut above) = (part.clone(), part.clone());
            below[i].1 = middle.clone();
            above[i].0 = middle;
            let step = match try_with(&below, finest)? {
                Err(why) => return Ok(Err(why)),
                Ok((Ok(_), _)) => u32::MAX,
                Ok((Err((step, _)), _)) => step,
            };
            if halves.as_ref().is_none_or(|(best, _)| step > *best) {
                halves = Some((step, [below, above]));
            }
        }
        let Some((_, [below, above])) = halves else { return Ok(Err(why)) };
        open.extend([above, below]);
    }
    Ok(Ok(confirmed))
}
