//! What a domain says, names resolved.

use policert_numeric::Rational;

use crate::task::GroundAtom;

/// Types, predicates and action schemas.
#[derive(Clone, PartialEq, Debug)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// The types; the first is `object`.
    pub types: Vec<Type>,
    /// The objects that all problems have.
    pub constants: Vec<Object>,
    /// The predicates, by position in atoms.
    pub predicates: Vec<Predicate>,
    /// The functions whose values are costs; the first is `total-cost`.
    pub functions: Vec<Predicate>,
    /// The action schemas.
    pub schemas: Vec<Schema>,
}

/// A type of objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Type {
    /// Its name.
    pub name: String,
    /// The type that it is a part of; `None` for `object`.
    pub parent: Option<usize>,
}

/// An object, or a parameter of an action.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// Its name; of a parameter without the question mark.
    pub name: String,
    /// Its type.
    pub of: usize,
}

/// A predicate, or a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Predicate {
    /// Its name.
    pub name: String,
    /// The types of its arguments.
    pub arguments: Vec<usize>,
}

/// An action schema.
#[derive(Clone, PartialEq, Debug)]
pub struct Schema {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<Object>,
    /// What has to hold, all of it.
    pub precondition: Vec<Test>,
    /// What it does.
    pub effect: Effect,
}

/// An argument of an atom.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Term {
    /// A parameter of the action, by position.
    Parameter(usize),
    /// An object: the constants of the domain come first.
    Object(usize),
}

impl Term {
    /// The object that it is, for these arguments of the action.
    #[must_use]
    pub fn object(self, arguments: &[usize]) -> usize {
        match self {
            Self::Parameter(position) => arguments[position],
            Self::Object(object) => object,
        }
    }
}

/// A predicate and its arguments.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Atom {
    /// The predicate.
    pub predicate: usize,
    /// The arguments.
    pub terms: Vec<Term>,
}

impl Atom {
    /// The atom for these arguments of the action.
    #[must_use]
    pub fn ground(&self, arguments: &[usize]) -> GroundAtom {
        let objects = self.terms.iter().map(|term| term.object(arguments)).collect();
        GroundAtom { predicate: self.predicate, objects }
    }
}

/// A part of a condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Test {
    /// An atom has this truth.
    Holds(Atom, bool),
    /// Two terms are the same object, or not.
    Equal(Term, Term, bool),
}

/// What an action does. Where an atom is both added and deleted, it holds afterwards.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// An atom gets this truth.
    Set(Atom, bool),
    /// All of these.
    All(Vec<Effect>),
    /// The effect happens if the tests hold before the action.
    When(Vec<Test>, Box<Effect>),
    /// One of these happens, with these probabilities; nothing with what is left of 1.
    OneOf(Vec<(Rational, Effect)>),
    /// The cost grows by a number.
    Cost(Rational),
    /// The cost grows by the value of a function.
    CostOf(Atom),
}

impl Effect {
    /// Calls `f` for each atom that may change.
    pub fn for_each_change(&self, f: &mut impl FnMut(&Atom)) {
        match self {
            Self::Set(atom, _) => f(atom),
            Self::All(effects) => effects.iter().for_each(|effect| effect.for_each_change(f)),
            Self::When(_, effect) => effect.for_each_change(f),
            Self::OneOf(outcomes) => {
                outcomes.iter().for_each(|(_, effect)| effect.for_each_change(f));
            }
            Self::Cost(_) | Self::CostOf(_) => {}
        }
    }

    /// Returns whether it has a cost.
    #[must_use]
    pub fn has_cost(&self) -> bool {
        match self {
            Self::Set(..) => false,
            Self::All(effects) => effects.iter().any(Self::has_cost),
            Self::When(_, effect) => effect.has_cost(),
            Self::OneOf(outcomes) => outcomes.iter().any(|(_, effect)| effect.has_cost()),
            Self::Cost(_) | Self::CostOf(_) => true,
        }
    }
}

impl Domain {
    /// Returns whether objects of one type are of another.
    #[must_use]
    pub fn is_a(&self, of: usize, other: usize) -> bool {
        let mut at = Some(of);
        while let Some(current) = at {
            if current == other {
                return true;
            }
            at = self.types[current].parent;
        }
        false
    }

    /// Returns of each predicate whether some action may change it.
    #[must_use]
    pub fn fluents(&self) -> Vec<bool> {
        let mut fluents = vec![false; self.predicates.len()];
        for schema in &self.schemas {
            schema.effect.for_each_change(&mut |atom| fluents[atom.predicate] = true);
        }
        fluents
    }
}
