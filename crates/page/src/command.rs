//! Commands as a shell reads them.

/// A command line for a POSIX shell: words that need it are in quotation marks.
#[must_use]
pub fn shell_command<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| quoted(word.as_ref())).collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_safe) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_same_words() {
        let words = ["policert", "--unsafe", "x >= 3", "it's", "", "$(reboot)"];
        let line = shell_command(words);
        assert_eq!(line, r"policert --unsafe 'x >= 3' 'it'\''s' '' '$(reboot)'");
    }
}
