//! Unrolling into boxes of states: after each step those that were not reached before.

use policert_engine_api::{
    Budget, Counts, EngineError, Event, Observer, Question, StartStates, StopReason, Trace,
    UnknownReason, Verdict, point_of,
};
use policert_model::{ModelSemantics, State, Truth};
use policert_numeric::{BoxSet, IntBox};
use policert_policy::Policy;
use policert_symbolic::{ChosenBoxes, Image, Images, Operators, partition, unbounded};

use crate::found::{Arrival, Found};
use crate::run_back::run_to;
use crate::{BmcConfig, BmcReport, BmcStats, report};

struct Unrolling<'a> {
    question: &'a Question<'a>,
    semantics: ModelSemantics<'a>,
    operators: Operators,
    /// By operator.
    images: Vec<Images>,
    choices: Option<ChosenBoxes<'a>>,
    reached: BoxSet,
    found: Vec<Found>,
    /// A shortest unsafe path.
    first_unsafe: Option<Trace>,
    counts: Counts,
    stats: BmcStats,
}

/// Unrolls into boxes.
pub(crate) fn unroll(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &BmcConfig,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<BmcReport, EngineError> {
    let mut unrolling = Unrolling::new(question, policy)?;
    let mut ended = unrolling.search(config, budget, observer);
    if let (Ok(Verdict::Unknown(_)), None) = (&ended, &unrolling.first_unsafe)
        && let Some(state) = unrolling.undecided()
    {
        // Perhaps nothing depends on the choices that are undecided.
        let open = question.undecided_choice(state);
        unrolling = Unrolling::new(question, policy)?;
        unrolling.choices = unrolling.choices.map(ChosenBoxes::including_undecided);
        ended = unrolling.search(config, budget, observer);
        let has_unsafe =
            matches!(ended, Ok(Verdict::Unsafe(_))) || unrolling.first_unsafe.is_some();
        if has_unsafe {
            unrolling.first_unsafe = None;
            ended = Ok(Verdict::Unknown(open));
        }
    }
    let Unrolling { choices, found, first_unsafe, mut counts, mut stats, .. } = unrolling;
    counts.reachable_states = states_in(found.iter().map(|found| &found.sides));
    stats.boxes = found.len() as u64;
    stats.queries = choices.map_or(0, |choices| choices.asked());
    let report = report(ended, first_unsafe, counts, stats)?;
    let is_wanted = question.evidence && matches!(report.verdict, Verdict::Safe { .. });
    let reached = is_wanted.then(|| found.into_iter().map(|found| found.sides).collect());
    Ok(BmcReport { reached, ..report })
}

impl<'a> Unrolling<'a> {
    fn new(question: &'a Question<'a>, policy: Option<&'a Policy>) -> Result<Self, EngineError> {
        let model = question.model;
        let operators = Operators::new(model, policy.map_or(&[], Policy::outputs))?;
        Ok(Self {
            question,
            semantics: ModelSemantics { model, rule: question.domain_rule },
            images: operators.all().iter().map(|o| Images::new(model, o)).collect(),
            choices: policy.map(|policy| ChosenBoxes::new(policy, &operators)),
            operators,
            reached: BoxSet::default(),
            found: Vec::new(),
            first_unsafe: None,
            counts: Counts::default(),
            stats: BmcStats::default(),
        })
    }

    fn search(
        &mut self,
        config: &BmcConfig,
        budget: &mut Budget,
        observer: &mut dyn Observer,
    ) -> Result<Verdict, EngineError> {
        observer.event(Event::Phase("start states"));
        self.add_start_states(budget)?;
        self.counts.start_states = states_in(self.found.iter().map(|found| &found.sides));
        let mut layer = 0;
        for length in 0.. {
            observer.event(Event::Phase("unrolling"));
            for at in layer..self.found.len() {
                self.look_for_unsafe(at, budget)?;
                if !self.question.keep_going
                    && let Some(trace) = self.first_unsafe.take()
                {
                    self.stats.checked = Some(length);
                    return Ok(Verdict::Unsafe(trace));
                }
            }
            self.stats.checked = Some(length);
            let end = self.found.len();
            if layer == end {
                break;
            }
            if config.steps == Some(length) {
                let reason = match self.undecided() {
                    Some(state) => self.question.undecided_choice(state),
                    None => UnknownReason::StepLimit { steps: length.into() },
                };
                return Ok(Verdict::Unknown(reason));
            }
            for at in layer..end {
                self.expand(at, budget)?;
                observer.event(Event::Progress {
                    expanded: at as u64 + 1,
                    reached: self.found.len() as u64,
                    waiting: (self.found.len() - at - 1) as u64,
                    transitions: 0,
                });
            }
            layer = end;
        }
        Ok(match self.undecided() {
            Some(state) => Verdict::Unknown(self.question.undecided_choice(state)),
            None => Verdict::Safe { vacuous: self.found.is_empty() },
        })
    }

    /// A state that was met in which the choice is undecided, if that leaves labels out.
    fn undecided(&self) -> Option<&State> {
        self.choices.as_ref().and_then(ChosenBoxes::undecided)
    }

    /// Looks for unsafe states in a box: the first of all gets a run, all are counted if the search
    /// goes on.
    fn look_for_unsafe(&mut self, at: usize, budget: &mut Budget) -> Result<(), EngineError> {
        let bad = &self.question.property.unsafe_condition;
        let sides = &self.found[at].sides;
        let Some(state) = point_of(bad, sides, budget)? else { return Ok(()) };
        let unsafe_states = if self.question.keep_going {
            states_in(&partition(sides.clone(), bad, budget)?.inside)
        } else {
            1
        };
        self.counts.unsafe_states = self.counts.unsafe_states.saturating_add(unsafe_states);
        if self.first_unsafe.is_none() {
            self.first_unsafe = Some(run_to(&self.found, &self.operators, at, state, budget)?);
        }
        Ok(())
    }

    fn add_start_states(&mut self, budget: &mut Budget) -> Result<(), EngineError> {
        for source in self.question.start_states() {
            match source {
                StartStates::List(states) => {
                    for state in states {
                        self.add(IntBox::point(state), || None, budget)?;
                    }
                }
                StartStates::Region(condition, sides) => {
                    for part in partition(sides, &condition, budget)?.inside {
                        if !part.is_bounded() {
                            return Err(unbounded());
                        }
                        self.add(part, || None, budget)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the states of a box that were not reached before.
    fn add(
        &mut self,
        sides: IntBox,
        arrival: impl Fn() -> Option<Arrival>,
        budget: &mut Budget,
    ) -> Result<(), StopReason> {
        for part in self.reached.rest(sides) {
            budget.poll()?;
            self.reached.insert(part.clone());
            self.found.push(Found { sides: part, arrival: arrival() });
            budget.check_states(self.found.len())?;
        }
        Ok(())
    }

    /// Adds what a box reaches in one step.
    fn expand(&mut self, at: usize, budget: &mut Budget) -> Result<(), EngineError> {
        let sides = self.found[at].sides.clone();
        let mut open = match &self.question.terminal {
            Some(terminal) => partition(sides, terminal, budget)?.outside,
            None => vec![sides],
        };
        // Without this the search has ended before an unsafe state is expanded.
        if self.question.keep_going {
            let bad = &self.question.property.unsafe_condition;
            let mut safe = Vec::new();
            for sides in open {
                safe.append(&mut partition(sides, bad, budget)?.outside);
            }
            open = safe;
        }
        for sides in open {
            self.counts.expanded_states = self.counts.expanded_states.saturating_add(count(&sides));
            if let Some(choices) = &mut self.choices {
                choices.enter(&sides);
            }
            for operator in 0..self.images.len() {
                for Image { source, destination, image } in
                    self.images_of(operator, &sides, budget)?
                {
                    let arrival = || {
                        let source = source.clone();
                        Some(Arrival { from: at, operator, destination, source })
                    };
                    self.add(image, arrival, budget)?;
                }
            }
        }
        Ok(())
    }

    /// The images of a box under one operator.
    fn images_of(
        &mut self,
        at: usize,
        sides: &IntBox,
        budget: &mut Budget,
    ) -> Result<Vec<Image>, EngineError> {
        let (operator, output) = (&self.operators.all()[at], self.operators.output_of(at));
        if operator.guard.truth(sides) == Truth::False {
            return Ok(Vec::new());
        }
        let mut taken = Vec::new();
        for enabled in partition(sides.clone(), &operator.guard, budget)?.inside {
            match (&mut self.choices, output) {
                (Some(choices), Some(output)) => {
                    choices.add_chosen(enabled, output, &mut taken, budget)?;
                }
                _ => taken.push(enabled),
            }
        }
        let mut images = Vec::new();
        for source in taken {
            self.images[at].add_images(&self.semantics, operator, &source, &mut images, budget)?;
        }
        Ok(images)
    }
}

/// Number of states in a box.
fn count(sides: &IntBox) -> u64 {
    sides.count().and_then(|count| u64::try_from(count).ok()).unwrap_or(u64::MAX)
}

/// Number of states in boxes that are disjoint.
fn states_in<'b>(boxes: impl IntoIterator<Item = &'b IntBox>) -> u64 {
    boxes.into_iter().fold(0u64, |sum, sides| sum.saturating_add(count(sides)))
}
