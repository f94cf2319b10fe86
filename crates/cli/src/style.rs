//! Colours of the output, where they are wanted.

use std::io::IsTerminal;

use crate::args::ColorWhen;

/// How words are marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    colors: bool,
}

/// What a mark says.
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
        let code = match mark {
            Mark::Good => "1;32",
            Mark::Bad => "1;31",
            Mark::Caution => "1;33",
            Mark::Name => "36",
        };
        if self.colors { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
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
