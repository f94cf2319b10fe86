//! Evidence of verdicts: as data ([`Evidence`]), and checked from its file without any engine
//! ([`certify()`]).
//!
//! ```
//! use policert_engine_api::{CancelFlag, Invariant, Limits, Silent};
//! use policert_evidence::{CertifyRequest, certify};
//! use policert_numeric::{IntBox, IntInterval};
//!
//! let speed = IntInterval { lo: 0, hi: 2 };
//! let invariant = Invariant::from(vec![IntBox::new(vec![speed])]);
//! assert!(invariant.contains(&[2]) && !invariant.contains(&[3]));
//!
//! // What is no evidence certifies nothing.
//! let request = CertifyRequest { evidence: "no-such-file.json".into(), limits: Limits::default() };
//! let outcome = certify(&request, &CancelFlag::default(), &mut Silent);
//! assert_eq!((outcome.status.code(), outcome.report.verdict), (40, None));
//! ```
//!
//! **Architecture invariant**: no engine is used here. What an engine claims is checked again before it
//! becomes evidence, by `policert-certify`; an invariant, where plain intervals are not enough, with
//! a decision oracle of its own.

#![warn(missing_docs)]

mod certify;
mod control_loop;
mod evidence;
mod invariant_check;

pub use policert_certify::OverStarts;

pub use certify::{CertifyReport, CertifyRequest, Quantity, certify, certify_unwritten};
pub use control_loop::{
    CheckedLoop, LoopEvaluation, LoopEvidence, LoopFinding, LoopProof, LoopTask, PartRecord,
    RunRecord, ViolationRecord, certify_loop, loop_check, loop_network,
};
pub use evidence::{
    ConditionRecord, DiagramRecord, EVIDENCE_VERSION, EdgeRecord, EndKind, EndRecord, Evidence,
    Mover, OperatorRecord, PieceRecord, PolicyRecord, Proof, ScoreRecord, StepRecord, Unconfirmed,
    ValueRecord, WitnessPathRecord, WitnessStepRecord, check_bounds,
};
pub use invariant_check::{CheckedBy, check as check_invariant};
