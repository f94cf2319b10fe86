//! How a model is loaded.

use crate::stop::StopCheck;

/// Says what the caller decides about loading.
#[derive(Clone, Default, Debug)]
pub struct LoadOptions {
    /// Values for constants, name and text (`("N", "3")`); they replace those of the file.
    pub constants: Vec<(String, String)>,
    /// True if probabilities must sum to 1 exactly. Else rounded decimals, which miss it by at most
    /// 10⁻⁶, are scaled.
    pub exact_probabilities: bool,
    /// Asked now and then whether to stop; then there is no model, and
    /// [`Loaded::was_stopped`](crate::Loaded::was_stopped).
    pub stop: StopCheck,
}
