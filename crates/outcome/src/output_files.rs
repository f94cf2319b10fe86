//! The files that a run writes, looked at before it begins: whether they can be written, and that
//! none of them takes the place of an input or of another.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::atomic_file::{folder_of, followed, without_name};
use crate::{Failure, Finding};

/// The files that a run writes, each with the option that names it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OutputFiles(Vec<OutputFile>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct OutputFile {
    option: &'static str,
    path: PathBuf,
    /// Written where it is, not replaced.
    in_place: bool,
}

impl OutputFiles {
    /// The files of some options; standard output, `-`, is none.
    #[must_use]
    pub fn new<'a>(files: impl IntoIterator<Item = (&'static str, Option<&'a Path>)>) -> Self {
        let files = files.into_iter().filter_map(|(option, path)| {
            let path = path.filter(|path| *path != Path::new("-"))?.to_owned();
            Some(OutputFile { option, path, in_place: false })
        });
        Self(files.collect())
    }

    /// One more file, which is continued if it is there.
    #[must_use]
    pub fn and_continued(mut self, option: &'static str, path: Option<&Path>) -> Self {
        let file = |path: &Path| OutputFile { option, path: path.to_owned(), in_place: true };
        self.0.extend(path.map(file));
        self
    }

    /// Checks whether all can be written, and none is another one or one of these inputs.
    ///
    /// # Errors
    /// Wrong usage: a file that cannot be written, or that is named twice or is an input. Nothing
    /// may be written then.
    pub fn check<'a>(&self, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
        for file in &self.0 {
            writable(file).map_err(|what| refused(file, &what))?;
        }
        for (at, file) in self.0.iter().enumerate() {
            let own = identity(&file.path);
            let same = |other: &&OutputFile| own.is_some() && identity(&other.path) == own;
            if let Some(other) = self.0[..at].iter().find(same) {
                return Err(refused(file, &format!("{} writes the same file", other.option)));
            }
        }
        self.check_inputs(inputs)
    }

    /// Checks whether none of them is one of these inputs.
    ///
    /// # Errors
    /// Wrong usage: an output that is one of the inputs. Nothing may be written then.
    pub fn check_inputs<'a>(
        &self,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<(), Failure> {
        let written: Vec<_> = self.0.iter().map(|file| (file, identity(&file.path))).collect();
        for input in inputs {
            let read = identity(input);
            let same = written.iter().find(|(_, own)| own.is_some() && *own == read);
            if let Some((file, _)) = same {
                return Err(refused(file, &format!("this is the input {}", input.display())));
            }
        }
        Ok(())
    }

    /// The same for inputs that turned out to be wrong.
    ///
    /// # Errors
    /// Wrong usage: an output that is one of these inputs.
    pub fn check_findings(&self, findings: &[Finding]) -> Result<(), Failure> {
        self.check_inputs(findings.iter().filter_map(|finding| finding.file.as_deref()))
    }
}

/// Makes a folder that an option names, and those above it, where they are not there.
///
/// # Errors
/// If it cannot be made: wrong usage.
pub fn make_folder(option: &str, folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let reason = without_name(&error);
        Failure::Refused(format!("{option} {}: no folder can be made: {reason}", folder.display()))
    })
}

fn refused(file: &OutputFile, what: &str) -> Failure {
    Failure::Refused(format!("{} {}: {what}", file.option, file.path.display()))
}

/// Tells whether this is a pipe with a name in a folder: to open it waits for whoever reads. One that the
/// shell opened (`>(command)`) has none.
fn is_named_pipe(path: &Path, metadata: &Metadata) -> bool {
    metadata.file_type().is_fifo() && path.canonicalize().is_ok()
}

