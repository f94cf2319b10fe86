//! From the words of a command line to its commands.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};

use super::engine::named;
use super::{Command, CommandLine, idle};

impl CommandLine {
    /// Reads the arguments of a process, the program's name first.
    ///
    /// # Errors
    /// Arguments that do not parse or would have no effect, or a request for help or the version.
    pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut definition = Self::command();
        let matches = definition.try_get_matches_from_mut(arguments)?;
        idle::check(&mut definition, &matches)?;
        let mut command_line = Self::from_arg_matches(&matches)?;
        if let Some((_, matches)) = matches.subcommand() {
            if let Command::Train(train) = &mut command_line.command {
                train.note_given(matches);
            } else if let Command::Verify(verify) = &mut command_line.command {
                verify.named = named(matches, verify.threads);
            }
        }
        Ok(command_line)
    }
}
