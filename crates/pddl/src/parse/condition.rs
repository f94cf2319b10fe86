//! Conditions: conjunctions of atoms, their negations, and tests of equality.

use policert_sexpr::{Fault, Sexpr, quoted};

use super::effect::Scope;
use super::names::{find, is_word, name};
use super::typed_list::parameter;
use crate::domain::{Atom, Predicate, Term, Test};

/// Reads a condition.
pub(super) fn tests(expression: &Sexpr<'_>, scope: &Scope<'_>) -> Result<Vec<Test>, Fault> {
    let mut tests = Vec::new();
    read(expression, scope, &mut tests)?;
    Ok(tests)
}

fn read(expression: &Sexpr<'_>, scope: &Scope<'_>, tests: &mut Vec<Test>) -> Result<(), Fault> {
    let Some(list) = expression.list() else {
        let message = format!("a condition is expected, not {}", expression.described());
        return Err(Fault::invalid(expression.at, message));
    };
    let Some((head, items)) = list.split_first() else { return Ok(()) };
    if is_word(head, "and") {
        return items.iter().try_for_each(|item| read(item, scope, tests));
    }
    if is_word(head, "not") {
        let [inner] = items else {
            return Err(Fault::invalid(expression.at, "`not` has one condition"));
        };
        tests.push(test(inner, scope, false)?);
    } else {
        tests.push(test(expression, scope, true)?);
    }
    Ok(())
}

/// An atom or a test of equality, or its negation.
fn test(expression: &Sexpr<'_>, scope: &Scope<'_>, truth: bool) -> Result<Test, Fault> {
    let head = expression.list().and_then(<[_]>::split_first);
    let Some((word, items)) = head.and_then(|(head, items)| Some((head.atom()?, items))) else {
        let message = format!("an atom is expected, not {}", expression.described());
        return Err(Fault::invalid(expression.at, message));
    };
    match word.to_ascii_lowercase().as_str() {
        "=" => match items {
            [left, right] => Ok(Test::Equal(scope.term(left)?, scope.term(right)?, truth)),
            _ => Err(Fault::invalid(expression.at, "`=` has two terms")),
        },
        "or" | "imply" | "forall" | "exists" | "preference" | "<" | "<=" | ">" | ">=" | "and"
        | "not"
            if !scope.has_predicate(word) =>
        {
            let message = format!(
                "{} is not supported here: conditions are conjunctions of atoms, negated atoms, and \
                 tests of equality",
                expression.described()
            );
            Err(Fault::unsupported(expression.at, message))
        }
        _ => Ok(Test::Holds(scope.atom(expression)?, truth)),
    }
}

impl Scope<'_> {
    fn has_predicate(&self, word: &str) -> bool {
        self.domain.predicates.iter().any(|predicate| predicate.name.eq_ignore_ascii_case(word))
    }

    /// An atom of a predicate.
    pub fn atom(&self, expression: &Sexpr<'_>) -> Result<Atom, Fault> {
        self.applied(expression, "predicate", &self.domain.predicates)
    }

    /// A function or predicate with its arguments.
    pub fn applied(
        &self,
        expression: &Sexpr<'_>,
        what: &str,
        known: &[Predicate],
    ) -> Result<Atom, Fault> {
        let Some((head, items)) = expression.list().and_then(<[_]>::split_first) else {
            let message =
                format!("a {what} in parentheses is expected, not {}", expression.described());
            return Err(Fault::invalid(expression.at, message));
        };
        let name = name(head, "its name")?;
        let predicate = find(head.at, &name, what, known.iter().map(|p| p.name.as_str()))?;
        let arguments = &known[predicate].arguments;
        if items.len() != arguments.len() {
            let message = format!(
                "`{name}` has {} arguments, and {} are given",
                arguments.len(),
                items.len()
            );
            return Err(Fault::invalid(expression.at, message));
        }
        let mut terms = Vec::new();
        for (item, &of) in items.iter().zip(arguments) {
            let term = self.term(item)?;
            let given = match term {
                Term::Parameter(position) => self.parameters[position].of,
                Term::Object(object) => self.objects[object].of,
            };
            let types = &self.domain.types;
            if !self.domain.is_a(given, of) {
                let message = format!(
                    "{} is of type `{}`, and `{name}` is about `{}` here",
                    item.described(),
                    types[given].name,
                    types[of].name
                );
                return Err(Fault::invalid(item.at, message));
            }
            terms.push(term);
        }
        Ok(Atom { predicate, terms })
    }

    /// A parameter or an object.
    pub fn term(&self, item: &Sexpr<'_>) -> Result<Term, Fault> {
        if item.atom().is_some_and(|atom| atom.starts_with('?')) {
            let name = parameter(item)?;
            let known = self.parameters.iter().position(|known| known.name == name);
            return known.map(Term::Parameter).ok_or_else(|| {
                let message = format!("{} is no parameter here", quoted(&format!("?{name}")));
                Fault::invalid(item.at, message)
            });
        }
        let name = name(item, "an object")?;
        let known = self.objects.iter().map(|object| object.name.as_str());
        Ok(Term::Object(find(item.at, &name, "object", known)?))
    }
}
