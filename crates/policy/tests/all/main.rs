//! The collection of policies and cases: every network reads as its description says, or is
//! refused for the reason that it should be.

mod files_below;
mod golden;
mod loading;
mod networks;
mod rounds;
mod spoilt_trees;
mod trees;
