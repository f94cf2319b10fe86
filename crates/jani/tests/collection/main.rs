//! The collection of models and cases: every file loads with the sizes that its description says,
//! or is refused for the reason that it should be.

#![expect(clippy::print_stderr, reason = "tests say when there is nothing to compare with")]

mod cases;
mod exploration;
mod features;
mod inputs;
mod numbers;
mod shared_folder;
mod sizes;
