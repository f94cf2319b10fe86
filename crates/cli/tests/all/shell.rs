//! Completions of shells and manual pages know every command and option.

use crate::support::example::Example;
use crate::support::program::{code, text};

#[test]
fn completions_know_the_engines_and_the_options() {
    let example = Example::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = example.run(&format!("completions {shell}"));
        let script = text(&output);
        assert_eq!(code(&output), 0, "{shell}: {script}");
        for word in ["verify", "engine", "prob-cegar", "record-queries", "completions"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(code(&example.run("completions tcsh")), 42);
}

#[test]
fn every_command_has_a_manual_page() {
    let example = Example::new();
    let output = example.run("man --output pages/man1");
    assert_eq!(code(&output), 0, "{}", text(&output));
    for (page, word) in [
        ("policert.1", "verify"),
        ("policert-verify.1", "stop\\-at\\-first\\-unsafe"),
        ("policert-bench-run.1", "journal"),
        ("policert-generate-npuzzle.1", "unsafe"),
    ] {
        let page = example.read(&format!("pages/man1/{page}"));
        assert!(page.contains(word) && page.contains(".SH NAME"), "{page}");
    }
    example.write("taken", "");
    assert_eq!(code(&example.run("man --output taken")), 42);
}
