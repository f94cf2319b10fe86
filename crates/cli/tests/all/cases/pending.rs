//! The runs of cases that are not answered as expected yet.

/// Case, position of the command in it, what it waits for.
pub const PENDING: &[(&str, usize, &str)] = &[];
