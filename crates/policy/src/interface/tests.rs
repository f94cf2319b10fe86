//! Interface files, right and wrong.

use super::*;

fn problems(text: &str) -> Vec<String> {
    match Interface::parse("p.jani2nnet", text.as_bytes()) {
        Err(PolicyError::Mismatch { file, problems }) => {
            assert_eq!(file, "p.jani2nnet");
            let bare = |problem: &String| match problem.split_once(": ") {
                Some((place, problem)) if place.starts_with("line ") => problem.to_owned(),
                _ => problem.clone(),
            };
            problems.iter().map(bare).collect()
        }
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn all_kinds_of_inputs() {
    let text = r#"{"file": "net.nnet", "torch-file": 7, "filter": true, "elements": [32, 32],
        "input": [{"name": "x", "automaton": null},
                  {"name": "A", "automaton": null, "index": 2},
                  {"name": "v", "automaton": {"name": "Car", "index": 0}},
                  {"name": "B", "automaton": {"name": "Car", "index": 1}, "index": 3},
                  {"name": "Car", "index": 0},
                  {"name": "y"}],
        "output": ["go", "wait"]}"#;
    let interface = Interface::parse("p.jani2nnet", text.as_bytes()).expect("valid");
    let names: Vec<String> = interface.inputs.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["x", "A[2]", "Car#0.v", "Car#1.B[3]", "Car#0", "y"]);
    assert!(matches!(interface.inputs[4], InputItem::Location(_)));
    assert_eq!(interface.filter, Some(Filter::Applicable));
    assert_eq!(interface.elements, Some(vec![32, 32]));
    assert_eq!(interface.file.as_deref(), Some("net.nnet"));
    assert_eq!(interface.outputs, ["go", "wait"]);
}

#[test]
fn optional_keys_and_byte_order_mark() {
    let text = "\u{feff}{\"input\": [], \"output\": [], \"filter\": null}";
    let interface = Interface::parse("p.jani2nnet", text.as_bytes()).expect("valid");
    assert_eq!((interface.filter, interface.file, interface.elements), (None, None, None));
}

#[test]
fn all_problems_are_reported() {
    let text = r#"{"file": 1, "filter": "yes", "elements": [1, -1],
        "input": [3, {}, {"name": 1}, {"name": "x", "index": "0"}, {"name": "x", "automaton": 1},
                  {"name": "x", "automaton": {"name": 1, "index": -1}}],
        "output": ["a", 1, "a"]}"#;
    assert_eq!(
        problems(text),
        [
            "/filter: true or false is expected",
            "/file: text is expected",
            "/elements/1: a number of at least 0 is expected",
            "/input/0: an object is expected",
            "/input/1: the name is missing",
            "/input/2/name: text is expected",
            "/input/3/index: a number of at least 0 is expected",
            "/input/4/automaton: null, or an object with name and index, is expected",
            "/input/5/automaton/name: text is expected",
            "/input/5/automaton/index: a number of at least 0 is expected",
            "/output/1: text is expected",
            "/output/2: `a` is listed twice",
        ]
    );
    assert_eq!(problems("{}"), ["/input: this list is missing", "/output: this list is missing"]);
    assert_eq!(problems("[]"), ["an object is expected"]);
    assert_eq!(problems(r#"{"input": {}, "output": 1}"#).len(), 2);
}

#[test]
fn labels_that_are_never_chosen() {
    let text = r#"{"input": [], "output": ["a"], "never": ["b", "c"]}"#;
    let interface = Interface::parse("p.jani2nnet", text.as_bytes()).expect("valid");
    assert_eq!(interface.never, ["b", "c"]);
    let again = Interface::parse("p.jani2nnet", interface.to_json().to_string().as_bytes());
    assert_eq!(again.expect("own output"), interface);
    let text = r#"{"input": [], "output": ["a"], "never": ["b", "a", "b", 1]}"#;
    assert_eq!(
        problems(text),
        [
            "/never/2: `b` is listed twice",
            "/never/3: text is expected",
            "/never: `a` is one of the outputs, too",
        ]
    );
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    for text in [
        r#"{"input": [], "output": ["a"], "output": ["b"]}"#,
        r#"{"input": [{"name": "x", "automaton": null, "name": "y"}], "output": ["a"]}"#,
    ] {
        let error =
            Interface::parse("p.jani2nnet", text.as_bytes()).expect_err("a key stands twice");
        assert!(matches!(error, PolicyError::Invalid { .. }));
        assert!(error.to_string().starts_with("p.jani2nnet: line 1, column "), "{error}");
    }
}

#[test]
fn a_misspelt_key_is_refused_and_another_one_named() {
    let text = r#"{"input": [{"name": "x", "automata": null, "indx": 1},
                             {"name": "x", "automaton": {"name": "A", "index": 0, "idex": 1}}],
        "output": ["a"], "filtr": true}"#;
    assert_eq!(
        problems(text),
        [
            "the key `filtr` is not known; did you mean `filter`?",
            "/input/0: the key `automata` is not known; did you mean `automaton`?",
            "/input/0: the key `indx` is not known; did you mean `index`?",
            "/input/1/automaton: the key `idex` is not known; did you mean `index`?",
        ]
    );
    let text = r#"{"input": [{"name": "x", "purpose": ""}], "output": ["a"], "made by": "me"}"#;
    let interface = Interface::parse("p.jani2nnet", text.as_bytes()).expect("valid");
    assert_eq!(
        interface.warnings,
        [
            "p.jani2nnet: the key `made by` is not known; it is ignored",
            "p.jani2nnet: /input/0: the key `purpose` is not known; it is ignored",
        ]
    );
}

