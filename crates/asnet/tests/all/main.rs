//! Tests of the crate from outside.

mod definition;
mod files;
mod instantiation;
mod random_network;
mod translations;
