//! Tests of the command line: what it accepts, its help, and that the documentation agrees.

use std::ffi::OsString;
use std::path::Path;

use clap::error::ErrorKind;
use policert_verify::Registry;

use super::*;

fn read(line: &str) -> Result<CommandLine, clap::Error> {
    CommandLine::read(line.split_whitespace().map(OsString::from), &Registry::standard())
}

fn verify(line: &str) -> VerifyArgs {
    match read(&format!("policert verify {line}")).map(|line| line.command) {
        Ok(Command::Verify(arguments)) => *arguments,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn the_definition_is_consistent() {
    CommandLine::definition(&Registry::standard()).debug_assert();
}

#[test]
fn options_are_read() {
    let arguments = verify(
        "m.jani --property p.json:1 --const N=3,M=2 --const b=true --engine ppa --ties any \
         --filter applicable --domain error --terminal goal --timeout 90s --memory 4GB -q",
    );
    assert_eq!(arguments.task.model, Path::new("m.jani"));
    assert_eq!(arguments.task.property.as_deref(), Some("p.json:1"));
    let names: Vec<&str> =
        arguments.task.constants.iter().flat_map(|c| &c.0).map(|(name, _)| &**name).collect();
    assert_eq!(names, ["N", "M", "b"]);
    assert_eq!(arguments.engine, "ppa");
    assert_eq!(arguments.ties, Some(Ties::Any));
    assert_eq!(arguments.filter, Some(Filter::Applicable));
    assert_eq!(arguments.domain, DomainSetting::Error);
    assert_eq!(arguments.terminal.as_deref(), Some("goal"));
    assert_eq!(arguments.timeout, Some(Duration::from_secs(90)));
    assert_eq!(arguments.memory, Some(MemorySize(4_000_000_000)));
    assert!(arguments.output.quiet);
}

#[test]
fn defaults() {
    let arguments = verify("m.jani");
    assert_eq!(arguments.engine, "auto");
    assert_eq!(arguments.preset, "native");
    assert_eq!(arguments.ties, None);
    assert_eq!(arguments.filter, None);
    assert_eq!(arguments.threads, 1);
    assert_eq!(arguments.output.color.when, ColorWhen::Auto);
    assert_eq!(verify("m.jani --color").output.color.when, ColorWhen::Always);
    assert_eq!(verify("m.jani --color=never").output.color.when, ColorWhen::Never);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (line, kind) in [
        ("policert", ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand),
        ("policert prove m.jani", ErrorKind::InvalidSubcommand),
        ("policert verify", ErrorKind::MissingRequiredArgument),
        ("policert verify m.jani --engine magic", ErrorKind::InvalidValue),
        ("policert verify m.jani --timeout soon", ErrorKind::ValueValidation),
        ("policert verify m.jani --state-limit 0", ErrorKind::ValueValidation),
        ("policert verify m.jani --no-policy --policy n.nnet", ErrorKind::ArgumentConflict),
        ("policert verify m.jani --predicates splits:101", ErrorKind::ValueValidation),
        ("policert verify m.jani --last cost", ErrorKind::MissingRequiredArgument),
        ("policert verify m.jani -q -v", ErrorKind::ArgumentConflict),
        ("policert reach t.toml --plot-dims 1,2", ErrorKind::MissingRequiredArgument),
        ("policert reach t.toml --plot p.svg --plot-dims 1", ErrorKind::ValueValidation),
        ("policert reach t.toml --granularity x", ErrorKind::ValueValidation),
        ("policert bench run s.toml", ErrorKind::MissingRequiredArgument),
        ("policert bench report s.toml --journal j", ErrorKind::MissingRequiredArgument),
        ("policert plot boxes a.json", ErrorKind::MissingRequiredArgument),
        ("policert plot boxes --out a.svg", ErrorKind::MissingRequiredArgument),
        ("policert plot circles a.json --out a.svg", ErrorKind::InvalidSubcommand),
        ("policert reach t.toml --goal twice", ErrorKind::InvalidValue),
        ("policert train", ErrorKind::MissingRequiredArgument),
        ("policert train t.toml --out n.onnx --plain --abstract 0.1", ErrorKind::ArgumentConflict),
        ("policert check m.jani --engine ppa", ErrorKind::UnknownArgument),
    ] {
        assert_eq!(read(line).expect_err(line).kind(), kind, "{line}");
    }
}

/// The help of a command, as a terminal without colours shows it.
fn help(command: &str) -> String {
    let mut root = CommandLine::definition(&Registry::standard()).term_width(100);
    root.build();
    let command = command
        .split_whitespace()
        .fold(&mut root, |command, name| command.find_subcommand_mut(name).expect("a command"));
    let text = command.render_long_help();
    text.to_string()
}

#[test]
fn help_texts() {
    insta::assert_snapshot!("help", help(""));
    insta::assert_snapshot!("help_verify", help("verify"));
    insta::assert_snapshot!("help_check", help("check"));
    insta::assert_snapshot!("help_query", help("query"));
    insta::assert_snapshot!("help_reach", help("reach"));
    insta::assert_snapshot!("help_bench", help("bench"));
    insta::assert_snapshot!("help_bench_run", help("bench run"));
    insta::assert_snapshot!("help_bench_report", help("bench report"));
    insta::assert_snapshot!("help_bench_export", help("bench export"));
    insta::assert_snapshot!("help_bench_merge", help("bench merge"));
    insta::assert_snapshot!("help_bench_measure", help("bench measure"));
    insta::assert_snapshot!("help_report", help("report"));
    insta::assert_snapshot!("help_plot", help("plot"));
    insta::assert_snapshot!("help_plot_boxes", help("plot boxes"));
    insta::assert_snapshot!("help_train", help("train"));
    insta::assert_snapshot!("help_simulate", help("simulate"));
    insta::assert_snapshot!("help_certify", help("certify"));
    insta::assert_snapshot!("help_convert", help("convert"));
    insta::assert_snapshot!("help_dataset", help("dataset"));
    insta::assert_snapshot!("help_generate", help("generate"));
    insta::assert_snapshot!("help_generate_beluga", help("generate beluga"));
    insta::assert_snapshot!("help_generate_random", help("generate random"));
    insta::assert_snapshot!("help_generate_blocksworld", help("generate blocksworld"));
    insta::assert_snapshot!("help_generate_npuzzle", help("generate npuzzle"));
    insta::assert_snapshot!("help_generate_racetrack", help("generate racetrack"));
    insta::assert_snapshot!("help_generate_transport", help("generate transport"));
}

/// `docs/configuration.md` lists every option; `UPDATE_EXPECT=1` writes it anew.
#[test]
fn the_documentation_lists_every_option() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let expected = configuration();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&file, &expected).expect("docs/configuration.md can be written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == expected, "docs/configuration.md is stale: run with UPDATE_EXPECT=1");
}

fn configuration() -> String {
    let mut text = String::from(
        "# Configuration\n\nEvery option of the command line, with its default. This file is \
         generated from the program; a test fails if it is stale.\n",
    );
    let mut root = CommandLine::definition(&Registry::standard());
    root.build();
    let own = |command: &&clap::Command| command.get_name() != "help";
    let commands = root.get_subcommands().filter(own).flat_map(|command| {
        // A command that has others does nothing itself.
        let inner: Vec<_> = command.get_subcommands().filter(own).collect();
        if inner.is_empty() { vec![command] } else { inner }
    });
    for command in commands {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let name = command.get_bin_name().unwrap_or_default();
        text += &format!("\n## `{name}`\n\n{about}.\n");
        let headings = [
            "Domain",
            "Policy",
            "Model and policy",
            "Network",
            "Models",
            "Control loops",
            "Semantics",
            "States",
            "Engine",
            "Probability",
            "Limits",
            "Output",
        ];
        for heading in headings {
            let options: Vec<String> = command
                .get_arguments()
                .filter(|argument| argument.get_help_heading() == Some(heading))
                .map(row)
                .collect();
            if !options.is_empty() {
                text +=
                    &format!("\n### {heading}\n\n| option | meaning | default |\n|---|---|---|\n");
                text += &options.concat();
            }
        }
    }
    text + &engines()
}

/// The engines with their presets.
fn engines() -> String {
    let mut text = "\n## Engines\n\n`--engine` takes a name. `--preset` takes the name of one of the \
        engine's presets or a file of this form, which may leave out what is as in `native`; \
        `--set KEY=VALUE` changes a single setting. Whatever a preset of ppa switches off, the answer \
        stays the same; only the work changes. The exception is `mar`, which leaves the last exact test \
        out: it proves *safe* less often. Given time, every preset of ic3 finds the same \
        answer.\n\n| engine | what it is | presets | options |\n|---|---|---|---|\n"
        .to_owned();
    let registry = Registry::standard();
    for engine in registry.iter() {
        let presets: Vec<_> =
            (engine.presets)().iter().map(|(name, _)| format!("`{name}`")).collect();
        let options: Vec<_> =
            engine.options.iter().map(|option| format!("`--{}`", option.name())).collect();
        let (presets, options) = (presets.join(", "), options.join(", "));
        text += &format!("| `{}` | {} | {presets} | {options} |\n", engine.name, engine.help);
    }
    let mut shown: Vec<&str> = Vec::new();
    for engine in registry.iter() {
        text += &format!("\n## Presets of {}\n", engine.name);
        for (name, content) in (engine.presets)() {
            // Some engines have presets of others.
            if !shown.contains(&content) {
                text += &format!("\n### `{name}`\n\n```toml\n{}\n```\n", content.trim_end());
                shown.push(content);
            }
        }
    }
    text
}

fn row(argument: &clap::Arg) -> String {
    let escaped = |text: String| text.replace('|', "\\|");
    let mut option = format!("--{}", argument.get_long().unwrap_or_default());
    if let Some(short) = argument.get_short() {
        option = format!("-{short}, {option}");
    }
    let values: Vec<String> =
        argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if argument.get_action().takes_values() {
        let names = argument.get_value_names().unwrap_or_default();
        let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        let values = if values.is_empty() { names.join(" ") } else { values.join("|") };
        option += &format!(" {values}");
    }
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    // A default that depends on the inputs is part of the help.
    let (help, stated) = match help.split_once(" [default: ") {
        Some((help, stated)) => (help.to_owned(), stated.trim_end_matches(']').to_owned()),
        None => (help, String::new()),
    };
    let defaults: Vec<String> = argument
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy().into_owned())
        .filter(|_| argument.get_action().takes_values())
        .collect();
    let default = if stated.is_empty() { defaults.join(", ") } else { stated };
    format!("| `{}` | {} | {} |\n", escaped(option), escaped(help.replace('\n', " ")), default)
}
