//! From the words of a command line to its commands.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};

use super::engine::named;
use super::{Command, CommandLine};

impl CommandLine {
    /// Reads the arguments of a process, the program's name first.
    ///
    /// # Errors
    /// Arguments that do not parse, or a request for help or the version.
    pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let matches = Self::command().try_get_matches_from(arguments)?;
        let mut command_line = Self::from_arg_matches(&matches)?;
        match (&mut command_line.command, matches.subcommand()) {
            (Command::Train(train), Some((_, matches))) => train.note_given(matches),
            (Command::Verify(verify), Some((_, matches))) => {
                verify.named = named(matches, verify.threads);
            }
            _ => {}
        }
        Ok(command_line)
    }
}
