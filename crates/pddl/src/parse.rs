//! S-expressions to a domain and a problem, names and types checked.

mod condition;
mod domain;
mod effect;
mod names;
mod problem;
mod typed_list;

use policert_sexpr::{Fault, Reader, Sexpr, SexprError, text};

use crate::{Domain, PddlError, Problem};

/// The beginning of domains and problems, without blanks.
const DEFINE: &[u8] = b"(define";

/// Returns whether the bytes of a file are PDDL, or meant to be: its first characters, but for blanks
/// and comments, are those of `(define`.
#[must_use]
pub fn is_pddl(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let lines = bytes.split(|&byte| byte == b'\n');
    let code = lines.flat_map(|line| line.iter().take_while(|&&byte| byte != b';'));
    let code = code.filter(|byte| !byte.is_ascii_whitespace()).map(u8::to_ascii_lowercase);
    code.take(DEFINE.len()).eq(DEFINE.iter().copied())
}

/// Reads a domain from the bytes of a file; `name` is used in messages.
///
/// # Errors
/// If the text breaks the format, or has something that is not supported. The message says where.
pub fn parse_domain(name: &str, bytes: &[u8]) -> Result<Domain, PddlError> {
    let found = definition(bytes, "domain").and_then(|define| domain::read(&define));
    found.map_err(|fault| SexprError::of(fault, name, bytes).into())
}

/// Reads a problem of a domain from the bytes of a file; `name` is used in messages.
///
/// # Errors
/// If the text breaks the format, is a problem of another domain, or has something that is not
/// supported. The message says where.
pub fn parse_problem(name: &str, bytes: &[u8], domain: &Domain) -> Result<Problem, PddlError> {
    let found = definition(bytes, "problem").and_then(|define| problem::read(&define, domain));
    found.map_err(|fault| SexprError::of(fault, name, bytes).into())
}

/// `(define (KIND NAME) SECTION…)`.
struct Definition<'a> {
    name: String,
    sections: Vec<Section<'a>>,
}

/// `(:KEY ITEM…)`.
struct Section<'a> {
    at: usize,
    key: String,
    items: Vec<Sexpr<'a>>,
}

fn definition<'a>(bytes: &'a [u8], kind: &str) -> Result<Definition<'a>, Fault> {
    let mut reader = Reader::new(text(bytes)?);
    let expected = |at| Fault::invalid(at, format!("(define ({kind} NAME) …) is expected"));
    let Some(define) = reader.next_expression()? else { return Err(expected(0)) };
    let Some([head, title, rest @ ..]) = define.list() else { return Err(expected(define.at)) };
    if head.atom().map(str::to_ascii_lowercase).as_deref() != Some("define") {
        return Err(expected(define.at));
    }
    let name = match title.list() {
        Some([word, name]) if names::is_word(word, kind) => names::name(name, "a name")?,
        Some([word, _]) => {
            let message = format!("a {kind} is expected here, not a {}", word.described());
            return Err(Fault::invalid(title.at, message));
        }
        _ => return Err(expected(title.at)),
    };
    if let Some(more) = reader.next_expression()? {
        let message =
            format!("{} after the end of the definition: a file has one {kind}", more.described());
        return Err(Fault::invalid(more.at, message));
    }
    let sections = rest.iter().map(section).collect::<Result<_, _>>()?;
    Ok(Definition { name, sections })
}

fn section<'a>(expression: &Sexpr<'a>) -> Result<Section<'a>, Fault> {
    let parts = expression.list().and_then(<[_]>::split_first);
    match parts.and_then(|(head, items)| Some((head.atom()?, items))) {
        Some((key, items)) if key.starts_with(':') => {
            Ok(Section { at: expression.at, key: key.to_ascii_lowercase(), items: items.to_vec() })
        }
        _ => {
            let message =
                format!("a section such as (:init …) is expected, not {}", expression.described());
            Err(Fault::invalid(expression.at, message))
        }
    }
}

/// Refuses a section that stands twice; `seen` are those so far.
fn once(section: &Section<'_>, seen: &mut Vec<String>) -> Result<(), Fault> {
    if seen.contains(&section.key) {
        return Err(Fault::invalid(section.at, format!("{} stands twice", section.key)));
    }
    seen.push(section.key.clone());
    Ok(())
}
