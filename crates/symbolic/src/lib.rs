//! A model under a policy as a symbolic transition system: sets of states are boxes and regions, and
//! engines ask where an operator applies, where an outcome leads, and where the policy chooses a label.
//!
//! | looking for | file |
//! |---|---|
//! | the operators by label, where a label is applicable | `operators.rs` |
//! | the transitions of single states | `steps.rs` |
//! | regions before and after an outcome: hull, preimage, cut | `outcome.rs` |
//! | exact images of boxes | `image.rs` |
//! | boxes in parts by a condition | `partition.rs` |
//! | the policy's choices in a region | `policy_region.rs` |
//! | boxes in which the policy chooses a label everywhere | `chosen_boxes.rs` |
//!
//! **Architecture invariant**: the meaning of single states is that of [`policert_model::ModelSemantics`],
//! and a policy's choices are refuted by the decision oracle alone.

mod chosen_boxes;
mod image;
mod operators;
mod outcome;
mod partition;
mod policy_region;
mod region;
mod steps;

pub use chosen_boxes::ChosenBoxes;
pub use image::{Image, Images};
pub use operators::{LabelGroup, Operators};
pub use outcome::OperatorOutcome;
pub use partition::{Parts, partition, unbounded};
pub use policy_region::PolicyRegion;
pub use region::{SharedRegion, point_in, shared};
pub use steps::StateStep;
