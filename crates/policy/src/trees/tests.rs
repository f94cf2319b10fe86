//! Rules, readers on small texts, and exact scores against those in double precision.

use super::*;
use crate::PolicyError;

fn rule(
    comparison: RuleComparison,
    threshold: f64,
    precision: Precision,
    missing: Missing,
) -> Rule {
    Rule { comparison, threshold, precision, missing }
}

const COMPARISONS: [RuleComparison; 6] = [
    RuleComparison::Less,
    RuleComparison::LessEqual,
    RuleComparison::Greater,
    RuleComparison::GreaterEqual,
    RuleComparison::Equal,
    RuleComparison::NotEqual,
];

#[test]
fn pieces_say_what_the_rule_says() {
    let thresholds = [
        -3.0,
        -0.5,
        0.0,
        0.5,
        2.0,
        3.5,
        20_180_132.0,
        16_777_216.0,
        16_777_217.0,
        1e18,
        -1e19,
        1e30,
        f64::INFINITY,
    ];
    let missing =
        [Missing::NotANumber(true), Missing::IsZero, Missing::Zero(true), Missing::Zero(false)];
    for comparison in COMPARISONS {
        for threshold in thresholds {
            for precision in [Precision::Single, Precision::Double] {
                for missing in missing {
                    let rule = rule(comparison, threshold, precision, missing);
                    let pieces = rule.pieces();
                    assert_eq!(pieces.last().map(|piece| piece.0), Some(i64::MAX), "{rule:?}");
                    #[expect(clippy::cast_possible_truncation, reason = "near the threshold")]
                    let near = threshold.clamp(-9e18, 9e18) as i64;
                    let around = (-4..=4).flat_map(|d| [near.saturating_add(d), d]);
                    for x in around.chain([i64::MIN, i64::MAX, 20_180_131, 16_777_217]) {
                        let piece = pieces.iter().find(|piece| x <= piece.0);
                        let answer = piece.map(|piece| piece.1);
                        assert_eq!(answer, Some(rule.holds_at(x)), "{rule:?} at {x}: {pieces:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn single_precision_rounds_large_integers() {
    let rule =
        rule(RuleComparison::Less, 20_180_132.0, Precision::Single, Missing::NotANumber(false));
    assert!(rule.holds_at(20_180_130));
    // It is rounded to the even neighbour, which is the threshold.
    assert!(!rule.holds_at(20_180_131));
    assert_eq!(rule.pieces(), [(20_180_130, true), (i64::MAX, false)]);
}

fn parsed(text: &str) -> Ensemble {
    parse_trees("f", text.as_bytes(), Rounds::Best).expect("it is right").ensemble
}

const VERITAS: &str = r#"{"at_type": "CLF_SOFTMAX", "base_scores": [0.125, -0.25],
    "trees": [
      {"num_leaf_values": 2, "split_type": "LtSplit", "structure":
        {"feat_id": 1, "split_value": 2.5, "left": {"leaf_value": [0.1, 3]},
         "right": {"feat_id": 0, "split_value": -1, "left": {"leaf_value": [1e-7, 0]},
                   "right": {"leaf_value": [0, 7]}}}},
      {"structure": {"leaf_value": [1, 2]}}]}"#;

#[test]
fn exact_scores_are_sums_of_the_stored_values() {
    let ensemble = parsed(VERITAS);
    assert_eq!((ensemble.inputs(), ensemble.outputs()), (2, 2));
    let trees = IntegerTrees::new(&ensemble).expect("it fits");
    let mut scores = Vec::new();
    for x in -3..=3 {
        for y in -3..=5 {
            trees.scores(&[x, y], &mut scores);
            let first = match (y < 3, x < -1) {
                (true, _) => [0.1, 3.0],
                (false, true) => [1e-7, 0.0],
                (false, false) => [0.0, 7.0],
            };
            for (k, (base, second)) in [(0.125, 1.0), (-0.25, 2.0)].into_iter().enumerate() {
                let parts = [base, first[k], second];
                let parts = parts.map(|part| {
                    policert_numeric::Rational::from_f64(part).expect("a finite number")
                });
                let sum = parts.iter().fold(policert_numeric::Rational::ZERO, |a, b| &a + b);
                let units = policert_numeric::Rational::from_parts(scores[k].into(), 1u8.into());
                assert_eq!(&units.expect("no zero") * &trees.unit(), sum, "at {x}, {y}");
            }
        }
    }
}

#[test]
fn leaves_too_far_apart_are_refused() {
    let text = VERITAS.replace("1e-7", "1e-60").replace('7', "1e30");
    let ensemble = parsed(&text);
    let error = IntegerTrees::new(&ensemble).expect_err("too far apart");
    assert!(matches!(error, PolicyError::Unsupported { .. }), "{error}");
}

#[test]
fn what_is_wrong_is_named() {
    let cases = [
        ("[1]", "no tree ensemble"),
        ("{\"trees\": [], \"x\"}", "line 1"),
        (
            r#"{"base_score": 0, "trees": [{"feat_id": 0, "split_value": 1, "lt": {"leaf_value": 1}}]}"#,
            "/trees/0: two children",
        ),
        (r#"{"base_score": 0, "trees": [{"feat_id": -1, "split_value": 1}]}"#, "/trees/0/feat_id"),
        (r#"{"base_scores": [0, 0], "trees": [{"leaf_value": [1]}]}"#, "1 values for 2 outputs"),
        (r#"{"base_scores": [], "trees": []}"#, "no outputs"),
        (r#"{"learner": {}}"#, "/learner: `learner_model_param` is missing"),
        ("tree\nversion=v4\n", "end of trees"),
        ("tree\nend of trees\n", "line 1: `version` is missing"),
        ("{\"tree_info\": 3}", "`feature_names` is missing"),
    ];
    for (text, expected) in cases {
        let error = parse_trees("f", text.as_bytes(), Rounds::Best).expect_err(text).to_string();
        assert!(error.starts_with("f: ") && error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn veritas_files_that_contradict_themselves_are_invalid() {
    let valid = r#"{"base_scores": [1, 2], "trees": [{"num_leaf_values": 2, "structure":
        {"feat_id": 0, "split_value": 1, "left": {"leaf_value": [1, 2]},
         "right": {"leaf_value": [3, 4]}}}]}"#;
    assert_eq!(parsed(valid).outputs(), 2);
    for (from, to, place) in [
        ("\"num_leaf_values\": 2", "\"num_leaf_values\": 3", "/trees/0/num_leaf_values"),
        ("{\"base_scores\"", "{\"base_score\": 1, \"base_scores\"", "/base_score: "),
        ("[1, 2]},", "[1, 2], \"feat_id\": 1},", "/trees/0/structure/left/feat_id"),
        ("[1, 2]},", "[1, 2, 3]},", "/trees/0/structure/left/leaf_value"),
        ("\"left\"", "\"lt\"", "/trees/0/structure: two children"),
        ("\"left\"", "\"left\": {\"leaf_value\": [0, 0]}, \"left\"", "`left` stands twice"),
        ("\"left\"", "\"gteq\": {\"leaf_value\": [0, 0]}, \"left\"", "two children"),
    ] {
        let text = valid.replacen(from, to, 1);
        assert_ne!(text, valid);
        let error = parse_trees("f", text.as_bytes(), Rounds::Best).expect_err(&text);
        assert!(matches!(error, PolicyError::Invalid { .. }), "{error}");
        assert!(error.to_string().contains(place), "{text}: {error}");
    }
}

#[test]
fn trees_that_are_too_deep_are_refused() {
    let chain = |depth: usize| {
        let list = |value: &dyn Fn(usize) -> i64, count: usize| {
            let values: Vec<String> = (0..count).map(|k| value(k).to_string()).collect();
            values.join(" ")
        };
        let index = |k: usize| i64::try_from(k).expect("small");
        let left = |k: usize| if k + 1 < depth { index(k + 1) } else { -1 - index(depth) };
        format!(
            "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=0\n\
             feature_names=x\n\nTree=0\nnum_leaves={}\nsplit_feature={}\nthreshold={}\n\
             decision_type={}\nleft_child={}\nright_child={}\nleaf_value={}\n\nend of trees\n",
            depth + 1,
            list(&|_| 0, depth),
            list(&|k| -index(k), depth),
            list(&|_| 2, depth),
            list(&left, depth),
            list(&|k| -1 - index(k), depth),
            list(&index, depth + 1),
        )
    };
    let trees = IntegerTrees::new(&parsed(&chain(900))).expect("it is not too deep");
    let mut scores = Vec::new();
    trees.scores(&[-10_000], &mut scores);
    assert_eq!(scores, [900]);
    let error = parse_trees("f", chain(200_000).as_bytes(), Rounds::Best).expect_err("too deep");
    assert!(matches!(error, PolicyError::Unsupported { .. }), "{error}");
}

#[test]
fn ubjson_is_json() {
    let mut bytes = b"{i\x05treesi".to_vec();
    bytes.truncate(bytes.len() - 1);
    // {"trees": [{"leaf_value": 1.5f}], "base_score": 2, "n": [U8 × 2]}
    bytes.extend(
        b"[{i\x0aleaf_valued\x3f\xc0\x00\x00}]i\x0abase_scorei\x02i\x01n[$U#i\x02\x07\x09}",
    );
    let value = ubjson::parse(&bytes).expect("it is right");
    let expected = serde_json::json!({
        "trees": [{"leaf_value": 1.5}], "base_score": 2, "n": [7, 9]
    });
    assert_eq!(value, expected);
    let ensemble = parse_trees("f", &bytes, Rounds::Best).expect("one leaf").ensemble;
    assert_eq!(ensemble.approximate_scores(&[]), [3.5]);
    for length in 0..bytes.len() {
        assert!(ubjson::parse(&bytes[..length]).is_err(), "{length} bytes");
    }
}

#[test]
fn a_score_of_two_classes() {
    let text = r#"{"base_score": -1, "trees": [{"leaf_value": 1.5}]}"#;
    assert_eq!(parsed(text).as_two_classes().approximate_scores(&[]), [0.0, 0.5]);
}

#[test]
fn a_key_that_stands_twice_in_ubjson_is_refused() {
    // {"a": 1, "a": 2}, with and without a count.
    for bytes in [&b"{i\x01ai\x01i\x01ai\x02}"[..], b"{#i\x02i\x01ai\x01i\x01ai\x02"] {
        let error = ubjson::parse(bytes).expect_err("a key stands twice").to_string();
        assert!(error.contains("the key `a` stands twice"), "{error}");
        assert!(error.starts_with("byte "), "{error}");
    }
}
