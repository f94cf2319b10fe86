//! The integration tests of this crate, in one program.

mod acasxu;
mod cegar;
mod check;
mod computed_inputs;
mod conversions;
mod corpus;
mod engines_agree;
mod ic3_agrees;
mod loop_choices;
mod loop_claims;
mod loop_evidence;
mod loop_violations;
mod lying_engines;
mod piece_evidence;
mod planning;
mod prob_ppa;
mod probabilities;
mod probability_evidence;
mod query;
mod query_evidence;
mod safe_evidence;
mod small_networks;
mod stuck_and_goal;
