//! Problems in PDDL, and action schema networks as their policies.

use std::path::Path;

use crate::support::example::Example;
use crate::support::program::{code, text};

/// An example with the blocks beside it.
fn with_blocks() -> Example {
    let example = Example::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/blocks");
    for name in ["domain.pddl", "four.pddl"] {
        let text = std::fs::read_to_string(folder.join(name)).expect("a file");
        example.write(name, &text);
    }
    example
}

const VERIFY: &str = "verify domain.pddl four.pddl";

#[test]
fn problems_are_models_of_every_command() {
    let example = with_blocks();
    for (arguments, status, words) in [
        ("verify domain.pddl four.pddl --no-policy --unsafe on(a,b)&on(b,a)", 0, "SAFE"),
        ("verify domain.pddl four.pddl --no-policy --unsafe on(d,c)", 10, "UNSAFE"),
        ("verify domain.pddl four.pddl --no-policy --reach-goal", 10, "never reaches the goal"),
        ("verify domain.pddl four.pddl --no-policy", 42, "name them with --unsafe CONDITION"),
        ("verify domain.pddl --unsafe on(a,b)", 42, "DOMAIN.pddl PROBLEM.pddl"),
        (
            "verify four.pddl domain.pddl --unsafe on(a,b)",
            40,
            "four.pddl:2:9: a domain is expected",
        ),
        ("verify domain.pddl four.pddl --const a=1 --unsafe on(a,b)", 42, "--const has no effect"),
        (
            "verify domain.pddl four.pddl --reach-goal --unsafe on(a,b)",
            42,
            "--unsafe has no effect",
        ),
        (
            "verify domain.pddl four.pddl --no-policy --unsafe on(e,a)",
            42,
            "`on(a,b)` is a variable",
        ),
        ("verify model.jani four.pddl", 42, "model.jani is no domain in PDDL"),
        ("verify domain.pddl domain.pddl --unsafe x=1", 40, "a problem is expected"),
        ("verify domain.pddl four.pddl --no-policy --stuck unsafe", 0, "SAFE"),
        ("interface domain.pddl policy.nnet --output i.json", 42, "DOMAIN.pddl PROBLEM.pddl"),
        ("interface domain.pddl --problem four.pddl policy.nnet --output i.json", 0, "i.json"),
        ("check domain.pddl four.pddl", 0, "operators  32"),
        ("convert domain.pddl four.pddl --unsafe on(b,a) --output four.jani", 0, "WRITTEN"),
        ("simulate domain.pddl four.pddl --no-policy --runs 10", 0, "goal"),
    ] {
        let run = example.run(arguments);
        assert_eq!(code(&run), status, "{arguments}: {}", text(&run));
        assert!(text(&run).contains(words), "{arguments}: {}", text(&run));
    }
}

