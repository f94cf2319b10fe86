//! Arguments of `policert generate`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use policert_generate::WallCheck;

use super::{ColorArgs, MemorySize, duration};

const EXIT_CODES: &str = "\
Exit codes: 0 done; 30 to 33 the count was stopped; 40 invalid input, 42 usage; 50 internal error.";

/// Arguments of `policert generate`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct GenerateArgs {
    /// The domain.
    #[command(subcommand)]
    pub domain: DomainArgs,
}

/// The domains.
#[derive(Subcommand, Debug)]
pub enum DomainArgs {
    /// Cargo from planes that waits in racks until it is requested
    #[command(after_help = EXIT_CODES)]
    Beluga(BelugaArgs),
    /// Blocks to be stacked in order, with a table of limited size
    #[command(after_help = EXIT_CODES)]
    Blocksworld(BlocksworldArgs),
    /// Sliding tiles to be ordered, with tiles that must not lie on certain positions
    #[command(after_help = EXIT_CODES)]
    Npuzzle(NPuzzleArgs),
    /// A car that races to the finish without hitting a wall
    #[command(after_help = EXIT_CODES)]
    Racetrack(RacetrackArgs),
    /// Operators and bounds of a few variables, all drawn
    #[command(after_help = EXIT_CODES)]
    Random(RandomArgs),
    /// A truck that brings packages over a bridge to the end of a road
    #[command(after_help = EXIT_CODES)]
    Transport(TransportArgs),
}

/// Options for moves that may fail.
#[derive(Args, Debug)]
pub struct FailingArgs {
    /// Probability that a move fails and raises a cost; 0: never, no costs
    /// [default: it fails or not, non-deterministically]
    #[arg(long, value_name = "P", help_heading = "Domain")]
    pub failing_probability: Option<String>,

    /// Greatest number of times that moves of one thing may fail
    #[arg(long, value_name = "N", default_value_t = 12, help_heading = "Domain")]
    pub cost_bound: i64,

    /// Let the policy read the costs, and reward steps by them
    #[arg(long, help_heading = "Domain")]
    pub cost_aware: bool,
}

/// Arguments of `policert generate beluga`.
#[derive(Args, Debug)]
pub struct BelugaArgs {
    /// Number of planes with a piece of cargo each
    #[arg(value_name = "N", allow_negative_numbers = true)]
    pub cargo: i64,

    /// Number of racks
    #[arg(value_name = "RACKS", allow_negative_numbers = true)]
    pub racks: i64,

    /// Number of production lines, which request cargo by turns that are drawn; 1 or 2
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = "Domain")]
    pub lines: i64,

    /// The files.
    #[command(flatten)]
    pub files: InstanceArgs,
}

/// Arguments of `policert generate blocksworld`.
#[derive(Args, Debug)]
pub struct BlocksworldArgs {
    /// Number of blocks
    #[arg(value_name = "N", allow_negative_numbers = true)]
    pub blocks: i64,

    /// Most blocks that the table may bear [default: N - 1]
    #[arg(long, value_name = "N", help_heading = "Domain")]
    pub table_limit: Option<i64>,

    /// Options for what is drawn.
    #[command(flatten)]
    pub drawn: DrawnArgs,

    /// Options for moves that may fail.
    #[command(flatten)]
    pub failing: FailingArgs,

    /// The files.
    #[command(flatten)]
    pub files: InstanceArgs,
}

/// Arguments of `policert generate npuzzle`.
#[derive(Args, Debug)]
pub struct NPuzzleArgs {
    /// Number of rows
    #[arg(value_name = "ROWS", allow_negative_numbers = true)]
    pub rows: i64,

    /// Number of columns
    #[arg(value_name = "COLUMNS", allow_negative_numbers = true)]
    pub columns: i64,

    /// A tile, from 1, and a position, from 0, that must not come together; may be repeated
    /// [default: one pair drawn by the seed]
    #[arg(
        long = "unsafe",
        value_name = "TILE@POSITION",
        value_parser = tile_at_position,
        help_heading = "Domain"
    )]
    pub unsafe_pairs: Vec<(i64, i64)>,

    /// Options for what is drawn.
    #[command(flatten)]
    pub drawn: DrawnArgs,

    /// Let the problems begin after 1 to N random moves from their goal [default: in any order]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1000),
        help_heading = "Domain"
    )]
    pub moves: Option<u32>,

    /// Options for moves that may fail.
    #[command(flatten)]
    pub failing: FailingArgs,

    /// The files.
    #[command(flatten)]
    pub files: InstanceArgs,
}

/// Options for what is drawn.
#[derive(Args, Debug)]
pub struct DrawnArgs {
    /// Write this many random problems in PDDL of the same size, too, to train policies on
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        value_parser = problems,
        help_heading = "Domain"
    )]
    pub problems: usize,

    /// Seed of what is drawn
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Domain")]
    pub seed: u64,
}

/// The greatest number of problems that are drawn.
const MOST_PROBLEMS: usize = 10_000;

/// A number of problems.
fn problems(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number <= MOST_PROBLEMS => Ok(number),
        _ => Err(format!("a number from 0 to {MOST_PROBLEMS} is expected")),
    }
}

