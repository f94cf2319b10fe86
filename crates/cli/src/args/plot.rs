//! Arguments of `policert plot`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ColorArgs;

const EXIT_CODES: &str = "\
Exit codes: 0 drawn; 40 invalid input, 42 usage; 50 internal error.";

/// Arguments of `policert plot`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct PlotArgs {
    /// The picture to draw.
    #[command(subcommand)]
    pub picture: PictureArg,
}

/// The pictures.
#[derive(Subcommand, Debug)]
pub enum PictureArg {
    /// Draw how many boxes there are at each step, a line for each result
    #[command(after_help = EXIT_CODES)]
    Boxes(PlottedArgs),
    /// Draw time, boxes and verified parts against the granularity of the results
    #[command(after_help = EXIT_CODES)]
    Granularity(PlottedArgs),
}

/// Arguments of each picture.
#[derive(Args, Debug)]
pub struct PlottedArgs {
    /// Results: files that policert reach --json wrote
    #[arg(value_name = "RESULT", required = true)]
    pub results: Vec<PathBuf>,

    /// The picture to write: an .svg or .png file
    #[arg(long, value_name = "FILE", required = true, help_heading = "Output")]
    pub out: PathBuf,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,
}
