//! Reader of LightGBM models: the text format, and JSON dumps.
//!
//! `x <= t` in double precision goes left. Trees belong to the classes in turn. Random forests
//! average (`average_output`), which keeps the order of the sums. Whatever a file says about itself
//! is compared with what it contains. Files are written with the best rounds only where training
//! stopped early.

mod dump;
mod text;

use super::categories::CategoryReading;
use super::ensemble::Ensemble;
use super::rule::{Missing, Precision, Rule, RuleComparison};
use super::summation::{Link, Summation};
use crate::error::PolicyError;
use crate::sampling::Law;

pub(super) use dump::parse as parse_dump;
pub(super) use text::parse as parse_text;

/// A number that is missing, or less than zero, is in no set.
const CATEGORY_READING: CategoryReading =
    CategoryReading { precision: Precision::Double, zero_from_below: true, missing_inside: false };

/// The versions of the format that are known.
const VERSIONS: [&str; 3] = ["v2", "v3", "v4"];

/// The objectives that the library knows.
const OBJECTIVES: [&str; 17] = [
    "binary",
    "cross_entropy",
    "cross_entropy_lambda",
    "custom",
    "fair",
    "gamma",
    "huber",
    "lambdarank",
    "mape",
    "multiclass",
    "multiclassova",
    "poisson",
    "quantile",
    "rank_xendcg",
    "regression",
    "regression_l1",
    "tweedie",
];

/// The head of a file, checked.
struct Head {
    /// Trees of one round, one for each output.
    per_round: usize,
    /// Features: the greatest index and one.
    features: usize,
    names: Vec<String>,
    /// The law by which scores become probabilities, unless they are averaged.
    law: Option<Law>,
    /// How the library adds up the leaves, or why that is not known.
    summation: Result<Summation, &'static str>,
}

/// The statements of a head in words; `place` names the place of a key.
struct Statements<'t> {
    version: &'t str,
    classes: usize,
    per_round: usize,
    last_feature: usize,
    objective: Option<&'t str>,
    names: Vec<String>,
}

impl Statements<'_> {
    /// Compares the statements of a head with each other.
    fn check(self, place: impl Fn(&str) -> String) -> Result<Head, PolicyError> {
        let invalid = |key: &str, message: String| Err(PolicyError::invalid(place(key), message));
        if !VERSIONS.contains(&self.version) {
            let message = format!(
                "version `{}` of the format is not supported; {} are",
                self.version,
                VERSIONS.join(", ")
            );
            return Err(PolicyError::unsupported(place("version"), message));
        }
        let (classes, per_round) = (self.classes, self.per_round);
        if per_round == 0 {
            return invalid("num_tree_per_iteration", "it is zero".to_owned());
        }
        if classes != per_round {
            let message = format!(
                "`num_class` is {classes}, but each round has {per_round} trees \
                 (`num_tree_per_iteration`)"
            );
            return invalid("num_class", message);
        }
        if let Some(objective) = self.objective {
            let mut words = objective.split_whitespace();
            let name = words.next().unwrap_or_default();
            if !OBJECTIVES.contains(&name) {
                let message =
                    format!("there is no objective `{name}`; known are {}", OBJECTIVES.join(", "));
                return invalid("objective", message);
            }
            let given = words.find_map(|word| word.strip_prefix("num_class:"));
            if let Some(given) = given
                && given.parse() != Ok(classes)
            {
                let message = format!("it says {given} classes, `num_class` says {classes}");
                return invalid("objective", message);
            }
        }
        let law = self.objective.and_then(law);
        let summation = link(self.objective, per_round)
            .map(|link| Summation { link, ..Summation::plain(Precision::Double, per_round) });
        let Some(features) = self.last_feature.checked_add(1) else {
            return invalid("max_feature_idx", "the number is too large".to_owned());
        };
        if self.names.len() != features {
            let message = format!(
                "there are {} names for {features} features (`max_feature_idx` and one)",
                self.names.len()
            );
            return invalid("feature_names", message);
        }
        Ok(Head { per_round, features, names: self.names, law, summation })
    }

    /// Checks that the trees make whole rounds.
    fn whole_rounds(trees: usize, per_round: usize) -> Result<(), String> {
        if trees.is_multiple_of(per_round) {
            return Ok(());
        }
        Err(format!("{trees} trees are no whole number of rounds of {per_round} trees"))
    }
}

/// Returns the law by which scores become probabilities under an objective, such as
/// `multiclass num_class:3` or `binary sigmoid:1`.
fn law(objective: &str) -> Option<Law> {
    let mut words = objective.split_whitespace();
    match words.next() {
        Some("multiclass") => Some(Law::Softmax),
        // The logistic function is the softmax of 0 and the score.
        Some("binary") => {
            let factor = words.find_map(|word| word.strip_prefix("sigmoid:"));
            factor.is_none_or(|factor| factor == "1").then_some(Law::Softmax)
        }
        Some(_) | None => None,
    }
}

/// What the library compares under an objective: probabilities of classes, or the sums themselves.
fn link(objective: Option<&str>, outputs: usize) -> Result<Link, &'static str> {
    let mut words = objective.unwrap_or("custom").split_whitespace();
    match (words.next().unwrap_or_default(), outputs) {
        ("multiclass", 2..) => Ok(Link::Softmax),
        ("binary", 1) => {
            let factor = words.find_map(|word| word.strip_prefix("sigmoid:")).unwrap_or("1");
            let factor = factor.parse::<f64>().ok().filter(|&f| f > 0.0 && f.is_finite());
            factor
                .map(Link::Logistic)
                .ok_or("the factor of the logistic function is no positive number")
        }
        (
            "custom" | "fair" | "huber" | "lambdarank" | "mape" | "quantile" | "rank_xendcg"
            | "regression" | "regression_l1",
            _,
        ) if words.all(|word| word != "sqrt") => Ok(Link::Identity),
        (_, _) => {
            Err("under this objective of LightGBM, scores that differ can be equal after the \
                       function that is applied to the sums; train with objective multiclass or binary")
        }
    }
}

/// The sums of a file that averages its rounds if `averages`.
fn averaged(
    summation: Summation,
    averages: bool,
    ensemble: &Ensemble,
) -> Result<Summation, &'static str> {
    if !ensemble.linear_leaves().is_empty() {
        return Err("LightGBM rounds each product and sum of a linear leaf; train with \
                    linear_tree=false");
    }
    let divisor = if averages { ensemble.trees().len() / ensemble.outputs() } else { 1 };
    Ok(Summation { divisor: divisor.max(1), ..summation })
}

fn rule(threshold: f64, missing: Missing) -> Rule {
    Rule { comparison: RuleComparison::LessEqual, threshold, precision: Precision::Double, missing }
}
