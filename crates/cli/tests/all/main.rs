//! The integration tests of this crate, in one program.

mod bench;
mod bench_formats;
mod cases;
mod closed_pipe;
mod conversions;
mod documentation;
mod ecosystem;
mod endless_inputs;
mod engine_options;
mod exit_codes;
mod forged_screen;
mod interfaces;
mod named_scores;
mod never_chosen;
#[cfg(unix)]
mod output_files;
#[cfg(unix)]
mod own_engine;
mod pages_in_a_browser;
mod pictures;
mod planning;
mod probabilities;
mod qcomp;
mod query;
mod reach;
#[cfg(target_os = "linux")]
mod refused_memory;
mod report;
mod result_files;
mod results_keep_their_schema;
mod second_checker;
mod shell;
mod simulate;
mod single_precision;
mod spoilt_inputs;
mod support;
mod train;
mod train_model;
mod tree_policies;
mod verdicts;
