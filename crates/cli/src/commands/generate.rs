//! `policert generate`.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use policert_engine_api::{CancelFlag, Limits, Silent};
use policert_generate::{
    Beluga, Blocksworld, DecimalProbability, DomainInstance, Failing, GenerateError, NPuzzle,
    PolicyShape, Racetrack, RandomModel, Track, Transport,
};
use policert_outcome::{
    ExitStatus, Failure, Finding, Outcome, OutputFiles, SCHEMA_VERSION, VERSION, make_folder,
    write_text,
};
use policert_problem::{PolicySource, ProblemOptions, StateSpace};
use policert_verify::{Report, Request, verify};
use serde::Serialize;

use super::{fail, is_standard_output, limits, output_failed, print, write_data};
use crate::args::{DomainArgs, FailingArgs, GenerateArgs, InstanceArgs};
use crate::interrupt::stop_on_interrupt;
use crate::progress::ProgressLine;
use crate::render;
use crate::style::Style;

/// The greatest number of states that are counted, unless a number is given.
const MAX_STATES: u64 = 1_000_000;

/// The report on the generated files, as data.
#[derive(Clone, Debug, Serialize)]
pub struct GenerateReport {
    /// Version of the schema.
    pub schema_version: u32,
    /// Version of the program.
    pub version: String,
    /// The instance's name.
    pub name: String,
    /// The model's file.
    pub model: PathBuf,
    /// The file of properties.
    pub property: PathBuf,
    /// The interface of the policy to be trained.
    pub interface: PathBuf,
    /// Number of variables.
    pub variables: usize,
    /// Number of variables that the policy reads.
    pub inputs: usize,
    /// Number of labels.
    pub labels: usize,
    /// Number of operators.
    pub operators: usize,
    /// Number of start states of the property; absent if only `--count` would tell.
    pub start_states: Option<u64>,
    /// The unsafe condition in words.
    pub unsafe_condition: String,
    /// Number of states that are reachable without policy, if counted.
    pub reachable_states: Option<u64>,
    /// Number of unsafe states among them.
    pub unsafe_states: Option<u64>,
}

/// Runs the command.
pub fn run(arguments: &GenerateArgs) -> ExitStatus {
    let common = common(&arguments.domain);
    let style = Style::new(common.color.when, &io::stderr());
    let status = generate(arguments, common, style);
    status.unwrap_or_else(|failure| fail(&failure, style))
}

fn common(domain: &DomainArgs) -> &InstanceArgs {
    match domain {
        DomainArgs::Beluga(arguments) => &arguments.files,
        DomainArgs::Blocksworld(arguments) => &arguments.files,
        DomainArgs::Npuzzle(arguments) => &arguments.files,
        DomainArgs::Racetrack(arguments) => &arguments.files,
        DomainArgs::Random(arguments) => &arguments.files,
        DomainArgs::Transport(arguments) => &arguments.files,
    }
}

fn generate(
    arguments: &GenerateArgs,
    common: &InstanceArgs,
    style: Style,
) -> Result<ExitStatus, Failure> {
    OutputFiles::new([("--json", common.json.as_deref())]).check([])?;
    let instance = instance(&arguments.domain)?;
    let hidden = common.hidden.iter().map(|&size| usize::from(size)).collect();
    let shape = PolicyShape { hidden, filter: common.filter };
    write_files(&instance, &shape, common)?;
    let sizes = instance.sizes();
    let path = |name: String| common.folder.join(name);
    let mut report = GenerateReport {
        schema_version: SCHEMA_VERSION,
        version: VERSION.to_owned(),
        model: path(instance.model_path()),
        property: path(instance.property_path()),
        interface: path(instance.interface_path(&shape)),
        variables: sizes.variables,
        inputs: sizes.inputs,
        labels: sizes.labels,
        operators: sizes.operators,
        start_states: sizes.start_states.and_then(|count| u64::try_from(count).ok()),
        unsafe_condition: instance.unsafe_text().to_owned(),
        reachable_states: None,
        unsafe_states: None,
        name: instance.name.clone(),
    };
    let counted = common.count.then(|| count(&report, common, style)).transpose()?;
    let mut status = ExitStatus::Safe;
    if let Some(counted) = counted {
        match (&counted.failure, &counted.report.statistics) {
            // Unsafe states are no news here.
            (None, Some(statistics)) if counted.reason.is_none() => {
                report.reachable_states = statistics.reachable_states;
                report.unsafe_states = statistics.unsafe_states;
            }
            _ => status = counted.status,
        }
        if let Some(failure) = &counted.failure {
            fail(failure, style);
        }
    }
    write_data(common.json.as_deref(), &report)?;
    if !common.quiet {
        let taken = is_standard_output(common.json.as_deref());
        print(taken, |out| render::generate_report(out, &report, common.count))
            .map_err(output_failed)?;
    }
    Ok(status)
}

fn usage(error: GenerateError) -> Failure {
    Failure::Usage(error.to_string())
}

fn failing(arguments: &FailingArgs) -> Result<Failing, GenerateError> {
    arguments.failing_probability.as_deref().map_or(Ok(Failing::NonDeterministic), |text| {
        DecimalProbability::read("--failing-probability", text).map(Failing::Probability)
    })
}

/// A map that comes with the program, or one of a file.
fn track(named: &Path) -> Result<Track, Failure> {
    match named.to_str().and_then(Track::built_in) {
        Some(track) => Ok(track),
        None => read_track(named),
    }
}

