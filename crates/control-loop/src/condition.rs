//! Conditions on the state, as goals and unsafe sets may be given: comparisons of expressions.
//!
//! Over a set of states a condition holds everywhere, nowhere, or neither is known. An expression without a
//! value somewhere in the set decides nothing.

use policert_numeric::{Interval, Rational};

use crate::expression::{Comparisons, ExpressionError, ExpressionGraph, ExpressionId, Tape};
use crate::observation::Observation;
use crate::range::{ClosedRange, ExactRange};

/// A condition on the state.
#[derive(Clone, Debug)]
pub struct StateCondition {
    /// The expressions whose signs count.
    asked: Observation,
    comparisons: Comparisons,
    compared: Vec<Compared>,
    formula: Formula,
}

/// An expression, compiled.
#[derive(Clone, Debug)]
struct Compared {
    rounded: Tape<Interval>,
    /// If every operation is one of exact arithmetic.
    exact: Option<Tape<ExactRange>>,
}

#[derive(Clone, Debug)]
enum Formula {
    Always(bool),
    Below { strict: bool, at: usize },
    All(Vec<Formula>),
    Any(Vec<Formula>),
}

/// Bounds of the expressions of a condition over a set of states that are tighter than what the box around
/// the set tells, if there are any.
pub type Tighter<'a> = &'a dyn Fn(&StateCondition) -> Option<Vec<Interval>>;

/// The same for each of some sets, by its position.
pub type TighterOfEach<'a> = &'a dyn Fn(usize, &StateCondition) -> Option<Vec<Interval>>;

impl StateCondition {
    /// The condition that a text denotes, over the variables named.
    pub fn parse(text: &str, variables: &[String]) -> Result<Self, ExpressionError> {
        let mut graph = ExpressionGraph::new();
        let name = |name: &str, graph: &mut ExpressionGraph| {
            let position = variables.iter().position(|variable| variable == name)?;
            Some(graph.variable(position))
        };
        let comparisons = graph.parse_condition(text, name)?;
        let mut roots = Vec::new();
        let formula = formula(&comparisons, &mut roots);
        let n = variables.len();
        let compared = roots
            .iter()
            .map(|&root| Compared {
                rounded: Tape::new(&graph, &[root], n),
                exact: graph.is_rational(root).then(|| Tape::new(&graph, &[root], n)),
            })
            .collect();
        Ok(Self { asked: Observation::new(graph, roots, n), comparisons, compared, formula })
    }

    /// The condition as it was read, with the graph of its expressions.
    #[must_use]
    pub fn comparisons(&self) -> (&ExpressionGraph, &Comparisons) {
        (self.asked.expressions().0, &self.comparisons)
    }

    /// The expressions whose signs count.
    #[must_use]
    pub fn asked(&self) -> &Observation {
        &self.asked
    }

    /// About how far a state is from satisfying it: negative where it holds, positive where it does not, in the
    /// units of the comparisons' sides.
    pub(crate) fn distance(&self, state: &[f64]) -> f64 {
        let mut signs = Vec::with_capacity(self.asked.width());
        self.asked.approximate(state, &mut Vec::new(), &mut signs);
        self.formula.distance(&signs)
    }

    /// Returns whether it holds everywhere in a set, or nowhere; `None` if that is not known. The set lies
    /// in a box.
    pub fn truth<R: ClosedRange>(&self, state: &[R], tighter: Tighter<'_>) -> Option<bool> {
        let outer: Vec<Interval> = state.iter().map(ClosedRange::to_interval).collect();
        let exactly = |range: &R| Some(ExactRange::new(range.lower()?, range.upper()?));
        let exact: Option<Vec<ExactRange>> =
            if R::EXACT { state.iter().map(exactly).collect() } else { None };
        let signs: Vec<Signs> = self
            .compared
            .iter()
            .map(|compared| {
                let both = compared.exact.as_ref().zip(exact.as_ref());
                let value = both.and_then(|(tape, state)| tape.evaluate(state));
                match value.as_deref() {
                    Some([value]) => Signs::of(value),
                    Some(_) | None => match compared.rounded.evaluate(&outer).as_deref() {
                        Some([value]) => Signs::of(value),
                        Some(_) | None => Signs::default(),
                    },
                }
            })
            .collect();
        self.formula.truth(&signs).or_else(|| {
            let tight = tighter(self)?;
            let signs: Vec<Signs> =
                signs.iter().zip(&tight).map(|(known, tight)| known.or(Signs::of(tight))).collect();
            self.formula.truth(&signs)
        })
    }
}

/// What is known of the sign of an expression over a set.
#[derive(Clone, Copy, Debug, Default)]
struct Signs {
    negative: Option<bool>,
    not_positive: Option<bool>,
}

impl Signs {
    fn of<R: ClosedRange>(value: &R) -> Self {
        let zero = R::enclosing(&Rational::ZERO);
        Self { negative: value.less(&zero), not_positive: value.at_most(&zero) }
    }

    fn or(self, other: Self) -> Self {
        Self {
            negative: self.negative.or(other.negative),
            not_positive: self.not_positive.or(other.not_positive),
        }
    }
}

fn formula(comparisons: &Comparisons, roots: &mut Vec<ExpressionId>) -> Formula {
    match comparisons {
        Comparisons::Always(value) => Formula::Always(*value),
        Comparisons::Below { strict, expression } => {
            let known = roots.iter().position(|root| root == expression);
            let at = known.unwrap_or(roots.len());
            if known.is_none() {
                roots.push(*expression);
            }
            Formula::Below { strict: *strict, at }
        }
        Comparisons::All(parts) => {
            Formula::All(parts.iter().map(|part| formula(part, roots)).collect())
        }
        Comparisons::Any(parts) => {
            Formula::Any(parts.iter().map(|part| formula(part, roots)).collect())
        }
    }
}

impl Formula {
    fn distance(&self, values: &[f64]) -> f64 {
        let of = |part: &Formula| part.distance(values);
        match self {
            Self::Always(true) => f64::NEG_INFINITY,
            Self::Always(false) => f64::INFINITY,
            Self::Below { at, .. } if values[*at].is_nan() => f64::INFINITY,
            Self::Below { at, .. } => values[*at],
            Self::All(parts) => parts.iter().map(of).fold(f64::NEG_INFINITY, f64::max),
            Self::Any(parts) => parts.iter().map(of).fold(f64::INFINITY, f64::min),
        }
    }

    fn truth(&self, signs: &[Signs]) -> Option<bool> {
        match self {
            Self::Always(value) => Some(*value),
            Self::Below { strict: true, at } => signs[*at].negative,
            Self::Below { strict: false, at } => signs[*at].not_positive,
            Self::All(parts) => joined(parts, signs, false),
            Self::Any(parts) => joined(parts, signs, true),
        }
    }
}

/// `decisive` if a part is known to be that; its opposite if all parts are known to be that.
fn joined(parts: &[Formula], signs: &[Signs], decisive: bool) -> Option<bool> {
    let mut all_known = true;
    for part in parts {
        match part.truth(signs) {
            Some(value) if value == decisive => return Some(decisive),
            Some(_) => {}
            None => all_known = false,
        }
    }
    all_known.then_some(!decisive)
}

#[cfg(test)]
mod tests;
