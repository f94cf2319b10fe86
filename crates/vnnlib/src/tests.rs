//! Tests of the reader: what files mean, and what is wrong with wrong ones.

use policert_numeric::{LinearInequality, Rational};

use policert_sexpr::MAX_DEPTH;

use super::*;

fn rational(text: &str) -> Rational {
    text.parse().expect("a number")
}

/// A property of two inputs and two outputs.
fn with_declarations(assertions: &str) -> String {
    let variables = ["X_0", "X_1", "Y_0", "Y_1"];
    let declarations = variables.map(|name| format!("(declare-const {name} Real)\n"));
    declarations.concat() + assertions
}

fn property(text: &str) -> NetworkProperty {
    parse_property("p.vnnlib", text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn of_assertions(assertions: &str) -> NetworkProperty {
    property(&with_declarations(assertions))
}

/// `2 x0 - 1/2 y1 <= 3` and the like, one string for each inequality of each disjunct.
fn disjuncts(property: &NetworkProperty) -> Vec<Vec<String>> {
    let name = |index: usize| match index.checked_sub(property.inputs) {
        None => format!("x{index}"),
        Some(output) => format!("y{output}"),
    };
    let shown = |inequality: &LinearInequality| {
        let terms: Vec<String> =
            inequality.terms.iter().map(|(v, c)| format!("{c} {}", name(*v))).collect();
        let sign = if inequality.strict { "<" } else { "<=" };
        format!("{} {sign} {}", terms.join(" + "), inequality.upper)
    };
    property.disjuncts.iter().map(|disjunct| disjunct.iter().map(shown).collect()).collect()
}

fn assert_disjuncts(assertions: &str, expected: &[&[&str]]) {
    assert_eq!(disjuncts(&of_assertions(assertions)), expected, "{assertions}");
}

#[test]
fn comparisons() {
    assert_disjuncts("(assert (<= X_0 1))", &[&["1 x0 <= 1"]]);
    assert_disjuncts("(assert (< X_0 1))", &[&["1 x0 < 1"]]);
    assert_disjuncts("(assert (>= Y_1 -1))", &[&["-1 y1 <= 1"]]);
    assert_disjuncts("(assert (> 2 Y_1))", &[&["1 y1 < 2"]]);
    assert_disjuncts("(assert (= X_0 X_1))", &[&["1 x0 + -1 x1 <= 0", "-1 x0 + 1 x1 <= 0"]]);
    assert_disjuncts("(assert (< 0 X_0 Y_0))", &[&["-1 x0 < 0", "1 x0 + -1 y0 < 0"]]);
    assert_disjuncts("(assert (not (= X_0 1)))", &[&["1 x0 < 1"], &["-1 x0 < -1"]]);
    assert_disjuncts("(assert (not (<= X_0 1 X_1)))", &[&["-1 x0 < -1"], &["1 x1 < 1"]]);
    assert_disjuncts("(assert (not (not (>= X_0 1))))", &[&["-1 x0 <= -1"]]);
}

#[test]
fn junctors_without_operands_are_constants() {
    let nothing: &[&[&str]] = &[];
    assert_disjuncts("(assert (and))", &[&[]]);
    assert_disjuncts("(assert (or))", nothing);
    assert_disjuncts("(assert (not (or)))", &[&[]]);
    assert_disjuncts("(assert (or (<= X_0 1) (or)))", &[&["1 x0 <= 1"]]);
    assert_disjuncts("(assert (<= X_0 1)) (assert (and))", &[&["1 x0 <= 1"]]);
}

#[test]
fn terms() {
    for (term, expected) in [
        ("(+ X_0 X_1 Y_0)", "1 x0 + 1 x1 + 1 y0 <= 0"),
        ("(- X_0 X_1 2)", "1 x0 + -1 x1 <= 2"),
        ("(- X_0)", "-1 x0 <= 0"),
        ("(* 2 X_0 (- 3))", "-6 x0 <= 0"),
        ("(* (+ X_0 1) 1.5)", "3/2 x0 <= -3/2"),
        ("(/ (- X_0 X_1) 4)", "1/4 x0 + -1/4 x1 <= 0"),
        ("(+ (* (/ 1 3) X_0) (- (- (/ 1 3))))", "1/3 x0 <= -1/3"),
        ("(+ X_1 (- Y_0 X_1))", "1 y0 <= 0"),
        ("|X_1|", "1 x1 <= 0"),
    ] {
        assert_disjuncts(&format!("(assert (<= {term} 0))"), &[&[expected]]);
    }
}

#[test]
fn numbers() {
    for (text, expected) in [
        ("0.25", "1/4"),
        ("2.5e-1", "1/4"),
        ("7.5E-1", "3/4"),
        ("+2.5e-1", "1/4"),
        ("-1e0", "-1"),
        ("1.e+1", "10"),
        ("-.5", "-1/2"),
        ("007", "7"),
        ("(- 3)", "-3"),
        ("(/ 1 3)", "1/3"),
        ("(- (/ 1.0 4.0))", "-1/4"),
        ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
    ] {
        let found = of_assertions(&format!("(assert (<= X_0 {text}))"));
        assert_eq!(found.disjuncts[0][0].upper, rational(expected), "{text}");
    }
}

#[test]
fn constants_vanish() {
    assert_disjuncts("", &[&[]]);
    assert_disjuncts("(assert (<= X_0 X_0))", &[&[]]);
    assert_disjuncts("(assert (< X_0 X_0))", &[]);
    assert_disjuncts("(assert (<= 0 1 X_0))", &[&["-1 x0 <= -1"]]);
    assert_disjuncts("(assert (or (<= X_0 1) (< 1 1)))", &[&["1 x0 <= 1"]]);
    assert_disjuncts("(assert (and (<= X_0 1) (< 1 1)))", &[]);
    assert_disjuncts("(assert (or (<= X_0 1) (<= 1 1)))", &[&[]]);
    assert_disjuncts("(assert (or (<= X_0 1) (not true)))", &[&["1 x0 <= 1"]]);
    assert_disjuncts("(assert false) (assert (<= X_0 1))", &[]);
}

#[test]
fn assertions_are_joined_wherever_they_stand() {
    assert_disjuncts(
        "(assert (or (and (<= X_0 1) (>= X_1 2)) (<= X_0 3)))
         (assert (<= Y_0 4))
         (assert (or (<= Y_1 5) (not (and (<= X_1 6) (< X_1 7)))))",
        &[
            &["1 y0 <= 4", "1 x0 <= 1", "-1 x1 <= -2", "1 y1 <= 5"],
            &["1 y0 <= 4", "1 x0 <= 1", "-1 x1 <= -2", "-1 x1 < -6"],
            &["1 y0 <= 4", "1 x0 <= 1", "-1 x1 <= -2", "-1 x1 <= -7"],
            &["1 y0 <= 4", "1 x0 <= 3", "1 y1 <= 5"],
            &["1 y0 <= 4", "1 x0 <= 3", "-1 x1 < -6"],
            &["1 y0 <= 4", "1 x0 <= 3", "-1 x1 <= -7"],
        ],
    );
}

#[test]
fn what_else_stands_in_files() {
    let text = "\u{feff}; a comment (with brackets\r
        (set-logic QF_LRA)\r
        (set-info :source |several
        lines; no comment|)
        (set-info :note \"a \"\"string\"\" with ; and )\")
        (declare-fun X_0 () Real) ; another
        (assert(<= X_0 1))(declare-const Y_0 Real)(assert(or(>= Y_0 X_0)))
        (check-sat)
        (get-model)
        (exit)";
    let found = property(text);
    assert_eq!((found.inputs, found.outputs), (1, 1));
    assert_eq!(disjuncts(&found), [["1 x0 <= 1", "1 x0 + -1 y0 <= 0"]]);
    assert!(found.holds(&[rational("1/3"), rational("1/3")]));
    assert!(!found.holds(&[rational("1/3"), rational("0.3333")]));
}

#[test]
fn the_documented_example_is_read() {
    let page = include_str!("../../../docs/formats/vnnlib.md");
    let example = page.split("```").nth(1).expect("an example");
    assert_eq!(property(example).disjuncts.len(), 2);
}

/// The kind of the error, its place, and its message.
fn error(text: &[u8]) -> (bool, usize, usize, String) {
    match parse_property("p.vnnlib", text) {
        Err(VnnlibError::Invalid { place, message }) => (true, place.line, place.column, message),
        Err(VnnlibError::Unsupported { place, message }) => {
            (false, place.line, place.column, message)
        }
        other => panic!("{other:?}: {}", String::from_utf8_lossy(text)),
    }
}

#[test]
fn invalid_conditions_are_refused() {
    for (condition, column, part) in [
        ("(<= X_0", 1, "1 `)` missing"),
        ("(<= X_0 1)))", 20, "without its `(`"),
        ("(<= X_2 1)", 13, "X_2 is not declared"),
        ("(<= Y_7 1)", 13, "Y_7 is not declared"),
        ("(<= Z_0 1)", 13, "`Z_0` is neither"),
        ("(<= X_00 1)", 13, "`X_00` is neither"),
        ("(<= X_0_1 1)", 13, "`X_0_1` is neither"),
        ("(<= X_0 inf)", 17, "`inf` is neither"),
        ("(<= X_0 1.2.3)", 17, "`1.2.3` is no number"),
        ("(<= X_0 1e)", 17, "`1e` is no number"),
        ("(<= X_0 1e99999)", 17, "exponent up to 10000"),
        ("(<= X_0 0x10)", 17, "`0x10` is no number"),
        ("(<= X_0)", 9, "at least 2 operands, not 1"),
        ("(<= X_0 \"1\")", 17, "a term is expected, not a string"),
        ("(<= X_0 (<= X_1 1))", 18, "`<=` is no operator of terms"),
        ("(<= (* X_0 X_1) 1)", 20, "not linear"),
        ("(<= (* 2 X_0 (+ Y_0 1)) 1)", 22, "not linear"),
        ("(<= (/ 1 X_0) 1)", 18, "divisor is constant"),
        ("(<= (/ X_0 (- 1 1)) 1)", 20, "division by zero"),
        ("(<= (/ X_0) 1)", 13, "a dividend and a divisor"),
        ("(<= (+) 1)", 13, "`+` without operands"),
        ("(<= () 1)", 13, "empty list is no term"),
        ("(<= ((+ X_0)) 1)", 14, "an operator is expected, not `(+ …)`"),
        ("(not (<= X_0 1) (<= X_1 1))", 9, "1 operand, not 2"),
        ("X_0", 9, "a condition such as (<= X_0 1) is expected, not `X_0`"),
        ("()", 9, "empty list is no condition"),
        ("(+ X_0 1)", 10, "`+` is no condition; and, or"),
        ("(<=X_0 1)", 10, "`<=X_0` is no condition"),
        ("(<= X_0 1) (<= X_1 1)", 1, "`assert` has 1 condition, not 2"),
    ] {
        let text = with_declarations(&format!("(assert {condition})"));
        let (invalid, line, found, message) = error(text.as_bytes());
        assert!(message.contains(part), "{condition}: {message}");
        assert_eq!((invalid, line, found), (true, 5, column), "{condition}: {message}");
    }
}

#[test]
fn invalid_files_are_refused() {
    for (text, line, column, part) in [
        ("", 1, 1, "no input X_0 is declared"),
        ("; nothing\n", 1, 10, "no input X_0 is declared"),
        ("(declare-const X_0 Real)\n\n", 1, 25, "no output Y_0 is declared"),
        ("x", 1, 1, "a command such as (assert …) is expected, not `x`"),
        ("\n (foo 1)", 2, 2, "`foo` is no command; declare-const"),
        ("((assert))", 1, 1, "a command such as (assert …) is expected, not a list"),
        ("(declare-const X_0)", 1, 1, "of the form (declare-const X_0 Real)"),
        ("(declare-fun X_0 Real)", 1, 1, "of the form (declare-fun X_0 () Real)"),
        ("(declare-const x Real)", 1, 16, "`x` is no variable of a network"),
        ("(declare-const X_0 Real)\n(declare-const X_0 Real)", 2, 16, "X_0 is declared twice"),
        (
            "(declare-const X_0 Real)(declare-const X_2 Real)",
            1,
            40,
            "X_1 is not declared, though X_2",
        ),
        ("(declare-const Y_18446744073709551615 Real)", 1, 16, "Y_0 is not declared"),
        ("(assert (<= X_0 1))", 1, 13, "not declared before"),
        ("(set-info :a \"b)", 1, 14, "before this string does"),
        ("(set-info :a |b)", 1, 14, "before this symbol does"),
        ("é (", 1, 1, "is expected, not `é`"),
        ("(é\n(", 1, 1, "2 `)` missing"),
        ("(a\u{0}b)", 1, 3, "control character (U+0000)"),
    ] {
        let (invalid, found_line, found_column, message) = error(text.as_bytes());
        assert!(message.contains(part), "{text}: {message}");
        assert_eq!((invalid, found_line, found_column), (true, line, column), "{text}: {message}");
    }
    let after = with_declarations("(check-sat)\n(assert (<= X_0 1))");
    assert_eq!(error(after.as_bytes()).1, 6);
    assert_eq!(error(b"(set-logic \xff)\n").2, 12, "not UTF-8");
}

#[test]
fn what_is_not_supported_says_so() {
    for (text, part) in [
        ("(vnnlib-version <2.0>)", "VNN-LIB 2.0"),
        ("(define-fun f () Real 1)", "the command `define-fun`"),
        ("(declare-const X_0 Int)", "of sort Real, not `Int`"),
        ("(declare-fun X_0 (Real) Real)", "functions without arguments"),
        (&with_declarations("(assert (=> (<= X_0 1) (<= X_1 1)))"), "`=>` is not supported"),
        (&with_declarations("(assert (!= X_0 1))"), "VNN-LIB 2.0"),
        (&with_declarations("(assert (<= (ite true X_0 1) 1))"), "`ite` is not supported"),
    ] {
        let (invalid, _, _, message) = error(text.as_bytes());
        assert!(!invalid && message.contains(part), "{text}: {message}");
    }
    let (invalid, _, _, message) = error(b"\x1f\x8b\x08\x00");
    assert!(!invalid && message.contains("gzip"), "{message}");
}

#[test]
fn limits() {
    let nested = |depth: usize| {
        let (open, close) = ("(not ".repeat(depth), ")".repeat(depth));
        with_declarations(&format!("(assert {open}(<= X_0 1){close})"))
    };
    assert_eq!(disjuncts(&property(&nested(MAX_DEPTH - 2))), [["1 x0 <= 1"]]);
    for depth in [MAX_DEPTH - 1, 1_000_000] {
        let (invalid, line, _, message) = error(nested(depth).as_bytes());
        assert!(!invalid && line == 5 && message.contains("500 deep"), "{message}");
    }
    let clause = "(assert (or (<= X_0 1) (<= Y_0 1)))";
    assert_eq!(of_assertions(&clause.repeat(15)).disjuncts.len(), 1 << 15);
    let (invalid, line, column, message) = error(with_declarations(&clause.repeat(17)).as_bytes());
    assert_eq!((invalid, line, column), (false, 5, 1));
    assert!(message.contains("1000000 inequalities"), "{message}");
    let product = format!("(assert (<= (* X_0{}) 1))", " 1e10000".repeat(20));
    let (invalid, _, _, message) = error(with_declarations(&product).as_bytes());
    assert!(!invalid && message.contains("too long"), "{message}");
}

#[test]
fn files() {
    let missing = read_property(Path::new("no/such.vnnlib")).expect_err("no file");
    assert!(missing.to_string().starts_with("no/such.vnnlib: "), "{missing}");
    let wrong = parse_property("p.vnnlib", b"(assert)").expect_err("no condition");
    assert_eq!(wrong.to_string(), "p.vnnlib:1:1: `assert` has 1 condition, not 0");
}
