//! A policy file as it was read, before anything is made of it.

use std::path::Path;

use crate::error::PolicyError;
use crate::format::Format;
use crate::meter::Meter;
use crate::read::read_metered;

/// The bytes of a policy file and their format.
pub(crate) struct PolicyFile<'p> {
    pub path: &'p Path,
    /// The path, for messages.
    pub name: String,
    pub bytes: Vec<u8>,
    pub format: Format,
}

impl<'p> PolicyFile<'p> {
    /// Reads a file and tells its format by its content.
    pub fn read(path: &'p Path, meter: &mut Meter) -> Result<Self, PolicyError> {
        let name = path.display().to_string();
        let bytes = read_metered(path, meter)?;
        let format = Format::of(path, &bytes).map_err(|error| error.in_file(&name))?;
        Ok(Self { path, name, bytes, format })
    }
}
