//! What a verdict says besides safe and unsafe: that it is hollow, where a run gets stuck, whether every
//! run reaches the goal, and what becomes of the evidence.

use crate::support::example::Example;
use crate::support::json_schema::{breaches, schema};
use crate::support::program::{code, text};
use serde_json::{Value, json};

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Runs `verify model.jani` with these options; what it printed, and the result file.
fn verify(example: &Example, options: &str) -> (String, Value) {
    let output = example.run(&format!("verify model.jani {options} --json result.json"));
    let result = parsed(&example.read("result.json"));
    let found = breaches(&schema("result"), &result);
    assert!(found.is_empty(), "{options}: {found:#?}\n{result:#}");
    assert_eq!(result["exit_code"], code(&output), "{options}: {}", text(&output));
    (text(&output), result)
}

/// Without a policy a run shows that some choice of actions leads there, not that every one does.
#[test]
fn an_unsafe_verdict_without_policy_speaks_of_some_choice() {
    let (text, _) = verify(&Example::new(), "--property 1 --no-policy --engine explicit");
    assert!(text.contains("steps if actions are chosen so"), "{text}");
}

/// A safe verdict that says nothing about the policy says so in the second line, also with -q.
#[test]
fn a_hollow_verdict_says_why_in_the_second_line() {
    for (options, code, words) in [
        ("--terminal x>=0", "nothing_moves", "terminal"),
        ("--const STEP=20", "nothing_moves", "go, which does nothing: its updates leave a domain"),
        ("--const STEP=0", "nothing_changes", "no step of the policy changes the state"),
        ("--const STEP=0 --no-policy", "nothing_changes", "no step changes the state"),
        ("--property 3", "nothing_unsafe", "satisfies the unsafe condition"),
        ("--property 4 --no-initial", "no_start_state", "no state satisfies the start condition"),
        ("--reach-goal --goal x<9", "starts_in_goal", "the only start state is a goal state"),
    ] {
        let example = Example::new();
        let unsafe_at = |name: &str, bound: i64, start: &str| {
            format!(
                r#"{{"name": "{name}", "expression": {{"op": "PA", "file": "policy.jani2nnet", {start}
   "reach": {{"op": "state-condition", "exp": {{"op": "≤", "left": {bound}, "right": "x"}}}}}}}}"#
            )
        };
        let start =
            r#""start": {"op": "state-condition", "exp": {"op": ">", "left": "x", "right": 9}},"#;
        let more = [unsafe_at("never", 12, ""), unsafe_at("nowhere", 7, start)].join(",\n");
        let automata = "],\n \"automata\"";
        example.replace("model.jani", automata, &format!(",\n{more}{automata}"));
        for engine in ["explicit", "ppa", "cegar", "ic3", "auto"] {
            if options.contains("--reach-goal") && !["explicit", "auto"].contains(&engine) {
                continue;
            }
            let (text, result) = verify(&example, &format!("{options} -q --engine {engine}"));
            let place = format!("{options} {engine}: {text}");
            if result["verdict"] == "unknown" && engine == "ppa" {
                continue;
            }
            assert_eq!(result["verdict"], "safe", "{place}");
            assert_eq!(result["hollow"][0]["code"], code, "{place}");
            let second = text.lines().nth(1).unwrap_or_default();
            assert!(second.starts_with("HOLLOW: ") && second.contains(words), "{place}");
            let warnings = result["warnings"].to_string();
            assert!(warnings.contains("the verdict is hollow"), "{place}");
        }
    }
}

#[test]
fn a_verdict_about_a_policy_that_acts_is_not_hollow() {
    let example = Example::new();
    for options in ["", "--no-policy --property 2", "--engine ic3", "--reach-goal --goal x>=5"] {
        let (text, result) = verify(&example, options);
        assert_eq!(result["hollow"], json!([]), "{options}: {text}");
        assert!(!text.contains("HOLLOW"), "{options}: {text}");
    }
    // Of a probability, too.
    let (text, result) = verify(&example, "--engine prob");
    assert_eq!((&result["value"], &result["hollow"]), (&json!("0"), &json!([])), "{text}");
    let (text, result) = verify(&example, "--engine prob --const STEP=0");
    assert_eq!(result["hollow"][0]["code"], "nothing_changes", "{text}");
}