#[test]
fn a_variable_that_is_read_twice_is_named() {
    let text = r#"{"input": [{"name": "x"}, {"name": "y"}, {"name": "x"}], "output": ["a"]}"#;
    let interface = Interface::parse("p.jani2nnet", text.as_bytes()).expect("valid");
    assert_eq!(interface.warnings, ["p.jani2nnet: /input/2: `x` is listed twice"]);
}

#[test]
fn text_that_is_no_json() {
    let error = Interface::parse("p.jani2nnet", b"{\n  \"input\": [,]\n}").expect_err("no JSON");
    assert!(matches!(error, PolicyError::Invalid { .. }));
    assert!(error.to_string().starts_with("p.jani2nnet: line 2, column "), "{error}");
}

#[test]
fn inputs_that_are_computed() {
    let text = r#"{"version": 2, "file": "p.onnx", "ties": "any", "scores": "q", "rounds": 3,
        "input": {"cart": ["x - t", {"name": "A", "automaton": null, "index": 1}, "one_hot(s)"],
                  "mask": "applicable",
                  "world": [{"normalise": ["v"], "mean": [1.5], "variance": [0.25], "clip": 10}]},
        "output": ["a", "b"]}"#;
    let interface = Interface::parse("p.json", text.as_bytes()).expect("valid");
    let names: Vec<String> = interface.inputs.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["x - t", "A[1]", "one_hot(s)", "normalise(v)"]);
    let feeds: Vec<GroupFeed> = interface.groups.iter().map(|group| group.feed).collect();
    assert_eq!(feeds, [GroupFeed::Inputs(3), GroupFeed::Applicable, GroupFeed::Inputs(1)]);
    assert_eq!(interface.ties, Some(Ties::Any));
    assert_eq!(interface.rounds, Some(Rounds::First(3)));
    let InputItem::Normalised { statistics, .. } = &interface.inputs[3] else {
        unreachable!("it is normalised")
    };
    assert_eq!((statistics.epsilon, statistics.clip), (1e-8, Some(10.0)));
    let written = interface.to_json().to_string();
    let mut again = Interface::parse("p.json", written.as_bytes()).expect("own output");
    again.lines = interface.lines.clone();
    assert_eq!(again, interface);
}

