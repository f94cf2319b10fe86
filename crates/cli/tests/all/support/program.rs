//! Runs of the program, and what it printed.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

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

/// The output of a command that is interrupted while it works: it ends soon, with exit code 33.
pub fn interrupted(mut command: Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("policert");
    std::thread::sleep(Duration::from_millis(700));
    let begin = Instant::now();
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill").success());
    let output = child.wait_with_output().expect("policert ends");
    assert_eq!(code(&output), 33, "{}", text(&output));
    assert!(begin.elapsed() < Duration::from_secs(10), "it stops soon");
    output
}