/// With `--certify` the evidence is checked before the verdict is printed, and where there is none, that
/// is said.
#[test]
fn evidence_is_certified_before_the_verdict_is_printed() {
    let example = Example::new();
    for engine in ["explicit", "bmc", "ppa", "cegar", "ic3", "auto"] {
        for (property, verdict) in [(0, "safe"), (1, "unsafe")] {
            let options = format!("--property {property} --engine {engine} --certify");
            let (text, result) = verify(&example, &options);
            assert_eq!(result["verdict"], verdict, "{options}: {text}");
            assert_eq!(result["certified"]["confirmed"], true, "{options}: {text}");
            assert!(text.contains("certified  the evidence was checked"), "{options}: {text}");
        }
    }
    let (_, result) = verify(&example, "--property 1 --engine prob --certify");
    assert_eq!(result["certified"]["confirmed"], true);
    let (_, result) = verify(&example, "--reach-goal --goal x>=0 --certify -q");
    assert_eq!(result["certified"]["confirmed"], true);
    // The bounds that hold after a limit.
    let limited = "--engine prob --property 1 --state-limit 2 --no-policy --certify -q";
    let (text, result) = verify(&example, limited);
    assert_eq!(result["verdict"], "unknown", "{text}");
    assert_eq!(result["certified"]["confirmed"], true, "{text}");
    let (text, result) = verify(&example, "--property 2 --no-policy --state-limit 2 --certify -q");
    assert_eq!(result["verdict"], "unknown", "{text}");
    assert_eq!(result["certified"]["confirmed"], false, "{text}");
    assert!(text.contains("warning: not certified: "), "{text}");
    let (_, result) = verify(&example, "--property 1");
    assert_eq!(result["certified"], json!(null));
}

/// If there is no evidence, that of an earlier verdict does not stay.
#[test]
fn no_older_evidence_is_left_in_place() {
    let example = Example::new();
    let older = || example.write("evidence.json", "{\"verdict\": \"unsafe\"}");
    for (options, verdict) in [
        ("--property 2 --no-policy --state-limit 2", "unknown"),
        ("--property 9", "invalid"),
        ("--numbers f32 --choice sample", "unsupported"),
    ] {
        older();
        let (text, result) = verify(&example, &format!("{options} -q --evidence evidence.json"));
        assert_eq!(result["verdict"], verdict, "{options}: {text}");
        assert!(!example.path("evidence.json").exists(), "{options}: {text}");
        assert!(text.contains("evidence.json is not written: "), "{options}: {text}");
        assert!(text.contains("the older file of that name was removed"), "{options}: {text}");
        let record = &result["evidence_file"];
        assert_eq!(record["written"], false, "{options}: {record}");
        assert_eq!(record["removed_older"], true, "{options}: {record}");
        assert!(record["reason"].as_str().is_some_and(|why| !why.is_empty()), "{record}");
    }
    older();
    let (text, result) = verify(&example, "--property 1 -q --evidence evidence.json");
    assert_eq!(result["evidence_file"]["written"], true, "{text}");
    assert!(!text.contains("not written"), "{text}");
    // Nothing was done, so nothing goes.
    older();
    let output = example.run("verify model.jani --engine magic --evidence evidence.json");
    assert_eq!(code(&output), 42);
    assert!(example.path("evidence.json").exists());
    let (text, result) = verify(&example, "--property 2 --engine ppa --start-states starts.json");
    if result["start_states_file"]["written"] == false {
        assert!(text.contains("starts.json is not written: "), "{text}");
    }
    let (text, result) = verify(&example, "");
    assert_eq!(
        (&result["evidence_file"], &result["start_states_file"]),
        (&json!(null), &json!(null))
    );
    assert!(!text.contains("not written"), "{text}");
}

