//! Text to S-expressions, with places.

use crate::Fault;

/// Lists may be nested this deeply.
pub const MAX_DEPTH: usize = 500;

/// Characters of an atom that messages show.
const SHOWN: usize = 40;

/// An S-expression of a text.
#[derive(Clone, PartialEq, Debug)]
pub struct Sexpr<'a> {
    /// Offset in bytes of its first character.
    pub at: usize,
    /// What it is.
    pub kind: Kind<'a>,
}

/// Says what an S-expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind<'a> {
    /// A symbol, number or keyword; of a symbol between bars what is between them.
    Atom(&'a str),
    /// A string: what is between the quotation marks.
    Text(&'a str),
    /// A list.
    List(Vec<Sexpr<'a>>),
}

impl<'a> Sexpr<'a> {
    /// The atom that it is, if it is one.
    #[must_use]
    pub fn atom(&self) -> Option<&'a str> {
        match self.kind {
            Kind::Atom(atom) => Some(atom),
            _ => None,
        }
    }

    /// The items of the list that it is, if it is one.
    #[must_use]
    pub fn list(&self) -> Option<&[Sexpr<'a>]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// For messages: an atom itself, or what else it is.
    #[must_use]
    pub fn described(&self) -> String {
        match &self.kind {
            Kind::Atom(atom) => quoted(atom),
            Kind::Text(_) => "a string".to_owned(),
            Kind::List(items) => match items.first().and_then(Sexpr::atom) {
                Some(head) => format!("`({} …)`", shortened(head)),
                None => "a list".to_owned(),
            },
        }
    }
}

/// An atom in a message.
#[must_use]
pub fn quoted(atom: &str) -> String {
    format!("`{}`", shortened(atom))
}

fn shortened(atom: &str) -> String {
    match atom.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &atom[..end]),
        None => atom.to_owned(),
    }
}

/// Reads one expression after the other.
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
}

enum Token<'a> {
    Open,
    Close,
    Leaf(Kind<'a>),
}

impl<'a> Reader<'a> {
    /// A reader at the start of a text.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self { text, at: if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 } }
    }

    /// The next expression that is in no list; `None` at the end of the text.
    ///
    /// # Errors
    /// A text that is no such expression, or one that is nested too deeply.
    pub fn next_expression(&mut self) -> Result<Option<Sexpr<'a>>, Fault> {
        // Lists that are open: where each began, and what it has so far.
        let mut open: Vec<(usize, Vec<Sexpr<'a>>)> = Vec::new();
        loop {
            let Some((at, token)) = self.token()? else {
                return match open.first() {
                    None => Ok(None),
                    Some(&(at, _)) => {
                        let count = open.len();
                        let open = if count == 1 { "is" } else { "and those in it are" };
                        let message = format!(
                            "the file ends before this list {open} closed: {count} `)` missing"
                        );
                        Err(Fault::invalid(at, message))
                    }
                };
            };
            let done = match token {
                Token::Open if open.len() >= MAX_DEPTH => {
                    let message = format!("lists are nested more than {MAX_DEPTH} deep");
                    return Err(Fault::unsupported(at, message));
                }
                Token::Open => {
                    open.push((at, Vec::new()));
                    continue;
                }
                Token::Close => match open.pop() {
                    Some((at, items)) => Sexpr { at, kind: Kind::List(items) },
                    None => return Err(Fault::invalid(at, "a `)` without its `(`")),
                },
                Token::Leaf(kind) => Sexpr { at, kind },
            };
            match open.last_mut() {
                Some((_, items)) => items.push(done),
                None => return Ok(Some(done)),
            }
        }
    }

    fn token(&mut self) -> Result<Option<(usize, Token<'a>)>, Fault> {
        self.skip_blanks();
        let at = self.at;
        let rest = &self.text[at..];
        let Some(&first) = rest.as_bytes().first() else { return Ok(None) };
        let token = match first {
            b'(' => {
                self.at += 1;
                Token::Open
            }
            b')' => {
                self.at += 1;
                Token::Close
            }
            b'"' => {
                let Some(length) = string_end(&rest[1..]) else {
                    return Err(Fault::invalid(at, "the file ends before this string does"));
                };
                self.at += length + 2;
                Token::Leaf(Kind::Text(&rest[1..=length]))
            }
            b'|' => {
                let Some(length) = rest[1..].find('|') else {
                    return Err(Fault::invalid(at, "the file ends before this symbol does"));
                };
                self.at += length + 2;
                Token::Leaf(Kind::Atom(&rest[1..=length]))
            }
            _ => {
                let length = rest.bytes().position(ends_atom).unwrap_or(rest.len());
                let atom = &rest[..length];
                if let Some((offset, bad)) = atom.char_indices().find(|(_, c)| c.is_control()) {
                    let code = u32::from(bad);
                    let message = format!("a control character (U+{code:04X}): this is no text");
                    return Err(Fault::invalid(at + offset, message));
                }
                self.at += length;
                Token::Leaf(Kind::Atom(atom))
            }
        };
        Ok(Some((at, token)))
    }

    /// Skips blanks and comments.
    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if byte == b';' {
                let rest = &bytes[self.at..];
                self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            } else if is_blank(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\x0c')
}

fn ends_atom(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b'(' | b')' | b';' | b'"' | b'|')
}

/// Length of a string without its quotation marks; two of them in it stand for one.
fn string_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at += bytes[at..].iter().position(|&byte| byte == b'"')?;
        if bytes.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}
