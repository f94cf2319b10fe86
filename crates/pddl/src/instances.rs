//! The actions of a schema that may be applicable: their arguments are found through the facts that the precondition
//! asks for, the fewest first, and what no fact tells is tried out.

use crate::domain::{Atom, Object, Schema, Term, Test};
use crate::error::PddlError;
use crate::reachable::Reachable;

/// Arguments that are looked at between two looks at the clock.
const BETWEEN_POLLS: u32 = 4096;

/// Takes the arguments of an action that may be applicable.
pub(crate) type Found<'f> = &'f mut dyn FnMut(&[usize]) -> Result<(), PddlError>;

/// How arguments are found.
enum Source<'s> {
    /// In the facts of an atom that has to hold.
    Facts {
        atom: &'s Atom,
        /// The number of its first terms that are known before.
        known: usize,
        /// The parameters that are found, and where in the atom.
        found: Vec<(usize, usize)>,
    },
    /// A parameter, among the objects of its type.
    Objects(usize),
}

/// A step of the search, and the tests that can be asked after it.
struct Step<'s> {
    source: Source<'s>,
    tests: Vec<&'s Test>,
}

/// Calls `found` for the arguments of each action of a schema that may be applicable, once and in no certain order.
///
/// # Errors
/// Those of `found`, and a stop.
pub(crate) fn for_each_instance(
    reachable: &Reachable<'_>,
    schema: &Schema,
    stop: &mut dyn FnMut() -> bool,
    found: Found<'_>,
) -> Result<(), PddlError> {
    let (first, steps) = plan(reachable, schema);
    let arguments = vec![0; schema.parameters.len()];
    let mut search = Search { reachable, schema, steps: &steps, arguments, polls: 0, stop, found };
    if !search.pass(&first) {
        return Ok(());
    }
    search.extend(0)
}

/// The tests that need no argument, and the steps in their order.
fn plan<'s>(reachable: &Reachable<'_>, schema: &'s Schema) -> (Vec<&'s Test>, Vec<Step<'s>>) {
    let mut is_known = vec![false; schema.parameters.len()];
    let mut tests: Vec<&Test> = schema.precondition.iter().collect();
    let ask = |tests: &mut Vec<&'s Test>, is_known: &[bool]| -> Vec<&'s Test> {
        let is_open = |term: &Term| matches!(term, Term::Parameter(p) if !is_known[*p]);
        let ready = |test: &&Test| !terms(test).iter().any(is_open);
        let (now, later) = tests.drain(..).partition(ready);
        *tests = later;
        now
    };
    let first = ask(&mut tests, &is_known);
    let mut steps = Vec::new();
    while let Some(open) = is_known.iter().position(|known| !known) {
        let expected = |(i, test): (usize, &&'s Test)| match *test {
            Test::Holds(atom, true) => Some((reachable.expected_facts(atom, &is_known), i, atom)),
            Test::Holds(_, false) | Test::Equal(..) => None,
        };
        let fewest = tests.iter().enumerate().filter_map(expected).min_by_key(|&(n, i, _)| (n, i));
        let source = match fewest {
            Some((_, i, atom)) => {
                tests.remove(i);
                facts(atom, &mut is_known)
            }
            None => {
                is_known[open] = true;
                Source::Objects(open)
            }
        };
        steps.push(Step { source, tests: ask(&mut tests, &is_known) });
    }
    (first, steps)
}

/// The step through the facts of an atom; its parameters are known afterwards.
fn facts<'s>(atom: &'s Atom, is_known: &mut [bool]) -> Source<'s> {
    let open = |term: &Term| matches!(term, Term::Parameter(p) if !is_known[*p]);
    let known = atom.terms.iter().position(open).unwrap_or(atom.terms.len());
    let mut found = Vec::new();
    for (at, term) in atom.terms.iter().enumerate() {
        if let Term::Parameter(p) = *term
            && !is_known[p]
        {
            is_known[p] = true;
            found.push((p, at));
        }
    }
    Source::Facts { atom, known, found }
}

struct Search<'s, 'f> {
    reachable: &'s Reachable<'s>,
    schema: &'s Schema,
    steps: &'s [Step<'s>],
    arguments: Vec<usize>,
    polls: u32,
    stop: &'f mut dyn FnMut() -> bool,
    found: Found<'f>,
}

impl Search<'_, '_> {
    fn extend(&mut self, depth: usize) -> Result<(), PddlError> {
        let Some(step) = self.steps.get(depth) else { return (self.found)(&self.arguments) };
        let reachable = self.reachable;
        match &step.source {
            Source::Objects(parameter) => {
                for &object in reachable.objects_of(self.schema.parameters[*parameter].of) {
                    self.poll()?;
                    self.arguments[*parameter] = object;
                    self.go_on(step, depth)?;
                }
            }
            Source::Facts { atom, known, found } => {
                let first = atom.terms[..*known].iter().map(|term| term.object(&self.arguments));
                let first: Vec<usize> = first.collect();
                for fact in reachable.facts(atom.predicate, &first) {
                    self.poll()?;
                    for &(parameter, at) in found {
                        self.arguments[parameter] = fact.objects[at];
                    }
                    let fits = |&(parameter, at): &(usize, usize)| {
                        let wanted: &Object = &self.schema.parameters[parameter];
                        reachable.is_of(fact.objects[at], wanted.of)
                    };
                    let mut terms = atom.terms.iter().zip(&fact.objects);
                    if terms.all(|(term, &object)| term.object(&self.arguments) == object)
                        && found.iter().all(fits)
                    {
                        self.go_on(step, depth)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes the next step if the tests of this one may pass.
    fn go_on(&mut self, step: &Step<'_>, depth: usize) -> Result<(), PddlError> {
        match self.pass(&step.tests) {
            true => self.extend(depth + 1),
            false => Ok(()),
        }
    }

    fn pass(&self, tests: &[&Test]) -> bool {
        tests.iter().all(|test| self.reachable.may_pass(test, &self.arguments))
    }

    fn poll(&mut self) -> Result<(), PddlError> {
        self.polls = self.polls.wrapping_add(1);
        match self.polls.is_multiple_of(BETWEEN_POLLS) && (self.stop)() {
            true => Err(PddlError::Stopped),
            false => Ok(()),
        }
    }
}

fn terms(test: &Test) -> Vec<Term> {
    match test {
        Test::Holds(atom, _) => atom.terms.clone(),
        Test::Equal(left, right, _) => vec![*left, *right],
    }
}
