//! The run of the README as a program: one of the two networks of the icy road drives too fast.

use std::io::{self, Write as _};

use policert_verify::{CancelFlag, ProblemOptions, Request, Silent, VerdictWord, verify};

fn main() -> io::Result<()> {
    writeln!(io::stdout(), "{}", answer())
}

fn answer() -> String {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/icy_road/model.jani");
    let mut problem = ProblemOptions::new(model.as_ref());
    problem.property = Some("hasty".to_owned());
    let outcome = verify(&Request::new(problem), &CancelFlag::default(), &mut Silent);
    match (outcome.report.verdict, outcome.report.trace) {
        (VerdictWord::Unsafe, Some(trace)) => format!("unsafe in {} steps", trace.steps.len()),
        (verdict, _) => format!("{verdict:?}: {}", outcome.reason.unwrap_or_default()),
    }
}

#[test]
fn the_program_says_what_the_readme_says() {
    assert_eq!(answer(), "unsafe in 7 steps");
}
