//! Options that would have no effect beside the others are refused: whoever gives one expects it to do
//! something.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

/// An option of some commands that has no effect in a certain case.
struct Rule {
    /// The commands, with those of their own after a blank.
    commands: &'static [&'static str],
    /// The name of the field.
    option: &'static str,
    /// Returns whether it has no effect.
    is_idle: fn(&ArgMatches) -> bool,
    /// The reason for that.
    why: &'static str,
}

const RULES: [Rule; 16] = [
    Rule { commands: &POLICY, option: "filter", is_idle: no_policy, why: "there is no policy" },
    Rule { commands: &TIES, option: "ties", is_idle: no_policy, why: "there is no policy" },
    Rule { commands: &DRAWS, option: "choice", is_idle: no_policy, why: "there is no policy" },
    Rule {
        commands: &["verify"],
        option: "at_least",
        is_idle: no_policy,
        why: "there is no policy",
    },
    Rule { commands: &DRAWS, option: "numbers", is_idle: no_policy, why: "there is no policy" },
    Rule {
        commands: &["simulate"],
        option: "terminal",
        is_idle: |matches| {
            let is_goal = matches.get_one::<String>("terminal").is_some_and(|what| what == "goal");
            is_goal && !matches.get_flag("past_goal")
        },
        why: "without --past-goal runs end in states of the goal anyway",
    },
    Rule { commands: &["dataset"], option: "horizon", is_idle: no_rollouts, why: NO_ROLLOUTS },
    Rule { commands: &["dataset"], option: "seed", is_idle: no_rollouts, why: NO_ROLLOUTS },
    Rule { commands: &["dataset"], option: "no_initial", is_idle: no_rollouts, why: NO_ROLLOUTS },
    Rule {
        commands: &["generate npuzzle"],
        option: "seed",
        is_idle: |matches| {
            matches.value_source("unsafe_pairs") == Some(ValueSource::CommandLine)
                && no_problems(matches)
        },
        why: "nothing is drawn where --unsafe is given, without --problems N",
    },
    Rule {
        commands: &["generate npuzzle"],
        option: "moves",
        is_idle: no_problems,
        why: "there are no problems without --problems N",
    },
    Rule {
        commands: &["generate blocksworld"],
        option: "seed",
        is_idle: no_problems,
        why: "nothing is drawn without --problems N",
    },
    Rule {
        commands: &["generate racetrack", "generate transport"],
        option: "seed",
        is_idle: nothing_drawn,
        why: "nothing is drawn without --random-starts N",
    },
    Rule {
        commands: &["generate racetrack"],
        option: "start_velocity",
        is_idle: nothing_drawn,
        why: "no start state is drawn without --random-starts N",
    },
    Rule { commands: &FAILING, option: "cost_bound", is_idle: never_fails, why: NEVER_FAILS },
    Rule { commands: &FAILING, option: "cost_aware", is_idle: never_fails, why: NEVER_FAILS },
];

const POLICY: [&str; 4] = ["verify", "simulate", "dataset", "convert"];
const TIES: [&str; 3] = ["verify", "simulate", "convert"];
const DRAWS: [&str; 2] = ["verify", "simulate"];
const FAILING: [&str; 2] = ["generate blocksworld", "generate npuzzle"];
const NO_ROLLOUTS: &str = "no runs are made with --rollouts 0";
const NEVER_FAILS: &str = "nothing costs anything with --failing-probability 0";

fn no_policy(matches: &ArgMatches) -> bool {
    matches.get_flag("no_policy")
}

fn no_rollouts(matches: &ArgMatches) -> bool {
    matches.get_one::<u64>("rollouts") == Some(&0)
}

fn no_problems(matches: &ArgMatches) -> bool {
    matches.get_one::<usize>("problems") == Some(&0)
}

fn nothing_drawn(matches: &ArgMatches) -> bool {
    matches.get_one::<i64>("random_starts") == Some(&0)
}

fn never_fails(matches: &ArgMatches) -> bool {
    let probability = matches.get_one::<String>("failing_probability");
    probability.and_then(|text| policert_outcome::decimal::parse(text)).is_some_and(|p| p.is_zero())
}

