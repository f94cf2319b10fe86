//! Pages of results: what they show, what they refuse, and that nothing in a file becomes a tag.

use policert_page::{Cell, Drawing, Html, Look, Pictures, Recheck, ResultPage, Shape, Table, page};
use serde_json::{Value, json};

const NASTY: &str = "</script><script>alert(1)</script>\"'<img src=x onerror=alert(2)>&amp;";

fn result(verdict: &str, code: u8) -> Value {
    json!({
        "schema_version": 1, "version": "0.1.0", "exit_code": code, "verdict": verdict,
        "reason": null, "engine": "explicit", "hollow": [], "vacuous": false,
        "warnings": [NASTY], "notes": [], "errors": [],
        "statistics": {"start_states": 28, "times_s": {"load": 0.25}, "explicit": {"depth": 6}},
        "semantics": {"text": "best of all outputs"},
        "inputs": [{"role": "model", "path": NASTY, "sha256": "00"}],
        "evidence_file": {"path": "e.json", "written": true, "reason": null},
        "arguments": ["verify", "it's.jani", "--unsafe", "x >= 3"],
    })
}

/// The run x = 0, 1, 2.
fn evidence(result: &Value) -> Value {
    let step = |number: i64| {
        json!({
            "step": number, "label": NASTY, "by": "policy", "probability": "1/4",
            "changed": {NASTY: [number - 1, number]}, "state": {NASTY: number, "y": true},
        })
    };
    let mut evidence = json!({
        "schema_version": 1, "verdict": "unsafe", "engine": "explicit", "steps": 2,
        "start": {NASTY: 0, "y": true}, "trace": [step(1), step(2)],
        "end": {"kind": "unsafe", "back_to": null}, "unsafe_condition": "x ≥ 2",
    });
    for name in ["inputs", "semantics"] {
        evidence[name] = result[name].clone();
    }
    evidence
}

