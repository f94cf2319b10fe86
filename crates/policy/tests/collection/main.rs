//! The collection of policies and cases: every network reads as its description says, or is
//! refused for the reason that it should be.

mod golden;
mod loading;
mod networks;
mod rounds;
mod shared_folder;
mod spoilt_trees;
mod trees;
