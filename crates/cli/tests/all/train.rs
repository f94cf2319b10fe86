//! `policert train`: a network for a small control loop, the same bytes for the same seed, and
//! that `policert reach` verifies it.

use std::fs;
use std::path::Path;

use crate::support::loop_task::LoopTask;
use crate::support::program::{code, policert, text};

/// A cart that is to go back to where it must not go too far.
fn task(input: &str, granularity: &str) -> String {
    let task = LoopTask {
        name: "cart",
        update: "x + u/10",
        clamp: Some(["-1", "1"]),
        state_space: ["-3", "3"],
        granularity,
        policy: &format!("network = \"net.onnx\"\ninput = \"{input}\""),
        initial: ["0.8", "1.0"],
        goal: Some(["-1.0", "-0.6"]),
        avoid: Some(["-3", "-1.5"]),
        steps: "40",
    };
    task.text()
}

fn folder(input: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("cart.toml"), task(input, "0.1")).expect("written");
    folder
}

fn expect(folder: &Path, arguments: &str, expected: i32) -> String {
    let output = policert(folder, arguments).output().expect("the program runs");
    let text = text(&output);
    assert_eq!(code(&output), expected, "{arguments}: {text}");
    text
}

#[test]
fn what_is_trained_is_verified() {
    for (input, option) in [("cell", ""), ("cell", "--abstract 0.2"), ("state", "--plain")] {
        let folder = folder(input);
        let train = format!("train cart.toml {option} --seed 3 --activation relu --hidden 8,8");
        let text = expect(folder.path(), &format!("{train} --out net.onnx"), 0);
        assert!(text.starts_with("TRAINED: cart: 50 of 50 runs"), "{text}");
        expect(folder.path(), &format!("{train} --out again.onnx -q"), 0);
        let bytes = |file: &str| fs::read(folder.path().join(file)).expect("written");
        assert!(bytes("net.onnx") == bytes("again.onnx"), "{option}: other bytes");
        if option == "--abstract 0.2" {
            fs::write(folder.path().join("cart.toml"), task(input, "0.2")).expect("written");
        }
        expect(folder.path(), "reach cart.toml", 0);
    }
}

#[test]
fn each_way_to_end() {
    let folder = folder("cell");
    let text = expect(folder.path(), "train cart.toml --out n.onnx --timeout 0", 30);
    assert!(text.starts_with("UNKNOWN: the time limit was reached"), "{text}");
    assert!(!folder.path().join("n.onnx").exists(), "a network that learnt nothing");
    let text = expect(folder.path(), "train cart.toml --out n.onnx --abstract 0.1,0.2", 42);
    assert!(text.contains("2 widths of cells for 1 variables"), "{text}");
    expect(folder.path(), "train cart.toml --out n.onnx --abstract 0", 42);
    expect(folder.path(), "train cart.toml --out n.onnx --abstract wide", 42);
    expect(folder.path(), "train cart.toml --out n.onnx --hidden 0", 40);
    expect(folder.path(), "train missing.toml --out n.onnx", 40);
    expect(folder.path(), "train cart.toml --out no/such/folder/n.onnx --hidden 4", 42);
}

#[test]
fn options_for_models_are_refused_on_control_loops() {
    let folder = folder("cell");
    let folder = folder.path();
    for option in [
        "--checkpoint c.bin",
        "--resume c.bin",
        "--property 0",
        "--interface i.jani2nnet",
        "--const N=1",
        "--filter none",
        "--no-initial",
        "--seeds 1",
        "--steps 10",
        "--horizon 200",
        "--reward-goal 1",
        "--reward-unsafe -1",
        "--reward-stuck -1",
        "--reward-step 0",
        "--potential 5",
        "--step-cost 0",
        "--discount 0.9",
        "--no-double",
        "--rate 0.1",
        "--batch 8",
        "--buffer 100",
        "--learn-every 1",
        "--target-every 1",
        "--exploration 0.1",
        "--evaluate-every 9",
        "--competent 0.5",
    ] {
        let text = expect(folder, &format!("train cart.toml --out n.onnx {option}"), 42);
        let name = option.split(' ').next().expect("a name");
        assert!(text.contains(&format!("{name} is for models")), "{text}");
    }
    assert!(!folder.join("n.onnx").exists());
    expect(folder, "train cart.toml --out n.onnx --abstract 1/3 --timeout 0", 30);
}
