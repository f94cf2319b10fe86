//! Names: letters of both cases are the same.

use policert_sexpr::{Fault, Sexpr, quoted};

/// Returns whether an expression is this word.
pub(super) fn is_word(expression: &Sexpr<'_>, word: &str) -> bool {
    expression.atom().is_some_and(|atom| atom.eq_ignore_ascii_case(word))
}

/// The name that an expression is.
pub(super) fn name(expression: &Sexpr<'_>, what: &str) -> Result<String, Fault> {
    match expression.atom() {
        Some(atom) if is_name(atom) => Ok(atom.to_ascii_lowercase()),
        Some(atom) => {
            let message = format!(
                "{} is no name: {what} begins with a letter, and has letters, digits, - and _",
                quoted(atom)
            );
            Err(Fault::invalid(expression.at, message))
        }
        None => {
            let message = format!("{what} is expected, not {}", expression.described());
            Err(Fault::invalid(expression.at, message))
        }
    }
}

/// Names of objects may also begin with a digit, as in many files.
fn is_name(atom: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    atom.starts_with(|c: char| c.is_alphanumeric() || c == '_') && atom.chars().all(is_part)
}

/// The position of the item with a name, or the fault that there is none: with the names that there
/// are.
pub(super) fn find<'n>(
    at: usize,
    name: &str,
    what: &str,
    mut known: impl Iterator<Item = &'n str> + Clone,
) -> Result<usize, Fault> {
    known.clone().position(|known| known == name).ok_or_else(|| {
        let first: Vec<&str> = known.by_ref().take(20).collect();
        let more = if known.next().is_some() { ", …" } else { "" };
        let there = match first.is_empty() {
            true => "there is none".to_owned(),
            false => format!("there are {}{more}", first.join(", ")),
        };
        Fault::invalid(at, format!("{} is no {what}: {there}", quoted(name)))
    })
}