#[test]
fn start_and_unsafe_states_are_replaced_in_models_in_jani() {
    let example = Example::new();
    example.write("start.txt", "x = 0\n");
    for (arguments, status) in [
        ("verify model.jani --unsafe false", 0),
        ("verify model.jani --unsafe true", 10),
        ("verify model.jani --start start.txt --no-initial --unsafe false", 0),
        ("verify model.jani --start nothing", 42),
    ] {
        let run = example.run(arguments);
        assert_eq!(code(&run), status, "{arguments}: {}", text(&run));
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let example = with_blocks();
    let problem = example.read("four.pddl");
    for (from, to, status, words) in [
        (
            "(clear a)",
            "(clear a b)",
            40,
            "broken.pddl:5:32: `clear` has 1 arguments, and 2 are given",
        ),
        (
            "(:domain blocks)",
            "(:domain tiles)",
            40,
            "broken.pddl:3:12: this is a problem of the domain",
        ),
        ("(:goal (and", "(:goal (or", 41, "broken.pddl:6:10: `(or …)` is not supported"),
    ] {
        assert!(problem.contains(from), "{from}");
        example.write("broken.pddl", &problem.replacen(from, to, 1));
        let run = example.run("verify domain.pddl broken.pddl --unsafe on(a,b)");
        assert_eq!(code(&run), status, "{to}: {}", text(&run));
        assert!(text(&run).contains(words), "{to}: {}", text(&run));
    }
}

#[test]
fn a_network_is_trained_drawn_exported_and_verified() {
    let example = with_blocks();
    let train = "asnet train domain.pddl four.pddl --unseen four.pddl --dimension 4 --rounds 10 \
                 --batches 20 --output net.json";
    let run = example.run(train);
    assert_eq!(code(&run), 0, "{}", text(&run));
    assert!(
        text(&run).contains("TRAINED: net.json solves 1 of 1 problems, and 1 of 1 unseen ones")
    );
    let first = example.read("net.json");
    assert_eq!(code(&example.run(train)), 0);
    assert_eq!(example.read("net.json"), first, "the seed repeats it");
    let run = example.run("interface domain.pddl --problem four.pddl net.json --output j.json");
    assert_eq!(code(&run), 42);
    assert!(text(&run).contains("needs no interface"), "{}", text(&run));
    for (arguments, status, words) in [
        (" --policy net.json --unsafe on(b,a)", 0, "SAFE"),
        (" --policy net.json --reach-goal", 0, "SAFE"),
        (" --policy net.json --unsafe on(b,a) --engine ic3", 0, "SAFE"),
        (" --policy net.json --unsafe on(b,a) --engine cegar", 0, "SAFE"),
        (" --policy net.json --interface net.json --unsafe on(b,a)", 42, "needs a translation"),
    ] {
        let run = example.run(&format!("{VERIFY}{arguments}"));
        assert_eq!(code(&run), status, "{arguments}: {}", text(&run));
        assert!(text(&run).contains(words), "{arguments}: {}", text(&run));
    }
    let run = example.run("asnet show domain.pddl four.pddl --policy net.json --output m.svg");
    assert_eq!(code(&run), 0, "{}", text(&run));
    assert!(example.read("m.svg").starts_with("<svg"));
    let run = example.run("asnet export domain.pddl four.pddl --policy net.json --output m.onnx");
    assert!(text(&run).contains("25 inputs, 32 outputs"), "{}", text(&run));
    // The network of another domain.
    example.write("other.pddl", &example.read("domain.pddl").replace("hand-empty", "arm-empty"));
    example.write("p.pddl", &example.read("four.pddl").replace("hand-empty", "arm-empty"));
    let run = example.run("verify other.pddl p.pddl --policy net.json --unsafe on(b,a)");
    assert_eq!(code(&run), 40, "{}", text(&run));
    assert!(
        text(&run).contains("net.json: line 1, column") && text(&run).contains("another domain")
    );
    let run = example.run("verify model.jani --policy net.json");
    assert_eq!(code(&run), 42, "{}", text(&run));
}

#[test]
fn training_is_continued_and_stopped() {
    let example = with_blocks();
    let train = "asnet train domain.pddl four.pddl --dimension 4 --batches 5";
    let run = example.run(&format!("{train} --rounds 4 --output whole.json"));
    assert_eq!(code(&run), 0, "{}", text(&run));
    for arguments in [
        "--rounds 2 --checkpoint c.bin --output part.json",
        "--rounds 4 --resume c.bin --checkpoint c.bin --output part.json",
    ] {
        let run = example.run(&format!("{train} {arguments}"));
        assert_eq!(code(&run), 0, "{}", text(&run));
    }
    assert_eq!(example.read("part.json"), example.read("whole.json"));
    for (arguments, status, words) in [
        (
            "asnet train domain.pddl four.pddl --seed 2 --resume c.bin --output o",
            40,
            "other options",
        ),
        (
            "asnet train domain.pddl four.pddl --resume four.pddl --output o",
            40,
            "--resume four.pddl",
        ),
        ("asnet train domain.pddl four.pddl --resume c.bin --output c.bin", 42, "c.bin"),
        ("asnet train domain.pddl four.pddl --timeout 0s --output o", 30, "time limit"),
        ("asnet train domain.pddl four.pddl --memory 1MB --output o", 31, "memory limit"),
        ("asnet train domain.pddl four.pddl --dropout 1 --output o", 42, "dropout is 1"),
        (
            "asnet show domain.pddl four.pddl --policy whole.json --timeout 0s --output o",
            30,
            "time limit",
        ),
        (
            "asnet export domain.pddl four.pddl --policy whole.json --timeout 0s --output o",
            30,
            "time limit",
        ),
    ] {
        let run = example.run(arguments);
        assert_eq!(code(&run), status, "{arguments}: {}", text(&run));
        assert!(text(&run).contains(words), "{arguments}: {}", text(&run));
    }
    // What was learnt before a stop is written.
    let endless = "asnet train domain.pddl four.pddl --dimension 4 --batches 5 --rounds 60000 \
                   --rate 1e-9 --timeout 2s --output part.json";
    std::fs::remove_file(example.path("part.json")).expect("removed");
    let run = example.run(endless);
    assert_eq!(code(&run), 30, "{}", text(&run));
    assert!(text(&run).contains("the time limit was reached; no proof"), "{}", text(&run));
    assert!(example.read("part.json").starts_with("{\"asnet\": 1"));
}

#[test]
fn a_network_is_the_policy_of_a_model_in_jani() {
    let example = with_blocks();
    for arguments in [
        "asnet train domain.pddl four.pddl --dimension 4 --rounds 5 --batches 20 --output net.json",
        "generate blocksworld 3 --output three",
    ] {
        let run = example.run(arguments);
        assert_eq!(code(&run), 0, "{arguments}: {}", text(&run));
    }
    let verify = "verify three/blocksworld_3_2.jani --property three/pa_blocksworld_3_2.jani:0 \
                  --interface three/blocksworld_3_2.translation.json";
    let run = example.run(&format!("{verify} --policy net.json"));
    assert!(matches!(code(&run), 0 | 10), "{}", text(&run));
    let run = example.run(verify);
    assert_eq!(code(&run), 40, "{}", text(&run));
    assert!(text(&run).contains("the translation names no network"), "{}", text(&run));
    let translation = example.read("three/blocksworld_3_2.translation.json");
    example.write(
        "three/blocksworld_3_2.translation.json",
        &translation.replace("\"put-down(?x)\"", ""),
    );
    let run = example.run(&format!("{verify} --policy net.json"));
    assert_eq!(code(&run), 40, "{}", text(&run));
    assert!(text(&run).contains("nothing describes `put-down(b0)`"), "{}", text(&run));
}

#[test]
fn a_confirmed_run_is_said_to_end_as_it_does() {
    let example = with_blocks();
    let run = example
        .run("verify domain.pddl four.pddl --no-policy --reach-goal --evidence e.json --quiet");
    assert_eq!(code(&run), 10, "{}", text(&run));
    let confirmed = example.run("certify e.json");
    assert_eq!(code(&confirmed), 0, "{}", text(&confirmed));
    let said = text(&confirmed);
    assert!(said.starts_with("CONFIRMED: a run goes round for ever"), "{said}");
    assert!(said.contains("and never reaches the goal"), "{said}");
    let mut evidence: serde_json::Value =
        serde_json::from_str(&example.read("e.json")).expect("JSON");
    let step = &mut evidence["trace"][0];
    assert!(step["changed"].as_object().is_some_and(|changed| !changed.is_empty()));
    step["changed"] = serde_json::json!({});
    example.write("e.json", &evidence.to_string());
    let rejected = example.run("certify e.json");
    assert_eq!(code(&rejected), 51, "{}", text(&rejected));
    assert!(text(&rejected).contains("changes, too"), "{}", text(&rejected));
}
