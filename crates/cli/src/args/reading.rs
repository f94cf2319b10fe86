//! From the words of a command line to its commands.

use std::ffi::OsString;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{CommandFactory, FromArgMatches};
use policert_verify::{Registration, Registry};

use super::engine::named;
use super::{Command, CommandLine, idle};

impl CommandLine {
    /// All commands and options, with these engines.
    pub fn definition(engines: &Registry) -> clap::Command {
        let value = |engine: &Registration| PossibleValue::new(engine.name).help(engine.help);
        let values: Vec<PossibleValue> = engines.iter().map(value).collect();
        // Their order stays.
        Self::command().mut_subcommands(|command| match command.get_name() {
            "verify" => command.mut_args(|argument| match argument.get_id() == "engine" {
                true => argument.value_parser(PossibleValuesParser::new(values.clone())),
                false => argument,
            }),
            _ => command,
        })
    }

    /// Reads the arguments of a process, the program's name first.
    ///
    /// # Errors
    /// Arguments that do not parse or would have no effect, or a request for help or the version.
    pub fn read(
        arguments: impl IntoIterator<Item = OsString>,
        engines: &Registry,
    ) -> Result<Self, clap::Error> {
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        let mut definition = Self::definition(engines);
        let matches = definition.try_get_matches_from_mut(&arguments)?;
        idle::check(&mut definition, &matches)?;
        let mut command_line = Self::from_arg_matches(&matches)?;
        if let Some((_, matches)) = matches.subcommand() {
            if let Command::Train(train) = &mut command_line.command {
                train.note_given(matches);
            } else if let Command::Verify(verify) = &mut command_line.command {
                verify.named = named(matches, verify.threads);
            }
        }
        if let Some(output) = command_line.command.output() {
            let words = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
            output.arguments = words.collect();
        }
        Ok(command_line)
    }
}
