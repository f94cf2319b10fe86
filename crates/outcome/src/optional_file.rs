//! A file that is written only where there is something to write: an older one of that name goes
//! otherwise, so that nobody takes it for the result of this run.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{Failure, write_json};

/// Says what became of a file that was asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FileRecord {
    /// The file; `-` is standard output.
    pub path: PathBuf,
    /// True if it was written.
    pub written: bool,
    /// The reason why it was not.
    pub reason: Option<String>,
    /// True if an older file of that name was removed.
    pub removed_older: bool,
}

impl FileRecord {
    /// The same for people, if it was not written.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        let reason = self.reason.as_deref().filter(|_| !self.written)?;
        let older =
            if self.removed_older { "; the older file of that name was removed" } else { "" };
        Some(format!("{} is not written: {reason}{older}", self.path.display()))
    }
}

/// Writes `data` as JSON, or removes what an earlier run left where there is none, for this reason.
pub fn write_or_remove(
    path: &Path,
    data: Option<&impl Serialize>,
    reason: &str,
) -> (FileRecord, Result<(), Failure>) {
    let failed = |source| Failure::Output { what: path.display().to_string(), source };
    let mut record = FileRecord {
        path: path.to_owned(),
        written: false,
        reason: Some(reason.to_owned()),
        removed_older: false,
    };
    let result = match data {
        Some(data) => write_json(&path.into(), data).map(|()| {
            (record.written, record.reason) = (true, None);
        }),
        None => remove_older(path).map(|removed| record.removed_older = removed),
    };
    if let (Some(_), Err(error)) = (data, &result) {
        record.reason = Some(error.to_string());
    }
    (record, result.map_err(failed))
}

/// Removes a file, if there is one. Devices and pipes stay.
fn remove_older(path: &Path) -> std::io::Result<bool> {
    if path == Path::new("-") || !path.is_file() {
        return Ok(false);
    }
    // A link stays: what it leads to is the older file.
    std::fs::remove_file(path.canonicalize()?)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_file_does_not_stay() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("evidence.json");
        let (record, result) = write_or_remove(&path, Some(&"first"), "");
        assert!(result.is_ok() && record.written && record.remark().is_none(), "{record:?}");
        let (record, result) = write_or_remove(&path, None::<&str>.as_ref(), "there is none");
        assert!(result.is_ok() && !record.written && record.removed_older, "{record:?}");
        assert!(!path.exists());
        assert!(record.remark().is_some_and(|text| text.contains("there is none")));
        let (record, _) = write_or_remove(&path, None::<&str>.as_ref(), "there is none");
        assert!(!record.removed_older, "{record:?}");
        let (record, result) = write_or_remove(Path::new("/dev/null"), None::<&str>.as_ref(), "");
        assert!(result.is_ok() && !record.removed_older && Path::new("/dev/null").exists());
        Ok(())
    }
}
