//! The policies of the collection that are not answered as expected yet.

/// Folder, and what it waits for.
pub const PENDING: &[(&str, &str)] = &[];
