//! Regions: sets of concrete states given by a box and conditions.

use policert_model::Condition;

/// The points of a box that satisfy all conditions. Dimensions are the state variables, then
/// the free choices of a destination where it has any.
pub type Region<'c> = policert_model::Region<&'c Condition>;
