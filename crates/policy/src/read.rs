//! Files of policies and interfaces, read as a whole.

use std::io::ErrorKind;
use std::path::Path;

use crate::error::PolicyError;
use crate::meter::Meter;

/// Reads a whole file, within limits.
pub(crate) fn read_metered(path: &Path, meter: &mut Meter) -> Result<Vec<u8>, PolicyError> {
    // What the length of a pipe or a device is, reading it says.
    let length = path.metadata().map_or(0, |metadata| metadata.len());
    meter.before(usize::try_from(length).unwrap_or(usize::MAX))?;
    policert_files::read(path).map_err(|source| match source.kind() {
        ErrorKind::OutOfMemory => PolicyError::Stopped,
        _ => PolicyError::Io { file: path.display().to_string(), source },
    })
}

/// Reads a whole file.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, PolicyError> {
    read_metered(path, &mut Meter::default())
}
