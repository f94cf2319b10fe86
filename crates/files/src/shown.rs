//! Text from outside, made safe to print.

use std::fmt::{self, Write as _};
use std::path::Path;

/// Characters of a name, a token or an excerpt that are shown.
pub const NAME: usize = 200;

/// Characters of a message that are shown.
pub const MESSAGE: usize = 4000;

/// A text as it is shown: see [`shown`].
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    text: &'a str,
    longest: usize,
}

/// A message, or a line of text, safe to print. Characters that have no glyph of their own (control
/// characters, line ends, changes of the direction of writing, combining marks) are written as
/// `\n` or `\u{1b}`; a text of more than [`MESSAGE`] characters loses its middle. Showing twice is as
/// showing once.
#[must_use]
pub fn shown(text: &str) -> Shown<'_> {
    Shown { text, longest: MESSAGE }
}

/// As [`shown`], of at most [`NAME`] characters: for names, tokens and excerpts.
#[must_use]
pub fn name(text: &str) -> Shown<'_> {
    Shown { text, longest: NAME }
}

/// As [`shown`], at full length: for texts that another program reads.
#[must_use]
pub fn escaped(text: &str) -> Shown<'_> {
    Shown { text, longest: usize::MAX }
}

/// A path, as [`shown`].
#[must_use]
pub fn path(path: &Path) -> String {
    shown(&path.display().to_string()).to_string()
}

/// A field of a CSV file (RFC 4180), on one line.
#[must_use]
pub fn csv_field(text: &str) -> String {
    let text = escaped(text).to_string();
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// A name or a message in a Markdown document: no table, link, mark or tag begins in it.
#[must_use]
pub fn markdown(text: &str) -> String {
    let mut safe = String::new();
    for c in shown(text).to_string().chars() {
        if "|\\`*_[]<>#&".contains(c) {
            safe.push('\\');
        }
        safe.push(c);
    }
    safe
}

/// A message about a place in a text, given by its offset: `line 3, column 7: message`.
#[must_use]
pub fn placed(text: &str, offset: Option<usize>, message: &str) -> String {
    let Some(before) = offset.and_then(|offset| text.get(..offset)) else {
        return message.to_owned();
    };
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.matches('\n').count() + 1;
    let column = before[line_start..].chars().count() + 1;
    format!("line {line}, column {column}: {message}")
}

/// Returns whether a character has a glyph of its own, so that it is shown as it is.
#[must_use]
pub fn is_plain(c: char) -> bool {
    matches!(c, '\'' | '"' | '\\') || c.escape_debug().len() == 1
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is not needed of a long text is not looked at.
        if self.text.len() <= self.longest || self.text.chars().nth(self.longest).is_none() {
            return write(f, self.text);
        }
        // The end says as much as the beginning: a message often ends with what is right.
        let last = self.longest / 3;
        let first = self.longest - last - 1;
        let at = |index: usize| {
            self.text.char_indices().nth(index).map_or(self.text.len(), |(offset, _)| offset)
        };
        let from_end = self.text.char_indices().rev().nth(last.saturating_sub(1));
        write(f, &self.text[..at(first)])?;
        f.write_char('…')?;
        write(f, from_end.map_or("", |(offset, _)| &self.text[offset..]))
    }
}

fn write(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for c in text.chars() {
        if is_plain(c) {
            f.write_char(c)?;
        } else {
            write!(f, "{}", c.escape_debug())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_moves_the_cursor_stays_on_its_line() {
        let forged = "x\u{1b}[2K\r\nSAFE\u{7}\u{9b}1A\u{202e}\u{2028}\u{200b}\u{feff}\t";
        let text = shown(forged).to_string();
        assert_eq!(
            text,
            "x\\u{1b}[2K\\r\\nSAFE\\u{7}\\u{9b}1A\\u{202e}\\u{2028}\\u{200b}\\u{feff}\\t"
        );
        assert_eq!(shown(&text).to_string(), text, "twice is once");
        assert_eq!(name(forged).to_string(), text);
    }

    #[test]
    fn usual_text_is_as_it_was() {
        for text in ["", "x1 ≥ 3 → τ, 10⁻⁶ ü ∀ … 日本", "`a\"b'c\\d`"] {
            assert_eq!(shown(text).to_string(), text);
        }
    }

    #[test]
    fn fields_and_cells_hold_what_they_are_given() {
        assert_eq!(csv_field("Car#0.v"), "Car#0.v");
        assert_eq!(csv_field("a,\"b\"\n"), "\"a,\"\"b\"\"\\n\"");
        assert_eq!(markdown("a|b\n<i>"), "a\\|b\\\\n\\<i\\>");
    }

    #[test]
    fn places_are_counted_from_one() {
        assert_eq!(placed("a\nüb", Some(4), "m"), "line 2, column 2: m");
        assert_eq!(placed("", Some(0), "m"), "line 1, column 1: m");
        assert_eq!(placed("a", Some(9), "m"), "m");
        assert_eq!(placed("a", None, "m"), "m");
    }

    #[test]
    fn a_long_text_loses_its_middle() {
        let text = format!("a{}z", "ü".repeat(1_000_000));
        for (cut, longest) in [(shown(&text), MESSAGE), (name(&text), NAME)] {
            let cut = cut.to_string();
            assert_eq!(cut.chars().count(), longest);
            assert!(cut.starts_with("aü") && cut.contains("ü…ü") && cut.ends_with("üz"));
        }
        assert_eq!(escaped(&text).to_string(), text);
        let just = "ü".repeat(NAME);
        assert_eq!(name(&just).to_string(), just);
    }
}
