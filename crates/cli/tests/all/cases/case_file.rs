//! Reading `case.toml`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Value;

/// A case with all its runs.
#[derive(Debug)]
pub struct Case {
    /// Name of its folder.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its command, then the further ones.
    pub runs: Vec<Run>,
}

/// A command and what is expected of it.
#[derive(Debug, Deserialize)]
pub struct Run {
    /// The command line.
    pub command: String,
    /// The right answer.
    pub expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    #[serde(rename = "what")]
    _what: String,
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "checked_with")]
    _checked_with: String,
    #[serde(rename = "notes", default)]
    _notes: Option<String>,
    /// Without one the case is about reading its policy files only.
    command: Option<String>,
    expect: Value,
    #[serde(default)]
    also: Vec<Run>,
    /// Read by the program itself.
    #[serde(rename = "task", default)]
    _task: Option<toml::Table>,
}

/// The right answer of a command. An unknown key is an error: nothing that is expected may go
/// uncompared.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The verdict in a word.
    pub verdict: Option<String>,
    /// The answer to a query.
    pub answer: Option<String>,
    /// The exit code.
    pub exit: i32,
    /// Further verdicts that are honest.
    #[serde(default)]
    pub also_accepted: Vec<String>,
    /// Transitions of a shortest counterexample.
    pub steps: Option<u64>,
    /// Initial states of the model.
    pub initial_states: Option<u64>,
    /// States reachable from the start states.
    pub reachable_states: Option<u64>,
    /// Operators of the composed model.
    pub operators: Option<u64>,
    /// Those without label.
    pub silent_operators: Option<u64>,
    /// Labels that some operator carries.
    pub labels: Option<Vec<String>>,
    /// The exact value.
    pub value: Option<String>,
    /// An interval that the reported one must contain.
    pub probability: Option<[String; 2]>,
    /// Bounds the width of the reported one.
    pub width_at_most: Option<String>,
    /// Parts of the error message.
    #[serde(default)]
    pub mentions: Vec<String>,
    /// True if there is a warning.
    #[serde(default)]
    pub warning: bool,
    /// Parts of a warning.
    #[serde(default)]
    pub warning_mentions: Vec<String>,
    /// True if there is nothing to check.
    #[serde(default)]
    pub vacuous: bool,
    /// The only witness.
    pub witness: Option<toml::Table>,
    /// File with golden values of the policies.
    pub golden: Option<String>,
    /// Cells met: bounds of each.
    pub cells: Option<Vec<Vec<String>>>,
    /// First step at which all boxes are in the goal, -1 for never.
    pub goal_contained_at: Option<i64>,
    /// Boxes after one step: bounds of each.
    pub boxes_1: Option<Vec<Vec<String>>>,
    /// Boxes after two steps.
    pub boxes_2: Option<Vec<Vec<String>>>,
    /// Boxes after three steps.
    pub boxes_3: Option<Vec<Vec<String>>>,
    /// Boxes after four steps.
    pub boxes_4: Option<Vec<Vec<String>>>,
    /// Boxes after ten steps.
    pub boxes_10: Option<Vec<Vec<String>>>,
    /// A trajectory that shows the verdict, in words.
    #[serde(rename = "counterexample", default)]
    _counterexample: Option<String>,
}

impl Case {
    /// All cases of a group, by name.
    pub fn read_all(group: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(group).expect("the group's folder");
        let mut folders: Vec<PathBuf> =
            entries.map(|entry| entry.expect("an entry").path()).collect();
        folders.retain(|folder| folder.join("case.toml").is_file());
        folders.sort();
        folders.into_iter().map(Self::read).collect()
    }

    fn read(folder: PathBuf) -> Self {
        let file = folder.join("case.toml");
        let text = std::fs::read_to_string(&file).expect("case.toml");
        let case: CaseFile =
            toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let expect = |expect: Value| -> Expect {
            expect.try_into().unwrap_or_else(|e| panic!("{}: {e}", file.display()))
        };
        let first = case.command.map(|command| Run { command, expect: expect(case.expect) });
        let runs = first.into_iter().chain(case.also).collect();
        Self { name, folder, runs }
    }
}
