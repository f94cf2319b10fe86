//! The facts and actions that can occur, where each fact may be true or false independently of the
//! others.
//!
//! Whatever can be in a set of states that is made of the facts that the closure finds stays in it:
//! it is right for every start state over the propositions, not only for the initial one.

use std::collections::BTreeSet;

use crate::domain::{Domain, Effect, Object, Schema, Term, Test};
use crate::error::PddlError;
use crate::problem::Problem;
use crate::task::GroundAtom;

/// Most ground actions of a task.
pub const MAX_ACTIONS: usize = 1_000_000;

/// Assignments of parameters between two looks at the clock.
const BETWEEN_POLLS: u32 = 4096;

/// Takes the arguments of an action that may be applicable.
type Found<'f, 'a> = &'f mut dyn FnMut(&Reachable<'a>, &[usize]) -> Result<(), PddlError>;

/// The facts that may be true, and those that may be false.
pub(crate) struct Reachable<'a> {
    domain: &'a Domain,
    problem: &'a Problem,
    /// Of each type its objects.
    objects: Vec<Vec<usize>>,
    true_somewhere: BTreeSet<GroundAtom>,
    /// Of the initial facts, those that may become false.
    deleted: BTreeSet<GroundAtom>,
    polls: u32,
}

impl<'a> Reachable<'a> {
    /// The closure of a problem.
    pub fn of(
        domain: &'a Domain,
        problem: &'a Problem,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Self, PddlError> {
        let of_type = |of: usize| {
            let is_of = |&object: &usize| domain.is_a(problem.objects[object].of, of);
            (0..problem.objects.len()).filter(is_of).collect()
        };
        let mut reachable = Self {
            domain,
            problem,
            objects: (0..domain.types.len()).map(of_type).collect(),
            true_somewhere: problem.initial.clone(),
            deleted: BTreeSet::new(),
            polls: 0,
        };
        loop {
            let (mut added, mut deleted) = (BTreeSet::new(), BTreeSet::new());
            for schema in &domain.schemas {
                reachable.instances(schema, stop, &mut |reachable, arguments| {
                    reachable.changes(&schema.effect, arguments, &mut |atom, truth| {
                        let (known, new) = match truth {
                            true => (&reachable.true_somewhere, &mut added),
                            false => (&reachable.deleted, &mut deleted),
                        };
                        if !known.contains(&atom) {
                            new.insert(atom);
                        }
                    });
                    Ok(())
                })?;
            }
            deleted.retain(|atom| problem.initial.contains(atom));
            if added.is_empty() && deleted.is_empty() {
                return Ok(reachable);
            }
            reachable.true_somewhere.append(&mut added);
            reachable.deleted.append(&mut deleted);
        }
    }

    /// Returns whether an atom may have this truth.
    pub fn may_be(&self, atom: &GroundAtom, truth: bool) -> bool {
        match truth {
            true => self.true_somewhere.contains(atom),
            false => !self.problem.initial.contains(atom) || self.deleted.contains(atom),
        }
    }

    /// The atoms whose truth may change, in order.
    pub fn propositions(&self) -> Vec<GroundAtom> {
        self.true_somewhere.iter().filter(|atom| self.may_be(atom, false)).cloned().collect()
    }

    /// Calls `found` for the arguments of each action of a schema that may be applicable.
    pub fn instances(
        &mut self,
        schema: &Schema,
        stop: &mut dyn FnMut() -> bool,
        found: Found<'_, 'a>,
    ) -> Result<(), PddlError> {
        // The tests by the last parameter that they need.
        let mut tests: Vec<Vec<&Test>> = vec![Vec::new(); schema.parameters.len() + 1];
        for test in &schema.precondition {
            let last = terms(test).into_iter().filter_map(|term| match term {
                Term::Parameter(position) => Some(position + 1),
                Term::Object(_) => None,
            });
            tests[last.max().unwrap_or(0)].push(test);
        }
        let mut arguments = Vec::with_capacity(schema.parameters.len());
        self.extend(&schema.parameters, &tests, &mut arguments, stop, found)
    }

    fn extend(
        &mut self,
        parameters: &[Object],
        tests: &[Vec<&Test>],
        arguments: &mut Vec<usize>,
        stop: &mut dyn FnMut() -> bool,
        found: Found<'_, 'a>,
    ) -> Result<(), PddlError> {
        self.polls = self.polls.wrapping_add(1);
        if self.polls.is_multiple_of(BETWEEN_POLLS) && stop() {
            return Err(PddlError::Stopped);
        }
        let depth = arguments.len();
        if !tests[depth].iter().all(|test| self.may_pass(test, arguments)) {
            return Ok(());
        }
        let Some(parameter) = parameters.get(depth) else { return found(self, arguments) };
        for i in 0..self.objects[parameter.of].len() {
            arguments.push(self.objects[parameter.of][i]);
            self.extend(parameters, tests, arguments, stop, found)?;
            arguments.pop();
        }
        Ok(())
    }

    /// Returns whether a test may pass.
    pub fn may_pass(&self, test: &Test, arguments: &[usize]) -> bool {
        match test {
            Test::Holds(atom, truth) => self.may_be(&atom.ground(arguments), *truth),
            Test::Equal(left, right, truth) => {
                (left.object(arguments) == right.object(arguments)) == *truth
            }
        }
    }

    /// Calls `f` for each change that an effect may make.
    fn changes(&self, effect: &Effect, arguments: &[usize], f: &mut impl FnMut(GroundAtom, bool)) {
        match effect {
            Effect::Set(atom, truth) => f(atom.ground(arguments), *truth),
            Effect::All(effects) => {
                effects.iter().for_each(|effect| self.changes(effect, arguments, f));
            }
            Effect::When(tests, effect) => {
                if tests.iter().all(|test| self.may_pass(test, arguments)) {
                    self.changes(effect, arguments, f);
                }
            }
            Effect::OneOf(outcomes) => {
                outcomes.iter().for_each(|(_, effect)| self.changes(effect, arguments, f));
            }
            Effect::Cost(_) | Effect::CostOf(_) => {}
        }
    }

    /// The domain.
    pub fn domain(&self) -> &'a Domain {
        self.domain
    }
}

fn terms(test: &Test) -> Vec<Term> {
    match test {
        Test::Holds(atom, _) => atom.terms.clone(),
        Test::Equal(left, right, _) => vec![*left, *right],
    }
}