/// Checks that every option that was given has an effect.
///
/// # Errors
/// The first one that has none, and why.
pub(super) fn check(definition: &mut Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    let (mut path, mut matches, mut command) = (String::new(), matches, definition);
    while let Some((name, inner)) = matches.subcommand() {
        path = if path.is_empty() { name.to_owned() } else { format!("{path} {name}") };
        matches = inner;
        command = match command.find_subcommand_mut(name) {
            Some(found) => found,
            None => return Ok(()),
        };
    }
    let is_given = |option| matches.value_source(option) == Some(ValueSource::CommandLine);
    let idle = RULES.iter().find(|rule| {
        rule.commands.contains(&&*path) && is_given(rule.option) && (rule.is_idle)(matches)
    });
    match idle {
        Some(rule) => {
            let option = format!("--{}", rule.option.replace('_', "-"));
            let message = format!("{option} would have no effect: {}", rule.why);
            Err(command.error(ErrorKind::ArgumentConflict, message))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use policert_verify::Registry;

    use super::*;
    use crate::args::CommandLine;

    #[test]
    fn an_option_without_effect_is_refused_by_name() {
        for (line, option) in [
            ("verify m.jani --no-policy --filter none", "--filter"),
            ("verify m.jani --no-policy --ties first", "--ties"),
            ("verify m.jani --no-policy --numbers real", "--numbers"),
            ("verify m.jani --no-policy --choice sample", "--choice"),
            ("verify m.jani --no-policy --at-least 0.1", "--at-least"),
            ("simulate m.jani --no-policy --choice sample", "--choice"),
            ("simulate m.jani --no-policy --numbers f32", "--numbers"),
            ("simulate m.jani --no-policy --ties any", "--ties"),
            ("simulate m.jani --terminal goal", "--terminal"),
            ("dataset m.jani --output t --rollouts 0 --seed 1", "--seed"),
            ("dataset m.jani --output t --rollouts 0 --horizon 3", "--horizon"),
            ("dataset m.jani --output t --rollouts 0 --no-initial", "--no-initial"),
            ("convert m.jani --output o --no-policy --filter none", "--filter"),
            ("generate npuzzle 3 3 --output o --unsafe 1@2 --seed 1", "--seed"),
            ("generate npuzzle 3 3 --output o --moves 3", "--moves"),
            ("generate racetrack --output o --seed 1", "--seed"),
            ("generate racetrack --output o --start-velocity 5", "--start-velocity"),
            ("generate transport --output o --seed 2", "--seed"),
            (
                "generate blocksworld 4 --output o --failing-probability 0 --cost-bound 3",
                "--cost-bound",
            ),
            (
                "generate npuzzle 3 3 --output o --failing-probability 0.0 --cost-aware",
                "--cost-aware",
            ),
        ] {
            let words = format!("policert {line}");
            let error =
                CommandLine::read(words.split(' ').map(OsString::from), &Registry::standard())
                    .expect_err(line);
            let text = error.to_string();
            assert!(text.contains(&format!("{option} would have no effect: ")), "{line}: {text}");
            // The usage is that of the command.
            let all: Vec<&str> = line.split(' ').collect();
            let path = if all[0] == "generate" { all[..2].join(" ") } else { all[0].to_owned() };
            assert!(text.contains(&format!("Usage: policert {path} ")), "{line}: {text}");
            assert_eq!(error.exit_code(), 2, "{line}");
        }
        for line in [
            "verify m.jani --filter none --ties first",
            "simulate m.jani --terminal goal --past-goal",
            "simulate m.jani --terminal x>=3",
            "dataset m.jani --output t --seed 1",
            "dataset m.jani --output t --rollouts 0",
            "generate racetrack --output o --random-starts 3 --seed 1",
            "generate npuzzle 3 3 --output o --failing-probability 0.5 --cost-bound 3",
        ] {
            let words = format!("policert {line}");
            assert!(
                CommandLine::read(words.split(' ').map(OsString::from), &Registry::standard())
                    .is_ok(),
                "{line}"
            );
        }
    }

    #[test]
    fn every_rule_is_about_an_option_that_is_there() {
        let definition = CommandLine::definition(&Registry::standard());
        for rule in &RULES {
            for path in rule.commands {
                let step =
                    |command, name| Command::find_subcommand(command, name).expect("a command");
                let command = path.split(' ').fold(&definition, step);
                let is_there = command.get_arguments().any(|a| a.get_id() == rule.option);
                assert!(is_there, "{path} {}", rule.option);
            }
        }
    }
}
