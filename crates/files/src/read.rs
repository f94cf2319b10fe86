//! Reading regular files.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Checks whether a path names a regular file, or a link to one.
///
/// # Errors
/// Fails if it names something else, and says what, or if the system does not tell.
pub fn regular(path: &Path) -> io::Result<()> {
    let metadata = path.metadata()?;
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(io::Error::new(io::ErrorKind::IsADirectory, "this is a folder, no file"))
    } else {
        let what = "no regular file: devices and pipes are not read; write their content to a file";
        Err(io::Error::other(what))
    }
}

/// Opens a regular file.
///
/// # Errors
/// If it is none, or cannot be opened. To open a pipe might take for ever.
pub fn open(path: &Path) -> io::Result<File> {
    regular(path)?;
    File::open(path)
}

/// The bytes of a regular file.
///
/// # Errors
/// If it is none or cannot be read, or there is not enough memory for it
/// ([`io::ErrorKind::OutOfMemory`]).
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let size = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    // One more: else the end of the file is found by making the vector twice as large.
    bytes.try_reserve_exact(size.saturating_add(1))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a regular file.
///
/// # Errors
/// As [`read`]; a file that is no UTF-8 is [`io::ErrorKind::InvalidData`].
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::new(io::ErrorKind::InvalidData, format!("no UTF-8 text: byte {at} is wrong"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_never_end_is_not_opened() {
        for path in ["/dev/zero", "/dev/null"] {
            let error = read(Path::new(path)).expect_err(path).to_string();
            assert!(error.contains("no regular file"), "{error}");
        }
        let error = read(Path::new("/")).expect_err("a folder").to_string();
        assert!(error.contains("folder"), "{error}");
        assert!(read(Path::new("/no/such/file")).is_err());
    }

    #[test]
    fn bytes_and_text() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("file");
        std::fs::write(&path, b"ab\xff")?;
        assert_eq!(read(&path)?, b"ab\xff");
        let error = read_text(&path).expect_err("no text");
        assert!(error.to_string().contains("byte 2"), "{error}");
        std::fs::write(&path, "ü")?;
        assert_eq!(read_text(&path)?, "ü");
        Ok(())
    }
}
