//! `policert bench`: runs in processes of their own, a journal that survives, tables and figures.

use std::ffi::OsString;

use crate::support::example::Example;
use crate::support::program::{code, text};

const SUITE: &str = r#"
name = "Walker"
folder = "."
seconds = 60
memory = "4GB"
[[instance]]
name = "far"
arguments = ["model.jani", "--property", "0"]
values = { shares = ["--predicates", "splits:{share}"] }
axes = { share = [50, 100] }
[[instance]]
name = "middle"
arguments = ["model.jani", "--property", "1"]
values = { shares = [] }
[[configuration]]
name = "native"
arguments = ["--engine", "ppa", "{shares}"]
[[configuration]]
name = "explicit"
arguments = ["--engine", "explicit"]
[[figure]]
name = "figure1-time"
title = "time by configuration"
kind = "lines"
x = "share"
each = ["instance"]
[[table]]
name = "sizes"
title = "Sizes <of> the abstraction"
rows = "instances"
columns = [{ title = "reachable", measure = "statistics.reachable_states" }]
[[published]]
beside = "sizes"
source = "A paper, Table 9"
columns = ["instance", "reachable"]
rows = [["far", "7"]]
"#;

#[test]
fn a_study_goes_on_where_it_was() {
    let example = Example::new();
    let suite =
        SUITE.replace("\"model.jani\",", "\"model.jani\", \"--interface\", \"policy.jani2nnet\",");
    example.write("suite.toml", &suite);
    let none = example.run("bench run suite.toml --journal study.jsonl --resume");
    assert_eq!(code(&none), 42, "there is nothing to go on with: {}", text(&none));
    assert!(text(&none).contains("--resume has no effect"), "{}", text(&none));
    let first = example.run("bench run suite.toml --journal study.jsonl --only native");
    assert_eq!(code(&first), 0, "{}", text(&first));
    assert!(text(&first).contains("3 of 3 runs are finished, 3 of them now"), "{}", text(&first));
    let again = example.run("bench run suite.toml --journal study.jsonl");
    assert_eq!(code(&again), 42, "a journal is not overwritten: {}", text(&again));
    // The last line was cut off while it was written.
    let journal = example.read("study.jsonl");
    assert_eq!(journal.lines().count(), 3, "{journal}");
    example.write("study.jsonl", &journal[..journal.len() - 20]);
    let more = example.run("bench run suite.toml --journal study.jsonl --resume");
    assert!(text(&more).contains("5 of 5 runs are finished, 3 of them now"), "{}", text(&more));
    let journal = example.read("study.jsonl");
    assert_eq!(journal.lines().count(), 5);
    assert_eq!(journal.matches("\"verdict\":\"unsafe\"").count(), 2, "{journal}");

    let report =
        example.run("bench report suite.toml --journal study.jsonl --out out --figures png");
    assert_eq!(code(&report), 0, "{}", text(&report));
    let table = example.read("out/report.md");
    for part in [
        "# Walker",
        "## far",
        "| native | share 50 |",
        "| explicit |  | safe |",
        "### Published: A paper, Table 9",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert_eq!(example.read("out/runs.csv").lines().count(), 6);
    let figure = std::fs::read(example.path("out/figure1-time-far.png")).expect("a figure");
    assert!(figure.starts_with(b"\x89PNG"));
    let page = example.read("out/report.html");
    for part in [
        "<h1>Walker</h1>",
        "<img src=\"data:image/svg+xml;base64,",
        "Sizes &lt;of&gt; the abstraction",
        "Published: A paper, Table 9",
        "<a href=\"#run-0\">far</a>",
        "policert verify model.jani --interface policy.jani2nnet --property 0 --engine ppa",
        "<dt>reachable states</dt>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(page.matches("<script").count(), 1, "only ours");

    // What has changed is run again, and a report of what was leaves it out or says so.
    example.write("other.toml", &suite.replace("\"ppa\"", "\"cegar\""));
    let report = example.run("bench report other.toml --journal study.jsonl --out other");
    assert_eq!(code(&report), 0, "{}", text(&report));
    let table = example.read("other/report.md");
    assert!(table.contains("Left out, because the suite has other options now"), "{table}");
    assert!(!table.contains("| native | share 50 |"), "{table}");
    let run = |options: &str| {
        let line = format!("bench run other.toml --resume --journal study.jsonl {options}");
        text(&example.run(&line))
    };
    let other = run("");
    assert!(other.contains("is run again: other options"), "{other}");
    assert!(other.contains("5 of 5 runs are finished, 3 of them now"), "{other}");
    // So is every run that reads a file that has changed.
    example.replace("policy.nnet", "-1.0,1.0,", "-1.0,1.5,");
    let report = example.run("bench report other.toml --journal study.jsonl --out other");
    assert_eq!(code(&report), 0, "{}", text(&report));
    let table = example.read("other/report.md");
    assert!(table.contains("policy.nnet was another file"), "{table}");
    let changed = run("");
    assert!(changed.contains("policy.nnet was another file"), "{changed}");
    assert!(changed.contains("5 of 5 runs are finished, 5 of them now"), "{changed}");
    let unchanged = run("");
    assert!(unchanged.contains("5 of 5 runs are finished, 0 of them now"), "{unchanged}");
    let limits = run("--timeout 59s");
    assert!(limits.contains("is run again: other limits (60 s, 4GB)"), "{limits}");

    example.write("third.toml", &suite.replace("\"far\"", "\"near\""));
    for command in ["run third.toml --resume", "report third.toml --out o"] {
        let third = example.run(&format!("bench {command} --journal study.jsonl"));
        assert_eq!(code(&third), 42, "{}", text(&third));
        assert!(text(&third).contains("one of another suite"), "{}", text(&third));
    }
}

#[test]
fn only_what_is_there_can_be_chosen() {
    let example = Example::new();
    example.write("suite.toml", SUITE);
    let none = example.run("bench run suite.toml --journal j --only nothing");
    assert_eq!(code(&none), 42, "{}", text(&none));
    assert!(text(&none).contains("there are far, middle, native, explicit"), "{}", text(&none));
    assert!(!example.path("j").exists());
    let at_50 = example.run("bench run suite.toml --journal j --only 50");
    assert!(text(&at_50).contains("1 of 1 runs are finished"), "{}", text(&at_50));
}

#[test]
fn a_configuration_has_its_own_limits_and_probabilities_are_kept() {
    let example = Example::new();
    let limited = r#""--engine", "prob", "--timeout=9s", "--memory", "3GB""#;
    let suite = SUITE
        .replace("\"model.jani\",", "\"model.jani\", \"--interface\", \"policy.jani2nnet\",")
        .replace(r#""--engine", "ppa", "{shares}""#, limited)
        .replace("name = \"middle\"", "name = \"middle\"\ndomain = \"walk\"")
        .replacen("memory = \"4GB\"", "memory = \"4GB\"\ncertify = true", 1);
    example.write("suite.toml", &suite);
    let run = example.run("bench run suite.toml --journal j");
    assert_eq!(code(&run), 0, "{}", text(&run));
    let report = example.run("bench report suite.toml --journal j --out out");
    assert_eq!(code(&report), 0, "{}", text(&report));
    let (csv, table) = (example.read("out/runs.csv"), example.read("out/report.md"));
    let middle = csv.lines().find(|line| line.starts_with("middle,native,probability,"));
    assert!(middle.is_some_and(|line| line.contains(",1,1,1,yes,")), "{csv}");
    assert!(table.contains("| unsafe | certified |"), "{table}");
    assert!(table.contains("| probability: 1 |"), "{table}");
    assert!(table.contains("## Evidence, and its check"), "{table}");
    assert!(table.contains("Medians of these: 0.0"), "{table}");
    assert!(table.contains("| native | **1 (1)** | **1 (1)** |"), "{table}");
    assert!(table.contains("| policy.nnet | "), "{table}");
}

#[test]
fn suites_are_checked() {
    let example = Example::new();
    for (old, new, part) in [
        ("name = \"Walker\"", "", "missing field `name`"),
        ("seconds = 60", "seconds = 0", "no positive number"),
        ("name = \"middle\"", "name = \"far\"", "the name `far` is there twice"),
        ("kind = \"lines\"", "kind = \"pictures\"", "unknown variant `pictures`"),
        ("x = \"share\"", "", "`figure1-time`: `x` is missing"),
        ("splits:{share}", "splits:{shares", "a brace is written twice"),
        ("splits:{share}", "splits:{part}", "there is no value part"),
        ("share = [50, 100]", "share = [50, 50]", "the axis share has 50 twice"),
        ("share = [50, 100]", "share = []", "the axis share has no value"),
        ("beside = \"sizes\"", "beside = \"size\"", "there is no table or figure `size`"),
        ("rows = [[\"far\", \"7\"]]", "rows = [[\"far\"]]", "a row has 1 cells"),
        (
            "\"--engine\", \"explicit\"]",
            "\"--engine\", \"explicit\"]\nprogram = \"x\"",
            "go together",
        ),
        ("name = \"far\"\n", "name = \"far\"\ncommand = \"plot\"\n", "there is no command `plot`"),
    ] {
        example.write("suite.toml", SUITE);
        example.replace("suite.toml", old, new);
        let output = example.run("bench run suite.toml --journal j");
        assert_eq!(code(&output), 40, "{part}: {}", text(&output));
        assert!(text(&output).contains(part), "{part}: {}", text(&output));
    }
    let output = example.run("bench report missing.toml --journal j --out o");
    assert_eq!(code(&output), 40, "{}", text(&output));
}

/// Other commands, other programs, generated files, and what the system measures.
#[test]
fn a_study_runs_every_command() {
    let example = Example::new();
    example.write(
        "suite.toml",
        r#"
name = "All"
folder = "."
seconds = 30
memory = "4GB"
cpu_seconds = 60
quick = { seconds = 10, axes = { n = [2] }, instances = ["tiles", "sum"] }
[[prepare]]
makes = "tiles-{n}"
arguments = ["generate", "npuzzle", "{n}", "2", "--output", "{work}/tiles-{n}"]
axes = { n = [2, 3] }
[[instance]]
name = "tiles"
command = "check"
arguments = ["{work}/tiles-{n}/npuzzle_{n}_2.jani"]
axes = { n = [2, 3] }
[[instance]]
name = "walk"
command = "simulate"
arguments = ["model.jani", "--runs", "3"]
[[instance]]
name = "sum"
arguments = ["model.jani"]
values = { a = 3 }
[[configuration]]
name = "as it is"
command = "check"
[[configuration]]
name = "seed"
command = "simulate"
arguments = ["--seed", "{seed}"]
axes = { seed = [1, 2] }
[[configuration]]
name = "echo"
program = "sh"
arguments = ["-c", "echo 'Result: 0.{a}, exact'; echo 'x ; y' >&2"]
reads = [
  { line = "no such*line", verdict = "safe" },
  { line = "Result: {value}", verdict = "probability" },
]
[[configuration]]
name = "sleeper"
program = "sh"
arguments = ["-c", "sleep 1000 & sleep 0.2; exit 3"]
reads = [{ line = "safe", verdict = "safe" }]
"#,
    );
    let run = example.run("bench run suite.toml --journal study.jsonl --jobs 2");
    assert_eq!(code(&run), 0, "{}", text(&run));
    assert!(text(&run).contains("tiles-2 is made"), "{}", text(&run));
    assert!(text(&run).contains("6 of 6 runs are finished"), "{}", text(&run));
    // What a changed command makes takes the place of what the earlier one made.
    let suite = example.read("suite.toml");
    let seeded = suite.replace("\"2\", \"--output\"", "\"2\", \"--seed\", \"7\", \"--output\"");
    assert_ne!(suite, seeded);
    example.write("suite.toml", &seeded);
    let again = example.run("bench run suite.toml --journal study.jsonl --resume");
    assert_eq!(code(&again), 0, "{}", text(&again));
    assert!(text(&again).contains("tiles-2 is made"), "{}", text(&again));
    let report = example.run("bench report suite.toml --journal study.jsonl --out out");
    assert_eq!(code(&report), 0, "{}", text(&report));
    let csv = example.read("out/runs.csv");
    for line in [
        "tiles,as it is,2,,done,0,",
        "tiles,as it is,3,,done,0,",
        "walk,seed,,2,done,0,",
        "sum,echo,,,probability,0,",
        "sum,sleeper,,,none,3,",
    ] {
        assert!(csv.lines().any(|known| known.starts_with(line)), "{line}: {csv}");
    }
    assert!(csv.contains(",0.3,,,,\n"), "the value of the other program: {csv}");
    let journal = example.read("study.jsonl");
    assert_eq!(journal.matches("\"cpu_s\":").count(), 6, "{journal}");
    assert!(journal.contains("{work}/tiles-2/npuzzle_2_2.jani"), "no path of a machine: {journal}");
    // Generated files are made once, and again when they are asked for in another way.
    let again = example.run("bench run suite.toml --journal study.jsonl --resume");
    assert!(!text(&again).contains("is made"), "{}", text(&again));
    assert!(text(&again).contains("0 of them now"), "{}", text(&again));
    let quick = example.run("bench run suite.toml --journal quick.jsonl --quick");
    assert!(text(&quick).contains("3 of 3 runs are finished"), "{}", text(&quick));
}

/// Stands for the Python package and Ray: it runs what it is asked to in a folder of its own.
const CLUSTER: &str = r#"
import json, pathlib, subprocess, sys, tempfile
print(json.dumps({"version": "VERSION"}), flush=True)
assert sys.argv[1:] == ["-m", "policert.ray", "here:1"], sys.argv
tasks = [json.loads(line) for line in iter(sys.stdin.readline, "\n")]
for task in reversed(tasks):
    if "FAILS" in task["words"]:
        print(json.dumps({"task": task["task"], "failed": "nobody was left"}), flush=True)
        continue
    with tempfile.TemporaryDirectory() as folder:
        words = [word.replace(task["files"], folder) for word in task["words"]]
        with open(folder + "/" + task["output"], "wb") as out, open(folder + "/" + task["messages"], "wb") as errors:
            subprocess.Popen(words, cwd=task["folder"], stdin=subprocess.PIPE, stdout=out, stderr=errors).wait()
        for file in pathlib.Path(folder).iterdir():
            (pathlib.Path(task["files"]) / file.name).write_bytes(file.read_bytes())
    print(json.dumps({"task": task["task"]}), flush=True)
"#;

/// The folders in which programs are found, after one with this `python3` in it.
fn path_with(example: &Example, script: &str) -> OsString {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut python = std::env::split_paths(&folders).map(|folder| folder.join("python3"));
    let python = python.find(|python| python.is_file()).expect("python3");
    example.write("cluster.py", script);
    std::fs::create_dir_all(example.path("bin")).expect("a folder");
    let line = format!("exec {} {} \"$@\"", python.display(), example.path("cluster.py").display());
    example.write("bin/python3", &format!("#!/bin/sh\n{line}\n"));
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(example.path("bin/python3"), executable).expect("a program");
    let folders = std::iter::once(example.path("bin")).chain(std::env::split_paths(&folders));
    std::env::join_paths(folders).expect("folders")
}

#[test]
fn runs_are_made_on_a_cluster() {
    let example = Example::new();
    example.write("suite.toml", SUITE);
    let version = env!("CARGO_PKG_VERSION");
    let run = |script: &str, options: &str| {
        let line = format!("bench run suite.toml --ray here:1 --journal {options}");
        let mut command = example.command(&line);
        command.env("PATH", path_with(&example, script)).output().expect("policert runs")
    };
    let cluster = CLUSTER.replace("VERSION", version);
    let done = run(&cluster, "there.jsonl");
    assert_eq!(code(&done), 0, "{}", text(&done));
    assert!(text(&done).contains("5 of 5 runs are finished, 5 of them now"), "{}", text(&done));
    // The journal is that of a study on this machine, which goes on with it.
    let here = example.run("bench run suite.toml --journal there.jsonl --resume");
    assert!(text(&here).contains("5 of 5 runs are finished, 0 of them now"), "{}", text(&here));
    assert_eq!(example.read("there.jsonl").matches("\"verdict\":\"unsafe\"").count(), 2);

    // A run that could not be made is not kept; the others are.
    let fails = cluster.replace("\"FAILS\" in task[\"words\"]", "task[\"task\"] == 2");
    let some = run(&fails, "some.jsonl");
    assert_eq!(code(&some), 42, "{}", text(&some));
    assert!(text(&some).contains("nobody was left"), "{}", text(&some));
    let rest = run(&cluster, "some.jsonl --resume");
    assert!(text(&rest).contains("5 of 5 runs are finished, 1 of them now"), "{}", text(&rest));

    for (script, said) in [
        (CLUSTER.replace("VERSION", "0.0.0"), "the package is version 0.0.0"),
        ("raise SystemExit('no module')".to_owned(), "no module"),
        ("print('hello')".to_owned(), "python3 says `hello`"),
    ] {
        let refused = run(&script, "none.jsonl");
        assert_eq!(code(&refused), 42, "{}", text(&refused));
        assert!(text(&refused).contains(said), "{}", text(&refused));
        std::fs::remove_file(example.path("none.jsonl")).expect("a journal");
    }
    let both = run(&cluster, "none.jsonl --jobs 2");
    assert_eq!(code(&both), 42, "Ray decides: {}", text(&both));
}

#[test]
fn shards_are_put_together_and_versions_are_not() {
    let example = Example::new();
    let suite =
        SUITE.replace("\"model.jani\",", "\"model.jani\", \"--interface\", \"policy.jani2nnet\",");
    example.write("suite.toml", &suite);
    for shard in 1..=2 {
        let run =
            example.run(&format!("bench run suite.toml --journal j{shard} --shard {shard}/2"));
        assert_eq!(code(&run), 0, "{}", text(&run));
    }
    let merged = example.run("bench merge j1 j2 --out both");
    assert_eq!(code(&merged), 0, "{}", text(&merged));
    assert_eq!(example.read("both").lines().count(), 5);
    let resumed = example.run("bench run suite.toml --journal both --resume");
    assert!(
        text(&resumed).contains("5 of 5 runs are finished, 0 of them now"),
        "{}",
        text(&resumed)
    );
    let over = example.run("bench merge j1 j2 --out j1");
    assert_eq!(code(&over), 42, "{}", text(&over));
    let safe = "\"verdict\":\"safe\"";
    assert!(example.read("both").contains(safe));
    example.write("j3", &example.read("both").replace(safe, "\"verdict\":\"unsafe\""));
    let opposite = example.run("bench merge both j3 --out all");
    assert_eq!(code(&opposite), 40, "{}", text(&opposite));
    assert!(text(&opposite).contains("is safe in both and unsafe in j3"), "{}", text(&opposite));
    let version = format!("\"version\":\"{}\",\"files\"", env!("CARGO_PKG_VERSION"));
    let old = example.read("j2").replace(&version, "\"version\":\"0.0.1\",\"files\"");
    example.write("j2", &old);
    let mixed = example.run("bench merge j1 j2 --out all");
    assert_eq!(code(&mixed), 42, "{}", text(&mixed));
    assert!(text(&mixed).contains("of version 0.0.1: they are not mixed"), "{}", text(&mixed));
    assert!(!example.path("all").exists());
    let wrong = example.run("bench run suite.toml --journal j3 --shard 3/2");
    assert_eq!(code(&wrong), 42, "{}", text(&wrong));
}

/// A study that is killed leaves no program behind, and goes on.
#[test]
fn a_killed_study_goes_on() {
    let example = Example::new();
    let marker = example.path("started");
    example.write(
        "suite.toml",
        &format!(
            r#"
name = "Killed"
folder = "."
seconds = 100
memory = "4GB"
[[instance]]
name = "one"
arguments = []
[[instance]]
name = "two"
arguments = []
values = {{ wait = "echo $$ > {0}; while test -e {0}; do sleep 0.05; done;" }}
[[configuration]]
name = "program"
program = "sh"
arguments = ["-c", "{{wait}} echo safe"]
reads = [{{ line = "safe", verdict = "safe" }}]
"#,
            marker.display()
        )
        .replace(
            "name = \"one\"\narguments = []",
            "name = \"one\"\narguments = []\nvalues = { wait = \"\" }",
        ),
    );
    let mut study =
        example.command("bench run suite.toml --journal j --quiet").spawn().expect("it runs");
    let started =
        wait_for(|| std::fs::read_to_string(&marker).ok().filter(|pid| pid.ends_with('\n')));
    study.kill().expect("kill -9");
    study.wait().expect("it ended");
    let process = format!("/proc/{}", started.trim());
    wait_for(|| (!std::path::Path::new(&process).exists()).then_some(()));
    assert_eq!(example.read("j").lines().count(), 1, "the first run is there");
    std::fs::remove_file(&marker).expect("there");
    // What is there is not made again; the other run ends at once when nobody makes it wait.
    let waiter = std::thread::spawn(move || {
        wait_for(|| marker.exists().then_some(()));
        std::fs::remove_file(marker).expect("there");
    });
    let resumed = example.run("bench run suite.toml --journal j --resume");
    waiter.join().expect("no panic");
    assert!(
        text(&resumed).contains("2 of 2 runs are finished, 1 of them now"),
        "{}",
        text(&resumed)
    );
}

fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..3000 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("nothing came in a minute");
}

#[test]
fn the_system_measures_time_and_memory() {
    let example = Example::new();
    let measured = |line: &str| -> serde_json::Value {
        let output = example.run(&format!("bench measure --out m.json {line}"));
        assert_eq!(code(&output), 0, "{}", text(&output));
        serde_json::from_str(&example.read("m.json")).expect("JSON")
    };
    example.write("busy.sh", "i=0; while test $i -lt 200000; do i=$((i+1)); done; exit 7\n");
    let busy = measured("-- sh busy.sh");
    assert_eq!(busy["exit_code"], 7);
    assert!(busy["cpu_s"].as_f64() > Some(0.02), "{busy}");
    assert!(busy["peak_memory_mb"].as_f64() > Some(0.5), "{busy}");
    example.write("sleep.sh", "sleep 100 & sleep 100\n");
    example.write("child.sh", "sh -c 'while true; do :; done' & wait\n");
    let of_a_child = measured("--time 1s -- sh child.sh");
    assert!(of_a_child["cpu_s"].as_f64().is_some_and(|seconds| seconds > 0.05), "{of_a_child}");
    let slow = measured("--time 0.2s -- sh sleep.sh");
    assert_eq!((&slow["is_out_of_time"], &slow["exit_code"]), (&true.into(), &().into()), "{slow}");
    example.write("endless.sh", "while true; do :; done\n");
    let spinning = measured("--cpu 1 -- sh endless.sh");
    assert!(spinning["signal"].is_i64() && spinning["cpu_s"].as_f64() > Some(0.5), "{spinning}");
    example.write("large.sh", "x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo ${#x}\n");
    let large = measured("--memory 100MB -- sh large.sh");
    assert_ne!(large["exit_code"], 0, "{large}");
}
