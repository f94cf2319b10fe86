//! The release program as people get it: built by `./x build`, without a path of the machine that
//! built it, and with Z3 looked for beside the program alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Builds the program and checks it; prints what is wrong with it.
pub fn check(root: &Path) -> Result<bool> {
    let status = Command::new("sh").arg("./x").arg("build").current_dir(root).status();
    if !status.context("could not start ./x")?.success() {
        return Ok(false);
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let file = root.join(target).join("release/policert");
    let program = std::fs::read(&file).with_context(|| file.display().to_string())?;
    let mut fine = true;
    for path in machine_paths(root)? {
        if let Some(at) = find(&program, path.as_bytes()) {
            fine = false;
            println!("the program holds a path of this machine: {}", excerpt(&program[at..]));
        }
    }
    match run_paths(&file)? {
        paths if paths.iter().all(|path| path == "$ORIGIN") => {}
        paths => {
            fine = false;
            println!("the program looks for libraries in {paths:?}, not beside itself alone");
        }
    }
    Ok(fine)
}

/// The folders of this machine that a build could write into the program.
fn machine_paths(root: &Path) -> Result<Vec<String>> {
    let mut paths = vec![root.canonicalize()?];
    paths.extend(std::env::home_dir());
    paths.extend(std::env::var_os("CARGO_HOME").map(PathBuf::from));
    let mut texts: Vec<String> = paths
        .iter()
        .map(|path| format!("{}/", path.display()))
        .filter(|path| path != "/")
        .collect();
    texts.sort();
    texts.dedup();
    Ok(texts)
}

/// The folders that the dynamic linker searches for this program, before those of the system.
fn run_paths(program: &Path) -> Result<Vec<String>> {
    if !cfg!(target_os = "linux") {
        return Ok(Vec::new());
    }
    let output = Command::new("readelf").arg("--dynamic").arg(program).output();
    let output = output.context("could not start readelf, which comes with the C linker")?;
    if !output.status.success() {
        bail!("readelf: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(run_paths_in(&String::from_utf8_lossy(&output.stdout)))
}

fn run_paths_in(table: &str) -> Vec<String> {
    let lines = table.lines().filter(|line| line.contains("RUNPATH") || line.contains("RPATH"));
    let lists = lines.filter_map(|line| line.split_once('[')?.1.split_once(']'));
    lists.flat_map(|(list, _)| list.split(':')).map(str::to_owned).collect()
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

fn excerpt(bytes: &[u8]) -> String {
    let text = bytes.iter().take(120).take_while(|byte| byte.is_ascii_graphic());
    text.map(|&byte| char::from(byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::{excerpt, find, run_paths_in};

    #[test]
    fn the_run_path_is_read() {
        let table =
            " 0x1d (RUNPATH)  Library runpath: [$ORIGIN:/opt/lib]\n 0x1 (NEEDED) [libc.so.6]\n";
        assert_eq!(run_paths_in(table), ["$ORIGIN", "/opt/lib"]);
        assert!(run_paths_in(" 0x1 (NEEDED) Shared library: [libc.so.6]").is_empty());
    }

    #[test]
    fn a_path_in_a_program_is_found() {
        let program = b"\x7fELF\0/Users/someone/file.rs\0more";
        let at = find(program, b"/Users/someone/").expect("it is there");
        assert_eq!(excerpt(&program[at..]), "/Users/someone/file.rs");
        assert_eq!(find(program, b"/Users/other/"), None);
    }
}
