//! Readings, as text with all brackets.

use proptest::prelude::*;

use super::*;
use crate::tokens;

/// Writes what it is told.
struct Writer;

impl Meaning for Writer {
    type Value = String;

    fn number(&mut self, _: usize, value: &Rational) -> Result<String, SyntaxProblem> {
        Ok(value.to_string())
    }

    fn truth(&mut self, _: usize, value: bool) -> Result<String, SyntaxProblem> {
        Ok(value.to_string())
    }

    fn name(&mut self, _: usize, name: &str) -> Result<String, SyntaxProblem> {
        Ok(name.to_owned())
    }

    fn unary(&mut self, _: usize, op: Unary, a: String) -> Result<String, SyntaxProblem> {
        Ok(format!("{op:?}({a})"))
    }

    fn binary(
        &mut self,
        _: usize,
        op: Binary,
        [a, b]: [String; 2],
    ) -> Result<String, SyntaxProblem> {
        Ok(format!("{op:?}({a}, {b})"))
    }

    fn choice(&mut self, _: usize, [c, a, b]: [String; 3]) -> Result<String, SyntaxProblem> {
        Ok(format!("Choice({c}, {a}, {b})"))
    }

    fn element(&mut self, _: usize, array: String, index: String) -> Result<String, SyntaxProblem> {
        Ok(format!("Element({array}, {index})"))
    }

    fn call(
        &mut self,
        _: usize,
        name: &str,
        arguments: Vec<String>,
    ) -> Result<String, SyntaxProblem> {
        Ok(format!("{name}({})", arguments.join(", ")))
    }
}

fn written(text: &str) -> Result<String, SyntaxProblem> {
    read(&tokens(text, &[]), &mut Writer)
}

#[test]
fn operators_bind_as_the_table_says() {
    for (texts, reading) in [
        (
            &["a = 1 && b >= 2", "a == 1 and b ≥ 2", "(a = 1) ∧ (b >= 2)", "((a) = (1)) & b >= 2"]
                [..],
            "And(Equal(a, 1), AtLeast(b, 2))",
        ),
        (
            &["a || b && !c", "a | b & not c", "a ∨ (b ∧ ¬c)", "a or (b and (not c))"],
            "Or(a, And(b, Not(c)))",
        ),
        (&["a => b => c", "a ⇒ (b -> c)"], "Implies(a, Implies(b, c))"),
        (&["not a < 1", "!(a < 1)"], "Not(Less(a, 1))"),
        (&["-a^2^b + 1", "−(a ** (2 ^ b)) + 1"], "Add(Minus(Power(a, Power(2, b))), 1)"),
        (&["2^-a"], "Power(2, Minus(a))"),
        (&["a - b - c * d % e"], "Subtract(Subtract(a, b), Modulo(Multiply(c, d), e))"),
        (
            &["1 if a < b else 2 if c else 3", "1 if (a < b) else (2 if (c) else 3)"],
            "Choice(Less(a, b), 1, Choice(c, 2, 3))",
        ),
        (&["f(a, 1 < 2)[3]"], "Element(f(a, Less(1, 2)), 3)"),
        (&["'if' + \"a b\""], "Add(if, a b)"),
        (&[".5 + 1. + 2e-1"], "Add(Add(1/2, 1), 1/5)"),
        (&["f()"], "f()"),
    ] {
        for text in texts {
            assert_eq!(written(text).as_deref(), Ok(reading), "{text}");
        }
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    for (text, at, message) in [
        ("", 0, "an operand expected"),
        ("a b", 1, "an operator or the end expected"),
        ("a < b < c", 3, "comparisons in a row: join two of them by `&&`"),
        ("(a", 2, "`)` expected"),
        ("1 if a", 3, "`else` expected"),
        ("if", 0, "an operand expected"),
        ("a § b", 1, "an operator or the end expected"),
        ("f(a b)", 3, "`)` expected"),
    ] {
        assert_eq!(written(text), Err(SyntaxProblem::new(at, message)), "{text}");
    }
}

#[test]
fn no_text_is_too_deep_or_too_long() {
    for open in ["(", "-", "!", "f(", "a[", "2^", "1 if a else "] {
        let text = open.repeat(20_000) + "a";
        let problem = written(&text).expect_err("too deep");
        assert!(problem.message.contains("levels deep"), "{open}: {}", problem.message);
    }
    assert!(written(&vec!["a"; 2000].join(" + ")).is_ok());
    assert!(written(&vec!["a"; 2000].join(" && ")).is_ok());
}

proptest! {
    #[test]
    fn any_text_is_survived(
        any in ".{0,30}",
        likely in "(a|1|if|else|not|[0-9.e]|f\\(|[()\\[\\], '\"&|!=<>+*/%^-]|≤|true){0,16}",
    ) {
        for text in [any, likely] {
            let pieces = tokens(&text, &[]);
            if let Err(problem) = read(&pieces, &mut Writer) {
                prop_assert!(problem.at < pieces.len());
            }
        }
    }
}
