//! A small model with a policy, written into a folder of its own: a walker on a line of
//! `LENGTH + 1` fields, who may `go` or `rest`. The policy goes while x is below 5.

use std::path::PathBuf;
use std::process::{Command, Output};

use super::program::policert;

/// A folder with `model.jani`, `policy.jani2nnet` and `policy.nnet`.
pub struct Example {
    folder: tempfile::TempDir,
}

/// The last field.
pub const LENGTH: i64 = 9;

impl Example {
    /// The example as it should be: property 0 (`far`, x ≥ 7) is safe, with predicates that prove
    /// it; property 1 (`middle`, x ≥ 4) is unsafe in 4 steps, each a step of the abstraction; for
    /// property 2 (`coarse`, x ≥ 9) there are no predicates.
    pub fn new() -> Self {
        let example = Self { folder: tempfile::tempdir().expect("a folder") };
        example.write("model.jani", &model());
        example.write("policy.jani2nnet", INTERFACE);
        example.write("policy.nnet", NETWORK);
        example
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file of the example");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file of the example")
    }

    /// Replaces a text that occurs once in a file.
    pub fn replace(&self, name: &str, old: &str, new: &str) {
        let text = self.read(name);
        assert_eq!(text.matches(old).count(), 1, "`{old}` in {name}");
        self.write(name, &text.replace(old, new));
    }

    pub fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().expect("policert runs")
    }

    pub fn command(&self, arguments: &str) -> Command {
        policert(self.folder.path(), arguments)
    }
}

fn model() -> String {
    let property = |name: &str, bound: i64, predicates: &str| {
        format!(
            r#"{{"name": "{name}", "expression": {{"op": "PA", "file": "policy.jani2nnet",
   "reach": {{"op": "state-condition", "exp": {{"op": "≤", "left": {bound}, "right": "x"}}}},
   "predicates": [{predicates}]}}}}"#
        )
    };
    let at_most = |bound: i64| format!(r#"{{"op": "≤", "left": "x", "right": {bound}}}"#);
    let fine: Vec<String> = (0..4).map(at_most).collect();
    let properties = [
        property("far", 7, &format!("{}, {}", at_most(5), at_most(4))),
        property("middle", 4, &fine.join(", ")),
        property("coarse", 9, ""),
    ];
    format!(
        r#"{{
 "jani-version": 1,
 "name": "walker",
 "type": "lts",
 "actions": [{{"name": "go"}}, {{"name": "rest"}}],
 "constants": [{{"name": "STEP", "type": "int", "value": 1}}],
 "variables": [
  {{"name": "x", "initial-value": 0,
   "type": {{"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": {LENGTH}}}}}
 ],
 "properties": [{}],
 "automata": [
  {{
   "name": "walker",
   "locations": [{{"name": "line"}}],
   "initial-locations": ["line"],
   "edges": [
    {{"location": "line", "action": "go",
     "guard": {{"exp": {{"op": "<", "left": "x", "right": {LENGTH}}}}},
     "destinations": [{{"location": "line",
      "assignments": [{{"ref": "x", "value": {{"op": "+", "left": "x", "right": "STEP"}}}}]}}]}},
    {{"location": "line", "action": "rest", "destinations": [{{"location": "line"}}]}}
   ]
  }}
 ],
 "system": {{
  "elements": [{{"automaton": "walker"}}],
  "syncs": [
   {{"synchronise": ["go"], "result": "go"}},
   {{"synchronise": ["rest"], "result": "rest"}}
  ]
 }}
}}
"#,
        properties.join(",\n")
    )
}

const INTERFACE: &str = r#"{
 "file": "policy.nnet",
 "filter": false,
 "elements": [2],
 "input": [{"name": "x", "automaton": null}],
 "output": ["go", "rest"]
}
"#;

/// Scores 5 - x + relu(x - 5) for `go` and 0 + relu(x - 5) + 1/2 for `rest`, so that `go` wins
/// as long as x is below 5.
const NETWORK: &str = "\
// go while x is below 5
2,1,2,2,
1,2,2,
0,
0.0,
9.0,
0.0,0.0,
1.0,1.0,
1.0,
1.0,
0.0,
-5.0,
-1.0,1.0,
0.0,1.0,
5.0,
0.5,
";