#[test]
fn a_verdict_with_its_run() {
    let result = result("unsafe", 10);
    let mut shown = ResultPage::new(result.clone()).expect("a result");
    assert_eq!(shown.evidence_path(), Some("e.json"));
    shown.add_evidence("e.json", evidence(&result)).expect("its evidence");
    let html = shown.html("r.json");
    for part in [
        "class=\"verdict unsafe\">unsafe",
        "policert verify &#39;it&#39;\\&#39;&#39;s.jani&#39; --unsafe &#39;x &gt;= 3&#39;",
        "Steps; the run ends in an unsafe state",
        "policy; chance: 1/4",
        ": 1 → 2",
        "it was not checked for this page",
        "<dt>times (s)</dt>",
        "role=\"group\" aria-label=\"The run, state by state\"",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let rejected = Recheck { is_confirmed: false, reason: Some("step 2 is no step".to_owned()) };
    shown.add_recheck(rejected);
    assert!(shown.html("r").contains("Not confirmed when this page was made: step 2 is no step"));
    shown.add_recheck(Recheck { is_confirmed: true, reason: None });
    assert!(shown.html("r").contains("Confirmed: the file was checked again"));
}

/// Nothing but the program's own script and the film's data.
#[test]
fn nothing_in_a_file_becomes_a_tag() {
    let result = result("unsafe", 10);
    let mut shown = ResultPage::new(result.clone()).expect("a result");
    shown.add_evidence(NASTY, evidence(&result)).expect("its evidence");
    let html = shown.html(NASTY);
    assert_eq!(html.matches("<script").count(), 2, "{html}");
    assert_eq!(html.matches("</script").count(), 2, "{html}");
    assert!(!html.contains("<img"), "{html}");
    assert!(html.contains("Content-Security-Policy\" content=\"default-src &#39;none&#39;"));
    let mut main = Html::default();
    let table = Table {
        id: "t".to_owned(),
        caption: NASTY.to_owned(),
        columns: vec![NASTY.to_owned()],
        rows: vec![
            vec![Cell::Text(NASTY.to_owned())],
            vec![Cell::Link(NASTY.to_owned(), NASTY.to_owned())],
            vec![Cell::Best(NASTY.to_owned())],
        ],
        filters: true,
    };
    table.add_to(&mut main);
    main.picture(NASTY, NASTY);
    let html = page(NASTY, &main);
    assert_eq!(html.matches("<script").count(), 1, "{html}");
    assert_eq!(html.matches("<img").count(), 1, "{html}");
}

/// The pictures of the states of a run, for the browser without script the first of them.
#[test]
fn a_run_with_pictures() {
    let result = result("unsafe", 10);
    let mut evidence = evidence(&result);
    evidence["task"] = json!({"model": "folder/walk_3.jani"});
    evidence["trace"][1]["operator"] = json!({"edges": [{"automaton": "walker"}]});
    let mut shown = ResultPage::new(result).expect("a result");
    shown.add_evidence("e.json", evidence.clone()).expect("its evidence");
    let without = shown.html("r");
    shown.draw(|run| {
        assert_eq!(run.models, ["walk_3", "walker"]);
        assert_eq!(run.states, [[0, 1], [1, 1], [2, 1]]);
        let drawing = |state: &Vec<i64>| Drawing {
            shapes: vec![Shape::Text(Look::Word, [state[0], 5], NASTY.to_owned())],
            text: format!("The walker is at {}.", state[0]),
        };
        let ground = vec![Shape::Line(Look::Ground, [0, 9, 90, 9])];
        Some(Pictures { size: (90, 10), ground, states: run.states.iter().map(drawing).collect() })
    });
    let html = shown.html("r");
    for part in [
        "viewBox=\"0 0 90 10\"",
        "role=\"img\" aria-label=\"The walker is at 0.\"",
        "<line class=\"ground\" x1=\"0\" y1=\"9\" x2=\"90\" y2=\"9\"></line>",
        "[\"The walker is at 2.\",[[\"text\",\"word\",{\"x\":2,\"y\":5},",
    ] {
        assert!(html.contains(part) && !without.contains(part), "{part}: {html}");
    }
    assert_eq!(html.matches("<script").count(), 3, "{html}");
    assert!(!html.contains("<img"), "{html}");
    // A value that is no number has no picture.
    evidence["start"]["y"] = json!("somewhere");
    evidence["trace"][0]["changed"]["y"] = json!(["somewhere", true]);
    let mut shown = ResultPage::new(self::result("unsafe", 10)).expect("a result");
    shown.add_evidence("e.json", evidence).expect("its evidence");
    shown.draw(|_| panic!("there is nothing to draw"));
}

#[test]
fn tubes_of_a_control_loop() {
    let mut result = result("safe", 0);
    let region =
        |side: &str, ranges: Value| json!({"side": side, "ranges": ranges, "from_step": 0});
    result["picture"] = json!({
        "variables": ["p", NASTY], "initial": [[0, 1], [0, 0]],
        "goal": [region("inside", json!([[3, 4], [null, null]]))],
        "unsafe": [region("inside", json!([[null, null], [5, null]])), region("outside", Value::Null)],
        "trajectories": [[[0.5, 0], [2, 0.5], [3.5, 1]]],
    });
    let html = ResultPage::new(result.clone()).expect("a result").html("r");
    assert!(html.contains("--record-boxes keeps them"), "{html}");
    result["boxes"] = json!([
        [[[0, 1], [0, 0]]],
        [[[1, 2], [0, "1/2"]], [[1.5, 3], [0, 1]]],
        [[[3, 4], [0, 1.5]]],
    ]);
    let html = ResultPage::new(result.clone()).expect("a result").html("r");
    for part in [
        "p over time",
        "class=\"goal\"",
        "class=\"avoid\"",
        "class=\"box\"",
        "class=\"sample\"",
        "Sets that are given by conditions are not drawn.",
        "p begins between 0 and 1, and is between 3.0000 and 4.0000 in the last step",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert_eq!(html.matches("class=\"tube\"").count(), 3, "a plane, and each variable over time");
    assert!(!html.contains("<img") && html.matches("<script").count() == 1, "{html}");
    for (pointer, value) in [
        ("/boxes/1/0", json!([[0, 1]])),
        ("/boxes/1/0/1/1", json!("x")),
        ("/picture/initial", json!([[0, 1]])),
        ("/picture/trajectories/0/1", json!([1])),
        ("/picture/goal/0/ranges", json!([[3, 4]])),
    ] {
        let mut wrong = result.clone();
        *wrong.pointer_mut(pointer).expect("a member") = value;
        assert!(ResultPage::new(wrong).is_err(), "{pointer}");
    }
}

#[test]
fn boxes_of_an_invariant() {
    let result = result("safe", 0);
    let mut evidence = evidence(&result);
    evidence["verdict"] = json!("safe");
    evidence["invariant"] = json!([{NASTY: [0, 2], "y": [false, true]}, {NASTY: [5, 5]}, {}]);
    evidence["where"] = json!([[], [{"terms": {"y": 1}, "at_most": 0}], []]);
    let mut shown = ResultPage::new(result).expect("a result");
    shown.add_evidence("e.json", evidence).expect("its evidence");
    let html = shown.html("r");
    for part in [
        "an inductive invariant of 3 boxes",
        "no to yes",
        "0 to 2",
        "class=\"shadow\"",
        "further conditions",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!html.contains("<img") && html.matches("<script").count() == 1, "{html}");
}

#[test]
fn a_diagram_of_states() {
    let result = result("safe", 0);
    let mut evidence = evidence(&result);
    evidence["verdict"] = json!("safe");
    evidence["invariant"] = json!([]);
    evidence["diagram"] =
        json!({"variables": [NASTY, "y"], "nodes": [[1, 0, 0, 0], [0, 0, 1, 0, 2, 5, 1]]});
    let mut shown = ResultPage::new(result).expect("a result");
    shown.add_evidence("e.json", evidence).expect("its evidence");
    let html = shown.html("r");
    for part in ["as a decision diagram of 2 nodes", ", y."] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!html.contains("<img") && !html.contains("no state is a start state"), "{html}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    for wrong in [json!([]), json!({"schema_version": 2, "exit_code": 0}), result("safe", 10)] {
        assert!(ResultPage::new(wrong.clone()).is_err(), "{wrong}");
    }
    let result = result("unsafe", 10);
    let good = evidence(&result);
    let mut lies = Vec::new();
    let mut lie = |pointer: &str, value: Value| {
        let mut lie = good.clone();
        *lie.pointer_mut(pointer).expect("a member") = value;
        lies.push((pointer.to_owned(), lie));
    };
    lie("/engine", json!("ppa"));
    lie("/inputs/0/sha256", json!("01"));
    lie("/steps", json!(3));
    lie("/trace/1/state/y", json!(false));
    lie("/trace/0/changed", json!({}));
    lie("/trace/1/state", json!({"y": true}));
    lie("/end/kind", json!("happy"));
    for (pointer, lie) in lies {
        let mut shown = ResultPage::new(result.clone()).expect("a result");
        assert!(shown.add_evidence("e.json", lie).is_err(), "{pointer}");
    }
}

#[test]
fn a_trajectory_is_a_film() {
    let mut result = result("unsafe", 10);
    result["counterexample"] = json!({
        "kind": "unsafe", "step": 1, "variables": ["p", "v"], "controls": ["u"],
        "trajectories": [{
            "start": ["0", "1"],
            "states": [[[0, 0], [1, 1]], [[0.5, 0.75], [1, 1]]],
            "actions": [[[2, 2]]],
        }],
    });
    let html = ResultPage::new(result.clone()).expect("a result").html("r");
    for part in ["0.5 to 0.75", "u = 2", "the run ends in the unsafe set"] {
        assert!(html.contains(part), "{part}: {html}");
    }
    result["counterexample"]["trajectories"][0]["states"] = json!([[[0, 0]]]);
    assert!(ResultPage::new(result).is_err());
}
