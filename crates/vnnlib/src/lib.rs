//! VNN-LIB text to a property of a network's inputs and outputs.
//!
//! VNN-LIB 1.0 is a part of SMT-LIB: the inputs of a network are the constants `X_0`, `X_1`, …, its
//! outputs `Y_0`, `Y_1`, …, and assertions say what is looked for. All of them have to hold at once,
//! wherever they stand in the file. [`NetworkProperty`] is the same in disjunctive normal form, with exact
//! coefficients.
//!
//! | module | what it does |
//! |---|---|
//! | `sexpr` | text to S-expressions, with places |
//! | `script` | commands: declarations and assertions |
//! | `term` | linear terms |
//! | `formula` | conditions in negation normal form |
//! | `property` | their disjunctive normal form |

mod declarations;
mod error;
mod formula;
mod property;
mod script;
mod sexpr;
mod term;
mod variable;

#[cfg(test)]
mod tests;

use std::path::Path;

pub use error::{Place, VnnlibError};
pub use property::{MAX_INEQUALITIES, NetworkProperty};
pub use sexpr::MAX_DEPTH;

use error::Fault;

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
    let found = match std::str::from_utf8(bytes) {
        Ok(text) => script::read(text).and_then(NetworkProperty::new),
        Err(_) if bytes.starts_with(&[0x1f, 0x8b]) => {
            Err(Fault::unsupported(0, "the file is compressed with gzip; unpack it first"))
        }
        Err(error) => Err(Fault::invalid(error.valid_up_to(), "not UTF-8 text")),
    };
    found.map_err(|fault| fault.in_file(name, bytes))
}
