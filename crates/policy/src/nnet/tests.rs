//! NNet text, right and wrong.

use policert_numeric::Rational;
use proptest::prelude::*;

use super::*;
use crate::exact::ExactEvaluator;

const SMALL: &str = "// a comment
2,1,2,2,
1,2,2,
0,
0,
8,
0,0,
1,1,
1,
-1,
-2.5,
1.25,
-1,0.5,
1,-0.5,
1,
0,
";

fn scores(file: &NetworkFile, inputs: &[i64]) -> Vec<String> {
    let exact = ExactEvaluator::new(&file.network).expect("piecewise linear");
    exact.scores(inputs).to_rationals().iter().map(ToString::to_string).collect()
}

fn message(text: &str) -> String {
    parse_nnet("net.nnet", text.as_bytes()).expect_err("invalid").to_string()
}

#[test]
fn reads_layers() {
    let file = parse_nnet("net.nnet", SMALL.as_bytes()).expect("valid");
    assert!(file.notes.is_empty());
    assert_eq!(file.network.hidden_sizes(), Some(vec![2]));
    // max(x - 2.5, 0) and max(1.25 - x, 0).
    assert_eq!(scores(&file, &[4]), ["-1/2", "3/2"]);
    assert_eq!(scores(&file, &[0]), ["13/8", "-5/8"]);
}

#[test]
fn commas_comments_and_blank_lines_may_vary() {
    let plain = parse_nnet("net.nnet", SMALL.as_bytes()).expect("valid");
    let bare = SMALL.replace(",\n", "\n");
    assert_eq!(parse_nnet("net.nnet", bare.as_bytes()).expect("valid"), plain);
    let spaced = SMALL.replace(",\n", " , \r\n\r\n  // more\n");
    assert_eq!(parse_nnet("net.nnet", spaced.as_bytes()).expect("valid"), plain);
    let marked = format!("\u{feff}{SMALL}");
    assert_eq!(parse_nnet("net.nnet", marked.as_bytes()).expect("valid"), plain);
}

#[test]
fn normalisation_is_applied_and_noted() {
    let text = SMALL.replace("0,0,\n1,1,\n", "3,10,\n2,3,\n");
    let file = parse_nnet("net.nnet", text.as_bytes()).expect("valid");
    assert!(file.notes[0].contains("normalised"));
    let plain = parse_nnet("net.nnet", SMALL.as_bytes()).expect("valid");
    // (11 - 3) / 2 = 4, and then y · 3 + 10.
    let expected = |y: &str| {
        let y: Rational = y.parse().expect("a number");
        (y * Rational::from(3) + Rational::from(10)).to_string()
    };
    let normalised: Vec<String> = scores(&plain, &[4]).iter().map(|y| expected(y)).collect();
    assert_eq!(scores(&file, &[11]), normalised);
}

#[test]
fn inputs_are_not_clipped() {
    let file = parse_nnet("net.nnet", SMALL.as_bytes()).expect("valid");
    assert_eq!(scores(&file, &[100]), ["-193/2", "195/2"]);
}

#[test]
fn errors_name_file_and_line() {
    assert_eq!(
        message(&SMALL.replace("1.25", "nan")),
        "net.nnet: line 12: bias of neuron 2 of layer 1: `nan` is not a finite number"
    );
    assert_eq!(
        message(&SMALL.replace("-1,0.5,", "-1,")),
        "net.nnet: line 13: weights of neuron 1 of layer 2: 2 numbers are expected, found 1"
    );
    assert_eq!(
        message(&SMALL.replace("-1,0.5,", "-1,,")),
        "net.nnet: line 13: weights of neuron 1 of layer 2: `` is not a number"
    );
    for (from, to, line) in [
        ("2,1,2,2", "x,1,2,2", 2),
        ("2,1,2,2", "2,1", 2),
        (",\n1,2,2,", ",\n1,2,", 3),
        (",\n1,2,2,", ",\n1,2,3,", 3),
        (",\n1,2,2,", ",\n2,2,2,", 3),
        (",\n1,2,2,", ",\n1,0,2,", 3),
        (",\n1,2,2,", ",\n1,-2,2,", 3),
        ("8,\n", "8,9,\n", 6),
        ("0,0,\n", "0,\n", 7),
        ("0,0,\n", "0,inf,\n", 7),
        ("1,1,\n", "1,0,\n", 8),
        ("1,1,\n", "-0,1,\n", 8),
        ("1.25", "1e999", 12),
        ("1.25", "0x10", 12),
        ("1.25", "1 2", 12),
        ("1,-0.5,\n1,\n0,\n", "1,-0.5,\n1,\n", 16),
        ("1,-0.5,\n1,\n0,\n", "1,-0.5,\n1,\n0,\n7,\n", 17),
    ] {
        let text = SMALL.replacen(from, to, 1);
        assert_ne!(text, SMALL);
        let message = message(&text);
        assert!(message.starts_with(&format!("net.nnet: line {line}: ")), "{to}: {message}");
    }
    let error = parse_nnet("net.nnet", b"// \n\xff").expect_err("not text");
    assert_eq!(error.to_string(), "net.nnet: line 2: not UTF-8 text");
    let huge = "9999999999999999999999,1,1,1\n";
    assert!(message(huge).contains("is not a number of neurons"));
    let many = format!("{},1,1,1\n1,1\n", usize::MAX);
    assert!(message(&many).contains("layer sizes"));
}

#[test]
fn a_header_that_contradicts_the_file_is_refused() {
    for (from, to, expected) in [
        ("2,1,2,2", "2,1,2,3", "line 3: the largest layer has 2 neurons, and line 2 says 3"),
        ("2,1,2,2", "2,1,2,0", "line 3: the largest layer has 2 neurons, and line 2 says 0"),
        ("2,1,2,2", "2,1,2", "line 2: four numbers are expected"),
        ("2,1,2,2", "2,1,2,2,7", "line 2: four numbers are expected"),
        ("2,1,2,2", "2,2,2,2", "line 3: the layer sizes do not start with 2 inputs"),
        ("2,1,2,2", "3,1,2,2", "line 3: 3 layer sizes for 3 weight layers"),
        ("8,\n", "-1,\n", "line 6: the maximum of input 1 is -1, below its minimum 0"),
        ("8,\n", "nan,\n", "line 6: maxima: `nan` is not a number"),
        ("0,\n8", "x,\n8", "line 5: minima: `x` is not a number"),
    ] {
        let text = SMALL.replacen(from, to, 1);
        assert_ne!(text, SMALL);
        let message = message(&text);
        assert!(message.starts_with(&format!("net.nnet: {expected}")), "{message}");
    }
    let infinite = SMALL.replacen("8,\n", "inf,\n", 1);
    assert!(parse_nnet("net.nnet", infinite.as_bytes()).is_ok());
}

proptest! {
    #[test]
    fn any_prefix_is_refused(length in 0..SMALL.len() - 3) {
        prop_assert!(parse_nnet("net.nnet", &SMALL.as_bytes()[..length]).is_err());
    }

    #[test]
    fn any_bytes_give_an_answer(
        at in 0..SMALL.len(),
        bytes in prop::collection::vec(any::<u8>(), 0..4),
    ) {
        let mut text = SMALL.as_bytes().to_vec();
        text.splice(at..(at + 2).min(SMALL.len()), bytes);
        if let Ok(file) = parse_nnet("net.nnet", &text) {
            prop_assert!(file.network.nodes().len() >= 2);
        }
    }
}
