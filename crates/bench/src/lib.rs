//! Studies: instances × configurations × values of axes, each run in a process of its own.
//!
//! - [`Suite`] says what is run; [`run_suite`] runs it, and a [`StudyJournal`] keeps every finished run.
//! - [`measure`] runs one program and says what it used.
//! - [`write_report`] makes tables, figures and a page of a journal, [`export`] files in formats of competitions.
//!
//! **Architecture invariant**: a run counts once it stands in the journal, as a whole line on the
//! disk. Whatever stops a study, what is finished is not lost, and is not run again.

mod export;
mod freshness;
mod journal;
mod measure;
mod report;
mod run;
mod suite;

pub use export::{ExportFormat, export};
pub use journal::{JournalEntry, RunKey, RunResult, StudyJournal, latest, merged};
pub use measure::{MeasureRequest, Measurement, measure};
pub use report::write_report;
pub use run::{StudyOptions, StudyProgress, StudySummary, Workers, run_suite, work_folder};
pub use suite::{
    ColumnSpec, FigureKind, FigureSpec, OutputRule, Preparation, Published, Quick, Suite,
    SuiteConfiguration, SuiteInstance, TableRows, TableSpec, Word, Words,
};
