//! Where values end. That is found again in the text whenever it is asked for; only the ends of long
//! containers are kept, so that stepping over them takes no time.

/// Containers of more bytes than this have their ends kept.
const LONG: usize = 64;

/// White space that is stepped over at once: most of it is indentation.
const INDENTATION: &[u8; 8] = b"        ";

/// Bytes of the text that are looked up at once.
const BLOCK: usize = 1 << 10;

/// The long containers of a text.
#[derive(Clone, Default, Debug)]
pub(super) struct Extents {
    /// Start and end, sorted by start.
    long: Vec<(u32, u32)>,
    /// The first of them that starts in each block of the text, or behind it.
    blocks: Vec<u32>,
}

impl Extents {
    /// Notes that a container starts; its place in the table.
    pub fn open(&mut self, start: usize) -> usize {
        let entry = self.long.len();
        while self.blocks.len() <= start / BLOCK {
            self.blocks.push(super::position(entry));
        }
        self.long.push((super::position(start), 0));
        entry
    }

    /// Notes that the container of an entry ends, and all in it did.
    pub fn close(&mut self, entry: usize, end: usize) {
        let (start, known_end) = &mut self.long[entry];
        *known_end = super::position(end);
        if end - *start as usize <= LONG {
            // There is nothing behind it: what is in it is shorter still.
            self.long.truncate(entry);
            let entry = super::position(entry);
            for block in self.blocks.iter_mut().rev().take_while(|block| **block > entry) {
                *block = entry;
            }
        }
    }

    /// The first byte behind the value that starts at `start`, in the text that was read.
    pub fn end(&self, text: &[u8], start: usize) -> usize {
        let rest = text.get(start..).unwrap_or_default();
        match rest.first() {
            Some(b'"') => start + string_length(rest),
            Some(b'{' | b'[') => self.long_end(start).unwrap_or_else(|| start + short_length(rest)),
            _ => {
                let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
                start + rest.iter().take_while(|b| is_part(b)).count()
            }
        }
    }

    fn long_end(&self, start: usize) -> Option<usize> {
        let block = start / BLOCK;
        let first = *self.blocks.get(block)? as usize;
        let behind = self.blocks.get(block + 1).map_or(self.long.len(), |&entry| entry as usize);
        let here = &self.long[first..behind];
        let found = here.binary_search_by_key(&super::position(start), |&(start, _)| start);
        found.ok().map(|entry| here[entry].1 as usize)
    }
}

/// Bytes of the string at the front, quotes included.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

/// Bytes of the container at the front.
fn short_length(text: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0usize);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at += string_length(&text[at..]);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    at
}

/// The first byte from `at` on that is no white space.
pub(super) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
        while text.get(at..).is_some_and(|rest| rest.starts_with(INDENTATION)) {
            at += INDENTATION.len();
        }
    }
    at
}
