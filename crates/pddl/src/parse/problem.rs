//! The sections of a problem.

use std::collections::{BTreeMap, BTreeSet};

use policert_numeric::Rational;
use policert_sexpr::{Fault, Sexpr, quoted};

use super::domain::{TOTAL_COST, requirements};
use super::effect::{Scope, number};
use super::names::{is_word, name};
use super::{Definition, Section, condition, once};
use crate::domain::{Domain, Test};
use crate::problem::Problem;
use crate::task::GroundAtom;

pub(super) fn read(define: &Definition<'_>, domain: &Domain) -> Result<Problem, Fault> {
    let mut problem = Problem {
        name: define.name.clone(),
        objects: domain.constants.clone(),
        initial: BTreeSet::new(),
        values: BTreeMap::new(),
        goal: Vec::new(),
        is_goal_contradictory: false,
    };
    let mut seen = Vec::new();
    // Objects come first, wherever they stand.
    let order = |section: &&Section<'_>| match section.key.as_str() {
        ":domain" => 0,
        ":objects" => 1,
        _ => 2,
    };
    let mut sections: Vec<&Section<'_>> = define.sections.iter().collect();
    sections.sort_by_key(order);
    for section in sections {
        once(section, &mut seen)?;
        let items = &section.items;
        match section.key.as_str() {
            ":domain" => of_domain(section, domain)?,
            ":requirements" => requirements(items)?,
            ":objects" => {
                for (at, object) in domain.objects(items, false)? {
                    if problem.objects.iter().any(|known| known.name == object.name) {
                        let message = format!("{} is a constant already", quoted(&object.name));
                        return Err(Fault::invalid(at, message));
                    }
                    problem.objects.push(object);
                }
            }
            ":init" => {
                let objects = problem.objects.clone();
                let scope = Scope { domain, objects: &objects, parameters: &[] };
                let mut negated = Vec::new();
                for item in items {
                    fact(item, &scope, &mut problem, &mut negated)?;
                }
                if let Some((at, _)) =
                    negated.iter().find(|(_, atom)| problem.initial.contains(atom))
                {
                    return Err(Fault::invalid(*at, "this holds at first, and does not"));
                }
            }
            ":goal" => goal(section, domain, &mut problem)?,
            ":metric" => metric(section)?,
            ":constraints" | ":length" => {
                let message = format!("({} …) is not supported", section.key);
                return Err(Fault::unsupported(section.at, message));
            }
            other => {
                let message = format!("{} is no section of a problem", quoted(other));
                return Err(Fault::invalid(section.at, message));
            }
        }
    }
    for needed in [":domain", ":init", ":goal"] {
        if !seen.iter().any(|key| key == needed) {
            return Err(Fault::invalid(0, format!("the problem has no section {needed}")));
        }
    }
    Ok(problem)
}

fn of_domain(section: &Section<'_>, domain: &Domain) -> Result<(), Fault> {
    let [item] = &section.items[..] else {
        return Err(Fault::invalid(section.at, "the name of a domain is expected: (:domain NAME)"));
    };
    let name = name(item, "the name of a domain")?;
    if name != domain.name {
        let message = format!(
            "this is a problem of the domain `{name}`, and the domain that is given is `{}`",
            domain.name
        );
        return Err(Fault::invalid(item.at, message));
    }
    Ok(())
}

fn fact(
    item: &Sexpr<'_>,
    scope: &Scope<'_>,
    problem: &mut Problem,
    negated: &mut Vec<(usize, GroundAtom)>,
) -> Result<(), Fault> {
    let Some((head, rest)) = item.list().and_then(<[_]>::split_first) else {
        let message = format!("an atom is expected, not {}", item.described());
        return Err(Fault::invalid(item.at, message));
    };
    if is_word(head, "not") {
        let [atom] = rest else { return Err(Fault::invalid(item.at, "`not` has one atom")) };
        negated.push((item.at, scope.atom(atom)?.ground(&[])));
        return Ok(());
    }
    if is_word(head, "=") {
        let [function, value] = rest else {
            return Err(Fault::invalid(item.at, "(= (FUNCTION …) NUMBER) is expected"));
        };
        let atom = scope.applied(function, "function", &scope.domain.functions)?.ground(&[]);
        let value = number(value)?;
        if value < Rational::ZERO {
            return Err(Fault::invalid(item.at, "a cost is not negative"));
        }
        if problem.values.insert(atom, value).is_some() {
            return Err(Fault::invalid(item.at, "this function has a value already"));
        }
        return Ok(());
    }
    let is_timed = matches!(rest, [_, what] if what.list().is_some());
    if is_word(head, "probabilistic") || (is_word(head, "at") && is_timed) {
        let message = format!(
            "{} is not supported among initial facts; start states are given with --start",
            item.described()
        );
        return Err(Fault::unsupported(item.at, message));
    }
    problem.initial.insert(scope.atom(item)?.ground(&[]));
    Ok(())
}

fn goal(section: &Section<'_>, domain: &Domain, problem: &mut Problem) -> Result<(), Fault> {
    let [item] = &section.items[..] else {
        return Err(Fault::invalid(section.at, "the goal is one condition"));
    };
    let scope = Scope { domain, objects: &problem.objects, parameters: &[] };
    for test in condition::tests(item, &scope)? {
        match test {
            Test::Holds(atom, truth) => problem.goal.push((atom.ground(&[]), truth)),
            Test::Equal(left, right, truth) => {
                problem.is_goal_contradictory |= (left == right) != truth;
            }
        }
    }
    Ok(())
}

/// Only a least cost can be asked for: it says nothing about safety.
fn metric(section: &Section<'_>) -> Result<(), Fault> {
    let is_cost = |item: &Sexpr<'_>| {
        item.list().is_some_and(|list| matches!(list, [f] if is_word(f, TOTAL_COST)))
    };
    match &section.items[..] {
        [what, value] if is_word(what, "minimize") && is_cost(value) => Ok(()),
        _ => {
            let message = "only (:metric minimize (total-cost)) is supported";
            Err(Fault::unsupported(section.at, message))
        }
    }
}