/// Fails with what keeps a file from being written, if something does.
fn writable(file: &OutputFile) -> Result<(), String> {
    let path = &file.path;
    let metadata = std::fs::metadata(path).ok();
    if metadata.as_ref().is_some_and(Metadata::is_dir) {
        return Err("is a folder".to_owned());
    }
    if path.file_name().is_none() {
        return Err("is no name of a file".to_owned());
    }
    match &metadata {
        // A device or a pipe; opening one may wait for whoever reads.
        Some(metadata) if !metadata.is_file() && file.in_place => {
            return Err("is no regular file".to_owned());
        }
        Some(metadata) if is_named_pipe(path, metadata) => {
            return Err("is a named pipe, which may never be read".to_owned());
        }
        Some(metadata) if !metadata.is_file() => return Ok(()),
        Some(_) => {
            let opened = File::options().append(true).open(path);
            opened.map_err(|error| without_name(&error).to_string())?;
            if file.in_place {
                return Ok(());
            }
        }
        None => {}
    }
    let path = followed(path).map_err(|error| error.to_string())?;
    let folder = folder_of(&path);
    if !folder.is_dir() {
        let what = if folder.exists() { "is none" } else { "does not exist" };
        return Err(format!("the folder {} {what}", folder.display()));
    }
    let probe = tempfile::Builder::new().prefix(".policert-").tempfile_in(folder);
    let failed = |error: io::Error| {
        let reason = without_name(&error);
        format!("no file can be made in the folder {}: {reason}", folder.display())
    };
    probe.map(drop).map_err(failed)
}

/// Says what tells files apart, whatever their names; `None` for what is no file.
#[derive(PartialEq, Eq, Debug)]
enum Identity {
    /// Device and number.
    There(u64, u64),
    /// Folder and name.
    NotYet(PathBuf),
}

fn identity(path: &Path) -> Option<Identity> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Some(Identity::There(metadata.dev(), metadata.ino())),
        Ok(_) => None,
        Err(_) => {
            let path = &followed(path).ok()?;
            let folder = folder_of(path).canonicalize().ok()?;
            Some(Identity::NotYet(folder.join(path.file_name()?)))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn names_of_one_file() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text")?;
        std::fs::hard_link(at("file"), at("hard"))?;
        symlink(at("file"), at("soft"))?;
        std::fs::create_dir(at("folder"))?;
        for name in ["file", "hard", "soft", "folder/../file"] {
            let outputs = OutputFiles::new([("--json", Some(at(name).as_path()))]);
            let refused = outputs.check([at("other").as_path(), at("file").as_path()]);
            assert!(matches!(refused, Err(Failure::Refused(_))), "{name}: {refused:?}");
            assert!(outputs.check([at("other").as_path()]).is_ok(), "{name}");
        }
        symlink("../new", at("folder/link"))?;
        let outputs = OutputFiles::new([
            ("--json", Some(&*at("folder/link"))),
            ("--evidence", Some(&*at("new"))),
        ]);
        assert!(outputs.check([]).is_err(), "a link to a file that is not there yet");
        let (new, same) = (at("new"), at("folder/../new"));
        let outputs = OutputFiles::new([("--json", Some(&*new)), ("--evidence", Some(&*same))]);
        assert!(outputs.check([]).is_err());
        let outputs = OutputFiles::new([("--json", Some(&*new))]).and_continued("-j", Some(&same));
        assert!(outputs.check([]).is_err());
        Ok(())
    }

    #[test]
    fn devices_may_be_named_twice() {
        let null = Path::new("/dev/null");
        let outputs = OutputFiles::new([("--json", Some(null)), ("--evidence", Some(null))]);
        assert!(outputs.check([null]).is_ok());
        let out = Path::new("-");
        assert_eq!(
            OutputFiles::new([("--json", Some(out)), ("--plot", None)]),
            OutputFiles::default()
        );
    }

    #[test]
    fn what_cannot_be_written() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("file"), "")?;
        for (name, message) in [
            ("", "is a folder"),
            ("no/such", "does not exist"),
            ("file/in", "is none"),
            ("..", "is a folder"),
        ] {
            let path = folder.path().join(name);
            let found = OutputFiles::new([("--json", Some(&*path))]).check([]);
            let text = found.expect_err(name).to_string();
            assert!(text.contains(message) && text.starts_with("--json "), "{text}");
        }
        assert!(OutputFiles::new([("--json", Some(Path::new("")))]).check([]).is_err());
        Ok(())
    }
}
