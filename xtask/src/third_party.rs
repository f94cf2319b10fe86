//! The licences of everything that the program contains, as one file to ship beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

/// The file, in the root of the repository.
pub const FILE: &str = "THIRD-PARTY-LICENSES.txt";

/// Makes the file's text: the packages with their licences, then each text with those that have it.
pub fn text(metadata: &Value) -> Result<String> {
    let packages = contained(metadata)?;
    let mut list = String::from(
        "The program policert contains these packages, and the library Z3 (MIT), which lies beside it.\n\n",
    );
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in &packages {
        let name = name_of(package)?;
        let _ = writeln!(list, "{name}: {}", package["license"].as_str().unwrap_or("see below"));
        for text in license_texts(package)? {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    let mut sections: Vec<(Vec<String>, String)> =
        texts.into_iter().map(|(text, names)| (names, text)).collect();
    sections.sort();
    for (names, text) in sections {
        let _ = write!(list, "\n{}\n{}\n\n{text}\n", "=".repeat(80), names.join(", "));
    }
    Ok(list)
}

/// Returns what is wrong with the file: a package that it lacks, or that is not contained.
pub fn check(root: &Path, metadata: &Value) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(root.join(FILE)).unwrap_or_default();
    let listed: BTreeSet<&str> = text
        .lines()
        .skip(2)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| Some(line.split_once(':')?.0))
        .collect();
    let names: Result<Vec<String>> = contained(metadata)?.into_iter().map(name_of).collect();
    let names = names?;
    let contained: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let differences = listed.symmetric_difference(&contained);
    Ok(differences
        .map(|name| format!("{name} is listed or contained, not both: cargo xtask licences"))
        .collect())
}

fn name_of(package: &Value) -> Result<String> {
    let part = |key: &str| package[key].as_str().with_context(|| key.to_owned());
    Ok(format!("{} {}", part("name")?, part("version")?))
}

/// The packages from elsewhere that the program is linked with, sorted by name.
fn contained(metadata: &Value) -> Result<Vec<&Value>> {
    let nodes = metadata["resolve"]["nodes"].as_array().context("resolve")?;
    let node = |id: &Value| nodes.iter().find(|node| &node["id"] == id);
    let packages = metadata["packages"].as_array().context("packages")?;
    let program =
        packages.iter().find(|package| package["name"] == "policert").context("policert")?;
    let (mut open, mut reached) = (vec![&program["id"]], BTreeSet::new());
    while let Some(id) = open.pop() {
        if !reached.insert(id.as_str().context("id")?) {
            continue;
        }
        let dependencies = node(id).and_then(|node| node["deps"].as_array());
        for dependency in dependencies.into_iter().flatten() {
            let kinds = dependency["dep_kinds"].as_array().context("dep_kinds")?;
            if kinds.iter().any(|kind| kind["kind"].is_null()) {
                open.push(&dependency["pkg"]);
            }
        }
    }
    let is_contained =
        |package: &&Value| package["id"].as_str().is_some_and(|id| reached.contains(id));
    let from_elsewhere = packages.iter().filter(|package| package["source"].is_string());
    let mut contained: Vec<&Value> = from_elsewhere.filter(is_contained).collect();
    contained.sort_by_key(|package| (package["name"].as_str(), package["version"].as_str()));
    Ok(contained)
}

/// The texts of the licence files of a package.
fn license_texts(package: &Value) -> Result<Vec<String>> {
    let manifest = package["manifest_path"].as_str().context("manifest_path")?;
    let folder = Path::new(manifest).parent().context("a folder")?;
    let mut texts = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    for file in files {
        let name = file.file_name().to_string_lossy().to_ascii_uppercase();
        let is_license = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "OFL"]
            .iter()
            .any(|beginning| name.starts_with(beginning));
        if is_license && file.path().is_file() {
            let lines = std::fs::read_to_string(file.path())?;
            let lines: Vec<&str> = lines.lines().map(str::trim_end).collect();
            texts.push(lines.join("\n").trim_matches('\n').to_owned());
        }
    }
    Ok(texts)
}
