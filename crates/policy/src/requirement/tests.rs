//! What bounds exclude under each rule of choice.

use policert_model::{LabelId, VarId};
use policert_numeric::{IntBox, IntInterval};

use super::*;
use crate::matrix::Matrix;
use crate::network::{ElementType, NetworkBuilder};
use crate::semantics::Ties;

fn policy(semantics: PolicySemantics) -> Policy {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let weights = Matrix::new(2, 1, vec![1.0, 2.0]).expect("size");
    let x = b.affine(b.input(), weights, vec![0.0; 2]).expect("finite");
    let network = b.finish(x, ElementType::F64);
    let domains = IntBox::new(vec![IntInterval::new(0, 9)]);
    let outputs = vec![LabelId(0), LabelId(1)];
    Policy::new(network, vec![VarId(0)], outputs, semantics, &domains).expect("fits")
}

#[test]
fn the_greatest_score_excludes_by_the_tie_rule() {
    let policy = policy(PolicySemantics::default());
    assert!(policy.requires(1, 0).is_excluded_by(0.0));
    assert!(!policy.requires(0, 1).is_excluded_by(0.0));
    assert!(policy.requires(0, 1).is_excluded_by(1e-300));
    assert!(!policy.requires(0, 1).is_excluded_by(f64::NAN));
    assert!(policy.requires(1, 0).is_strict());
    assert_eq!(policy.requires(1, 0).greatest_lead(), Some(Rational::ZERO));
    assert!(policy.always_chooses());
    assert!(
        !self::policy(PolicySemantics { ties: Ties::Strict, ..policy.semantics() })
            .always_chooses()
    );
}

#[test]
fn a_least_probability_excludes_by_the_odds() {
    let drawn = |share: &str| {
        let at_least = Some(share.parse().expect("a share"));
        policy(PolicySemantics {
            choice: ChoiceRule::Sample,
            at_least,
            ..PolicySemantics::default()
        })
    };
    // ln(1/0.1 − 1) = ln 9.
    let seldom = drawn("0.1");
    let odds = 9.0f64.ln();
    assert!(seldom.requires(0, 1).is_excluded_by(odds + 1e-9));
    assert!(!seldom.requires(0, 1).is_excluded_by(odds - 1e-9));
    assert!(!seldom.requires(0, 1).is_strict());
    assert!(!seldom.always_chooses());
    // Who has more than a half leads.
    let mostly = drawn("0.9");
    assert!(mostly.requires(0, 1).is_excluded_by(1e-9 - odds));
    assert!(!mostly.requires(0, 1).is_excluded_by(-odds - 1e-9));
    assert!(drawn("1").requires(0, 1).is_excluded_by(-1e6));
}

#[test]
fn units_of_trees_are_rounded_up() {
    let unit = Rational::new(1, 4).expect("not 0");
    let slack = Slack::new(0.6, Some(&unit));
    let requirement = Requirement { comparison: ScoreComparison::GreaterEqual, slack };
    assert!(!requirement.is_excluded_by_units(3));
    assert!(requirement.is_excluded_by_units(4));
    let never = Requirement { comparison: ScoreComparison::GreaterEqual, slack: Slack::INFINITE };
    assert!(!never.is_excluded_by_units(i128::MAX));
}
