//! The abstract domain of given predicates: an abstract state is the truth values of all of them, and the
//! locations.

use policert_engine_api::EngineError;
use policert_model::{Condition, Truth};

use crate::effects::{Affected, PredicateEffect};
use crate::expansion::{Chosen, Expansion, Targets, enumerate_states};
use crate::region::Region;
use crate::{AbstractState, AbstractStateId, AbstractStateTable};

/// The transitions of the abstract state that is being expanded.
#[derive(Debug)]
pub(crate) struct Transitions<'f> {
    pub states: &'f mut AbstractStateTable,
    /// In the order of finding: targets, with operator and outcome.
    pub found: Vec<(AbstractStateId, (usize, usize))>,
    /// The targets, sorted by id.
    targets: Vec<AbstractStateId>,
}

impl<'f> Transitions<'f> {
    pub fn new(states: &'f mut AbstractStateTable) -> Self {
        Self { states, found: Vec::new(), targets: Vec::new() }
    }

    fn is_known(&self, target: &AbstractState) -> bool {
        self.states.find(target).is_some_and(|id| self.targets.binary_search(&id).is_ok())
    }

    fn add(&mut self, target: &AbstractState, outcome: (usize, usize)) {
        let (id, _) = self.states.intern(target);
        if let Err(at) = self.targets.binary_search(&id) {
            self.targets.insert(at, id);
            self.found.push((id, outcome));
        }
    }
}

impl Expansion<'_, '_, '_> {
    /// Algorithm 1: adds all transitions of `source`. Returns the number of outcomes seen that may
    /// leave a domain: such an outcome is no transition.
    ///
    /// # Errors
    /// A stop of the budget (the state must be expanded again from scratch), or a construct
    /// that cannot be decided.
    pub fn expand(
        &mut self,
        source: &AbstractState,
        transitions: &mut Transitions<'_>,
    ) -> Result<u64, EngineError> {
        let abstraction = self.abstraction;
        let states = abstraction.predicates.concretisation(source);
        let states = states.restrict([abstraction.not_terminal()]);
        let mut may_drop = 0;
        if states.is_empty() {
            return Ok(may_drop);
        }
        self.queries.enter(&states);
        for group in abstraction.operators.groups() {
            // l.1
            let mut chosen = Chosen::default();
            for o in self.selected(&states, group, &mut chosen)? {
                // l.2, l.3, l.4
                let operator = (o, group.output);
                let Some(applicable) = self.applicable(&states, operator, &mut chosen)? else {
                    continue; // l.5, l.6, l.7
                };
                for d in 0..abstraction.operators.all()[o].destinations.len() {
                    may_drop += u64::from(abstraction.may_drop(&applicable, o, d));
                    let Some(valid) = self.outcome(operator, d, &applicable)? else { continue };
                    let mut target = source.clone();
                    let effect = abstraction.effect(o, d);
                    let undecided = self.entailment_by_operator(&mut target, &valid, effect)?; // l.8
                    let mut targets = GivenTargets {
                        expansion: &mut *self,
                        operator,
                        d,
                        chosen: &chosen,
                        transitions: &mut *transitions,
                        undecided,
                    };
                    enumerate_states(&mut targets, Partial { target, decided: 0 }, &valid)?; // l.9
                }
            }
        }
        Ok(may_drop)
    }

    /// Sets in `target` what the operator entails, and returns the predicates left open (l.8).
    fn entailment_by_operator<'e>(
        &mut self,
        target: &mut AbstractState,
        states: &Region<'_>,
        effect: &'e PredicateEffect,
    ) -> Result<Vec<&'e Affected>, EngineError> {
        for &(k, location) in &effect.locations {
            self.abstraction.predicates.layout().set_location(target, k, location);
        }
        let mut open = Vec::new();
        for affected in &effect.affected {
            match affected.literals[1].truth(&states.sides) {
                Truth::True => target.set(affected.predicate, true),
                Truth::False => target.set(affected.predicate, false),
                Truth::Maybe => open.push(affected),
            }
        }
        // Each predicate left open doubles the work below, so ask exactly where boxes are not
        // exact.
        let exact = open.len() > 1 && !states.is_box()
            || open.iter().filter(|a| !is_bound(&a.literals[1])).count() > 1;
        if !exact {
            return Ok(open);
        }
        let mut left = Vec::with_capacity(open.len());
        for affected in open {
            let mut possible = [false; 2];
            for value in [false, true] {
                let region = states.restrict([&affected.literals[usize::from(value)]]);
                possible[usize::from(value)] = self.queries.is_inhabited(&region, self.budget)?;
            }
            match possible {
                [true, true] => left.push(affected),
                [_, value] => target.set(affected.predicate, value),
            }
        }
        Ok(left)
    }
}

/// Returns whether a literal bounds a single variable: then boxes are exact.
fn is_bound(literal: &Condition) -> bool {
    matches!(literal, Condition::Linear(c) if c.terms.len() == 1)
}

/// The targets of one outcome.
struct GivenTargets<'t, 'a, 's, 'q, 'f> {
    expansion: &'t mut Expansion<'a, 's, 'q>,
    /// With the policy's output for its label.
    operator: (usize, Option<usize>),
    /// Number of the outcome.
    d: usize,
    chosen: &'t Chosen,
    transitions: &'t mut Transitions<'f>,
    /// The predicates that the operator leaves open.
    undecided: Vec<&'a Affected>,
}

/// A partial target.
#[derive(Clone)]
struct Partial {
    target: AbstractState,
    /// The number of undecided predicates that are set in it.
    decided: usize,
}

impl<'a> Targets for GivenTargets<'_, 'a, '_, '_, '_> {
    type Place = Partial;
    type Literals = &'a [Condition; 2];

    fn open(&mut self, place: &Partial) -> Result<Option<&'a [Condition; 2]>, EngineError> {
        Ok(self.undecided.get(place.decided).map(|affected| &affected.literals))
    }

    fn part(&mut self, mut place: Partial, value: bool) -> Partial {
        place.target.set(self.undecided[place.decided].predicate, value);
        place.decided += 1;
        place
    }

    fn enters(&mut self, place: &Partial, region: &Region<'_>) -> Result<bool, EngineError> {
        let Expansion { queries, budget, .. } = &mut *self.expansion;
        budget.poll()?;
        // Whether a complete target has source states is for its tests to say.
        Ok(!region.is_empty()
            && (place.decided == self.undecided.len() || queries.is_inhabited(region, budget)?))
    }

    fn reach(&mut self, place: Partial, region: &Region<'_>) -> Result<(), EngineError> {
        if self.transitions.is_known(&place.target) {
            return Ok(());
        }
        if !self.expansion.leads(region, self.operator.1, self.chosen)?.refuted() {
            self.transitions.add(&place.target, (self.operator.0, self.d)); // l.15
        }
        Ok(())
    }
}
