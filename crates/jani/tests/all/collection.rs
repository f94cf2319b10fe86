//! The collection of models and cases: every file loads with the sizes that its description says,
//! or is refused for the reason that it should be.

mod cases;
mod exploration;
mod features;
mod inputs;
mod numbers;
mod sizes;
