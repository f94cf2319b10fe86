//! The facts and actions that can occur, where each fact may be true or false independently of the
//! others.
//!
//! Whatever can be in a set of states that is made of the facts that the closure finds stays in it:
//! it is right for every start state over the propositions, not only for the initial one.

use std::collections::BTreeSet;

use crate::domain::{Atom, Domain, Effect, Term, Test};
use crate::error::PddlError;
use crate::instances::for_each_instance;
use crate::problem::Problem;
use crate::task::GroundAtom;

/// Most ground actions of a task.
pub const MAX_ACTIONS: usize = 1_000_000;

/// The facts that may be true, and those that may be false.
pub(crate) struct Reachable<'a> {
    domain: &'a Domain,
    problem: &'a Problem,
    /// Of each type its objects.
    objects: Vec<Vec<usize>>,
    true_somewhere: BTreeSet<GroundAtom>,
    /// Of the initial facts, those that may become false.
    deleted: BTreeSet<GroundAtom>,
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
        };
        loop {
            let (mut added, mut deleted) = (BTreeSet::new(), BTreeSet::new());
            for schema in &domain.schemas {
                for_each_instance(&reachable, schema, stop, &mut |arguments| {
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

    /// The objects of a type.
    pub fn objects_of(&self, of: usize) -> &[usize] {
        &self.objects[of]
    }

    /// Returns whether an object is of a type.
    pub fn is_of(&self, object: usize, of: usize) -> bool {
        self.domain.is_a(self.problem.objects[object].of, of)
    }

    /// The atoms of a predicate that may be true and begin with these objects.
    pub fn facts<'s>(
        &'s self,
        predicate: usize,
        first: &'s [usize],
    ) -> impl Iterator<Item = &'s GroundAtom> {
        let from = GroundAtom { predicate, objects: first.to_vec() };
        let begins = move |atom: &&GroundAtom| {
            atom.predicate == predicate && atom.objects.starts_with(first)
        };
        self.true_somewhere.range(from..).take_while(begins)
    }

    /// About how many facts an atom has where some parameters are known: as if every object occurred as often.
    pub fn expected_facts(&self, atom: &Atom, is_known: &[bool]) -> usize {
        let is_given = |term: &&Term| match term {
            Term::Parameter(p) => is_known[*p],
            Term::Object(_) => true,
        };
        let all = self.facts(atom.predicate, &[]).count();
        let given = atom.terms.iter().filter(is_given);
        given.fold(all, |count, _| count / self.problem.objects.len().max(1))
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
