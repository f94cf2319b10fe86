//! The words of an expression.

use policert_numeric::Rational;

use super::ExpressionError;

/// A word and where it begins, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) at: usize,
}

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Number(Rational),
    Name(String),
    /// An operator, bracket or comma.
    Symbol(&'static str),
    End,
}

/// Longer ones first.
const SYMBOLS: [&str; 16] =
    ["**", "<=", ">=", "==", "=", "+", "-", "*", "/", "^", "(", ")", ",", "<", ">", "!"];

/// Splits a text into words, the end included.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let first = rest.chars().next().unwrap_or(' ');
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if first.is_ascii_digit() || first == '.' {
            let length = number_length(rest.as_bytes());
            let value = Rational::parse_decimal(&rest[..length]).ok_or_else(|| {
                ExpressionError::new(at, format!("`{}` is no number", &rest[..length]))
            })?;
            tokens.push(Token { kind: TokenKind::Number(value), at });
            length
        } else if first.is_alphabetic() || first == '_' {
            let length =
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token { kind: TokenKind::Name(rest[..length].to_owned()), at });
            length
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            tokens.push(Token { kind: TokenKind::Symbol(symbol), at });
            symbol.len()
        } else {
            return Err(ExpressionError::new(at, format!("`{first}` has no meaning here")));
        };
        at += length;
    }
    tokens.push(Token { kind: TokenKind::End, at: text.len() });
    Ok(tokens)
}

/// Length of a decimal number with fraction and exponent.
fn number_length(text: &[u8]) -> usize {
    let digits = |from: usize| text[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut length = digits(0);
    if text.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(text.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits((length + 1 + sign).min(text.len()));
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}
