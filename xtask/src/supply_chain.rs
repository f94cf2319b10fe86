//! Dependencies: `cargo deny` on their licences, sources and versions, and on known advisories where
//! their database can be reached; and the oldest toolchain that is promised to build them.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

/// Runs `cargo deny` with what `deny.toml` says.
pub fn deny(root: &Path) -> Result<bool> {
    let deny = |arguments: &[&str]| {
        let mut command = Command::new("cargo");
        command.current_dir(root).arg("deny").args(arguments).stdin(Stdio::null());
        command
    };
    let run = |arguments: &[&str]| -> Result<bool> {
        Ok(deny(arguments).status().context("could not start cargo")?.success())
    };
    let offline = ["--locked", "check", "licenses", "bans", "sources"];
    let mut passed = run(&offline)?;
    let mut fetch = deny(&["--locked", "fetch", "db"]);
    fetch.stdout(Stdio::null()).stderr(Stdio::null());
    if fetch.status().context("could not start cargo")?.success() {
        passed &= run(&["--locked", "check", "--disable-fetch", "advisories"])?;
    } else {
        println!("left out: the database of advisories cannot be reached from here");
    }
    Ok(passed)
}

/// Builds the workspace with the version of Rust that `Cargo.toml` declares, where that toolchain is
/// installed.
pub fn minimum_version(root: &Path) -> Result<bool> {
    let version = declared_version(&std::fs::read_to_string(root.join("Cargo.toml"))?)
        .context("Cargo.toml declares no rust-version")?;
    let Some(toolchain) = installed(&version) else {
        println!(
            "left out: the toolchain {version} is not installed (rustup toolchain install {version})"
        );
        return Ok(true);
    };
    let mut command = Command::new("rustup");
    command.current_dir(root).args([
        "run",
        &toolchain,
        "cargo",
        "check",
        "--workspace",
        "--locked",
    ]);
    command.args(["--target-dir", "target/minimum-version"]).env_remove("CARGO");
    Ok(command.status().context("could not start rustup")?.success())
}

fn declared_version(manifest: &str) -> Option<String> {
    let line = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \""))?;
    Some(line.split_once('"')?.0.to_owned())
}

/// The installed toolchain of a version such as `1.90`, with any last number.
fn installed(version: &str) -> Option<String> {
    let output = Command::new("rustup").args(["toolchain", "list", "--quiet"]).output().ok()?;
    let list = String::from_utf8(output.stdout).ok()?;
    matching(&list, version).map(str::to_owned)
}

fn matching<'a>(list: &'a str, version: &str) -> Option<&'a str> {
    list.lines().map(str::trim).find(|name| {
        name.strip_prefix(version)
            .is_some_and(|rest| rest.starts_with(['.', '-']) || rest.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::{declared_version, matching};

    #[test]
    fn the_declared_version() {
        let manifest = "edition = \"2024\"\nrust-version = \"1.90\"\n";
        assert_eq!(declared_version(manifest).as_deref(), Some("1.90"));
        assert_eq!(declared_version("edition = \"2024\"\n"), None);
    }

    #[test]
    fn a_toolchain_of_that_version() {
        let list = "stable-x86_64-unknown-linux-gnu\n1.9.0-x86_64-unknown-linux-gnu\n1.90.0-x86_64-unknown-linux-gnu\n";
        assert_eq!(matching(list, "1.90"), Some("1.90.0-x86_64-unknown-linux-gnu"));
        assert_eq!(matching(list, "1.95"), None);
    }
}
