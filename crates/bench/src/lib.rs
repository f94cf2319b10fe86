//! Studies: instances × configurations × shares of predicates, each run in a process of its own.
//!
//! - [`Suite`] says what is run; [`run_suite`] runs it, and a [`StudyJournal`] keeps every finished run.
//! - [`write_report`] makes tables and figures of a journal.
//!
//! **Architecture invariant**: a run counts once it stands in the journal, as a whole line on the
//! disk. Whatever stops a study, what is finished is not lost, and is not run again.

mod freshness;
mod journal;
mod report;
mod run;
mod suite;

pub use journal::{JournalEntry, RunKey, RunResult, StudyJournal, latest};
pub use report::write_report;
pub use run::{StudyOptions, StudyProgress, StudySummary, run_suite};
pub use suite::{Figure, Suite, SuiteConfiguration, SuiteInstance};
