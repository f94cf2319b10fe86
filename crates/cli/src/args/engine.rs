//! Which options of engines were named.

use clap::ArgMatches;
use clap::parser::ValueSource;
use policert_verify::EngineOption;

/// The options on a command line that some engine does not use. One thread is what all can do.
pub fn named(matches: &ArgMatches, threads: u16) -> Vec<EngineOption> {
    let is_named = |option: &EngineOption| {
        let id = option.name().replace('-', "_");
        matches.value_source(&id) == Some(ValueSource::CommandLine)
            && (*option != EngineOption::Threads || threads > 1)
    };
    EngineOption::ALL.into_iter().filter(is_named).collect()
}