#[test]
fn what_is_wrong_with_computed_inputs() {
    let text = r#"{"version": 2, "purpose": 1, "ties": "last", "rounds": 0,
        "input": {"m": "all", "n": "applicable",
                  "x": [3, {"normalise": ["v"], "mean": [1, "a"], "variance": 2, "clip": -1}]},
        "output": ["a"]}"#;
    assert_eq!(
        problems(text),
        [
            "the key `purpose` is not known; known are elements, file, filter, input, never, \
             output, rounds, scores, ties, version",
            "/rounds: \"best\", \"all\" or a number of rounds is expected",
            "/ties: \"first\", \"any\" or \"strict\" is expected",
            "/input/m: a list of inputs, or \"applicable\", is expected",
            "/input/x/0: an expression, or an object, is expected",
            "/input/x/1/mean: a number of the list is not finite, or is none",
            "/input/x/1/variance: a list of numbers, one for each input, is expected",
            "/input/x/1/clip: a number of at least 0 is expected",
        ]
    );
    let text = r#"{"version": 2, "input": {"n": "applicable"}, "output": ["a"]}"#;
    assert_eq!(problems(text), ["/input: no inputs are listed"]);
    let text = r#"{"input": ["x"], "output": ["a"]}"#;
    assert_eq!(problems(text), ["/input/0: an object is expected"]);
    let text = r#"{"version": 3, "input": [], "output": []}"#;
    let error = Interface::parse("p.json", text.as_bytes()).expect_err("another version");
    assert!(matches!(error, PolicyError::Unsupported { .. }), "{error}");
}

#[test]
fn problems_are_named_with_their_lines() {
    let text = "{\"version\": 2,\n \"input\": [\"x\",\n  4],\n \"output\": 1}";
    let error = Interface::parse("p.json", text.as_bytes()).expect_err("wrong").to_string();
    let lines = [
        "line 3: /input/1: an expression, or an object, is expected",
        "line 4: /output: a list is expected",
    ];
    assert_eq!(error, format!("p.json: {}", lines.join("\n")));
}

#[test]
fn inputs_of_a_graph_are_found_by_their_names() {
    use policert_model::{Model, VarId};

    let model = Model {
        name: "m".to_owned(),
        variables: ["x", "y", "z"].map(|name| policert_testkit::integer(name, 0, 3)).to_vec(),
        initial_values: Vec::new(),
        transients: Vec::new(),
        labels: vec!["a".to_owned()],
        instances: Vec::new(),
        vectors: Vec::new(),
        initial_condition: policert_model::Condition::True,
    };
    let text = r#"{"version": 2, "input": {"world": ["y", "z"], "cart": ["x"]}, "output": ["a"]}"#;
    let interface = Interface::parse("p.json", text.as_bytes()).expect("valid");
    let bound = |groups: &[(&str, usize)]| {
        let sizes = FunctionSizes {
            kind: "network",
            inputs: InputCount::Exactly(3),
            input_names: Vec::new(),
            outputs: 1,
            groups: groups.iter().map(|&(name, width)| (name.to_owned(), width)).collect(),
            classes: Vec::new(),
            hidden: None,
        };
        let binding = interface.bind(&model, &VariablesOnly, &sizes);
        binding.map(|binding| binding.variables()).map_err(|error| error.to_string())
    };
    let order = [0, 1, 2].map(VarId::new).to_vec();
    assert_eq!(bound(&[("cart", 1), ("world", 2)]), Ok(Some(order)));
    for (groups, expected) in [
        (&[("cart", 2), ("world", 2)][..], "/input/cart: 1 inputs are listed, the policy has 2"),
        (&[("cart", 1), ("word", 2)], "/input: the policy has an input `word`"),
        (&[("cart", 1)], "/input/world: the policy has no input `world`; its inputs are cart"),
        (&[], "/input/world: the policy has no input `world`; its file names none"),
    ] {
        let error = bound(groups).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
}
