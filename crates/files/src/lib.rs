//! Files from outside: how they are read, and how what they say is shown.
//!
//! - [`read`], [`read_text`] and [`open`] take regular files alone: a device or a pipe may never end.
//! - [`shown`] and [`name`] make any text safe to print: it stays on its line, moves no cursor,
//!   changes no colour, and has a sane length.
//! - [`number_of_text`] reads exact numbers that result files write as texts, for pictures and tables.
//!
//! **Architecture invariant**: readers open files through this crate, and whatever a file says is
//! printed through it.

mod number;
mod read;
mod shown;

pub use number::number_of_text;
pub use read::{open, read, read_text, regular};
pub use shown::{
    MESSAGE, NAME, Shown, csv_field, escaped, is_plain, markdown, name, path, placed, shown,
};
