//! What several tests need: the program, and small inputs.

pub mod example;
pub mod json_schema;
pub mod loop_task;
pub mod program;
pub mod query_example;
pub mod small_files;
