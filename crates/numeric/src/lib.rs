//! exact rationals, outward-rounded intervals, integer boxes
policert-numeric = { path = "crates/numeric" }.
