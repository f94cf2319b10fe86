//! A domain as an action schema network sees it: which predicates and schemas are related, and where.

use policert_pddl::{Atom, Domain, Effect, Schema, Test};
use sha2::{Digest as _, Sha256};

use crate::canonical::canonical;

/// The modules that a domain needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DomainShape {
    /// Name of the domain.
    pub domain: String,
    /// SHA-256 of the domain, in hexadecimal.
    pub hash: String,
    /// The schemas, in the order of the domain.
    pub schemas: Vec<SchemaShape>,
    /// The predicates that some action may change, in the order of the domain.
    pub predicates: Vec<PredicateShape>,
}

/// What the modules of a schema read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaShape {
    /// Its name.
    pub name: String,
    /// The atoms of its preconditions and effects that some action may change, each once, in the
    /// order in which they stand.
    pub slots: Vec<Atom>,
}

/// What the modules of a predicate read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PredicateShape {
    /// Its name.
    pub name: String,
    /// The position of the predicate in the domain.
    pub predicate: usize,
    /// The places where it stands: schema and slot.
    pub pools: Vec<(usize, usize)>,
}

impl DomainShape {
    /// The shape of a domain.
    #[must_use]
    pub fn of(domain: &Domain) -> Self {
        let fluents = domain.fluents();
        let schemas: Vec<SchemaShape> =
            domain.schemas.iter().map(|schema| schema_shape(schema, &fluents)).collect();
        let predicate_shape = |predicate: usize| {
            let places = schemas.iter().enumerate().flat_map(|(schema, shape)| {
                let slots = shape.slots.iter().enumerate();
                let slots = slots.filter(|(_, atom)| atom.predicate == predicate);
                slots.map(move |(slot, _)| (schema, slot))
            });
            let name = domain.predicates[predicate].name.clone();
            PredicateShape { name, predicate, pools: places.collect() }
        };
        let changing = (0..fluents.len()).filter(|&predicate| fluents[predicate]);
        let predicates = changing.map(predicate_shape).collect();
        let digest = Sha256::digest(canonical(domain));
        let hash = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { domain: domain.name.clone(), hash, schemas, predicates }
    }
}

fn schema_shape(schema: &Schema, fluents: &[bool]) -> SchemaShape {
    let mut slots: Vec<Atom> = Vec::new();
    let mut add = |atom: &Atom| {
        if fluents[atom.predicate] && !slots.contains(atom) {
            slots.push(atom.clone());
        }
    };
    tests(&schema.precondition, &mut add);
    effect(&schema.effect, &mut add);
    SchemaShape { name: schema.name.clone(), slots }
}

fn tests(tests: &[Test], add: &mut impl FnMut(&Atom)) {
    for test in tests {
        match test {
            Test::Holds(atom, _) => add(atom),
            Test::Equal(..) => {}
        }
    }
}

fn effect(of: &Effect, add: &mut impl FnMut(&Atom)) {
    match of {
        Effect::Set(atom, _) => add(atom),
        Effect::All(effects) => effects.iter().for_each(|each| effect(each, add)),
        Effect::When(condition, then) => {
            tests(condition, add);
            effect(then, add);
        }
        Effect::OneOf(outcomes) => outcomes.iter().for_each(|(_, each)| effect(each, add)),
        Effect::Cost(_) | Effect::CostOf(_) => {}
    }
}
