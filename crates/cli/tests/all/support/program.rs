//! Runs of the program, and what it printed.

use std::path::Path;
use std::process::{Command, Output};

/// `policert` with arguments between blanks.
pub fn policert(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_policert"));
    command.current_dir(folder).args(arguments.split_whitespace());
    command
}

/// Output and errors as one text.
pub fn text(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// The exit code.
pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}
