//! Reading a JSON text, to see that it is one: one loop with a stack of open containers.

use std::ops::Range;

use super::{Content, Document, Extents, JsonError, JsonNodeId, MAX_DEPTH, skip_space};
use crate::stop::Watch;

pub(super) fn read(text: &str, watch: &mut Watch) -> Result<Document, JsonError> {
    if u32::try_from(text.len()).is_err() {
        return Err(JsonError {
            offset: 0,
            message: "the file is larger than 4 GiB".to_owned(),
            too_deep: false,
        });
    }
    let bytes = text.as_bytes();
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader {
        bytes,
        at: start,
        values: 0,
        extents: Extents::default(),
        open: Vec::new(),
        keys: Vec::new(),
        duplicate_keys: Vec::new(),
    };
    reader.document(watch)?;
    let Reader { values, extents, duplicate_keys, .. } = reader;
    let root = JsonNodeId::new(skip_space(bytes, start));
    Ok(Document(Content::Json { root, values, extents, duplicate_keys }))
}

/// Up to how many keys of an object are compared pairwise.
const FEW_KEYS: usize = 16;

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Number of values and keys so far.
    values: u64,
    extents: Extents,
    /// The containers that are not closed yet.
    open: Vec<Open>,
    /// Their keys so far, with quotes.
    keys: Vec<Range<usize>>,
    duplicate_keys: Vec<JsonNodeId>,
}

struct Open {
    /// The byte that closes it.
    closer: u8,
    /// Its entry among the long containers, if it becomes one.
    extent: usize,
    /// The position at which its keys start.
    keys: usize,
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
            Some(b'"') => {
                self.string()?;
            }
            Some(b'{') => return self.open(b'}'),
            Some(b'[') => return self.open(b']'),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true")?,
            Some(b'f') => self.word("false")?,
            Some(b'n') => self.word("null")?,
            _ => return Err(self.expected("a value")),
        }
        Ok(true)
    }

    fn open(&mut self, closer: u8) -> Result<bool, JsonError> {
        if self.open.len() >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err(JsonError { offset: self.at, message, too_deep: true });
        }
        let extent = self.extents.open(self.at);
        self.open.push(Open { closer, extent, keys: self.keys.len() });
        self.values += 1;
        self.at += 1;
        Ok(false)
    }

    fn close(&mut self) {
        self.at += 1;
        if let Some(container) = self.open.pop() {
            self.extents.close(container.extent, self.at);
            self.find_duplicates(container.keys);
            self.keys.truncate(container.keys);
        }
    }

    /// The byte that closes the innermost container.
    fn closer(&self) -> u8 {
        self.open.last().map_or(b']', |container| container.closer)
    }

    fn key(&mut self) -> Result<(), JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a key in double quotes"));
        }
        let key = self.string()?;
        self.keys.push(key);
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.expected("`:`"));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a string; its bytes with the quotes.
    fn string(&mut self) -> Result<Range<usize>, JsonError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(0..=0x1f) => return Err(self.error("control character in a string")),
                Some(_) => self.at += 1,
                None => return Err(self.error("unexpected end of file inside a string")),
            }
        }
        self.at += 1;
        self.values += 1;
        Ok(start..self.at)
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
        self.values += 1;
        Ok(())
    }

    fn digits(&mut self) -> Result<usize, JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(self.at - start) }
    }

    fn word(&mut self, word: &str) -> Result<(), JsonError> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.expected("a value"));
        }
        self.values += 1;
        self.at += word.len();
        Ok(())
    }

    /// Notes the keys of an object, just closed, that stand further up in it as well.
    fn find_duplicates(&mut self, first: usize) {
        let keys = &self.keys[first..];
        let text = |key: &Range<usize>| &self.bytes[key.clone()];
        let few = &keys[..keys.len().min(FEW_KEYS)];
        for (i, key) in few.iter().enumerate() {
            if few[..i].iter().any(|other| text(other) == text(key)) {
                self.duplicate_keys.push(JsonNodeId::new(key.start));
            }
        }
        // Longer objects are sorted, and searched from where the pairwise search ended.
        if let Some(behind) = keys.get(FEW_KEYS) {
            let mut sorted: Vec<&Range<usize>> = keys.iter().collect();
            sorted.sort_by_key(|key| (text(key), key.start));
            let again = |pair: &&[&Range<usize>]| {
                text(pair[0]) == text(pair[1]) && pair[1].start >= behind.start
            };
            let again = sorted.windows(2).filter(again);
            self.duplicate_keys.extend(again.map(|pair| JsonNodeId::new(pair[1].start)));
        }
    }

    fn skip_space(&mut self) {
        self.at = skip_space(self.bytes, self.at);
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
