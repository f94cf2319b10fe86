//! Colours of the output, where they are wanted.

use std::io::IsTerminal;

use crate::args::ColorWhen;

/// The way in which words are marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    colors: bool,
}

/// The escape sequences that begin marks, in the order of [`Mark`], and the one that ends each.
pub const MARKS: [&str; 5] =
    ["\u{1b}[1;32m", "\u{1b}[1;31m", "\u{1b}[1;33m", "\u{1b}[36m", "\u{1b}[0m"];

/// The meaning of a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Good news.
    Good,
    /// Bad news.
    Bad,
    /// Beware.
    Caution,
    /// The name of something.
    Name,
}

impl Style {
    /// The style for a stream.
    pub fn new(when: ColorWhen, stream: &impl IsTerminal) -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let colors = match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => {
                stream.is_terminal()
                    && variable("NO_COLOR").is_none()
                    && variable("TERM").is_none_or(|term| term != "dumb")
            }
        };
        Self { colors }
    }

    /// `text`, marked.
    pub fn paint(self, mark: Mark, text: &str) -> String {
        let begin = match mark {
            Mark::Good => MARKS[0],
            Mark::Bad => MARKS[1],
            Mark::Caution => MARKS[2],
            Mark::Name => MARKS[3],
        };
        if self.colors { format!("{begin}{text}{}", MARKS[4]) } else { text.to_owned() }
    }

    /// With colours.
    #[cfg(test)]
    pub fn always() -> Self {
        Self { colors: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_on_demand() {
        let painted = |when| Style::new(when, &std::io::stderr()).paint(Mark::Bad, "x");
        assert_eq!(painted(ColorWhen::Always), "\u{1b}[1;31mx\u{1b}[0m");
        assert_eq!(painted(ColorWhen::Never), "x");
    }
}
