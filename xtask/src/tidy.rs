//! The house rules as a check: each rule is a function from files or from cargo's metadata to
//! findings.

mod levels;
mod names;
mod references;
mod rust_file;
mod test_programs;
mod text;
mod workspace_dependencies;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::third_party;

/// One breach of a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// Path relative to the root, or a crate's name.
    place: String,
    /// 1-based; 0 if the finding is about the whole.
    line: usize,
    message: String,
}

impl Finding {
    fn new(place: &str, line: usize, message: impl Into<String>) -> Self {
        Self { place: place.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.place, self.message)
        } else {
            write!(f, "{}:{}: {}", self.place, self.line, self.message)
        }
    }
}

/// Everything that was found, in order of place.
pub struct Findings(BTreeSet<Finding>);

impl Findings {
    /// Prints the findings; true if there are none.
    pub fn report(&self) -> bool {
        for finding in &self.0 {
            println!("{finding}");
        }
        if !self.0.is_empty() {
            println!("{} findings; the rules: docs/STYLE.md", self.0.len());
        }
        self.0.is_empty()
    }
}

/// A text file of the repository.
struct File {
    /// Relative to the root, with forward slashes.
    path: String,
    text: String,
}

/// Checks and prints.
pub fn run(root: &Path) -> Result<ExitCode> {
    Ok(if check(root)?.report() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Applies every rule to the repository at `root`.
pub fn check(root: &Path) -> Result<Findings> {
    let paths = repository_paths(root)?;
    let files = read_texts(root, &paths)?;
    let metadata = metadata(root)?;

    let mut findings = BTreeSet::new();
    for path in &paths {
        findings.extend(names::check(path));
    }
    for file in &files {
        findings.extend(text::check(file));
        if file.path.ends_with(".rs") {
            findings.extend(rust_file::check(file));
        }
        if file.path.ends_with(".md") {
            findings.extend(references::check(file, &|path| root.join(path).exists()));
        }
    }
    findings.extend(rust_file::check_long_files(&files));
    findings.extend(levels::check(root, &metadata)?);
    findings.extend(test_programs::check(&metadata)?);
    findings.extend(workspace_dependencies::check(root, &metadata)?);
    let licences = third_party::check(root, &metadata)?;
    findings
        .extend(licences.into_iter().map(|message| Finding::new(third_party::FILE, 0, message)));
    Ok(Findings(findings))
}

/// The packages of this workspace with their names, from cargo's metadata.
fn members(metadata: &Value) -> Result<Vec<(&str, &Value)>> {
    let members = metadata["workspace_members"].as_array().context("workspace_members")?;
    let packages = metadata["packages"].as_array().context("packages")?;
    let of_workspace = packages.iter().filter(|package| members.contains(&package["id"]));
    of_workspace.map(|package| Ok((package["name"].as_str().context("name")?, package))).collect()
}

/// The files that git tracks or would track; without git, all files but hidden and built ones.
fn repository_paths(root: &Path) -> Result<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output();
    let paths: BTreeSet<String> = match output {
        Ok(output) if output.status.success() => {
            let listing = String::from_utf8(output.stdout).context("a path is not UTF-8")?;
            listing.split_terminator('\0').map(str::to_owned).collect()
        }
        _ => {
            println!("not a git checkout: every file is looked at");
            let mut paths = BTreeSet::new();
            walk(root, "", &mut paths)?;
            paths
        }
    };
    Ok(paths.into_iter().filter(|path| root.join(path).is_file()).collect())
}

fn walk(folder: &Path, prefix: &str, paths: &mut BTreeSet<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().ok().context("a path is not UTF-8")?;
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            let left_out = name == "target" || (name.starts_with('.') && name != ".ci");
            if !left_out {
                walk(&entry.path(), &format!("{path}/"), paths)?;
            }
        } else {
            paths.insert(path);
        }
    }
    Ok(())
}

fn read_texts(root: &Path, paths: &[String]) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for path in paths.iter().filter(|path| text::is_prose_or_code(path)) {
        let text = std::fs::read_to_string(root.join(path)).with_context(|| path.clone())?;
        files.push(File { path: path.clone(), text });
    }
    Ok(files)
}

/// `cargo metadata` of the workspace with its dependencies on this platform.
pub fn metadata(root: &Path) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .args(["--filter-platform", &platform])
        .current_dir(root)
        .output()
        .context("could not start cargo")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")
}
