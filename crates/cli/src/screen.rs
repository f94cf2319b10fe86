//! The last guard before the screen: whatever text was put together from, it moves no cursor and
//! changes no colour but by our own marks.

use std::io::{self, Write};

use crate::style;

/// Passes text on; characters without a glyph are written as escapes, line ends and marks of
/// [`style::Style`] stay.
#[derive(Debug)]
pub struct Screen<W> {
    inner: W,
}

impl<W: Write> Screen<W> {
    /// A guard before `inner`.
    pub fn new(inner: W) -> Self {
        Self { inner }
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.inner.write_all(guarded(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A text of several lines with its own marks, safe to print.
pub fn guarded(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mark = style::MARKS.iter().find(|mark| rest.starts_with(**mark));
        if let Some(mark) = mark {
            safe.push_str(mark);
            rest = &rest[mark.len()..];
            continue;
        }
        if c == '\n' || policert_files::is_plain(c) {
            safe.push(c);
        } else {
            safe.extend(c.escape_debug());
        }
        rest = &rest[c.len_utf8()..];
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{Mark, Style};

    #[test]
    fn a_name_erases_no_verdict() -> io::Result<()> {
        let mut out = Vec::new();
        let unsafe_word = Style::always().paint(Mark::Bad, "UNSAFE");
        write!(Screen::new(&mut out), "{unsafe_word}: x\u{1b}[2K\r\u{1b}[1;32mSAFE\u{9b}K\n")?;
        let text = String::from_utf8_lossy(&out);
        let start = format!("{unsafe_word}: x\\u{{1b}}[2K\\r");
        assert!(text.starts_with(&start) && text.ends_with("SAFE\\u{9b}K\n"), "{text:?}");
        Ok(())
    }
}
