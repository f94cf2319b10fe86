//! Devices and pipes are refused as inputs: they may never end, and inputs are read more than once.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::example::Example;
use crate::support::program::{code, text};

/// The commands that read a file; `PIPE` stands for it.
const INPUTS: [&str; 22] = [
    "verify PIPE",
    "verify model.jani --property PIPE:0",
    "verify model.jani --interface PIPE",
    "verify model.jani --interface policy.jani2nnet --policy PIPE.nnet",
    "verify model.jani --engine ppa --preset PIPE.toml",
    "verify model.jani --engine ic3 --preset PIPE.toml",
    "check PIPE",
    "check model.jani --property PIPE:0",
    "query PIPE.nnet PIPE.vnnlib",
    "query policy.nnet PIPE.vnnlib",
    "reach PIPE.toml",
    "train PIPE.toml --out new.onnx",
    "train PIPE.jani",
    "simulate PIPE",
    "simulate model.jani --render --track PIPE",
    "dataset model.jani --output table.csv --states PIPE",
    "certify PIPE",
    "convert PIPE --output new.jani",
    "bench run PIPE.toml --journal journal",
    "bench report PIPE.toml --journal journal --out report",
    "plot boxes PIPE --out picture.svg",
    "generate racetrack PIPE --output generated",
];

fn refuse(example: &Example, command: &str) {
    let mut child = example
        .command(command)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("policert runs");
    let begin = Instant::now();
    while child.try_wait().expect("a process").is_none() {
        if begin.elapsed() > Duration::from_secs(60) {
            child.kill().expect("a process");
            panic!("{command} waits for its input");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("a process");
    assert!([40, 41, 42].contains(&code(&output)), "{command}: {}", text(&output));
    assert!(text(&output).contains("no regular file"), "{command}: {}", text(&output));
}

#[test]
fn pipes_are_refused_in_every_command() {
    let example = Example::new();
    for ending in ["", ".toml", ".jani", ".nnet", ".vnnlib"] {
        let made = Command::new("mkfifo").arg(example.path(&format!("pipe{ending}"))).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    }
    for command in INPUTS {
        refuse(&example, &command.replace("PIPE", "pipe"));
    }
}

#[test]
fn devices_are_refused_in_every_command() {
    let example = Example::new();
    for ending in ["", ".toml", ".jani", ".nnet", ".vnnlib"] {
        std::os::unix::fs::symlink("/dev/zero", example.path(&format!("zero{ending}")))
            .expect("a link");
    }
    for command in INPUTS {
        refuse(&example, &command.replace("PIPE", "zero"));
    }
}
