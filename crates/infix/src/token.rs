//! The pieces of an expression: words, numbers and signs.

use std::ops::Range;

use policert_numeric::Rational;

/// A piece of the text.
#[derive(Clone, Debug)]
pub struct Token {
    pub kind: TokenKind,
    /// The place in the text, in bytes.
    pub span: Range<usize>,
}

/// Says what a piece is.
#[derive(Clone, PartialEq, Debug)]
pub enum TokenKind {
    /// A decimal number.
    Number(Rational),
    /// A name, or a word of the grammar.
    Name(String),
    /// A name in quotes: no word of the language.
    Quoted(String),
    /// An operator, bracket or comma.
    Sign(&'static str),
    /// Nothing of the above.
    Unknown,
    /// The end of the text.
    End,
}

/// Signs, longer ones before those they start with.
const SIGNS: [&str; 35] = [
    "=>", "==", "!=", "<=", ">=", "&&", "||", "->", "**", "⇒", "∨", "∧", "¬", "≠", "≤", "≥", "−",
    "·", "=", "<", ">", "!", "&", "|", "+", "-", "*", "/", "%", "^", "(", ")", "[", "]", ",",
];

/// Returns whether a name is read as one without further knowledge.
#[must_use]
pub fn is_plain_name(name: &str) -> bool {
    name_length(name) == name.len() && !name.is_empty()
}

/// Length of the plain name at the front of a text.
fn name_length(text: &str) -> usize {
    let starts = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '#')));
    if starts { end.unwrap_or(text.len()) } else { 0 }
}

/// The pieces of a text, an end at the end; `known` are names that are not plain.
#[must_use]
pub fn tokens(text: &str, known: &[&str]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let space = rest.len() - rest.trim_start().len();
        if space > 0 {
            at += space;
            continue;
        }
        let (kind, length) = token(rest, known);
        tokens.push(Token { kind, span: at..at + length });
        at += length;
    }
    tokens.push(Token { kind: TokenKind::End, span: text.len()..text.len() });
    tokens
}

fn token(rest: &str, known: &[&str]) -> (TokenKind, usize) {
    if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) {
        return match rest[1..].find(quote) {
            Some(end) => (TokenKind::Quoted(rest[1..=end].to_owned()), end + 2),
            None => (TokenKind::Unknown, rest.len()),
        };
    }
    let longest = known.iter().filter(|name| {
        let goes_on = |after: &str| {
            name.ends_with(|c: char| c.is_alphanumeric() || c == '_')
                && after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        };
        rest.strip_prefix(**name).is_some_and(|after| !name.is_empty() && !goes_on(after))
    });
    let longest = longest.max_by_key(|name| name.len());
    let plain = name_length(rest);
    if let Some(name) = longest
        && name.len() > plain
    {
        return (TokenKind::Name((*name).to_owned()), name.len());
    }
    if plain > 0 {
        return (TokenKind::Name(rest[..plain].to_owned()), plain);
    }
    let after_point = rest.strip_prefix('.').unwrap_or(rest);
    if after_point.starts_with(|c: char| c.is_ascii_digit()) {
        let length = number_length(rest);
        return match Rational::parse_decimal(&rest[..length]) {
            Some(value) => (TokenKind::Number(value), length),
            None => (TokenKind::Unknown, length),
        };
    }
    match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        Some(sign) => (TokenKind::Sign(sign), sign.len()),
        None => (TokenKind::Unknown, rest.chars().next().map_or(1, char::len_utf8)),
    }
}

/// Length of the decimal number at the front: `12`, `0.5`, `.5`, `2.`, `1e-3`.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.bytes().take_while(u8::is_ascii_digit).count()
    };
    let mut length = digits(0);
    if text[length..].starts_with('.') {
        length += 1 + digits(length + 1);
    }
    if text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        if digits(length + 1 + sign) > 0 {
            length += 1 + sign + digits(length + 1 + sign);
        }
    }
    length
}
