//! Chores that need nothing but cargo: `cargo xtask ci` and `cargo xtask tidy`.
#![expect(clippy::print_stdout, reason = "a command-line tool")]

mod ci;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  ci [--features FEATURES]  format, lints, tests, documentation and house rules, as one run
  tidy                      the house rules alone: module docs, file sizes, crate levels, licences …
";

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = workspace_root()?;
    match arguments.as_slice() {
        ["ci"] => ci::run(&root, None),
        ["ci", "--features", features] => ci::run(&root, Some(features)),
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

/// The folder that holds the root `Cargo.toml`.
fn workspace_root() -> Result<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(manifest.parent().context("the chores' crate lies below the root")?.to_path_buf())
}
