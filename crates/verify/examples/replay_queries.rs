//! Asks the queries of a query log again, in their order, and says how long the decision oracle
//! takes: with one decision map for each region, as engines use it; with one oracle, each query on
//! its own; and with a new oracle for each query. Every answer is compared with the recorded one.
//!
//!     cargo run --release -p policert-verify --example replay_queries -- queries.jsonl

#![expect(clippy::print_stdout, reason = "a program")]

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use policert_bounds::{DecisionMap, Oracle, SelectionQuery};
use policert_engine_api::Budget;
use policert_model::{Condition, LabelId, VarId};
use policert_numeric::IntBox;
use policert_policy::trees::{IntegerTrees, Rounds};
use policert_policy::{Policy, PolicySemantics, read_network, read_trees};
use policert_verify::query_log::{
    AnswerRecord, ConditionRecord, QueryLogHeader, QueryRecord, SideRecord,
};

/// A query of the log, ready to be asked.
struct Query {
    region: u64,
    output: usize,
    relaxed: bool,
    sides: IntBox,
    conditions: Vec<Condition>,
    refuted: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: replay_queries FILE")?;
    let mut lines = BufReader::new(std::fs::File::open(PathBuf::from(path))?).lines();
    let header: QueryLogHeader = serde_json::from_str(&lines.next().ok_or("an empty file")??)?;
    let policy = policy(&header)?;
    let queries: Vec<Query> = lines.map(|line| query(&line?)).collect::<Result<_, _>>()?;
    let applicable = conditions(header.applicable.as_deref().unwrap_or_default())?;
    for sharing in [Sharing::Map, Sharing::Oracle, Sharing::Nothing] {
        let (time, other) = replay(&policy, &applicable, &queries, sharing)?;
        let how = sharing.name();
        println!(
            "{how}: {} queries in {:.4} s, {other} answers differ",
            queries.len(),
            time.as_secs_f64()
        );
    }
    Ok(())
}

/// The work that queries share.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    /// Those of one region a decision map, all one oracle.
    Map,
    /// One oracle.
    Oracle,
    /// Nothing: each has an oracle of its own, made anew.
    Nothing,
}

impl Sharing {
    fn name(self) -> &'static str {
        match self {
            Self::Map => "one map for each region",
            Self::Oracle => "one oracle",
            Self::Nothing => "a new oracle for each query",
        }
    }
}

/// Time and number of answers that differ from the recorded ones.
fn replay(
    policy: &Policy,
    applicable: &[Condition],
    queries: &[Query],
    sharing: Sharing,
) -> Result<(Duration, usize), Box<dyn Error>> {
    let oracle = &mut Oracle::new(policy, applicable.to_vec());
    let budget = &mut Budget::unlimited();
    let mut map: Option<(u64, DecisionMap)> = None;
    let mut other = 0;
    let begin = Instant::now();
    for query in queries {
        let conditions: Vec<&Condition> = query.conditions.iter().collect();
        let asked =
            SelectionQuery { region: &query.sides, conditions: &conditions, output: query.output };
        if sharing == Sharing::Nothing {
            *oracle = Oracle::new(policy, applicable.to_vec());
        }
        let refuted = if query.relaxed {
            oracle.decide_relaxed(&asked, budget)?.refuted()
        } else if sharing == Sharing::Map {
            // The first query about a region is the one about all of it.
            let map = match &mut map {
                Some((region, map)) if *region == query.region => map,
                other => {
                    &mut other.insert((query.region, DecisionMap::new(oracle, &query.sides))).1
                }
            };
            map.decide(oracle, &asked, budget)?.refuted()
        } else {
            oracle.decide(&asked, budget)?.refuted()
        };
        other += usize::from(refuted != query.refuted);
    }
    Ok((begin.elapsed(), other))
}

fn query(line: &str) -> Result<Query, Box<dyn Error>> {
    let record: QueryRecord = serde_json::from_str(line)?;
    Ok(Query {
        region: record.region,
        output: record.output,
        relaxed: record.relaxed,
        sides: sides(&record.sides),
        conditions: conditions(&record.conditions)?,
        refuted: record.answer == AnswerRecord::Refuted,
    })
}

fn sides(records: &[SideRecord]) -> IntBox {
    IntBox::new(records.iter().map(|side| side.interval()).collect())
}

fn conditions(records: &[ConditionRecord]) -> Result<Vec<Condition>, Box<dyn Error>> {
    let condition = |record: &ConditionRecord| {
        record.condition().ok_or_else(|| format!("a condition is only a text: {record:?}").into())
    };
    records.iter().map(condition).collect()
}

/// The policy of the log; labels are numbered as the outputs.
fn policy(header: &QueryLogHeader) -> Result<Policy, Box<dyn Error>> {
    let domains: Vec<SideRecord> = header.variables.iter().map(|v| v.domain).collect();
    let inputs = header.inputs.iter().map(|&v| VarId::new(v)).collect();
    let outputs = (0..header.outputs.len()).map(LabelId::new).collect();
    let semantics = PolicySemantics {
        ties: header.ties,
        filter: header.filter,
        numbers: header.numbers,
        ..PolicySemantics::default()
    };
    let domains = sides(&domains);
    Ok(match read_trees(&header.network, Rounds::Best)? {
        Some(mut file) => {
            if header.trees.is_some_and(|trees| trees != file.ensemble.trees().len()) {
                file = read_trees(&header.network, Rounds::All)?.ok_or("no trees")?;
            }
            let ensemble = file.fitted(header.inputs.len(), header.outputs.len());
            Policy::of_trees(IntegerTrees::new(&ensemble)?, inputs, outputs, semantics, &domains)?
        }
        None => {
            let network = read_network(&header.network)?.network;
            Policy::new(network, inputs, outputs, semantics, &domains)?
        }
    })
}
