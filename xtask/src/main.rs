//! Chores that need nothing but cargo: `cargo xtask ci` and `cargo xtask tidy`.
#![expect(clippy::print_stdout, reason = "a command-line tool")]

mod book;
mod ci;
mod release;
mod supply_chain;
mod third_party;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  ci [--features FEATURES]  format, lints, tests, documentation and house rules, as one run
  book                      the documentation as a site, target/book, with mdBook; checks its links
  deny                      licences, sources and versions of dependencies, with cargo-deny
  licences                  write the licences of what the program contains
  release                   the release program: no path of this machine, Z3 beside it
  tidy                      the house rules alone: module docs, file sizes, crate levels …
";

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = workspace_root()?;
    match arguments.as_slice() {
        ["ci"] => ci::run(&root, None),
        ["ci", "--features", features] => ci::run(&root, Some(features)),
        ["book"] => book::build(&root).map(exit_code),
        ["deny"] => supply_chain::deny(&root).map(exit_code),
        ["licences"] => {
            let text = third_party::text(&tidy::metadata(&root)?)?;
            std::fs::write(root.join(third_party::FILE), text)?;
            Ok(ExitCode::SUCCESS)
        }
        ["release"] => release::check(&root).map(exit_code),
        ["tidy"] => tidy::run(&root),
        ["help" | "-h" | "--help"] => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            print!("{USAGE}");
            Ok(ExitCode::from(42))
        }
    }
}

fn exit_code(passed: bool) -> ExitCode {
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The folder that holds the root `Cargo.toml`.
fn workspace_root() -> Result<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(manifest.parent().context("the chores' crate lies below the root")?.to_path_buf())
}
