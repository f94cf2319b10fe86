//! Reading a JSON text into the table of nodes: one loop with a stack of open containers.

use smallvec::SmallVec;

use super::{Document, JsonError, Kind, MAX_DEPTH, Node, NodeId};
use crate::stop::Watch;

pub(super) fn read(text: &str, watch: &mut Watch) -> Result<Document, JsonError> {
    if u32::try_from(text.len()).is_err() {
        return Err(JsonError {
            offset: 0,
            message: "the file is larger than 4 GiB".to_owned(),
            too_deep: false,
        });
    }
    let mut reader = Reader {
        bytes: text.as_bytes(),
        at: if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 },
        nodes: Vec::with_capacity(most_values(text.as_bytes())),
        open: Vec::new(),
        duplicate_keys: Vec::new(),
    };
    reader.document(watch)?;
    Ok(Document { nodes: reader.nodes, duplicate_keys: reader.duplicate_keys })
}

/// At least the number of values and keys: each but the first stands behind one of these. A table that
/// grows would take twice the memory while it does.
fn most_values(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{')).count() + 1
}

/// Up to how many keys of an object are compared pairwise.
const FEW_KEYS: usize = 16;

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    nodes: Vec<Node>,
    /// Nodes of the containers that are not closed yet.
    open: Vec<u32>,
    duplicate_keys: Vec<NodeId>,
}

impl Reader<'_> {
    fn document(&mut self, watch: &mut Watch) -> Result<(), JsonError> {
        loop {
            if watch.step() {
                return Err(self.error("stopped"));
            }
            self.skip_space();
            let mut complete = self.value()?;
            loop {
                if !complete {
                    // An open container: its end, its first element, or its first key.
                    self.skip_space();
                    let closer = self.closer();
                    if self.peek() == Some(closer) {
                        self.close();
                        complete = true;
                        continue;
                    }
                    if closer == b'}' {
                        self.key()?;
                    }
                    break;
                }
                self.skip_space();
                if self.open.is_empty() {
                    return match self.peek() {
                        None => Ok(()),
                        Some(_) => Err(self.error("text after the end of the value")),
                    };
                }
                let closer = self.closer();
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if closer == b'}' {
                            self.skip_space();
                            self.key()?;
                        }
                        break;
                    }
                    Some(byte) if byte == closer => self.close(),
                    _ => return Err(self.expected(&format!("`,` or `{}`", char::from(closer)))),
                }
            }
        }
    }

    /// Reads a value, or the opening of a container; whether the value is complete.
    fn value(&mut self) -> Result<bool, JsonError> {
        match self.peek() {
            Some(b'"') => self.string()?,
            Some(b'{') => return self.open(Kind::Object),
            Some(b'[') => return self.open(Kind::Array),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Kind::Bool(true))?,
            Some(b'f') => self.word("false", Kind::Bool(false))?,
            Some(b'n') => self.word("null", Kind::Null)?,
            _ => return Err(self.expected("a value")),
        }
        Ok(true)
    }

    fn open(&mut self, kind: Kind) -> Result<bool, JsonError> {
        if self.open.len() >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err(JsonError { offset: self.at, message, too_deep: true });
        }
        self.open.push(self.next_id());
        self.push(kind, self.at, self.at + 1);
        self.at += 1;
        Ok(false)
    }

    fn close(&mut self) {
        self.at += 1;
        let (end, next) = (position(self.at), self.next_id());
        if let Some(container) = self.open.pop() {
            let node = &mut self.nodes[container as usize];
            node.end = end;
            node.next = next;
            if node.kind == Kind::Object {
                self.find_duplicates(container);
            }
        }
    }

    /// The byte that closes the innermost container.
    fn closer(&self) -> u8 {
        match self.open.last().map(|&id| self.nodes[id as usize].kind) {
            Some(Kind::Object) => b'}',
            _ => b']',
        }
    }

    fn key(&mut self) -> Result<(), JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a key in double quotes"));
        }
        self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.expected("`:`"));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        let mut escaped = false;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(0..=0x1f) => return Err(self.error("control character in a string")),
                Some(_) => self.at += 1,
                None => return Err(self.error("unexpected end of file inside a string")),
            }
        }
        self.at += 1;
        self.push(Kind::String { escaped }, start, self.at);
        Ok(())
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        let rest = &self.bytes[self.at + 1..];
        match rest.first() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => match code_point(rest) {
                Some((_, length)) => self.at += 1 + length,
                None => return Err(self.error("`\\u` without a character's code")),
            },
            Some(_) => return Err(self.error("unknown escape")),
            None => return Err(self.error("unexpected end of file inside a string")),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading_zero = self.peek() == Some(b'0');
        if self.digits()? > 1 && leading_zero {
            self.at = start;
            return Err(self.error("number with a leading zero"));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        self.push(Kind::Number, start, self.at);
        Ok(())
    }

    fn digits(&mut self) -> Result<usize, JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(self.at - start) }
    }

    fn word(&mut self, word: &str, kind: Kind) -> Result<(), JsonError> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.expected("a value"));
        }
        self.push(kind, self.at, self.at + word.len());
        self.at += word.len();
        Ok(())
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize) {
        let next = self.next_id() + 1;
        self.nodes.push(Node { kind, start: position(start), end: position(end), next });
    }

    /// A node takes at least one byte of the text, so that ids fit as offsets do.
    fn next_id(&self) -> u32 {
        position(self.nodes.len())
    }

    /// Notes the keys of an object, just closed, that stand further up in it as well.
    fn find_duplicates(&mut self, object: u32) {
        let nodes = &self.nodes;
        let text = |id: u32| {
            let node = &nodes[id as usize];
            &self.bytes[node.start as usize..node.end as usize]
        };
        let mut keys = SmallVec::<[u32; 16]>::new();
        let mut key = object + 1;
        while key < self.next_id() {
            if keys.len() < FEW_KEYS && keys.iter().any(|&other| text(other) == text(key)) {
                self.duplicate_keys.push(NodeId(key));
            }
            keys.push(key);
            key = nodes[key as usize + 1].next;
        }
        // Longer objects are sorted, and searched from where the pairwise search ended.
        if let Some(&first) = keys.get(FEW_KEYS) {
            keys.sort_by_key(|&id| (text(id), id));
            let pairs = keys.windows(2).filter(|w| text(w[0]) == text(w[1]) && w[1] >= first);
            self.duplicate_keys.extend(pairs.map(|w| NodeId(w[1])));
        }
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn expected(&self, what: &str) -> JsonError {
        match self.peek() {
            None => self.error(&format!("unexpected end of file, {what} expected")),
            Some(_) => self.error(&format!("{what} expected")),
        }
    }

    fn error(&self, message: &str) -> JsonError {
        JsonError { offset: self.at, message: message.to_owned(), too_deep: false }
    }
}

