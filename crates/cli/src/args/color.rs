//! The option `--color`.

use clap::{Args, ValueEnum};

/// When to use colours.
#[derive(Args, Clone, Copy, Debug)]
pub struct ColorArgs {
    /// When to use colours
    #[arg(
        id = "color",
        long = "color",
        value_name = "WHEN",
        value_enum,
        default_value_t = ColorWhen::Auto,
        default_missing_value = "always",
        num_args = 0..=1,
        require_equals = true,
        help_heading = "Output"
    )]
    pub when: ColorWhen,
}

/// Values of `--color`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum ColorWhen {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
