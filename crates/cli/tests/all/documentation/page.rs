//! The commands on a page of Markdown.

/// A command on a page.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    /// Line of the page, counted from 1.
    pub line: usize,
    /// The command, as a shell takes it.
    pub command: String,
    /// The lines that the page shows as its output.
    pub output: Vec<String>,
    pub kind: Kind,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Kind {
    /// It can be run as it stands.
    Command,
    /// It has placeholders in capital letters.
    Synopsis,
}

/// Programs that start a command in a block without prompts.
const PROGRAMS: [&str; 8] =
    ["policert", "./x", "cargo", "python3", ".venv/bin/", "/path/to/venv/bin/", "for ", "cp "];

/// The commands of a page, in order.
pub fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for block in blocks(page) {
        let prompts = block.iter().any(|(_, text)| text.starts_with("$ "));
        let is_command = |text: &str| {
            PROGRAMS.iter().any(|program| {
                text.strip_prefix(program).is_some_and(|rest| {
                    !program.ends_with(char::is_alphanumeric) || rest.starts_with(' ')
                })
            })
        };
        if !prompts && !block.first().is_some_and(|(_, text)| is_command(text)) {
            continue;
        }
        let mut lines = block.into_iter().peekable();
        while let Some((line, text)) = lines.next() {
            let command = match text.strip_prefix("$ ") {
                Some(command) => command,
                None if prompts => {
                    let step: Option<&mut Step> = steps.last_mut();
                    step.expect("a prompt before its output").output.push(text.to_owned());
                    continue;
                }
                None if text.trim().is_empty() => continue,
                None => text,
            };
            let mut command = command.to_owned();
            let is_open = |command: &str| {
                command.ends_with('\\')
                    || (command.starts_with("for ") && !command.trim_end().ends_with("done"))
            };
            while is_open(&command)
                && let Some((_, more)) = lines.next()
            {
                command = format!("{}\n{more}", command.trim_end_matches('\\'));
                if !command.starts_with("for ") {
                    command = command.replace('\n', " ");
                }
            }
            let command = command.split(" # ").next().unwrap_or_default().trim_end().to_owned();
            let kind = if is_synopsis(&command) { Kind::Synopsis } else { Kind::Command };
            steps.push(Step { line, command, output: Vec::new(), kind });
        }
    }
    steps
}

/// Returns whether a command has words such as `MODEL`, `FILE:N` or `[--policy FILE]`.
fn is_synopsis(command: &str) -> bool {
    let placeholder = |word: &str| {
        let name = word.split(['.', ':']).next().unwrap_or_default();
        name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase())
    };
    command.starts_with("policert ")
        && command.split_whitespace().any(|word| {
            word.starts_with('[') || placeholder(word.trim_end_matches([']', ',', '…']))
        })
}

/// Blocks of code, with the numbers of their lines: indented by four columns, or fenced.
fn blocks(page: &str) -> Vec<Vec<(usize, &str)>> {
    let (mut blocks, mut block, mut fenced) = (Vec::new(), Vec::new(), false);
    let mut blank_before = true;
    for (index, text) in page.lines().enumerate() {
        if text.starts_with("```") {
            fenced = !fenced;
            blocks.push(std::mem::take(&mut block));
        } else if fenced {
            block.push((index + 1, text));
        } else if let Some(code) = text.strip_prefix("    ")
            && (blank_before || !block.is_empty())
        {
            block.push((index + 1, code));
        } else {
            blocks.push(std::mem::take(&mut block));
        }
        blank_before = text.trim().is_empty();
    }
    blocks.push(block);
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// The first line that is shown and not printed after those before it. In a line that is shown, `…`
/// stands for anything, and a number of seconds for any other.
pub fn missing_line<'a>(shown: &'a [String], printed: &str) -> Option<&'a str> {
    let mut printed = printed.lines();
    let lines = shown.iter().map(String::as_str).filter(|line| !matches!(line.trim(), "" | "…"));
    lines.into_iter().find(|line| !printed.any(|other| is_like(&timeless(line), &timeless(other))))
}

fn is_like(shown: &str, printed: &str) -> bool {
    let parts: Vec<&str> = shown.split('…').map(str::trim).collect();
    let mut rest = printed.trim();
    for (index, part) in parts.iter().enumerate() {
        match rest.find(part) {
            Some(at) if index > 0 || at == 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    parts.len() > 1 || rest.is_empty()
}

/// A line without numbers of seconds, which differ from run to run.
fn timeless(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_time = |index: usize| {
        let unit = words.get(index + 1).map(|word| word.trim_end_matches([',', ';', '.', ')']));
        matches!(unit, Some("s" | "ms")) && words[index].parse::<f64>().is_ok()
    };
    let kept = (0..words.len()).map(|index| if is_time(index) { "T" } else { words[index] });
    kept.collect::<Vec<_>>().join(" ")
}

#[test]
fn commands_of_a_page() {
    let page = "Text\n\n    $ policert verify a.jani \\\n        --engine ppa\n    SAFE: …\n\n\
        text\n\n    policert check MODEL [--policy FILE]\n    policert help\n\n    x = 1\n\n\
        ```\nfor g in 1 2; do\n  policert help $g\ndone\n```\n";
    let steps = steps(page);
    let found: Vec<_> = steps.iter().map(|s| (s.line, s.command.as_str(), s.kind)).collect();
    assert_eq!(
        found,
        [
            (3, "policert verify a.jani      --engine ppa", Kind::Command),
            (9, "policert check MODEL [--policy FILE]", Kind::Synopsis),
            (10, "policert help", Kind::Command),
            (15, "for g in 1 2; do\n  policert help $g\ndone", Kind::Command),
        ]
    );
    assert_eq!(steps[0].output, ["SAFE: …"]);
}

#[test]
fn lines_that_are_shown_are_printed_in_order() {
    let shown = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let printed = "SAFE: all\n  3 boxes; 0.25 s\nend\n";
    assert_eq!(missing_line(&shown(&["SAFE: all", "…", "end"]), printed), None);
    assert_eq!(missing_line(&shown(&["3 boxes; 0.9 s"]), printed), None);
    assert_eq!(missing_line(&shown(&["SA… all"]), printed), None);
    assert_eq!(missing_line(&shown(&["4 boxes; 0.9 s"]), printed), Some("4 boxes; 0.9 s"));
    assert_eq!(missing_line(&shown(&["end", "SAFE: all"]), printed), Some("SAFE: all"));
    assert_eq!(missing_line(&shown(&["SAFE"]), printed), Some("SAFE"));
}
