//! What other programs call: the scripts of VNN-COMP, the modules for BenchExec and Lab.

use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root").to_path_buf()
}

/// Runs a script of VNN-COMP; true if it ended with 0.
fn script(name: &str, arguments: &[&str]) -> bool {
    Command::new(repository().join("tools/ecosystem/vnncomp").join(name))
        .args(arguments)
        .current_dir(repository())
        .env("POLICERT", env!("CARGO_BIN_EXE_policert"))
        .status()
        .expect("a script")
        .success()
}

#[test]
fn vnncomp_gets_one_word_and_a_witness() {
    let folder = tempfile::tempdir().expect("a folder");
    let answer = folder.path().join("answer.txt");
    let results = answer.to_str().expect("UTF-8");
    let property = "examples/queries/brakes_on_ice.vnnlib";
    for (network, word) in [
        ("examples/icy_road/careful.onnx", "sat"),
        ("examples/icy_road/no_such.onnx", "error"),
        ("examples/icy_road/model.jani", "error"),
    ] {
        let instance = ["v1", "icy", network, property];
        assert_eq!(script("prepare_instance.sh", &instance), !network.contains("no_such"));
        assert!(script("run_instance.sh", &["v1", "icy", network, property, results, "60"]));
        let text = std::fs::read_to_string(&answer).expect("an answer");
        assert_eq!(text.lines().next(), Some(word), "{network}: {text}");
        assert_eq!(text.contains("X_0"), word == "sat", "{text}");
    }
    assert!(!script("run_instance.sh", &["v2"]), "another version of the scripts");
}

/// The modules with what they use of BenchExec and Lab; with the packages themselves, each was tried by hand.
const MODULES: &str = r#"
import json, sys, types
from pathlib import Path
def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
names = ["TRUE_PROP", "FALSE_PROP", "UNKNOWN", "TIMEOUT", "ERROR", "DONE"]
module("benchexec.result", **{"RESULT_" + name: name for name in names})
module("benchexec", result=sys.modules["benchexec.result"])
module("benchexec.tools")
module("benchexec.tools.template", BaseTool2=object)
class Parser:
    def add_function(self, function, file): self.function = function
module("lab")
module("lab.parser", Parser=Parser)
sys.path.insert(0, "tools")
from ecosystem.benchexec_tool import Tool
from ecosystem.lab_parser import PolicertParser
def line(model, **options):
    task = types.SimpleNamespace(single_input_file=model, options=options)
    return Tool().cmdline("policert", ["--engine", "ppa"], task, types.SimpleNamespace(cputime=60))
blocks = "benchmarks/blocksworld_4_ci"
assert line(f"{blocks}/blocksworld_4_3.jani", property="pa_blocksworld_4_3.jani:0", filter="applicable") == [
    "policert", "verify", f"{blocks}/blocksworld_4_3.jani", "--property", f"{blocks}/pa_blocksworld_4_3.jani:0",
    "--filter", "applicable", "--engine", "ppa", "--timeout", "59s"]
assert "careful" in line("examples/icy_road/model.jani", property="careful")
class Props(dict):
    errors = []
    def add_unexplained_error(self, text): self.errors.append(text)
props = Props()
PolicertParser().function(Path(sys.argv[1]).read_text(), props)
assert (props["verdict"], props["solved"], props["reachable_states"]) == ("unsafe", 1, 62), props
PolicertParser().function("", props)
assert len(props.errors) == 1
"#;

#[test]
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn modules_for_benchexec_and_lab_say_what_is_run_and_what_came_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let result = folder.path().join("result.json");
    let run = Command::new(env!("CARGO_BIN_EXE_policert"))
        .args(["verify", "examples/icy_road/model.jani", "--property", "hasty", "--json"])
        .arg(&result)
        .current_dir(repository())
        .output()
        .expect("policert runs");
    assert_eq!(run.status.code(), Some(10));
    let Ok(output) = Command::new("python3")
        .args(["-c", MODULES])
        .arg(&result)
        .current_dir(repository())
        .output()
    else {
        eprintln!("left out: there is no Python");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