/// An offset or id as it is stored; texts of more than 4 GiB were refused at the start.
fn position(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The character whose escape starts with the `u` at the front, and the escape's length from
/// there: `uXXXX`, or a surrogate pair `uXXXX\uXXXX`.
fn code_point(bytes: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = std::str::from_utf8(bytes.get(at..at + 4)?).ok()?;
        digits.bytes().all(|b| b.is_ascii_hexdigit()).then_some(())?;
        u32::from_str_radix(digits, 16).ok()
    };
    let first = unit(1)?;
    if !(0xd800..0xdc00).contains(&first) {
        return Some((char::from_u32(first)?, 5));
    }
    let second = unit(7).filter(|low| bytes[5..7] == *b"\\u" && (0xdc00..0xe000).contains(low))?;
    Some((char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))?, 11))
}

/// Resolves the escapes of a string that was read (so all of them are valid).
pub(super) fn unescape(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let (character, length) = match escape.as_bytes().first() {
            Some(b'b') => ('\u{8}', 1),
            Some(b'f') => ('\u{c}', 1),
            Some(b'n') => ('\n', 1),
            Some(b'r') => ('\r', 1),
            Some(b't') => ('\t', 1),
            Some(b'u') => code_point(escape.as_bytes()).unwrap_or(('\u{fffd}', 1)),
            Some(&other) => (char::from(other), 1),
            None => break,
        };
        out.push(character);
        rest = &escape[length..];
    }
    out.push_str(rest);
    out
}
