//! The policies of the collection in single precision: the verdict is that of the card, or it is said why not.

use std::fmt::Write as _;

use policert_engine_api::Budget;
use policert_outcome::{Remarks, VerdictWord};
use policert_policy::Numbers;
use policert_problem::{Problem, ProblemOptions};
use policert_testkit::shared_folder;
use policert_verify::Request;

use super::expected::Card;
use super::{answer, folders, options, policies};

/// Folders whose policies are refused, with words of the reason.
const REFUSED: &[(&str, &str)] = &[("lgb-linear-tree", "linear leaf")];

#[test]
fn every_policy_that_is_known_is_answered_in_single_precision() {
    let Some(collection) = shared_folder("benchmarks/policies") else { return };
    let (mut answered, mut failures) = (0, String::new());
    for folder in folders(&collection) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if folder.join("task.toml").exists() {
            continue;
        }
        let card = Card::read(&folder);
        let expected = if card.is_safe { VerdictWord::Safe } else { VerdictWord::Unsafe };
        let reason = REFUSED.iter().find(|(refused, _)| *refused == name).map(|(_, why)| why);
        for file in policies(&folder) {
            let options = ProblemOptions {
                property: Some("safe".to_owned()),
                numbers: Some(Numbers::F32),
                ..options(&folder, &name, &file)
            };
            let (budget, mut remarks) = (Budget::unlimited(), Remarks::default());
            let problem = Problem::load_any(&options, &budget, &mut remarks);
            let verdict = problem.map_err(|failure| failure.to_string()).and_then(|problem| {
                let mut request = Request::new(problem);
                request.engine = "explicit".to_owned();
                answer(&request).map(|report| report.verdict)
            });
            let is_expected = match (&verdict, reason) {
                (Ok(verdict), None) => *verdict == expected,
                (Err(message), Some(why)) => message.contains(*why),
                (Ok(_), Some(_)) | (Err(_), None) => false,
            };
            answered += usize::from(verdict.is_ok());
            if !is_expected {
                let _ = writeln!(failures, "{name}, {}: {verdict:?}", file.display());
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(answered > 60, "{answered}");
}
