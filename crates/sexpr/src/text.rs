//! The bytes of a file as text.

use crate::Fault;

/// The text that bytes are.
///
/// # Errors
/// If they are compressed, or no UTF-8.
pub fn text(bytes: &[u8]) -> Result<&str, Fault> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(_) if bytes.starts_with(&[0x1f, 0x8b]) => {
            Err(Fault::unsupported(0, "the file is compressed with gzip; unpack it first"))
        }
        Err(error) => Err(Fault::invalid(error.valid_up_to(), "not UTF-8 text")),
    }
}
