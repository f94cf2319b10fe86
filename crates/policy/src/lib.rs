//! a policy and what it means; policy file formats.
