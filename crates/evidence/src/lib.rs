//! Evidence of verdicts: as data ([`Evidence`]), and checked from its file without any engine
//! ([`certify()`]).
//!
//! **Architecture invariant**: no engine is used here. What an engine claims is checked again before it
//! becomes evidence, by `policert-certify`; an invariant, where plain intervals are not enough, with
//! a decision oracle of its own.

mod certify;
mod evidence;
mod invariant_check;

pub use policert_certify::OverStarts;

pub use certify::{CertifyReport, CertifyRequest, certify};
pub use evidence::{
    EVIDENCE_VERSION, EdgeRecord, EndKind, EndRecord, Evidence, Mover, OperatorRecord,
    PolicyRecord, Proof, ScoreRecord, StepRecord, ValueRecord, WitnessPathRecord,
    WitnessStepRecord, check_bounds,
};
pub use invariant_check::{CheckedBy, check as check_invariant};
