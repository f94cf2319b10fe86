//! VNN-LIB text to a property of a network's inputs and outputs.
//!
//! VNN-LIB 1.0 is a part of SMT-LIB: the inputs of a network are the constants `X_0`, `X_1`, …, its
//! outputs `Y_0`, `Y_1`, …, and assertions say what is looked for. All of them have to hold at once,
//! wherever they stand in the file. [`NetworkProperty`] is the same in disjunctive normal form, with exact
//! coefficients.
//!
//! | module | what it does |
//! |---|---|
//! | `script` | commands: declarations and assertions |
//! | `term` | linear terms |
//! | `formula` | conditions in negation normal form |
//! | `property` | their disjunctive normal form |

mod declarations;
mod formula;
mod property;
mod script;
mod term;
mod variable;

#[cfg(test)]
mod tests;

use std::path::Path;

use policert_sexpr::text;

pub use policert_sexpr::SexprError as VnnlibError;

pub use property::{MAX_INEQUALITIES, NetworkProperty};

/// Reads a property from a file.
///
/// # Errors
/// If the file cannot be read, breaks the format, or has something that is not supported.
pub fn read_property(path: &Path) -> Result<NetworkProperty, VnnlibError> {
    let name = path.display().to_string();
    match policert_files::read(path) {
        Ok(bytes) => parse_property(&name, &bytes),
        Err(source) => Err(VnnlibError::Io { file: name, source }),
    }
}

/// Reads a property from the bytes of a file; `name` is used in messages.
///
/// # Errors
/// If the text breaks the format, or has something that is not supported. The message says where.
pub fn parse_property(name: &str, bytes: &[u8]) -> Result<NetworkProperty, VnnlibError> {
    let found = text(bytes).and_then(script::read).and_then(NetworkProperty::new);
    found.map_err(|fault| VnnlibError::of(fault, name, bytes))
}
