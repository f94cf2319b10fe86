//! A plain interpreter of the lifted definition: nothing is grounded, simplified or left out. It is
//! intended to be easy to read, and slow.

use std::collections::{BTreeMap, BTreeSet};

use policert_numeric::Rational;
use policert_pddl::{Domain, Effect, GroundAtom, Problem, Schema, Test};

/// The atoms that hold.
pub type State = BTreeSet<GroundAtom>;

/// States and their probabilities.
pub type Distribution = BTreeMap<State, Rational>;

pub struct Interpreter<'a> {
    pub domain: &'a Domain,
    pub problem: &'a Problem,
}

impl Interpreter<'_> {
    /// The actions that are applicable: schema, objects, and the distribution of the next state.
    pub fn transitions(&self, state: &State) -> Vec<(usize, Vec<usize>, Distribution)> {
        let mut transitions = Vec::new();
        for (position, schema) in self.domain.schemas.iter().enumerate() {
            for objects in self.arguments(schema) {
                if self.pass(&schema.precondition, &objects, state) {
                    let next = self.next(&schema.effect, &objects, state);
                    transitions.push((position, objects, next));
                }
            }
        }
        transitions
    }

    /// All tuples of objects of the right types.
    fn arguments(&self, schema: &Schema) -> Vec<Vec<usize>> {
        let mut tuples = vec![Vec::new()];
        for parameter in &schema.parameters {
            let fits =
                |&object: &usize| self.domain.is_a(self.problem.objects[object].of, parameter.of);
            let objects: Vec<usize> = (0..self.problem.objects.len()).filter(fits).collect();
            let longer = |tuple: &Vec<usize>| {
                let longer = |&object: &usize| [tuple.clone(), vec![object]].concat();
                objects.iter().map(longer).collect::<Vec<_>>()
            };
            tuples = tuples.iter().flat_map(longer).collect();
        }
        tuples
    }

    fn pass(&self, tests: &[Test], objects: &[usize], state: &State) -> bool {
        tests.iter().all(|test| match test {
            Test::Holds(atom, truth) => state.contains(&atom.ground(objects)) == *truth,
            Test::Equal(a, b, truth) => (a.object(objects) == b.object(objects)) == *truth,
        })
    }

    fn next(&self, effect: &Effect, objects: &[usize], state: &State) -> Distribution {
        let mut next = Distribution::new();
        for (probability, changes) in self.changes(effect, objects, state) {
            let mut after = state.clone();
            for (atom, _) in changes.iter().filter(|(_, truth)| !truth) {
                after.remove(atom);
            }
            after.extend(changes.into_iter().filter(|(_, truth)| *truth).map(|(atom, _)| atom));
            let sum = next.entry(after).or_insert(Rational::ZERO);
            *sum = &*sum + &probability;
        }
        next.retain(|_, probability| probability.signum() > 0);
        next
    }

    /// The changes that may happen, each with a probability.
    fn changes(
        &self,
        effect: &Effect,
        objects: &[usize],
        state: &State,
    ) -> Vec<(Rational, Vec<(GroundAtom, bool)>)> {
        match effect {
            Effect::Set(atom, truth) => {
                vec![(Rational::ONE, vec![(atom.ground(objects), *truth)])]
            }
            Effect::All(effects) => {
                let mut all = vec![(Rational::ONE, Vec::new())];
                for effect in effects {
                    let these = self.changes(effect, objects, state);
                    let mut longer = Vec::new();
                    for (p, before) in &all {
                        for (q, more) in &these {
                            longer.push((p * q, [before.clone(), more.clone()].concat()));
                        }
                    }
                    all = longer;
                }
                all
            }
            Effect::When(tests, effect) if self.pass(tests, objects, state) => {
                self.changes(effect, objects, state)
            }
            Effect::OneOf(outcomes) => {
                let mut all = Vec::new();
                let mut rest = Rational::ONE;
                for (p, effect) in outcomes {
                    rest = &rest - p;
                    let these = self.changes(effect, objects, state);
                    all.extend(these.into_iter().map(|(q, changes)| (p * &q, changes)));
                }
                all.push((rest, Vec::new()));
                all
            }
            Effect::When(..) | Effect::Cost(_) | Effect::CostOf(_) => {
                vec![(Rational::ONE, Vec::new())]
            }
        }
    }
}
