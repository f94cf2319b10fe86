//! Files that a suite makes before the runs that need them, in a folder beside the journal.

use std::path::Path;
use std::process::{Command, Stdio};

use policert_engine_api::{CancelFlag, StopReason};
use policert_outcome::{Failure, VERSION, make_folder, write_text};

use super::process::{in_own_group, measured, wait};
use super::{StudyOptions, StudyProgress};
use crate::freshness::in_work;
use crate::journal::RunKey;
use crate::suite::{Suite, WORK, plain};

/// Makes what these runs need and is not there yet.
///
/// # Errors
/// If a command fails.
pub(super) fn prepare(
    suite: &Suite,
    runs: &[RunKey],
    options: &StudyOptions,
    work: &Path,
    cancel: &CancelFlag,
    progress: &mut dyn StudyProgress,
) -> Result<(), Failure> {
    let steps = suite.steps()?;
    let mut wanted: Vec<Vec<String>> = runs.iter().map(|key| suite.arguments(key)).collect();
    let mut needed = vec![false; steps.len()];
    // A step that is needed may need others, which stand before it.
    for (at, step) in steps.iter().enumerate().rev() {
        let names = |words: &Vec<String>| words.iter().any(|word| names_file(word, &step.makes));
        needed[at] = wanted.iter().any(names);
        if needed[at] {
            wanted.push(step.arguments.clone());
        }
    }
    for (step, _) in steps.iter().zip(needed).filter(|(_, needed)| *needed) {
        let stamp = work.join(format!("{}.made-by", plain(&step.makes)));
        let made_by = format!("{VERSION}\n{}\n", step.arguments.join("\n"));
        let known = std::fs::read_to_string(&stamp).is_ok_and(|known| known == made_by);
        if known && work.join(&step.makes).exists() {
            continue;
        }
        progress.prepares(&step.makes);
        make_folder("--journal", work)?;
        if stamp.exists() {
            remove(&work.join(&step.makes))?;
        }
        run(suite, &step.arguments, options, work, cancel)?;
        if !work.join(&step.makes).exists() {
            return Err(Failure::Usage(format!(
                "`prepare`: `{}` did not make {}",
                step.arguments.join(" "),
                step.makes
            )));
        }
        write_text(&stamp, &made_by)?;
    }
    Ok(())
}

/// Removes what an earlier command made, as commands replace nothing.
fn remove(path: &Path) -> Result<(), Failure> {
    let removed = match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(_) => Ok(()),
    };
    removed.map_err(|source| Failure::Output { what: path.display().to_string(), source })
}

/// True if a word is that file, or one in that folder.
fn names_file(word: &str, makes: &str) -> bool {
    word.split(WORK).skip(1).any(|rest| {
        let rest = rest.strip_prefix('/').and_then(|rest| rest.strip_prefix(makes));
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

fn run(
    suite: &Suite,
    arguments: &[String],
    options: &StudyOptions,
    work: &Path,
    cancel: &CancelFlag,
) -> Result<(), Failure> {
    let line = format!("`prepare`: `{}`", arguments.join(" "));
    let failed = |source| Failure::Output { what: line.clone(), source };
    let messages = tempfile::NamedTempFile::new().map_err(failed)?;
    let path = tempfile::NamedTempFile::new().map_err(failed)?;
    let mut command = Command::new(&options.program);
    command
        .args(["bench", "measure", "--ends-with-input", "--out"])
        .arg(path.path())
        .arg("--")
        .arg(&options.program)
        .args(arguments.iter().map(|word| in_work(word, work)))
        .current_dir(suite.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(messages.reopen().map_err(failed)?);
    let mut process = in_own_group(&mut command).spawn().map_err(failed)?;
    if !wait(&mut process, cancel)? {
        return Err(Failure::Stopped(StopReason::Interrupted));
    }
    if measured(path.path()).is_some_and(|measured| measured.exit_code == Some(0)) {
        return Ok(());
    }
    let message = super::answer::first_line(messages.path());
    Err(Failure::Usage(format!("{line}: {message}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_files_of_the_folder() {
        assert!(names_file("{work}/a/model.jani", "a"));
        assert!(names_file("{work}/a:0", "a") && names_file("x={work}/a", "a"));
        assert!(!names_file("{work}/ab", "a") && !names_file("a/model.jani", "a"));
    }
}
