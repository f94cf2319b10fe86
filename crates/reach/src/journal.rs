//! A journal of finished parts, so that an interrupted run resumes.
//!
//! One line of JSON for each part, after a line that says which run it belongs to. Each line has a
//! checksum of itself and the run: one that was cut off or changed is ignored, and its part is
//! computed again.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use policert_control_loop::{ClosedRange, ReachError};
use policert_numeric::{Interval, Rational};
use policert_outcome::text_digest;
use serde::{Deserialize, Serialize};

use crate::outcome::{Obstacle, ObstacleKind, PartOutcome};
use crate::reachable_sets::Part;

/// The journal of one run.
#[derive(Debug)]
pub struct ReachJournal {
    path: PathBuf,
    file: File,
    run: String,
    known: BTreeMap<Vec<(String, String)>, PartRecord>,
    failure: Option<std::io::Error>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    /// Version of this format.
    policert_reach_journal: u32,
    /// The digests of files and options on which the results depend.
    run: String,
}

const VERSION: u32 = 3;

/// A line about a part.
#[derive(Serialize, Deserialize)]
struct Line {
    record: PartRecord,
    /// SHA-256 of the run and the record.
    check: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct PartRecord {
    part: Vec<(String, String)>,
    boxes: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    goal_steps: Vec<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    absorbed_at: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut_off: Option<ObstacleRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    obstacle: Option<ObstacleRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decisive: Option<usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct ObstacleRecord {
    kind: ObstacleKind,
    step: u32,
    state: Vec<(f64, f64)>,
}

impl ReachJournal {
    /// Opens a journal: one of the same run is continued, a new one is begun where there is none.
    ///
    /// # Errors
    /// If the file cannot be used, or belongs to another run.
    pub fn open(path: &Path, run: &str) -> Result<Self, ReachError> {
        let io = |source| ReachError::Io { file: path.display().to_string(), source };
        let mut known = BTreeMap::new();
        let exists = path.metadata().is_ok_and(|metadata| metadata.len() > 0);
        if exists {
            let mut lines = BufReader::new(policert_files::open(path).map_err(io)?).lines();
            let header = lines.next().transpose().map_err(io)?.unwrap_or_default();
            match serde_json::from_str::<Header>(&header) {
                Ok(header) if header.policert_reach_journal == VERSION && header.run == run => {}
                Ok(_) => {
                    return Err(ReachError::Usage(format!(
                        "{}: the journal belongs to a run with other files or options",
                        path.display()
                    )));
                }
                Err(_) => {
                    return Err(ReachError::Usage(format!("{}: no journal", path.display())));
                }
            }
            for line in lines {
                if let Ok(Line { record, check }) = serde_json::from_str(&line.map_err(io)?)
                    && record.check(run).is_ok_and(|right| right == check)
                {
                    known.insert(record.part.clone(), record);
                }
            }
        }
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(io)?;
        // A line that was cut off is ended.
        let start = if exists {
            "\n".to_owned()
        } else {
            let header = Header { policert_reach_journal: VERSION, run: run.to_owned() };
            serde_json::to_string(&header).map_err(|error| io(error.into()))? + "\n"
        };
        file.write_all(start.as_bytes()).map_err(io)?;
        Ok(Self { path: path.to_owned(), file, run: run.to_owned(), known, failure: None })
    }

    /// Returns what is known about a part.
    #[must_use]
    pub fn outcome<R: ClosedRange>(&self, part: &Part) -> Option<PartOutcome<R>> {
        let record = self.known.get(&key(part))?;
        let mut outcome = PartOutcome::new();
        outcome.boxes.clone_from(&record.boxes);
        outcome.goal_steps.clone_from(&record.goal_steps);
        outcome.absorbed_at = record.absorbed_at;
        outcome.cut_off = record.cut_off.as_ref().map(ObstacleRecord::read);
        outcome.obstacle = record.obstacle.as_ref().map(ObstacleRecord::read);
        outcome.decisive = record.decisive;
        Some(outcome)
    }

    /// Adds a finished part. A failure is kept for [`ReachJournal::finish`].
    pub fn add<R: ClosedRange>(&mut self, part: &Part, outcome: &PartOutcome<R>) {
        let record = PartRecord {
            part: key(part),
            boxes: outcome.boxes.clone(),
            goal_steps: outcome.goal_steps.clone(),
            absorbed_at: outcome.absorbed_at,
            cut_off: outcome.cut_off.as_ref().map(ObstacleRecord::new),
            obstacle: outcome.obstacle.as_ref().map(ObstacleRecord::new),
            decisive: outcome.decisive,
        };
        let written = record
            .check(&self.run)
            .and_then(|check| serde_json::to_string(&Line { record, check }))
            .map_err(std::io::Error::from)
            .and_then(|line| self.file.write_all((line + "\n").as_bytes()));
        if let Err(error) = written {
            self.failure.get_or_insert(error);
        }
    }

    /// Checks whether all was written.
    ///
    /// # Errors
    /// The first failure.
    pub fn finish(&mut self) -> Result<(), ReachError> {
        match self.failure.take() {
            None => Ok(()),
            Some(source) => Err(ReachError::Io { file: self.path.display().to_string(), source }),
        }
    }
}

impl PartRecord {
    /// The checksum of the record in a journal of `run`.
    fn check(&self, run: &str) -> serde_json::Result<String> {
        Ok(text_digest(&format!("{run}\n{}", serde_json::to_string(self)?)))
    }
}

fn key(part: &Part) -> Vec<(String, String)> {
    let text = |value: &Rational| value.to_string();
    part.iter().map(|(lo, hi)| (text(lo), text(hi))).collect()
}

impl ObstacleRecord {
    fn new<R: ClosedRange>(obstacle: &Obstacle<R>) -> Self {
        let state = obstacle.state.iter().map(|range| {
            let outer = range.to_interval();
            (outer.lo().max(-f64::MAX), outer.hi().min(f64::MAX))
        });
        Self { kind: obstacle.kind, step: obstacle.step, state: state.collect() }
    }

    fn read<R: ClosedRange>(&self) -> Obstacle<R> {
        let range = |&(lo, hi): &(f64, f64)| {
            R::from_interval(Interval::new(lo, hi).unwrap_or(Interval::EVERYTHING))
        };
        Obstacle { kind: self.kind, step: self.step, state: self.state.iter().map(range).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A line that says less than it did must not make an unsafe loop a safe one.
    #[test]
    fn a_changed_line_is_not_believed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("j.jsonl");
        let part: Part = vec![(Rational::ZERO, Rational::ONE)];
        let mut outcome = PartOutcome::<Interval>::new();
        outcome.boxes = vec![1, 2];
        let state = vec![Interval::new(0.1, 0.3).expect("an interval")];
        outcome.obstacle = Some(Obstacle { kind: ObstacleKind::MissesGoal, step: 2, state });
        let known = |run: &str| {
            let journal = ReachJournal::open(&path, run).expect("a journal");
            journal.outcome::<Interval>(&part).map(|outcome| outcome.obstacle)
        };
        ReachJournal::open(&path, "run").expect("a journal").add(&part, &outcome);
        assert_eq!(known("run").map(|obstacle| obstacle.map(|o| o.step)), Some(Some(2)));
        assert!(ReachJournal::open(&path, "other run").is_err());
        let written = fs::read_to_string(&path).expect("a journal");
        let at = written.find(",\"obstacle\"").expect("an obstacle");
        let end = at + written[at..].find("]]}").expect("its end") + 3;
        fs::write(&path, format!("{}{}", &written[..at], &written[end..])).expect("written");
        assert!(known("run").is_none(), "the obstacle is missing");
        fs::write(&path, written.replace("\"step\":2", "\"step\":1")).expect("written");
        assert!(known("run").is_none(), "another step");
    }
}
