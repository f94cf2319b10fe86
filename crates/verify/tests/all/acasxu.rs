//! Queries about the ACAS Xu networks have the answers that all tools of the competition VNN-COMP
//! 2021 agreed on. A few of them by default, all if the environment variable `SLOW_TESTS` is 1.

use std::io::Write as _;
use std::time::{Duration, Instant};

use policert_engine_api::{CancelFlag, Limits, Silent};
use policert_query::{AnswerWord, QueryRequest, query};
use policert_testkit::shared_folder;

/// Every how many instances one is decided by default.
const STEP: usize = 5;
/// Instances of these properties take long.
const SLOW: [&str; 4] = ["prop_5.vnnlib", "prop_6.vnnlib", "prop_7.vnnlib", "prop_8.vnnlib"];

#[test]
fn answers_are_those_of_the_competition() {
    let Some(folder) = shared_folder("benchmarks/acasxu") else { return };
    let slow = policert_testkit::slow_tests();
    let list = std::fs::read_to_string(folder.join("instances.csv")).expect("instances.csv");
    let instances: Vec<Vec<&str>> =
        list.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(instances.len(), 76);
    let mut wrong = Vec::new();
    let mut compared = [0, 0];
    for (at, instance) in instances.iter().enumerate() {
        let [network, property, timeout, expected, ..] = instance[..] else {
            panic!("{instance:?}");
        };
        if !slow && (at % STEP != 0 || SLOW.contains(&property)) {
            continue;
        }
        let seconds = timeout.parse().expect("seconds");
        let limits = Limits { time: Some(Duration::from_secs(seconds)), ..Limits::default() };
        let request = QueryRequest {
            limits,
            ..QueryRequest::new(folder.join(network), folder.join(property))
        };
        let begin = Instant::now();
        let report = query(&request, &CancelFlag::default(), &mut Silent).report;
        let answer = report.answer.map_or("none", AnswerWord::as_str);
        let line = format!("{network} {property}: {answer} in {:.2?}", begin.elapsed());
        writeln!(std::io::stderr(), "{line}").expect("standard error");
        if answer != expected {
            wrong.push(format!("{line}, {expected} expected"));
        }
        compared[usize::from(expected == "sat")] += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared.iter().all(|&count| count > 0), "{compared:?}");
}
