//! Objectives of XGBoost, and what the margin starts at for a base score.

use super::super::place::At;
use super::super::summation::Link;
use crate::error::PolicyError;
use crate::grain::is_zero;
use crate::sampling::Law;

/// The number that the library makes of the base score before it adds the trees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Start {
    /// The margin starts at the base score itself.
    Itself,
    /// At its logit: it is a probability.
    Logit,
    /// At its logarithm: it is an expectation.
    Logarithm,
}

/// The objectives of versions 1 to 3, each compared with the library's own scores.
const OBJECTIVES: [(&str, Start); 20] = [
    ("binary:hinge", Start::Itself),
    ("binary:logistic", Start::Logit),
    ("binary:logitraw", Start::Itself),
    ("count:poisson", Start::Logarithm),
    ("multi:softmax", Start::Itself),
    ("multi:softprob", Start::Itself),
    ("rank:map", Start::Itself),
    ("rank:ndcg", Start::Itself),
    ("rank:pairwise", Start::Itself),
    ("reg:absoluteerror", Start::Itself),
    ("reg:gamma", Start::Logarithm),
    ("reg:linear", Start::Itself),
    ("reg:logistic", Start::Logit),
    ("reg:pseudohubererror", Start::Itself),
    ("reg:quantileerror", Start::Itself),
    ("reg:squarederror", Start::Itself),
    ("reg:squaredlogerror", Start::Itself),
    ("reg:tweedie", Start::Logarithm),
    ("survival:aft", Start::Logarithm),
    ("survival:cox", Start::Logarithm),
];

/// The objective that a model was trained for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Objective {
    pub name: &'static str,
    start: Start,
}

impl Objective {
    /// Reads the objective, and checks what it says about classes against `num_class`.
    pub fn read(learner: &At<'_>, classes: usize) -> Result<Self, PolicyError> {
        let objective = learner.member("objective")?;
        let name = objective.member("name")?;
        let text = name.text()?;
        let known = OBJECTIVES.into_iter().find(|(known, _)| *known == text);
        let Some((known, start)) = known else {
            let names: Vec<&str> = OBJECTIVES.iter().map(|(known, _)| *known).collect();
            let message = format!(
                "there is no objective {text}, so it is not known what the base score means; \
                 known are {}",
                names.join(", ")
            );
            return Err(name.invalid(message));
        };
        if let Some(parameters) = objective.optional("softmax_multiclass_param") {
            let at = parameters.member("num_class")?;
            let given = at.written_count()?;
            if given != classes {
                let message = format!("it says {given}, `num_class` of the learner says {classes}");
                return Err(at.invalid(message));
            }
        }
        Ok(Self { name: known, start })
    }

    /// The initial margin, computed in single precision as the library does; `None` for a base
    /// score that the objective does not allow.
    pub fn margin(self, base_score: f32) -> Option<f64> {
        let margin = match self.start {
            Start::Itself => base_score,
            Start::Logit if base_score > 0.0 && base_score < 1.0 => -(1.0 / base_score - 1.0).ln(),
            Start::Logarithm if base_score > 0.0 => base_score.ln(),
            Start::Logit | Start::Logarithm => return None,
        };
        Some(f64::from(margin)).filter(|margin| margin.is_finite())
    }

    /// What the library compares of so many margins.
    pub fn link(self, outputs: usize) -> Result<Link, &'static str> {
        match (self.start, self.name, outputs) {
            (_, "multi:softprob", _) => Ok(Link::Softmax),
            (Start::Logit, _, 1) => Ok(Link::Logistic(1.0)),
            (Start::Itself, _, _) => Ok(Link::Identity),
            (Start::Logit | Start::Logarithm, _, _) => Err(
                "under this objective of XGBoost, scores that differ can be equal after the function that \
                 is applied to the margins; train with objective multi:softprob or binary:logistic",
            ),
        }
    }

    /// Returns how far another machine's margin may be from this one: logarithms differ.
    pub fn slip(self, margin: f64) -> f64 {
        match self.start {
            Start::Itself => 0.0,
            // The logit of ½ is the logarithm of 1.
            Start::Logit | Start::Logarithm if is_zero(margin) => 0.0,
            Start::Logit | Start::Logarithm => margin.abs().max(1.0) / f64::from(1 << 20),
        }
    }

    /// Returns the law by which the margins of a classifier become probabilities.
    pub fn law(self) -> Option<Law> {
        // Of two classes, the logistic function is the softmax of 0 and the margin.
        let classifies = ["binary:logistic", "multi:softmax", "multi:softprob"];
        classifies.contains(&self.name).then_some(Law::Softmax)
    }

    /// The base scores that it allows.
    pub fn range(self) -> &'static str {
        match self.start {
            Start::Itself => "finite numbers are allowed",
            Start::Logit => "numbers between 0 and 1 are allowed",
            Start::Logarithm => "positive numbers are allowed",
        }
    }
}
