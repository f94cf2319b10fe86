//! verdict, evidence, budget, events.
