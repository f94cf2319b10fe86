//! A text of a domain that is the same for all ways of writing it, for its hash.

use std::fmt::Write as _;

use policert_pddl::{Atom, Domain, Effect, Object, Predicate, Term, Test};

/// The text. Names count, and so does the order of predicates and actions: the weights follow it.
pub(crate) fn canonical(domain: &Domain) -> String {
    let mut text = format!("(domain {})\n", domain.name);
    for of in &domain.types {
        let parent = of.parent.map_or("", |parent| domain.types[parent].name.as_str());
        let _ = writeln!(text, "(type {} {parent})", of.name);
    }
    let objects = |objects: &[Object]| {
        let object = |object: &Object| format!(" {}:{}", object.name, domain.types[object.of].name);
        objects.iter().map(object).collect::<String>()
    };
    let _ = writeln!(text, "(constants{})", objects(&domain.constants));
    let declared = |declared: &Predicate| {
        let names = declared.arguments.iter().map(|&of| format!(" {}", domain.types[of].name));
        format!("{}{}", declared.name, names.collect::<String>())
    };
    for predicate in &domain.predicates {
        let _ = writeln!(text, "(predicate {})", declared(predicate));
    }
    for schema in &domain.schemas {
        // What a parameter is called does not matter.
        let types = schema.parameters.iter().map(|p| format!(" {}", domain.types[p.of].name));
        let _ = writeln!(
            text,
            "(action {}{} {} {})",
            schema.name,
            types.collect::<String>(),
            tests(domain, &schema.precondition),
            effect(domain, &schema.effect)
        );
    }
    text
}

fn atom(domain: &Domain, atom: &Atom, declared: &[Predicate]) -> String {
    let terms = atom.terms.iter().map(|&each| format!(" {}", term(domain, each)));
    format!("({}{})", declared[atom.predicate].name, terms.collect::<String>())
}

fn term(domain: &Domain, term: Term) -> String {
    match term {
        Term::Parameter(position) => format!("?{position}"),
        Term::Object(object) => domain.constants[object].name.clone(),
    }
}

fn tests(domain: &Domain, tests: &[Test]) -> String {
    let test = |test: &Test| match test {
        Test::Holds(of, truth) => format!(" {truth}{}", atom(domain, of, &domain.predicates)),
        Test::Equal(a, b, truth) => {
            format!(" {truth}(= {} {})", term(domain, *a), term(domain, *b))
        }
    };
    format!("(and{})", tests.iter().map(test).collect::<String>())
}

fn effect(domain: &Domain, of: &Effect) -> String {
    match of {
        Effect::Set(set, truth) => format!("{truth}{}", atom(domain, set, &domain.predicates)),
        Effect::All(effects) => {
            let effects = effects.iter().map(|each| format!(" {}", effect(domain, each)));
            format!("(and{})", effects.collect::<String>())
        }
        Effect::When(condition, then) => {
            format!("(when {} {})", tests(domain, condition), effect(domain, then))
        }
        Effect::OneOf(outcomes) => {
            let outcomes =
                outcomes.iter().map(|(p, each)| format!(" {p} {}", effect(domain, each)));
            format!("(probabilistic{})", outcomes.collect::<String>())
        }
        Effect::Cost(cost) => format!("(increase {cost})"),
        Effect::CostOf(of) => format!("(increase {})", atom(domain, of, &domain.functions)),
    }
}
