//! What every result is made of, whatever the command: how a run ended ([`ExitStatus`]), why it has
//! no answer ([`Failure`], [`ReasonCode`]), what is wrong with its inputs ([`Finding`]), which files
//! it read ([`Input`]), and how files are written so that nobody sees half of one.
//!
//! ```
//! use policert_outcome::{ExitStatus, Failure, Outcome};
//!
//! #[derive(serde::Serialize)]
//! struct Report {
//!     states: u64,
//! }
//!
//! let outcome = Outcome::of(Report { states: 0 }, |outcome| {
//!     outcome.report.states = 7;
//!     Ok(ExitStatus::Safe)
//! });
//! let data = serde_json::to_value(&outcome).expect("JSON");
//! assert_eq!((data["exit_code"].as_u64(), data["states"].as_u64()), (Some(0), Some(7)));
//! let outcome = Outcome::of(Report { states: 0 }, |_| Err(Failure::invalid("no such file")));
//! assert_eq!(outcome.status.code(), 40);
//! ```

#![warn(missing_docs)]

mod atomic_file;
mod certified;
pub mod decimal;
mod digest;
mod exit_status;
mod failure;
mod finding;
mod known_digests;
mod memory;
mod metered;
mod optional_file;
mod outcome;
mod output_files;
mod reason_code;
mod verdict_word;

pub use atomic_file::{
    AtomicFile, TextDestination, remove_unfinished, unless_closed, write_file, write_json,
    write_text,
};
pub use certified::Certified;
pub use digest::{
    DigestError, FileDigest, Input, InputRole, bytes_digest, digests, digests_if_readable,
    file_digest, text_digest,
};
pub use exit_status::ExitStatus;
pub use failure::Failure;
pub use finding::{Finding, FindingKind, policy_findings};
pub use known_digests::{KnownDigests, unchanged_since};
pub use memory::{available_memory, peak_memory_mb};
pub use metered::metered;
pub use optional_file::{FileRecord, write_or_remove};
pub use outcome::{Outcome, Remarks};
pub use output_files::{OutputFiles, make_folder};
pub use reason_code::ReasonCode;
pub use verdict_word::VerdictWord;

/// Version of the schema of results. It grows when the meaning of a field changes or a field goes; new
/// fields may come without.
pub const SCHEMA_VERSION: u32 = 1;

/// Version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
