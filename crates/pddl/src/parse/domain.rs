//! The sections of a domain.

use policert_sexpr::{Fault, Sexpr, quoted};

use super::effect::{self, Scope};
use super::names::{is_word, name};
use super::{Definition, Section, condition, once, typed_list};
use crate::domain::{Domain, Effect, Predicate, Schema, Type};

/// What a domain may ask for. What of it is not supported is refused where it is used.
const REQUIREMENTS: [&str; 22] = [
    ":strips",
    ":typing",
    ":negative-preconditions",
    ":equality",
    ":conditional-effects",
    ":action-costs",
    ":probabilistic-effects",
    ":adl",
    ":disjunctive-preconditions",
    ":existential-preconditions",
    ":universal-preconditions",
    ":quantified-preconditions",
    ":fluents",
    ":numeric-fluents",
    ":object-fluents",
    ":durative-actions",
    ":derived-predicates",
    ":timed-initial-literals",
    ":preferences",
    ":constraints",
    ":rewards",
    ":mdp",
];

/// The name of the only cost.
pub(super) const TOTAL_COST: &str = "total-cost";

pub(super) fn read(define: &Definition<'_>) -> Result<Domain, Fault> {
    let mut domain = Domain {
        name: define.name.clone(),
        types: vec![Type { name: "object".to_owned(), parent: None }],
        constants: Vec::new(),
        predicates: Vec::new(),
        functions: vec![Predicate { name: TOTAL_COST.to_owned(), arguments: Vec::new() }],
        schemas: Vec::new(),
    };
    let mut seen = Vec::new();
    // Types come first, wherever they stand; then constants; the others after those.
    let order = |section: &&Section<'_>| match section.key.as_str() {
        ":types" => 0,
        ":constants" => 1,
        ":action" => 3,
        _ => 2,
    };
    let mut sections: Vec<&Section<'_>> = define.sections.iter().collect();
    sections.sort_by_key(order);
    for section in sections {
        if section.key != ":action" {
            once(section, &mut seen)?;
        }
        let items = &section.items;
        match section.key.as_str() {
            ":requirements" => requirements(items)?,
            ":types" => domain.types = typed_list::types(items)?,
            ":constants" => {
                let constants = domain.objects(items, false)?;
                domain.constants = constants.into_iter().map(|(_, object)| object).collect();
            }
            ":predicates" => domain.predicates = domain.declarations(items, Vec::new())?,
            ":functions" => domain.functions = domain.functions(items)?,
            ":action" => {
                let schema = action(&domain, section)?;
                if domain.schemas.iter().any(|known| known.name == schema.name) {
                    let message = format!("there are two actions {}", quoted(&schema.name));
                    return Err(Fault::invalid(section.at, message));
                }
                domain.schemas.push(schema);
            }
            ":derived" | ":durative-action" | ":constraints" | ":process" | ":event" => {
                let message = format!(
                    "({} …) is not supported; actions with preconditions and effects are",
                    section.key
                );
                return Err(Fault::unsupported(section.at, message));
            }
            other => {
                let message = format!("{} is no section of a domain", quoted(other));
                return Err(Fault::invalid(section.at, message));
            }
        }
    }
    Ok(domain)
}

pub(super) fn requirements(items: &[Sexpr<'_>]) -> Result<(), Fault> {
    for item in items {
        if !REQUIREMENTS.iter().any(|known| is_word(item, known)) {
            let message = format!("{} is no requirement", item.described());
            return Err(Fault::invalid(item.at, message));
        }
    }
    Ok(())
}

impl Domain {
    /// `(NAME ?x - TYPE …)`, several of them, after those that there are.
    fn declarations(
        &self,
        items: &[Sexpr<'_>],
        mut known: Vec<Predicate>,
    ) -> Result<Vec<Predicate>, Fault> {
        for item in items {
            let Some((head, parameters)) = item.list().and_then(<[_]>::split_first) else {
                let message =
                    format!("a declaration (NAME ?x …) is expected, not {}", item.described());
                return Err(Fault::invalid(item.at, message));
            };
            let name = name(head, "the name of a predicate")?;
            if known.iter().any(|known| known.name == name) {
                return Err(Fault::invalid(item.at, format!("`{name}` is declared twice")));
            }
            let arguments = self.objects(parameters, true)?;
            let arguments = arguments.into_iter().map(|(_, object)| object.of).collect();
            known.push(Predicate { name, arguments });
        }
        Ok(known)
    }

    /// The functions of a list, in which `- number` may stand.
    fn functions(&self, items: &[Sexpr<'_>]) -> Result<Vec<Predicate>, Fault> {
        let mut declared = Vec::new();
        let mut items = items.iter();
        while let Some(item) = items.next() {
            if is_word(item, "-") {
                match items.next() {
                    Some(of) if is_word(of, "number") => {}
                    of => {
                        let message = "the values of functions are numbers: `- number`";
                        return Err(Fault::unsupported(of.map_or(item.at, |of| of.at), message));
                    }
                }
            } else if item.list().is_some_and(|list| matches!(list, [f] if is_word(f, TOTAL_COST)))
            {
                // It is there anyway.
            } else {
                declared.push(item.clone());
            }
        }
        self.declarations(&declared, self.functions.clone())
    }
}

/// `NAME :parameters (…) :precondition CONDITION :effect EFFECT`.
fn action(domain: &Domain, section: &Section<'_>) -> Result<Schema, Fault> {
    let Some((head, parts)) = section.items.split_first() else {
        return Err(Fault::invalid(section.at, "an action has a name"));
    };
    let name = name(head, "the name of an action")?;
    let (mut parameters, mut precondition, mut effect) = (None, None, None);
    for pair in parts.chunks(2) {
        let [key, value] = pair else {
            let message = format!("something is expected after {}", pair[0].described());
            return Err(Fault::invalid(pair[0].at, message));
        };
        let part = match key.atom().map(str::to_ascii_lowercase).as_deref() {
            Some(":parameters") => &mut parameters,
            Some(":precondition") => &mut precondition,
            Some(":effect") => &mut effect,
            _ => {
                let message = format!(
                    "{} is no part of an action: :parameters, :precondition and :effect are",
                    key.described()
                );
                return Err(Fault::invalid(key.at, message));
            }
        };
        if part.replace(value).is_some() {
            return Err(Fault::invalid(key.at, format!("{} stands twice", key.described())));
        }
    }
    let parameters = match parameters {
        None => Vec::new(),
        Some(value) => match value.list() {
            Some(items) => domain.objects(items, true)?,
            None => return Err(Fault::invalid(value.at, "a list of parameters is expected")),
        },
    };
    let parameters: Vec<_> = parameters.into_iter().map(|(_, object)| object).collect();
    let scope = Scope { domain, objects: &domain.constants, parameters: &parameters };
    let precondition = match precondition {
        Some(value) => condition::tests(value, &scope)?,
        None => Vec::new(),
    };
    let effect = match effect {
        Some(value) => effect::read(value, &scope)?,
        None => Effect::All(Vec::new()),
    };
    Ok(Schema { name, parameters, precondition, effect })
}