fn tile_at_position(text: &str) -> Result<(i64, i64), String> {
    let pair = text.split_once('@').and_then(|(tile, position)| {
        Some((tile.trim().parse().ok()?, position.trim().parse().ok()?))
    });
    pair.ok_or_else(|| "a tile and a position, such as 3@7".to_owned())
}

/// Arguments of `policert generate racetrack`.
#[derive(Args, Debug)]
pub struct RacetrackArgs {
    /// The map: barto-small, barto-big, or a file with a line for each row, from the top on: `#` or
    /// `x` wall, `.` road, `S` start, `F` or `G` finish; a first line `dim: ROWS COLUMNS` is checked,
    /// `4: ROW` stands for four equal rows, and lines that begin with `;` do not count
    #[arg(value_name = "TRACK", default_value = "barto-small")]
    pub track: PathBuf,

    /// Probability that an acceleration has no effect [default: always effective]
    #[arg(long, value_name = "P", help_heading = "Domain")]
    pub noise: Option<String>,

    /// Points of a move at which walls are looked for
    #[arg(
        long,
        value_enum,
        value_name = "WHERE",
        default_value_t = WallCheck::End,
        help_heading = "Domain"
    )]
    pub wall_check: WallCheck,

    /// Greatest velocity in either direction
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Domain")]
    pub max_velocity: i64,

    /// Draw that many start states, reachable and with a way to the finish; 0: standing on the
    /// start line
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Domain")]
    pub random_starts: i64,

    /// Greatest velocity in either direction of start states that are drawn
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Domain")]
    pub start_velocity: i64,

    /// Seed of what is drawn
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Domain")]
    pub seed: u64,

    /// The files.
    #[command(flatten)]
    pub files: InstanceArgs,
}

/// Arguments of `policert generate random`.
#[derive(Args, Debug)]
pub struct RandomArgs {
    /// Number of variables
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Domain")]
    pub variables: i64,

    /// Greatest value of the variables
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Domain")]
    pub highest: i64,

    /// Number of labels
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Domain")]
    pub labels: i64,

    /// Number of operators for each label
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Domain")]
    pub operators: i64,

    /// Operators have one outcome each
    #[arg(long, help_heading = "Domain")]
    pub no_chance: bool,

    /// Seed of what is drawn
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Domain")]
    pub seed: u64,

    /// The files.
    #[command(flatten)]
    pub files: InstanceArgs,
}

/// Arguments of `policert generate transport`.
#[derive(Args, Debug)]
pub struct TransportArgs {
    /// Number of places of the road
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Domain")]
    pub locations: i64,

    /// Number of packages
    #[arg(long, value_name = "N", default_value_t = 15, help_heading = "Domain")]
    pub packages: i64,

    /// Most packages on the truck when it crosses the bridge
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Domain")]
    pub load_limit: i64,

    /// Give the truck inertia: it must not drive beyond the end of the road; there is no limit of
    /// its load
    #[arg(long, conflicts_with = "load_limit", help_heading = "Domain")]
    pub velocity: bool,

    /// Probability that two icy places do not let the velocity change, or change it
    #[arg(long, value_name = "P", requires = "velocity", help_heading = "Domain")]
    pub ice: Option<String>,

    /// Probability that a package drops from the truck at the next place when it drives
    #[arg(long, value_name = "P", requires = "velocity", help_heading = "Domain")]
    pub dropping: Option<String>,

    /// Draw that many start states; 0: all
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Domain")]
    pub random_starts: i64,

    /// Seed of what is drawn
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Domain")]
    pub seed: u64,

    /// The files.
    #[command(flatten)]
    pub files: InstanceArgs,
}

/// Options that all domains have.
#[derive(Args, Debug)]
pub struct InstanceArgs {
    /// The folder that the files go to; made if it is missing
    #[arg(long = "output", value_name = "DIR", required = true, help_heading = "Output")]
    pub folder: PathBuf,

    /// Replace files that are there
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Sizes of the hidden layers of the policy to be trained
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        default_values_t = [16, 16],
        value_parser = clap::value_parser!(u16).range(1..=4096),
        help_heading = "Policy"
    )]
    pub hidden: Vec<u16>,

    /// Let the policy choose among the labels that are applicable
    #[arg(long, help_heading = "Policy")]
    pub filter: bool,

    /// Count the states that are reachable without policy; what lies behind unsafe states is left
    /// out
    #[arg(long, help_heading = "Output")]
    pub count: bool,

    /// Most states to count [default: 1000000]
    #[arg(long, value_name = "N", requires = "count", help_heading = "Limits")]
    pub max_states: Option<u64>,

    /// Stop counting after this time, for instance 90s, 10m or 1h30m
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        requires = "count",
        help_heading = "Limits"
    )]
    pub timeout: Option<Duration>,

    /// Stop counting beyond this much memory, for instance 500MB or 4GB
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = MemorySize::read,
        requires = "count",
        help_heading = "Limits"
    )]
    pub memory: Option<MemorySize>,

    /// Write the summary as JSON; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,

    /// Print nothing but errors
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,
}
