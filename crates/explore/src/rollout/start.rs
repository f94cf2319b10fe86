//! Start states drawn at random.

use std::collections::BTreeSet;

use policert_engine_api::{Budget, EngineError, Question, StartStates, StopReason};
use policert_model::{Condition, SolutionsError, State};
use policert_numeric::{IntBox, IntInterval};

use crate::compiled::{CompiledCondition, Kleene};
use crate::random::Random;

/// Draws start states of a question: uniformly if there are few enough to list them, else as
/// [`StartSampler::draw`] says.
#[derive(Debug)]
pub struct StartSampler {
    listed: Vec<State>,
    /// Sources with too many states for a list.
    regions: Vec<Region>,
}

/// The states of a box that satisfy a condition.
#[derive(Debug)]
struct Region {
    condition: Condition,
    compiled: CompiledCondition,
    sides: IntBox,
}

/// Points of the tightened box that are tried before the condition guides the draw.
const TRIES: u32 = 64;
/// Guided draws before giving up.
const GUIDED: u32 = 10_000;

impl StartSampler {
    /// Lists the start states, each once, as long as there are at most `limit`.
    ///
    /// # Errors
    /// No start state, a start condition that leaves a variable unbounded, or a stop of the
    /// budget.
    pub fn new(
        question: &Question<'_>,
        limit: usize,
        budget: &mut Budget,
    ) -> Result<Self, EngineError> {
        let mut listed = BTreeSet::new();
        // Ends the enumeration only.
        let full = || EngineError::Stop(StopReason::States(limit as u64));
        let result = question.for_each_start_state(budget, &mut |state| {
            listed.insert(state.to_vec());
            if listed.len() > limit { Err(full()) } else { Ok(()) }
        });
        match result {
            Ok(()) if listed.is_empty() => {
                return Err(EngineError::Unsupported("a task without start states".to_owned()));
            }
            Ok(()) => {
                return Ok(Self { listed: listed.into_iter().collect(), regions: Vec::new() });
            }
            Err(EngineError::Stop(StopReason::States(_))) if listed.len() > limit => {}
            Err(error) => return Err(error),
        }
        let mut sampler = Self { listed: Vec::new(), regions: Vec::new() };
        let domains = question.model.domains();
        for source in question.start_states() {
            match source {
                StartStates::List(states) => sampler.listed.extend(states.iter().cloned()),
                StartStates::Region(condition, mut sides) => {
                    while condition.tighten(&mut sides) && !sides.is_empty() {}
                    if sides.is_empty() {
                        continue;
                    }
                    if let Some(d) = sides.sides().iter().position(|side| !side.is_bounded()) {
                        return Err(SolutionsError::Unbounded(d).into());
                    }
                    if sides.sides().iter().all(|side| side.is_point()) {
                        let state = sides.lower_corner();
                        if condition.holds(&state) == Ok(true) {
                            sampler.listed.push(state);
                        }
                        continue;
                    }
                    let compiled = CompiledCondition::new(&condition, &domains);
                    sampler.regions.push(Region { condition, compiled, sides });
                }
            }
        }
        Ok(sampler)
    }

    /// The start states, if they are listed.
    #[must_use]
    pub fn listed(&self) -> Option<&[State]> {
        self.regions.is_empty().then_some(&self.listed[..])
    }

    /// Draws a start state. With too many for a list, the sources of start states take turns by
    /// chance: first a condition, whose states are drawn uniformly by rejection from its box; where
    /// the condition is too narrow for that, variable by variable with propagation in between,
    /// which reaches every state but not uniformly.
    ///
    /// # Errors
    /// If no state of a condition is found.
    pub fn draw(&self, state: &mut Vec<i64>, random: &mut Random) -> Result<(), EngineError> {
        state.clear();
        // A single state, such as the model's initial one, does not weigh as much as a region.
        let sources = self.regions.len() + usize::from(self.regions.is_empty());
        match self.regions.get(random.below(sources)) {
            Some(region) => {
                let rare = !self.listed.is_empty() && random.below(RARE) == 0;
                if rare {
                    state.extend_from_slice(&self.listed[random.below(self.listed.len())]);
                    return Ok(());
                }
                region.draw(state, random)
            }
            None => {
                state.extend_from_slice(&self.listed[random.below(self.listed.len())]);
                Ok(())
            }
        }
    }
}

/// One in this many draws takes a listed state where there are regions besides.
const RARE: usize = 256;

impl Region {
    fn draw(&self, state: &mut Vec<i64>, random: &mut Random) -> Result<(), EngineError> {
        for _ in 0..TRIES {
            state.clear();
            state.extend(self.sides.sides().iter().map(|&side| value(side, random)));
            if self.compiled.truth(state) == Kleene::True {
                return Ok(());
            }
        }
        for _ in 0..GUIDED {
            if self.guided(state, random) {
                return Ok(());
            }
        }
        Err(EngineError::Unsupported("start states that are too rare to draw".to_owned()))
    }

    /// Fixes one variable after the other, in random order.
    fn guided(&self, state: &mut Vec<i64>, random: &mut Random) -> bool {
        let mut sides = self.sides.clone();
        let mut open: Vec<usize> = (0..sides.dimensions()).collect();
        while !open.is_empty() {
            let d = open.swap_remove(random.below(open.len()));
            if sides[d].is_point() {
                continue;
            }
            sides[d] = IntInterval::point(value(sides[d], random));
            while self.condition.tighten(&mut sides) && !sides.is_empty() {}
            if sides.is_empty() {
                return false;
            }
        }
        state.clear();
        state.extend(sides.lower_corner());
        self.compiled.truth(state) == Kleene::True
    }
}

/// A value of a bounded interval.
fn value(side: IntInterval, random: &mut Random) -> i64 {
    let count = side.lo.abs_diff(side.hi).saturating_add(1);
    let offset = random.below(usize::try_from(count).unwrap_or(usize::MAX));
    side.lo.saturating_add_unsigned(offset as u64)
}