/// The map of a file.
pub(super) fn read_track(path: &Path) -> Result<Track, Failure> {
    let finding = |line, what: String| {
        let finding = Finding::invalid(format!("{}: {what}", path.display()));
        let file = Some(path.to_owned());
        Failure::Findings(vec![Finding { file, line, ..finding }])
    };
    let text = policert_files::read_text(path).map_err(|error| {
        let built_in = "maps that come with the program are barto-small and barto-big";
        finding(None, format!("{error}; {built_in}"))
    })?;
    let name = path.file_stem().map_or_else(|| "track".into(), |stem| stem.to_string_lossy());
    Track::read(&name, &text).map_err(|error| {
        let line = if let GenerateError::Track { line, .. } = &error { Some(*line) } else { None };
        finding(line, error.to_string())
    })
}

fn instance(domain: &DomainArgs) -> Result<DomainInstance, Failure> {
    match domain {
        DomainArgs::Beluga(arguments) => {
            let (cargo, racks, lines) = (arguments.cargo, arguments.racks, arguments.lines);
            Beluga { cargo, racks, lines }.instance()
        }
        DomainArgs::Blocksworld(arguments) => failing(&arguments.failing).and_then(|failing| {
            let domain = Blocksworld {
                blocks: arguments.blocks,
                table_limit: arguments.table_limit,
                failing,
                cost_bound: arguments.failing.cost_bound,
                cost_aware: arguments.failing.cost_aware,
                problems: arguments.drawn.problems,
                seed: arguments.drawn.seed,
            };
            domain.instance()
        }),
        DomainArgs::Npuzzle(arguments) => failing(&arguments.failing).and_then(|failing| {
            let domain = NPuzzle {
                rows: arguments.rows,
                columns: arguments.columns,
                unsafe_pairs: arguments.unsafe_pairs.clone(),
                failing,
                cost_bound: arguments.failing.cost_bound,
                cost_aware: arguments.failing.cost_aware,
                problems: arguments.drawn.problems,
                moves: arguments.moves,
                seed: arguments.drawn.seed,
            };
            domain.instance()
        }),
        DomainArgs::Racetrack(arguments) => {
            let track = track(&arguments.track)?;
            let noise =
                arguments.noise.as_deref().map(|text| DecimalProbability::read("--noise", text));
            noise.transpose().and_then(|noise| {
                let domain = Racetrack {
                    track,
                    noise,
                    wall_check: arguments.wall_check,
                    max_velocity: arguments.max_velocity,
                    random_starts: arguments.random_starts,
                    start_velocity: arguments.start_velocity,
                    seed: arguments.seed,
                };
                domain.instance()
            })
        }
        DomainArgs::Random(arguments) => {
            let domain = RandomModel {
                variables: arguments.variables,
                highest: arguments.highest,
                labels: arguments.labels,
                operators: arguments.operators,
                probabilistic: !arguments.no_chance,
                seed: arguments.seed,
            };
            domain.instance()
        }
        DomainArgs::Transport(arguments) => {
            let read = |what, text: &Option<String>| {
                text.as_deref().map(|text| DecimalProbability::read(what, text)).transpose()
            };
            let ice = read("--ice", &arguments.ice);
            let rates = ice.and_then(|ice| Ok((ice, read("--dropping", &arguments.dropping)?)));
            rates.and_then(|(ice, dropping)| {
                let domain = Transport {
                    locations: arguments.locations,
                    packages: arguments.packages,
                    load_limit: arguments.load_limit,
                    velocity: arguments.velocity,
                    ice,
                    dropping,
                    random_starts: arguments.random_starts,
                    seed: arguments.seed,
                };
                domain.instance()
            })
        }
    }
    .map_err(usage)
}

/// Writes the files; none of them if one is there already, unless they are to be replaced.
fn write_files(
    instance: &DomainInstance,
    shape: &PolicyShape,
    common: &InstanceArgs,
) -> Result<(), Failure> {
    let files = instance.files(shape);
    let there = files.iter().map(|file| common.folder.join(&file.path)).find(|path| path.exists());
    if let Some(path) = there.filter(|_| !common.force) {
        let what = format!("{} is there already; --force replaces it", path.display());
        return Err(Failure::Refused(what));
    }
    let paths: Vec<_> = files.iter().map(|file| common.folder.join(&file.path)).collect();
    for path in &paths {
        let folder = path.parent().unwrap_or(Path::new("."));
        make_folder("--output", folder)?;
    }
    OutputFiles::new(paths.iter().map(|path| ("--output", Some(path.as_path())))).check([])?;
    for (path, file) in paths.iter().zip(&files) {
        write_text(path, &file.text)?;
    }
    Ok(())
}

/// All states that are reachable without policy.
fn count(
    report: &GenerateReport,
    common: &InstanceArgs,
    style: Style,
) -> Result<Outcome<Report>, Failure> {
    let cancel = CancelFlag::default();
    stop_on_interrupt(cancel.clone()).map_err(|error| Failure::Internal(error.to_string()))?;
    let problem = ProblemOptions {
        property: Some(format!("{}:0", report.property.display())),
        policy: PolicySource::None,
        state_space: StateSpace::Reachable,
        ..ProblemOptions::new(&report.model)
    };
    let request = Request {
        engine: "explicit".to_owned(),
        limits: Limits {
            states: Some(common.max_states.unwrap_or(MAX_STATES)),
            ..limits(common.timeout, common.memory)
        },
        ..Request::new(problem)
    };
    let mut progress = ProgressLine::new(!common.quiet);
    let verified = crate::limits::within(
        &request.limits,
        Instant::now(),
        &cancel,
        || verify(&request, &cancel, &mut progress),
        // The files are written; only the count is missing.
        || {
            let verified = verify(&request, &cancel, &mut Silent);
            verified.failure.map_or(verified.status, |failure| fail(&failure, style))
        },
    );
    progress.finish();
    verified.map_err(|error| Failure::Internal(error.to_string()))
}
