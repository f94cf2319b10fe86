//! `policert completions` and `policert man`: what shells and man know about the commands.

use std::io::{self, Write as _};

use policert_outcome::{ExitStatus, Failure, make_folder, unless_closed};
use policert_verify::Registry;

use super::{fail, output_failed};
use crate::args::{ColorWhen, CommandLine, CompletionsArgs, ManArgs};
use crate::style::Style;

/// Prints a script that completes the options of the commands.
pub fn completions(arguments: &CompletionsArgs, engines: &Registry) -> ExitStatus {
    let mut script = Vec::new();
    let mut definition = CommandLine::definition(engines);
    clap_complete::generate(arguments.shell, &mut definition, "policert", &mut script);
    ended(unless_closed(io::stdout().lock().write_all(&script)).map_err(output_failed))
}

/// Writes a page for each command.
pub fn man(arguments: &ManArgs, engines: &Registry) -> ExitStatus {
    let folder = &arguments.output;
    ended(make_folder("--output", folder).and_then(|()| {
        let pages = clap_mangen::generate_to(CommandLine::definition(engines), folder);
        pages.map_err(|source| Failure::Output { what: folder.display().to_string(), source })
    }))
}

fn ended(done: Result<(), Failure>) -> ExitStatus {
    let style = Style::new(ColorWhen::Auto, &io::stderr());
    done.map_or_else(|failure| fail(&failure, style), |()| ExitStatus::Safe)
}