/// A short run is shown whole, and says who decided each step; a long one says what is left out.
#[test]
fn a_short_run_is_shown_whole_with_who_decided() {
    let example = Example::new();
    let (text, _) = verify(&example, "--property 1");
    for step in ["policy: go → x=1", "policy: go → x=2", "policy: go → x=3", "policy: go → x=4"]
    {
        assert!(text.contains(step), "{step}: {text}");
    }
    assert!(!text.contains('…') && !text.contains("--engine prob"), "{text}");
    // The slip is chance, and the second edge of the label is the environment's choice.
    let edge = r#"{"location": "line", "action": "go",
     "guard": {"exp": {"op": "<", "left": "x", "right": 9}},
     "destinations": ["#;
    let slip = r#"{"location": "line", "probability": {"exp": 0.25}},
      {"probability": {"exp": 0.75}, "location": "line","#;
    example.replace(
        "model.jani",
        &format!("{edge}{{\"location\": \"line\","),
        &format!("{edge}{slip}"),
    );
    let other = r#"{"location": "line", "action": "go", "destinations": [{"location": "line"}]},"#;
    example.replace("model.jani", "\"edges\": [", &format!("\"edges\": [{other}"));
    let (text, result) = verify(&example, "--property 1 --evidence evidence.json");
    assert!(text.contains("policy: go (environment: which edge; chance: 3/4) → x=1"), "{text}");
    assert!(text.contains("--engine prob bounds the probability"), "{text}");
    assert_eq!(result["verdict"], "unsafe");
    let evidence = parsed(&example.read("evidence.json"));
    let found = breaches(&schema("evidence"), &evidence);
    assert!(found.is_empty(), "{found:#?}");
    let step = &evidence["trace"][0];
    assert_eq!((&step["probability"], &step["operators"]), (&json!("3/4"), &json!(2)));
    let (text, _) = verify(&example, "--property 1 --no-policy");
    assert!(!text.contains("policy: go"), "{text}");
}

/// Without the edge `rest` the policy is stuck at 5, where it wants to rest.
fn restless() -> Example {
    let example = Example::new();
    let edge = r#"{"location": "line", "action": "rest", "destinations": [{"location": "line"}]}"#;
    let late = r#"{"location": "line", "action": "rest", "destinations": [{"location": "line"}],
     "guard": {"exp": {"op": "≥", "left": "x", "right": 8}}}"#;
    example.replace("model.jani", edge, late);
    example
}

/// A state without successors that is no goal is unsafe, if that is asked for.
#[test]
fn a_stuck_state_is_unsafe_unless_it_is_the_goal() {
    let example = restless();
    for (options, verdict) in [
        ("", "safe"),
        ("--stuck allowed", "safe"),
        ("--stuck unsafe", "unsafe"),
        ("--stuck unsafe --engine explicit", "unsafe"),
        ("--stuck unsafe --engine explicit --keep-going", "unsafe"),
        ("--stuck unsafe --goal x=5", "safe"),
        ("--stuck unsafe --terminal x=5", "safe"),
        ("--stuck unsafe --filter applicable", "unsafe"),
    ] {
        let (text, result) = verify(&example, options);
        assert_eq!(result["verdict"], verdict, "{options}: {text}");
    }
    let (text, result) = verify(&example, "--stuck unsafe --evidence evidence.json");
    assert!(text.starts_with("UNSAFE: a run gets stuck after 5 steps"), "{text}");
    assert!(text.contains("the policy chooses rest, which is not applicable"), "{text}");
    assert_eq!(result["statistics"]["counterexample_steps"], 5);
    assert_eq!(result["semantics"]["stuck"], "unsafe");
    confirmed_until_edited(&example, "stuck");
}

/// Every run ends in the goal; or one gets stuck, ends elsewhere, or goes round for ever.
#[test]
fn a_run_that_never_reaches_the_goal_is_shown() {
    let example = Example::new();
    let (text, result) = verify(&example, "--reach-goal --goal x=5");
    assert!(text.starts_with("SAFE: every run reaches the goal under the policy"), "{text}");
    assert_eq!(result["semantics"]["aim"], "reach_goal");
    let (text, _) = verify(&example, "--reach-goal --goal x=9 --evidence evidence.json");
    let head =
        "UNSAFE: a run goes round for ever (1 step) after 5 steps and never reaches the goal";
    assert!(text.starts_with(head), "{text}");
    assert!(text.contains("and so on for ever: this is the state after step 5 again"), "{text}");
    confirmed_until_edited(&example, "loop");
    let (text, _) =
        verify(&example, "--reach-goal --goal x=9 --terminal x=3 --evidence evidence.json");
    assert!(text.starts_with("UNSAFE: a run ends in a terminal state after 3 steps"), "{text}");
    confirmed_until_edited(&example, "terminal");
    let example = restless();
    let (text, _) = verify(&example, "--reach-goal --goal x=9 --evidence evidence.json");
    assert!(text.starts_with("UNSAFE: a run gets stuck after 5 steps and never"), "{text}");
    confirmed_until_edited(&example, "stuck");
    let (text, result) = verify(&example, "--reach-goal");
    assert_eq!(result["reason_code"], "usage", "{text}");
    assert!(text.contains("--goal CONDITION"), "{text}");
}

/// `certify` confirms evidence, and rejects it once another end, another loop or fewer steps are claimed.
fn confirmed_until_edited(example: &Example, kind: &str) {
    let evidence = parsed(&example.read("evidence.json"));
    let found = breaches(&schema("evidence"), &evidence);
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(evidence["end"]["kind"], kind);
    let output = example.run("certify evidence.json");
    assert_eq!(code(&output), 0, "{}", text(&output));
    let edits: [(&str, Value); 4] = [
        ("/end/kind", json!("unsafe")),
        ("/end/back_to", json!(1)),
        ("/trace/0/probability", json!("1/2")),
        ("/semantics/aim", json!(if kind == "loop" { "avoid_unsafe" } else { "neither" })),
    ];
    for (pointer, value) in edits {
        let mut edited = evidence.clone();
        *edited.pointer_mut(pointer).expect(pointer) = value;
        example.write("edited.json", &edited.to_string());
        let output = example.run("certify edited.json");
        assert!([40, 51].contains(&code(&output)), "{pointer}: {}", text(&output));
    }
}

/// A loop that depends on chance decides nothing: the verdict is unknown, and says what to ask.
#[test]
fn a_loop_by_chance_is_no_run_that_misses_the_goal_for_sure() {
    let example = Example::new();
    let edge = r#"{"location": "line", "action": "go",
     "guard": {"exp": {"op": "<", "left": "x", "right": 9}},
     "destinations": [{"location": "line","#;
    let slip = r#"{"location": "line", "action": "go",
     "guard": {"exp": {"op": "<", "left": "x", "right": 9}},
     "destinations": [{"location": "line", "probability": {"exp": 0.25}},
      {"probability": {"exp": 0.75}, "location": "line","#;
    example.replace("model.jani", edge, slip);
    let (text, result) = verify(&example, "--reach-goal --goal x=5");
    assert_eq!((&result["verdict"], &result["reason_code"]), (&json!("unknown"), &json!("chance")));
    assert!(text.contains("Pmin"), "{text}");
}

/// An engine refuses by name the questions that it does not answer.
#[test]
fn other_engines_refuse_stuck_states_and_goals_by_name() {
    let example = Example::new();
    for engine in ["ppa", "cegar", "bmc", "ic3", "prob", "prob-ppa", "prob-cegar"] {
        for option in ["--stuck unsafe", "--reach-goal --goal x=5"] {
            let (text, result) = verify(&example, &format!("--engine {engine} {option}"));
            assert_eq!(result["exit_code"], 42, "{engine} {option}: {text}");
            let name = option.split(" --goal").next().unwrap_or(option);
            assert!(text.contains(name) && text.contains(engine), "{engine} {option}: {text}");
        }
    }
}

/// Labels that no vector joins, and guards that hold nowhere, make a verdict hollow, too.
#[test]
fn a_model_in_which_nothing_synchronises_is_hollow() {
    let example = Example::new();
    example.replace(
        "model.jani",
        r#"   {"synchronise": ["go"], "result": "go"},
   {"synchronise": ["rest"], "result": "rest"}"#,
        "",
    );
    let (text, result) = verify(&example, "--no-policy -q");
    let codes: Vec<&Value> =
        result["hollow"].as_array().expect("a list").iter().map(|h| &h["code"]).collect();
    assert_eq!(codes, ["nothing_moves", "no_operator", "never_synchronised"], "{text}");
    assert!(text.contains("no edge of the model can ever fire"), "{text}");
    assert!(text.contains("`go` of `walker`"), "{text}");
    // A misspelt key empties the update: nothing changes, and the key is named.
    let example = Example::new();
    example.replace("model.jani", "\"assignments\"", "\"asignments\"");
    let (text, result) = verify(&example, "-q");
    assert_eq!(result["verdict"], "safe", "{text}");
    assert_eq!(result["hollow"][0]["code"], "nothing_changes", "{text}");
    assert!(text.lines().take(4).any(|line| line.contains("asignments")), "{text}");
}
